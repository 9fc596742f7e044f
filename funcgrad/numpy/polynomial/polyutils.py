"""What polynomials of all bases share: series of coefficients, domains. As `numpy.polynomial.polyutils`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import polyutils as _numpys
from numpy.polynomial.polyutils import format_float

from funcgrad.numpy.arguments import numbers_of
from funcgrad.numpy.creation import asarray, has_tracer
from funcgrad.numpy.ufuncs import cast, result_type

__all__ = ["as_series", "trimseq", "trimcoef", "getdomain", "mapdomain", "mapparms", "format_float"]


def over(numpys: Callable) -> Callable:
    """Carry out NumPy's function on traced arguments by the decorated one, on others by itself."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(numpys, assigned=("__name__", "__qualname__"), updated=())
        def call(*args, **kwargs):
            traced = has_tracer((args, *kwargs.values()))
            return function(*args, **kwargs) if traced else numpys(*args, **kwargs)

        call.__module__ = function.__module__
        call.__doc__ = f"As `{numpys.__module__}.{numpys.__name__}`, of traced values too."
        return call

    return decorate


def floats(c: Any) -> Any:
    """Coefficients as an array of floating-point or complex numbers, with one axis at least."""
    c = np.atleast_1d(asarray(c))
    return c if c.dtype.kind in "fc" else cast(c, np.float64)


def series(*given: Any, trim: bool = True) -> list:
    """One-dimensional arrays of coefficients, of one dtype, without zeros at the end."""
    arrays = [floats(c) for c in given]
    _numpys.as_series([np.ones(c.shape) for c in arrays], trim)  # NumPy's errors
    dtype = result_type(*arrays)
    return [cast(without_zeros(c) if trim else c, dtype) for c in arrays]


def without_zeros(c: Any, tolerance: float | None = None) -> Any:
    """A series without the last coefficients that are 0, or at most `tolerance`, but for one.

    Of a batch only what is so in every member goes; in a program of types nothing is known to be so.
    """
    known = numbers_of(c)
    if known is None or not np.size(known):
        return c
    counts = known != 0 if tolerance is None else np.abs(known) > tolerance
    kept = np.flatnonzero(np.reshape(counts, (-1, c.shape[0])).any(0))
    return c[: kept[-1] + 1] if kept.size else c[:1] * 0


@over(_numpys.as_series)
def as_series(alist, trim=True):
    return series(*alist, trim=trim)


@over(_numpys.trimseq)
def trimseq(seq):
    return without_zeros(seq)


@over(_numpys.trimcoef)
def trimcoef(c, tol=0):
    if tol < 0:
        raise ValueError("tol must be non-negative")
    (c,) = series(c, trim=False)
    return without_zeros(c, tol)


# ---- domains -------------------------------------------------------------------------------


@over(_numpys.getdomain)
def getdomain(x):
    (x,) = series(x, trim=False)
    if x.dtype.kind == "c":
        ends = [(np.min(part), np.max(part)) for part in (np.real(x), np.imag(x))]
        return np.stack([a + 1j * b for a, b in zip(*ends)])
    return np.stack([np.min(x), np.max(x)])


@over(_numpys.mapparms)
def mapparms(old, new):
    length = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / length, (new[1] - new[0]) / length


def mapdomain(x: Any, old: Any, new: Any) -> Any:
    """As `numpy.polynomial.polyutils.mapdomain`."""
    if not has_tracer((x, old, new)):
        return _numpys.mapdomain(x, old, new)
    offset, scale = mapparms(old, new)
    return offset + scale * (asarray(x) if isinstance(x, (list, tuple)) else x)
