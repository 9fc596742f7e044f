"""Equations, their linearisations, and whether they hold: what a solution's derivatives are made of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import dtype_of, zeros_of
from funcgrad._interpreters.calls import differentiable
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.reverse import fitted, pull_back

Flat = Sequence[Any]


class Operator:
    """A linear map of flat vectors, its transpose, and solvers of systems with both.

    The solvers get vectors of the bottom: numbers, or batches of them.
    """

    __slots__ = ("matvec", "vecmat", "solve", "transpose_solve")

    def __init__(self, matvec: Callable, vecmat: Callable, solve: Callable, transpose_solve: Callable):
        self.matvec, self.vecmat = matvec, vecmat
        self.solve, self.transpose_solve = solve, transpose_solve

    @property
    def transposed(self) -> Operator:
        return Operator(self.vecmat, self.matvec, self.transpose_solve, self.solve)


class Equation:
    """An equation for flat values x, and its solver.

    Attributes:
        name: what errors call it, and `where` it was written.
        solve: ``solve(args) -> [*x, *aux]``.
        residual: ``residual(x, args)`` is zero at the solution; a value for each of x's, of its shape, or
            None for one without derivative.
        operator: ``operator(x)``: the `Operator` of the residual's derivative, in those x that have one.
        count: how many values x has; `aux` says whether more come after it.
        linear: whether the residual is ``matvec(x) - b``, where b are the arguments.
        rtol: how far a result may be from a solution, relative to it; None for the fourth root of the machine
            epsilon.
        sequential: whether batches run in a loop; None to try whole batches first.
        depth: how many leading axes of all values are those of batches.
    """

    def __init__(self, name, where, solve, residual, operator, count, *, aux=False, linear=False, rtol=None,
                 sequential=None):  # fmt: skip
        self.name, self.where = name, where
        self.solve, self.residual, self.operator = solve, residual, operator
        self.count, self.aux, self.linear = count, aux, linear
        self.rtol, self.sequential, self.depth = rtol, sequential, 0

    def within(
        self, around: Callable[[], AbstractContextManager], into: Callable = list, out: Callable = list
    ) -> Equation:
        """The same, with functions that run in a context, and values that are converted on their way."""

        def wrapped(fun):
            def run(*lists):
                with around():
                    return out(fun(*map(into, lists)))

            return run

        def operator(x):
            with around():
                inner = self.operator(into(x))
            return Operator(*map(wrapped, (inner.matvec, inner.vecmat, inner.solve, inner.transpose_solve)))

        new = copy.copy(self)
        new.solve, new.residual, new.operator = wrapped(self.solve), wrapped(self.residual), operator
        return new

    def check(self, x: Flat, args: Flat) -> None:
        """Raise unless these numbers are a solution, in each member of a batch."""
        active = active_of(x)
        r = self.residual(x, args)
        r = [r[i] for i in active]
        if self.linear:
            found, scale = self._norm(r), self._norm(args)
            unlike, allowed = np.isfinite(scale), self._rtol(x) * scale
            measure = "the residual"
        else:
            step = self.operator(x).solve(r)
            found, scale = self._norm(step), self._norm([x[i] for i in active])
            unlike, allowed = True, self._rtol(x) * (scale + 1e-4)
            measure = "a step of Newton's method from it"
        wrong = unlike & ~(found <= allowed)
        if np.any(wrong):
            cure = "Give the solver a smaller tolerance or more steps, or allow more by rtol."
            worst = np.argmax(wrong)
            raise errors.NotConvergedError(
                self.name, measure, float(found.flat[worst]), float(allowed.flat[worst]), cure, self.where
            )

    def _norm(self, vs: Flat) -> np.ndarray:
        """The largest entry of a vector, for each member of a batch."""
        arrays = [np.abs(np.asarray(concrete(v))) for v in vs if differentiable(v)]
        sizes = [a.max(axis=tuple(range(self.depth, a.ndim)), initial=0) for a in arrays]
        return np.asarray(np.maximum.reduce(sizes, axis=0)) if sizes else np.zeros(())

    def _rtol(self, x: Flat) -> float:
        if self.rtol is not None:
            return self.rtol
        dtypes = [dtype_of(v) for v in x if differentiable(v)]
        return max([float(np.finfo(d).eps) for d in dtypes], default=0.0) ** 0.25


def linear_equation(
    name: str, where: str, operator: Operator, count: int, rtol=None, sequential=None, aux=False
) -> Equation:
    """The equation ``operator(x) = b``."""

    def residual(x, b):
        return [a - v for a, v in zip(operator.matvec(x), b)]

    return Equation(name, where, operator.solve, residual, lambda x: operator, count, aux=aux, linear=True,
                    rtol=rtol, sequential=sequential)  # fmt: skip


def active_of(x: Flat) -> list[int]:
    """Which values have derivatives."""
    return [i for i, v in enumerate(x) if differentiable(v)]


def is_array(x: Any) -> bool:
    """Whether it is an array or a number, traced or not."""
    return isinstance(x, (Tracer, np.ndarray, np.generic, bool, int, float, complex))


def push_residual(residual: Callable, x: Flat, tangents: Flat) -> list[Any]:
    """The derivative of ``residual(x)`` along tangents, which are given for the x that have one."""
    trace, active = Forward(), active_of(x)
    duals = list(x)
    for i, t in zip(active, tangents):
        duals[i] = trace.dual(x[i], t)
    try:
        r = residual(duals)
    finally:
        trace.close()
    return [zeros_of(r[i]) if (mine := trace.own(r[i])) is None else mine.tangent for i in active]


def pull_residual(residual: Callable, x: Flat, cotangents: Flat, check: Callable | None = None) -> list[Any]:
    """The transpose of `push_residual`; ``check(record, r)`` may look at what was recorded."""
    trace, active = Record(), active_of(x)
    trace.linear = check is not None
    inputs = list(x)
    for i in active:
        inputs[i] = trace.input(x[i])
    try:
        r = residual(inputs)
    finally:
        trace.close()
    if check is not None:
        check(trace, r)
    pairs = [(mine.slot, ct) for i, ct in zip(active, cotangents) if (mine := trace.own(r[i])) is not None]
    shares = pull_back(trace.tape, [row for row, _ in pairs], [ct for _, ct in pairs], consume=True)
    return [fitted(ct, x[i]) for i, ct in zip(active, shares)]


def iterate(f: Callable, x: Any, tol: float | None, max_steps: int) -> Any:
    """Apply f until no entry of x moves by more than `tol`, relative to the largest."""
    moved, largest, eps = np.inf, 0.0, 0.0
    for _ in range(max_steps):
        new = f(x)
        pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(tree.leaves(new), tree.leaves(x))]
        pairs = [(a, b) for a, b in pairs if a.dtype.kind in "fc"]
        moved = max([float(np.max(np.abs(a - b), initial=0)) for a, b in pairs], default=0.0)
        largest = max([float(np.max(np.abs(a), initial=0)) for a, _ in pairs], default=0.0)
        eps = max([float(np.finfo(a.dtype).eps) for a, _ in pairs], default=0.0)
        x = new
        if moved <= (16 * eps if tol is None else tol) * largest:
            return x
    raise errors.NotConvergedError(
        "custom_fixed_point",
        f"the last step, after {max_steps} of them,",
        moved,
        (16 * eps if tol is None else tol) * largest,
        "Give a better initial guess, more max_steps, a larger tol, or a solve of your own.",
        describe(*caller()),
    )
