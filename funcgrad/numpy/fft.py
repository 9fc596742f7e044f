"""NumPy's `fft` module."""

from __future__ import annotations

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._primitives import fft as prims
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

# ---- along one axis ------------------------------------------------------------------------


@implements(np.fft.fft)
def fft(a, n=None, axis=-1, norm=None, out=None):
    return _complex("fft", prims.fft, a, _one(n), [axis], norm, out)


@implements(np.fft.ifft)
def ifft(a, n=None, axis=-1, norm=None, out=None):
    return _complex("ifft", prims.ifft, a, _one(n), [axis], norm, out)


@implements(np.fft.rfft)
def rfft(a, n=None, axis=-1, norm=None, out=None):
    return _rfft("rfft", a, n, axis, _norm(norm), out)


@implements(np.fft.irfft)
def irfft(a, n=None, axis=-1, norm=None, out=None):
    return _irfft("irfft", a, n, axis, _norm(norm), out)


@implements(np.fft.hfft)
def hfft(a, n=None, axis=-1, norm=None, out=None):
    return _irfft("hfft", np.conj(a), n, axis, prims.OPPOSITE[_norm(norm)], out)


@implements(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return np.conj(_rfft("ihfft", a, n, axis, prims.OPPOSITE[_norm(norm)], out))


# ---- along several axes --------------------------------------------------------------------


@implements(np.fft.fftn)
def fftn(a, s=None, axes=None, norm=None, out=None):
    return _complex("fftn", prims.fft, a, s, axes, norm, out)


@implements(np.fft.ifftn)
def ifftn(a, s=None, axes=None, norm=None, out=None):
    return _complex("ifftn", prims.ifft, a, s, axes, norm, out)


@implements(np.fft.rfftn)
def rfftn(a, s=None, axes=None, norm=None, out=None):
    return _rfftn("rfftn", a, s, axes, norm, out)


@implements(np.fft.irfftn)
def irfftn(a, s=None, axes=None, norm=None, out=None):
    return _irfftn("irfftn", a, s, axes, norm, out)


@implements(np.fft.fft2)
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _complex("fft2", prims.fft, a, s, axes, norm, out)


@implements(np.fft.ifft2)
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _complex("ifft2", prims.ifft, a, s, axes, norm, out)


@implements(np.fft.rfft2)
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _rfftn("rfft2", a, s, axes, norm, out)


@implements(np.fft.irfft2)
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _irfftn("irfft2", a, s, axes, norm, out)


# ---- the order of frequencies --------------------------------------------------------------


@implements(np.fft.fftshift)
def fftshift(x, axes=None):
    return _shifted(asarray(x), axes, lambda n: n // 2)


@implements(np.fft.ifftshift)
def ifftshift(x, axes=None):
    return _shifted(asarray(x), axes, lambda n: -(n // 2))


def _shifted(x, axes, shift):
    if axes is None:
        axes = tuple(range(x.ndim))
    elif not isinstance(axes, (tuple, list)):
        axes = (axes,)
    return np.roll(x, tuple([shift(x.shape[axis]) for axis in axes]), tuple(axes))


# ---- from NumPy's arguments to the primitives' ---------------------------------------------


def _complex(name, prim, a, s, axes, norm, out):
    a, s, axes = _arguments(name, a, s, axes, out)
    norm = _norm(norm)
    if len(set(axes)) < len(axes):  # an axis that is named twice is transformed twice, the last first
        for n, axis in zip(reversed(s), reversed(axes)):
            a = prim(_resized(a, n, axis), axes=(axis,), norm=norm)
        return a
    for n, axis in zip(s, axes):
        a = _resized(a, n, axis)
    return prim(a, axes=tuple(axes), norm=norm) if axes else a


def _rfft(name, a, n, axis, norm, out):
    a, (n,), (axis,) = _arguments(name, a, _one(n), [axis], out)
    return prims.rfft(_resized(a, n, axis), axis=axis, norm=norm)


def _irfft(name, a, n, axis, norm, out):
    a, _, (axis,) = _arguments(name, a, None, [axis], out)
    if n is None:
        n = 2 * (a.shape[axis] - 1)
    _check_length(n)
    return prims.irfft(_resized(a, n // 2 + 1, axis), n=int(n), axis=axis, norm=norm)


def _rfftn(name, a, s, axes, norm, out):
    a, s, axes = _arguments(name, a, s, axes, out)
    a = _rfft(name, a, s[-1], axes[-1], _norm(norm), None)
    return _complex(name, prims.fft, a, s[:-1], axes[:-1], norm, None)


def _irfftn(name, a, s, axes, norm, out):
    given = s
    a, s, axes = _arguments(name, a, s, axes, out)
    last = None if given is None or given[-1] is None else s[-1]
    a = _complex(name, prims.ifft, a, s[-2::-1], axes[-2::-1], norm, None)  # here the first comes first
    return _irfft(name, a, last, axes[-1], _norm(norm), None)


def _arguments(name, a, s, axes, out):
    """The array, a length for each axis, and the axes as negative integers."""
    if out is not None:
        raise errors.InPlaceError(f"np.fft.{name}(..., out=...)", describe(*caller(3)))
    a = asarray(a)
    if axes is None:
        axes = range(-(a.ndim if s is None else len(s)), 0)
    axes = [int(axis) for axis in axes]
    for axis in axes:
        if not -a.ndim <= axis < a.ndim:
            raise np.exceptions.AxisError(axis, a.ndim)
    axes = [axis if axis < 0 else axis - a.ndim for axis in axes]
    if s is None:
        s = [-1] * len(axes)
    elif len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    s = [a.shape[axis] if n is None or n == -1 else int(n) for n, axis in zip(s, axes)]
    for n in s:
        _check_length(n)
    return a, s, axes


def _one(n):
    """A length for the one axis."""
    if n is not None:
        _check_length(n)
        n = (n,)
    return n


def _check_length(n):
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")


def _norm(norm):
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


def _resized(a, n, axis):
    """The array, truncated or continued by zeros to length `n` along an axis."""
    size = a.shape[axis]
    if size > n:
        return a[(..., slice(n), *[slice(None)] * (-axis - 1))]
    if size < n:
        shape = list(a.shape)
        shape[axis] = n - size
        return np.concatenate([a, np.zeros(shape, a.dtype)], axis=axis)
    return a


def __getattr__(name):
    return getattr(np.fft, name)  # what has to do with no traced value
