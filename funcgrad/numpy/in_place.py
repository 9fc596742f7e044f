"""What writes in place: ``x[i] = v``, ``x += v``, ``out=``, and functions such as `np.put`.

Each computes a new value by pure operations, and binds the array's box to it and whatever shares its memory
(`funcgrad._core.boxes`). A plain array can hold no traced value: that is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import origin_of, rebind, root_of
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, settled, successors
from funcgrad._core.types import shape_of
from funcgrad._primitives import indexing as prims
from funcgrad._primitives.lifting import lift
from funcgrad.numpy import ufuncs
from funcgrad.numpy.conversions import asked_by, cure_by_function
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.indexing import along_index, resolve
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.updates import index_add, index_update

# ---- binding -------------------------------------------------------------------------------


def assign(x: Tracer, value: Any, what: str) -> None:
    """Let a traced array have a value of its shape and dtype.

    Raises:
        InPlaceError: the value belongs to another transform, or the array to a function around this one.
    """
    trace = x._trace
    ended = trace.closed and successors().get(trace) is not trace
    if ended or trace.suspended or trace.is_outside(root_of(x)):
        _refuse(what, "an array from outside of a function that may run again")
    value = settled(value)
    if not (type(value) is type(x) and value._trace is trace):
        if isinstance(value, Tracer) and value._trace.level > trace.level:
            _refuse(what, "a value of another transform")
        value = lift(trace, np.array(value) if type(value) is np.ndarray else value)
    rebind(x, value, what)


def _refuse(what: str, why: str) -> None:
    cure = (
        "Write into an array that is made in the same function of what is written: out = np.zeros_like(v), "
        "or of all values that are, np.zeros_like(u * v). Or make a new one: x = x + v, or "
        "x = funcgrad.numpy.index_update(x, index, v)."
    )
    raise errors.InPlaceError(f"{what} with {why}", describe(*caller(3)), cure)


def write(x: Tracer, index: Any, values: Any, what: str = "x[...] = v") -> None:
    """``x[index] = values``."""
    if isinstance(values, Tracer):
        if _is_read_at(x, index, values):
            return  # `x[index] += v` has written into x already
    else:
        values = asarray(values)
    mask = _mask(x, index) if values.ndim == 0 else None
    if mask is None:
        assign(x, index_update(x, index, values), what)
    else:  # what is known where the mask's entries are not
        assign(x, np.where(mask, _cast(values, x.dtype, what), x), what)


def _is_read_at(x: Tracer, index: Any, values: Tracer) -> bool:
    """Whether the values are the view of `x` at this index."""
    base, prim, params = origin_of(values) or (None, None, None)
    if base is not x or not (prim is prims.getitem or type(prim) is prims.ReadAt):
        return False
    template = params["template"]
    if type(index) is int or type(template) is int:
        return template is index or (type(template) is type(index) and template == index)
    _, arrays, found, _ = resolve(x, index)
    read = prim.arrays if type(prim) is prims.ReadAt else ()
    return template == found and len(arrays) == len(read) and all(a is b for a, b in zip(arrays, read))


def _mask(x: Tracer, index: Any) -> Any:
    """A condition that holds where a boolean index is true; None of other indices."""
    if not (isinstance(index, (np.ndarray, Tracer)) and index.dtype.kind == "b" and index.ndim):
        return None
    if index.shape != x.shape[: index.ndim]:
        return None  # NumPy's error
    return np.reshape(index, index.shape + (1,) * (x.ndim - index.ndim))


def _cast(value: Any, dtype: np.dtype, what: str) -> Any:
    if value.dtype == dtype:
        return value
    if not np.can_cast(value.dtype, dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast the result of {what} from {value.dtype!r} to {dtype!r} according to the rule "
            "'same_kind'"
        )
    return ufuncs.cast(value, dtype)


def write_out(out: Tracer, result: Any, what: str, broadcasts: bool = False) -> Tracer:
    """A result written into ``out=``."""
    shape = shape_of(result)
    if shape != out.shape and not (broadcasts and _broadcasts_to(shape, out.shape)):
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast "
            f"shape {shape}"
        )
    result = _cast(asarray(result), out.dtype, what)
    assign(out, result if shape == out.shape else np.broadcast_to(result, out.shape), what)
    return out


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1]))


# ---- operators -----------------------------------------------------------------------------


def in_place_operator(operator: Callable, symbol: str) -> Callable:
    """``x += v`` or its like, of the operator ``x + v``."""
    what = f"x {symbol}= v"

    def in_place(self, other):
        result = operator(self, other)
        if result is NotImplemented or not is_array(self):
            return result  # scalars are rebound, as Python rebinds them
        return write_out(self, result, what)

    return in_place


def is_array(x: Tracer) -> bool:
    """Whether a tracer stands for an array, which NumPy would change in place, and not for a scalar."""
    if shape_of(x) or origin_of(x) is not None:
        return True
    value = x
    while isinstance(value, Tracer):
        value = getattr(value, "value", None)
    return type(value) is np.ndarray and value.ndim == 0


# ---- functions -----------------------------------------------------------------------------


def _into(function: Callable, instead: str) -> Callable:
    """Carry out a function that writes into its first argument, if that is traced (decorator)."""

    def register(implementation):
        def run(a, *args, **kwargs):
            if not isinstance(a, Tracer):
                asked, _ = asked_by(sys._getframe(2))  # one of NumPy's may have called this
                cure = cure_by_function(asked) or (
                    f"A plain array holds no traced value: start from np.zeros_like(v). Or write {instead}."
                )
                raise errors.InPlaceError(f"np.{function.__name__}", describe(*caller(2)), cure)
            implementation(a, *args, **kwargs)

        implements(function)(run)
        return run

    return register


@_into(np.copyto, "x = np.where(where, src, x), or np.broadcast_to(src, x.shape)")
def copyto(dst, src, casting="same_kind", where=True):
    src = asarray(src)
    if not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule {casting!r}"
        )
    src = ufuncs.cast(src, dst.dtype)
    write(dst, Ellipsis, src if where is True else np.where(where, src, dst), "np.copyto")


@_into(np.put, "np.reshape(funcgrad.numpy.index_update(np.ravel(x), indices, v), x.shape)")
def put(a, ind, v, mode="raise"):
    index, values = np.ravel(asarray(ind)), np.ravel(asarray(v))
    index = index.astype(np.intp) if index.dtype.kind == "b" else index
    if mode != "raise":
        index = np.clip(index, 0, a.size - 1) if mode == "clip" else np.remainder(index, a.size)
    if index.size and values.size:
        values = np.resize(values, index.shape)
        flat = index_update(np.reshape(a, -1), index, values)
        assign(a, np.reshape(flat, a.shape), "np.put")


@_into(np.place, "np.where(mask, vals, x)")
def place(arr, mask, vals):
    mask, vals = np.reshape(asarray(mask), arr.shape).astype(bool), np.ravel(asarray(vals))
    count = int(np.count_nonzero(mask))
    if count and not vals.size:
        raise ValueError("Cannot insert from an empty array!")
    if count:
        assign(arr, index_update(arr, mask, np.resize(vals, count)), "np.place")


@_into(np.putmask, "np.where(mask, values, x)")
def putmask(a, /, mask, values):
    values = _cast(asarray(values), a.dtype, "np.putmask")
    if not values.size:
        return
    values = np.resize(values, a.shape)
    assign(a, np.where(np.reshape(asarray(mask), a.shape), values, a), "np.putmask")


@_into(np.put_along_axis, "funcgrad.numpy.index_update(x, index, values) with an index on each axis")
def put_along_axis(arr, indices, values, axis):
    if axis is None:
        flat = index_update(np.reshape(arr, -1), asarray(indices), values)
        assign(arr, np.reshape(flat, arr.shape), "np.put_along_axis")
    else:
        index = along_index(arr, asarray(indices), axis)
        assign(arr, index_update(arr, index, values), "np.put_along_axis")


@_into(np.fill_diagonal, "np.where(np.eye(*x.shape, dtype=bool), value, x)")
def fill_diagonal(a, val, wrap=False):
    stand_in = np.zeros(a.shape, bool)
    np.fill_diagonal(stand_in, True, wrap)  # and NumPy's errors
    values = np.ravel(asarray(val))
    values = values[0] if values.size == 1 else np.resize(values, int(np.count_nonzero(stand_in)))
    write(a, stand_in, values, "np.fill_diagonal")


def write_at(self: Tracer, ufunc: np.ufunc, x: Any, index: Any, *values: Any) -> None:
    """``ufunc.at(x, index, values)``, where an entry that is named twice counts twice."""
    name = f"np.{ufunc.__name__}.at"
    if not isinstance(x, Tracer):
        cure = "A plain array holds no traced value: start from np.array(x, like=v) or np.zeros_like(v)."
    elif ufunc is np.add or ufunc is np.subtract:
        added = asarray(values[0])
        if ufunc is np.subtract:  # not in a small dtype of its own
            added = np.negative(_cast(added, x.dtype, name))
        return assign(x, index_add(x, index, added), name)
    elif _names_each_once(x, index):
        return write(x, index, ufunc(x[index], *values), name)
    else:
        cure = "The index may name entries twice, which would be changed twice. Write a loop over them."
    raise errors.InPlaceError(name, describe(*caller(3)), cure)


def _names_each_once(x: Tracer, index: Any) -> bool:
    """Whether an index is known to name no entry twice."""
    x, arrays, template, unique = resolve(x, index)
    if unique or any(isinstance(a, Tracer) for a in arrays):
        return unique
    places = prims.read(np.arange(x.size).reshape(x.shape), arrays, template, unique=False)
    return len(np.unique(places)) == np.size(places)


# ---- methods -------------------------------------------------------------------------------


def fill(self, value):
    """``x.fill(value)``"""
    write(self, Ellipsis, value, "x.fill(v)")


def sort(self, axis=-1, kind=None, order=None, *, stable=None):
    """``x.sort()``"""
    assign(self, np.sort(self, axis, kind, order, stable=stable), "x.sort()")


def partition(self, kth, axis=-1, kind="introselect", order=None):
    """``x.partition(kth)``"""
    assign(self, np.partition(self, kth, axis, kind, order), "x.partition(...)")


def set_real(self, value):
    """``x.real = v``"""
    write(np.real(self), Ellipsis, value, "x.real = v")


def set_imag(self, value):
    """``x.imag = v``"""
    if self.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    write(np.imag(self), Ellipsis, value, "x.imag = v")


def set_flat(self, value):
    """``x.flat = v``, whose entries are repeated"""
    value = asarray(value)
    if value.size:
        write(self, Ellipsis, np.reshape(np.resize(value, self.size), self.shape), "x.flat = v")
