"""Radial basis functions: `RBFInterpolator`."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import scipy.interpolate

from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad._primitives.kinds import elementwise
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy.interpolate._held import Held, Interpolant, double

# ---- kernels -----------------------------------------------------------------------------------


def _thin_plate(s, *, n):
    """The n-th derivative of s log(s) / 2, which is r^2 log(r) of s = r^2.

    At 0 the first one is said to be 0: there s is the square of something, whose derivative is 0. The second
    derivative with respect to r is infinite there, and so are these from the second on.
    """
    s = np.asarray(s)
    positive = np.where(s > 0, s, 1.0)
    if n == 0:
        return (0.5 * s * np.log(positive))[()]
    if n == 1:
        return np.where(s > 0, 0.5 * (np.log(positive) + 1.0), 0.0)[()]
    with np.errstate(divide="ignore"):
        return (0.5 * (-1) ** n * math.factorial(n - 2) / s ** (n - 1))[()]


thin_plate = elementwise(
    _thin_plate, lambda g, s, *, n: g * thin_plate(s, n=n + 1), name="thin_plate", args="s"
)

#: Of squared distances; where distances themselves count their derivative at 0 is 0.
_KERNELS = {
    "linear": lambda s: -_root(s),
    "thin_plate_spline": lambda s: thin_plate(s, n=0),
    "cubic": lambda s: s * _root(s),
    "quintic": lambda s: -(s * s * _root(s)),
    "multiquadric": lambda s: -np.sqrt(s + 1.0),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(s + 1.0),
    "inverse_quadratic": lambda s: 1.0 / (s + 1.0),
    "gaussian": lambda s: np.exp(-s),
}
_LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}
_SCALE_FREE = ("linear", "thin_plate_spline", "cubic", "quintic")


def _root(s):
    return np.where(s > 0, np.sqrt(np.where(s > 0, s, 1.0)), 0.0)


def _squares(x, y):
    """The squared distances between points."""
    return np.sum((x[..., :, None, :] - y[..., None, :, :]) ** 2, axis=-1)


# ---- the interpolant ---------------------------------------------------------------------------


class RBFInterpolator(Interpolant, scipy.interpolate.RBFInterpolator):
    """`scipy.interpolate.RBFInterpolator`, whose data, parameters and points may be traced."""

    y, d, smoothing, epsilon = Held(), Held(), Held(), Held()

    def __init__(
        self, y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None
    ):
        if not has_tracer((y, d, smoothing, epsilon)):
            super().__init__(y, d, neighbors, smoothing, kernel, epsilon, degree)
            return
        self._refuse_neighbors(neighbors)
        y, d, kernel = double(y), double(d), kernel.lower()
        if y.ndim != 2:
            raise ValueError("`y` must be a 2-dimensional array.")
        count, dimensions = y.shape
        if d.shape[0] != count:
            raise ValueError(f"Expected the first axis of `d` to have length {count}.")
        if kernel not in _KERNELS:
            raise ValueError(f"`kernel` must be one of {sorted(_KERNELS)}.")
        if epsilon is None and kernel not in _SCALE_FREE:
            raise ValueError(f"`epsilon` must be specified if `kernel` is not one of {_SCALE_FREE}.")
        degree = max(_LEAST_DEGREE.get(kernel, -1), 0) if degree is None else int(degree)
        if degree < -1:
            raise ValueError("`degree` must be at least -1.")
        smoothing = double(smoothing)
        if smoothing.shape not in ((), (count,)):
            raise ValueError(f"Expected `smoothing` to be a scalar or have shape ({count},).")
        self._hold(
            y=y,
            d=d,
            smoothing=smoothing,
            epsilon=1.0 if epsilon is None else epsilon,
        )
        self.kernel, self.neighbors = kernel, None
        self.powers = _exponents(dimensions, degree)
        if len(self.powers) > count:
            raise ValueError(
                f"At least {len(self.powers)} data points are required when `degree` is {degree}"
            )

    def _refuse_neighbors(self, neighbors):
        if neighbors is not None:
            cure = "Leave it out: all sites count then. Which are nearest has no derivative."
            refuse_argument("scipy.interpolate.RBFInterpolator", "neighbors=", cure)

    def __call__(self, x):
        if not self._traced(x):
            return super().__call__(x)
        self._refuse_neighbors(self.neighbors)
        x, y, d = double(x), double(self.y), self.d
        if "_is_traced" not in vars(self):  # SciPy keeps complex numbers as pairs, in columns
            d = np.reshape(np.asarray(d).view(self.d_dtype), (-1, *self.d_shape))
        if x.ndim != 2 or x.shape[1] != y.shape[1]:
            raise ValueError(f"`x` must be a 2-dimensional array with {y.shape[1]} columns")
        count, powers = y.shape[0], self.powers
        kernel, scale = _KERNELS[self.kernel], self.epsilon
        own = kernel(_squares(y * scale, y * scale))
        at_0 = kernel(np.zeros(()))
        own = np.where(np.eye(count, dtype=bool), at_0, own)  # a site is at distance 0 from itself, always
        own = own + np.eye(count) * self.smoothing
        # the interpolant is the same for any shift and scale of the monomials, which condition the system
        low, high = np.min(stop_gradient_leaf(y), axis=0), np.max(stop_gradient_leaf(y), axis=0)
        middle, half = (low + high) * 0.5, np.where(high > low, (high - low) * 0.5, 1.0)
        monomials = _monomials((y - middle) / half, powers)
        corner = np.zeros((len(powers), len(powers)))
        system = np.concatenate(
            [np.concatenate([own, monomials], axis=1), np.concatenate([monomials.T, corner], axis=1)]
        )
        values = np.reshape(d, (count, -1))
        right = np.concatenate([values, np.zeros((len(powers), values.shape[1]), values.dtype)])
        coefficients = np.linalg.solve(system, right)
        near = kernel(_squares(x * scale, y * scale))
        out = np.concatenate([near, _monomials((x - middle) / half, powers)], axis=1) @ coefficients
        return np.reshape(out, (x.shape[0], *d.shape[1:]))


def _exponents(dimensions: int, degree: int) -> np.ndarray:
    """Those of all monomials up to a degree."""
    found = [
        [chosen.count(i) for i in range(dimensions)]
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(dimensions), total)
    ]
    return np.array(found, int).reshape(len(found), dimensions)


def _monomials(x: Any, powers: np.ndarray) -> Any:
    """The monomials at points: one row for each point."""
    return np.prod(x[..., :, None, :] ** np.asarray(powers), axis=-1)
