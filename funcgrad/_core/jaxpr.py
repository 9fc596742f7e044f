"""Programs: a typed list of equations, in JAX's jaxpr form, that can be read, checked and evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import errors
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

    @property
    def jaxpr(self) -> Jaxpr:
        """The program itself: JAX's closed form had it here."""
        return self


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Evaluate a program.

    Args:
        jaxpr: the program.
        consts: values of its constants, usually ``jaxpr.consts``.
        *args: flat values of its inputs; tracers work, so every transform applies to a program.

    Returns:
        The list of its results.

    Raises:
        TypeError: the number of arguments is not the program's.

    >>> import numpy as np
    >>> from funcgrad import make_jaxpr, eval_jaxpr
    >>> program = make_jaxpr(lambda x: np.sin(x) * 2.0)(1.0)
    >>> eval_jaxpr(program, program.consts, 0.0)
    [np.float64(0.0)]
    """
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise errors.ProgramArgumentsError(
            len(jaxpr.constvars), len(jaxpr.invars), len(consts), len(args)
        )
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    values.update(zip(jaxpr.invars, args))
    last_use = _last_uses(jaxpr)

    def read(atom):
        return atom.val if type(atom) is Literal else values[atom]

    for index, eqn in enumerate(jaxpr.eqns):
        out = eqn.primitive(*map(read, eqn.invars), **eqn.params)
        values.update(zip(eqn.outvars, out if eqn.primitive.multiple else (out,)))
        for var in last_use.get(index, ()):
            del values[var]
    return [read(v) for v in jaxpr.outvars]


def _last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """Equation -> the variables that nothing reads after it, so that their memory can go."""
    last: dict[Var, int] = {}
    for index, eqn in enumerate(jaxpr.eqns):
        for var in [*eqn.invars, *eqn.outvars]:
            if type(var) is Var:
                last[var] = index
    for var in [*jaxpr.outvars, *jaxpr.constvars, *jaxpr.invars]:
        if type(var) is Var:
            last.pop(var, None)
    uses: dict[int, list[Var]] = {}
    for var, index in last.items():
        uses.setdefault(index, []).append(var)
    return uses
