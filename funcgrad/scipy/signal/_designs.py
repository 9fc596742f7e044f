"""Filters from frequencies, and what filters do to frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from funcgrad._core.tracer import Tracer, concrete
from funcgrad.numpy.arguments import refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import convolve_axes
from funcgrad.scipy._mirror import refuse_argument

# ---- designs -------------------------------------------------------------------------------

_STOPS = {
    "lowpass": (True, 1, 1),
    "highpass": (False, 1, 1),
    "bandstop": (True, 2, None),
    "bandpass": (False, 2, None),
}


@implements(signal.firwin)
def firwin(numtaps, cutoff, *, width=None, window="hamming", pass_zero=True, scale=True, fs=None):
    """The windowed ideal response, a difference of sincs for each band that passes."""
    edges = asarray(cutoff)
    edges = np.reshape(edges, -1) / (0.5 * (2 if fs is None else fs))
    known, count = concrete(edges), edges.shape[0]
    if not isinstance(known, Tracer) and (np.any(np.diff(known) <= 0) or known[0] <= 0 or known[-1] >= 1):
        raise ValueError("cutoff frequencies must be increasing, greater than 0 and less than fs/2")
    if isinstance(pass_zero, str):
        if pass_zero not in _STOPS:
            raise ValueError(f"pass_zero has to be a boolean or one of {', '.join(_STOPS)}")
        pass_zero, least, most = _STOPS[pass_zero]
        if count < least or count > (most or count):
            raise ValueError("cutoff has a wrong number of frequencies for pass_zero")
    pass_highest = (count % 2 == 0) == bool(pass_zero)
    if pass_highest and numtaps % 2 == 0:
        raise ValueError("with an even number of coefficients the response at the Nyquist frequency is zero")
    refuse_traced("scipy.signal.firwin", "width", width)
    if width is not None:
        attenuation = signal.kaiser_atten(numtaps, float(width) / (0.5 * (2 if fs is None else fs)))
        window = ("kaiser", signal.kaiser_beta(attenuation))
    ends = [np.zeros(int(bool(pass_zero))), edges, np.ones(int(pass_highest))]
    bands = np.reshape(np.concatenate(ends), (-1, 2))
    m = np.arange(numtaps) - (numtaps - 1) / 2
    ideal = bands[:, :, None] * np.sinc(bands[:, :, None] * m)
    h = np.sum(ideal[:, 1] - ideal[:, 0], axis=0) * signal.get_window(window, numtaps, fftbins=False)
    if not scale:
        return h
    left, right = bands[0, 0], bands[0, 1]
    middle = 0.0 if pass_zero else 1.0 if pass_highest and count == 1 else 0.5 * (left + right)
    return h / np.sum(h * np.cos(np.pi * m * middle))


@implements(signal.lfiltic)
def lfiltic(b, a, y, x=None):
    b, a, y = [np.reshape(asarray(v), -1) for v in (b, a, y)]
    first = concrete(a)[0]
    if not isinstance(first, Tracer) and first == 0:
        raise ValueError("First `a` filter coefficient must be non-zero.")
    x = np.zeros(0) if x is None else np.reshape(asarray(x), -1)
    order = max(a.shape[0], b.shape[0]) - 1
    state = _carried(b, x, order) - _carried(a, y, order)
    return state / a[0]


def _carried(taps: Any, past: Any, order: int) -> Any:
    """What past values add to the state: sum over j > m of taps[j] past[j - 1 - m], for each m."""
    count = taps.shape[0] - 1
    if not count:
        return np.zeros(order)
    past = past[:count] if past.shape[0] > count else np.pad(past, (0, count - past.shape[0]))
    out = convolve_axes(taps[1:], past[::-1], ndim=1, valid=False)[count - 1 :]
    return np.pad(out, (0, order - count))


# ---- responses -----------------------------------------------------------------------------


def _frequencies(function: str, w: Any, whole: bool, fs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies in the unit of fs, and angles."""
    refuse_traced(f"scipy.signal.{function}", "an array of frequencies", w)
    w = signal.freqz([1.0], [1.0], 512 if w is None else w, whole, fs=fs)[0]
    return w, 2 * np.pi * w / fs


def _at(p: Any, z: Any) -> Any:
    """The polynomial with the coefficients p, the lowest first."""
    return np.matmul(z[:, None] ** np.arange(p.shape[0]), p)


@implements(signal.freqs)
def freqs(b, a, worN=200, plot=None):
    if plot is not None:
        refuse_argument("scipy.signal.freqs", "plot=", "Leave it out, and plot what it returns.")
    if worN is None or np.ndim(worN) == 0:
        cure = "Pass an array of frequencies: those that SciPy chooses follow the filter."
        refuse_argument("scipy.signal.freqs", "a number of frequencies", cure)
    w = np.reshape(asarray(worN), -1)
    b, a, s = np.reshape(asarray(b), -1), np.reshape(asarray(a), -1), 1j * w
    return w, _at(b[::-1], s) / _at(a[::-1], s)


@implements(signal.freqz_zpk)
def freqz_zpk(z, p, k, worN=512, whole=False, fs=2 * np.pi):
    w, angles = _frequencies("freqz_zpk", worN, whole, fs)
    on_circle = np.exp(1j * angles)[:, None]
    zeros, poles = (np.prod(on_circle - np.reshape(asarray(v), -1), axis=-1) for v in (z, p))
    return w, k * zeros / poles


@implements(signal.group_delay)
def group_delay(system, w=512, whole=False, fs=2 * np.pi):
    b, a = [np.reshape(asarray(v), -1) for v in system]
    w, angles = _frequencies("group_delay", w, whole, fs)
    c = convolve_axes(b, np.conj(a[::-1]) if a.dtype.kind == "c" else a[::-1], ndim=1, valid=False)
    z = np.exp(-1j * angles)
    whole_response = _at(c, z)
    singular = np.equal(concrete(whole_response), 0)
    ratio = _at(c * np.arange(c.shape[0]), z) / np.where(singular, 1.0, whole_response)
    return w, np.where(singular, 0.0, np.real(ratio) - a.shape[0] + 1)


@implements(signal.sweep_poly)
def sweep_poly(t, poly, phi=0):
    if np.ndim(phi):
        refuse_argument("scipy.signal.sweep_poly", "an array phi", "Pass a number, or use vmap over several.")
    t, p = asarray(t), poly.coeffs if isinstance(poly, np.poly1d) else np.reshape(asarray(poly), -1)
    n = p.shape[0]
    turns = sum([(p[i] / (n - i)) * t ** (n - i) for i in range(n)])
    return np.cos(2 * np.pi * turns + phi * (np.pi / 180))
