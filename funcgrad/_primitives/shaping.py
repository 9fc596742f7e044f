"""Shapes and axes; joining; reversing and rolling; diagonals. Entries are moved, none is changed.

Axes count from the end, so that a batch axis in front changes nothing; where a parameter is a whole
shape or permutation, the batching rule extends it.
"""

from __future__ import annotations

import functools
from itertools import accumulate

import numpy as np

from funcgrad._interpreters.batch import batch_alike
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import linear

# ---- shapes and axes -----------------------------------------------------------------------


@linear(structural=True, view=True, may_copy=True)
def reshape(x, *, shape):
    return x.reshape(shape) if hasattr(x, "reshape") else np.reshape(x, shape)


@reshape.transpose
def _reshape_transpose(g, x_shape, *, shape):
    return np.reshape(g, x_shape)


@reshape.putting
def _reshape_put(x, part, *, shape):
    return reshape(part, shape=x.shape)


@reshape.batching
def _reshape_batch(values, batched, *, shape):
    (x,) = values
    return reshape(x, shape=(x.shape[0], *shape))


@linear(structural=True, view=True, reorders=lambda params: True)
def transpose(x, *, axes):
    """The axes in another order; `axes` are from 0 and all are there."""
    return x.transpose(axes)


@transpose.transpose
def _transpose_transpose(g, *, axes):
    return transpose(g, axes=_inverse(axes))


@functools.lru_cache(maxsize=256)
def _inverse(axes):
    """The permutation that undoes one."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


@transpose.putting
def _transpose_put(x, part, *, axes):
    return transpose(part, axes=_inverse(axes))


@transpose.batching
def _transpose_batch(values, batched, *, axes):
    return transpose(*values, axes=(0, *[axis + 1 for axis in axes]))


@linear(structural=True, view=True)
def broadcast_to(x, *, shape):
    return np.broadcast_to(x, shape)


@broadcast_to.transpose
def _broadcast_to_transpose(g, x_shape, *, shape):
    return fit(g, x_shape, None)


@broadcast_to.batching
def _broadcast_to_batch(values, batched, *, shape):
    (x,) = values
    size, *own = x.shape
    if len(own) < len(shape):
        x = np.reshape(x, (size, *[1] * (len(shape) - len(own)), *own))
    return broadcast_to(x, shape=(size, *shape))


# ---- joining -------------------------------------------------------------------------------


@linear(structural=True, joint=True)
def concatenate(*operands, axis):
    return np.concatenate(operands, axis)


@concatenate.transpose
def _concatenate_transpose(g, positions, shapes, *, axis):
    ends = [0, *accumulate(shape[axis] for shape in shapes)]
    before = (slice(None),) * (len(shapes[0]) + axis)
    return [g[(*before, slice(ends[i], ends[i + 1]))] for i in positions]


concatenate.batch = batch_alike(concatenate)


@linear(structural=True, joint=True)
def stack(*operands, axis):
    """Join arrays of one shape along a new axis."""
    if _SCALARS.issuperset(map(type, operands)):  # NumPy's way costs ten times as much
        return np.array(operands)
    index = (..., None, *[slice(None)] * (-1 - axis))
    return np.concatenate([np.asarray(x)[index] for x in operands], axis)  # half the cost of NumPy's


_SCALARS = frozenset((float, np.float64))


@stack.transpose
def _stack_transpose(g, positions, shapes, *, axis):
    before = (slice(None),) * (len(shapes[0]) + 1 + axis)
    return [g[(*before, i)] for i in positions]


stack.batch = batch_alike(stack)


# ---- reversing and rolling -----------------------------------------------------------------


@linear(structural=True, view=True)
def flip(x, *, axis):
    """Reverse the order along some axes."""
    first = min(axis, default=0)
    return x[(..., *[slice(None, None, -1 if i in axis else None) for i in range(first, 0)])]


@flip.transpose
def _flip_transpose(g, *, axis):
    return flip(g, axis=axis)


@flip.putting
def _flip_put(x, part, *, axis):
    return flip(part, axis=axis)


@linear(structural=True)
def roll(x, *, shift, axis):
    return np.roll(x, shift, axis)


@roll.transpose
def _roll_transpose(g, *, shift, axis):
    return roll(g, shift=tuple([-n for n in shift]), axis=axis)


# ---- diagonals -----------------------------------------------------------------------------


@linear(structural=True, view=True)
def diagonal(x, *, offset, axis1, axis2):
    """The diagonals of the planes of two axes, along a last axis."""
    return x.diagonal(offset, axis1, axis2)


@diagonal.transpose
def _diagonal_transpose(g, x_shape, *, offset, axis1, axis2):
    rows, columns = x_shape[axis1], x_shape[axis2]
    out = from_diagonal(g, shape=(rows, columns), offset=offset)
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


@diagonal.living
def _diagonal_live(x_shape, *, offset, axis1, axis2):
    all_of_it = np.broadcast_to(np.True_, x_shape).diagonal(offset, axis1, axis2)
    return _diagonal_transpose(all_of_it, x_shape, offset=offset, axis1=axis1, axis2=axis2)


@linear(structural=True)
def from_diagonal(x, *, shape, offset):
    """Matrices of a shape, in the last two axes, that are zero but for one diagonal."""
    out = np.zeros(x.shape[:-1] + shape, x.dtype)
    at = np.arange(x.shape[-1])
    out[..., at + max(0, -offset), at + max(0, offset)] = x
    return out


@from_diagonal.transpose
def _from_diagonal_transpose(g, *, shape, offset):
    return diagonal(g, offset=offset, axis1=-2, axis2=-1)
