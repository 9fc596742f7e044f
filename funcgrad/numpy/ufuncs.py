"""Elementwise functions that are composed of primitives, and the keyword arguments of ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, is_differentiable
from funcgrad._interpreters.batch import batch_leading
from funcgrad._primitives import arithmetic, constants, selection, special
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.numpy.arguments import NO_VALUE, given, numbers_of, refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements


def cast(x: Any, dtype: Any) -> Any:
    """An array or tracer in another dtype."""
    dtype = np.dtype(dtype)
    own = dtype_of(x)
    if own == dtype:
        return x
    if is_differentiable(own) and not is_differentiable(dtype):
        if dtype.kind not in "biu":  # Python objects, text: numbers without their derivative
            cure = "Stay with numbers, or convert stop_gradient(x) if a constant is meant."
            raise errors.UnsupportedArgumentError("astype", f"dtype {dtype}", describe(*caller(2)), cure)
        return to_integers(x, dtype=dtype)
    return arithmetic.convert(x, dtype=dtype)


def _to_integers(x, *, dtype):
    return np.asarray(x).astype(dtype)[()]


to_integers = constants.constant(_to_integers, name="to_integers")
to_integers.batch = lambda values, batched, dtype: to_integers(*values, dtype=dtype)


def example(x: Any) -> Any:
    """What stands for a value where dtypes are worked out: its dtype, or if it is weak a Python number."""
    if not isinstance(x, Tracer):
        return x
    return {"b": True, "i": 1, "f": 1.0, "c": 1j}[x.dtype.kind] if x.weak else x.dtype


@implements(np.result_type)
def result_type(*arrays_and_dtypes):
    return np.result_type(*map(example, arrays_and_dtypes))


@implements(np.common_type)
def common_type(*arrays):
    return np.common_type(*[np.zeros(0, dtype_of(a)) for a in arrays])


@implements(np.can_cast)
def can_cast(from_, to, casting="safe"):
    return np.can_cast(*[dtype_of(x) if isinstance(x, Tracer) else x for x in (from_, to)], casting)


@implements(np.min_scalar_type)
def min_scalar_type(a):
    known = numbers_of(a) if a.ndim == 0 else None
    return np.min_scalar_type(np.zeros(1, a.dtype) if known is None or np.ndim(known) else known)


# ---- complex parts -------------------------------------------------------------------------


@implements(np.real)
def real(val):
    return arithmetic.real(val) if dtype_of(val).kind == "c" else val


@implements(np.imag)
def imag(val):
    return arithmetic.imag(val) if dtype_of(val).kind == "c" else np.zeros_like(val)


@implements(np.conjugate)
def conjugate(x):
    return arithmetic.conjugate(x) if dtype_of(x).kind == "c" else arithmetic.positive(x)


@implements(np.sign)
def sign(x):
    if dtype_of(x).kind != "c":
        return constants.real_sign(x)
    return arithmetic.direction(x, np.abs(x))


@implements(np.angle)
def angle(z, deg=False):
    out = np.arctan2(np.imag(z), np.real(z))
    return np.degrees(out) if deg else out


@implements(np.real_if_close)
def real_if_close(a, tol=100):
    if dtype_of(a).kind != "c":
        return a
    known = numbers_of(a)
    if known is None:
        raise errors.UnsupportedFunctionError(
            "real_if_close", describe(*caller(2)), "Its dtype depends on the values. Write np.real(x)."
        )
    return np.real(a) if np.isrealobj(np.real_if_close(known, tol)) else a


# ---- ufuncs with several outputs, or of whole numbers --------------------------------------


@implements(np.divmod)
def divmod(a, b):
    return np.floor_divide(a, b), np.remainder(a, b)


@implements(np.modf)
def modf(x):
    return arithmetic.fraction(x), np.trunc(x)


@implements(np.frexp)
def frexp(x):
    exponent = constants.exponent(x)
    return np.ldexp(x, -exponent), exponent


@implements(np.float_power)
def float_power(a, b):
    dtype = np.result_type(dtype_of(a), dtype_of(b), np.float64)
    a, b = (cast(x, dtype) if hasattr(x, "dtype") else dtype.type(x) for x in (a, b))
    return arithmetic.power(a, b)


# ---- selections ----------------------------------------------------------------------------


@implements(np.where)
def where(condition, x=None, y=None):
    if x is None and y is None:
        return np.nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if not hasattr(condition, "dtype"):
        condition = np.asarray(condition)
    if dtype_of(condition).kind != "b":
        condition = np.not_equal(condition, 0)
    return selection.where(condition, _array(x), _array(y))


def _array(x: Any) -> Any:
    """Lists as arrays; Python scalars stay weak."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


@implements(np.clip)
def clip(a, a_min=NO_VALUE, a_max=NO_VALUE, out=None, *, min=NO_VALUE, max=NO_VALUE,
         dtype=None, where=True, casting="same_kind", order="K", subok=True):  # fmt: skip
    refuse_out("clip", out)
    if where is not True:
        cure = "Write np.where(mask, np.clip(x, low, high), x)."
        raise errors.UnsupportedArgumentError("clip", "where=", describe(*caller(2)), cure)
    if (a_min is NO_VALUE) != (a_max is NO_VALUE):
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    if a_min is NO_VALUE:
        a_min, a_max = min, max
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    result = a = _array(a)
    if given(a_min):
        result = selection.maximum(result, _array(a_min))
    if given(a_max):
        result = selection.minimum(result, _array(a_max))
    if result is a:
        result = arithmetic.positive(a)
    return result if dtype is None else cast(result, dtype)


def _clip_method(a, low, high):
    """What the method of a plain array calls."""
    return np.minimum(np.maximum(a, low), high)


IMPLEMENTATIONS[np._core.umath.clip] = _clip_method


@implements(np.select)
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    choices, default = [*map(_array, choicelist)], _array(default)
    dtype = np.result_type(*[c if _weak(c) else dtype_of(c) for c in (*choices, default)])
    result = _as_dtype(default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        result = np.where(condition, _as_dtype(choice, dtype), result)
    return result


def _weak(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


def _as_dtype(x: Any, dtype: np.dtype) -> Any:
    x = _array(x)
    return dtype.type(x) if _weak(x) else cast(x, dtype)


@implements(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy:
        return x._write_out(nan_to_num(x, True, nan, posinf, neginf), "np.nan_to_num(x, copy=False)")
    x = asarray(x)
    if dtype_of(x).kind == "c":
        parts = (
            nan_to_num(np.real(x), True, nan, posinf, neginf),
            nan_to_num(np.imag(x), True, nan, posinf, neginf),
        )
        return parts[0] + 1j * parts[1]
    if not is_differentiable(dtype_of(x)):
        return np.positive(x)
    info = np.finfo(dtype_of(x))
    posinf, neginf = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    for found, value in ((np.isnan(x), nan), (x == np.inf, posinf), (x == -np.inf, neginf)):
        x = np.where(found, _as_dtype(value, dtype_of(x)), x)
    return x


# ---- rounding ------------------------------------------------------------------------------


def _round(x, *, decimals):
    return np.round(x, decimals)


_rounded = constants.constant(_round, name="round")
_rounded.batch = lambda values, batched, decimals: _rounded(*values, decimals=decimals)


@implements(np.round, np.around)
def round(a, decimals=0, out=None):
    refuse_out("round", out)
    return _rounded(a, decimals=decimals)


@implements(np.fix)
def fix(x, out=None):
    refuse_out("fix", out)
    return np.trunc(x)


# ---- special functions ---------------------------------------------------------------------


@implements(np.sinc)
def sinc(x):
    return special.sine_quotient(np.pi * x, n=0)


@implements(np.i0)
def i0(x):
    return special.bessel_i0(x, n=0)


# ---- comparisons of arrays, and tests of numbers -------------------------------------------


@implements(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _isclose(a, b, rtol, atol, equal_nan=equal_nan)


def _is_close(a, b, rtol, atol, *, equal_nan):
    return np.isclose(a, b, rtol, atol, equal_nan)


_isclose = constants.constant(_is_close, name="isclose")
_isclose.batch = batch_leading(_isclose, (0, 0, 0, 0))


@implements(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


@implements(np.array_equal)
def array_equal(a1, a2, equal_nan=False):
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2)))
    return bool(np.all(same))


@implements(np.array_equiv)
def array_equiv(a1, a2):
    try:
        return bool(np.all(np.equal(a1, a2)))
    except ValueError:
        return False


@implements(np.iscomplexobj)
def iscomplexobj(x):
    return dtype_of(x).kind == "c"


@implements(np.isrealobj)
def isrealobj(x):
    return dtype_of(x).kind != "c"


@implements(np.iscomplex)
def iscomplex(x):
    return np.not_equal(np.imag(x), 0)


@implements(np.isreal)
def isreal(x):
    return np.equal(np.imag(x), 0)


@implements(np.isposinf)
def isposinf(x, out=None):
    refuse_out("isposinf", out)
    return np.equal(x, np.inf)


@implements(np.isneginf)
def isneginf(x, out=None):
    refuse_out("isneginf", out)
    return np.equal(x, -np.inf)


IMPLEMENTATIONS[np.conj] = conjugate
