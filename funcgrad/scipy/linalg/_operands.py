"""What SciPy's functions are given, in the strict form that primitives take; loops over stacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.numpy.creation import asarray
from funcgrad.scipy._values import known


def array(x: Any, check_finite: bool = False) -> Any:
    """An array of floating-point or complex numbers; SciPy's error where it is not finite."""
    x = asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    if check_finite:
        value = known(x)
        if value is not None and not np.all(np.isfinite(value)):
            raise ValueError("array must not contain infs or NaNs")
    return x


def matrices(a: Any, check_finite: bool = False, square: bool = True) -> Any:
    """The argument as (a stack of) matrices."""
    a = array(a, check_finite)
    if a.ndim < 2:
        raise ValueError(f"expected at least two axes, found {a.ndim}")
    if square and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected square matrices, found shape {a.shape}")
    return a


def columns(b: Any, n: int, check_finite: bool = False) -> tuple[Any, bool]:
    """Right-hand sides as columns of matrices with `n` rows, and whether there was but one, without axis."""
    b = array(b, check_finite)
    if b.ndim == 0:
        raise ValueError("a right-hand side needs at least one axis")
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.shape[-2] != n:
        raise ValueError(f"incompatible shapes: {n} equations, right-hand side {b.shape}")
    return b, vector


def over_stack(function: Callable, cores: Sequence[int], *arrays: Any) -> Any:
    """A function of single matrices on stacks of them, which broadcast but for the last `cores` axes.

    A result of an empty stack is found from members of ones.
    """
    split = [(a.shape[: a.ndim - core], a.shape[a.ndim - core :]) for a, core in zip(arrays, cores)]
    stack = np.broadcast_shapes(*[front for front, _ in split])
    if not stack:
        return function(*arrays)
    if math.prod(stack):
        arrays = [np.broadcast_to(a, stack + core) for a, (_, core) in zip(arrays, split)]
        results = [function(*[a[i] for a in arrays]) for i in np.ndindex(stack)]
    else:
        results = [function(*[_identity(core, a.dtype) for a, (_, core) in zip(arrays, split)])]
    if isinstance(results[0], tuple):
        return tuple([_stacked(part, stack) for part in zip(*results)])
    return _stacked(results, stack)


def _stacked(results, stack):
    if not math.prod(stack):
        return np.zeros(stack + np.shape(results[0]), np.asarray(results[0]).dtype)
    return np.reshape(np.stack(results), stack + np.shape(results[0]))


def _identity(shape, dtype):
    """A member that any solver takes."""
    return np.eye(*shape, dtype=dtype) if len(shape) == 2 else np.eye(1, *shape, dtype=dtype)[0]
