"""Waveforms of a traced time, and peaks, whose places are constant."""

from __future__ import annotations

import math

import numpy as np
from scipy import signal

from funcgrad._core.tracer import Tracer, concrete
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.operators import _known
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument

_TURN = 2 * np.pi


def _phase(t, part):
    """The time within a period, which part of it that is, and where the part is no fraction."""
    t, part = asarray(t), asarray(part)
    t = t if t.dtype == np.float64 else t.astype(np.float64)
    known = concrete(part)
    return np.mod(t, _TURN), part, np.less(known, 0) | np.greater(known, 1)


@implements(signal.sawtooth)
def sawtooth(t, width=1):
    t, w, wrong = _phase(t, width)
    rising = np.less(concrete(t), concrete(w) * _TURN)
    rise, fall = np.where(rising, w, 1.0), np.where(rising, 0.0, w)
    out = np.where(rising, t / (np.pi * rise) - 1, (np.pi * (fall + 1) - t) / (np.pi * (1 - fall)))
    return np.where(wrong, np.nan, out)[()]


@implements(signal.square)
def square(t, duty=0.5):
    t, w, wrong = _phase(t, duty)
    return np.where(wrong, np.nan, np.where(np.less(t, w * _TURN), 1.0, -1.0))[()]


@implements(signal.chirp)
def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True, *, complex=False):
    t = asarray(t)
    if method in ("linear", "lin", "li"):
        turns = f0 * t + 0.5 * ((f1 - f0) / t1) * (t * t)
    elif method in ("quadratic", "quad", "q"):
        bend = (f1 - f0) / (t1 * t1)
        turns = f0 * t + bend * t**3 / 3 if vertex_zero else f1 * t + bend * ((t1 - t) ** 3 - t1**3) / 3
    elif method in ("logarithmic", "log", "lo"):
        ratio = f1 / f0
        if not isinstance(concrete(ratio), Tracer) and concrete(ratio) <= 0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        turns = f0 * t * _power_quotient(t / t1, ratio)
    elif method in ("hyperbolic", "hyp"):
        away = (f0 - f1) / (f1 * t1)
        turns = f0 * t * _log_quotient(t * away)
    else:
        raise ValueError(
            f"method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', not {method!r}"
        )
    phase = _TURN * turns + phi * (np.pi / 180)
    return np.exp(1j * phase) if complex else np.cos(phase)


def _power_quotient(share, ratio):
    """(ratio**share - 1) / (share log(ratio)), which is 1 where the ratio is 1."""
    u = share * np.log(ratio)
    flat = np.equal(concrete(u), 0)
    if isinstance(flat, Tracer) or np.any(flat):
        safe = np.where(flat, 1.0, u)
        return np.where(flat, 1 + u / 2, np.expm1(safe) / safe)
    return np.expm1(u) / u


def _log_quotient(u):
    """log|1 + u| / u, which is 1 at 0."""
    flat = np.equal(concrete(u), 0)
    if isinstance(flat, Tracer) or np.any(flat):
        safe = np.where(flat, 1.0, u)
        return np.where(flat, 1 - u / 2, np.log(np.abs(1 + safe)) / safe)
    return np.log(np.abs(1 + u)) / u


@implements(signal.gausspulse)
def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    rate = -((np.pi * fc * bw) ** 2) / (4 * (bwr * (math.log(10) / 20)))
    if isinstance(t, str):
        if t != "cutoff":
            raise ValueError("If `t` is a string, it must be 'cutoff'")
        return np.sqrt(-tpr * (math.log(10) / 20) / rate)
    t = asarray(t)
    envelope = np.exp(-rate * t * t)
    out = [envelope * np.cos(_TURN * fc * t)]
    if retquad:
        out.append(envelope * np.sin(_TURN * fc * t))
    if retenv:
        out.append(envelope)
    return tuple(out) if len(out) > 1 else out[0]


@implements(signal.vectorstrength)
def vectorstrength(events, period):
    events, period = asarray(events), asarray(period)
    mean = np.mean(np.exp(2j * np.pi * events / np.expand_dims(period, -1)), axis=-1)
    return np.abs(mean), np.angle(mean)


@implements(signal.find_peaks)
def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None,
               rel_height=0.5, plateau_size=None):  # fmt: skip
    """The places of peaks are constant; heights, thresholds and prominences there follow the signal."""
    if width is not None:
        cure = "Widths are interpolated without derivative: apply it to stop_gradient(x)."
        refuse_argument("scipy.signal.find_peaks", "width=", cure)
    x = asarray(x)
    known = _known(x, "find_peaks(x)")
    peaks, found = signal.find_peaks(
        known, height, threshold, distance, prominence, None, wlen, rel_height, plateau_size
    )
    if "peak_heights" in found:
        found["peak_heights"] = x[peaks]
    if "left_thresholds" in found:
        found["left_thresholds"] = x[peaks] - x[peaks - 1]
        found["right_thresholds"] = x[peaks] - x[peaks + 1]
    if "prominences" in found:
        found["prominences"] = x[peaks] - np.maximum(x[found["left_bases"]], x[found["right_bases"]])
    return peaks, found
