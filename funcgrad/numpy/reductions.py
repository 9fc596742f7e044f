"""Reductions: sums, products, extrema, their variants that pass over NaN, and those without derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._primitives import reductions as prims
from funcgrad.numpy.arguments import NO_VALUE, given, negative_axes, negative_axis, refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import UFUNC_METHODS, implements, refuse_unlike_arrays
from funcgrad.numpy.updates import index_add


def options(x: Any, axis: Any, keepdims: Any, scalar_axis: bool = True) -> dict[str, Any]:
    """A reduction's static parameters; what is the default is left out.

    With `scalar_axis` a 0-d array may have an axis 0, as NumPy's ufuncs let it.
    """
    ndim = x.ndim
    axes = () if ndim == 0 and scalar_axis and (axis == 0 or axis == -1) else negative_axes(axis, ndim)
    return {"axis": axes, "keepdims": True} if kept(keepdims) else {"axis": axes}


def kept(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def select(where: Any, x: Any, otherwise: Any) -> Any:
    """The entries of x that count; the others are replaced."""
    return x if where is NO_VALUE or where is True else np.where(where, x, otherwise)


def cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


def first_value(initial: Any, dtype: Any) -> Any:
    """The number that a reduction starts from, which NumPy casts to the dtype of the result."""
    if np.ndim(initial):
        raise ValueError(f"initial must be a number, not an array of shape {np.shape(initial)}.")
    return cast(asarray(initial), dtype)


# ---- sums and products ---------------------------------------------------------------------


@implements(np.sum)
def sum(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
    refuse_out("sum", out)
    x = select(where, asarray(a), 0)
    params = options(x, axis, keepdims)
    if dtype is not None and x.dtype != np.dtype(dtype):
        params["dtype"] = np.dtype(dtype)
    total = prims.sum.of(x, params)
    return total + first_value(initial, total.dtype) if given(initial) else total


@implements(np.prod)
def prod(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
    refuse_out("prod", out)
    x = cast(select(where, asarray(a), 1), dtype)
    axes = options(x, axis, keepdims)["axis"]
    if len(axes) == 1:
        params = {"keepdims": True} if kept(keepdims) else {}
        total = prims.prod(x, axis=axes[0], **params)
    else:
        total = restore(prims.prod(merged(x, axes), axis=-1), x, axes, keepdims)
    return total * first_value(initial, total.dtype) if given(initial) else total


def merged(x: Any, axes: tuple[int, ...]) -> Any:
    """The array with these axes merged into one, the last."""
    if axes == (-1,):
        return x
    rest = [i for i in range(-x.ndim, 0) if i not in axes]
    if tuple(rest) + axes != tuple(range(-x.ndim, 0)):
        x = np.transpose(x, [i + x.ndim for i in (*rest, *axes)])
    lead = x.shape[: len(rest)]
    return np.reshape(x, (*lead, math.prod(x.shape[len(rest) :])))


def restore(reduced: Any, x: Any, axes: tuple[int, ...], keepdims: Any) -> Any:
    """A result of the merged array with the lost axes put back, if they are to be kept."""
    if not kept(keepdims):
        return reduced
    return np.reshape(reduced, [1 if i in axes else x.shape[i] for i in range(-x.ndim, 0)])


# ---- extrema -------------------------------------------------------------------------------


def _extremum(ufunc, prim, name, worst):
    """`np.max` or its like; entries that `where` leaves out become `worst`, against which all win."""

    def extremum(a, axis=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
        refuse_out(name, out)
        x = asarray(a)
        initial = first_value(initial, x.dtype) if given(initial) else initial
        if where is not NO_VALUE and where is not True:
            if not given(initial):
                ufunc.reduce(np.zeros(1), where=np.zeros(1, bool))  # NumPy's error: no identity
            x = np.where(where, x, worst if x.dtype.kind in "fc" else initial)
        params = options(x, axis, keepdims)
        if given(initial) and not x.size:
            return np.where(True, initial, ufunc.reduce(np.empty(x.shape, x.dtype), initial=0, **params))[()]
        best = prim.of(x, params)
        return ufunc(best, initial) if given(initial) else best

    return extremum


max = implements(np.max, np.amax)(_extremum(np.maximum, prims.max, "max", -np.inf))
min = implements(np.min, np.amin)(_extremum(np.minimum, prims.min, "min", np.inf))
nanmax = implements(np.nanmax)(_extremum(np.fmax, prims.fmax, "nanmax", -np.inf))
nanmin = implements(np.nanmin)(_extremum(np.fmin, prims.fmin, "nanmin", np.inf))


@implements(np.ptp)
def ptp(a, axis=None, out=None, keepdims=NO_VALUE):
    refuse_out("ptp", out)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def logaddexp_reduce(a, axis=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
    refuse_out("logaddexp.reduce", out)
    x = select(where, asarray(a), -np.inf)
    total = prims.logaddexp(x, **options(x, axis, keepdims))
    return np.logaddexp(total, first_value(initial, total.dtype)) if given(initial) else total


# ---- passing over NaN ----------------------------------------------------------------------


def without_nan(a: Any, otherwise: Any) -> Any:
    """The array with another value in place of NaN."""
    x = asarray(a)
    return np.where(np.isnan(x), otherwise, x) if x.dtype.kind in "fc" else x


@implements(np.nansum)
def nansum(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
    return sum(without_nan(a, 0.0), axis, dtype, out, keepdims, initial, where)


@implements(np.nanprod)
def nanprod(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, initial=NO_VALUE, where=NO_VALUE):
    return prod(without_nan(a, 1.0), axis, dtype, out, keepdims, initial, where)


# ---- without derivative --------------------------------------------------------------------


def _test(prim, name, neutral):
    def test(a, axis=None, out=None, keepdims=NO_VALUE, *, where=NO_VALUE):
        refuse_out(name, out)
        x = asarray(a)
        if where is not NO_VALUE and where is not True:
            refuse_unlike_arrays(name, (type(where),))
            x = np.where(where, x != 0, neutral)
        return prim(x, **options(x, axis, keepdims))

    return test


all = implements(np.all)(_test(prims.all, "all", True))
any = implements(np.any)(_test(prims.any, "any", False))


@implements(np.count_nonzero)
def count_nonzero(a, axis=None, *, keepdims=False):
    x = asarray(a)
    return prims.count_nonzero(x, **options(x, axis, keepdims))


def _position(prim, name):
    def position(a, axis=None, out=None, *, keepdims=NO_VALUE):
        refuse_out(name, out)
        x = asarray(a)
        if axis is None:
            return restore(prim(np.reshape(x, -1), axis=-1), x, negative_axes(None, x.ndim), keepdims)
        params = {"keepdims": True} if kept(keepdims) else {}
        return prim(x, axis=negative_axis(axis, x.ndim), **params)

    return position


argmax = implements(np.argmax)(_position(prims.argmax, "argmax"))
argmin = implements(np.argmin)(_position(prims.argmin, "argmin"))
nanargmax = implements(np.nanargmax)(_position(prims.nanargmax, "nanargmax"))
nanargmin = implements(np.nanargmin)(_position(prims.nanargmin, "nanargmin"))


# ---- the methods of ufuncs -----------------------------------------------------------------


def _reduce(function, takes_dtype):
    """`np.add.reduce` and its like: as the function, but along axis 0 unless told otherwise."""

    def reduce(a, axis=0, dtype=None, out=None, keepdims=False, initial=NO_VALUE, where=True):
        if takes_dtype:
            return function(a, axis, dtype, out, keepdims, initial, where)
        return function(cast(asarray(a), dtype), axis, out, keepdims, initial, where)

    return reduce


def add_reduceat(a, indices, axis=0, dtype=None, out=None):
    """Sums of slices, each from one index to the next, or of one entry where that is not further on."""
    refuse_out("add.reduceat", out)
    x, starts = cast(asarray(a), dtype), np.asarray(indices)
    if not x.ndim:
        np.add.reduceat(np.zeros(()), starts)  # NumPy's error
    axis = negative_axis(axis, x.ndim)
    np.add.reduceat(np.zeros(x.shape[axis]), starts)  # NumPy's error, if one is out of range
    ends = np.append(starts[1:], x.shape[axis])
    lengths = np.maximum(ends - starts, 1)
    lengths[-1] = x.shape[axis] - starts[-1]
    slices = np.repeat(np.arange(starts.size), lengths)
    places = np.arange(slices.size) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    rest = [slice(None)] * (-1 - axis)
    shape = list(x.shape)
    shape[axis] = starts.size
    return index_add(np.zeros(shape, x.dtype), (..., slices, *rest), x[(..., places, *rest)])


UFUNC_METHODS[np.add, "reduceat"] = add_reduceat
UFUNC_METHODS[np.add, "reduce"] = _reduce(sum, True)
UFUNC_METHODS[np.multiply, "reduce"] = _reduce(prod, True)
UFUNC_METHODS[np.maximum, "reduce"] = _reduce(max, False)
UFUNC_METHODS[np.minimum, "reduce"] = _reduce(min, False)
UFUNC_METHODS[np.fmax, "reduce"] = _reduce(nanmax, False)
UFUNC_METHODS[np.fmin, "reduce"] = _reduce(nanmin, False)
UFUNC_METHODS[np.logaddexp, "reduce"] = _reduce(logaddexp_reduce, False)
