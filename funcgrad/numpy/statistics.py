"""Statistics: averages, deviations, covariances, quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives import reductions as prims
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad._primitives.sorting import quantile_places, weighted_quantile_places
from funcgrad.numpy.arguments import NO_VALUE, given, negative_axes, refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.reductions import cast, kept, merged, options, select

# ---- means ---------------------------------------------------------------------------------


@implements(np.mean)
def mean(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, *, where=NO_VALUE):
    refuse_out("mean", out)
    x = select(where, asarray(a), 0)
    params = options(x, axis, keepdims, scalar_axis=False)
    own = x.dtype
    wide = _summed_in(own, dtype)
    if wide == own:
        return prims.sum.of(x, params) / _count(x, params["axis"], where, keepdims)
    params["dtype"] = wide
    average = prims.sum.of(x, params) / _count(x, params["axis"], where, keepdims)
    return cast(average, own if dtype is None and own == np.float16 else wide)


def _summed_in(own: np.dtype, asked: Any) -> np.dtype:
    """The dtype in which NumPy's means are summed: integers in float64, float16 in float32."""
    if asked is not None:
        return np.dtype(asked)
    if own.kind in "biu":
        return np.dtype(np.float64)
    return np.dtype(np.float32) if own == np.float16 else own


def _count(x: Any, axes: tuple[int, ...], where: Any, keepdims: Any) -> Any:
    """How many entries each result is of: an int, or an array of the real dtype of x."""
    if where is NO_VALUE or where is True:
        shape = x.shape
        return math.prod([shape[i] for i in axes])
    real = np.result_type(np.finfo(x.dtype).dtype if x.dtype.kind in "fc" else np.float64)
    return np.add.reduce(np.broadcast_to(where, x.shape), axis=axes, keepdims=kept(keepdims), dtype=real)


def _numbers(x: Any, where: Any) -> Any:
    """The mask of entries that are not NaN, as `where` for the functions that count."""
    mask = ~np.isnan(x)
    return mask if where is NO_VALUE or where is True else mask & where


@implements(np.nanmean)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=NO_VALUE, *, where=NO_VALUE):
    x = asarray(a)
    return mean(x, axis, dtype, out, keepdims, where=_numbers(x, where))


@implements(np.average)
def average(a, axis=None, weights=None, returned=False, *, keepdims=NO_VALUE):
    x = asarray(a)
    params = options(x, axis, keepdims, scalar_axis=False)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        total = _count(x, params["axis"], NO_VALUE, keepdims)
        total = np.asarray(total, result.dtype)[()]
    else:
        w = _aligned_weights(asarray(weights), x, axis)
        total = np.sum(np.broadcast_to(w, x.shape) if w.shape != x.shape else w, **params)
        if not isinstance(concrete(total), Tracer) and np.any(concrete(total) == 0):
            np.average([1.0], weights=[0.0])  # NumPy's error
        result = np.sum(x * w, **params) / total
        total = cast(total, result.dtype)
    if not returned:
        return result
    return result, np.broadcast_to(total, result.shape) if total.shape != result.shape else total


def _aligned_weights(w: Any, x: Any, axis: Any) -> Any:
    """Weights of some axes, broadcast against the whole array."""
    if w.shape == x.shape:
        return w
    axes = negative_axes(axis, x.ndim)
    if axis is None or w.shape != tuple([x.shape[i] for i in _as_given(axis, x.ndim)]):
        np.average(np.zeros(x.shape), axis, np.ones(w.shape))  # NumPy's error
    w = np.transpose(w, np.argsort(_as_given(axis, x.ndim)).tolist())
    return np.reshape(w, [x.shape[i] if i in axes else 1 for i in range(-x.ndim, 0)])


def _as_given(axis: Any, ndim: int) -> list[int]:
    axes = axis if isinstance(axis, tuple) else (axis,)
    return [a if a < 0 else a - ndim for a in axes]


# ---- variances -----------------------------------------------------------------------------


def _deviation(prim, name, root):
    def deviation(a, axis=None, dtype=None, out=None, ddof=0, keepdims=NO_VALUE, *,
                  where=NO_VALUE, mean=NO_VALUE, correction=NO_VALUE):  # fmt: skip
        refuse_out(name, out)
        x = asarray(a)
        if correction is not NO_VALUE:
            if ddof != 0:
                np.var(np.zeros(2), ddof=ddof, correction=correction)  # NumPy's error: one of them
            ddof = correction
        x = cast(x, dtype)
        params = options(x, axis, keepdims, scalar_axis=False)
        if (where is NO_VALUE or where is True) and not given(mean):
            return prim.of(x, {"ddof": ddof, **params} if ddof else params)
        variance = _variance(x, params["axis"], ddof, keepdims, where, mean)
        if not root:
            return variance
        flat = np.equal(variance, 0) if given(mean) or not x.size else _flat(x, where, params)
        flat = flat & np.isfinite(variance)  # not so without degrees of freedom
        return np.where(flat, 0.0, np.sqrt(np.where(flat, 1.0, variance)))  # with derivative 0 there

    return deviation


def _variance(x, axes, ddof, keepdims, where, middle):
    """The variance of the entries that count, about a given mean or their own."""
    if not given(middle):
        middle = mean(x, axes, keepdims=True, where=where)
    d = select(where, x - middle, 0)
    squares = np.real(d * np.conj(d)) if d.dtype.kind == "c" else d * d
    freedom = _count(x, axes, where, keepdims) - ddof
    freedom = max(freedom, 0) if isinstance(freedom, (int, float)) else np.maximum(freedom, 0)
    return np.sum(squares, axis=axes, keepdims=kept(keepdims)) / freedom


def _flat(x, where, params):
    """Whether all entries that count are equal; rounding may leave their variance above 0."""
    highest = np.maximum.reduce(select(where, x, -np.inf), **params)
    return np.equal(highest, np.minimum.reduce(select(where, x, np.inf), **params))


var = implements(np.var)(_deviation(prims.var, "var", root=False))
std = implements(np.std)(_deviation(prims.std, "std", root=True))


def _passing_over_nan(function):
    def deviation(a, axis=None, dtype=None, out=None, ddof=0, keepdims=NO_VALUE, *,
                  where=NO_VALUE, mean=NO_VALUE, correction=NO_VALUE):  # fmt: skip
        x = asarray(a)
        where = _numbers(x, where)
        return function(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)

    return deviation


nanvar = implements(np.nanvar)(_passing_over_nan(var))
nanstd = implements(np.nanstd)(_passing_over_nan(std))


# ---- covariances ---------------------------------------------------------------------------


@implements(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    m = asarray(m)
    if m.ndim > 2 or (y is not None and asarray(y).ndim > 2):
        np.cov(np.zeros((1,) * 3))  # NumPy's error
    dtype = np.dtype(dtype or np.result_type(m.dtype, *([] if y is None else [asarray(y).dtype]), np.float64))
    x = _rows(m, rowvar, _TURNS_ONE_ROW)
    if y is not None:
        x = np.concatenate([x, _rows(asarray(y), rowvar, False)])
    x = cast(x, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None if fweights is None else asarray(fweights).astype(float)
    if aweights is not None:
        aweights = asarray(aweights).astype(float)
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        total, middle = x.shape[1], mean(x, 1, keepdims=True)
        freedom = total - ddof
    else:
        total = np.sum(weights)
        middle = np.sum(x * weights, axis=1, keepdims=True) / total
        freedom = total
        if ddof and aweights is None:
            freedom = total - ddof
        elif ddof:
            freedom = total - ddof * np.sum(weights * aweights) / total
    d = x - middle
    scaled = d if weights is None else d * weights
    c = np.matmul(d, np.conj(scaled.T) if dtype.kind == "c" else scaled.T)
    c = c * np.true_divide(1, np.maximum(freedom, 0.0))
    return np.reshape(c, [n for n in c.shape if n != 1])


#: Since NumPy 2.2 a matrix of one row is transposed too, with rowvar=False.
_TURNS_ONE_ROW = np.cov(np.zeros((1, 2)), rowvar=False, ddof=0).ndim == 2


def _rows(m: Any, rowvar: bool, turn_one_row: bool) -> Any:
    """Variables as rows."""
    if m.ndim < 2:
        return np.reshape(m, (1, -1))
    return m if rowvar or (m.shape[0] == 1 and not turn_one_row) else m.T


@implements(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviations = np.sqrt(np.real(np.diagonal(c)) if c.dtype.kind == "c" else np.diagonal(c))
    c = c / deviations[:, None] / deviations[None, :]
    if c.dtype.kind == "c":
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(c, -1, 1)


# ---- quantiles -----------------------------------------------------------------------------


def _quantile(x, q, axis, keepdims, method, ignore_nan, between):
    """Quantiles: between two entries of x, whose places are constant."""
    lanes, flat = merged(x, negative_axes(axis, x.ndim)), np.reshape(q, -1)
    moving = {"moving": True} if isinstance(q, Tracer) else {}
    places = quantile_places(lanes, flat, method=method, ignore_nan=ignore_nan, **moving)
    near, far, weight, rate = places
    values = np.take_along_axis(lanes, near, -1)
    if isinstance(weight, Tracer) or weight.any() or moving:  # else each quantile is an entry
        if moving:  # as a function of q it is a line between two entries
            weight = weight + rate * (flat - stop_gradient_leaf(flat))
        values = between(values, np.take_along_axis(lanes, far, -1), weight)
    return _arranged(values, q, x, axis, keepdims)


def _arranged(values, q, x, axis, keepdims):
    """Quantiles along a last axis in the shape of NumPy's result: axes of q in front."""
    axes = negative_axes(axis, x.ndim)
    shape = [1 if i in axes else x.shape[i] for i in range(-x.ndim, 0) if kept(keepdims) or i not in axes]
    return np.reshape(np.moveaxis(values, -1, 0), (*q.shape, *shape))


def _quantile_function(numpys, scale: int, ignore_nan: bool):
    function = numpys.__name__

    def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
                 weights=None):  # fmt: skip
        refuse_out(function, out)
        x = asarray(a)
        weak = q.weak if isinstance(q, Tracer) else type(q) in (int, float)
        like = 0.5 if weak else np.zeros(1, asarray(q).dtype)
        options = {} if weights is None else {"weights": np.ones(1)}
        if not x.size or x.dtype.kind == "c":  # no entries: NaN; complex: NumPy's error
            like = like if weak else np.zeros(np.shape(q), like.dtype)
            return numpys(np.empty(x.shape, x.dtype), like, axis, method=method, keepdims=keepdims)
        dtype = numpys(np.ones(1, x.dtype), like, method=method, **options).dtype
        q = asarray(q)
        if weak and x.dtype.kind == "f":
            q = cast(q, x.dtype)
        q = q / x.dtype.type(scale) if x.dtype.kind == "f" else q / scale
        if weights is not None:
            w = asarray(weights)
            numpys(np.zeros(x.shape), 0.5, axis, method=method, weights=np.ones(w.shape))  # NumPy's errors
            lanes, w = _weighted_lanes(x, w, axis)
            places = weighted_quantile_places(lanes, w, np.reshape(q, -1), ignore_nan=ignore_nan)
            values = np.take_along_axis(lanes, places, -1)
            return cast(_arranged(values, q, x, axis, keepdims), dtype)

        def between(near, far, weight):
            return near + (far - near) * weight.astype(dtype)

        x = x if x.dtype.kind == "f" else cast(x, dtype)  # differences of small integers would overflow
        return cast(_quantile(x, q, axis, keepdims, method, ignore_nan, between), dtype)

    return quantile


def _weighted_lanes(x: Any, w: Any, axis: Any) -> tuple[Any, Any]:
    """Entries and weights, with the axes that are reduced as one, the last."""
    axes = negative_axes(axis, x.ndim)
    w = np.broadcast_to(_aligned_weights(w, x, axis), x.shape)
    return merged(x, axes), merged(w, axes)


quantile = implements(np.quantile)(_quantile_function(np.quantile, 1, False))
percentile = implements(np.percentile)(_quantile_function(np.percentile, 100, False))
nanquantile = implements(np.nanquantile)(_quantile_function(np.nanquantile, 1, True))
nanpercentile = implements(np.nanpercentile)(_quantile_function(np.nanpercentile, 100, True))


def _median(numpys, ignore_nan: bool):
    def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        refuse_out(numpys.__name__, out)
        x = asarray(a)
        if not x.size:
            return numpys(np.empty(x.shape, x.dtype), axis, keepdims=keepdims)
        x = x if x.dtype.kind in "fc" else x.astype(np.float64)
        return _quantile(x, np.asarray(0.5), axis, keepdims, "linear", ignore_nan, _middle)

    return median


def _middle(a, b, weight):
    return (a + b) / 2.0


median = implements(np.median)(_median(np.median, False))
nanmedian = implements(np.nanmedian)(_median(np.nanmedian, True))
