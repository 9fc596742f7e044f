"""Numerical derivatives: central differences, extrapolated, with an estimate of their own error.

Points are flat lists of leaves. A function is a `Flat`: such a list to one vector of all entries of its
results, in extended precision (`np.longdouble`) where the function can be evaluated so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Leaves = Sequence[Any]

_FIRST_STEP = 2.0**-3
_RATIO = 4.0  # from one step to the next; the error falls by its square for each extrapolation
_LEVELS = 16


class Estimate(NamedTuple):
    """Derivatives, one for each entry of a function's results, and a bound on the error of each."""

    values: np.ndarray
    errors: np.ndarray


class Flat:
    """A function as the reference sees it: extended precision in, one vector out.

    Attributes:
        point: the leaves at which derivatives are taken, in extended precision if that works.
        eps: the relative precision of the function's values.
        value: the vector of its results at `point`.
    """

    def __init__(self, f: Callable[..., Leaves], leaves: Leaves):
        self.f = f
        try:
            self.point = [_widened(x) for x in leaves]
            with np.errstate(all="ignore"):
                outs = f(*self.point)
        except Exception:  # LAPACK, FFTs and much of SciPy stop at float64
            self.point = [np.asarray(x).astype(_double(x))[()] for x in leaves]
            with np.errstate(all="ignore"):
                outs = f(*self.point)
        self.eps = max([_eps(o) for o in outs], default=_eps(1.0))
        self.value = vector(outs)

    def along(self, offsets: Leaves) -> np.ndarray:
        """The vector of results at ``point + offsets``; NaN if the function refuses, or its shape differs."""
        try:
            with np.errstate(all="ignore"):
                found = vector(self.f(*[_moved(x, d) for x, d in zip(self.point, offsets)]))
        except (ArithmeticError, ValueError):  # LinAlgError is a ValueError
            found = None
        if found is None or found.shape != self.value.shape:
            return np.full_like(self.value, np.nan)
        return found


def derivative(
    flat: Flat,
    directions: Sequence[Leaves],
    enough: Callable[[np.ndarray], np.ndarray],
    step: float | None = None,
) -> Estimate:
    """The mixed derivative along one direction or several: as many, as high its order.

    With steps h, h/4, h/16, ... the differences' errors are series in h squared, whose terms are
    eliminated one by one. For each entry the value counts that agrees best with its neighbours in the
    table: a large step errs by what it leaves out (or by a kink within), a small one by rounding.

    Args:
        flat: the function.
        directions: for each a list of leaves.
        enough: values -> the errors at which there is no need to go on.
        step: the first step.

    Returns:
        The estimate; an error is infinite where nothing could be found.
    """
    order = len(directions)
    h = _FIRST_STEP if step is None else step
    best = np.full_like(flat.value, np.nan)
    errors = np.full(flat.value.shape, np.inf, np.longdouble)
    row: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(flat.value), initial=0.0)
        for _ in range(_LEVELS):
            before, row = row, [_central(flat, directions, h)]
            rounding = flat.eps * scale / h**order
            for column, coarse in enumerate(before):
                factor = _RATIO ** (2 * (column + 1))
                row.append((factor * row[column] - coarse) / (factor - 1))
                error = rounding + np.maximum(np.abs(row[-1] - row[column]), np.abs(row[-1] - coarse))
                better = error < errors
                best, errors = np.where(better, row[-1], best), np.where(better, error, errors)
            if len(row) > 2 and np.all(errors <= enough(best)):
                break
            h /= _RATIO
    return Estimate(best, errors)


def _central(flat: Flat, directions: Sequence[Leaves], h: float) -> np.ndarray:
    """Half of f(x + h v) - f(x - h v) over h, and so on for each further direction."""
    total = np.zeros_like(flat.value)
    for signs in itertools.product((1, -1), repeat=len(directions)):
        offsets = [
            sum(sign * h * d for sign, d in zip(signs, leaf_directions))
            for leaf_directions in zip(*directions)
        ]
        total = total + math.prod(signs) * flat.along(offsets)
    return total / (2 * h) ** len(directions)


def kink(flat: Flat, direction: Leaves, order: int, index: int) -> str | None:
    """What is wrong with an entry's smoothness along a direction, in words; None if nothing is.

    At a smooth point the differences to the right and to the left approach each other in proportion
    to the step. At a kink they settle on two values.
    """
    steps = [2.0**-8, 2.0**-11, 2.0**-14]
    if not np.isfinite(flat.value[index]):
        return f"its value there is {flat.value[index]}"
    if flat.along([0 * d for d in direction])[index] != flat.value[index]:
        return "two calls at the point give different values (is it random?)"
    with np.errstate(all="ignore"):
        for j in range(order + 1):
            right, left = (
                np.array([_one_sided(flat, direction, j, sign * h)[index] for h in steps]) for sign in (1, -1)
            )
            if not (np.isfinite(right[-1]) and np.isfinite(left[-1])):
                return "it is not defined on both sides of the point"
            gap = np.abs(right - left)
            noise = 2**j * flat.eps * (1 + np.abs(flat.value[index])) / steps[-1] ** j
            size = max(abs(right[-1]), abs(left[-1]))
            if gap[2] <= max(100 * noise, 1e-6 * size):
                continue
            if j and gap[2] > 2 * gap[1] > 4 * gap[0]:
                return f"its {_ordinal(j)} grows without bound towards the point"
            if gap[2] > 0.7 * gap[1] > 0.4 * gap[0]:
                return f"its {_ordinal(j)} jumps there from {left[-1]:.6g} to {right[-1]:.6g}"
    return None


def _ordinal(order: int) -> str:
    return ("value", "slope", "second derivative", "third derivative")[min(order, 3)]


def _one_sided(flat: Flat, direction: Leaves, order: int, h: float) -> np.ndarray:
    """The difference quotient of an order on one side; of order 0 the value just beside the point."""
    if order == 0:
        return flat.along([h * d for d in direction])
    total = np.zeros_like(flat.value)
    for k in range(order + 1):
        weight = (-1) ** (order - k) * math.comb(order, k)
        total = total + weight * flat.along([k * h * d for d in direction])
    return total / h**order


# ---- leaves and vectors --------------------------------------------------------------------


def vector(leaves: Leaves) -> np.ndarray:
    """All entries of some leaves, in extended precision."""
    parts = [np.ravel(np.asarray(x)) for x in leaves]
    kind = np.result_type(np.longdouble, *[p.dtype for p in parts])
    return np.concatenate([p.astype(kind) for p in parts]) if parts else np.zeros(0, kind)


def _widened(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)[()]


def _double(x: Any) -> type:
    return np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64


def _moved(x: Any, offset: Any) -> Any:
    return (x + np.asarray(offset).astype(x.dtype)).astype(x.dtype, copy=False)


def _eps(x: Any) -> float:
    return float(np.finfo(np.asarray(x).dtype).eps)
