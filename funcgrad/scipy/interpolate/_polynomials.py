"""One polynomial through all points: `BarycentricInterpolator`, `KroghInterpolator`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate

from funcgrad.numpy.arguments import normalize_axis_index
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse, refuse_argument
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._held import Held, Interpolant, double, moved, over


def lagrange(x: Any, y: Any, at: Any) -> Any:
    """The polynomial with values `y` at `x` (along the first axis), at points of any shape.

    Lagrange's form, in products, without any division by a distance of `at`: it is as stable as the
    barycentric one (N. J. Higham, IMA J. Numer. Anal. 24, 2004), and the data are no special points of it.
    """
    n = x.shape[0]
    unit = 4.0 / (np.max(x) - np.min(x)) if n > 1 else 1.0  # so that products neither over- nor underflow
    between = (x[:, None] - x) * unit + np.eye(n)
    away = (at[..., None] - x) * unit
    ones = np.ones_like(away[..., :1])
    before = np.cumprod(np.concatenate([ones, away[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, away[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    weights = before * after / np.prod(between, axis=-1)
    return np.tensordot(weights, y, axes=1)


class _ThroughPoints(Interpolant):
    """What both classes share: points, values, and no derivative but by a transform."""

    xi, yi = Held(), Held()

    def _hold_points(self, xi, yi, axis):
        axis = normalize_axis_index(axis, yi.ndim)
        if xi.ndim != 1 or yi.shape[axis] != xi.shape[0]:
            raise ValueError("x and y arrays must be equal in length along interpolation axis.")
        self._hold(xi=xi, yi=np.moveaxis(yi, axis, 0))
        self._y_axis = axis

    def derivative(self, x, der=1):
        if not self._traced(x):
            return super().derivative(x, der)
        self._refuse(".derivative", "Take jvp or grad of the interpolant itself, which are exact.")

    def derivatives(self, x, der=None):
        if not self._traced(x):
            return super().derivatives(x, der)
        self._refuse(".derivatives", "Take jvp or grad of the interpolant itself, which are exact.")


class BarycentricInterpolator(_ThroughPoints, scipy.interpolate.BarycentricInterpolator):
    """`scipy.interpolate.BarycentricInterpolator`, whose data and points may be traced."""

    def __init__(self, xi, yi=None, axis=0, **options):
        if not has_tracer((xi, yi, options)):
            super().__init__(xi, yi, axis, **options)
            return
        if yi is None or options.get("wi") is not None:
            what = "wi=" if options.get("wi") is not None else "leaving yi out"
            cure = "Give xi and yi: the weights follow from xi."
            refuse_argument("scipy.interpolate.BarycentricInterpolator", what, cure)
        xi, yi = double(xi), double(yi)
        self._hold_points(xi, yi, axis)

    def _data(self):
        if "_is_traced" in vars(self):
            return self.xi, self.yi
        return self.xi, np.reshape(self.yi, (len(self.xi), *self._y_extra_shape))

    def __call__(self, x):
        if not self._traced(x):
            return super().__call__(x)
        x, (xi, yi) = double(x), self._data()
        return moved(lagrange(xi, yi, x), x.ndim, self._y_axis)

    def add_xi(self, xi, yi=None):
        if self._traced(xi, yi):
            self._refuse(".add_xi", "Make a new one, of np.concatenate of the points.")
        super().add_xi(xi, yi)

    def set_yi(self, yi, axis=None):
        if self._traced(yi):
            self._refuse(".set_yi", "Make a new one of these values.")
        super().set_yi(yi, axis)


class KroghInterpolator(_ThroughPoints, scipy.interpolate.KroghInterpolator):
    """`scipy.interpolate.KroghInterpolator`, whose data and points may be traced."""

    def __init__(self, xi, yi, axis=0):
        if not has_tracer((xi, yi)):
            super().__init__(xi, yi, axis)
            return
        xi, yi = double(xi), double(yi)
        plain = known(xi)
        if plain is not None and len(np.unique(plain)) < len(plain):
            cure = "Give each point once; values and slopes together take CubicHermiteSpline."
            refuse_argument("scipy.interpolate.KroghInterpolator", "points given twice", cure)
        self._hold_points(xi, yi, axis)

    def __call__(self, x):
        if not self._traced(x):
            return super().__call__(x)
        x = double(x)
        if "_is_traced" in vars(self):
            return moved(lagrange(self.xi, self.yi, x), x.ndim, self._y_axis)
        coefficients = np.reshape(self.c[: len(self.xi)], (len(self.xi), *self._y_extra_shape))
        out = coefficients[-1] + 0.0 * over(x, np.zeros((1,) * (x.ndim + coefficients.ndim - 1)))
        for knot, coefficient in zip(self.xi[-2::-1], coefficients[-2::-1]):  # Newton's form
            out = out * over(x - knot, out) + coefficient
        return moved(out, x.ndim, self._y_axis)


@implements(scipy.interpolate.barycentric_interpolate)
def barycentric_interpolate(xi, yi, x, axis=0, *, der=0, **options):
    return _interpolated("barycentric_interpolate", BarycentricInterpolator(xi, yi, axis), x, der)


@implements(scipy.interpolate.krogh_interpolate)
def krogh_interpolate(xi, yi, x, der=0, axis=0):
    return _interpolated("krogh_interpolate", KroghInterpolator(xi, yi, axis), x, der)


def _interpolated(function, interpolant, x, der):
    if np.ndim(der) or der != 0:
        refuse(f"scipy.interpolate.{function} with der=", "Take jvp or grad of it with respect to x.")
    return interpolant(x)
