"""Sorting: an order, which has no derivative, and the array permuted by it, which is linear.

Equal entries keep their order, whatever the algorithm asked for: the derivative is that of the stable sort.
"""

import math

import numpy as np

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


def _quantile_places(x, q, *, method, ignore_nan):
    """Where the quantiles `q` (one axis) lie among the entries of the last axis of x.

    Every method of NumPy's interpolates between two neighbours of the sorted array. So a quantile of
    0, 1, 2, ... is the place of the same quantile of any array as long: NumPy itself tells.

    Returns:
        near, far: the indices in x of the two neighbours, for each quantile, along the last axis.
        weight: how far the quantile is from the first, at most a half of their distance. If NaN counts,
            near and far are the place of a NaN, if there is one.
    """
    order = _stable_order(x, axis=-1)
    size = x.shape[-1]
    nans = np.count_nonzero(np.isnan(x), axis=-1)
    counts = size - nans if ignore_nan else np.full(x.shape[:-1], size)
    shape = x.shape[:-1] + q.shape
    below, weight = np.empty(shape, np.intp), np.empty(shape)
    for count in np.unique(counts):
        place = np.quantile(np.arange(max(count, 1), dtype=float), q, method=method)
        floor = np.floor(place)
        below[counts == count], weight[counts == count] = floor, place - floor
    above = np.minimum(below + 1, np.maximum(counts, 1)[..., None] - 1)
    if not ignore_nan:  # NaN is sorted to the end
        has_nan = (nans > 0)[..., None]
        below, above = np.where(has_nan, size - 1, below), np.where(has_nan, size - 1, above)
    upper = weight >= 0.5
    near = np.where(upper, above, below)
    far = np.where(upper, below, np.where(weight == 0, below, above))
    near, far = np.take_along_axis(order, near, -1), np.take_along_axis(order, far, -1)
    return near, far, np.where(upper, 1.0 - weight, weight)


quantile_places = constant(_quantile_places, name="quantile_places")
quantile_places.multiple = True


def _quantile_places_batch(values, batched, **params):
    return quantile_places(*values, **params)  # q is never batched


quantile_places.batch = _quantile_places_batch

# ---- membership ----------------------------------------------------------------------------


def _isin(x, members, *, invert):
    """Whether each entry of x is among `members`, a vector; both may be stacks of the same length."""
    if members.ndim == 1:
        return np.isin(x, members, invert=invert)
    return np.stack([_isin(*pair, invert=invert) for pair in zip(x, members)])


isin = constant(_isin, name="isin")


def _isin_batch(values, batched, *, invert):
    x, members = values
    if batched[1] and not batched[0]:
        x = np.broadcast_to(x, (members.shape[0], *np.shape(x)))
    elif not batched[1] and members.ndim > 1:  # a stack, and a batch of what to look for in it
        members = np.broadcast_to(members, (x.shape[0], *members.shape))
    return isin(x, members, invert=invert)


isin.batch = _isin_batch
