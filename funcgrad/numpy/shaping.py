"""Shapes and axes: reshaping, transposing, broadcasting, repeating, reversing; arrays like another."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad import errors
from funcgrad._core.boxes import in_memory, is_uncertain, link, own_box
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._interpreters.batch import Batched
from funcgrad._primitives import shaping as prims
from funcgrad._primitives.arithmetic import copy as copied
from funcgrad._primitives.lifting import lift_like
from funcgrad.numpy import creation
from funcgrad.numpy.arguments import negative_axes
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import CREATORS, implements

# ---- shapes --------------------------------------------------------------------------------


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of Python ints; an int stands for one axis."""
    if type(shape) is int:
        return (shape,)
    is_tuple = type(shape) is tuple  # else an abstract class is asked, 0.2 us
    if is_tuple or (isinstance(shape, Iterable) and not (isinstance(shape, Tracer) and shape.ndim == 0)):
        return tuple([n if type(n) is int else operator.index(n) for n in shape])
    return (operator.index(shape),)


def complete_shape(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """A shape whose -1, if there is one, is worked out."""
    known = math.prod(shape)
    if known == size and (size or -1 not in shape):
        return shape
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in shape and known and size % -known == 0:
        return tuple([size // -known if n == -1 else n for n in shape])
    raise ValueError(f"cannot reshape array of size {size} into shape {shape}")


@implements(np.reshape)
def reshape(a, /, shape=None, order="C", *, newshape=None, copy=None):
    x = asarray(a)
    own = x.shape
    shape = as_shape(newshape if shape is None else shape)
    shape = complete_shape(shape, math.prod(own))
    if copy is False:
        value = memory_of(x)
        if value is not None:
            np.reshape(value, shape, order, copy=False)  # NumPy's error where it needs a copy
    if _is_fortran(x, order):
        out = _transposed(prims.reshape(_transposed(x), shape=shape[::-1]))
    elif own == shape:
        out = x
    else:
        out = prims.reshape.of(x, {"shape": shape})
    return copied(out) if copy else out


def _is_fortran(x: Any, order: str) -> bool:
    """Whether entries are to be read in Fortran's order."""
    if order is None or order in ("C", "c"):
        return False
    if order in ("F", "f"):
        return True
    if order in ("A", "a"):
        flags = _known_memory(x, order).flags
        return flags.f_contiguous and not flags.c_contiguous
    raise ValueError(f"order must be one of 'C', 'F', 'A' (got {order!r})")


def _known_memory(x: Any, order: str) -> np.ndarray:
    """The array whose order in memory decides about the result."""
    if memory_of(x) is None and x.ndim > 1:
        raise errors.UnsupportedArgumentError(
            "reshape",
            f"order={order!r} for an array of which only the type is known",
            describe(*caller(2)),
            "Its order in memory is not known. Write order='C' or order='F'.",
        )
    return in_memory(x)


@implements(np.ravel)
def ravel(a, order="C"):
    x = asarray(a)
    if order in ("K", "k"):
        value = _known_memory(x, order)
        if x.ndim > 1:
            axes = sorted(range(x.ndim), key=lambda i: -abs(value.strides[i]))
            x = transpose(x, axes)
        order = "C"
    fortran = _is_fortran(x, order)
    if is_uncertain(x):
        out = copied(reshape(x, (-1,), "F" if fortran else "C"))
        link(x, out)  # it may be a view
        return out
    flags = in_memory(x).flags
    contiguous = flags.f_contiguous if fortran else flags.c_contiguous
    out = reshape(x, (-1,), "F" if fortran else "C")
    return out if contiguous else copied(out)  # a view only of what is contiguous, while `reshape` may be one


class _Flat:
    """The attribute `flat`: a write into it reaches the array however that lies, and its parts are copies."""

    may_copy, inexact, apart = False, True, True

    def impl(self, x):
        return x

    def read(self, x, params):
        return prims.reshape.read(x, {"shape": (math.prod(x.shape),)})

    def put(self, x, part):
        return prims.reshape.read(part, {"shape": x.shape})


def flat(x: Any) -> Any:
    """The attribute of that name, as an array."""
    out = own_box(_FLAT.read(x, {}))
    link(x, out, _FLAT, {})
    return out


_FLAT = _Flat()


def flatten(a, order="C"):
    """The method of that name: as `ravel`, but a copy."""
    return copied(ravel(a, order))


@implements(np.expand_dims)
def expand_dims(a, axis):
    x = asarray(a)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    new = negative_axes(axes, ndim)
    lengths = iter(x.shape)
    shape = tuple([1 if i in new else next(lengths) for i in range(-ndim, 0)])
    return prims.reshape.of(x, {"shape": shape})


@implements(np.squeeze)
def squeeze(a, axis=None):
    x = asarray(a)
    shape = x.shape
    if axis is None:
        gone = [i for i, n in enumerate(shape) if n == 1]
    else:
        gone = normalize_axis_tuple(axis, x.ndim)
        if any(shape[i] != 1 for i in gone):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if not gone:
        return x
    return prims.reshape.of(x, {"shape": tuple([n for i, n in enumerate(shape) if i not in gone])})


@implements(np.atleast_1d)
def atleast_1d(*arys):
    return _each(arys, lambda x: (1,) if x.ndim == 0 else x.shape)


@implements(np.atleast_2d)
def atleast_2d(*arys):
    return _each(arys, lambda x: (1,) * (2 - x.ndim) + x.shape)


@implements(np.atleast_3d)
def atleast_3d(*arys):
    shapes = {0: lambda x: (1, 1, 1), 1: lambda x: (1, *x.shape, 1), 2: lambda x: (*x.shape, 1)}
    return _each(arys, lambda x: shapes[x.ndim](x) if x.ndim < 3 else x.shape)


def _each(arrays: tuple, shape_for: Any) -> Any:
    out = []
    for a in arrays:
        x = asarray(a)
        out.append(reshape(x, shape_for(x)) if isinstance(x, Tracer) else x.reshape(shape_for(x)))
    return out[0] if len(out) == 1 else tuple(out)


@implements(np.shape)
def shape(a):
    return asarray(a).shape


@implements(np.ndim)
def ndim(a):
    return asarray(a).ndim


@implements(np.size)
def size(a, axis=None):
    own = asarray(a).shape
    if axis is None:
        return math.prod(own)
    return math.prod([own[i] for i in normalize_axis_tuple(axis, len(own))])


# ---- the order of axes ---------------------------------------------------------------------


def _transposed(x: Any) -> Any:
    return transpose(x, None)


@functools.cache
def _in_order(ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim))


def permuted(x: Any, axes: tuple[int, ...]) -> Any:
    """The axes in another order, given as numbers from 0."""
    return x if axes == _in_order(len(axes)) else prims.transpose.of(x, {"axes": axes})


@implements(np.transpose)
def transpose(a, axes=None):
    x = asarray(a)
    ndim = x.ndim
    if axes is None or axes == ():
        return permuted(x, _in_order(ndim)[::-1])
    axes = as_shape(axes)
    if len(axes) != ndim:
        raise ValueError("axes don't match array")
    axes = tuple([normalize_axis_index(i, ndim) for i in axes])
    if len(set(axes)) != ndim:
        raise ValueError("repeated axis in transpose")
    return permuted(x, axes)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x, /):
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a, axis1, axis2):
    x = asarray(a)
    ndim = x.ndim
    i, j = [normalize_axis_index(operator.index(k), ndim) for k in (axis1, axis2)]
    axes = [*_in_order(ndim)]
    axes[i], axes[j] = j, i
    return permuted(x, tuple(axes))


@implements(np.moveaxis)
def moveaxis(a, source, destination):
    x = asarray(a)
    source = normalize_axis_tuple(source, x.ndim, "source")
    destination = normalize_axis_tuple(destination, x.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [i for i in range(x.ndim) if i not in source]
    for to, i in sorted(zip(destination, source)):
        order.insert(to, i)
    return permuted(x, tuple(order))


@implements(np.rollaxis)
def rollaxis(a, axis, start=0):
    x = asarray(a)
    axis = normalize_axis_index(axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    if not 0 <= start <= x.ndim:
        raise np.exceptions.AxisError("start", x.ndim)
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return permuted(x, tuple(order))


# ---- arrays like another -------------------------------------------------------------------


def _like(name: str):
    make = getattr(np, f"{name}_like")

    def like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        x = asarray(a)
        shape = x.shape if shape is None else as_shape(shape)
        made = make(in_memory(x), x.dtype if dtype is None else dtype, order, shape=shape)
        return lift_like(x, made)

    like.__doc__ = f"As `numpy.{name}_like`; it depends on no values, but traced ones may be put there."
    return like


zeros_like = implements(np.zeros_like)(_like("zeros"))
ones_like = implements(np.ones_like)(_like("ones"))
_empty_like = _like("empty")


@implements(np.empty_like)
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return _empty_like(prototype, dtype, order, subok, shape)


@implements(np.full_like)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    x, value = asarray(a), asarray(fill_value)
    shape = x.shape if shape is None else as_shape(shape)
    dtype = x.dtype if dtype is None else np.dtype(dtype)
    if isinstance(value, Tracer):
        return copied(np.broadcast_to(value if value.dtype == dtype else value.astype(dtype), shape))
    made = np.full_like(in_memory(x), value, dtype, order, shape=shape)
    return lift_like(x, made)


def _create(function):
    """What makes an array by ``like=x``: traced values may be put there, and be among those it is made of."""
    make = getattr(creation, function.__name__, function)

    def create(x, *args, **kwargs):
        made = make(*args, **kwargs)
        given = [a for a in args if isinstance(a, np.ndarray)]
        shared = isinstance(made, Tracer) or any(np.may_share_memory(made, a) for a in given)
        return made if shared else lift_like(x, made)  # `np.asarray(a)` of a plain array stays that array

    return create


for _function in (
    np.arange, np.array, np.asanyarray, np.asarray, np.ascontiguousarray, np.asfortranarray, np.empty, np.eye,
    np.full, np.identity, np.ones, np.require, np.tri, np.zeros,
):  # fmt: skip
    CREATORS[_function] = _create(_function)


@implements(np.may_share_memory)
def may_share_memory(a, b, max_work=None):
    a, b = memory_of(a), memory_of(b)
    return a is not None and b is not None and np.may_share_memory(a, b)


@implements(np.shares_memory)
def shares_memory(a, b, max_work=None):
    return may_share_memory(a, b)


def memory_of(x: Any) -> np.ndarray | None:
    """The array behind a tracer, if there is one; of a batch that of its first member."""
    if type(x) is Batched:
        value = memory_of(x.value)
        if value is None:
            return None
        return value[0, ...] if len(value) else np.empty(value.shape[1:], value.dtype)
    if isinstance(x, Tracer):
        return memory_of(x.value)
    return x if isinstance(x, np.ndarray) else None
