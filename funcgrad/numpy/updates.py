"""Updates: ``x[index] = values`` and its like as functions, in place of what writes in place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._primitives import indexing as prims
from funcgrad.numpy.conversions import asked_by, cure_by_function
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.indexing import resolve
from funcgrad.numpy.protocol import implements


def index_update(x: Any, index: Any, values: Any) -> Any:
    """A copy of an array with other values at an index: ``x[index] = values``, as a function.

    Args:
        x: an array.
        index: whatever ``x[index]`` takes.
        values: what is put there; it is broadcast to the shape of ``x[index]`` and cast to the dtype of
            `x`. Where an entry is named twice the last value counts.

    Returns:
        A new array of the shape and dtype of `x`; `x` stays as it is.

    Raises:
        IndexError, ValueError: as for ``x[index] = values``.
        BatchedMaskError: the index is a mask whose values are not known.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda v: np.sum(np.index_update(np.ones(3), 1, v) ** 2))(5.0)
    np.float64(10.0)
    """
    x, arrays, template, unique, values = _prepare(x, index, values)
    out = prims.index_update(x, values, *arrays, template=template, unique=unique)
    return out


def index_add(x: Any, index: Any, values: Any) -> Any:
    """A copy of an array with values added at an index: ``np.add.at(x, index, values)``, as a function.

    Args:
        x: an array.
        index: whatever ``x[index]`` takes.
        values: what is added; it is broadcast to the shape of ``x[index]`` and cast to the dtype of `x`.
            Where an entry is named twice both values are added.

    Returns:
        A new array of the shape and dtype of `x`; `x` stays as it is.

    Raises:
        IndexError, ValueError: as for ``np.add.at(x, index, values)``.
        BatchedMaskError: the index is a mask whose values are not known.

    >>> import funcgrad.numpy as np
    >>> np.index_add(np.zeros(3), [0, 0, 2], [1.0, 2.0, 3.0])
    array([3., 0., 3.])
    """
    x, arrays, template, unique, values = _prepare(x, index, values)
    return x + prims.scatter(values, *arrays, template=template, shape=x.shape, unique=unique)


def _prepare(x: Any, index: Any, values: Any) -> tuple:
    x, values = asarray(x), asarray(values)
    shape = x.shape
    x, arrays, template, unique = resolve(x, index)
    if x.shape != shape:
        raise IndexError("a boolean scalar is no index for an update: np.where(condition, values, x)")
    if not np.can_cast(values.dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast values from {values.dtype!r} to {x.dtype!r} with casting rule 'same_kind'"
        )
    if values.dtype != x.dtype:
        values = values.astype(x.dtype)
    places = prims.read(np.broadcast_to(np.zeros(()), shape), arrays, template, True).shape
    while values.ndim > len(places) and values.shape[0] == 1:  # as NumPy's assignment does
        values = values[0]
    return x, arrays, template, unique, np.broadcast_to(values, places)


# ---- what writes in place ------------------------------------------------------------------


def _refuse(function: Callable, instead: str) -> None:
    name = function.__name__

    def refused(*args, **kwargs):
        function, _ = asked_by(sys._getframe(2))  # one of NumPy's may have called this
        cure = cure_by_function(function) or instead
        raise errors.InPlaceError(f"np.{name}", describe(*caller(2)), cure)

    implements(function)(refused)


_refuse(
    np.copyto,
    "Write x = np.where(where, src, x), or np.broadcast_to(src, x.shape).",
)
_refuse(np.put, "Write np.reshape(funcgrad.numpy.index_update(np.ravel(x), indices, v), x.shape).")
_refuse(np.place, "Write np.where(mask, vals, x).")
_refuse(np.putmask, "Write np.where(mask, values, x).")
_refuse(np.put_along_axis, "Write funcgrad.numpy.index_update(x, index, values) with an index on each axis.")
_refuse(np.fill_diagonal, "Write np.where(np.eye(*x.shape, dtype=bool), value, x).")
