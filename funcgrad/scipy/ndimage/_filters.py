"""Filters by windows: weighted sums, and selections of their values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from funcgrad._core.tracer import Tracer
from funcgrad.numpy.arguments import negative_axis, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import convolve_axes
from funcgrad.scipy._windows import ranked, shifted
from funcgrad.scipy.ndimage._common import chosen_axes, extended, finished, floats, per_axis, reach, target

# ---- weighted sums -------------------------------------------------------------------------


def _weights(weights: Any, x: Any) -> Any:
    """Weights of which plain ones have the precision of the image."""
    weights = asarray(weights)
    if isinstance(weights, Tracer) or weights.dtype.kind == "c":
        return weights if weights.dtype.kind in "fc" else weights.astype(np.float64)
    return weights.astype(np.finfo(x.dtype).dtype)


def weighted(x: Any, weights: Any, axes: tuple[int, ...], mode: Any, cval: Any, origin: Any) -> Any:
    """The sums of windows along some axes, by weights with as many."""
    weights = _weights(weights, x)
    if weights.ndim != len(axes) or 0 in weights.shape:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})")
    widths = [reach(n, o) for n, o in zip(weights.shape, per_axis(origin, len(axes)))]
    if not x.size:
        return x
    x = extended(x, widths, mode, cval, axes)
    last = tuple(range(-len(axes), 0))
    x = np.moveaxis(x, axes, last) if axes != last else x
    flipped = weights[(slice(None, None, -1),) * weights.ndim]
    out = convolve_axes(x, flipped, ndim=len(axes), valid=True)
    return np.moveaxis(out, last, axes) if axes != last else out


def _turned(weights: Any, origin: Any) -> tuple[Any, list]:
    """The weights and origins of a correlation that is a convolution."""
    weights = asarray(weights)
    origins = [-o - (n % 2 == 0) for n, o in zip(weights.shape, per_axis(origin, weights.ndim))]
    return weights[(slice(None, None, -1),) * weights.ndim], origins


def _conjugate(weights: Any) -> Any:
    weights = asarray(weights)
    return np.conj(weights) if weights.dtype.kind == "c" else weights


@implements(ndimage.correlate1d)
def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x = floats(input)
    axis = negative_axis(axis, x.ndim)
    out = weighted(x, _conjugate(weights), (axis,), mode, cval, origin)
    return finished("correlate1d", out, asarray(input).dtype, output)


@implements(ndimage.convolve1d)
def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x = floats(input)
    weights, origin = _turned(weights, origin)
    out = weighted(x, weights, (negative_axis(axis, x.ndim),), mode, cval, origin)
    return finished("convolve1d", out, asarray(input).dtype, output)


@implements(ndimage.correlate)
def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x = floats(input)
    out = weighted(x, _conjugate(weights), chosen_axes(axes, x.ndim), mode, cval, origin)
    return finished("correlate", out, asarray(input).dtype, output)


@implements(ndimage.convolve)
def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x = floats(input)
    weights, origins = _turned(weights, origin)
    out = weighted(x, weights, chosen_axes(axes, x.ndim), mode, cval, origins)
    return finished("convolve", out, asarray(input).dtype, output)


@implements(ndimage.uniform_filter1d)
def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    if size < 1:
        raise RuntimeError("incorrect filter size")
    x = floats(input)
    out = weighted(x, np.ones(size), (negative_axis(axis, x.ndim),), mode, cval, origin) / size
    return finished("uniform_filter1d", out, asarray(input).dtype, output)


@implements(ndimage.uniform_filter)
def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    x, dtype = asarray(input), target("uniform_filter", input, output)
    axes = chosen_axes(axes, x.ndim)
    parts = [per_axis(v, len(axes)) for v in (size, mode, origin)]
    for axis, n, how, o in zip(axes, *parts):
        if n > 1:
            x = uniform_filter1d(x, int(n), axis, dtype, how, cval, o)
    return finished("uniform_filter", x, dtype, None)


# ---- Gaussians -----------------------------------------------------------------------------


def _gaussian(sigma: Any, order: int, radius: int) -> Any:
    """The weights of a derivative of the Gaussian: (-1/sigma)^n He_n(x/sigma) times its values.

    He are Hermite's polynomials, He_(n+1) = x He_n - n He_(n-1).
    """
    x = np.arange(-radius, radius + 1) / sigma
    values = np.exp(-0.5 * (x * x))
    values = values / np.sum(values)
    if not order:
        return values
    before, polynomial = 1.0, x
    for n in range(1, order):
        before, polynomial = polynomial, x * polynomial - n * before
    return values * polynomial * (-1 / sigma) ** order


@implements(ndimage.gaussian_filter1d)
def gaussian_filter1d(input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *,
                      radius=None):  # fmt: skip
    if order < 0:
        raise ValueError("order must be non-negative")
    if radius is None:
        radius = int(truncate * (sigma if isinstance(sigma, Tracer) else float(sigma)) + 0.5)
    if radius < 0 or int(radius) != radius:
        raise ValueError("Radius must be a nonnegative integer.")
    weights = _gaussian(sigma, order, int(radius))
    return correlate1d(input, weights[::-1], axis, output, mode, cval)


@implements(ndimage.gaussian_filter)
def gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *,
                    radius=None, axes=None):  # fmt: skip
    x, dtype = asarray(input), target("gaussian_filter", input, output)
    axes = chosen_axes(axes, x.ndim)
    parts = [per_axis(v, len(axes)) for v in (sigma, order, mode, radius)]
    for axis, s, n, how, r in zip(axes, *parts):
        if isinstance(s, Tracer) or s > 1e-15:
            x = gaussian_filter1d(x, s, axis, n, dtype, how, cval, truncate, radius=r)
    return finished("gaussian_filter", x, dtype, None)


@implements(ndimage.generic_laplace)
def generic_laplace(input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(),
                    extra_keywords=None, *, axes=None):  # fmt: skip
    x, dtype = asarray(input), target("generic_laplace", input, output)
    axes, total = chosen_axes(axes, x.ndim), None
    for axis, how in zip(axes, per_axis(mode, len(axes))):
        part = derivative2(x, axis, dtype, how, cval, *extra_arguments, **(extra_keywords or {}))
        total = part if total is None else total + part
    return finished("generic_laplace", x if total is None else total, dtype, None)


@implements(ndimage.laplace)
def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    def second(x, axis, output, mode, cval):
        return correlate1d(x, [1, -2, 1], axis, output, mode, cval)

    return generic_laplace(input, second, target("laplace", input, output), mode, cval, axes=axes)


def _derived(sigma: Any, axes: tuple[int, ...], order: int, options: dict):
    """The derivative of a smoothed image along one of its axes."""

    def derivative(x, axis, output, mode, cval):
        orders = [order * (a == axis) for a in axes]
        return gaussian_filter(x, sigma, orders, output, mode, cval, axes=axes, **options)

    return derivative


@implements(ndimage.gaussian_laplace)
def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    chosen = chosen_axes(axes, asarray(input).ndim)
    dtype = target("gaussian_laplace", input, output)
    return generic_laplace(input, _derived(sigma, chosen, 2, kwargs), dtype, mode, cval, axes=chosen)


@implements(ndimage.generic_gradient_magnitude)
def generic_gradient_magnitude(input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(),
                               extra_keywords=None, *, axes=None):  # fmt: skip
    x, dtype = asarray(input), target("generic_gradient_magnitude", input, output)
    axes = chosen_axes(axes, x.ndim)
    parts = [
        derivative(x, axis, dtype, how, cval, *extra_arguments, **(extra_keywords or {}))
        for axis, how in zip(axes, per_axis(mode, len(axes)))
    ]
    out = np.linalg.norm(np.stack(parts), axis=0) if parts else x  # its derivative at 0 is 0
    return finished("generic_gradient_magnitude", out, dtype, None)


@implements(ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    chosen = chosen_axes(axes, asarray(input).ndim)
    return generic_gradient_magnitude(
        input, _derived(sigma, chosen, 1, kwargs), output, mode, cval, axes=chosen
    )


def _edges(name: str, smoothing: list):
    def edges(input, axis=-1, output=None, mode="reflect", cval=0.0):
        x, dtype = asarray(input), target(name, input, output)
        along, modes = negative_axis(axis, x.ndim), per_axis(mode, x.ndim)
        x = correlate1d(x, [-1, 0, 1], along, dtype, modes[along], cval)
        for i in range(-x.ndim, 0):
            if i != along:
                x = correlate1d(x, smoothing, i, dtype, modes[i], cval)
        return x

    return edges


sobel = implements(ndimage.sobel)(_edges("sobel", [1, 2, 1]))
prewitt = implements(ndimage.prewitt)(_edges("prewitt", [1, 1, 1]))

# ---- selections ----------------------------------------------------------------------------


def _real(input: Any) -> Any:
    x = asarray(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    return x


def _extended(x: Any, footprint: Any, axes: tuple[int, ...], mode: Any, cval: Any, origin: Any) -> Any:
    widths = [reach(n, o) for n, o in zip(footprint.shape, per_axis(origin, len(axes)))]
    return extended(x, widths, mode, cval, axes)


def windows(x: Any, footprint: Any, axes: tuple[int, ...], mode: Any, cval: Any, origin: Any) -> Any:
    """The values within a footprint about each sample, along a new first axis."""
    return np.stack(shifted(_extended(x, footprint, axes, mode, cval, origin), footprint, axes, x.shape))


def _footprint(size: Any, footprint: Any, count: int) -> np.ndarray:
    if footprint is not None:
        footprint = np.asarray(footprint, dtype=bool)
        if footprint.ndim != count:
            raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({count})")
        if not footprint.any():
            raise ValueError("All-zero footprint is not supported.")
        return footprint
    if size is None:
        raise RuntimeError("no footprint or filter size provided")
    return np.ones([int(n) for n in per_axis(size, count)], bool)


def _extremes(reduce: Any, name: str):
    def extreme(
        input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None
    ):
        x = _real(input)
        axes = chosen_axes(axes, x.ndim)
        footprint = _footprint(size, footprint, len(axes))
        if not footprint.all():
            x = reduce(windows(x, footprint, axes, mode, cval, origin), axis=0)
        else:
            modes, origins = per_axis(mode, len(axes)), per_axis(origin, len(axes))
            for axis, n, how, o in zip(axes, footprint.shape, modes, origins):
                if n > 1:
                    x = reduce(windows(x, np.ones(n, bool), (axis,), how, cval, o), axis=0)
        return finished(name, x, asarray(input).dtype, output)

    def extreme1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        axes = (negative_axis(axis, asarray(input).ndim),)
        return extreme(input, size, None, output, mode, cval, origin, axes=axes)

    return extreme, extreme1d


maximum_filter, maximum_filter1d = _extremes(np.max, "maximum_filter")
minimum_filter, minimum_filter1d = _extremes(np.min, "minimum_filter")
for _own, _ours in (
    (ndimage.maximum_filter, maximum_filter),
    (ndimage.maximum_filter1d, maximum_filter1d),
    (ndimage.minimum_filter, minimum_filter),
    (ndimage.minimum_filter1d, minimum_filter1d),
):
    implements(_own)(_ours)


def _ranked(input, rank_of, size, footprint, output, mode, cval, origin, axes):
    x = _real(input)
    axes = chosen_axes(axes, x.ndim)
    footprint = _footprint(size, footprint, len(axes))
    count = int(np.sum(footprint))
    rank = rank_of(count)
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    wide = _extended(x, footprint, axes, mode, cval, origin)
    return finished("rank_filter", ranked(wide, footprint, axes, x.shape, rank), x.dtype, output)


@implements(ndimage.rank_filter)
def rank_filter(input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *,
                axes=None):  # fmt: skip
    def rank_of(count):
        return rank + count if rank < 0 else rank

    return _ranked(input, rank_of, size, footprint, output, mode, cval, origin, axes)


@implements(ndimage.median_filter)
def median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *,
                  axes=None):  # fmt: skip
    return _ranked(input, lambda count: count // 2, size, footprint, output, mode, cval, origin, axes)


@implements(ndimage.percentile_filter)
def percentile_filter(input, percentile, size=None, footprint=None, output=None, mode="reflect", cval=0.0,
                      origin=0, *, axes=None):  # fmt: skip
    refuse_traced("scipy.ndimage.percentile_filter", "percentile", percentile)
    share = percentile + 100 if percentile < 0 else percentile
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")

    def rank_of(count):
        return count - 1 if share == 100 else int(count * share / 100)

    return _ranked(input, rank_of, size, footprint, output, mode, cval, origin, axes)


# ---- in the frequency domain ---------------------------------------------------------------


def _multiplier(own: Any, name: str):
    """The functions that multiply a spectrum by a constant one."""

    def multiplied(input, parameter, n=-1, axis=-1, output=None):
        refuse_traced(f"scipy.ndimage.{own.__name__}", name, parameter)
        x = asarray(input)
        x = x if x.dtype.kind in "fc" else x.astype(np.float64)
        factor = own(np.ones(x.shape), parameter, n, axis)
        dtype = x.dtype if x.dtype.kind == "c" or factor.dtype.kind != "c" else np.complex128
        factor = factor.astype(np.finfo(x.dtype).dtype) if factor.dtype.kind != "c" else factor
        return finished(own.__name__, x * factor, np.dtype(dtype), output)

    return implements(own)(multiplied)


fourier_gaussian = _multiplier(ndimage.fourier_gaussian, "sigma")
fourier_uniform = _multiplier(ndimage.fourier_uniform, "size")
fourier_ellipsoid = _multiplier(ndimage.fourier_ellipsoid, "size")
fourier_shift = _multiplier(ndimage.fourier_shift, "shift")
