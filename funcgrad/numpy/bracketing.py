"""What NumPy builds in brackets, of traced values too: ``r_[x, 0.0]``, ``c_[x, y]``, ``mgrid[0:b:5j]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad.numpy.creation import asarray, has_tracer
from funcgrad.numpy.joining import concatenate
from funcgrad.numpy.sequences import arange, linspace
from funcgrad.numpy.shaping import reshape, swapaxes, transpose
from funcgrad.numpy.ufuncs import cast, result_type


def _traced(key: Any) -> bool:
    """Whether a traced value is in an index, be it as a bound of a slice."""
    if isinstance(key, slice):
        return has_tracer((key.start, key.stop, key.step))
    return any(map(_traced, key)) if isinstance(key, tuple) else has_tracer(key)


def _sequence(part: slice) -> Any:
    """The numbers that a slice stands for: an imaginary step says how many."""
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    if isinstance(step, (complex, np.complexfloating)):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Joined:
    """`r_` and `c_`."""

    def __init__(self, plain: Any, ndmin: int = 1, placed: int = -1, axis: int = 0):
        self._plain = plain
        self._defaults = axis, ndmin, placed
        self.__doc__ = plain.__doc__

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        if not _traced(key):
            return self._plain[key]
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, placed = self._defaults
        if isinstance(parts[0], str):
            axis, ndmin, placed = _directions(parts[0], self._defaults)
            parts = parts[1:]
        dtype = result_type(*[p if np.isscalar(p) else _array(p) for p in parts])
        return concatenate([cast(_with_axes(p, ndmin, placed), dtype) for p in parts], axis)


def _array(part: Any) -> Any:
    return _sequence(part) if isinstance(part, slice) else asarray(part)


def _with_axes(part: Any, ndmin: int, placed: int) -> Any:
    """A part with at least `ndmin` axes, its own ones from `placed` on."""
    x = _array(part)
    if isinstance(part, slice):
        x = reshape(x, (1,) * (ndmin - 1) + x.shape)
        return swapaxes(x, -1, placed) if ndmin > 1 and placed != -1 else x
    new = ndmin - x.ndim
    if new <= 0:
        return x
    own, x = x.ndim, reshape(x, (1,) * new + x.shape)
    if placed == -1 or not own:
        return x
    first = placed if placed >= 0 else placed + new + 1
    axes = list(range(ndmin))
    return transpose(x, axes[:first] + axes[new:] + axes[first:new])


def _directions(text: str, defaults: tuple[int, int, int]) -> tuple[int, ...]:
    if text in ("r", "c"):
        cure = "Write np.r_[x, y] without it: matrices multiply in another way."
        raise errors.UnsupportedArgumentError("r_", f"{text!r}", describe(*caller(3)), cure)
    numbers = [int(n) for n in text.split(",")]
    return (*numbers, *defaults[len(numbers) :])


class _Grid:
    """`mgrid` and `ogrid`."""

    def __init__(self, plain: Any, sparse: bool):
        self._plain, self._sparse = plain, sparse
        self.__doc__ = plain.__doc__

    def __getitem__(self, key: Any) -> Any:
        if not _traced(key):
            return self._plain[key]
        if isinstance(key, slice):
            return _sequence(key)
        axes = [_sequence(part) for part in key]
        dtype = result_type(*axes)
        grids = np.meshgrid(*[cast(x, dtype) for x in axes], indexing="ij", sparse=self._sparse)
        return tuple(grids) if self._sparse else np.stack(grids)


r_ = _Joined(np.r_)
c_ = _Joined(np.c_, ndmin=2, placed=0, axis=-1)
mgrid = _Grid(np.mgrid, sparse=False)
ogrid = _Grid(np.ogrid, sparse=True)


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """As `numpy.fromiter`, of numbers that may be traced.

    Args:
        iter, dtype, count, like: as for `numpy.fromiter`.

    Returns:
        A one-dimensional array, traced if a number is.

    Raises:
        ValueError: there are fewer than `count`.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: np.sum(np.fromiter((x**k for k in range(4)), float)))(2.0)
    np.float64(17.0)
    """
    numbers = list(iter) if count < 0 else [x for _, x in zip(range(count), iter)]
    if not any(isinstance(x, Tracer) for x in numbers):
        return np.fromiter(numbers, dtype, count)
    if len(numbers) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(numbers)} items.")
    return cast(np.stack([asarray(x) for x in numbers]), dtype)
