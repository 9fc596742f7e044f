"""Sequences between two ends, of which both may be traced: `linspace` and its like."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of
from funcgrad.numpy.arguments import numbers_of, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.ufuncs import cast, result_type


def _count(function: str, num: Any) -> int:
    refuse_traced(function, "num", num)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    return num


@implements(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    num = _count("linspace", num)
    start, stop = _end(start), _end(stop)
    kind = result_type(start, stop, float(num))
    dtype = kind if dtype is None else np.dtype(dtype)
    start, stop = asarray(start), asarray(stop)
    width = cast(stop - start, kind)
    count = num - 1 if endpoint else num
    places = np.arange(num, dtype=kind).reshape((-1,) + (1,) * width.ndim)
    step = width / count if count > 0 else np.nan
    out = places * (step if count > 0 else width) + start
    if endpoint and num > 1:
        last = np.broadcast_to(cast(stop, out.dtype), out.shape[1:])
        out = np.concatenate([out[:-1], last[None]])
    out = cast(_moved(np.floor(out) if np.issubdtype(dtype, np.integer) else out, axis), dtype)
    return (out, step) if retstep else out


def _end(x: Any) -> Any:
    """Lists as arrays; Python numbers stay weak."""
    return asarray(x) if isinstance(x, (list, tuple)) else x


def _moved(sequence: Any, axis: int) -> Any:
    return sequence if axis == 0 else np.moveaxis(sequence, 0, axis)


@implements(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if np.ndim(base):
        ends = [asarray(x) for x in (start, stop, base)]
        ndim = max(x.ndim for x in ends)
        start, stop, base = [np.reshape(x, (1,) * (ndim - x.ndim) + x.shape) for x in ends]
        base = np.expand_dims(base, axis)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    out = np.power(base, exponents)
    return out if dtype is None else cast(out, dtype)


@implements(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    num = _count("geomspace", num)
    start, stop = _end(start), _end(stop)
    kind = result_type(start, stop, float(num), np.zeros((), dtype))
    dtype = kind if dtype is None else np.dtype(dtype)
    ends = [cast(asarray(x), kind) for x in (start, stop)]
    known = [numbers_of(x) for x in ends]
    if any(x is not None and np.any(x == 0) for x in known):
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(ends[0])  # turns a sequence so that it starts at a positive number
    start, stop = [x / sign for x in ends]
    out = logspace(np.log10(start), np.log10(stop), num, endpoint, dtype=kind)
    shape = out.shape[1:]
    if num:  # the ends are exact
        parts = [np.broadcast_to(start, shape)[None], out[1:]]
        if num > 1 and endpoint:
            parts = [parts[0], out[1:-1], np.broadcast_to(stop, shape)[None]]
        out = np.concatenate(parts)
    return cast(_moved(out * sign, axis), dtype)


def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """As `numpy.arange`, with traced ends and steps: values alone decide how long it is.

    Args:
        start, stop, step, dtype, device, like: as for `numpy.arange`.

    Returns:
        A plain array if nothing is traced, else ``start + step * np.arange(n)``; the derivative with respect
        to `stop` is 0.

    Raises:
        UnknownValueError: the length is not known, under `vmap` for instance.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda h: np.sum(np.arange(0.0, 1.0, h)))(0.3)
    np.float64(6.0)
    """
    like = kwargs.pop("like", None)
    if not any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
        given = {} if like is None else {"like": like}
        return np.arange(*args, dtype=dtype, **kwargs, **given)
    start, stop, step = _bounds(*args, **kwargs)
    count = int(np.ceil((stop - start) / step))
    if dtype is None:  # NumPy's, which is not that of the sum
        dtype = np.arange(*[np.zeros((), dtype_of(x))[()] for x in (start, stop)]).dtype
    return cast(start + step * np.arange(max(count, 0)), dtype)


def _bounds(*args: Any, start: Any = 0, stop: Any = None, step: Any = 1, **kwargs: Any) -> tuple:
    """What `np.arange` takes its arguments for: one alone is where to stop."""
    if len(args) == 1 and stop is None:
        return start, args[0], step
    return (*args, *(start, stop)[len(args) :], step)[:3]
