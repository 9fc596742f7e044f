"""Interpolation by splines: differentiable in the image, and in the places where it is read.

The image becomes coefficients of B-splines by a recursive filter, a linear primitive; reading them is a
weighted sum, whose weights are polynomials of the place within a cell.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import ndimage

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives.indexing import ARRAY, gather
from funcgrad._primitives.kinds import linear
from funcgrad.numpy.arguments import negative_axis, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._convolution import padded
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.ndimage._common import MODES, finished, per_axis, target

_PADDING = 12  # samples beyond the edge, of modes for which the filter has no condition there

# ---- coefficients --------------------------------------------------------------------------

#: Modes whose filter mirrors at the first and last sample. They count half in the scalar product in which
#: that filter is symmetric; the others' is symmetric as it is.
_MIRRORED = ("mirror", "constant", "grid-constant", "wrap")

#: Up to here the filter's start, which SciPy cuts off, is felt at the other end: no symmetry is exact.
_SHORT = 64


@linear
def spline_coefficients(x, *, order, mode):
    """The coefficients, along the last axis, of the spline through samples."""
    dtype = np.complex128 if x.dtype.kind == "c" else np.float64
    return ndimage.spline_filter1d(x, order, axis=-1, output=dtype, mode=mode)


@spline_coefficients.transpose
def _transpose(g, *, order, mode):
    n = g.shape[-1]
    if n <= _SHORT:
        return np.matmul(g, spline_coefficients(np.eye(n), order=order, mode=mode).T)
    if mode not in _MIRRORED:
        return spline_coefficients(g, order=order, mode=mode)
    weights = np.ones(n)
    weights[[0, -1]] = 0.5
    return spline_coefficients(g / weights, order=order, mode=mode) * weights


@spline_coefficients.typing
def _type(x, *, order, mode):
    return ShapeDtypeStruct(x.shape, np.complex128 if x.dtype.kind == "c" else np.float64)


def _filtered(x: Any, order: int, mode: str, axes: tuple[int, ...]) -> Any:
    for axis in axes:
        moved = spline_coefficients(np.moveaxis(x, axis, -1), order=order, mode=mode)
        x = np.moveaxis(moved, -1, axis)
    return x


def _check(order: int, mode: str, lowest: int = 0) -> None:
    if order < lowest or order > 5:
        raise RuntimeError("spline order not supported")
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")


def _floats(x: Any) -> Any:
    x = asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


@implements(ndimage.spline_filter1d)
def spline_filter1d(input, order=3, axis=-1, output=np.float64, mode="mirror"):
    _check(order, mode)
    x = _floats(input)
    x = x.astype(np.result_type(x.dtype, np.float64)) if x.dtype.itemsize < 8 else x
    out = x if order < 2 else _filtered(x, order, mode, (negative_axis(axis, x.ndim),))
    return finished("spline_filter1d", out, x.dtype, None if x.dtype.kind == "c" else output)


@implements(ndimage.spline_filter)
def spline_filter(input, order=3, output=np.float64, mode="mirror"):
    _check(order, mode, 2)
    x = _floats(input)
    out = _filtered(x, order, mode, tuple(range(x.ndim)))
    return finished("spline_filter", out, out.dtype, None if x.dtype.kind == "c" else output)


# ---- reading -------------------------------------------------------------------------------


def _within(at: Any, n: int, mode: str) -> tuple[Any, Any]:
    """Coordinates brought into an image of n samples, and where they are beyond its edges for good."""
    known = concrete(at)
    if mode == "constant":
        beyond = np.less(known, 0) | np.greater(known, n - 1)
        return np.where(beyond, 0.0, at), beyond
    if mode in ("grid-constant", "nearest"):  # there are samples everywhere
        return at, False
    if n == 1:
        return 0.0 * at, False
    negative = np.less(known, 0)
    if mode == "grid-wrap":
        return at - n * np.floor(known / n), False
    if mode == "wrap":
        outside, period = negative | np.greater(known, n - 1), n - 1
        turns = np.where(negative, np.floor(-known / period) + 1, -np.floor(known / period))
        return np.where(outside, at + period * turns, at), False
    # even about the first sample, or about the edge half a sample before it
    start, period = (0, 2 * n - 2) if mode == "mirror" else (1, 2 * n)
    folded = np.where(negative, -at - start, at)
    folded = folded - period * np.floor(np.maximum(concrete(folded), 0) / period)
    far = np.greater_equal(concrete(folded), n)
    return np.where(far, period - start - folded, folded), False


def _basis(u: Any, order: int) -> list:
    """The B-splines that are not 0 at a place 0 <= u <= 1 of a cell, by Cox's and de Boor's recursion."""
    weights = [np.ones(u.shape)]
    for d in range(1, order + 1):
        shares, carried = [], 0.0
        for r, w in enumerate(weights):
            part = w / d
            shares.append(carried + (r + 1 - u) * part)
            carried = (u + (d - 1 - r)) * part
        weights = [*shares, carried]
    return weights


def _neighbours(first: Any, n: int, order: int, mode: str) -> tuple[list, Any]:
    """The samples that belong to a cell's splines, and for each where there is none."""
    how = {"grid-wrap": "wrap", "reflect": "symmetric", "grid-mirror": "symmetric", "nearest": "edge"}
    how = how.get(mode, "reflect")
    out, missing = [], []
    for j in range(order + 1):
        i = first + j
        if mode == "grid-constant":
            missing.append(np.less(concrete(i), 0) | np.greater_equal(concrete(i), n))
            i = np.clip(i, 0, n - 1)
        elif n == 1 or how == "edge":
            i = np.clip(i, 0, n - 1)
        elif how == "wrap":
            i = np.mod(i, n)
        elif how == "symmetric":
            i = np.mod(i, 2 * n)
            i = np.where(i < n, i, 2 * n - 1 - i)
        else:
            i = np.mod(i, 2 * n - 2)
            i = np.where(i < n, i, 2 * n - 2 - i)
        out.append(i)
    return out, missing


def interpolated(x: Any, places: list, order: int, mode: str, cval: Any, prefilter: bool) -> Any:
    """Values of an image at places given for its first axes, by arrays that broadcast.

    Axes beyond those are read whole, and come last.
    """
    count, mode = len(places), {"grid-mirror": "reflect"}.get(mode, mode)
    shift = 0
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            shift = _PADDING
            for axis in range(count):
                x = padded(x, shift, shift, MODES[mode], cval, axis)
        x = _filtered(x, order, mode, tuple(range(count)))
    rest = (1,) * (x.ndim - count)
    rank = max(np.ndim(p) for p in places)
    outside, indices, weights, missing = False, [], [], False
    for axis, at in enumerate(places):
        n = x.shape[axis]
        at = np.reshape(at, (1,) * (rank - at.ndim) + at.shape)
        at, beyond = _within(at + shift if shift else at, n, mode)
        outside = outside | beyond
        # of order 0 nothing but the nearest sample depends on the place: a cut, which the gradient notes
        first = np.floor((concrete(at) if order else at) - (order - 1) / 2)
        u = at - (first + (order - 1) / 2)
        i, gone = _neighbours(first.astype(np.int64), n, order, mode)
        lead = (1,) * axis + (order + 1,) + (1,) * (count - 1 - axis)
        indices.append(np.reshape(np.stack(i), (*lead, *i[0].shape)))
        weights.append(np.stack(_basis(u, order)))
        if gone:
            missing = missing | np.reshape(np.stack(gone), (*lead, *gone[0].shape))
    template = (ARRAY,) * count + (slice(None),) * len(rest)
    out = gather(x, *indices, template=template, unique=False)
    if missing is not False:
        out = np.where(np.reshape(missing, missing.shape + rest), cval, out)
    for w in weights:
        shape = (order + 1, *(1,) * (out.ndim - 1 - rank - len(rest)), *w.shape[1:], *rest)
        out = np.sum(out * np.reshape(w, shape), axis=0)
    if outside is not False:
        out = np.where(np.reshape(outside, outside.shape + rest), cval, out)
    return out


@implements(ndimage.map_coordinates)
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    _check(order, mode)
    x, at = _floats(input), asarray(coordinates)
    if at.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    if x.ndim < 1 or at.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if at.shape[0] != x.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    at = at.astype(np.float64) if at.dtype != np.float64 else at
    out = interpolated(x, [at[i] for i in range(x.ndim)], order, mode, cval, prefilter)
    return _read("map_coordinates", out, input, output)


def _read(function: str, out: Any, input: Any, output: Any) -> Any:
    """A result in the dtype of the image, or that which was asked for: integers are rounded."""
    dtype = target(function, input, output)
    if dtype.kind in "iu":
        out = np.trunc(out + np.where(np.greater(concrete(out), 0), 0.5, -0.5))
        out = np.maximum(out, 0.0) if dtype.kind == "u" else out
    return finished(function, out, dtype, None)


def _grid(shape: tuple[int, ...]) -> list[np.ndarray]:
    return np.meshgrid(*[np.arange(float(n)) for n in shape], indexing="ij", sparse=True)


def surely_not_zero(x: Any) -> bool:
    known = concrete(x)
    return not isinstance(known, Tracer) and bool(np.all(known != 0))


@implements(ndimage.affine_transform)
def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode="constant",
                     cval=0.0, prefilter=True):  # fmt: skip
    _check(order, mode)
    x, matrix, offset = _floats(input), asarray(matrix), asarray(offset)
    shape, n = tuple(x.shape if output_shape is None else output_shape), x.ndim
    if matrix.ndim == 2 and matrix.shape[1] == n + 1 and matrix.shape[0] in (n, n + 1):
        last = concrete(matrix[n]) if matrix.shape[0] == n + 1 else None
        if last is not None and not isinstance(last, Tracer) and np.any(last != np.eye(n + 1)[n]):
            raise ValueError("the last row of a homogeneous matrix has to be [0, ..., 0, 1]")
        matrix, offset = matrix[:n, :n], matrix[:n, n]
    if (
        matrix.ndim not in (1, 2)
        or matrix.shape[0] != n
        or (matrix.ndim == 2 and matrix.shape[1] != len(shape))
    ):
        raise RuntimeError("affine matrix has wrong number of rows or columns")
    offsets, grid = per_axis(offset, n), _grid(shape)
    if matrix.ndim == 2:  # summed as SciPy does: a sample on the edge is not to be rounded beyond it
        places = [sum([matrix[i, j] * g for j, g in enumerate(grid)], offsets[i]) for i in range(n)]
    elif surely_not_zero(matrix):
        places = [(g + offsets[i] / matrix[i]) * matrix[i] for i, g in enumerate(grid)]
    else:
        places = [g * matrix[i] + offsets[i] for i, g in enumerate(grid)]
    out = interpolated(x, places, order, mode, cval, prefilter)
    return _read("affine_transform", out, input, output)


@implements(ndimage.shift)
def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    _check(order, mode)
    x, shift = _floats(input), asarray(shift)
    places = [g - s for g, s in zip(_grid(x.shape), per_axis(shift, x.ndim))]
    out = interpolated(x, places, order, mode, cval, prefilter)
    return _read("shift", out, input, output)


@implements(ndimage.zoom)
def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    _check(order, mode)
    refuse_traced("scipy.ndimage.zoom", "zoom", zoom)
    x = _floats(input)
    if grid_mode and x.dtype.kind == "c":
        cure = "SciPy leaves it out for complex images. Zoom the real and the imaginary part."
        refuse_argument("scipy.ndimage.zoom", "grid_mode=True of a complex image", cure)
    factors = per_axis(zoom, x.ndim)
    shape = tuple([int(round(n * z)) for n, z in zip(x.shape, factors)])
    if all(z == 1 for z in factors) and prefilter:
        return finished("zoom", x, target("zoom", input, output), None)
    places = []
    for n, m, grid in zip(x.shape, shape, _grid(shape)):
        over, under = (n, m) if grid_mode else (n - 1, m - 1)
        step = over / under if under else 1.0
        places.append((grid + 0.5) * step - 0.5 if grid_mode else grid * step)
    out = interpolated(x, places, order, mode, cval, prefilter)
    return _read("zoom", out, input, output)


@implements(ndimage.rotate)
def rotate(input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant", cval=0.0,
           prefilter=True):  # fmt: skip
    _check(order, mode)
    x = _floats(input)
    if x.ndim < 2 or len(axes) != 2:
        raise ValueError("input array should be at least 2D, and axes should contain exactly two values")
    plane = sorted([negative_axis(a, x.ndim) for a in axes])
    x = np.moveaxis(x, plane, (0, 1))
    turn = angle * (np.pi / 180) if isinstance(angle, Tracer) else math.radians(angle)
    cos, sin = _exact(angle, np.cos(turn), np.sin(turn))
    rows, columns = x.shape[:2]
    shape = (rows, columns)
    if reshape:
        c, s = float(_plain(cos)), float(_plain(sin))
        corners = np.array([[c, s], [-s, c]]) @ [[0, 0, rows, rows], [0, columns, 0, columns]]
        shape = tuple((np.ptp(corners, axis=1) + 0.5).astype(int).tolist())
    down, across = [g - (n - 1) / 2 for g, n in zip(_grid(shape), shape)]
    places = [cos * down + sin * across + (rows - 1) / 2, cos * across - sin * down + (columns - 1) / 2]
    out = interpolated(x, places, order, mode, cval, prefilter)
    return _read("rotate", np.moveaxis(out, (0, 1), plane), input, output)


def _exact(angle: Any, cos: Any, sin: Any) -> tuple[Any, Any]:
    """Cosine and sine, exact at multiples of a right angle."""
    if isinstance(angle, Tracer) or angle % 90:
        return cos, sin
    return [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][int(angle // 90) % 4]


def _plain(x: Any) -> Any:
    """A value that steers a shape, which Python has to know; its derivative ends there on purpose."""
    known = concrete(x)
    return int(x) if isinstance(known, Tracer) else known
