"""Sorting: an order, which has no derivative, and the array permuted by it, which is linear.

Equal entries keep their order, whatever the algorithm asked for: the derivative is that of the stable sort.
"""

import math

import numpy as np

from funcgrad._core.types import shape_of
from funcgrad._interpreters.batch import batch_alike
from funcgrad._primitives.kinds import constant, linear

# ---- orders --------------------------------------------------------------------------------


def _stable_order(x, *, axis):
    """As ``argsort(x, stable=True)``: NumPy's unstable sort is six times faster, so it is tried first."""
    order = np.argsort(x, axis=axis)
    ordered = np.moveaxis(np.take_along_axis(x, order, axis), axis, 0)
    if (ordered[1:] == ordered[:-1]).any():
        return np.argsort(x, axis=axis, stable=True)
    return order


def _argsort(x, *, axis, kind=None):
    return np.argsort(x, axis=axis, kind=kind)


def _argpartition(x, *, axis, kth):
    return np.argpartition(x, kth, axis=axis)


def _partition_order(x, *, axis, kth):
    """The order in which `np.partition` leaves the entries; `argpartition` may leave others."""
    places = _stable_order(np.partition(x, kth, axis=axis), axis=axis)
    order = np.empty_like(places)
    np.put_along_axis(order, places, _stable_order(x, axis=axis), axis)
    return order


stable_order = constant(_stable_order, name="stable_order")
argsort = constant(_argsort, name="argsort")
partition_order = constant(_partition_order, name="partition_order")
argpartition = constant(_argpartition, name="argpartition")


def _lexsort(*keys, axis):
    return np.lexsort(keys, axis=axis)


lexsort = constant(_lexsort, name="lexsort")
lexsort.batch = batch_alike(lexsort)

# ---- permuting -----------------------------------------------------------------------------


@linear(structural=True)
def permute(x, order, *, axis):
    """``out[i] = x[order[i]]`` along an axis; `order` is a permutation there."""
    return x[order] if x.ndim == 1 else np.take_along_axis(x, order, axis)


@permute.transpose("x")
def permute_transpose(g, order, *, axis):
    return unpermute(g, order, axis=axis)


@linear(structural=True)
def unpermute(x, order, *, axis):
    """``out[order[i]] = x[i]`` along an axis."""
    out = np.empty_like(x)
    if x.ndim == 1:
        out[order] = x
    else:
        np.put_along_axis(out, order, x, axis)
    return out


@unpermute.transpose("x")
def unpermute_transpose(g, order, *, axis):
    return permute(g, order, axis=axis)


permute.batch = batch_alike(permute)
unpermute.batch = batch_alike(unpermute)

# ---- places in a sorted array --------------------------------------------------------------


def _searchsorted(a, v, *, side="left"):
    """`a` may be a stack of sorted arrays, each with its own `v`."""
    if a.ndim == 1:
        return np.searchsorted(a, v, side)
    stack, size = a.shape[:-1], a.shape[-1]
    lookups = v.reshape(*stack, math.prod(v.shape[len(stack) :]))
    if size * lookups.shape[-1] <= 1024 and "c" not in a.dtype.kind + v.dtype.kind:
        return _count_before(a, lookups, side).reshape(v.shape)
    out = np.empty(v.shape, np.intp)
    for member in np.ndindex(a.shape[:-1]):
        out[member] = np.searchsorted(a[member], v[member], side)
    return out


def _count_before(a, v, side):
    """The same by counting: for stacks of short arrays that is many times faster than a loop."""
    a, v = a[..., None, :], v[..., None]
    before = a < v if side == "left" else a <= v
    nan = v != v
    if nan.any():  # NaN comes after all numbers
        before |= nan & (a == a) if side == "left" else nan
    return np.count_nonzero(before, axis=-1)


searchsorted = constant(_searchsorted, name="searchsorted")


def _searchsorted_batch(values, batched, *, side="left"):
    a, v = values
    if not batched[1]:
        v = np.broadcast_to(v, (a.shape[0], *np.shape(v)))
    elif not batched[0] and a.ndim > 1:  # a stack of sorted arrays, and a batch of such stacks' v
        a = np.broadcast_to(a, (v.shape[0], *a.shape))
    return searchsorted(a, v, side=side)


searchsorted.batch = _searchsorted_batch


#: How fast a quantile moves among n sorted entries, where its method interpolates at all.
#: (Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50, 1996.)
_RATES = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0), "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip


def _quantile_places(x, q, *, method, ignore_nan, moving=False):
    """Where the quantiles `q` (one axis) lie among the entries of the last axis of x.

    Every method of NumPy's interpolates between two neighbours of the sorted array. So a quantile of
    0, 1, 2, ... is the place of the same quantile of any array as long: NumPy itself tells.

    Returns:
        near, far: the indices in x of the two neighbours, for each quantile, along the last axis.
        weight: how far the quantile is from the first, at most a half of their distance. If NaN counts,
            near and far are the place of a NaN, if there is one.
        rate: if `moving`, the derivative of `weight` with respect to q, from the right at an entry; 0 else.
    """
    order = _stable_order(x, axis=-1)
    size = x.shape[-1]
    nans = np.count_nonzero(np.isnan(x), axis=-1)
    counts = size - nans if ignore_nan else np.full(x.shape[:-1], size)
    shape = x.shape[:-1] + q.shape
    below, weight, rate = np.empty(shape, np.intp), np.empty(shape), np.zeros(shape)
    for count in np.unique(counts):
        place = np.quantile(np.arange(max(count, 1), dtype=float), q, method=method)
        floor = np.floor(place)
        if moving:
            floor = np.minimum(floor, max(count - 2, 0))  # the last entry is approached from below
            rate[counts == count] = _rate(count, q, method)
        below[counts == count], weight[counts == count] = floor, place - floor
    above = np.minimum(below + 1, np.maximum(counts, 1)[..., None] - 1)
    if not ignore_nan:  # NaN is sorted to the end
        has_nan = (nans > 0)[..., None]
        below, above = np.where(has_nan, size - 1, below), np.where(has_nan, size - 1, above)
    upper = weight >= 0.5
    near = np.where(upper, above, below)
    far = np.where(upper, below, above if moving else np.where(weight == 0, below, above))
    near, far = np.take_along_axis(order, near, -1), np.take_along_axis(order, far, -1)
    return near, far, np.where(upper, 1.0 - weight, weight), np.where(upper, -rate, rate)


def _rate(count, q, method):
    if method not in _RATES:
        return 0.0
    a, b = _RATES[method]
    rate = count + 1 - a - b
    place = rate * q + a - 1
    return np.where((place >= 0) & (place <= count - 1), rate, 0.0)


quantile_places = constant(_quantile_places, name="quantile_places")
quantile_places.multiple = True


def _quantile_places_batch(values, batched, **params):
    return _each_q(quantile_places, values, batched, params) or quantile_places(*values, **params)


def _each_q(prim, values, batched, params):
    """The results of each member, if the members have quantiles of their own; None else."""
    if not batched[-1]:
        return None
    size = values[-1].shape[0]
    if size:
        members = zip(*[v if b else [v] * size for v, b in zip(values, batched)])
        found = [prim(*member, **params) for member in members]
    else:  # no member: what one would give tells the types
        found = [prim.impl(*[np.full(shape_of(v)[b:], 0.5) for v, b in zip(values, batched)], **params)]
    if not prim.multiple:
        return np.stack(found)[:size]
    return tuple([np.stack(part)[:size] for part in zip(*found)])


quantile_places.batch = _quantile_places_batch


def _weighted_quantile_places(x, weights, q, *, ignore_nan):
    """Where the weighted quantiles `q` (one axis) are among the entries of the last axis of x.

    They are entries: NumPy itself tells which, of the entries' ranks. If NaN counts it is the place of a NaN,
    if there is one.
    """
    if 0 in x.shape[:-1]:  # of none NumPy's result has other axes
        return np.zeros(x.shape[:-1] + q.shape, np.intp)
    order = _stable_order(x, axis=-1)
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(float(x.shape[-1])), x.shape), -1)
    ranks[np.isnan(x)] = np.nan
    quantile = np.nanquantile if ignore_nan else np.quantile
    found = quantile(ranks, q, axis=-1, method="inverted_cdf", weights=weights)
    found = np.moveaxis(np.where(np.isnan(found), x.shape[-1] - 1.0, found), 0, -1)
    return np.take_along_axis(order, found.astype(np.intp), -1)


weighted_quantile_places = constant(_weighted_quantile_places, name="weighted_quantile_places")


def _weighted_batch(values, batched, **params):
    alone = _each_q(weighted_quantile_places, values, batched, params)
    if alone is not None:
        return alone
    x, weights, q = values
    if not batched[0]:
        x = np.broadcast_to(x, (weights.shape[0], *x.shape))
    elif not batched[1]:
        weights = np.broadcast_to(weights, (x.shape[0], *weights.shape))
    return weighted_quantile_places(x, weights, q, **params)


weighted_quantile_places.batch = _weighted_batch

# ---- membership ----------------------------------------------------------------------------


def _isin(x, members, *, invert):
    """Whether each entry of x is among `members`, a vector; both may be stacks of the same length."""
    if members.ndim == 1:
        return np.isin(x, members, invert=invert)
    return np.array([_isin(*pair, invert=invert) for pair in zip(x, members)], bool).reshape(x.shape)


isin = constant(_isin, name="isin")


def _isin_batch(values, batched, *, invert):
    x, members = values
    if batched[1] and not batched[0]:
        x = np.broadcast_to(x, (members.shape[0], *np.shape(x)))
    elif not batched[1] and members.ndim > 1:  # a stack, and a batch of what to look for in it
        members = np.broadcast_to(members, (x.shape[0], *members.shape))
    return isin(x, members, invert=invert)


isin.batch = _isin_batch
