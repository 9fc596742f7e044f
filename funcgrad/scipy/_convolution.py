"""Convolution over several axes, and padding by index: what filters are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import linear

_FEW = 8  # so many passes over an array are always faster than Fourier transforms
_CACHED = 1 << 14  # entries that are worked on at a time


@linear
def convolve_axes(a, v, *, ndim, valid):
    """Convolution over the last `ndim` axes; those before broadcast.

    Every place where `a` and `v` overlap; with `valid` those with all of `v`, which along no axis is longer.
    Computed by sums of shifted arrays, or by Fourier transforms where these take fewer operations.
    """
    stack = np.broadcast_shapes(a.shape[:-ndim], v.shape[:-ndim])
    size, width = a.shape[-ndim:], v.shape[-ndim:]
    out = tuple([n - m + 1 if valid else n + m - 1 for n, m in zip(size, width)])
    dtype = np.result_type(a, v)
    if 0 in size or 0 in width or 0 in stack:
        return np.zeros(stack + tuple([max(n, 0) for n in out]), dtype)
    few, many = sorted((math.prod(width), math.prod(out)))
    whole = math.prod(size) if valid else math.prod(out)
    if few > _FEW and dtype.kind in "fc" and few * many > 40 * whole * math.log2(whole + 1):
        return _by_transforms(a, v, ndim, valid, size, width, dtype)
    if ndim == 1 and not stack:
        return np.convolve(a, v, "valid" if valid else "full")
    if not valid:
        a = np.pad(a, [(0, 0)] * (a.ndim - ndim) + [(m - 1, m - 1) for m in width])
    a, kernel = np.ascontiguousarray(a), _turned(v, ndim)
    result = np.zeros(stack + out, dtype)
    if kernel.ndim > ndim or a.ndim == ndim:
        _add_sums(a, kernel, result, ndim, width, out)
        return result
    # part by part, so that what is read again and again stays in the cache
    parts, sums = a.reshape(-1, *a.shape[-ndim:]), result.reshape(-1, *out)
    step = max(_CACHED // max(math.prod(a.shape[-ndim:]), 1), 1)
    for start in range(0, len(parts), step):
        _add_sums(parts[start : start + step], kernel, sums[start : start + step], ndim, width, out)
    return result


def _add_sums(a, kernel, result, ndim, width, out):
    """Add to `result` the sums of windows of `a`, weighted by a kernel."""
    if math.prod(width) <= math.prod(out):
        product = np.empty(result.shape, result.dtype)
        for at in np.ndindex(*width):
            window = tuple([slice(i, i + n) for i, n in zip(at, out)])
            weight = kernel[(..., *[slice(i, i + 1) for i in at])]
            np.multiply(weight, a[(..., *window)], out=product)
            result += product
    else:
        axes = tuple(range(-ndim, 0))
        for at in np.ndindex(*out):
            window = tuple([slice(i, i + m) for i, m in zip(at, width)])
            result[(..., *at)] = np.add.reduce(kernel * a[(..., *window)], axis=axes)


def _by_transforms(a, v, ndim, valid, size, width, dtype):
    axes = tuple(range(-ndim, 0))
    length = [_smooth(n + m - 1) for n, m in zip(size, width)]
    forth, back = (np.fft.fftn, np.fft.ifftn) if dtype.kind == "c" else (np.fft.rfftn, np.fft.irfftn)
    out = back(forth(a, length, axes) * forth(v, length, axes), length, axes)
    first = [m - 1 if valid else 0 for m in width]
    last = [n if valid else n + m - 1 for n, m in zip(size, width)]
    return out[(..., *[slice(i, j) for i, j in zip(first, last)])].astype(dtype)


def _smooth(n: int) -> int:
    """The next number whose only prime factors are 2, 3 and 5, of which transforms are fast."""
    while True:
        rest = n
        for p in (2, 3, 5):
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


def _turned(x: Any, ndim: int) -> Any:
    return x[(..., *[slice(None, None, -1)] * ndim)]


@convolve_axes.transpose("a")
def _transpose_a(g, v, a_shape, *, ndim, valid):
    return fit(convolve_axes(g, _turned(v, ndim), ndim=ndim, valid=not valid), a_shape, None)


@convolve_axes.transpose("v")
def _transpose_v(g, a, v_shape, *, ndim, valid):
    if valid:
        share = _turned(convolve_axes(a, _turned(g, ndim), ndim=ndim, valid=True), ndim)
    else:
        share = convolve_axes(g, _turned(a, ndim), ndim=ndim, valid=True)
    return fit(share, v_shape, None)


@convolve_axes.batching
def _batch(values, batched, *, ndim, valid):
    return batch_leading(convolve_axes, (ndim, ndim))(values, batched, ndim=ndim, valid=valid)


# ---- padding -------------------------------------------------------------------------------


def places(n: int, before: int, after: int, mode: str) -> np.ndarray:
    """From where along an axis of length n a padded array is read.

    Modes are NumPy's 'edge', 'wrap', 'symmetric' and 'reflect'; any width is allowed.
    """
    i = np.arange(-before, n + after)
    if mode == "edge" or n == 1:
        return np.clip(i, 0, n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    i = i % (2 * n - 2)
    return np.where(i < n, i, 2 * n - 2 - i)


def padded(x: Any, before: int, after: int, mode: str, value: Any = 0.0, axis: int = -1) -> Any:
    """An array with more entries along one axis, by `places`, or of a 'constant' value."""
    if not before and not after:
        return x
    if mode == "constant":
        width = [(0, 0)] * x.ndim
        width[axis] = before, after
        if isinstance(value, (int, float)) and value == 0:
            return np.pad(x, width)
        return np.pad(x, width, constant_values=value)
    return np.take(x, places(x.shape[axis], before, after, mode), axis=axis)


def cropped(x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The middle part of an array, of these lengths along some axes."""
    index = [slice(None)] * x.ndim
    for axis, n in zip(axes, shape):
        start = (x.shape[axis] - n) // 2
        index[axis] = slice(start, start + n)
    return x[tuple(index)]
