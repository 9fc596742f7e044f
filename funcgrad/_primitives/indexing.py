"""Indexing of every sort, and its transposes.

An index is a static template in which `ARRAY` marks the places of integer arrays; those are operands, so
that they may be staged or batched. The front end resolves everything else: masks, lists, an ellipsis
beside arrays. Reading by slices and integers alone is `getitem`, reading by arrays is `gather`.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import Accumulator
from funcgrad._core.source import caller, describe
from funcgrad._core.types import ShapeDtypeStruct, dtype_of, shape_of
from funcgrad._primitives.kinds import constant, general, linear


class _Array:
    """The place of an index array in a template."""

    def __repr__(self):
        return "array"

    def __reduce__(self):
        return "ARRAY"  # there is one, in a copied or unpickled program too


ARRAY = _Array()


def assemble(template: tuple, arrays: tuple) -> tuple:
    """The NumPy index that a template and its arrays stand for."""
    if not arrays:
        return template
    if len(arrays) == len(template):
        return tuple(arrays)
    arrays = iter(arrays)
    return tuple([next(arrays) if part is ARRAY else part for part in template])


def read(x: Any, arrays: tuple, template: tuple, unique: bool) -> Any:
    """What is at an index."""
    if arrays:
        return gather(x, *arrays, template=template, unique=unique)
    return getitem(x, template=template)


# ---- reading -------------------------------------------------------------------------------


@linear(structural=True)
def getitem(x, *, template):
    """Read at integers and slices; `template` is a tuple of them or, in a loop over ``x[i]``, an int."""
    return x[template]


@getitem.batching
def _getitem_batch(values, batched, *, template):
    return getitem(*values, template=(slice(None), *_tuple(template)))


@getitem.putting
def _getitem_put(x, part, *, template):
    return index_update(x, part, template=_tuple(template), unique=True)


def _add(buffer, g, residuals, params, fresh):
    template = params["template"]
    if fresh:
        buffer[template] = g
        return
    part = buffer[template]
    if type(part) is np.ndarray:
        part += g
    else:
        buffer[template] = part + g


def _mark(mask, live, residuals, params):
    if live is None:
        mask[params["template"]] = True
    else:
        mask[params["template"]] |= live


def _total(shares, shape):
    """The sum of shares of reads, linear in what was read.

    That is a `scatter` for each where they are few and large, as ``x[1:]``, else one of all of them.
    """
    if len(shares) * _size(shape) <= 4 * sum([_size(g.shape) for g, _, _ in shares]) or len(shares) == 1:
        return functools.reduce(operator.add, [_spread(*share, shape) for share in shares])
    places = np.arange(_size(shape)).reshape(shape)
    at = [read(places, _arrays(r), params["template"], True) for _, r, params in shares]
    gs = [g for g, _, _ in shares]
    if all(g.shape == () for g in gs):  # x[i] in a loop
        at, gs = np.stack(at), np.stack(gs)
    else:
        at, gs = (np.concatenate([np.reshape(part, -1) for part in parts]) for parts in (at, gs))
    total = scatter(gs, at, template=(ARRAY,), shape=(places.size,), unique=False)
    return np.reshape(total, shape)


def _spread(g, residuals, params, shape):
    template, unique = _tuple(params["template"]), params.get("unique", True)
    return scatter(g, *_arrays(residuals), template=template, shape=shape, unique=unique)


def _tuple(template: int | tuple) -> tuple:
    return (template,) if type(template) is int else template


def _arrays(residuals: tuple) -> tuple:
    return residuals[0] if residuals else ()


getitem.transpose_by_parts("x", (), Accumulator(_add, _mark, _total))


@linear(structural=True, reorders=lambda params: params["template"][0] is not ARRAY)
def gather(x, *arrays, template, unique):
    """Read at index arrays; `unique` if no entry is read twice."""
    return x[assemble(template, arrays)]


@gather.batching
def _gather_batch(values, batched, *, template, unique):
    (x, *arrays), (x_batched, *flags) = values, batched
    index = _BatchedIndex(template, arrays, flags, x_batched)
    unique = unique and x_batched  # the members of a batch may read the same entry
    return index.to_front(gather(x, *index.arrays, template=index.template, unique=unique))


class ReadAt:
    """Reading at integers that are traced: in NumPy that makes a view. For `link` it is like a primitive.

    Which entries these are is not known.
    """

    may_copy, inexact, apart = False, True, False

    def __init__(self, arrays: tuple):
        self.arrays = arrays

    def impl(self, x, *, template):
        return x  # in which they are

    def read(self, x, params):
        return gather(x, *self.arrays, unique=False, **params)

    def put(self, x, part, *, template):
        return index_update(x, part, *self.arrays, template=template, unique=False)


def _gather_add(buffer, g, residuals, params, fresh):
    index = assemble(params["template"], residuals[0])
    if not params["unique"]:
        add_at(buffer, index, g)
    elif fresh:
        buffer[index] = g
    else:
        buffer[index] += g


def _gather_mark(mask, live, residuals, params):
    index = assemble(params["template"], residuals[0])
    if live is None:
        mask[index] = True
    else:
        np.logical_or.at(mask, index, live)


gather.transpose_by_parts("x", ("arrays",), Accumulator(_gather_add, _gather_mark, _total))


# ---- writing -------------------------------------------------------------------------------


@linear(structural=True)
def scatter(g, *arrays, template, shape, unique):
    """Zeros of a shape, to which `g` is added at an index."""
    out = np.zeros(shape, dtype_of(g))
    if unique:
        out[assemble(template, arrays)] = g
    else:
        add_at(out, assemble(template, arrays), g)
    return out


@scatter.transpose("g")
def _scatter_transpose(g, arrays, *, template, shape, unique):
    return read(g, arrays, template, unique)


@scatter.typing
def _scatter_type(g, *arrays, template, shape, unique):
    return ShapeDtypeStruct(shape, g.dtype)


@scatter.batching
def _scatter_batch(values, batched, *, template, shape, unique):
    size = _batch_size(values, batched)
    index = _BatchedIndex(template, values[1:], batched[1:], True)
    g = index.from_front(_with_batch(values[0], batched[0], size))
    return scatter(g, *index.arrays, template=index.template, shape=(size, *shape), unique=unique)


@general(structural=True)
def index_update(x, values, *arrays, template, unique):
    """A copy of `x` with `values` at an index: a scalar, or of the shape that is read there.

    Where an entry is written twice the last value stays, unless it is said to be `unique`.
    """
    out = np.array(x)  # which lies in memory as `x` does
    if not unique:  # NumPy writes in the order of memory: let it be the order of the index
        values = np.array(values, order="C")
        arrays = [np.array(a) for a in np.broadcast_arrays(*arrays)]
    out[assemble(template, arrays)] = values
    return out


@index_update.jvp("x")
def _update_push_x(t, arrays, *, template, unique):
    return index_update(t, np.zeros((), t.dtype), *arrays, template=template, unique=True)


@index_update.vjp("x")
def _update_pull_x(g, arrays, *, template, unique):
    return index_update(g, np.zeros((), g.dtype), *arrays, template=template, unique=True)


@index_update.living
def _update_live(x_shape, arrays, *, template, unique):
    return index_update(np.ones(x_shape, bool), np.zeros((), bool), *arrays, template=template, unique=True)


@index_update.jvp("values")
def _update_push_values(t, x_shape, arrays, *, template, unique):
    zeros = np.zeros(x_shape, t.dtype)
    return index_update(zeros, t, *arrays, template=template, unique=unique)


@index_update.vjp("values")
def _update_pull_values(g, values_shape, arrays, *, template, unique):
    out = read(g, arrays, template, unique)
    if not unique:
        out = np.where(_last(g.shape, out.shape, arrays, template), out, np.zeros((), g.dtype))
    return np.sum(out) if values_shape != out.shape else out  # a number that was written to many places


def _last(shape, values_shape, arrays, template):
    """Which of the values written at an index are not overwritten by later ones."""
    order = np.arange(_size(values_shape)).reshape(values_shape)
    none = np.full(shape, -1)
    written = index_update(none, order, *arrays, template=template, unique=False)
    return gather(written, *arrays, template=template, unique=False) == order


@index_update.typing
def _update_type(x, values, *arrays, template, unique):
    return ShapeDtypeStruct(x.shape, x.dtype)


@index_update.batching
def _update_batch(values, batched, *, template, unique):
    size = _batch_size(values, batched)
    index = _BatchedIndex(template, values[2:], batched[2:], True)
    x = _with_batch(values[0], batched[0], size)
    v = values[1]
    if batched[1] or shape_of(v) != ():
        v = _with_batch(v, batched[1], size)
        if v.shape == (size,):  # a scalar for each member
            stand_ins = [np.zeros(shape_of(a)[b:], int) for a, b in zip(values[2:], batched[2:])]
            places = np.broadcast_to(0, x.shape[1:])[assemble(template, stand_ins)].shape
            v = np.broadcast_to(np.reshape(v, (size,) + (1,) * len(places)), (size, *places))
        v = index.from_front(v)
    return index_update(x, v, *index.arrays, template=index.template, unique=unique)


def add_at(out: np.ndarray, index: tuple, g: Any) -> None:
    """``np.add.at``, which is several times faster along one axis than along many."""
    if out.ndim == 1 or g.size < 64 or not out.flags.c_contiguous:
        np.add.at(out, index, g)
        return
    places = 0
    for axis, (n, stride) in enumerate(zip(out.shape, out.strides)):
        along = np.arange(0, n * stride, stride) // out.itemsize
        along = along.reshape((n,) + (1,) * (out.ndim - axis - 1))
        places = places + np.broadcast_to(along, out.shape)[index]
    g = np.broadcast_to(g, places.shape)
    np.add.at(out.reshape(-1), places.reshape(-1), g.reshape(-1))


# ---- batching ------------------------------------------------------------------------------


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _batch_size(values, batched) -> int:
    return next(v.shape[0] for v, b in zip(values, batched) if b)


def _with_batch(value: Any, batched: bool, size: int) -> Any:
    """A value with a batch axis in front."""
    return value if batched else np.broadcast_to(value, (size, *shape_of(value)))


class _BatchedIndex:
    """An index into arrays with a batch axis in front, or by index arrays with one.

    NumPy puts the axes of index arrays where these stand if they stand side by side, else in front; a batch
    axis among them may change the place.

    Attributes:
        template, arrays: the index.
    """

    def __init__(self, template: tuple, arrays, batched, x_batched: bool):
        ranks = [len(shape_of(a)) - b for a, b in zip(arrays, batched)]
        rank = max(ranks, default=0)
        steer = [i for i, part in enumerate(template) if part is ARRAY or type(part) is int]
        apart = bool(arrays) and steer[-1] - steer[0] >= len(steer)
        # how many axes come before those of the index arrays; an ellipsis here stands for none
        first = sum(part is not Ellipsis for part in template[: steer[0]]) if arrays else 0
        arrays = [
            np.reshape(a, a.shape[:1] + (1,) * (rank - n) + a.shape[1:]) if b and n < rank else a
            for a, b, n in zip(arrays, batched, ranks)
        ]
        self.found, self.wanted = (), ()  # where the axes come out that are wanted elsewhere
        if not any(batched):
            template = (slice(None), *template)
            if apart:
                self.found, self.wanted = (rank,), (0,)
        elif not x_batched:
            if not apart:
                self.found, self.wanted = (first,), (0,)
        else:
            size = next(a.shape[0] for a, b in zip(arrays, batched) if b)
            template = (ARRAY, *template)
            arrays = [np.arange(size).reshape((size,) + (1,) * rank), *arrays]
            if not apart:
                self.found = tuple(range(1, 1 + rank))
                self.wanted = tuple(range(1 + first, 1 + first + rank))
        self.template, self.arrays = template, arrays

    def to_front(self, out: Any) -> Any:
        """What was read, with the batch axis in front and the others where a member has them."""
        return np.moveaxis(out, self.found, self.wanted) if self.found != self.wanted else out

    def from_front(self, values: Any) -> Any:
        """What is to be written, with its axes where the index has them."""
        return np.moveaxis(values, self.wanted, self.found) if self.found != self.wanted else values


# ---- masks ---------------------------------------------------------------------------------


def _nonzero(x):
    return np.nonzero(x)


nonzero = constant(_nonzero, name="nonzero")
nonzero.multiple = True


def _refuse_nonzero(values, batched):
    raise errors.BatchedMaskError("x[mask] or np.nonzero(mask)", describe(*caller(3)))


def _abstract_nonzero(x):
    raise errors.BatchedMaskError("x[mask] or np.nonzero(mask)", describe(*caller(3)))


nonzero.batch = _refuse_nonzero
nonzero.typed = _abstract_nonzero
