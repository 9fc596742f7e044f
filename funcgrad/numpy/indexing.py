"""Indexing of every sort: ``x[...]``, NumPy's functions that read at indices, and functional updates."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from funcgrad._core.boxes import link, own_box
from funcgrad._core.tracer import Tracer
from funcgrad._primitives import indexing as prims
from funcgrad._primitives import shaping
from funcgrad._primitives.indexing import ARRAY
from funcgrad.numpy.arguments import refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

_float64 = np.float64
_PLAIN = frozenset((int, type(None), type(Ellipsis)))
_BASIC = _PLAIN | {slice}
_BOUNDS = frozenset((int, type(None)))
_ALLOWED = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


def getitem(x: Any, index: Any, _read: Any = prims.getitem) -> Any:
    """``x[index]`` on a traced array."""
    if type(index) is int:  # the hot path: a loop over x[i]
        template = index
    else:
        x, arrays, template, unique = resolve(x, index)
        if arrays:
            out = prims.gather(x, *arrays, template=template, unique=unique)
            if out.ndim and all([isinstance(a, Tracer) and not a.ndim for a in arrays]):
                link(x, out, prims.ReadAt(arrays), {"template": template})
            return out
        if type(index) is np.ndarray or (type(index) is tuple and np.ndarray in map(type, index)):
            return x._trace.process(_read, (x,), {"template": template})  # an array of one integer: a copy
    params = {"template": template}
    out = x._trace.process(_read, (x,), params)
    if out.ndim or (type(template) is tuple and Ellipsis in template):
        link(x, out, _read, params)
    return out


# ---- from NumPy's indices to templates -----------------------------------------------------


def resolve(x: Any, index: Any) -> tuple[Any, tuple, tuple, bool]:
    """An index as a template and its arrays.

    Returns:
        The array (with an axis more for each boolean scalar in the index), the index arrays, the template,
        and whether no entry is named twice.
    """
    parts = index if type(index) is tuple else (index,)
    for part in parts:
        if type(part) not in _PLAIN and not (type(part) is slice and _is_plain(part)):
            break
    else:  # nothing to be done
        return x, (), parts, True
    parts = tuple([_part(part) for part in parts])
    if all([type(part) in _BASIC for part in parts]):
        return x, (), parts, True
    return _with_arrays(x, parts)


def _is_plain(part: slice) -> bool:
    """Whether the bounds are Python ints."""
    return type(part.start) in _BOUNDS and type(part.stop) in _BOUNDS and type(part.step) in _BOUNDS


def _part(part: Any) -> Any:
    """One part of an index: an int, a slice, None, an ellipsis, or an array of integers or booleans."""
    kind = type(part)
    if kind in _PLAIN:
        return part
    if kind is slice:
        bounds = (part.start, part.stop, part.step)
        return slice(*[None if b is None else operator.index(b) for b in bounds])
    if kind in (bool, np.bool_):
        return np.asarray(part)
    if kind is np.ndarray or isinstance(part, Tracer):
        array = part
    else:
        if not isinstance(part, (np.ndarray, list, tuple, range)):
            try:
                return operator.index(part)
            except TypeError:
                raise IndexError(_ALLOWED) from None
        array = asarray(part)
        if array.size == 0 and not isinstance(part, np.ndarray):
            array = array.astype(np.intp)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return array if array.ndim or isinstance(array, Tracer) else int(array)


def _with_arrays(x: Any, parts: tuple) -> tuple[Any, tuple, tuple, bool]:
    shape = x.shape
    consumed = ellipses = 0
    for part in parts:
        if part is Ellipsis:
            ellipses += 1
        elif part is not None:
            consumed += part.ndim if _is_mask(part) else 1
    if consumed > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {consumed} were indexed"
        )
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    template: list = []
    arrays: list = []
    unique = True
    axis = 0
    for part in parts:
        if type(part) is int or type(part) is slice:
            template.append(part)
            axis += 1
        elif part is None:
            template.append(None)
        elif part is Ellipsis:
            rest = len(shape) - consumed
            # one that stands for no axis stays: in NumPy it keeps arrays beside it apart all the same
            template += [slice(None)] * rest if rest or not template else [Ellipsis]
            axis += rest
        elif part.dtype.kind != "b":
            template.append(ARRAY)
            arrays.append(part)
            axis += 1
            unique = False
        elif part.ndim == 0:
            # a boolean scalar makes an axis of size 1 or 0: read that from an axis of size 1
            x = shaping.reshape(x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))
            shape = x.shape
            template.append(ARRAY)
            arrays.append(np.zeros(int(bool(part)), np.intp))
            axis += 1
        else:
            _check_mask(part, shape, axis)
            places = prims.nonzero(part)
            template += [ARRAY] * part.ndim
            arrays += places
            axis += part.ndim
    return x, tuple(arrays), tuple(template), unique


def _is_mask(part: Any) -> bool:
    return type(part) not in _BASIC and part.dtype.kind == "b"


def _check_mask(mask: Any, shape: tuple[int, ...], axis: int) -> None:
    for i, n in enumerate(mask.shape, axis):
        if n != shape[i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {i}; size of axis is {shape[i]} "
                f"but size of corresponding boolean axis is {n}"
            )


# ---- reading at indices --------------------------------------------------------------------


def _along(x: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis, from 0, along which to read; None reads from it flattened."""
    if axis is None:
        return np.ravel(x), 0
    return x, normalize_axis_index(operator.index(axis), x.ndim)


def _at(x: Any, axis: int, index: Any) -> Any:
    return x[(*[slice(None)] * axis, index)]


@implements(np.take)
def take(a, indices, axis=None, out=None, mode="raise"):
    refuse_out("take", out)
    x, axis = _along(asarray(a), axis)
    given = isinstance(indices, (np.ndarray, Tracer))
    indices = asarray(indices)
    if indices.dtype.kind not in "iu":
        if given and indices.dtype.kind != "b":  # lists are cast, as NumPy does
            raise TypeError(
                f"Cannot cast array data from {indices.dtype!r} to dtype('int64') by the rule 'same_kind'"
            )
        indices = indices.astype(np.intp)
    if mode == "wrap":
        indices = indices % x.shape[axis]
    elif mode == "clip":
        indices = np.minimum(np.maximum(indices, 0), x.shape[axis] - 1)
    elif mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if not isinstance(x, Tracer) and isinstance(indices, Tracer):
        template = (*[slice(None)] * axis, ARRAY)
        return prims.gather(x, indices, template=template, unique=False)
    return own_box(_at(x, axis, indices))  # NumPy makes a copy


@implements(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    x, indices = asarray(arr), asarray(indices)
    if axis is None:
        x, axis = np.ravel(x), 0
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return along_axis(x, indices, axis, unique=False)


def along_axis(x: Any, indices: Any, axis: int, unique: bool) -> Any:
    """`take_along_axis`; `unique` if the indices are all different, as those that sort are."""
    return prims.gather(x, *along_index(x, indices, axis), template=(ARRAY,) * x.ndim, unique=unique)


def along_index(x: Any, indices: Any, axis: int) -> tuple:
    """The index that names, along one axis, the entries that `take_along_axis` takes."""
    axis = normalize_axis_index(operator.index(axis), x.ndim)
    return tuple(
        indices if i == axis else np.arange(n).reshape((n,) + (1,) * (x.ndim - i - 1))
        for i, n in enumerate(x.shape)
    )


@implements(np.compress)
def compress(condition, a, axis=None, out=None):
    refuse_out("compress", out)
    x, axis = _along(asarray(a), axis)
    condition = asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    (places,) = prims.nonzero(condition)
    template = (*[slice(None)] * axis, ARRAY)
    return prims.gather(x, places, template=template, unique=True)


@implements(np.extract)
def extract(condition, arr):
    (places,) = prims.nonzero(np.ravel(asarray(condition)))
    return prims.gather(np.ravel(asarray(arr)), places, template=(ARRAY,), unique=True)


@implements(np.choose)
def choose(a, choices, out=None, mode="raise"):
    refuse_out("choose", out)
    which = asarray(a)
    if which.dtype.kind not in "iub":
        np.choose(np.zeros(0, which.dtype), [np.zeros(0)])  # NumPy's error
    arrays = np.broadcast_arrays(which, *[asarray(c) for c in choices])
    which, choices = arrays[0], arrays[1:]
    if which.dtype.kind == "b":  # these are the numbers 0 and 1, and no mask
        which = which.astype(np.intp)
    n = len(choices)
    if mode == "wrap":
        which = which % n
    elif mode == "clip":
        which = np.minimum(np.maximum(which, 0), n - 1)
    elif not isinstance(which, Tracer) and np.any((which < 0) | (which >= n)):
        raise ValueError("invalid entry in choice array")
    return along_axis(np.stack(choices), np.expand_dims(which, 0), 0, unique=True)[0]


# ---- diagonals and triangles ---------------------------------------------------------------


@implements(np.diagonal)
def diagonal(a, offset=0, axis1=0, axis2=1):
    x = asarray(a)
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axes = [normalize_axis_index(operator.index(i), x.ndim) - x.ndim for i in (axis1, axis2)]
    if axes[0] == axes[1]:
        raise ValueError("axis1 and axis2 cannot be the same")
    return shaping.diagonal(x, offset=operator.index(offset), axis1=axes[0], axis2=axes[1])


@implements(np.linalg.diagonal)
def linalg_diagonal(x, /, *, offset=0):
    return diagonal(x, offset, -2, -1)


@implements(np.diag)
def diag(v, k=0):
    x = asarray(v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    k = operator.index(k)
    n = x.shape[0] + abs(k)
    return shaping.from_diagonal(x, shape=(n, n), offset=k)


@implements(np.diagflat)
def diagflat(v, k=0):
    return diag(np.ravel(asarray(v)), k)


@implements(np.tril)
def tril(m, k=0):
    x = asarray(m)
    return np.where(np.tri(*x.shape[-2:], k=k, dtype=bool), x, np.zeros(1, x.dtype))


@implements(np.triu)
def triu(m, k=0):
    x = asarray(m)
    return np.where(np.tri(*x.shape[-2:], k=k - 1, dtype=bool), np.zeros(1, x.dtype), x)


# ---- indices as results --------------------------------------------------------------------


@implements(np.nonzero)
def nonzero(a):
    x = asarray(a)
    if x.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero().")
    return prims.nonzero(x)


@implements(np.flatnonzero)
def flatnonzero(a):
    return prims.nonzero(np.ravel(asarray(a)))[0]


@implements(np.argwhere)
def argwhere(a):
    x = asarray(a)
    if x.ndim == 0:
        return argwhere(np.atleast_1d(x))[:, :0]
    return np.stack(prims.nonzero(x), -1)


@implements(np.ix_)
def ix_(*args):
    out = []
    for i, a in enumerate(args):
        a = asarray(a)
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.dtype.kind == "b":
            (a,) = prims.nonzero(a)
        out.append(np.reshape(a, (1,) * i + (-1,) + (1,) * (len(args) - i - 1)))
    return tuple(out)


def _shape_of(function: Callable) -> Callable:
    """NumPy's function, of which only the shape of the array matters."""

    def from_shape(arr, *args, **kwargs):
        like = np.broadcast_to(np.zeros(()), asarray(arr).shape)
        return function(like, *args, **kwargs)

    from_shape.__name__ = function.__name__
    return implements(function)(from_shape)


diag_indices_from = _shape_of(np.diag_indices_from)
tril_indices_from = _shape_of(np.tril_indices_from)
triu_indices_from = _shape_of(np.triu_indices_from)


@implements(np.unravel_index)
def unravel_index(indices, shape, order="C"):
    rest = asarray(indices)
    places = []
    for n in reversed(shape) if order == "C" else shape:
        rest, place = rest // n, rest % n
        places.append(place)
    return tuple(places[::-1] if order == "C" else places)


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    flat, stride = 0, 1
    parts = list(zip(multi_index, dims, modes))
    for place, n, way in reversed(parts) if order == "C" else parts:
        if way == "wrap":
            place = place % n
        elif way == "clip":
            place = np.minimum(np.maximum(place, 0), n - 1)
        flat = flat + place * stride
        stride *= n
    return flat


# ---- windows -------------------------------------------------------------------------------


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Windows as a copy, in place of NumPy's view: their entries are read, and shares of them added up."""
    x = windows = asarray(x)
    lengths = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    like = np.broadcast_to(np.zeros(()), x.shape)
    np.lib.stride_tricks.sliding_window_view(like, lengths, axis)  # NumPy's error, if they do not fit
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    for i, length in zip(axes, lengths):
        places = np.arange(windows.shape[i] - length + 1)[:, None] + np.arange(length)
        windows = np.moveaxis(np.take(windows, places, i), i + 1, -1)
    link(x, windows)
    return windows
