"""The slopes at the knots that make cubic interpolants, and their coefficients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from funcgrad.numpy.arguments import normalize_axis_index
from funcgrad.numpy.creation import asarray
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._held import double
from funcgrad.scipy.linalg._structures import Banded, structured_solve


def prepared(x: Any, y: Any, axis: int, only_real: str | None = None) -> tuple[Any, Any, int]:
    """Knots, values with the interpolation axis in front, and that axis; SciPy's errors."""
    x, y = asarray(x), asarray(y)
    if x.dtype.kind == "c":
        raise ValueError("`x` must contain real values.")
    if only_real and y.dtype.kind == "c":
        raise ValueError(f"`{only_real}` only works with real values for `y`.")
    axis = normalize_axis_index(axis, y.ndim)
    if x.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if x.shape[0] < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if x.shape[0] != y.shape[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    for name, value in (("x", known(x)), ("y", known(y))):
        if value is not None and not np.all(np.isfinite(value)):
            raise ValueError(f"`{name}` must contain only finite values.")
    value = known(x)
    if value is not None and np.any(np.diff(value) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return double(x), np.moveaxis(double(y), axis, 0), axis


def _steps(x: Any, y: Any) -> tuple[Any, Any]:
    """The intervals' lengths, along the first axis of `y`, and the slopes of the chords."""
    h = np.reshape(np.diff(x), (-1, *[1] * (y.ndim - 1)))
    return h, np.diff(y, axis=0) / h


def hermite_coefficients(x: Any, y: Any, slopes: Any) -> Any:
    """The cubics with these values and slopes at the knots; the highest power first."""
    h, chords = _steps(x, y)
    bend = (slopes[:-1] + slopes[1:] - 2.0 * chords) / h
    return np.stack([bend / h, (chords - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


# ---- monotone: Fritsch and Butland -------------------------------------------------------------


def pchip_slopes(x: Any, y: Any) -> Any:
    """Weighted harmonic means of the chords' slopes, 0 where these change sign.

    F. N. Fritsch and J. Butland, A method for constructing local monotone piecewise cubic interpolants, SIAM
    J. Sci. Stat. Comput. 5, 1984; the ends after C. Moler, Numerical Computing with MATLAB, 2004.
    """
    h, m = _steps(x, y)
    if y.shape[0] == 2:
        return np.concatenate([m, m], axis=0)
    before, after = m[:-1], m[1:]
    agree = before * np.sign(after) > 0
    near, far = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    mean = near / np.where(agree, before, 1.0) + far / np.where(agree, after, 1.0)
    inner = np.where(agree, (near + far) / np.where(agree, mean, 1.0), 0.0)
    first = _end_slope(h[:1], h[1:2], m[:1], m[1:2])
    last = _end_slope(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return np.concatenate([first, inner, last], axis=0)


def _end_slope(h, k, m, other):
    """The slope of a parabola, bounded so that the shape is kept."""
    slope = ((2.0 * h + k) * m - h * other) / (h + k)
    steep = (np.sign(m) != np.sign(other)) & (np.abs(slope) > 3.0 * np.abs(m))
    return np.where(np.sign(slope) != np.sign(m), 0.0, np.where(steep, 3.0 * m, slope))


# ---- Akima -------------------------------------------------------------------------------------


def akima_slopes(x: Any, y: Any, modified: bool) -> Any:
    """Means of neighbouring chords' slopes, weighted by how little those on the other side change.

    H. Akima, A new method of interpolation and smooth curve fitting, J. ACM 17, 1970. Where nothing changes
    on either side, up to a relative 1e-9, SciPy takes the mean of the outer slopes.
    """
    _, m = _steps(x, y)
    if y.shape[0] == 2:
        return np.concatenate([m, m], axis=0)
    left = 2.0 * m[:1] - m[1:2]
    right = 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate([2.0 * left - m[:1], left, m, right, 2.0 * right - m[-1:]], axis=0)
    change = np.abs(np.diff(m, axis=0))
    ahead, behind = change[2:], change[:-2]
    if modified:
        size = np.abs(m[1:] + m[:-1])
        ahead, behind = ahead + 0.5 * size[2:], behind + 0.5 * size[:-2]
    total = ahead + behind
    defined = total > 1e-9 * np.max(total)
    weight = behind / np.where(defined, total, 1.0)
    return np.where(defined, m[1:-2] + weight * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


# ---- twice continuously differentiable ---------------------------------------------------------


def spline_slopes(x: Any, y: Any, bc_type: Any) -> Any:
    """The slopes with which second derivatives do not jump, and the ends are what `bc_type` says.

    C. de Boor, A Practical Guide to Splines, Springer 1978, chapter IV.
    """
    h, m = _steps(x, y)
    start, end = _conditions(y, bc_type)
    if y.shape[0] == 2:  # too few knots: the chord
        start, end = [(1, m[0]) if isinstance(end, str) else end for end in (start, end)]
    elif y.shape[0] == 3 and start == end == "not-a-knot":  # one parabola
        middle = (h[1] * m[0] + h[0] * m[1]) / (h[0] + h[1])
        return np.stack([2.0 * m[0] - middle, middle, 2.0 * m[1] - middle])
    if start == "periodic":
        return _periodic_slopes(h, m)
    first = _end_row(start, h, m, 1.0)
    last = _end_row(end, h[::-1], m[::-1], -1.0)
    main = np.concatenate([first.own, _flat(2.0 * (h[:-1] + h[1:])), last.own])
    above = np.concatenate([np.zeros(1), first.next, _flat(h[:-1])])
    below = np.concatenate([_flat(h[1:]), last.next, np.zeros(1)])
    inner = 3.0 * (h[1:] * m[:-1] + h[:-1] * m[1:])
    right = np.concatenate([first.right[None], inner, last.right[None]], axis=0)
    return _solve(np.stack([above, main, below]), right)


def _flat(x):
    return np.reshape(x, -1)


def _solve(band, right):
    columns = np.reshape(right, (right.shape[0], -1))
    return np.reshape(structured_solve(band, columns, structure=Banded(1, 1)), right.shape)


def _conditions(y, bc_type):
    """The conditions at both ends: a name, or the order of a derivative and its value."""
    if isinstance(bc_type, str):
        if bc_type == "periodic":
            ends = [known(y[0]), known(y[-1])]
            if all(end is not None for end in ends) and not np.allclose(*ends, rtol=1e-15, atol=1e-15):
                raise ValueError(
                    "The first and last `y` point must be identical (within machine precision) when "
                    "bc_type='periodic'."
                )
        bc_type = (bc_type, bc_type)
    elif len(bc_type) != 2 or any(isinstance(bc, str) and bc == "periodic" for bc in bc_type):
        raise ValueError("`bc_type` must be one string, or two conditions, neither of them 'periodic'.")
    return [_condition(y, bc) for bc in bc_type]


def _condition(y, bc):
    if isinstance(bc, str):
        if bc in ("not-a-knot", "periodic"):
            return bc
        if bc not in ("clamped", "natural"):
            raise ValueError(f"bc_type={bc} is not allowed.")
        return (1 if bc == "clamped" else 2), np.zeros(y.shape[1:])
    order, value = bc
    if order not in (1, 2):
        raise ValueError("The specified derivative order must be 1 or 2.")
    value = double(value)
    if value.shape != y.shape[1:]:
        raise ValueError(f"`deriv_value` shape {value.shape} is not the expected one {y.shape[1:]}.")
    return order, value


class _Row(NamedTuple):
    """The equation of an end: the coefficients of its slope and of the next one, and the right side."""

    own: Any
    next: Any
    right: Any


def _end_row(condition, h, m, direction):
    """The equation of an end, seen from there."""
    h, k, chord, next_chord = h[0], h[1] if len(h) > 1 else None, m[0], m[1] if len(m) > 1 else None
    if condition == "not-a-knot":  # the third derivative does not jump at the next knot
        both = h + k
        return _Row(_flat(k), _flat(both), ((h + 2.0 * both) * k * chord + h * h * next_chord) / both)
    order, value = condition
    if order == 1:
        return _Row(np.ones(1), np.zeros(1), value + 0.0 * chord)
    # the second derivative there is (6 chord - 4 slope - 2 next) / h, or its negative at the other end
    return _Row(_flat(2.0 * h), _flat(h), 3.0 * h * chord - 0.5 * direction * value * h * h)


def _periodic_slopes(h, m):
    """The cyclic system, as a tridiagonal one changed by a matrix of rank 1 (Sherman and Morrison)."""
    before_h, before_m = np.roll(h, 1, axis=0), np.roll(m, 1, axis=0)
    right = 3.0 * (h * before_m + before_h * m)
    below, main, above = _flat(h), _flat(2.0 * (h + before_h)), _flat(before_h)
    n = main.shape[0]
    if n == 2:  # both neighbours are the same one
        rows = [[main[0], below[0] + above[0]], [below[1] + above[1], main[1]]]
        matrix = np.stack([np.stack(row) for row in rows])
        slopes = np.reshape(np.linalg.solve(matrix, np.reshape(right, (2, -1))), right.shape)
    else:
        pivot, corner = -main[0], above[-1]
        change = below[0] / pivot
        diagonal = np.concatenate([main[:1] - pivot, main[1:-1], main[-1:] - corner * change])
        zeros = np.zeros(1)
        band = np.stack([
            np.concatenate([zeros, above[:-1]]), diagonal, np.concatenate([below[1:], zeros])
        ])  # fmt: skip
        rank = np.concatenate([np.reshape(pivot, 1), np.zeros(n - 2), np.reshape(corner, 1)])
        rank = np.reshape(rank, (-1, *[1] * (right.ndim - 1)))
        solved, other = _solve(band, right), _solve(band, rank)
        share = (solved[0] + change * solved[-1]) / (1.0 + other[0] + change * other[-1])
        slopes = solved - share * other
    return np.concatenate([slopes, slopes[:1]], axis=0)
