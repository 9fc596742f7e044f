"""What NumPy's functions are given, in the strict form that primitives take."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer

NO_VALUE = np._NoValue


def given(argument: Any) -> bool:
    """Whether an optional argument was given: not None, nor NumPy's mark for nothing."""
    return argument is not None and argument is not NO_VALUE


def negative_axis(axis: Any, ndim: int) -> int:
    """An axis counted from the end; NumPy's AxisError if there is none such."""
    if type(axis) is int and -ndim <= axis < ndim:
        return axis if axis < 0 else axis - ndim
    return normalize_axis_index(operator.index(axis), ndim) - ndim


def negative_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes (None: all; an int; a tuple of ints) counted from the end, in order."""
    if axis is None:
        return _all_axes(ndim)
    if type(axis) is int:
        return (negative_axis(axis, ndim),)
    if type(axis) is tuple:
        axes = sorted([negative_axis(i, ndim) for i in axis])
        if len(set(axes)) == len(axes):
            return tuple(axes)
    return tuple(sorted([i - ndim for i in normalize_axis_tuple(axis, ndim)]))


@functools.cache
def _all_axes(ndim: int) -> tuple[int, ...]:
    return tuple(range(-ndim, 0))


def refuse_out(function: str, out: Any) -> None:
    """``out=`` writes into an array where no derivative follows."""
    if out is not None and not (isinstance(out, tuple) and all(o is None for o in out)):
        raise errors.InPlaceError(f"np.{function}(..., out=...)", describe(*caller(2)))


def refuse_traced(function: str, argument: str, value: Any) -> None:
    """An argument that has no derivative here, or that steers the result's shape."""
    if isinstance(value, Tracer):
        raise errors.UnsupportedArgumentError(
            function,
            f"a traced {argument}",
            describe(*caller(2)),
            f"Pass a plain value, or stop_gradient({argument}) if its derivative is not wanted.",
        )


def numbers_of(value: Any) -> Any:
    """The array at the bottom of a traced one, for decisions that need values; None if there is none.

    Of a batch it has the batch axes in front. The derivative does not end here: what is decided by it is
    how to compute, not what.
    """
    while isinstance(value, Tracer):
        value = getattr(value, "value", None)
    return (
        value if value is None or isinstance(value, (np.ndarray, np.generic, float, complex, int)) else None
    )
