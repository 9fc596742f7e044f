"""Piecewise polynomials: `PPoly` and the cubic interpolants that make one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.interpolate

from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._cubic import (
    akima_slopes,
    hermite_coefficients,
    pchip_slopes,
    prepared,
    spline_slopes,
)
from funcgrad.scipy.interpolate._held import Held, Interpolant, double, interval, moved, over, take

_ROOTS = (
    "Take the roots of the plain interpolant, and a step of Newton's method from there for each derivative."
)


def evaluate(c: Any, x: Any, at: Any, nu: int, extrapolate: Any) -> Any:
    """The derivative of order `nu` of a piecewise polynomial, at points of any shape.

    Right of a breakpoint counts at it. Beyond the ends it is NaN unless `extrapolate`.
    """
    if extrapolate == "periodic":
        at, extrapolate = x[0] + (at - x[0]) % (x[-1] - x[0]), False
    plain = known(x)
    falling = plain is not None and bool(plain[0] > plain[-1])
    piece = interval(x[1:-1], at, falling)
    coefficients, out = take(c, piece, axis=1), None
    step = over(at - take(x, piece), coefficients[0])
    for power in range(c.shape[0] - 1, nu - 1, -1):
        coefficient = coefficients[c.shape[0] - 1 - power] * math.perm(power, nu)
        out = coefficient if out is None else out * step + coefficient
    if out is None:
        out = np.zeros(coefficients.shape[1:], c.dtype)
    low, high = (x[-1], x[0]) if falling else (x[0], x[-1])
    there = at == at if extrapolate else (at >= low) & (at <= high)
    return np.where(over(there, out), out, np.nan)


def derivative(c: Any, nu: int) -> Any:
    """The coefficients of the derivative."""
    powers = range(c.shape[0] - 1, nu - 1, -1)
    if not powers:
        return np.zeros((1, *c.shape[1:]), c.dtype)
    factors = np.array([math.perm(p, nu) for p in powers], float)
    return c[: len(powers)] * np.reshape(factors, (-1, *[1] * (c.ndim - 1)))


def antiderivative(c: Any, x: Any) -> Any:
    """The coefficients of the continuous antiderivative that is 0 at the first breakpoint."""
    powers = np.arange(c.shape[0], 0, -1.0)
    c = c / np.reshape(powers, (-1, *[1] * (c.ndim - 1)))
    step = np.diff(x)
    step = np.reshape(step, (-1, *[1] * (c.ndim - 2)))
    whole = c[0]
    for coefficient in c[1:]:
        whole = whole * step + coefficient
    before = np.cumsum(whole * step, axis=0)
    before = np.concatenate([np.zeros_like(before[:1]), before[:-1]], axis=0)
    return np.concatenate([c, before[None]], axis=0)


class PPoly(Interpolant, scipy.interpolate.PPoly):
    """`scipy.interpolate.PPoly`, whose coefficients, breakpoints and points may be traced."""

    c, x = Held(), Held()

    def __init__(self, c, x, extrapolate=None, axis=0):
        if not has_tracer((c, x)):
            super().__init__(c, x, extrapolate, axis)
            return
        c, x = double(c), double(x)
        if c.ndim < 2:
            raise ValueError("Coefficients array must be at least 2-dimensional.")
        if not 0 <= axis < c.ndim - 1:
            raise ValueError(f"axis={axis} must be between 0 and {c.ndim - 1}")
        c = np.moveaxis(c, (axis, axis + 1), (0, 1))
        if x.ndim != 1 or x.shape[0] < 2 or c.shape[1] != x.shape[0] - 1:
            raise ValueError("x must be 1-dimensional, with one more breakpoint than there are coefficients")
        plain = known(x)
        steps = None if plain is None else np.diff(plain)
        if steps is not None and not (np.all(steps > 0) or np.all(steps < 0)):
            raise ValueError("`x` must be strictly increasing or decreasing.")
        self._set(c, x, extrapolate, axis)

    def _set(self, c, x, extrapolate, axis):
        self._hold(c=c, x=x)
        self.extrapolate = True if extrapolate is None else extrapolate
        self.axis = axis

    @classmethod
    def construct_fast(cls, c, x, extrapolate=None, axis=0):
        if not has_tracer((c, x)):
            return super().construct_fast(c, x, extrapolate, axis)
        self = object.__new__(cls)
        self._set(c, x, extrapolate, axis)
        return self

    @classmethod
    def from_spline(cls, tck, extrapolate=None):
        if has_tracer(getattr(tck, "tck", tck)):
            PPoly._refuse(object.__new__(cls), ".from_spline", "Evaluate the BSpline itself.")
        return super().from_spline(tck, extrapolate)

    def __call__(self, x, nu=0, extrapolate=None):
        if not self._traced(x):
            return super().__call__(x, nu, extrapolate)
        asked = self._asked(x, nu, extrapolate)
        return moved(evaluate(self.c, self.x, *asked), asked[0].ndim, self.axis)

    def derivative(self, nu=1):
        if not self._traced():
            return super().derivative(nu)
        if nu < 0:
            return self.antiderivative(-nu)
        return self.construct_fast(derivative(self.c, nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if not self._traced():
            return super().antiderivative(nu)
        if nu <= 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            c = antiderivative(c, self.x)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return self.construct_fast(c, self.x, extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        if not self._traced(a, b):
            return super().integrate(a, b, extrapolate)
        if extrapolate is None:
            extrapolate = self.extrapolate
        c, x = antiderivative(self.c, self.x), self.x

        def primitive(at):
            at = double(at)
            if extrapolate != "periodic":
                return evaluate(c, x, at, 0, extrapolate)
            period = x[-1] - x[0]
            turns = np.floor((at - x[0]) / period)
            whole = evaluate(c, x, x[-1], 0, True)
            return turns * whole + evaluate(c, x, at - turns * period, 0, True)

        return primitive(b) - primitive(a)

    def solve(self, y=0.0, discontinuity=True, extrapolate=None):
        if self._traced(y):
            self._refuse(".solve", _ROOTS)
        return super().solve(y, discontinuity, extrapolate)

    def roots(self, discontinuity=True, extrapolate=None):
        if self._traced():
            self._refuse(".roots", _ROOTS)
        return super().roots(discontinuity, extrapolate)

    def extend(self, c, x, **options):
        if self._traced(c, x):
            self._refuse(".extend", "Make a new one, of np.concatenate of coefficients and breakpoints.")
        super().extend(c, x, **options)


class CubicHermiteSpline(PPoly, scipy.interpolate.CubicHermiteSpline):
    """`scipy.interpolate.CubicHermiteSpline`, whose data and points may be traced."""

    def __init__(self, x, y, dydx, axis=0, extrapolate=None):
        if not has_tracer((x, y, dydx)):
            super(PPoly, self).__init__(x, y, dydx, axis, extrapolate)
            return
        shape = asarray(y).shape
        if shape != asarray(dydx).shape:
            raise ValueError("The shapes of `y` and `dydx` must be identical.")
        x, y, axis = prepared(x, y, axis)
        slopes = np.moveaxis(double(dydx), axis, 0)
        self._set(hermite_coefficients(x, y, slopes), x, extrapolate, axis)


class PchipInterpolator(CubicHermiteSpline, scipy.interpolate.PchipInterpolator):
    """`scipy.interpolate.PchipInterpolator`, whose data and points may be traced."""

    def __init__(self, x, y, axis=0, extrapolate=None):
        if not has_tracer((x, y)):
            super(PPoly, self).__init__(x, y, axis, extrapolate)
            return
        x, y, axis = prepared(x, y, axis, only_real="PchipInterpolator")
        self._set(hermite_coefficients(x, y, pchip_slopes(x, y)), x, extrapolate, axis)


class Akima1DInterpolator(CubicHermiteSpline, scipy.interpolate.Akima1DInterpolator):
    """`scipy.interpolate.Akima1DInterpolator`, whose data and points may be traced."""

    def __init__(self, x, y, axis=0, *, method="akima", extrapolate=None):
        if not has_tracer((x, y)):
            super(PPoly, self).__init__(x, y, axis, method=method, extrapolate=extrapolate)
            return
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"`method`={method} is unsupported.")
        x, y, axis = prepared(x, y, axis, only_real="Akima1DInterpolator")
        slopes = akima_slopes(x, y, method == "makima")
        self._set(hermite_coefficients(x, y, slopes), x, False if extrapolate is None else extrapolate, axis)


class CubicSpline(CubicHermiteSpline, scipy.interpolate.CubicSpline):
    """`scipy.interpolate.CubicSpline`, whose data, boundary values and points may be traced."""

    def __init__(self, x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
        if not has_tracer((x, y, bc_type)):
            super(PPoly, self).__init__(x, y, axis, bc_type, extrapolate)
            return
        x, y, axis = prepared(x, y, axis)
        if extrapolate is None:
            extrapolate = "periodic" if isinstance(bc_type, str) and bc_type == "periodic" else True
        slopes = spline_slopes(x, y, bc_type)
        self._set(hermite_coefficients(x, y, slopes), x, extrapolate, axis)


@implements(scipy.interpolate.pchip_interpolate)
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    """`scipy.interpolate.pchip_interpolate`, of traced values."""
    interpolant = PchipInterpolator(xi, yi, axis=axis)
    if isinstance(der, (int, np.integer)):
        return interpolant(x, nu=int(der))
    return [interpolant(x, nu=int(order)) for order in der]
