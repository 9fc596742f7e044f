"""Solutions of equations: values by any solver, derivatives by the equation.

With r = f(x, t) = 0 and J = df/dx, a solution moves by dx = -J^-1 dr, where dr is what r does at a fixed x.
So a trace is given the solution that the traces beneath it found, evaluates r there itself, and adds one row
(or one tangent) that is linear in r. The system with J, or its transpose, is such an equation again, for the
traces beneath: that is all there is to higher orders. (Implicit function theorem; Christianson, "Reverse
accumulation and implicit functions", 1998; Blondel et al., "Efficient and modular implicit differentiation",
2022.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import stacklevel
from funcgrad._core.tracer import (
    Reading,
    Trace,
    Tracer,
    continuing,
    resuming,
    settled,
    standing_in,
    successors,
    suspending,
)
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import (
    Call,
    CallPlan,
    bind,
    bind_members,
    hints_below,
    not_newer,
    record_call,
)
from funcgrad._interpreters.forward import Forward, fit_tangent
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.reverse import Outputs
from funcgrad._interpreters.stage import Stage, traced_consts_first, value_or_type
from funcgrad._primitives.checkpoints import CallPrimitive
from funcgrad._primitives.equations import Equation, Flat, Operator, active_of, is_array, linear_equation


class Solve(Call):
    """A call of a solver.

    Attributes:
        equation: what it solves.
        checked: whether derivatives depend on the result, which must be a solution then.
    """

    __slots__ = ("equation", "checked")

    def __init__(self, equation: Equation, hints: Sequence[Tracer] = (), checked: bool = False):
        super().__init__(lambda *args: equation.solve(args), hints)
        self.equation, self.checked = equation, checked

    def run(self, args: Flat) -> list[Any]:
        outs = [np.asarray(o)[()] if type(o) in (float, complex) else o for o in self.equation.solve(args)]
        if self.checked:
            self.equation.check(outs[: self.equation.count], args)
        return outs

    def record(self, trace: Record, args: Flat) -> list[Any]:
        x, aux, own, row = self._beneath(trace, args)
        if not own:
            return x + aux
        linear = self.equation.linear and not row.moves
        watched = self.closed_over if linear else [*x, *self.closed_over]
        parents = [(r.slot, r.value) for r in own]
        return record_call(trace, _LINEAR if linear else _IMPLICIT, parents, x, row, watched) + aux

    def forward(self, trace: Forward, args: Flat) -> list[Any]:
        x, aux, own, row = self._beneath(trace, args)
        if not own:
            return x + aux
        with suspending(trace):
            ts = row.push([r.tangent for r in own])
        return [trace.dual(v, fit_tangent(t, v)) for v, t in zip(x, ts)] + aux

    def _beneath(self, trace: Trace, args: Flat) -> tuple[list, list, list, _Row]:
        """The solution of the traces beneath, and what of the residual there is this trace's."""
        equation = self.equation
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()  # what is read from now on, the equation closes over
            outs = bind(Solve(equation, self.closed_over, True), values, below=trace)
            x, aux = outs[: equation.count], outs[equation.count :]
            row = _Row(equation, x, self.closed_over, successors())
        r = [settled(v) for v in equation.residual(x, args)]
        not_newer(r, trace)
        row.types = [None if v is None else (shape_of(v), dtype_of(v)) for v in r]
        row.moves = bool(captured)
        own = {i: tracer for i, v in enumerate(r) if (tracer := trace.own(v)) is not None}
        row.reached = list(own)
        return x, aux, list(own.values()), row

    def batch(self, trace: Batch, args: Flat) -> list[Any]:
        if self.equation.sequential:
            return self._loop(trace, args)
        try:
            return self._whole(trace, args)
        except (errors.FuncgradError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
                RuntimeError) as why:  # fmt: skip
            if trace.size == 0:
                raise
            outs = self._loop(trace, args)
            warnings.warn(
                f"{self.equation.name} runs in a loop over the batch of {trace.size}, for its solver does "
                f"not take whole batches ({type(why).__name__}, at {self.equation.where}); "
                "vmap_method='sequential' says so",
                errors.BatchLoopWarning,
                stacklevel=stacklevel(),
            )
            return outs

    def _whole(self, trace: Batch, args: Flat) -> list[Any]:
        """All members at once, all values with the batch axis in front."""

        def whole(values):
            return [trace.whole(v) if is_array(v) else v for v in values]

        def spread(values):
            return [trace.spread(v)[1][0] if is_array(v) else v for v in values]

        equation = self.equation.within(lambda: continuing(trace), whole, spread)
        equation.depth += 1
        call = Solve(equation, hints_below(trace, self.closed_over), self.checked)
        return whole(bind(call, spread(args), below=trace))

    def _loop(self, trace: Batch, args: Flat) -> list[Any]:
        columns = bind_members(self, trace, args, self.equation.name)
        return [trace.whole(np.stack(outs)) if all(map(is_array, outs)) else list(outs) for outs in columns]

    def stage(self, trace: Stage, args: Flat) -> list[Any]:
        equation = self.equation

        def residual(*x):
            return [v if r is None else r for v, r in zip(x, equation.residual(x, x))]

        program, captured = _nested(residual, args, trace)
        params = {"jaxpr": program, "equation": StagedEquation(equation, trace, captured)}
        return list(trace.process(implicit, (*captured, *args), params))


class _Row:
    """How a solution follows the residual.

    Attributes:
        operator: of the residual in x, for the traces beneath.
        active: which x have derivatives; `likes` says their types.
        reached: which entries of the residual are of the trace in charge; `types` says the types of all.
        moves: whether the equation closes over tracers of the trace in charge, as its matrix may.
        stand_ins: of traces that are read as values, or ran again.
    """

    def __init__(self, equation: Equation, x: Flat, hints: Flat, stand_ins):
        self.equation, self.operator = equation, equation.operator(x)
        self.active = active_of(x)
        self.likes = {i: (shape_of(x[i]), dtype_of(x[i])) for i in self.active}
        self.hints = [v for v in (*x, *hints) if isinstance(v, Tracer)]
        self.stand_ins = stand_ins
        self.count, self.moves = len(x), False
        self.reached: list[int] = []
        self.types: list[Any] = []

    def pull(self, g: Outputs) -> list[Any]:
        cts = [g[i] if i in g else np.zeros(*self.likes[i]) for i in self.active]
        solved = dict(zip(self.active, self._solve(self.operator.transposed, cts)))
        return [-solved[i] for i in self.reached]

    def push(self, tangents: Flat) -> tuple:
        given = dict(zip(self.reached, tangents))
        ts = [given[i] if i in given else np.zeros(*self.types[i]) for i in self.active]
        solved = dict(zip(self.active, self._solve(self.operator, ts)))
        return tuple(-solved[i] if i in solved else None for i in range(self.count))

    def _solve(self, operator: Operator, b: Flat) -> list[Any]:
        with resuming(self.stand_ins):
            own = self.equation
            equation = linear_equation(own.name, own.where, operator, len(b), own.rtol, own.sequential)
            equation.depth = own.depth
            return bind(Solve(equation, self.hints, True), b)


# ---- rows and programs ------------------------------------------------------------------------------------


class StagedEquation:
    """An equation in a program, and what stands there for values that it closes over."""

    def __init__(self, equation: Equation, trace: Stage, captured: Flat):
        self.equation, self.trace = equation, trace
        self.variables = [getattr(x, "variable", None) for x in captured]
        self.stand_ins = successors()

    def __repr__(self) -> str:
        return self.equation.name

    def of(self, values: Flat) -> Equation:
        """The equation, where the captured variables have these values."""
        known = dict(zip(self.variables, values))

        def read(x):
            if x.variable not in known:
                self.trace.refuse(self.equation.name)
            return known[x.variable]

        bound = {**self.stand_ins, self.trace: Reading(self.trace, read)}
        return self.equation.within(lambda: resuming(bound) if self.trace.closed else suspending(self.trace))


def _nested(fun: Callable, args: Flat, around: Stage) -> tuple[Any, list[Any]]:
    """As `nested`, but whatever `fun` reads of the trace around is captured, and given when it runs again."""
    inner, read = Stage(around), {}

    def inside(x):
        if x.variable not in read:
            read[x.variable] = x, inner.input(value_or_type(x))
        return read[x.variable][1]

    try:
        inputs = [inner.input(value_or_type(a)) for a in args]
        with standing_in(around, Reading(around, inside)):
            outs = [settled(o) for o in fun(*inputs)]
    finally:
        inner.close()
    program = inner.program(outs)
    program.invars = program.invars[len(args) :] + program.invars[: len(args)]
    return program, traced_consts_first(program) + [x for x, _ in read.values()]


class ImplicitPrimitive(CallPrimitive):
    """What stands for a solution in programs; the values that the equation closes over come first."""

    __slots__ = ()

    def __call__(self, *args, jaxpr, equation):
        outs = bind(_staged_call(args, equation), args[len(equation.variables) :])
        for aux in outs[equation.equation.count :]:
            if not is_array(aux):
                raise errors.OutputTypeError(
                    equation.equation.name,
                    f"aux of type {type(aux).__name__}",
                    "In programs it must consist of arrays and numbers.",
                )
        return tuple(outs)


def _staged_call(args: Flat, equation: StagedEquation) -> Solve:
    values = args[: len(equation.variables)]
    return Solve(equation.of(values), [v for v in values if isinstance(v, Tracer)])


def _types(*types, jaxpr, equation):
    if equation.equation.aux:
        raise errors.OutputTypeError(
            equation.equation.name,
            "aux of unknown type",
            "What a solver returns beside x is known when it has run: make the program on values, or leave "
            "has_aux out.",
        )
    return jaxpr.out_avals


implicit = ImplicitPrimitive("implicit", None)
implicit.impl = lambda *args, jaxpr, equation: tuple(
    _staged_call(args, equation).run(args[len(equation.variables) :])
)
implicit.typed = _types


_IMPLICIT = CallPlan(implicit, _Row.pull, _Row.push)
_LINEAR = CallPlan(implicit, _Row.pull, _Row.push, linear=True)
