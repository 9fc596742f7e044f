"""Sorting, orders, unique values, places in sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives import sorting as prims
from funcgrad.numpy.arguments import negative_axis, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.indexing import take
from funcgrad.numpy.protocol import implements


def _flat_if_none(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to sort it along; None sorts all entries."""
    x = asarray(a)
    return (np.reshape(x, -1), -1) if axis is None else (x, negative_axis(axis, x.ndim))


def _refuse_fields(order: Any) -> None:
    if order is not None:
        np.sort(np.zeros(0), order=order)  # NumPy's error: there are no fields


# ---- sorting -------------------------------------------------------------------------------


@implements(np.sort)
def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    _refuse_fields(order)
    x, axis = _flat_if_none(a, axis)
    return prims.permute(x, prims.stable_order(x, axis=axis), axis=axis)


@implements(np.sort_complex)
def sort_complex(a):
    x = sort(a)
    return x if x.dtype.kind == "c" else x.astype(np.sort_complex(np.zeros(0, x.dtype)).dtype)


@implements(np.partition)
def partition(a, kth, axis=-1, kind="introselect", order=None):
    _refuse_fields(order)
    x, axis = _flat_if_none(a, axis)
    return prims.permute(x, prims.partition_order(x, axis=axis, kth=_static(kth)), axis=axis)


@implements(np.argsort)
def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    _refuse_fields(order)
    x, axis = _flat_if_none(a, axis)
    if stable or kind in ("stable", "mergesort"):
        return prims.stable_order(x, axis=axis)
    return prims.argsort(x, axis=axis, kind=kind)


@implements(np.argpartition)
def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    _refuse_fields(order)
    x, axis = _flat_if_none(a, axis)
    return prims.argpartition(x, axis=axis, kth=_static(kth))


def _static(kth: Any) -> int | tuple[int, ...]:
    refuse_traced("partition", "kth", kth)
    return tuple(np.asarray(kth).tolist()) if np.ndim(kth) else int(kth)


@implements(np.lexsort)
def lexsort(keys, axis=-1):
    keys = [asarray(key) for key in keys]
    return prims.lexsort(*keys, axis=negative_axis(axis, keys[0].ndim))


# ---- places --------------------------------------------------------------------------------


@implements(np.searchsorted)
def searchsorted(a, v, side="left", sorter=None):
    a = asarray(a) if sorter is None else take(a, sorter)
    return prims.searchsorted(a, asarray(v), side=side)


@implements(np.digitize)
def digitize(x, bins, right=False):
    bins = asarray(bins)
    side = "left" if right else "right"  # NumPy's rule, for bins that rise
    places = prims.searchsorted(bins, asarray(x), side=side)
    falls = bins[0] > bins[-1] if bins.shape[0] else False
    if isinstance(falls, Tracer) or falls:
        other = prims.searchsorted(bins[::-1], asarray(x), side="left" if side == "right" else "right")
        places = np.where(falls, bins.shape[0] - other, places)
    return places


# ---- unique values -------------------------------------------------------------------------


def _first_places(a: Any, function: str, **options: Any) -> tuple[Any, tuple]:
    """`np.unique` of the plain values, asked for the places of the first of each."""
    values = concrete(a)
    if isinstance(values, Tracer):
        raise errors.UnsupportedFunctionError(
            function,
            describe(*caller(2)),
            "The number of unique values differs between the members of a batch, and is unknown in a "
            "program. Take np.sort(x), which has as many entries as x.",
        )
    if isinstance(a, Tracer):
        a._trace.note_cut((a.slot,) if hasattr(a, "slot") else ())
    return np.unique(values, return_index=True, **options)


@implements(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
           equal_nan=True, sorted=True):  # fmt: skip
    x = asarray(ar)
    _, first, *others = _first_places(
        x,
        "unique",
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        equal_nan=equal_nan,
    )
    values = take(x, first, axis)
    if not (return_index or others):
        return values
    return (values, *([first] if return_index else []), *others)


@implements(np.unique_values)
def unique_values(x):
    return unique(x, equal_nan=False)


@implements(np.unique_counts)
def unique_counts(x):
    return _UNIQUE_COUNTS(*unique(x, return_counts=True, equal_nan=False))


@implements(np.unique_inverse)
def unique_inverse(x):
    return _UNIQUE_INVERSE(*unique(x, return_inverse=True, equal_nan=False))


@implements(np.unique_all)
def unique_all(x):
    return _UNIQUE_ALL(*unique(x, True, True, True, equal_nan=False))


_UNIQUE_COUNTS, _UNIQUE_INVERSE, _UNIQUE_ALL = (
    type(function(np.zeros(1))) for function in (np.unique_counts, np.unique_inverse, np.unique_all)
)


# ---- sets ----------------------------------------------------------------------------------


@implements(np.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    return prims.isin(asarray(element), np.ravel(asarray(test_elements)), invert=bool(invert))


@implements(np.union1d)
def union1d(ar1, ar2):
    return unique(np.concatenate([asarray(ar1), asarray(ar2)], axis=None))


@implements(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    a, b = [np.ravel(asarray(x)) if assume_unique else unique(x) for x in (ar1, ar2)]
    return a[isin(a, b, invert=True)]


@implements(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    both = np.concatenate([asarray(x) if assume_unique else unique(x) for x in (ar1, ar2)], axis=None)
    if not both.shape[0]:
        return both
    both = sort(both)
    end = np.ones(1, bool)
    differs = np.concatenate([end, np.not_equal(both[1:], both[:-1]), end])
    return both[np.logical_and(differs[1:], differs[:-1])]


@implements(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if assume_unique:
        (a, b), firsts = [np.ravel(asarray(x)) for x in (ar1, ar2)], None
    else:
        (a, first_a), (b, first_b) = [unique(x, return_index=True) for x in (ar1, ar2)]
        firsts = first_a, first_b
    both = np.concatenate([a, b])
    order = argsort(both, stable=True)
    both = take(both, order)
    common = np.equal(both[1:], both[:-1])
    values = both[:-1][common]
    if not return_indices:
        return values
    places = order[:-1][common], order[1:][common] - a.shape[0]
    return (values, *(places if firsts is None else [f[p] for f, p in zip(firsts, places)]))
