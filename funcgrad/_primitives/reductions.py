"""Reductions. Axes are tuples of negative integers: a batch axis in front changes nothing.

The names are those of Python's own functions, which are not used here.
"""

import functools
import math

import numpy as np

from funcgrad._interpreters.batch import batch_alike, batch_leading
from funcgrad._primitives.kinds import constant, general, linear
from funcgrad._primitives.scans import products_before
from funcgrad._primitives.selection import zero_of


def spread(g, axis, keepdims):
    """A reduction's result with the axes that it lost, as axes of size 1."""
    return g if keepdims or not axis else g.reshape(_with_axes(g.shape, axis))


@functools.lru_cache(maxsize=1024)
def _with_axes(shape, axis):
    """A shape with axes of size 1 put in, counted from the end of the result (`expand_dims` takes 2 us)."""
    lengths = iter(shape)
    ndim = len(shape) + len(axis)
    return tuple([1 if i in axis else next(lengths) for i in range(-ndim, 0)])


#: Up to so many entries an array is filled in less time than NumPy's `broadcast_to` takes for a view.
_FILLED = 4096


def _repeated(g, shape):
    """An array of a shape that `g` broadcasts to."""
    if type(g) in _FILLS and math.prod(shape) <= _FILLED:
        out = np.empty(shape, g.dtype)
        out[...] = g
        return out
    return np.broadcast_to(g, shape)


_FILLS = frozenset((np.ndarray, np.float64, np.float32))


# ---- sums and products ---------------------------------------------------------------------


@linear(structural=True)
def sum(x, *, axis, keepdims=False, dtype=None):
    return np.add.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)


@sum.transpose
def sum_transpose(g, x_shape, *, axis, keepdims=False, dtype=None):
    if not keepdims and len(axis) < len(x_shape):  # a 0-d cotangent broadcasts as it is
        g = spread(g, axis, False)
    return _repeated(g, x_shape)


@general
def prod(x, *, axis, keepdims=False):
    """The product along one axis, an integer."""
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims)


@prod.jvp
def prod_jvp(t, x, *, axis, keepdims=False):
    return np.add.reduce(t * products_of_others(x, axis), axis=axis, keepdims=keepdims)


@prod.vjp
def prod_vjp(g, x, *, axis, keepdims=False):
    return spread(g, (axis,), keepdims) * products_of_others(x, axis)


def products_of_others(x, axis):
    """For each entry the product of all others: before it times behind it, so that zeros are exact."""
    return products_before(x, axis=axis) * products_before(x, axis=axis, reverse=True)


# ---- extrema -------------------------------------------------------------------------------


def _hits(x, y):
    """The entries of x that are the extremum y; a NaN is the extremum that it makes."""
    hits = x == y
    return hits | (x != x) if np.count_nonzero(y != y) else hits


hits = constant(_hits, name="hits")
hits.elementwise = True
hits.batch = batch_leading(hits, (0, 0))


def _extremum(ufunc, name):
    """The reduction by `maximum` or its like: the derivative is shared equally among tied entries."""

    def impl(x, *, axis, keepdims=False):
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    prim = general(impl, name=name)

    def divided(g, hit, axis):
        """A cotangent or tangent over the number of entries that share it; axes are kept."""
        return g / count_nonzero(hit, axis=axis, keepdims=True).astype(g.dtype)

    @prim.jvp
    def jvp(t, x, y, *, axis, keepdims=False):
        hit = hits(x, spread(y, axis, keepdims))
        total = np.add.reduce(np.where(hit, t, zero_of(t)), axis=axis, keepdims=True)
        total = divided(total, hit, axis)
        return total if keepdims else total.reshape(y.shape)

    @prim.vjp
    def vjp(g, x, y, *, axis, keepdims=False):
        hit = hits(x, spread(y, axis, keepdims))
        return np.where(hit, divided(spread(g, axis, keepdims), hit, axis), zero_of(g))

    @prim.living
    def living(x, y, *, axis, keepdims=False):
        return hits(x, spread(y, axis, keepdims))

    return prim


max = _extremum(np.maximum, "max")
min = _extremum(np.minimum, "min")
fmax = _extremum(np.fmax, "max_of_numbers")
fmin = _extremum(np.fmin, "min_of_numbers")


@general(name="logsumexp")
def logaddexp(x, *, axis, keepdims=False):
    return np.logaddexp.reduce(x, axis=axis, keepdims=keepdims)


def _softmax(x, y, axis, keepdims):
    # where every entry is -inf so is y, and -inf - -inf would be NaN; exp(-inf) is 0
    return np.exp(x - spread(np.where(y == -np.inf, 0.0, y), axis, keepdims))


@logaddexp.jvp
def logaddexp_jvp(t, x, y, *, axis, keepdims=False):
    return np.add.reduce(t * _softmax(x, y, axis, keepdims), axis=axis, keepdims=keepdims)


@logaddexp.vjp
def logaddexp_vjp(g, x, y, *, axis, keepdims=False):
    return spread(g, axis, keepdims) * _softmax(x, y, axis, keepdims)


# ---- variance ------------------------------------------------------------------------------


@general
def var(x, *, axis, keepdims=False, ddof=0):
    return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


@var.jvp
def var_jvp(t, x, *, axis, keepdims=False, ddof=0):
    return np.add.reduce(t * _var_slope(x, axis, ddof), axis=axis, keepdims=keepdims)


@var.vjp
def var_vjp(g, x, *, axis, keepdims=False, ddof=0):
    return spread(g, axis, keepdims) * _var_slope(x, axis, ddof)


def _var_slope(x, axis, ddof):
    """The derivative of a variance: that of the mean in it adds nothing, deviations sum to zero."""
    count = math.prod([x.shape[i] for i in axis])
    freedom = count - ddof
    mean = np.add.reduce(x, axis=axis, keepdims=True) / (count or 1)
    slope = (x - mean) * (2.0 / freedom if freedom > 0 else math.nan)
    return np.conj(slope) if slope.dtype.kind == "c" else slope


@general
def std(x, *, axis, keepdims=False, ddof=0):
    return np.std(x, axis=axis, ddof=ddof, keepdims=keepdims)


@std.jvp
def std_jvp(t, x, y, *, axis, keepdims=False, ddof=0):
    slope = _std_slope(x, spread(y, axis, keepdims), axis, ddof)
    return np.add.reduce(t * slope, axis=axis, keepdims=keepdims)


@std.vjp
def std_vjp(g, x, y, *, axis, keepdims=False, ddof=0):
    return spread(g, axis, keepdims) * _std_slope(x, spread(y, axis, keepdims), axis, ddof)


def _std_slope(x, y, axis, ddof):
    """The derivative of a deviation; 0 where all entries are equal (rounding may leave y above 0)."""
    if not x.size:
        return x
    flat = np.equal(
        np.maximum.reduce(x, axis=axis, keepdims=True), np.minimum.reduce(x, axis=axis, keepdims=True)
    )
    return np.where(flat, 0.0, _var_slope(x, axis, ddof) / (2.0 * np.where(flat, 1.0, y)))


# ---- sums of groups ------------------------------------------------------------------------


@linear(structural=True)
def bincount(weights, bins, *, length):
    """The sums of the weights of each bin; `bins` are integers of the weights' shape, along the last axis."""
    if weights.ndim == 1:
        return np.bincount(bins, weights, length)
    lanes = math.prod(weights.shape[:-1])
    offsets = length * np.arange(lanes)[:, None]
    flat = (bins.reshape(lanes, bins.shape[-1]) + offsets).ravel()
    out = np.bincount(flat, weights.ravel(), lanes * length)
    out = out.astype(np.float64, copy=False)  # of no weights it is one of integers
    return out.reshape(*weights.shape[:-1], length)


@bincount.transpose("weights")
def bincount_transpose(g, bins, *, length):
    return np.take_along_axis(g, bins, -1)


bincount.batch = batch_alike(bincount)


# ---- without derivative --------------------------------------------------------------------


def _count(x, axis, keepdims):
    if len(axis) == x.ndim:
        count = np.intp(np.count_nonzero(x))  # eight times as fast as along axes
        return count.reshape((1,) * x.ndim) if keepdims else count
    return np.add.reduce(x != 0 if x.dtype != bool else x, axis=axis, keepdims=keepdims, dtype=np.intp)


def _reducing(function, name):
    def impl(x, *, axis, keepdims=False):
        return function(x, axis=axis, keepdims=keepdims)

    return constant(impl, name=name)


all = _reducing(np.logical_and.reduce, "all")
any = _reducing(np.logical_or.reduce, "any")
count_nonzero = _reducing(_count, "count_nonzero")
argmax = _reducing(np.argmax, "argmax")
argmin = _reducing(np.argmin, "argmin")
nanargmax = _reducing(np.nanargmax, "nanargmax")
nanargmin = _reducing(np.nanargmin, "nanargmin")
