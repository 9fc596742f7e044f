"""Fourier transforms. Their matrices are symmetric, so complex transforms are their own transposes.

The real ones keep half of a spectrum: an entry of that half stands for two, except the first and, for an even
length, the last. Lengths are those of the arrays; the front end pads and truncates.
"""

import numpy as np

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives.kinds import linear

#: The normalisation with which the opposite transform has the same factor.
OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _spectrum_dtype(x):
    return np.fft.fft(np.zeros(1, x.dtype)).dtype


# ---- complex -------------------------------------------------------------------------------


@linear
def fft(x, *, axes, norm):
    if len(axes) == 1:
        return np.fft.fft(x, axis=axes[0], norm=norm)
    return np.fft.fftn(x, axes=axes, norm=norm)


@fft.transpose
def fft_transpose(g, *, axes, norm):
    return fft(g, axes=axes, norm=norm)


@fft.typing
def fft_type(x, *, axes, norm):
    return ShapeDtypeStruct(x.shape, _spectrum_dtype(x))


@linear
def ifft(x, *, axes, norm):
    if len(axes) == 1:
        return np.fft.ifft(x, axis=axes[0], norm=norm)
    return np.fft.ifftn(x, axes=axes, norm=norm)


@ifft.transpose
def ifft_transpose(g, *, axes, norm):
    return ifft(g, axes=axes, norm=norm)


@ifft.typing
def ifft_type(x, *, axes, norm):
    return ShapeDtypeStruct(x.shape, _spectrum_dtype(x))


# ---- real ----------------------------------------------------------------------------------


@linear
def rfft(x, *, axis, norm):
    """Half of the spectrum of a real array."""
    return np.fft.rfft(x, axis=axis, norm=norm)


@rfft.transpose
def rfft_transpose(g, x_shape, x_dtype, *, axis, norm):
    n = x_shape[axis]
    return irfft(np.conj(g) / _multiplicity(n, axis, x_dtype), n=n, axis=axis, norm=OPPOSITE[norm])


@rfft.typing
def rfft_type(x, *, axis, norm):
    return ShapeDtypeStruct(_with_size(x, axis, x.shape[axis] // 2 + 1), _spectrum_dtype(x))


@linear
def irfft(x, *, n, axis, norm):
    """The real array of length `n` whose spectrum has this half (``n // 2 + 1`` entries)."""
    return np.fft.irfft(x, n, axis=axis, norm=norm)


@irfft.transpose
def irfft_transpose(g, *, n, axis, norm):
    half = rfft(g, axis=axis, norm=OPPOSITE[norm])
    return np.conj(half) * _multiplicity(n, axis, g.dtype)


@irfft.typing
def irfft_type(x, *, n, axis, norm):
    real = np.zeros((), _spectrum_dtype(x)).real.dtype
    return ShapeDtypeStruct(_with_size(x, axis, n), real)


def _multiplicity(n, axis, dtype):
    """How many entries of the whole spectrum an entry of its half stands for, along an axis."""
    counts = np.full(n // 2 + 1, 2, dtype)
    counts[0] = 1
    if n % 2 == 0:
        counts[-1] = 1
    return counts.reshape((-1,) + (1,) * (-axis - 1))


def _with_size(x, axis, n):
    shape = list(x.shape)
    shape[axis] = n
    return shape
