"""Detrending, analytic signals, smoothing and resampling: linear in the signal, or selections from it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from scipy import signal

from funcgrad._core.tracer import concrete
from funcgrad.numpy.arguments import negative_axis, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import convolve_axes, cropped, padded
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy._windows import ranked
from funcgrad.scipy.signal._filters import filtfilt, lfilter, sosfilt, sosfiltfilt


def floats(x: Any) -> Any:
    x = asarray(x)
    return x if x.dtype.kind in "fc" and x.dtype != np.float16 else x.astype(np.float64)


def applied(matrix: np.ndarray, x: Any) -> Any:
    """A constant matrix on the last axis, in the dtype of x."""
    dtype = np.finfo(x.dtype).dtype if matrix.dtype.kind == "f" else np.result_type(x.dtype, np.complex64)
    return np.matmul(x, matrix.T.astype(dtype))


# ---- trends --------------------------------------------------------------------------------


@implements(signal.detrend)
def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    x = floats(data)
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if type in ("constant", "c"):
        return x - np.mean(x, axis=axis, keepdims=True)
    axis = negative_axis(axis, x.ndim)
    x, n = np.moveaxis(x, axis, -1), x.shape[axis]
    breaks = np.unique(np.concatenate([[0, n], np.atleast_1d(bp)]).astype(int))
    if breaks[-1] > n:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for start, stop in zip(breaks[:-1], breaks[1:]):
        line = np.stack([np.arange(1, stop - start + 1) / (stop - start), np.ones(stop - start)], axis=-1)
        part = x[..., start:stop]
        parts.append(part - applied(line, applied(np.linalg.pinv(line), part)))
    out = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
    return np.moveaxis(out, -1, axis)


# ---- analytic signals ----------------------------------------------------------------------


def _one_sided(n: int) -> np.ndarray:
    """Weights of frequencies that leave the positive ones, doubled."""
    weights = np.zeros(n)
    weights[0] = 1
    weights[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        weights[n // 2] = 1
    return weights


def _real(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    return floats(x)


@implements(signal.hilbert)
def hilbert(x, N=None, axis=-1):
    x = _real(asarray(x))
    n = x.shape[axis] if N is None else operator.index(N)
    if n <= 0:
        raise ValueError("N must be positive.")
    axis = negative_axis(axis, x.ndim)
    weights = _one_sided(n).astype(x.dtype).reshape((n,) + (1,) * (-1 - axis))
    return np.fft.ifft(np.fft.fft(x, n, axis=axis) * weights, axis=axis)


#: Whether SciPy's hilbert2 keeps the highest frequency of an even length, as it did before 1.17.
_KEEPS_HIGHEST = bool(np.any(np.abs(signal.hilbert2(np.array([[1.0, -1.0], [1.0, -1.0]]))) > 0.5))


@implements(signal.hilbert2)
def hilbert2(x, N=None, axes=(-2, -1)):
    x = _real(asarray(x))
    axes = tuple([negative_axis(a, x.ndim) for a in axes])
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError("axes must be two different ones")
    sizes = [x.shape[a] for a in axes] if N is None else [N, N] if isinstance(N, int) else list(N)
    out = np.fft.fft2(x, sizes, axes)
    for axis, n in zip(axes, sizes):
        weights = _one_sided(n)
        if n % 2 == 0 and not _KEEPS_HIGHEST:
            weights[n // 2] = 0
        out = out * weights.astype(x.dtype).reshape((n,) + (1,) * (-1 - axis))
    return np.fft.ifft2(out, sizes, axes)


# ---- smoothing -----------------------------------------------------------------------------

_SAVGOL_MODES = {"mirror": "reflect", "constant": "constant", "nearest": "edge", "wrap": "wrap"}


@implements(signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    x = asarray(x)
    x = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    if mode != "interp" and mode not in _SAVGOL_MODES:
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    refuse_traced("scipy.signal.savgol_filter", "delta", delta)
    axis = negative_axis(axis, x.ndim)
    x, n, half = np.moveaxis(x, axis, -1), x.shape[axis], window_length // 2
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta).astype(x.dtype)
    if mode != "interp":
        wide = padded(x, window_length - 1 - half, half, _SAVGOL_MODES[mode], cval)
        return np.moveaxis(convolve_axes(wide, weights, ndim=1, valid=True), -1, axis)
    if window_length > n:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    inner = convolve_axes(x, weights, ndim=1, valid=True)
    edge = _fitted(window_length, polyorder, deriv, delta)
    left = applied(edge[:half], x[..., :window_length])
    right = applied(edge[window_length - half :], x[..., n - window_length :])
    if window_length % 2 == 0:  # an even window is centred between two samples
        inner = inner[..., 1:] if inner.shape[-1] + 2 * half > n else inner
    return np.moveaxis(np.concatenate([left, inner, right], axis=-1), -1, axis)


def _fitted(n: int, order: int, deriv: int, delta: float) -> np.ndarray:
    """The matrix from n samples to the derivative, at each of them, of the polynomial through them."""
    centre = (n - 1) / 2  # powers of small numbers are well conditioned
    t = (np.arange(n) - centre) / max(centre, 1)
    powers = np.vander(t, order + 1, increasing=True)
    derived = np.zeros_like(powers)
    for k in range(deriv, order + 1):
        derived[:, k] = math.perm(k, deriv) * t ** (k - deriv)
    return derived @ np.linalg.pinv(powers) / (delta * max(centre, 1)) ** deriv


@implements(signal.order_filter)
def order_filter(a, domain, rank):
    x, domain = asarray(a), np.asarray(domain)
    if any(n % 2 != 1 for n in domain.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    if domain.ndim != x.ndim:
        raise ValueError("Domain and input must have the same number of dimensions.")
    wide = np.pad(x, [(n // 2, n // 2) for n in domain.shape])
    return ranked(wide, domain, tuple(range(-x.ndim, 0)), x.shape, rank)


def _kernel_shape(size: Any, ndim: int, default: int) -> list[int]:
    size = np.asarray(default if size is None else size)
    sizes = [int(size)] * ndim if size.ndim == 0 else [int(n) for n in size]
    if any(n % 2 != 1 for n in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    return sizes


@implements(signal.medfilt)
def medfilt(volume, kernel_size=None):
    x = np.atleast_1d(asarray(volume))
    shape = _kernel_shape(kernel_size, x.ndim, 3)
    return order_filter(x, np.ones(shape), math.prod(shape) // 2)


@implements(signal.medfilt2d)
def medfilt2d(input, kernel_size=3):
    x = asarray(input)
    shape = _kernel_shape(kernel_size, 2, 3)
    return order_filter(x, np.ones(shape), math.prod(shape) // 2)


@implements(signal.wiener)
def wiener(im, mysize=None, noise=None):
    x = floats(im)
    size = np.asarray(3 if mysize is None else mysize)
    shape = tuple([int(size)] * x.ndim if size.ndim == 0 else [int(n) for n in size])
    box, count = np.ones(shape, x.dtype), math.prod(shape)

    def averaged(y):
        whole = convolve_axes(y, box, ndim=x.ndim, valid=False)
        return cropped(whole, x.shape, tuple(range(x.ndim))) / count

    mean = averaged(x)
    spread = averaged(x * x) - mean * mean
    noise = np.mean(spread) if noise is None else noise
    low = np.less(concrete(spread), concrete(noise))
    safe = np.where(low, 1.0, spread)
    return np.where(low, mean, (x - mean) * (1 - noise / safe) + mean)


# ---- resampling ----------------------------------------------------------------------------


@implements(signal.resample)
def resample(x, num, t=None, axis=0, window=None, domain="time"):
    x = floats(x)
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter {domain=} not in ('time', 'freq')!")
    axis = negative_axis(axis, x.ndim)
    x, n = np.moveaxis(x, axis, -1), x.shape[axis]
    weights = _spectral_window(window, n)
    kept = min(num, n)
    if domain == "time" and x.dtype.kind != "c":
        spectrum = np.fft.rfft(x)
        factors = np.ones(kept // 2 + 1)
        if weights is not None:  # the mean over both signs of a frequency
            factors = (weights + weights[-np.arange(n) % n])[: kept // 2 + 1] / 2
        if kept % 2 == 0 and num != n:  # the highest frequency has no partner there, or here
            factors[-1] *= 2 if num < n else 0.5
        out = np.fft.irfft(spectrum[..., : kept // 2 + 1] * (factors * (num / n)).astype(x.dtype), num)
    else:
        spectrum = np.fft.fft(x) if domain == "time" else x
        out = np.fft.ifft(_resized(spectrum, weights, num, n, kept) * (num / n), num)
    out = np.moveaxis(out, -1, axis)
    if t is None:
        return out
    return out, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


def _spectral_window(window: Any, n: int) -> np.ndarray | None:
    if window is None:
        return None
    if callable(window):
        return np.asarray(window(np.fft.fftfreq(n)))
    if hasattr(window, "shape"):
        refuse_traced("scipy.signal.resample", "window", window)
        if window.shape != (n,):
            raise ValueError(f"the window has the shape {window.shape}, not that of {n} frequencies")
        return np.asarray(window)
    return np.fft.fftshift(signal.get_window(window, n))


def _resized(spectrum: Any, weights: Any, num: int, n: int, kept: int) -> Any:
    """A two-sided spectrum with frequencies in the middle left out, or zeros there."""
    if weights is not None:
        spectrum = spectrum * weights
    positive, negative = kept // 2 + 1, kept - kept // 2 - 1
    low, high = spectrum[..., :positive], spectrum[..., spectrum.shape[-1] - negative :]
    if kept % 2 == 0 and num < n:  # the highest of both signs become one
        low = np.concatenate(
            [low[..., :-1], low[..., -1:] + spectrum[..., n - kept // 2][..., None]], axis=-1
        )
    elif kept % 2 == 0 and num > n:
        half = low[..., -1:] / 2
        low, high = np.concatenate([low[..., :-1], half], axis=-1), np.concatenate([half, high], axis=-1)
    gap = num - low.shape[-1] - high.shape[-1]
    zeros = np.zeros(spectrum.shape[:-1] + (gap,), spectrum.dtype)
    return np.concatenate([low, zeros, high], axis=-1)


_UPFIRDN_MODES = {
    "constant": "constant",
    "wrap": "wrap",
    "edge": "edge",
    "symmetric": "symmetric",
    "reflect": "reflect",
}


@implements(signal.upfirdn)
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    h, x = asarray(h), asarray(x)
    if h.ndim != 1 or h.shape[0] == 0:
        raise ValueError("h must be 1-D with non-zero length")
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    axis = negative_axis(axis, x.ndim)
    x = np.moveaxis(x, axis, -1)
    n, taps = x.shape[-1], h.shape[0]
    length = ((n - 1) * up + taps - 1) // down + 1
    if mode == "constant" and isinstance(cval, (int, float)) and cval == 0:
        before = 0
    elif mode in _UPFIRDN_MODES:
        before = -(-(taps - 1) // up)
        x = padded(x, before, before + 1, _UPFIRDN_MODES[mode], cval)
    else:
        cure = "Extend the signal with np.pad before."
        refuse_argument("scipy.signal.upfirdn", f"mode={mode!r}", cure)
    if up > 1:
        apart = np.stack([x] + [np.zeros(x.shape, x.dtype)] * (up - 1), axis=-1)
        x = np.reshape(apart, x.shape[:-1] + (-1,))
    out = convolve_axes(x, h, ndim=1, valid=False)
    out = out[..., before * up :][..., ::down][..., :length]
    return np.moveaxis(out, -1, axis)


_BACKGROUNDS = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}


@implements(signal.resample_poly)
def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    x = asarray(x)
    if up != int(up) or down != int(down) or up < 1 or down < 1:
        raise ValueError("up and down must be integers >= 1")
    if cval is not None and padtype != "constant":
        raise ValueError(f"cval has no effect when padtype is {padtype!r}")
    common = math.gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    if up == down == 1:
        return x.copy()
    n_out = -(-x.shape[axis] * up // down)
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h = signal.firwin(2 * half + 1, 1 / max(up, down), window=window)
        h = h.astype(x.dtype) if x.dtype.kind in "fc" else h
    else:
        h = asarray(window)
        half = (h.shape[0] - 1) // 2
    h = h * up
    lead = down - half % down
    h = np.concatenate([np.zeros(lead, h.dtype), h])
    skipped = (half + lead) // down
    short = (n_out + skipped - 1) * down + 1 - ((x.shape[axis] - 1) * up + h.shape[0])
    if short > 0:
        h = np.concatenate([h, np.zeros(short, h.dtype)])
    background, mode = None, padtype
    if padtype in _BACKGROUNDS:
        background, mode = _BACKGROUNDS[padtype](x, axis=axis, keepdims=True), "constant"
        x = x - background
    out = upfirdn(h, x, up, down, axis, mode, 0 if cval is None else cval)
    keep = [slice(None)] * out.ndim
    keep[axis] = slice(skipped, skipped + n_out)
    out = out[tuple(keep)]
    return out if background is None else out + background


@implements(signal.decimate)
def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    x, q = floats(x), operator.index(q)
    every = [slice(None)] * x.ndim
    every[axis] = slice(None, None, q)
    if ftype == "fir":
        taps = 20 * q if n is None else operator.index(n)
        b = signal.firwin(taps + 1, 1 / q, window="hamming").astype(x.dtype)
        if zero_phase:
            return resample_poly(x, 1, q, axis=axis, window=b)
        every[axis] = slice(None, -(-x.shape[axis] // q))
        return upfirdn(b, x, 1, q, axis)[tuple(every)]
    if ftype == "iir":
        sos = signal.cheby1(8 if n is None else operator.index(n), 0.05, 0.8 / q, output="sos")
        sos = sos.astype(x.dtype)
        return (sosfiltfilt if zero_phase else sosfilt)(sos, x, axis)[tuple(every)]
    if not isinstance(ftype, signal.dlti):
        raise ValueError("invalid ftype")
    system = ftype.to_tf()
    return (filtfilt if zero_phase else lfilter)(system.num, system.den, x, axis)[tuple(every)]
