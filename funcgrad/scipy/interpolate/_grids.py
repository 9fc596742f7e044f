"""Interpolation on rectangular grids: `RegularGridInterpolator`, `interpn`."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.interpolate

from funcgrad import numpy as fnp
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._held import Held, Interpolant, double, interval, over, take

_METHODS = ("linear", "nearest", "slinear", "cubic", "quintic", "pchip")
_BY_AXES = "Interpolate along one axis after the other: CubicSpline(x, values)(xi[0]), and so on."


class RegularGridInterpolator(Interpolant, scipy.interpolate.RegularGridInterpolator):
    """`scipy.interpolate.RegularGridInterpolator`, whose grid, values and points may be traced."""

    grid, values, fill_value = Held(), Held(), Held()

    def __init__(self, points, values, method="linear", bounds_error=True, fill_value=np.nan, **options):
        if not has_tracer((points, values, fill_value)):
            super().__init__(points, values, method, bounds_error, fill_value, **options)
            return
        _check_method(method, options)
        grid, values = [double(p) for p in points], asarray(values)
        if values.dtype.kind not in "fc":
            values = values.astype(np.float64)
        if len(grid) > values.ndim:
            raise ValueError(f"There are {len(grid)} point arrays, but values has {values.ndim} dimensions")
        for i, knots in enumerate(grid):
            if knots.ndim != 1 or knots.shape[0] != values.shape[i]:
                raise ValueError(
                    f"There are {knots.shape} points and {values.shape[i]} values on dimension {i}"
                )
            plain = known(knots)
            if plain is None or np.all(np.diff(plain) > 0):
                continue
            if not np.all(np.diff(plain) < 0):
                raise ValueError(f"The points in dimension {i} must be strictly ascending or descending")
            grid[i], values = knots[::-1], np.flip(values, i)
        self._hold(grid=tuple(grid), values=values, fill_value=fill_value)
        self.method, self.bounds_error = method, bounds_error

    def __call__(self, xi, method=None, *, nu=None):
        if not self._traced(xi):
            return super().__call__(xi, method, nu=nu)
        method = self.method if method is None else method
        _check_method(method, {} if nu is None else {"nu": nu})
        grid, values = [double(p) for p in self.grid], self.values
        at = _coordinates(xi, len(grid))
        outside = [(x < knots[0]) | (x > knots[-1]) for x, knots in zip(at, grid)]
        for i, beyond in enumerate(outside):
            plain = known(beyond)
            if self.bounds_error and plain is not None and np.any(plain):
                raise ValueError(f"One of the requested xi is out of bounds in dimension {i}")
        places, parts = zip(*[_place(knots, x) for knots, x in zip(grid, at)])
        if method == "linear":
            out = _corners(values, places, parts)
        else:
            nearer = [np.where(part <= 0.5, i, i + 1) for i, part in zip(places, parts)]
            out = _at(values, nearer)
        if not self.bounds_error and self.fill_value is not None:
            beyond = np.any(np.stack(outside), axis=0)
            out = np.where(over(beyond, out), asarray(self.fill_value).astype(out.dtype), out)
        valid = np.all(np.stack([x == x for x in at]), axis=0)
        out = np.where(over(valid, out), out, np.nan)
        return out if at[0].ndim else out[None]


def _check_method(method, options):
    if method not in _METHODS:
        raise ValueError(f"Method '{method}' is not defined")
    if method not in ("linear", "nearest"):
        refuse_argument("scipy.interpolate.RegularGridInterpolator", f"method={method!r}", _BY_AXES)
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"method='{method}' does not accept the '{name}' argument.")


def _coordinates(xi, count):
    """For each dimension the coordinates of the points: of a tuple of arrays, or an array's last axis."""
    if isinstance(xi, (tuple, list)) and len(xi) == count and not all(np.ndim(x) == 0 for x in xi):
        arrays = [double(x) for x in xi]
        if isinstance(xi, tuple):
            shape = np.broadcast_shapes(*[x.shape for x in arrays])
            return [np.broadcast_to(x, shape) for x in arrays]
        xi = fnp.stack(arrays)
    xi = double(fnp.array(xi))
    if xi.ndim == 1 and count == 1:
        return [xi]
    if xi.shape[-1] != count:
        raise ValueError(
            f"The requested sample points xi have dimension {xi.shape[-1]} but this RegularGridInterpolator "
            f"has dimension {count}"
        )
    return [xi[..., i] for i in range(count)]


def _place(knots, x):
    """The interval of each coordinate, and how far it is along it."""
    if knots.shape[0] == 1:
        return np.zeros(x.shape, np.intp), 0.0 * x
    i = interval(knots[1:-1], x)
    low = take(knots, i)
    return i, (x - low) / (take(knots, i + 1) - low)


def _at(values, places):
    """The values at integer places along the first axes."""
    shape = values.shape[: len(places)]
    flat = 0
    for n, i in zip(shape, places):
        flat = flat * n + np.minimum(i, n - 1)
    return take(np.reshape(values, (-1, *values.shape[len(places) :])), flat)


def _corners(values, places, parts):
    """The mean of the corners of each point's cell, each weighted by the volume across."""
    total = 0.0
    for corner in itertools.product((0, 1), repeat=len(places)):
        found = _at(values, [i + side for i, side in zip(places, corner)])
        weight = 1.0
        for side, part in zip(corner, parts):
            weight = weight * (part if side else 1.0 - part)
        total = total + over(weight, found) * found
    return total


@implements(scipy.interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    if method == "splinef2d":
        refuse_argument("scipy.interpolate.interpn", 'method="splinef2d"', _BY_AXES)
    interpolant = RegularGridInterpolator(points, values, method, bounds_error, fill_value)
    out = interpolant(xi)
    return out
