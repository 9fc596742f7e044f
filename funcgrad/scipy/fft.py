"""`scipy.fft`, differentiable: Fourier transforms, and cosine and sine transforms of four types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft as _scipy_fft

from funcgrad._core.types import dtype_of, is_differentiable
from funcgrad._primitives.kinds import linear
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import mirror as _mirror

_BY_LENGTH = (
    "Its kernel is SciPy's own. Write it by scipy.fft.rfft and irfft, and the kernel by plain values."
)

# ---- Fourier transforms --------------------------------------------------------------------


def _along_one(name: str, numpys: Any) -> None:
    @implements(getattr(_scipy_fft, name))
    def transform(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        return numpys(asarray(x), n, axis, norm)


def _along_many(name: str, numpys: Any, default: tuple[int, ...] | None) -> None:
    @implements(getattr(_scipy_fft, name))
    def transform(x, s=None, axes=default, norm=None, overwrite_x=False, workers=None, *, plan=None):
        x = asarray(x)
        return numpys(x, _lengths(s), _axes(x, s, axes), norm)


def _lengths(s: Any) -> tuple[int, ...] | None:
    return None if s is None else tuple(np.atleast_1d(s).tolist())


def _axes(x: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes to transform: SciPy's default is the last ones, as many as lengths are given."""
    if axes is None:
        return tuple(range(-(x.ndim if s is None else len(_lengths(s))), 0))
    return (axes,) if np.ndim(axes) == 0 else tuple(axes)


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hfftn(x, s, axes, norm):
    return np.fft.irfftn(np.conjugate(x), s, axes, _SWAPPED[norm])


def _ihfftn(x, s, axes, norm):
    return np.conjugate(np.fft.rfftn(x, s, axes, _SWAPPED[norm]))


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _along_one(_name, getattr(np.fft, _name))
for _name in ("fft", "ifft", "rfft", "irfft"):
    _along_many(f"{_name}2", getattr(np.fft, f"{_name}n"), (-2, -1))
    _along_many(f"{_name}n", getattr(np.fft, f"{_name}n"), None)
for _suffix, _default in (("2", (-2, -1)), ("n", None)):
    _along_many(f"hfft{_suffix}", _hfftn, _default)
    _along_many(f"ihfft{_suffix}", _ihfftn, _default)

# ---- cosine and sine transforms ------------------------------------------------------------

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@linear
def trigonometric(x, *, kind, type):
    """The orthogonal cosine or sine transform along the last axis."""
    return (_scipy_fft.dct if kind == "dct" else _scipy_fft.dst)(x, type, norm="ortho", orthogonalize=True)


@trigonometric.transpose
def trigonometric_transpose(g, *, kind, type):
    return trigonometric(g, kind=kind, type=_INVERSE[type])  # of an orthogonal matrix


def _transformed(
    x: Any, kind: str, type: int, n: int | None, axis: int, norm: str, orthogonalize: Any
) -> Any:
    """One transform along one axis, as SciPy scales it.

    SciPy's documentation says what `orthogonalize` changes: by the square root of 2 the first entry, of the
    sine transforms the last, on the way in or out; of type 1 of the cosine's both ends on both ways.
    """
    x = np.moveaxis(x, axis, -1)
    if n is not None:
        x = x[..., :n]
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])])
    n = x.shape[-1]
    length = (
        2 * (n - 1) if (kind, type) == ("dct", 1) else 2 * (n + 1) if (kind, type) == ("dst", 1) else 2 * n
    )
    before = after = None
    if not (norm == "ortho" if orthogonalize is None else orthogonalize):
        ends = np.ones(n, np.dtype(dtype_of(x)).type(0).real.dtype)
        if kind == "dct":
            ends[0] = math.sqrt(2)
        if kind == "dst" or type == 1:
            ends[-1] = math.sqrt(2)
        after = ends if type == 2 or (kind, type) == ("dct", 1) else None
        before = 1 / ends if type == 3 or (kind, type) == ("dct", 1) else None
    y = trigonometric(x if before is None else x * before, kind=kind, type=type)
    y = y if after is None else y * after
    scale = {"backward": math.sqrt(length), "ortho": 1.0, "forward": 1 / math.sqrt(length)}[norm]
    return np.moveaxis(y if norm == "ortho" else scale * y, -1, axis)


def _cosines_and_sines(kind: str, inverse: bool) -> None:
    name = f"i{kind}" if inverse else kind

    def turned(type, norm):
        if type not in _INVERSE or norm not in _SWAPPED:
            getattr(_scipy_fft, name)(np.ones(2), type, norm=norm)  # SciPy's error
        return (_INVERSE[type], _SWAPPED[norm]) if inverse else (type, norm or "backward")

    @implements(getattr(_scipy_fft, name))
    def along_one(
        x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None
    ):
        return _transformed(_floats(x), kind, *_ordered(turned(type, norm), n, axis), orthogonalize)

    @implements(getattr(_scipy_fft, f"{name}n"))
    def along_many(
        x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None
    ):
        x = _floats(x)
        axes = _axes(x, s, axes)
        lengths = _lengths(s) or [None] * len(axes)
        for axis, n in zip(axes, lengths):
            x = _transformed(x, kind, *_ordered(turned(type, norm), n, axis), orthogonalize)
        return x


def _ordered(turned: tuple[int, str], n: int | None, axis: int) -> tuple[int, int | None, int, str]:
    return turned[0], n, axis, turned[1]


def _floats(x: Any) -> Any:
    x = asarray(x)
    return x if is_differentiable(dtype_of(x)) else x.astype(np.float64)


for _kind in ("dct", "dst"):
    for _inverse in (False, True):
        _cosines_and_sines(_kind, _inverse)

globals().update(_mirror(_scipy_fft, {"fht": _BY_LENGTH, "ifht": _BY_LENGTH}))
__all__ = list(_scipy_fft.__all__)
