"""Stage: write a program, with types, while the function runs on known or on abstract values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._core.boxes import fixed
from funcgrad._core.jaxpr import Eqn, Jaxpr, Literal, Var
from funcgrad._core.source import caller
from funcgrad._core.tracer import Trace, Tracer, closeable, settled
from funcgrad._core.types import ShapeDtypeStruct, shape_of, type_of


class Staged(Tracer):
    """A variable of a program, with its value where that is known.

    `value` is the plain value, or `ABSTRACT`.
    """

    __slots__ = ("variable", "value")

    @property
    def primal(self) -> Any:
        return self  # what a variable is depends on the program's inputs

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.aval.shape

    @property
    def dtype(self) -> np.dtype:
        return self.variable.aval.dtype

    @property
    def weak(self) -> bool:
        return self.variable.aval.weak

    @property
    def known(self) -> Any:
        if self.value is ABSTRACT:
            return self
        return self.value.known if isinstance(self.value, Tracer) else self.value


class _Abstract:
    def __repr__(self) -> str:
        return "ABSTRACT"


ABSTRACT = _Abstract()


@closeable
class Stage(Trace):
    """Write every operation into a program."""

    __slots__ = ("invars", "eqns", "constants", "reordered", "nesting")

    transform = "make_jaxpr"

    def __init__(self, around: Stage | None = None):
        """`around` is the trace that this program is nested in: this one stands right above it."""
        super().__init__()
        self.nesting: int | None = None  # how many equations there were when a nested program was begun
        self.reordered = False  # whether entries may lie in another order than C's by now
        if around is not None:
            self.stand_above(around)
            self.reordered = around.reordered
        self.invars: list[Var] = []
        self.eqns: list[Eqn] = []
        # by identity: the variable, the array (so that it lives on), and a copy of what it held
        self.constants: dict[int, tuple[Var, Any, Any]] = {}

    def close(self) -> None:
        """As of any trace. Where its tracers stand for values later, they are no older than these."""
        super().close()
        self.level = math.inf

    def input(self, value: Any) -> Staged:
        """A new input, of a known value or only of a type."""
        abstract = isinstance(value, ShapeDtypeStruct)
        var = Var(type_of(value))
        self.invars.append(var)
        return self._tracer(var, ABSTRACT if abstract else fixed(value))

    def below(self, tracer: Staged) -> Any:
        return tracer.value

    def is_outside(self, tracer: Staged) -> bool:
        if self.nesting is None:
            return False
        return not any(tracer.variable is v for eqn in self.eqns[self.nesting :] for v in eqn.outvars)

    def _tracer(self, var: Var, value: Any) -> Staged:
        tracer = Staged()
        tracer._trace = self
        tracer.variable = var
        tracer.value = value
        return tracer

    def atom(self, value: Any) -> Var | Literal:
        """What stands for a value in an equation."""
        if type(value) is Staged and value._trace is self:
            return value.variable
        if isinstance(value, Tracer):
            if value._trace.ended:
                value._trace.refuse("make_jaxpr")
            value = fixed(value)
        elif shape_of(value) == ():
            return Literal(value[()] if isinstance(value, np.ndarray) else value)
        known = self.constants.get(id(value))
        if known is None or (known[1] is not known[2] and not _same(known[1], known[2])):
            copy = value if isinstance(value, Tracer) else np.array(value)
            known = (Var(type_of(value)), value, copy)
            if id(value) in self.constants:  # changed in place since: it is another constant now
                self.constants[-len(self.constants)] = self.constants[id(value)]
            self.constants[id(value)] = known
        return known[0]

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.reorders is not None and prim.reorders(params):
            self.reordered = True
        # a variable of an outer program counts with its value: only this program records here
        values = [a.value if type(a) is Staged else a for a in args]
        if any(v is ABSTRACT for v in values):
            types = [a.aval if isinstance(a, Tracer) else type_of(a) for a in args]
            outs = out_types(prim, types, args, params)
            results = [ABSTRACT] * len(outs)
        else:
            out = prim(*values, **params)
            results = list(out) if prim.multiple else [out]
            outs = [type_of(r) for r in results]
        variables = [Var(t) for t in outs]
        self.eqns.append(Eqn(prim, map(self.atom, args), variables, params, caller()))
        tracers = tuple(self._tracer(v, r) for v, r in zip(variables, results))
        return tracers if prim.multiple else tracers[0]

    def program(self, outputs: list[Any]) -> Jaxpr:
        """The finished program with these results."""
        outvars = [self.atom(o) for o in outputs]
        constvars = [var for var, _, _ in self.constants.values()]
        consts = [copy for _, _, copy in self.constants.values()]
        return Jaxpr(constvars, consts, self.invars, self.eqns, outvars)


def nested(fun: Callable, args: Sequence[Any], around: Stage) -> tuple[Jaxpr, list[Any]]:
    """The program of ``fun(*args)``, which takes and returns flat values, to be nested in that of `around`.

    Returns:
        The program, whose first inputs stand for the traced values that `fun` closed over, and these.
    """
    trace = Stage(around)
    before, around.nesting = around.nesting, len(around.eqns)
    try:
        outs = fun(*[trace.input(value_or_type(a)) for a in args])
    finally:
        trace.close()
        around.nesting = before
    program = trace.program([settled(o) for o in outs])
    return program, traced_consts_first(program)


def traced_consts_first(program: Jaxpr) -> list[Tracer]:
    """Make the first inputs of a program of those of its constants that are traced, and return these."""
    pairs = list(zip(program.constvars, program.consts))
    traced = [(v, c) for v, c in pairs if isinstance(c, Tracer)]
    held = [(v, c) for v, c in pairs if not isinstance(c, Tracer)]
    program.constvars, program.consts = [v for v, _ in held], [c for _, c in held]
    program.invars = [v for v, _ in traced] + program.invars
    return [c for _, c in traced]


def output_types(fun: Callable, types: Sequence[ShapeDtypeStruct]) -> list[ShapeDtypeStruct]:
    """The types of a function's flat results, by running it on types alone."""
    trace = Stage()
    try:
        outs = [settled(o) for o in fun(*map(trace.input, types))]
    finally:
        trace.close()
    return [o.aval if isinstance(o, Tracer) else type_of(o) for o in outs]


def is_staged(x: Any) -> bool:
    """Whether a value is a variable of a program at the bottom of its traces."""
    todo = [x]
    while todo:
        x = todo.pop()
        if isinstance(x, Staged):
            return True
        if isinstance(x, Tracer):
            todo += [getattr(x, "value", None), getattr(x, "tangent", None)]
    return False


def value_or_type(x: Any) -> Any:
    """What a nested program is staged on: the value if it is known, else the type."""
    if isinstance(x, Staged):
        return x.aval if x.value is ABSTRACT else x.value
    return x


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


def out_types(prim, types, args, params) -> list[ShapeDtypeStruct]:
    """The types of a primitive's results: by its own rule, or by running it on stand-ins."""
    if prim.typed is not None:
        out = prim.typed(*types, **params)
        return list(out) if prim.multiple else [out]
    stand_ins = [_stand_in(t, a) for t, a in zip(types, args)]
    with np.errstate(all="ignore"):
        out = prim.impl(*stand_ins, **params)
    return [type_of(o) for o in (out if prim.multiple else (out,))]


def _stand_in(type_: ShapeDtypeStruct, arg: Any) -> Any:
    """An array of this type that takes no memory: one element, seen from everywhere."""
    if isinstance(arg, Literal):
        return arg.val
    if not isinstance(arg, (Tracer, Var)):
        return arg
    if type_.weak:
        return {"b": True, "i": 1, "f": 1.0, "c": 1j}[type_.dtype.kind]
    one = np.zeros((), type_.dtype) if type_.dtype.kind in "iu" else np.ones((), type_.dtype)
    return np.broadcast_to(one, type_.shape)
