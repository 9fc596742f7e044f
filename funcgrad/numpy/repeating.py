"""Broadcasting, repeating, reversing and rolling."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad._core.boxes import own_box
from funcgrad._core.tracer import Tracer
from funcgrad._primitives import shaping as prims
from funcgrad._primitives.arithmetic import copy as copied
from funcgrad.numpy.arguments import negative_axes
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.shaping import as_shape, ravel, reshape, swapaxes

# ---- broadcasting and repeating ------------------------------------------------------------


@implements(np.broadcast_to)
def broadcast_to(array, shape, subok=False):
    x = asarray(array)
    shape = as_shape(shape)
    own = x.shape
    if own == shape:
        return x
    if len(own) > len(shape) or any([n != m != 1 for n, m in zip(shape[::-1], own[::-1])]):
        raise ValueError(f"cannot broadcast an array of shape {own} to shape {shape}")
    return prims.broadcast_to.of(x, {"shape": shape})


@implements(np.broadcast_arrays)
def broadcast_arrays(*args, subok=False):
    arrays = [asarray(a) for a in args]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


@implements(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    arrays = [asarray(x) for x in xi]
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        axes[:2] = 1, 0
    grids = [
        np.reshape(x, [-1 if i == axis else 1 for i in range(len(arrays))]) for x, axis in zip(arrays, axes)
    ]
    if not sparse:
        grids = [*broadcast_arrays(*grids)]
    return tuple([np.copy(g) if copy else g for g in grids])


@implements(np.repeat)
def repeat(a, repeats, axis=None):
    x = asarray(a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    counts = np.asarray(_known(repeats))
    if counts.size != 1:
        return np.take(x, np.repeat(np.arange(x.shape[axis]), counts), axis)
    n = operator.index(counts.reshape(())[()])
    if n < 0:
        raise ValueError("repeats may not contain negative values.")
    before, after = x.shape[: axis + 1], x.shape[axis + 1 :]
    x = prims.reshape(x, shape=(*before, 1, *after))
    x = prims.broadcast_to(x, shape=(*before, n, *after))
    return own_box(prims.reshape(x, shape=(*before[:-1], before[-1] * n, *after)))  # no view of anything


def _known(value: Any) -> Any:
    """An integer argument that decides about shapes: as a plain value."""
    return operator.index(value) if isinstance(value, Tracer) else value


@implements(np.tile)
def tile(A, reps):
    x = asarray(A)
    reps = as_shape(reps)
    ndim = max(x.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - x.ndim) + x.shape
    if all(n == 1 for n in reps):
        return copied(reshape(x, shape))
    apart = tuple([m for n in shape for m in (1, n)])
    whole = tuple([m for n, r in zip(shape, reps) for m in (r, n)])
    x = prims.broadcast_to(prims.reshape(x, shape=apart), shape=whole)
    return own_box(prims.reshape(x, shape=tuple([n * r for n, r in zip(shape, reps)])))


@implements(np.resize)
def resize(a, new_shape):
    x = ravel(a)
    new_shape = as_shape(new_shape)
    if any(n < 0 for n in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    new_size = math.prod(new_shape)
    if new_size == 0 or x.size == 0:
        return np.zeros(new_shape, x.dtype)
    return reshape(tile(x, -(-new_size // x.size))[:new_size], new_shape)


# ---- reversing and rolling -----------------------------------------------------------------


@implements(np.flip)
def flip(m, axis=None):
    x = asarray(m)
    axes = negative_axes(axis, x.ndim)
    return prims.flip(x, axis=axes) if axes else x


@implements(np.fliplr)
def fliplr(m):
    x = asarray(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(x, 1)


@implements(np.flipud)
def flipud(m):
    x = asarray(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(x, 0)


@implements(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    x = asarray(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if not all(-x.ndim <= i < x.ndim for i in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={x.ndim}.")
    i, j = (axis % x.ndim for axis in axes)
    if i == j:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(x, (i, j))
    return swapaxes(flip(x, j), i, j) if k == 1 else flip(swapaxes(x, i, j), j)


@implements(np.roll)
def roll(a, shift, axis=None):
    x = asarray(a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if isinstance(shift, Tracer):  # a shift of its own for each member of a batch
        for i, n in zip(axes, shift if shift.ndim else [shift] * len(axes)):
            x = np.take(x, (np.arange(x.shape[i]) - n) % max(1, x.shape[i]), i)
        return x
    shifts = as_shape(shift)
    pairs = np.broadcast(shifts, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts, axes = zip(*[(int(n), int(i) - x.ndim) for n, i in pairs]) if axes else ((), ())
    return prims.roll(x, shift=shifts, axis=axes)
