"""Joining arrays and taking them apart; inserting, deleting and padding along an axis."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives import shaping as prims
from funcgrad._primitives.arithmetic import copy as copied
from funcgrad.numpy.arguments import negative_axis, refuse_out, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.shaping import (
    as_shape,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    moveaxis,
    ravel,
    reshape,
)  # fmt: skip

# ---- joining -------------------------------------------------------------------------------


def _sequence(arrays: Any) -> list:
    """The arrays to be joined: of any iterable, a traced array's own rows."""
    return [asarray(a) for a in arrays]


def _cast(arrays: list, dtype: Any, casting: str) -> list:
    if dtype is None:
        return arrays
    dtype = np.dtype(dtype)
    for x in arrays:
        if not np.can_cast(x.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to {dtype!r} according to the rule {casting!r}"
            )
    return [x if x.dtype == dtype else x.astype(dtype) for x in arrays]


@implements(np.concatenate)
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    refuse_out("concatenate", out)
    arrays = _cast(_sequence(arrays), dtype, casting)
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [ravel(x) if isinstance(x, Tracer) else np.ravel(x) for x in arrays], 0
    ndim = arrays[0].ndim
    if ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return prims.concatenate(*arrays, axis=negative_axis(axis, ndim))


@implements(np.stack)
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    refuse_out("stack", out)
    arrays = _cast(_sequence(arrays), dtype, casting)
    if not arrays:
        raise ValueError("need at least one array to stack")
    shapes = [x.shape for x in arrays]
    if shapes.count(shapes[0]) != len(shapes):
        raise ValueError("all input arrays must have the same shape")
    return prims.stack(*arrays, axis=negative_axis(axis, len(shapes[0]) + 1))


def _at_least(function, arrays) -> list:
    return [function(x) for x in _sequence(arrays)]


@implements(np.hstack)
def hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = _at_least(atleast_1d, tup)
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


@implements(np.vstack)
def vstack(tup, *, dtype=None, casting="same_kind"):
    arrays = _sequence(tup)
    if arrays and all(x.ndim == 1 and x.shape == arrays[0].shape for x in arrays):
        return stack(arrays, dtype=dtype, casting=casting)
    return concatenate(_at_least(atleast_2d, arrays), dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup):
    return concatenate(_at_least(atleast_3d, tup), 2)


@implements(np.column_stack)
def column_stack(tup):
    arrays = _sequence(tup)
    if arrays and all(x.ndim == 1 and x.shape == arrays[0].shape for x in arrays):
        return stack(arrays, 1)
    return concatenate([x if x.ndim > 1 else reshape(atleast_1d(x), (-1, 1)) for x in arrays], 1)


@implements(np.block)
def block(arrays):
    depth = _depth(arrays)
    ndim = max(depth, *[x.ndim for x in _leaves(arrays)])

    def join(part, level):
        if level == depth:
            x = asarray(part)
            return reshape(x, (1,) * (ndim - x.ndim) + x.shape)
        return concatenate([join(p, level + 1) for p in part], level - depth)

    out = join(arrays, 0)
    return copied(out) if depth == 0 else out


def _depth(arrays: Any) -> int:
    """How deep lists are nested: NumPy asks for one depth everywhere."""
    if isinstance(arrays, tuple):
        raise TypeError("only lists can be used to arrange blocks, and np.block does not allow tuples")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> list:
    if isinstance(arrays, list):
        return [x for part in arrays for x in _leaves(part)]
    return [asarray(arrays)]


@implements(np.append)
def append(arr, values, axis=None):
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


# ---- taking apart --------------------------------------------------------------------------


@implements(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    x = asarray(ary)
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    n = x.shape[axis]
    if np.ndim(indices_or_sections) == 0:
        sections = operator.index(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(n, sections)
        ends = np.cumsum([each + 1] * more + [each] * (sections - more)).tolist()[:-1]
    else:
        ends = as_shape(indices_or_sections)
    before = (slice(None),) * axis
    return [x[(*before, slice(a, b))] for a, b in zip((0, *ends), (*ends, n))]


@implements(np.split)
def split(ary, indices_or_sections, axis=0):
    x = asarray(ary)
    if np.ndim(indices_or_sections) == 0:
        n = x.shape[normalize_axis_index(operator.index(axis), x.ndim)]
        if n % operator.index(indices_or_sections):
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def _split_along(name: str, least: int, axis: int):
    def split_along(ary, indices_or_sections):
        x = asarray(ary)
        if x.ndim < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return split(x, indices_or_sections, axis if x.ndim > 1 else 0)

    split_along.__doc__ = f"As `numpy.{name}`."
    return split_along


hsplit = implements(np.hsplit)(_split_along("hsplit", 1, 1))
vsplit = implements(np.vsplit)(_split_along("vsplit", 2, 0))
dsplit = implements(np.dsplit)(_split_along("dsplit", 3, 2))


def unstack(x, /, *, axis=0):
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


if hasattr(np, "unstack"):  # NumPy 2.1
    implements(np.unstack)(unstack)


@implements(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    x = asarray(filt)
    value = concrete(x)
    if isinstance(value, Tracer):
        raise errors.BatchedMaskError("np.trim_zeros(x)", describe(*caller(2)))
    kept = np.nonzero(value)
    trim = trim.lower()
    index: list = [slice(None)] * x.ndim
    for i in range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim):
        if kept[i].size == 0:
            index[i] = slice(0, 0)
            continue
        start = int(kept[i].min()) if "f" in trim else None
        stop = int(kept[i].max()) + 1 if "b" in trim else None
        index[i] = slice(start, stop)
    return x[tuple(index)]


# ---- inserting and deleting ----------------------------------------------------------------


@implements(np.delete)
def delete(arr, obj, axis=None):
    x = asarray(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    kept = np.delete(np.arange(x.shape[axis]), _position(obj, "delete"))
    return x[(*[slice(None)] * axis, kept)]


def _position(obj: Any, function: str) -> Any:
    """Where to insert or delete: a plain index, for it decides about shapes."""
    if isinstance(obj, Tracer) and obj.ndim == 0:
        return operator.index(obj)
    refuse_traced(function, "obj", obj)
    return obj


@implements(np.insert)
def insert(arr, obj, values, axis=None):
    x, values, obj = asarray(arr), asarray(values), _position(obj, "insert")
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    n = x.shape[axis]
    scalar = not isinstance(obj, slice) and np.ndim(obj) == 0
    if values.ndim < x.ndim:
        values = reshape(values, (1,) * (x.ndim - values.ndim) + values.shape)
    if scalar:
        values = moveaxis(values, 0, axis)
        count = values.shape[axis]
        order = np.insert(np.arange(n), operator.index(obj), np.arange(n, n + count))
    else:
        places = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(obj)
        if places.dtype == bool:
            places = np.flatnonzero(places)
        count = places.size if places.size != 1 else values.shape[axis]
        order = np.insert(np.arange(n), places.astype(np.intp), np.arange(n, n + count))
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    values = np.broadcast_to(values if values.dtype == x.dtype else values.astype(x.dtype), shape)
    return np.take(concatenate([x, values], axis), order, axis)


# ---- along an axis -------------------------------------------------------------------------


@implements(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    x = asarray(arr)
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    x = moveaxis(x, axis, -1)
    lead = x.shape[:-1]
    outs = [asarray(func1d(x[i], *args, **kwargs)) for i in np.ndindex(lead)]
    if not outs:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    ndim = outs[0].ndim
    out = reshape(np.stack(outs), (*lead, *outs[0].shape))
    return moveaxis(out, range(-ndim, 0), range(axis, axis + ndim)) if ndim else out


@implements(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    x = asarray(a)
    ndim = x.ndim
    for axis in axes if isinstance(axes, Sequence) else np.atleast_1d(axes):
        out = func(x, axis + ndim if axis < 0 else axis)
        x = out if out.ndim == x.ndim else np.expand_dims(out, axis)
        if x.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return x
