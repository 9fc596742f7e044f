"""Updates: ``x[index] = values`` and its like as functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from funcgrad._primitives import indexing as prims
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.indexing import resolve


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
    if values.ndim:
        values = _spread(values, x, arrays, template)
    return prims.index_update(x, values, *arrays, template=template, unique=unique)


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
    values = _spread(values, x, arrays, template)
    return x + prims.scatter(values, *arrays, template=template, shape=x.shape, unique=unique)


def _prepare(x: Any, index: Any, values: Any) -> tuple:
    x, values = asarray(x), asarray(values)
    shape = x.shape
    x, arrays, template, unique = resolve(x, index)
    if x.shape != shape:
        raise IndexError("a boolean scalar is no index for an update: np.where(condition, values, x)")
    if values.dtype != x.dtype:
        if not np.can_cast(values.dtype, x.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast values from {values.dtype!r} to {x.dtype!r} with casting rule 'same_kind'"
            )
        values = values.astype(x.dtype)
    return x, arrays, template, unique, values


@functools.lru_cache(maxsize=256)
def _stand_in(shape: tuple[int, ...]) -> np.ndarray:
    """An array of a shape that takes no memory."""
    return np.broadcast_to(np.zeros(()), shape)


def _spread(values: Any, x: Any, arrays: tuple, template: Any) -> Any:
    """The values in the shape of what is read at an index."""
    places = prims.read(_stand_in(x.shape), arrays, template, True).shape
    if values.shape == places:
        return values
    while values.ndim > len(places) and values.shape[0] == 1:  # as NumPy's assignment does
        values = values[0]
    return np.broadcast_to(values, places)
