"""Integrals of sampled functions: trapezoidal, Simpson's and Romberg's rules."""

from __future__ import annotations

import numpy as np
import scipy.integrate

from funcgrad.numpy.arguments import negative_axis
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy._values import known


def _at(x, axis, start, stop, step=1):
    """A slice along an axis that is counted from the end."""
    return x[(..., slice(start, stop, step), *[slice(None)] * (-axis - 1))]


def _floating(x):
    x = asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _along(x, y, axis):
    """Abscissae as an array that goes along an axis of `y`, or has all axes of it."""
    x = _floating(x)
    if x.ndim == 1:
        x = np.reshape(x, (-1, *[1] * (-axis - 1)))
    elif x.ndim != y.ndim:
        raise ValueError("If given, shape of x must be 1-D or the same as y.")
    if x.shape[axis] != y.shape[axis]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return x


def _over(a, b):
    """``a / b``, and 0 for intervals of length 0, as in SciPy."""
    empty = b == 0
    return np.where(empty, 0.0, a / np.where(empty, 1.0, b))


def _double(x):
    return x.astype(np.float64)


# ---- the trapezoidal rule ------------------------------------------------------------------


def _trapezoids(y, x, dx, axis):
    """The integral over each interval."""
    steps = dx if x is None else np.diff(x, axis=axis)
    return steps * (_at(y, axis, 1, None) + _at(y, axis, 0, -1)) * 0.5


@implements(scipy.integrate.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = _floating(y)
    axis = negative_axis(axis, y.ndim)
    if x is not None:
        x = asarray(x)
        x = _along(x, y, axis) if x.ndim == 1 else np.broadcast_to(x, y.shape)
    return np.sum(_trapezoids(y, x, dx, axis), axis=axis, dtype=y.dtype)


@implements(scipy.integrate.cumulative_trapezoid)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y = _floating(y)
    axis = negative_axis(axis, y.ndim)
    if y.shape[axis] == 0:
        raise ValueError("At least one point is required along `axis`.")
    if initial is not None and (np.ndim(initial) or initial != 0):
        raise ValueError("`initial` must be `None` or `0`.")
    out = np.cumsum(_trapezoids(y, None if x is None else _along(x, y, axis), dx, axis), axis=axis)
    if initial is None:
        return out
    return np.concatenate([np.zeros(_at(y, axis, 0, 1).shape, out.dtype), out], axis=axis)


# ---- Simpson's rule ------------------------------------------------------------------------


@implements(scipy.integrate.simpson)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    y = _floating(y)
    axis = negative_axis(axis, y.ndim)
    n = y.shape[axis]
    steps = None if x is None else np.diff(_along(x, y, axis), axis=axis)
    if n == 2:
        return np.sum(_trapezoids(y, None if x is None else _along(x, y, axis), dx, axis), axis=axis)
    if n % 2:
        return _parabolas(y, steps, dx, axis)
    before = _at(y, axis, 0, n - 1), None if steps is None else _at(steps, axis, 0, n - 2)
    out = _parabolas(*before, dx, axis)
    last = _last_interval(_at(y, axis, n - 3, n), steps, dx, axis)
    return out + (last.astype(np.result_type(out.dtype)) if out.ndim else last)


def _parabolas(y, steps, dx, axis):
    """The integral over pairs of intervals, of the parabolas through their three points."""
    first, middle, last = _at(y, axis, 0, -2, 2), _at(y, axis, 1, -1, 2), _at(y, axis, 2, None, 2)
    if steps is None:
        return np.sum(first + 4.0 * middle + last, axis=axis) * (dx / 3.0)
    h, k = _double(_at(steps, axis, 0, None, 2)), _double(_at(steps, axis, 1, None, 2))
    both = h + k
    ratio = _over(h, k)
    parts = first * (2.0 - _over(np.ones_like(ratio), ratio)) + middle * (both * _over(both, h * k))
    return np.sum((parts + last * (2.0 - ratio)) * (both / 6.0), axis=axis)


def _last_interval(y, steps, dx, axis):
    """The integral over the last interval, of the parabola through the last three points.

    D. V. Cartwright, Simpson's rule cumulative integration with MS Excel and irregularly-spaced data, Journal
    of Mathematical Sciences and Mathematics Education 12 (2), 2017.
    """
    if steps is None:
        h = k = _double(asarray(dx))
    else:
        h, k = [_double(np.sum(_at(steps, axis, *at), axis=axis)) for at in ((-2, -1), (-1, None))]
    a, b, c = [np.sum(_at(y, axis, i, i + 1), axis=axis) for i in range(3)]
    last = _over(2.0 * k * k + 3.0 * h * k, 6.0 * (h + k))
    middle = _over(k * k + 3.0 * h * k, 6.0 * h)
    return last * c + middle * b - _over(k * k * k, 6.0 * h * (h + k)) * a


@implements(scipy.integrate.cumulative_simpson)
def cumulative_simpson(y, *, x=None, dx=1.0, axis=-1, initial=None):
    y = _floating(y)
    axis = negative_axis(axis, y.ndim)
    single = _at(y, axis, 0, 1).shape
    if y.shape[axis] < 3:
        out = cumulative_trapezoid(y, x, dx, axis)
    elif x is None:
        steps = _one_or_single(dx, single, "dx")
        out = np.cumsum(_simpson_intervals(y, np.broadcast_to(steps, single), True, axis), axis=axis)
    else:
        steps = np.diff(_along(x, y, axis), axis=axis)
        plain = known(steps)
        if plain is not None and np.any(plain <= 0):
            raise ValueError("Input x must be strictly increasing.")
        out = np.cumsum(_simpson_intervals(y, steps, False, axis), axis=axis)
    if initial is None:
        return out
    initial = np.broadcast_to(_one_or_single(initial, single, "initial"), single)
    return np.concatenate([initial, out + initial], axis=axis)


def _one_or_single(x, single, name):
    x = _floating(x)
    if x.shape not in ((), single):
        raise ValueError(
            f"If provided, `{name}` must either be a scalar or have the same shape as `y` but with only 1 "
            "point along `axis`."
        )
    return x


def _simpson_intervals(y, steps, equal, axis):
    """The integral over each interval, of the parabola through its ends and a third point.

    That is the next one for the first, third, ... interval, the one before for the others and the last.
    """
    first = _first_of_two_equal if equal else _first_of_two
    ahead = first(y, steps, axis)
    back = np.flip(first(np.flip(y, axis), np.flip(steps, axis), axis), axis)
    ahead = np.concatenate([ahead, _at(back, axis, -1, None)], axis=axis)
    back = np.concatenate([_at(back, axis, 0, 1), back], axis=axis)
    n = ahead.shape[axis]
    places = np.reshape(np.arange(n), (-1, *[1] * (-axis - 1)))
    return np.where((places % 2 == 0) & (places < n - 1), ahead, back)


def _first_of_two(y, steps, axis):
    """Of each two neighbouring intervals the integral over the first, by Cartwright's formula."""
    h, k = _at(steps, axis, 0, -1), _at(steps, axis, 1, None)
    a, b, c = _at(y, axis, 0, -2), _at(y, axis, 1, -1), _at(y, axis, 2, None)
    part = h / (h + k)
    third = part * (h / k)
    return h / 6.0 * ((3.0 - part) * a + (3.0 + third + part) * b - third * c)


def _first_of_two_equal(y, step, axis):
    a, b, c = _at(y, axis, 0, -2), _at(y, axis, 1, -1), _at(y, axis, 2, None)
    return step / 3.0 * (1.25 * a + 2.0 * b - 0.25 * c)


# ---- Romberg's rule ------------------------------------------------------------------------


@implements(scipy.integrate.romb)
def romb(y, dx=1.0, axis=-1, show=False):
    if show:
        refuse_argument("scipy.integrate.romb", "show=", "Print the table of plain values: stop_gradient(y).")
    y = _floating(y)
    axis = negative_axis(axis, y.ndim)
    intervals = y.shape[axis] - 1
    levels = max(intervals, 1).bit_length() - 1
    if intervals != 1 << levels:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    sums = []
    for level in range(levels + 1):  # the trapezoidal rule of finer and finer steps
        step = intervals >> level
        inner = np.sum(_at(y, axis, step, -1, step), axis=axis)
        ends = np.sum(_at(y, axis, 0, None, intervals), axis=axis)
        sums.append((inner + 0.5 * ends) * (step * _double(asarray(dx))))
    for order in range(1, levels + 1):  # Richardson's extrapolation
        sums = [b + (b - a) / (4**order - 1) for a, b in zip(sums, sums[1:])]
    return sums[0]
