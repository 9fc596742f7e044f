"""`interp1d`: linear, stepwise and spline interpolation of one variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate

from funcgrad.numpy.arguments import normalize_axis_index
from funcgrad.numpy.creation import asarray
from funcgrad.scipy._mirror import has_tracer
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._held import Held, Interpolant, interval, moved, over, take
from funcgrad.scipy.interpolate._splines import make_interp_spline

_DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
_STEPS = ("nearest", "nearest-up", "previous", "next")


class interp1d(Interpolant, scipy.interpolate.interp1d):
    """`scipy.interpolate.interp1d`, whose data, fill values and points may be traced."""

    x, y, fill_value = Held(), Held(), Held()

    def __init__(self, x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan,
                 assume_sorted=False):  # fmt: skip
        if not has_tracer((x, y, fill_value)):
            super().__init__(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)
            self._kind_asked = kind
            return
        x, y = asarray(x), asarray(y)
        if x.ndim != 1:
            raise ValueError("the x array must have exactly one dimension.")
        if y.ndim == 0:
            raise ValueError("the y array must have at least one dimension.")
        axis = normalize_axis_index(axis, y.ndim)
        if x.shape[0] != y.shape[axis]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        degree = _DEGREES.get(kind, kind)
        if degree not in ("linear", *_STEPS) and not isinstance(degree, (int, np.integer)):
            raise NotImplementedError(f"{kind} is unsupported: Use fitpack routines for other types.")
        if not assume_sorted:
            order = np.argsort(x, kind="stable")
            x, y = take(x, order), take(y, order, axis=axis)
        if y.dtype.kind not in "fc":
            y = y.astype(np.float64)
        if _extrapolates(fill_value) and bounds_error:
            raise ValueError("Cannot extrapolate and raise at the same time.")
        self._hold(x=x, y=y, fill_value=fill_value)
        self._kind_asked, self.axis = kind, axis
        self.bounds_error = not _extrapolates(fill_value) if bounds_error is None else bounds_error

    def __call__(self, x):
        if not self._traced(x):
            return super().__call__(x)
        at = asarray(x)
        if at.dtype.kind not in "fc":
            at = at.astype(np.float64)
        knots, y = self.x, np.moveaxis(self.y, self.axis, 0)
        out = _interpolate(self._kind_asked, knots, y, at)
        fill = self.fill_value
        below, above = at < knots[0], at > knots[-1]
        self._check_bounds_of(below, above)
        if _extrapolates(fill):
            if self._kind_asked == "previous":
                out = np.where(over(below, out), np.nan, out)
            elif self._kind_asked == "next":
                out = np.where(over(above, out), np.nan, out)
        else:
            ends = fill if isinstance(fill, tuple) and len(fill) == 2 else (fill, fill)
            for outside, value in zip((below, above), ends):
                out = np.where(over(outside, out), asarray(value).astype(out.dtype), out)
        out = np.where(over(at == at, out), out, np.nan)
        return moved(out, at.ndim, self.axis)

    def _check_bounds_of(self, below, above):
        for outside, where in ((below, "below"), (above, "above")):
            plain = known(outside)
            if self.bounds_error and plain is not None and np.any(plain):
                raise ValueError(f"A value in x_new is {where} the interpolation range.")


def _extrapolates(fill_value: Any) -> bool:
    return isinstance(fill_value, str) and fill_value == "extrapolate"


def _interpolate(kind: Any, x: Any, y: Any, at: Any) -> Any:
    """Values at points of any shape, extrapolated by what is nearest."""
    n = x.shape[0]
    if kind == "linear":
        left = np.clip(np.searchsorted(x, at), 1, n - 1) - 1  # the piece left of a knot counts there
        x0, y0, y1 = take(x, left), take(y, left), take(y, left + 1)
        slope = (y1 - y0) / over(take(x, left + 1) - x0, y0)
        return slope * over(at - x0, y0) + y0
    if kind in _STEPS:
        if kind.startswith("nearest"):
            middle = x[1:] * 0.5 + x[:-1] * 0.5
            at = np.searchsorted(middle, at, side="left" if kind == "nearest" else "right")
        elif kind == "previous":
            at = np.clip(interval(x, at), 1, n) - 1
        else:
            at = np.clip(np.searchsorted(x, at, side="left"), 0, n - 1)
        return take(y, at)
    return make_interp_spline(x, y, _DEGREES.get(kind, kind))(at)
