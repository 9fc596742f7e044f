"""`np.piecewise`: functions of the parts of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad.numpy.arguments import numbers_of
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.ufuncs import cast
from funcgrad.numpy.updates import index_update


@implements(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    x = asarray(x)
    if np.isscalar(condlist) or (x.ndim and not isinstance(condlist[0], (list, np.ndarray, Tracer))):
        condlist = [condlist]  # a single one
    conditions = [c if c.dtype == bool else c != 0 for c in map(asarray, condlist)]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.logical_or.reduce(np.stack(conditions)))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
            "functions are expected"
        )
    shape, x = x.shape, np.atleast_1d(x)
    result = np.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        condition = np.atleast_1d(condition)
        if not callable(function):
            result = _replaced(result, condition, function)
        elif isinstance(concrete(condition), Tracer):
            result = np.where(condition, _of_all(function, x, args, kw), result)
        elif (part := x[condition]).size:
            result = index_update(result, condition, function(part, *args, **kw))
    return np.reshape(result, shape)


def _replaced(x: Any, condition: Any, value: Any) -> Any:
    if isinstance(concrete(condition), Tracer):
        return np.where(condition, _as(x.dtype, value), x)
    return index_update(x, condition, value)


def _of_all(function: Callable, x: Any, args: tuple, kw: dict) -> Any:
    """A function of the whole array, where each member of a batch has its own part of it.

    That is the same if it works entry by entry; whether it does is tried with a part of one entry.
    """
    first = (slice(0, 1),) * x.ndim
    with np.errstate(all="ignore"):  # of entries that are not in the part
        out = asarray(function(x, *args, **kw))
        alone = function(stop_gradient_leaf(x)[first], *args, **kw)
    if out.shape != x.shape and out.ndim:
        out = np.broadcast_to(out, x.shape)
    whole, alone = [numbers_of(asarray(y)) for y in (out if not out.ndim else out[first], alone)]
    if whole is not None and alone is not None and not np.allclose(whole, alone, equal_nan=True):
        cure = "Give functions that work entry by entry, or select with np.where(condition, f(x), g(x))."
        what = "a function that mixes the entries of its part, in a batch,"
        raise errors.UnsupportedArgumentError("piecewise", what, describe(*caller(3)), cure)
    return _as(x.dtype, out)


def _as(dtype: np.dtype, value: Any) -> Any:
    value = asarray(value)
    if not np.can_cast(value.dtype, dtype, "same_kind"):
        raise TypeError(f"Cannot cast values from {value.dtype!r} to {dtype!r} with casting rule 'same_kind'")
    return cast(value, dtype)
