"""Convolution and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from funcgrad._core.tracer import concrete
from funcgrad.numpy.arguments import negative_axes
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import convolve_axes, cropped, padded


def conjugate(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def turned(x: Any) -> Any:
    """An array reversed along all axes."""
    return x[(slice(None, None, -1),) * x.ndim]


def _is_valid(mode: str) -> bool:
    if mode not in ("full", "same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    return mode == "valid"


def _in_order(a: Any, v: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """The longer operand first; one has to be at least as long along every axis."""
    longer = [a.shape[i] >= v.shape[i] for i in axes]
    if all(longer):
        return a, v
    if all(v.shape[i] >= a.shape[i] for i in axes):
        return v, a
    raise ValueError(
        "For 'valid' mode, one must be at least as large as the other in every dimension"
    )  # as SciPy says


def along(a: Any, v: Any, mode: str, axes: tuple[int, ...]) -> Any:
    """Convolution over some axes, negative; the others broadcast."""
    valid = _is_valid(mode)
    if not a.size or not v.size:
        return np.zeros(0)  # as SciPy does
    shape = tuple([a.shape[i] for i in axes])
    if valid:
        a, v = _in_order(a, v, axes)
    last = tuple(range(-len(axes), 0))
    if axes != last:
        a, v = np.moveaxis(a, axes, last), np.moveaxis(v, axes, last)
    out = convolve_axes(a, v, ndim=len(axes), valid=valid)
    if mode == "same":
        out = cropped(out, shape, last)
    return np.moveaxis(out, last, axes) if axes != last else out


def _operands(in1: Any, in2: Any, name: str) -> tuple[Any, Any]:
    a, v = asarray(in1), asarray(in2)
    if a.ndim != v.ndim:
        raise ValueError(f"{name}: in1 and in2 should have the same dimensionality")
    return a, v


@implements(signal.convolve)
def convolve(in1, in2, mode="full", method="auto"):
    a, v = _operands(in1, in2, "convolve")
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if a.ndim == 0:
        return a * v
    return along(a, v, mode, tuple(range(-a.ndim, 0)))


@implements(signal.correlate)
def correlate(in1, in2, mode="full", method="auto"):
    a, v = _operands(in1, in2, "correlate")
    return convolve(a, turned(conjugate(v)) if v.ndim else conjugate(v), mode, method)


@implements(signal.fftconvolve, signal.oaconvolve)
def fftconvolve(in1, in2, mode="full", axes=None):
    a, v = _operands(in1, in2, "fftconvolve")
    if a.ndim == 0:
        return a * v
    given = negative_axes(None if axes is None else tuple(np.atleast_1d(axes).tolist()), a.ndim)
    if not given:
        raise ValueError("when provided, axes cannot be empty")
    if mode == "same":  # SciPy cuts to the first operand's shape along the axes that broadcast, too
        return cropped(along(a, v, "full", given), a.shape, tuple(range(-a.ndim, 0)))
    return along(a, v, mode, given)


_BOUNDARIES = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}
_FILLED = ("fill", "pad")


def _in_plane(a: Any, v: Any, mode: str, boundary: str, fillvalue: Any, start: int) -> Any:
    """Convolution in two dimensions, with what lies beyond the edges."""
    if boundary not in _BOUNDARIES and boundary not in _FILLED:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric'")
    if mode == "valid":
        return convolve_axes(a, v, ndim=2, valid=True)
    whole = a
    for axis in (-2, -1):
        edge = v.shape[axis] - 1
        if edge:
            how = _BOUNDARIES.get(boundary, "constant")
            whole = padded(whole, edge, edge, how, fillvalue, axis)
    out = convolve_axes(whole, v, ndim=2, valid=True)
    if mode == "full":
        return out
    rows, columns = [(m - start) // 2 for m in v.shape]
    return out[rows : rows + a.shape[0], columns : columns + a.shape[1]]


@implements(signal.convolve2d)
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    a, v = asarray(in1), asarray(in2)
    if a.ndim != 2 or v.ndim != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if _is_valid(mode):
        a, v = _in_order(a, v, (-2, -1))
    return _in_plane(a, v, mode, boundary, fillvalue, 1)


@implements(signal.correlate2d)
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    a, v = asarray(in1), asarray(in2)
    if a.ndim != 2 or v.ndim != 2:
        raise ValueError("correlate2d inputs must both be 2-D arrays")
    swapped = False
    if _is_valid(mode):
        swapped = _in_order(a, v, (-2, -1))[0] is not a
        a, v = (v, a) if swapped else (a, v)
    out = _in_plane(a, turned(conjugate(v)), mode, boundary, fillvalue, 0)
    return turned(out) if swapped else out


@implements(signal.choose_conv_method)
def choose_conv_method(in1, in2, mode="full", measure=False):
    a, v = (np.ones(asarray(x).shape, asarray(x).dtype) for x in map(concrete, (in1, in2)))
    return signal.choose_conv_method(a, v, mode, measure)
