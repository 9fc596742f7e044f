"""NumPy's `emath` module: functions whose result is complex where the argument leaves their real domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad.numpy.arguments import numbers_of
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.ufuncs import cast


def _negative(x: Any) -> Any:
    return x < 0


def _beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


def _complex_if(x: Any, outside: Callable, function: str) -> Any:
    """The argument, as complex numbers if one entry (of a batch: in one member) is outside the domain."""
    x = asarray(x)
    if x.dtype.kind == "c":
        return x
    known = numbers_of(x)
    if known is None:
        cure = f"The dtype of its result depends on values. Write np.{function}(x + 0j), or np.{function}(x)."
        raise errors.UnsupportedFunctionError(f"emath.{function}", describe(*caller(3)), cure)
    if not np.any(outside(known)):
        return x
    return cast(x, np.complex64 if x.dtype.char in "fbhBH" else np.complex128)


def _extended(name: str, outside: Callable) -> Callable:
    numpys, function = getattr(np.emath, name), getattr(np, name)

    @implements(numpys)
    def extended(x):
        return function(_complex_if(x, outside, name))

    extended.__name__ = extended.__qualname__ = name
    extended.__doc__ = f"As `numpy.emath.{name}`."
    return extended


sqrt, log, log2, log10 = (_extended(name, _negative) for name in ("sqrt", "log", "log2", "log10"))
arcsin, arccos, arctanh = (_extended(name, _beyond_one) for name in ("arcsin", "arccos", "arctanh"))


@implements(np.emath.logn)
def logn(n, x):
    """As `numpy.emath.logn`."""
    return np.log(_complex_if(x, _negative, "log")) / np.log(_complex_if(n, _negative, "log"))


@implements(np.emath.power)
def power(x, p):
    """As `numpy.emath.power`."""
    x, p = _complex_if(x, _negative, "power"), asarray(p)
    return np.power(x, p if p.dtype.kind in "fc" else _floats_if_negative(p))


def _floats_if_negative(p: Any) -> Any:
    known = numbers_of(p)
    return cast(p, np.float64) if known is None or np.any(known < 0) else p
