"""Programs: a typed list of equations, and its text in JAX's jaxpr grammar.

    program  := { "let" NAME "=" jaxpr "in" } jaxpr
    jaxpr    := "{ lambda" binder* ";" binder* ". let" eqn* "in (" atom{","atom}[","] ") }"
    binder   := NAME ":" type
    eqn      := binder+ "=" PRIMITIVE ["[" PARAM"="value ... "]"] atom*
    atom     := NAME | LITERAL ":" type
    type     := dtype "[" dim{","dim} "]"

Constants stand before the first semicolon, arguments after it; ``_`` binds a result that nobody reads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from funcgrad._core import source as source_
from funcgrad._core.types import ShapeDtypeStruct, type_of


class Var:
    """A variable: an identity and a type. Names are given when a program is printed."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapeDtypeStruct):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval}"


class Literal:
    """A scalar that stands in an equation in place of a variable."""

    __slots__ = ("val", "aval")

    def __init__(self, val: Any):
        self.val = val
        self.aval = type_of(val)

    def __repr__(self) -> str:
        val = self.val.item() if isinstance(self.val, np.generic) else self.val
        return f"{val!r}:{self.aval}"


Atom = Var | Literal


class Eqn:
    """One equation: ``outvars = primitive[params] inputs``.

    Attributes:
        primitive: the `Primitive`.
        invars: what it reads, variables or literals.
        outvars: what it binds.
        params: its static parameters; programs among them are nested.
        source: the user's code object and instruction offset.
    """

    __slots__ = ("primitive", "invars", "outvars", "params", "source")

    def __init__(self, primitive, invars, outvars, params, source=(None, 0)):
        self.primitive = primitive
        self.invars: list[Atom] = list(invars)
        self.outvars: list[Var] = list(outvars)
        self.params: dict[str, Any] = params
        self.source = source

    @property
    def where(self) -> str:
        """The user's file, line and function."""
        return source_.describe(*self.source)


class Jaxpr:
    """A program: constants, inputs, equations in order, outputs.

    Attributes:
        constvars, consts: variables and values of the arrays that the function closed over.
        invars: the input variables.
        eqns: the equations, each variable bound before it is read.
        outvars: the results, variables or literals.
    """

    __slots__ = ("constvars", "consts", "invars", "eqns", "outvars")

    def __init__(self, constvars, consts, invars, eqns, outvars):
        self.constvars: list[Var] = list(constvars)
        self.consts: list[Any] = list(consts)
        self.invars: list[Var] = list(invars)
        self.eqns: list[Eqn] = list(eqns)
        self.outvars: list[Atom] = list(outvars)

    @property
    def in_avals(self) -> list[ShapeDtypeStruct]:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[ShapeDtypeStruct]:
        return [v.aval for v in self.outvars]

    def format(self, source: bool = False) -> str:
        """The program as text, with the user's file and line of each equation if asked.

        >>> from funcgrad import make_jaxpr
        >>> make_jaxpr(lambda x: x * 2.0)(1.0).format()
        '{ lambda ; a:f64[]. let b:f64[] = multiply a 2.0:f64[] in (b,) }'
        """
        return "\n".join(_Printer(source).jaxpr(self))

    def __str__(self) -> str:
        return self.format()

    __repr__ = __str__


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _names() -> Iterator[str]:
    """a, b, ..., z, ba, bb, ..., as numbers in base 26 are written with letters for digits."""
    for number in itertools.count():
        name = _LETTERS[number % 26]
        while number >= 26:
            number //= 26
            name = _LETTERS[number % 26] + name
        yield name


class _Printer:
    """Names are unique across nested programs, so one printer serves them all."""

    def __init__(self, source: bool):
        self.source = source
        self.fresh = _names()
        self.names: dict[Var, str] = {}

    def jaxpr(self, jaxpr: Jaxpr) -> list[str]:
        read = {v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is Var}
        read.update(v for v in jaxpr.outvars if type(v) is Var)
        consts = " ".join(self.bind(v) for v in jaxpr.constvars)
        inputs = " ".join(self.bind(v) for v in jaxpr.invars)
        head = " ".join(part for part in ("{ lambda", consts, ";", inputs) if part) + ". let"
        body = [line for eqn in jaxpr.eqns for line in self.eqn(eqn, read)]
        outs = ", ".join(self.atom(v) for v in jaxpr.outvars)
        tail = f"in ({outs}{',' if len(jaxpr.outvars) == 1 else ''}) }}"
        short = " ".join([head, "; ".join(body), tail]) if body else f"{head} {tail}"
        if len(body) <= 1 and len(short) <= 80:
            return [short]
        return [head, *("    " + line for line in body), "  " + tail]

    def param(self, value: Any) -> str:
        if isinstance(value, Jaxpr):
            return "\n".join(self.jaxpr(value))
        if isinstance(value, tuple) and any(isinstance(v, Jaxpr) for v in value):
            return f"({', '.join(map(self.param, value))})"
        return format_param(value)

    def eqn(self, eqn: Eqn, read: set[Var]) -> list[str]:
        binders = " ".join(self.bind(v) if v in read else f"_:{v.aval}" for v in eqn.outvars)
        params = []
        for key, value in sorted(eqn.params.items()):
            params.append(f"{key}={self.param(value)}")
        shown = f"[{' '.join(params)}]" if params else ""
        atoms = "".join(" " + self.atom(v) for v in eqn.invars)
        text = f"{binders} = {eqn.primitive.name}{shown}{atoms}"
        if self.source:
            text += f"  # {eqn.where}"
        return text.split("\n")

    def bind(self, var: Var) -> str:
        if var not in self.names:
            self.names[var] = next(self.fresh)
        return f"{self.names[var]}:{var.aval}"

    def atom(self, atom: Var | Literal) -> str:
        if type(atom) is Literal:
            return repr(atom)
        return self.names.get(atom, "?")


def format_param(value: Any) -> str:
    """A static parameter, in short."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, slice):
        parts = ["" if p is None else str(p) for p in (value.start, value.stop)]
        return ":".join(parts) + ("" if value.step in (None, 1) else f":{value.step}")
    if isinstance(value, tuple):
        inner = ", ".join(map(format_param, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.generic):
        return repr(value.item())
    return getattr(value, "__qualname__", None) or repr(value)
