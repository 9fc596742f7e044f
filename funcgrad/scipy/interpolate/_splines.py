"""B-splines: `BSpline`, `make_interp_spline`, and FITPACK's functions of ``(t, c, k)``."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate

from funcgrad import numpy as fnp
from funcgrad.numpy.arguments import normalize_axis_index
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse, refuse_argument
from funcgrad.scipy._values import known
from funcgrad.scipy.interpolate._held import Held, Interpolant, double, interval, moved, over, take
from funcgrad.scipy.linalg._structures import Banded, structured_solve

# ---- evaluation --------------------------------------------------------------------------------


def place(t: Any, k: int, n: int, at: Any) -> Any:
    """The number of the knot at the left end of each point's interval; at a knot that is the knot's."""
    return interval(t[k + 1 : n], at) + k


def basis(t: Any, k: int, left: Any, at: Any) -> Any:
    """The k + 1 B-splines that are not 0 at each point, along a last axis (M. Cox and C. de Boor, 1972)."""
    near = take(t, left[..., None] + np.arange(1 - k, k + 1)) if k else None
    out = np.ones((*np.shape(at), 1))
    at = at[..., None]
    for degree in range(1, k + 1):
        low, high = near[..., k - degree : k], near[..., k : k + degree]
        part = (at - low) / (high - low) * out
        rest = (high - at) / (high - low) * out
        zeros = np.zeros_like(part[..., :1])
        out = np.concatenate([rest, zeros], axis=-1) + np.concatenate([zeros, part], axis=-1)
    return out


def difference(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of a derivative."""
    for _ in range(nu):
        n = t.shape[0] - k - 1
        width = t[k + 1 : n + k] - t[1:n]
        width = np.reshape(width, (-1, *[1] * (c.ndim - 1)))
        flat = width == 0  # SciPy drops what lives on no interval
        c = np.where(flat, 0.0, k * (c[1:n] - c[: n - 1]) / np.where(flat, 1.0, width))
        t, k = t[1:-1], k - 1
    return t, c, k


def accumulate(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of an antiderivative, which is 0 at the first knot."""
    for _ in range(nu):
        n = t.shape[0] - k - 1
        width = np.reshape(t[k + 1 :] - t[:n], (-1, *[1] * (c.ndim - 1)))
        c = np.cumsum(c[:n] * width, axis=0) / (k + 1)
        c = np.concatenate([np.zeros_like(c[:1]), c], axis=0)
        t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
    return t, c, k


def evaluate(t: Any, c: Any, k: int, at: Any, nu: int, extrapolate: Any) -> Any:
    """The derivative of order `nu` of a spline, at points of any shape; NaN beyond unless `extrapolate`."""
    n = t.shape[0] - k - 1
    low, high = t[k], t[n]
    if extrapolate == "periodic":
        at, extrapolate = low + (at - low) % (high - low), False
    if nu > k:
        out = np.zeros((*at.shape, *c.shape[1:]), c.dtype)
    else:
        t, c, k = difference(t, c, k, nu)
        n = t.shape[0] - k - 1
        left = place(t, k, n, at)
        near = take(c, left[..., None] + np.arange(-k, 1))
        weights = basis(t, k, left, at)
        out = np.sum(over(weights, near) * near, axis=at.ndim)
    there = at == at if extrapolate else (at >= low) & (at <= high)
    return np.where(over(there, out), out, np.nan)


class BSpline(Interpolant, scipy.interpolate.BSpline):
    """`scipy.interpolate.BSpline`, whose knots, coefficients and points may be traced."""

    t, c = Held(), Held()

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        if not has_tracer((t, c)):
            super().__init__(t, c, k, extrapolate, axis)
            return
        t, c, k = double(t), double(c), operator.index(k)
        axis = normalize_axis_index(axis, c.ndim)
        c = np.moveaxis(c, axis, 0)
        n = t.shape[0] - k - 1
        if k < 0 or t.ndim != 1 or n < k + 1 or c.shape[0] < n:
            raise ValueError("Knots, coefficients and degree are inconsistent.")
        plain = known(t)
        if plain is not None and np.any(np.diff(plain) < 0):
            raise ValueError("Knots must be in a non-decreasing order.")
        self._set(t, c, k, extrapolate if extrapolate == "periodic" else bool(extrapolate), axis)

    def _set(self, t, c, k, extrapolate, axis):
        self._hold(t=t, c=c)
        self.k, self.extrapolate, self.axis = k, extrapolate, axis

    @classmethod
    def construct_fast(cls, t, c, k, extrapolate=True, axis=0):
        if not has_tracer((t, c)):
            return super().construct_fast(t, c, k, extrapolate, axis)
        self = object.__new__(cls)
        self._set(t, c, k, extrapolate, axis)
        return self

    @classmethod
    def _from(cls, plain):
        """An object of SciPy's as one of this class."""
        return cls.construct_fast(plain.t, plain.c, plain.k, plain.extrapolate, plain.axis)

    @classmethod
    def design_matrix(cls, x, t, k, extrapolate=False):
        if has_tracer((x, t)):
            instead = "It is sparse: evaluate BSpline(t, np.eye(n), k) at x, which is the same as an array."
            refuse("scipy.interpolate.BSpline.design_matrix", instead)
        return super().design_matrix(x, t, k, extrapolate)

    @classmethod
    def basis_element(cls, t, extrapolate=True):
        if not has_tracer(t):
            return super().basis_element(t, extrapolate)
        t = double(asarray(t))
        k = t.shape[0] - 2
        t = np.concatenate([(t[:1] - 1.0).repeat(k), t, (t[-1:] + 1.0).repeat(k)])
        return cls.construct_fast(t, np.eye(t.shape[0])[k], k, extrapolate)

    @classmethod
    def from_power_basis(cls, pp, bc_type="not-a-knot"):
        if has_tracer((pp.c, pp.x)):
            instead = "Evaluate the PPoly itself, or make_interp_spline of its values."
            refuse("scipy.interpolate.BSpline.from_power_basis", instead)
        return super().from_power_basis(pp, bc_type)

    def insert_knot(self, x, m=1):
        if self._traced(x):
            self._refuse(".insert_knot", "The spline stays the same: evaluate this one.")
        return super().insert_knot(x, m)

    def __call__(self, x, nu=0, extrapolate=None):
        if not self._traced(x):
            return super().__call__(x, nu, extrapolate)
        asked = self._asked(x, nu, extrapolate)
        return moved(evaluate(self.t, self.c, self.k, *asked), asked[0].ndim, self.axis)

    def derivative(self, nu=1):
        if not self._traced():
            return super().derivative(nu)
        if nu < 0:
            return self.antiderivative(-nu)
        if nu > self.k:
            raise ValueError(f"Order of derivative (n = {nu}) must be <= order of spline (k = {self.k})")
        parts = difference(self.t, self.c, self.k, nu)
        return self.construct_fast(*parts, extrapolate=self.extrapolate, axis=self.axis)

    def antiderivative(self, nu=1):
        if not self._traced():
            return super().antiderivative(nu)
        if nu < 0:
            return self.derivative(-nu)
        parts = accumulate(self.t, self.c, self.k, nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return self.construct_fast(*parts, extrapolate=extrapolate, axis=self.axis)

    def integrate(self, a, b, extrapolate=None):
        if not self._traced(a, b):
            return super().integrate(a, b, extrapolate)
        if extrapolate is None:
            extrapolate = self.extrapolate
        n = self.t.shape[0] - self.k - 1
        low, high = self.t[self.k], self.t[n]
        parts = accumulate(self.t, self.c, self.k, 1)

        def primitive(at):
            at = double(at)
            if extrapolate == "periodic":
                period = high - low
                turns = np.floor((at - low) / period)
                whole = evaluate(*parts, high, 0, True) - evaluate(*parts, low, 0, True)
                return turns * whole + evaluate(*parts, at - turns * period, 0, True)
            if not extrapolate:  # what is beyond counts nothing
                at = np.minimum(np.maximum(at, low), high)
            return evaluate(*parts, at, 0, True)

        return primitive(b) - primitive(a)


def giving_ours(mirrored: Callable) -> Callable:
    """A function that makes a B-spline, as one of the class here."""

    @functools.wraps(mirrored)
    def call(*args: Any, **kwargs: Any) -> Any:
        out = mirrored(*args, **kwargs)
        return BSpline._from(out) if type(out) is scipy.interpolate.BSpline else out

    return call


# ---- interpolation -----------------------------------------------------------------------------


@implements(scipy.interpolate.make_interp_spline)
def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    x, y, k = double(x), double(y), operator.index(k)
    axis = normalize_axis_index(axis, y.ndim)
    y = np.moveaxis(y, axis, 0)
    if x.ndim != 1 or x.shape[0] != y.shape[0]:
        raise ValueError(f"Shapes of x {x.shape} and y {y.shape} are incompatible")
    plain = known(x)
    if plain is not None and np.any(np.diff(plain) <= 0):
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    start, end = _ends(bc_type, y.shape[1:])
    if k <= 1 and t is None:
        if start or end or (bc_type == "periodic" and k == 0):
            raise ValueError(f"Too much info for k={k}: bc_type can only be None.")
        t = np.concatenate([x, x[-1:]] if k == 0 else [x[:1], x, x[-1:]])
        return BSpline.construct_fast(t, y, k, axis=axis)
    if t is None:
        t = (
            _not_a_knot(x, k)
            if not (start or end)
            else np.concatenate([x[:1].repeat(k), x, x[-1:].repeat(k)])
        )
    t = double(t)
    count = t.shape[0] - k - 1
    if count - x.shape[0] != len(start) + len(end):
        raise ValueError(
            "The number of derivatives at boundaries does not match: expected "
            f"{count - x.shape[0]}, got {len(start)}+{len(end)}"
        )
    left = place(t, k, count, x)
    rows = [(len(start) + np.arange(x.shape[0]), left, basis(t, k, left, x))]
    for conditions, first, at in ((start, 0, x[0]), (end, count - len(end), x[-1])):
        for i, (order, _) in enumerate(conditions):
            knot = place(t, k, count, at)
            rows.append((first + np.arange(i, i + 1), knot[None], _derivatives(t, k, knot, at, order)[None]))
    band = _band(rows, k, count)
    values = [value for _, value in start], [value for _, value in end]
    right = np.concatenate([*[v[None] for v in values[0]], y, *[v[None] for v in values[1]]], axis=0)
    flat = structured_solve(band, np.reshape(right, (count, -1)), structure=Banded(k, k))
    return BSpline.construct_fast(t, np.reshape(flat, right.shape), k, axis=axis)


def _not_a_knot(x, k):
    """Knots at the data, or between them for an even degree, but for the first and last few."""
    inner = x if k % 2 else (x[1:] + x[:-1]) * 0.5
    skip = (k + 1) // 2
    return np.concatenate([x[:1].repeat(k + 1), inner[skip : inner.shape[0] - skip], x[-1:].repeat(k + 1)])


def _ends(bc_type, shape):
    """For each end a list of orders of derivatives and their values."""
    if isinstance(bc_type, str) and bc_type == "periodic":
        cure = 'Take CubicSpline(x, y, bc_type="periodic").'
        refuse_argument("scipy.interpolate.make_interp_spline", 'bc_type="periodic"', cure)
    if bc_type is None or (isinstance(bc_type, str) and bc_type == "not-a-knot"):
        return [], []
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    return [_end(conditions, shape) for conditions in both]


def _end(conditions, shape):
    if conditions is None:
        return []
    if isinstance(conditions, str):
        if conditions not in ("clamped", "natural"):
            raise ValueError(f"Unknown boundary condition : {conditions}")
        return [(1 if conditions == "clamped" else 2, np.zeros(shape))]
    return [(order, np.broadcast_to(double(value), shape)) for order, value in conditions]


def _derivatives(t, k, left, at, order):
    """The derivatives at a point of the k + 1 B-splines that are not 0 there."""
    near = take(t, left + np.arange(-k, k + 2))  # the knots that these B-splines have
    near, coefficients, degree = difference(near, np.eye(k + 1), k, order)
    weights = basis(near, degree, np.asarray(degree), at)
    return weights @ coefficients[: degree + 1]


def _band(rows, k, count):
    """A matrix with k diagonals on either side, of which each row has k + 1 entries up to a place."""
    i = np.concatenate([row for row, _, _ in rows])[:, None]
    j = fnp.concatenate([left for _, left, _ in rows])[:, None] + np.arange(-k, 1)
    entries = fnp.concatenate([entries for _, _, entries in rows])
    row = k + i - j
    there = (row >= 0) & (row <= 2 * k)  # else the knots and the data do not interlace
    row = np.where(there, row, 0)
    return fnp.index_add(np.zeros((2 * k + 1, count)), (row, j), np.where(there, entries, 0.0))


# ---- FITPACK's functions -----------------------------------------------------------------------


def _parts(tck):
    """Knots, coefficients and degree; SciPy's BSpline too."""
    t, c, k = tck.tck if isinstance(tck, scipy.interpolate.BSpline) else tck
    if isinstance(c, (list, tuple)) and len(c) and np.ndim(c[0]):
        cure = "Take BSpline(t, np.stack(c, axis=-1), k)."
        refuse_argument("scipy.interpolate.splev", "a curve of several coordinates", cure)
    return double(t), double(c), operator.index(k)


@implements(scipy.interpolate.splev)
def splev(x, tck, der=0, ext=0):
    t, c, k = _parts(tck)
    if not 0 <= der <= k:
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    x = double(x)
    low, high = t[k], t[t.shape[0] - k - 1]
    inside = (x >= low) & (x <= high)
    plain = known(inside)
    if ext == 2 and plain is not None and not np.all(plain):
        raise ValueError("Found x value not in the domain")
    at = np.minimum(np.maximum(x, low), high) if ext == 3 else x
    out = evaluate(t, c, k, at, der, True)
    return np.where(inside, out, 0.0) if ext == 1 else out


@implements(scipy.interpolate.splint)
def splint(a, b, tck, full_output=0):
    if full_output:
        refuse_argument("scipy.interpolate.splint", "full_output=", "Leave it out.")
    return BSpline.construct_fast(*_parts(tck), extrapolate=False).integrate(a, b)


@implements(scipy.interpolate.splder)
def splder(tck, n=1):
    if n < 0:
        return splantider(tck, -n)
    t, c, k = _parts(tck)
    if n > k:
        raise ValueError(f"Order of derivative (n = {n!r}) must be <= order of spline (k = {k!r})")
    return _padded(*difference(t, c, k, n))


@implements(scipy.interpolate.splantider)
def splantider(tck, n=1):
    if n < 0:
        return splder(tck, -n)
    t, c, k = accumulate(*_parts(tck), n)
    return _padded(t, c, k, c[-1:] if n else 0 * c[-1:])


def _padded(t, c, k, filling=None):
    """As FITPACK has it, with as many coefficients as knots."""
    missing = t.shape[0] - c.shape[0]
    if filling is None:
        filling = np.zeros((1, *c.shape[1:]), c.dtype)
    return t, np.concatenate([c, *[filling] * missing], axis=0), k


@implements(scipy.interpolate.splrep)
def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    smooths = s not in (None, 0) or (s is None and w is not None)
    for argument, there in (("s=", smooths), ("w=", w is not None), ("xb=", xb is not None), ("per=", per),
                            ("xe=", xe is not None), ("t=", t is not None), ("task=", task),
                            ("full_output=", full_output)):  # fmt: skip
        if there:
            cure = "Leave it out; a least squares fit is np.linalg.lstsq of BSpline(t, np.eye(n), k)(x)."
            refuse_argument("scipy.interpolate.splrep", argument, cure)
    spline = make_interp_spline(x, y, k)
    return _padded(spline.t, spline.c, k)
