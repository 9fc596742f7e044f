"""Recursive filters, differentiable in the signal, in both polynomials and in the initial state.

All of them are made of convolutions and of one primitive, the all-pole filter y / A(z). Its derivatives are
filters by the same polynomial: of the signal forwards, and for cotangents backwards in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import general
from funcgrad.numpy.arguments import negative_axis
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import convolve_axes
from funcgrad.scipy._mirror import refuse_argument

# ---- the all-pole filter -------------------------------------------------------------------


@general
def all_pole(a, x):
    """y[n] = x[n] - a[0] y[n-1] - a[1] y[n-2] - ... along the last axis; the others broadcast."""
    stack = np.broadcast_shapes(a.shape[:-1], x.shape[:-1])
    x = np.broadcast_to(x, stack + x.shape[-1:])
    if not x.size or not a.shape[-1]:
        return x.astype(np.result_type(a, x))
    one = np.ones(1, a.dtype)
    if a.ndim == 1:
        return signal.lfilter(one, np.concatenate([one, a]), x)
    a = np.broadcast_to(a, stack + a.shape[-1:])
    out = np.empty(x.shape, np.result_type(a, x))
    for i in np.ndindex(stack):
        out[i] = signal.lfilter(one, np.concatenate([one, a[i]]), x[i])
    return out


@all_pole.jvp("x")
def _push_x(t, a):
    return all_pole(a, t)


@all_pole.vjp("x")
def _pull_x(g, a, x_shape):
    return fit(all_pole(a, g[..., ::-1])[..., ::-1], x_shape, None)


@all_pole.jvp("a")
def _push_a(t, a, y):
    return -all_pole(a, convolve_axes(_before(y, t.shape[-1]), t, ndim=1, valid=True))


@all_pole.vjp("a")
def _pull_a(g, a, y, a_shape):
    share = all_pole(a, g[..., ::-1])  # reversed in time
    share = convolve_axes(_before(y, a_shape[-1]), share, ndim=1, valid=True)
    return fit(-share[..., ::-1], a_shape, None)


def _before(y: Any, count: int) -> Any:
    """A signal of which the first `count` outputs of a filter are made: zeros, then all but the last."""
    return np.concatenate([np.zeros(y.shape[:-1] + (count,), y.dtype), y[..., :-1]], axis=-1)


@all_pole.typing
def _type(a, x):
    stack = np.broadcast_shapes(a.shape[:-1], x.shape[:-1])
    return ShapeDtypeStruct(stack + x.shape[-1:], np.result_type(a.dtype, x.dtype))


all_pole.batch = batch_leading(all_pole, (1, 1))


# ---- filters -------------------------------------------------------------------------------


def _polynomial(p: Any, name: str) -> Any:
    p = asarray(p)
    p = np.reshape(p, (1,)) if p.ndim == 0 else p
    if p.ndim != 1:
        raise ValueError(f"object of too small depth for desired array: {name} has to be a vector")
    return p if p.dtype.kind in "fc" else p.astype(np.float64)


def _to_length(p: Any, n: int) -> Any:
    return p if p.shape[0] == n else np.pad(p, (0, n - p.shape[0]))


def _along_last(b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """A filter along the last axis from an initial state, None for rest: the output and the final state."""
    first = concrete(a)[0]
    if not isinstance(first, Tracer) and first == 0:
        raise ValueError("the first coefficient of a filter's denominator is 0")
    b, poles = b / a[0], a[1:] / a[0]
    order = max(b.shape[0] - 1, poles.shape[0])
    n = x.shape[-1]
    if not x.size:
        return x.astype(np.result_type(b, poles, x)), zi
    out = convolve_axes(x, _to_length(b, order + 1), ndim=1, valid=False)
    if zi is not None:
        state = np.broadcast_to(zi, x.shape[:-1] + (order,))
        out = out + np.concatenate([state, np.zeros(x.shape, state.dtype)], axis=-1)
    if not poles.shape[0]:
        return out[..., :n], out[..., n:]
    y = all_pole(poles, out[..., :n])
    if zi is None:
        return y, None
    fed_back = convolve_axes(y, _to_length(poles, order), ndim=1, valid=False)
    return y, out[..., n:] - fed_back[..., n - 1 :]


@implements(signal.lfilter)
def lfilter(b, a, x, axis=-1, zi=None):
    b, a, x = _polynomial(b, "b"), _polynomial(a, "a"), asarray(x)
    x = x if x.dtype.kind in "fc" else x.astype(np.float64)
    axis = negative_axis(axis, x.ndim)
    x = np.moveaxis(x, axis, -1)
    zi = None if zi is None else np.moveaxis(asarray(zi), axis, -1)
    y, final = _along_last(b, a, x, zi)
    y = np.moveaxis(y, -1, axis)
    return y if zi is None else (y, np.moveaxis(final, -1, axis))


@implements(signal.lfilter_zi)
def lfilter_zi(b, a):
    b, a = _polynomial(b, "b"), _polynomial(a, "a")
    b, a = b / a[0], a / a[0]
    n = max(a.shape[0], b.shape[0])
    b, a = _to_length(b, n), _to_length(a, n)
    rest = b[1:] - a[1:] * b[0]
    first = np.sum(rest) / np.sum(a)
    return np.cumsum(a)[:-1] * first - np.cumsum(rest) + rest


def _sections(sos: Any) -> Any:
    sos = asarray(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    leading = concrete(sos)[:, 3]
    if not isinstance(leading, Tracer) and np.any(leading != 1):
        raise ValueError("sos[:, 3] should be all ones")
    return sos


@implements(signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    sos, x = _sections(sos), asarray(x)
    axis = negative_axis(axis, x.ndim)
    x = np.moveaxis(x, axis, -1)
    states = None if zi is None else np.moveaxis(asarray(zi), axis, -1)
    final = []
    for i in range(sos.shape[0]):
        state = None if states is None else states[i]
        x, last = _along_last(sos[i, :3], sos[i, 3:], x, state)
        final.append(last)
    y = np.moveaxis(x, -1, axis)
    return y if zi is None else (y, np.moveaxis(np.stack(final), -1, axis))


@implements(signal.sosfilt_zi)
def sosfilt_zi(sos):
    sos, scale, states = _sections(sos), 1.0, []
    for i in range(sos.shape[0]):
        b, a = sos[i, :3], sos[i, 3:]
        states.append(scale * lfilter_zi(b, a))
        scale = scale * np.sum(b) / np.sum(a)
    return np.stack(states)


# ---- forwards and backwards ----------------------------------------------------------------


def extended(x: Any, width: int, how: str | None) -> Any:
    """A signal along the last axis, extended at both ends: 'odd', 'even', 'constant' or 'zeros'."""
    if how is None or width < 1:
        return x
    n = x.shape[-1]
    if how == "zeros":
        return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(width, width)])
    if how != "constant" and width > n - 1:
        raise ValueError(f"The extension length n ({width}) is too big for {n} samples")
    first, last = x[..., :1], x[..., -1:]
    if how == "constant":
        shape = x.shape[:-1] + (width,)
        return np.concatenate([np.broadcast_to(first, shape), x, np.broadcast_to(last, shape)], axis=-1)
    left, right = x[..., width:0:-1], x[..., -2 : -(width + 2) : -1]
    if how == "odd":
        left, right = 2 * first - left, 2 * last - right
    return np.concatenate([left, x, right], axis=-1)


def _padding(padtype: Any, padlen: Any, n: int, taps: int) -> tuple[Any, int]:
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"padtype must be 'even', 'odd', 'constant' or None, and is {padtype!r}")
    width = 0 if padtype is None else 3 * taps if padlen is None else int(padlen)
    if n <= width:
        raise ValueError(f"the signal must be longer than padlen, which is {width}")
    return padtype, width


@implements(signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    if method != "pad":
        cure = "Leave it out: method='pad' has derivatives."
        refuse_argument("scipy.signal.filtfilt", f"method={method!r}", cure)
    b, a, x = _polynomial(b, "b"), _polynomial(a, "a"), asarray(x)
    axis = negative_axis(axis, x.ndim)
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    padtype, width = _padding(padtype, padlen, n, max(a.shape[0], b.shape[0]))
    zi = lfilter_zi(b, a)
    y = extended(x, width, padtype)
    for _ in range(2):
        y = _along_last(b, a, y, zi * y[..., :1])[0][..., ::-1]
    return np.moveaxis(y[..., width : width + n], -1, axis)


@implements(signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sos, x = _sections(sos), asarray(x)
    axis = negative_axis(axis, x.ndim)
    x = np.moveaxis(x, axis, -1)
    n, taps = x.shape[-1], 2 * sos.shape[0] + 1
    if padlen is None and padtype is not None:  # zeros in a section make the filter shorter
        known = concrete(sos)
        taps -= min(int(np.sum(known[:, 2] == 0)), int(np.sum(known[:, 5] == 0)))
    padtype, width = _padding(padtype, padlen, n, taps)
    states = sosfilt_zi(sos)
    y = extended(x, width, padtype)
    for _ in range(2):
        zi = np.reshape(states, (states.shape[0],) + (1,) * (x.ndim - 1) + (2,)) * y[..., :1]
        y = sosfilt(sos, y, -1, zi)[0][..., ::-1]
    return np.moveaxis(y[..., width : width + n], -1, axis)


@implements(signal.deconvolve)
def deconvolve(signal, divisor):
    num, den = _polynomial(signal, "signal"), _polynomial(divisor, "divisor")
    n, d = num.shape[0], den.shape[0]
    if d > n:
        return np.zeros(0, num.dtype), num
    impulse = np.zeros(n - d + 1)
    impulse[0] = 1
    quotient = _along_last(num, den, impulse, None)[0]
    return quotient, num - convolve_axes(den, quotient, ndim=1, valid=False)
