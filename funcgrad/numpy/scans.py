"""Cumulative operations, differences of neighbours, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._primitives import scans as prims
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad.numpy.arguments import NO_VALUE, given, negative_axis, refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import UFUNC_METHODS, implements
from funcgrad.numpy.reductions import cast, without_nan


def _scanned(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to scan; None scans all entries in order."""
    x = asarray(a)
    if axis is None or x.ndim == 0:
        return np.reshape(x, -1), negative_axis(axis or 0, 1)
    return x, negative_axis(axis, x.ndim)


# ---- cumulative operations -----------------------------------------------------------------


@implements(np.cumsum)
def cumsum(a, axis=None, dtype=None, out=None):
    refuse_out("cumsum", out)
    x, axis = _scanned(a, axis)
    if dtype is not None and x.dtype != np.dtype(dtype):
        return prims.cumsum(x, axis=axis, dtype=np.dtype(dtype))
    return prims.cumsum.of(x, {"axis": axis})


@implements(np.cumprod)
def cumprod(a, axis=None, dtype=None, out=None):
    refuse_out("cumprod", out)
    x, axis = _scanned(a, axis)
    x = cast(x, dtype)
    return prims.products_before(x, axis=axis) * x


@implements(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, out=None):
    return cumsum(without_nan(a, 0.0), axis, dtype, out)


@implements(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, out=None):
    return cumprod(without_nan(a, 1.0), axis, dtype, out)


def _array_api(name, function, start):
    """`np.cumulative_sum` or its like, which NumPy has since 2.1."""

    def cumulative(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        refuse_out(name, out)
        x = np.atleast_1d(asarray(x))
        if axis is None and x.ndim != 1:
            getattr(np, name)(np.zeros((1, 1)))  # NumPy's error: which axis?
        axis = negative_axis(-1 if axis is None else axis, x.ndim)
        total = function(x, axis, dtype)
        if not include_initial:
            return total
        shape = list(x.shape)
        shape[axis] = 1
        return np.concatenate([np.full(shape, start, total.dtype), total], axis)

    if hasattr(np, name):
        implements(getattr(np, name))(cumulative)
    return cumulative


cumulative_sum = _array_api("cumulative_sum", cumsum, 0)
cumulative_prod = _array_api("cumulative_prod", cumprod, 1)


def _accumulate(function):
    """`np.add.accumulate` and its like: as the function, but along axis 0 unless told otherwise."""

    def accumulate(a, axis=0, dtype=None, out=None):
        return function(a, axis, dtype, out)

    return accumulate


def _running(prim, name):
    def running(a, axis=0, dtype=None, out=None):
        refuse_out(f"{name}.accumulate", out)
        x = cast(asarray(a), dtype)
        return prim(x, axis=negative_axis(axis, x.ndim))

    return running


UFUNC_METHODS[np.add, "accumulate"] = _accumulate(cumsum)
UFUNC_METHODS[np.multiply, "accumulate"] = _accumulate(cumprod)
UFUNC_METHODS[np.maximum, "accumulate"] = _running(prims.cummax, "maximum")
UFUNC_METHODS[np.minimum, "accumulate"] = _running(prims.cummin, "minimum")


# ---- differences ---------------------------------------------------------------------------


def _at(axis: int, *parts: Any) -> tuple:
    """The index that has these parts at an axis counted from the end."""
    return (..., *parts, *[slice(None)] * (-1 - axis))


@implements(np.diff)
def diff(a, n=1, axis=-1, prepend=NO_VALUE, append=NO_VALUE):
    x = asarray(a)
    if n < 0 or x.ndim == 0:
        np.diff(np.zeros((1,) * x.ndim), n)  # NumPy's error
    axis = negative_axis(axis, x.ndim)
    ends = [_end(end, x, axis) for end in (prepend, append)]
    if n and any(end is not None for end in ends):
        x = np.concatenate([part for part in (ends[0], x, ends[1]) if part is not None], axis)
    later, earlier = _at(axis, slice(1, None)), _at(axis, slice(None, -1))
    for _ in range(n):
        x = x[later] != x[earlier] if x.dtype == bool else x[later] - x[earlier]
    return x


def _end(end: Any, x: Any, axis: int) -> Any:
    if not given(end):
        return None
    end = asarray(end)
    if end.ndim:
        return end
    shape = list(x.shape)
    shape[axis] = 1
    return np.broadcast_to(end, shape)


@implements(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    x = np.reshape(asarray(ary), -1)
    parts = [x[1:] - x[:-1]]
    if to_begin is not None:
        parts.insert(0, np.reshape(asarray(to_begin), -1))
    if to_end is not None:
        parts.append(np.reshape(asarray(to_end), -1))
    return np.concatenate([cast(part, x.dtype) for part in parts]) if len(parts) > 1 else parts[0]


@implements(np.trapezoid, *([np.trapz] if hasattr(np, "trapz") else []))
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = asarray(y)
    axis = negative_axis(axis, y.ndim)
    width = dx
    if x is not None:
        x = asarray(x)
        width = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            width = np.reshape(width, (-1,) + (1,) * (-1 - axis))
    heights = y[_at(axis, slice(1, None))] + y[_at(axis, slice(None, -1))]
    return np.sum(width * heights / 2.0, axis=axis)


@implements(np.gradient)
def gradient(f, *varargs, axis=None, edge_order=1):
    f = _inexact(asarray(f))
    axes = range(-f.ndim, 0) if axis is None else [negative_axis(a, f.ndim) for a in np.atleast_1d(axis)]
    spacings = _spacings(f, axes, varargs)
    if edge_order not in (1, 2) or any(f.shape[a] < edge_order + 1 for a in axes):
        np.gradient(np.zeros(f.shape), axis=axis, edge_order=edge_order)  # NumPy's error
    slopes = [cast(_slope(f, h, a, edge_order), f.dtype) for h, a in zip(spacings, axes)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _inexact(x: Any) -> Any:
    """Integers as float64, in which their differences neither overflow nor lose their sign."""
    return x if x.dtype.kind in "fc" else cast(x, np.float64)


def _spacings(f: Any, axes: Any, varargs: tuple) -> list[Any]:
    """For each axis the distance of neighbours: a scalar, or an array along that axis."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and len(asarray(varargs[0]).shape) == 0:
        return list(varargs) * len(axes)
    if len(varargs) != len(axes):
        np.gradient(np.zeros(f.shape), *[np.zeros(1)] * len(varargs), axis=tuple(axes))  # NumPy's error
    spacings = []
    for given_place, a in zip(varargs, axes):
        place = _inexact(asarray(given_place))
        if place.ndim == 0:
            spacings.append(given_place)  # a Python number is weak
            continue
        if place.ndim != 1 or len(place) != f.shape[a]:
            np.gradient(np.zeros(f.shape[a]), np.zeros(place.shape))  # NumPy's error
        spacings.append(np.reshape(place[1:] - place[:-1], (-1,) + (1,) * (-1 - a)))
    return spacings


def _slope(f: Any, h: Any, axis: int, edge_order: int) -> Any:
    """The derivative along an axis: second order inside, one-sided at the ends."""

    def at(x, *parts):
        return x[_at(axis, *parts)]

    def ends(first, last):
        return at(f, slice(first, first + 1)), at(f, slice(last, last + 1 or None))

    if np.ndim(h):
        before, after = at(h, slice(None, -1)), at(h, slice(1, None))
        left, right = -after / (before * (before + after)), before / (after * (before + after))
        middle = (after - before) / (before * after)
        inside = left * at(f, slice(None, -2)) + middle * at(f, slice(1, -1)) + right * at(f, slice(2, None))
        first, last = at(h, slice(0, 1)), at(h, slice(-1, None))
        second, next_to_last = at(h, slice(1, 2)), at(h, slice(-2, -1))
    else:
        inside = (at(f, slice(2, None)) - at(f, slice(None, -2))) / (2.0 * h)
        first = last = second = next_to_last = h
    (f0, f_last), (f1, f_next) = ends(0, -1), ends(1, -2)
    if edge_order == 1:
        start, end = (f1 - f0) / first, (f_last - f_next) / last
    else:
        f2, f_third = ends(2, -3)
        start = _one_sided(f0, f1, f2, first, second)
        end = -_one_sided(f_last, f_next, f_third, last, next_to_last)
    return np.concatenate([start, inside, end], axis)


def _one_sided(f0: Any, f1: Any, f2: Any, h: Any, k: Any) -> Any:
    """The derivative at the first of three points at distances h and k, of second order."""
    return -(2.0 * h + k) / (h * (h + k)) * f0 + (h + k) / (h * k) * f1 - h / (k * (h + k)) * f2


@implements(np.unwrap)
def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    x = asarray(p)
    axis = negative_axis(axis, x.ndim)
    jumps = prims.unwrap_jumps(x, period, period / 2 if discont is None else discont, axis=axis)
    if isinstance(period, Tracer):  # so many periods
        jumps = np.rint(jumps / stop_gradient_leaf(period)) * period
    return x + jumps
