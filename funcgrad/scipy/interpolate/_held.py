"""Interpolants whose data may be traced: SciPy's classes, with attributes that take tracers.

A class here is SciPy's, and an object made of plain data is made by SciPy. One made of traced data holds that
in the attributes that SciPy documents, and its methods compute in differentiable NumPy; so do those of any
object at a traced point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.numpy.creation import asarray
from funcgrad.scipy._mirror import has_tracer, refuse


class Held:
    """An attribute that SciPy's class has, and that may be traced."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self.name in vars(instance):
            return vars(instance)[self.name]
        return getattr(super(self.owner, instance), self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        after = type(instance).__mro__.index(self.owner) + 1
        for cls in type(instance).__mro__[after:]:
            descriptor = cls.__dict__.get(self.name)
            if hasattr(descriptor, "__set__"):
                return descriptor.__set__(instance, value)
        vars(instance)[self.name] = value


class Interpolant:
    """What all interpolants of this package share."""

    def _hold(self, **attributes: Any) -> None:
        vars(self).update(attributes, _is_traced=True)

    def _traced(self, *others: Any) -> bool:
        """Whether the data, or any of these values, are traced."""
        return "_is_traced" in vars(self) or has_tracer(others)

    def _asked(self, x: Any, nu: int, extrapolate: Any) -> tuple[Any, int, Any]:
        """What a spline is asked for: points in double precision, the derivative's order, what is outside."""
        if nu < 0:
            raise ValueError("Order of derivative cannot be negative")
        return double(x), nu, self.extrapolate if extrapolate is None else extrapolate

    def _refuse(self, method: str, instead: str) -> None:
        refuse(f"scipy.interpolate.{type(self).__name__}{method}", instead)


def double(x: Any) -> Any:
    """An array in double precision, in which SciPy interpolates."""
    x = asarray(x)
    dtype = np.complex128 if x.dtype.kind == "c" else np.float64
    return x if x.dtype == dtype else x.astype(dtype)


def take(x: Any, places: Any, axis: int = 0) -> Any:
    """Entries along an axis; both may be traced."""
    return fnp.take(x, places, axis=axis)


def interval(knots: Any, at: Any, falling: bool = False) -> Any:
    """How many of the knots are at or before each point: the interval right of a knot is that of the knot."""
    if falling:
        knots, at = -knots, -at
    return np.searchsorted(knots, at, side="right")


def over(x: Any, like: Any) -> Any:
    """Numbers at points, as an array that goes along the first axes of another."""
    return np.reshape(x, (*x.shape, *[1] * (like.ndim - x.ndim)))


def moved(out: Any, points: int, axis: int) -> Any:
    """The axes of the points, which are the first ones, at the place of the interpolation axis."""
    return np.moveaxis(out, range(points), range(axis, axis + points)) if axis and points else out
