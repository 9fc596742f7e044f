"""Spectra: periodograms, cross spectra, short-time Fourier transforms, frequency responses."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np
from scipy import signal

from funcgrad._core.source import stacklevel
from funcgrad._core.tracer import Tracer
from funcgrad._primitives.indexing import ARRAY, scatter
from funcgrad.numpy.arguments import negative_axis, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy.signal._filters import extended
from funcgrad.scipy.signal._smoothing import detrend as detrended
from funcgrad.scipy.signal._smoothing import floats

# ---- segments ------------------------------------------------------------------------------


def _window(window: Any, nperseg: Any, n: int) -> tuple[np.ndarray, int]:
    """The window as an array, and its length, at most that of the signal."""
    if isinstance(window, (str, tuple)):
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg < 1:
            raise ValueError("nperseg must be a positive integer")
        if nperseg > n:
            warnings.warn(
                f"nperseg = {nperseg} is greater than the signal's length {n}, which is used in its place",
                stacklevel=stacklevel(),
            )
            nperseg = n
        return signal.get_window(window, nperseg), nperseg
    refuse_traced("scipy.signal: a spectrum", "window", window)
    window = np.asarray(window)
    if window.ndim != 1:
        raise ValueError("window must be 1-D")
    if n < len(window):
        raise ValueError("window is longer than input signal")
    if nperseg not in (None, len(window)):
        raise ValueError("value specified for nperseg is different from length of window")
    return window, len(window)


class _Segments:
    """How a signal along its last axis is cut into segments, and they are transformed."""

    def __init__(self, n, window, nperseg, noverlap, nfft, detrend, onesided):
        self.window, self.nperseg = _window(window, nperseg, n)
        self.nfft = self.nperseg if nfft is None else int(nfft)
        if self.nfft < self.nperseg:
            raise ValueError("nfft must be greater than or equal to nperseg.")
        self.noverlap = self.nperseg // 2 if noverlap is None else int(noverlap)
        if self.noverlap >= self.nperseg:
            raise ValueError("noverlap must be less than nperseg.")
        self.step = self.nperseg - self.noverlap
        self.detrend, self.onesided = detrend, onesided

    def frequencies(self, fs: Any) -> Any:
        return (np.fft.rfftfreq if self.onesided else np.fft.fftfreq)(self.nfft, 1 / fs)

    def starts(self, n: int) -> np.ndarray:
        return np.arange(0, n - self.nperseg + 1, self.step)

    def transform(self, x: Any) -> Any:
        """Segments in the axis before the last, frequencies in the last."""
        places = self.starts(x.shape[-1])[:, None] + np.arange(self.nperseg)
        parts = x[..., places] if self.noverlap or len(places) * self.nperseg != x.shape[-1] else np.reshape(
            x, x.shape[:-1] + places.shape
        )  # fmt: skip
        if callable(self.detrend):
            parts = self.detrend(parts)
        elif self.detrend:
            parts = detrended(parts, type=self.detrend, axis=-1)
        parts = parts * self.cast(parts.dtype)
        return (np.fft.rfft if self.onesided else np.fft.fft)(parts, self.nfft)

    def cast(self, dtype: np.dtype) -> np.ndarray:
        return self.window.astype(dtype if self.window.dtype.kind == "c" else np.finfo(dtype).dtype)

    def scale(self, scaling: str, fs: Any) -> Any:
        if scaling == "density":
            return 1.0 / (fs * float(np.sum(self.window * self.window)))
        if scaling != "spectrum":
            raise ValueError(f"Unknown scaling: {scaling!r}")
        return 1.0 / float(np.sum(self.window)) ** 2

    def doubled(self, dtype: np.dtype) -> np.ndarray:
        """Weights that count frequencies for those of the other sign, which are left out."""
        weights = np.full(self.nfft // 2 + 1, 2.0, dtype)
        weights[0] = 1
        if self.nfft % 2 == 0:
            weights[-1] = 1
        return weights


def _real_dtype(x: Any) -> np.dtype:
    return np.finfo(x.dtype).dtype


def _density(x: Any, y: Any, segments: _Segments, scaling: str, fs: Any) -> Any:
    """The cross power of two signals: segments in the axis before the last, frequencies in the last."""
    first = segments.transform(x)
    second = first if y is x else segments.transform(y)
    power = np.conj(first) * second
    power = np.real(power) if y is x else power
    power = power * _weak(segments.scale(scaling, fs))
    return power * segments.doubled(_real_dtype(power)) if segments.onesided else power


def _weak(scale: Any) -> Any:
    """A plain number as Python's, which keeps the dtype of what it scales."""
    return scale if isinstance(scale, Tracer) else float(scale)


# ---- densities -----------------------------------------------------------------------------


def _median_bias(n: int) -> float:
    """The mean of the median of n exponential variates: the alternating harmonic sum."""
    k = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return float(1 + np.sum(1 / (k + 1) - 1 / k))


def _averaged(power: Any, average: str) -> Any:
    n = power.shape[-2]
    if n == 1:
        return power[..., 0, :]
    if average == "mean":
        return np.mean(power, axis=-2)
    if average != "median":
        raise ValueError(f"Parameter {average=} must be 'median' or 'mean'!")
    if power.dtype.kind == "c":
        power = np.median(np.real(power), axis=-2) + 1j * np.median(np.imag(power), axis=-2)
    else:
        power = np.median(power, axis=-2)
    return power / _median_bias(n)


@implements(signal.csd)
def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
        return_onesided=True, scaling="density", axis=-1, average="mean"):  # fmt: skip
    same, x = y is x, floats(x)
    y = x if same else floats(y)
    axis = int(axis)
    x = np.moveaxis(x, axis, -1)
    y = x if same else np.moveaxis(y, axis, -1)
    n = max(x.shape[-1], y.shape[-1])
    if x.shape[-1] < n:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])])
    if y.shape[-1] < n:
        y = np.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, n - y.shape[-1])])
    onesided = return_onesided and x.dtype.kind != "c" and y.dtype.kind != "c"
    segments = _Segments(n, window, nperseg, noverlap, nfft, detrend, onesided)
    power = _averaged(_density(x, y, segments, scaling, fs), average)
    return segments.frequencies(fs), np.moveaxis(power, -1, axis)


@implements(signal.welch)
def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
          return_onesided=True, scaling="density", axis=-1, average="mean"):  # fmt: skip
    return csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


@implements(signal.periodogram)
def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True,
                scaling="density", axis=-1):  # fmt: skip
    x = asarray(x)
    n = x.shape[axis]
    if nfft is not None and nfft < n:
        index = [slice(None)] * x.ndim
        index[axis] = slice(None, nfft)
        x, n, nfft = x[tuple(index)], nfft, None
    window = "boxcar" if window is None else window
    return welch(x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


@implements(signal.coherence)
def coherence(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant",
              axis=-1):  # fmt: skip
    given = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis)
    frequencies, cross = csd(x, y, *given)
    size = np.real(cross * np.conj(cross))
    return frequencies, size / csd(x, x, *given)[1] / csd(y, y, *given)[1]


# ---- short-time transforms -----------------------------------------------------------------


def _times(segments: _Segments, n: int, fs: Any, boundary: Any) -> Any:
    middle = 0 if boundary is not None else segments.nperseg / 2
    return (segments.starts(n) + middle) / fs


def _placed(out: Any, axis: int) -> Any:
    """Frequencies where the signal's axis was, segments last."""
    return np.moveaxis(np.swapaxes(out, -1, -2), -2, axis - 1 if axis < 0 else axis)


def _short_time(x, fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling):
    x, axis = floats(x), int(axis)
    if onesided and x.dtype.kind == "c":
        warnings.warn("the signal is complex: return_onesided is False", stacklevel=stacklevel())
        onesided = False
    x = np.moveaxis(x, axis, -1)
    segments = _Segments(x.shape[-1], window, nperseg, noverlap, nfft, detrend, onesided)
    if boundary not in ("even", "odd", "constant", "zeros", None):
        raise ValueError(f"Unknown boundary option '{boundary}'")
    x = extended(x, segments.nperseg // 2, boundary)
    if padded:
        lacking = (-(x.shape[-1] - segments.nperseg) % segments.step) % segments.nperseg
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, lacking)])
    out = segments.transform(x) * _weak(np.sqrt(segments.scale(scaling, fs)))
    return segments, _times(segments, x.shape[-1], fs, boundary), _placed(out, axis)


@implements(signal.stft)
def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True,
         boundary="zeros", padded=True, axis=-1, scaling="spectrum"):  # fmt: skip
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    scaling = "density" if scaling == "psd" else scaling
    segments, times, out = _short_time(
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, boundary, padded, axis, scaling
    )
    return segments.frequencies(fs), times, out


@implements(signal.spectrogram)
def spectrogram(x, fs=1.0, window=("tukey", 0.25), nperseg=None, noverlap=None, nfft=None, detrend="constant",
                return_onesided=True, scaling="density", axis=-1, mode="psd"):  # fmt: skip
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(f"unknown value for mode {mode}")
    x = floats(x)
    window, nperseg = _window(window, nperseg, x.shape[axis])
    noverlap = nperseg // 8 if noverlap is None else noverlap
    if mode == "psd":
        axis, moved = int(axis), np.moveaxis(x, int(axis), -1)
        onesided = return_onesided and x.dtype.kind != "c"
        segments = _Segments(x.shape[axis], window, nperseg, noverlap, nfft, detrend, onesided)
        power = _density(moved, moved, segments, scaling, fs)
        return segments.frequencies(fs), _times(segments, moved.shape[-1], fs, None), _placed(power, axis)
    segments, times, out = _short_time(
        x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, None, False, axis, scaling
    )
    if mode == "magnitude":
        out = np.abs(out)
    elif mode != "complex":
        out = np.angle(out)
        out = out if mode == "angle" else np.unwrap(out, axis=axis - 1 if axis < 0 else axis)
    return segments.frequencies(fs), times, out


@implements(signal.istft)
def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True,
          boundary=True, time_axis=-1, freq_axis=-2, scaling="spectrum"):  # fmt: skip
    z = asarray(Zxx)
    if z.ndim < 2 or int(freq_axis) == int(time_axis):
        raise ValueError("Input stft must be at least 2d, with differing time and frequency axes!")
    time_axis, freq_axis = negative_axis(time_axis, z.ndim), negative_axis(freq_axis, z.ndim)
    z = np.moveaxis(z, (time_axis, freq_axis), (-2, -1)) + 0j
    usual = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    nperseg = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == usual + 1 else usual
    segments = _Segments(nperseg, window, nperseg, noverlap, nfft, False, input_onesided)
    parts = (np.fft.irfft if input_onesided else np.fft.ifft)(z, segments.nfft)[..., :nperseg]
    weights = segments.cast(parts.dtype)
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    gain = np.sum(weights) if scaling == "spectrum" else np.sqrt(fs * float(np.sum(weights**2)))
    parts = parts * (weights * gain)
    length = nperseg + (z.shape[-2] - 1) * segments.step
    places = segments.starts(length)[:, None] + np.arange(nperseg)
    stack = parts.shape[:-2]
    template = (*[slice(None)] * len(stack), ARRAY)
    out = scatter(parts, places, template=template, shape=(*stack, length), unique=False)
    norm = np.zeros(length, weights.dtype)
    np.add.at(norm, places.reshape(-1), np.tile(weights**2, len(places)))
    if boundary:
        edge = nperseg // 2
        out, norm = out[..., edge:-edge], norm[edge:-edge]
    if np.sum(norm > 1e-10) != len(norm):
        warnings.warn("NOLA condition failed, STFT may not be invertible.", stacklevel=stacklevel())
    out = out / np.where(norm > 1e-10, norm, 1.0)
    if out.ndim > 1:
        out = np.moveaxis(out, -1, time_axis + 1 if freq_axis > time_axis else time_axis)
    return np.arange(out.shape[0]) / float(fs), out


# ---- frequency responses -------------------------------------------------------------------


def _coefficients(p: Any) -> Any:
    p = np.atleast_1d(asarray(p))
    if p.ndim > 1:
        cure = "Pass the coefficients of one filter as a vector, and use vmap over several."
        refuse_argument("scipy.signal.freqz", "coefficients in more than one axis", cure)
    return p


def _response(p: Any, w: np.ndarray) -> Any:
    return np.matmul(np.exp(-1j * w[:, None] * np.arange(p.shape[0])), p)


def _angles(worN, whole, fs, include_nyquist):
    refuse_traced("scipy.signal.freqz", "worN", worN)
    w = signal.freqz([1.0], [1.0], worN, whole, fs=fs, include_nyquist=include_nyquist)[0]
    return w, 2 * np.pi * w / fs


@implements(signal.freqz)
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    if plot is not None:
        refuse_argument("scipy.signal.freqz", "plot=", "Leave it out, and plot what it returns.")
    b, a = _coefficients(b), _coefficients(a)
    w, angles = _angles(worN, whole, fs, include_nyquist)
    return w, _response(b, angles) / _response(a, angles)


@implements(*{getattr(signal, name) for name in ("sosfreqz", "freqz_sos") if hasattr(signal, name)})
def freqz_sos(sos, worN=512, whole=False, fs=2 * np.pi):
    sos = asarray(sos)
    w, angles = _angles(worN, whole, fs, False)
    h = 1.0
    for i in range(sos.shape[0]):
        h = h * (_response(sos[i, :3], angles) / _response(sos[i, 3:], angles))
    return w, h


# ---- chirps through the plane --------------------------------------------------------------


@implements(signal.czt)
def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1):
    if has_tracer((w, a)):
        cure = "Only the signal has a derivative: pass w and a as plain numbers."
        refuse_argument("scipy.signal.czt", "a traced w or a", cure)
    x = asarray(x)
    axis = negative_axis(axis, x.ndim)
    x, n = np.moveaxis(x, axis, -1), x.shape[axis]
    m = n if m is None else operator.index(m)
    k = np.arange(max(m, n))
    chirp = np.exp(-1j * np.pi * (k**2 % (2 * m)) / m) if w is None else w ** (k**2 / 2.0)
    size = 1 << math.ceil(math.log2(n + m - 1)) if n + m > 2 else 1
    filter = np.fft.fft(1 / np.concatenate([chirp[n - 1 : 0 : -1], chirp[:m]]), size)
    wide = x * ((1.0 * a) ** (-k[:n]) * chirp[:n])
    out = np.fft.ifft(filter * np.fft.fft(wide, size))[..., n - 1 : n + m - 1] * chirp[:m]
    return np.moveaxis(out, -1, axis)


@implements(signal.zoom_fft)
def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    if has_tracer((fn, fs)):
        refuse_argument("scipy.signal.zoom_fft", "a traced fn or fs", "Only the signal has a derivative.")
    x = asarray(x)
    m = x.shape[axis] if m is None else operator.index(m)
    first, last = (0, fn) if np.ndim(fn) == 0 else fn
    count = m - 1 if endpoint else m
    step = (last - first) / (fs * count) if count else 0.0
    return czt(x, m, np.exp(-2j * np.pi * step), np.exp(2j * np.pi * first / fs), axis=axis)


@implements(signal.lombscargle)
def lombscargle(x, y, freqs, *, precenter=False, normalize=False, weights=None, floating_mean=False):
    x, y, freqs = asarray(x), asarray(y), asarray(freqs)
    if x.ndim != 1 or not x.size or x.shape != y.shape or freqs.ndim != 1:
        raise ValueError("Parameters x, y, weights must be 1-D arrays of equal non-zero length!")
    kind = ("normalize" if normalize else "power") if isinstance(normalize, bool) else normalize
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError("Normalize must be: False (or 'power'), True (or 'normalize'), or 'amplitude'.")
    if precenter is True:
        y = y - np.mean(y)
    weights = np.ones(x.shape) if weights is None else asarray(weights)
    weights = weights / np.sum(weights)
    angle = x[:, None] * freqs
    mean = np.sum(weights * y)

    def sums(cos, sin):
        cc, cs = np.matmul(weights, cos * cos), np.matmul(weights, cos * sin)
        ss, c, s = 1 - cc, 0.0, 0.0
        if floating_mean:
            c, s = np.matmul(weights, cos), np.matmul(weights, sin)
            cc, ss, cs = cc - c * c, ss - s * s, cs - c * s
        return cc, ss, cs, c, s

    cc, ss, cs, _, _ = sums(np.cos(angle), np.sin(angle))
    shift = 0.5 * np.arctan2(2 * cs, cc - ss)  # where the sum of cos times sin is 0
    cos, sin = np.cos(angle - shift), np.sin(angle - shift)
    cc, ss, _, c, s = sums(cos, sin)
    yc, ys = np.matmul(weights * y, cos), np.matmul(weights * y, sin)
    if floating_mean:
        yc, ys = yc - mean * c, ys - mean * s
    least = np.finfo(np.float64).epsneg
    a, b = yc / np.maximum(cc, least), ys / np.maximum(ss, least)
    if kind == "amplitude":
        return (a + 1j * b) * np.exp(1j * shift)
    power = 2 * (a * yc + b * ys)
    if kind == "power":
        return power * (x.shape[0] / 4)
    total = np.sum(weights * y * y)
    return power * 0.5 / (total - mean * mean if floating_mean else total)
