"""NumPy's functions of polynomials that are given by coefficients of descending powers."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from funcgrad._core.source import stacklevel
from funcgrad._core.tracer import Tracer
from funcgrad._primitives import polynomials as prims
from funcgrad.numpy.arguments import numbers_of, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.ufuncs import cast


def _coefficients(p: Any) -> Any:
    return np.atleast_1d(p.coeffs if isinstance(p, np.poly1d) else asarray(p))


def _poly1d_if(any_of: tuple, *results: Any) -> Any:
    """Polynomials as objects, where an argument was one."""
    if any(isinstance(p, np.poly1d) for p in any_of):
        results = tuple(np.poly1d(r) for r in results)
    return results[0] if len(results) == 1 else results


# ---- values and roots ----------------------------------------------------------------------


@implements(np.polyval)
def polyval(p, x):
    p = p.coeffs if isinstance(p, np.poly1d) else asarray(p)
    if isinstance(x, np.poly1d):
        y = 0
    else:
        x = asarray(x)
        y = np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


@implements(np.vander)
def vander(x, N=None, increasing=False):
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    x = cast(x, np.promote_types(x.dtype, int))
    count = x.shape[0] if N is None else operator.index(N)
    ones = np.ones((x.shape[0], min(count, 1)), x.dtype)
    powers = np.broadcast_to(x[:, None], (x.shape[0], max(count - 1, 0)))
    out = np.concatenate([ones, np.cumprod(powers, axis=1)], axis=1)
    return out if increasing else out[:, ::-1]


@implements(np.poly)
def poly(seq_of_zeros):
    zeros = np.atleast_1d(asarray(seq_of_zeros))
    paired = False
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        paired = zeros.dtype.kind != "c"
        zeros = np.linalg.eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    zeros = zeros if zeros.dtype.char in "fdgFDG" else cast(zeros, np.float64)  # what LAPACK knows
    out = np.ones(1, zeros.dtype)
    for zero in zeros:
        out = np.convolve(out, np.stack([np.ones((), zeros.dtype), -zero]))
    known = numbers_of(zeros)
    if known is not None and zeros.dtype.kind == "c":
        paired = paired or np.array_equal(np.sort(known), np.sort(np.conj(known)))
    return np.real(out) if paired and zeros.dtype.kind == "c" else out


@implements(np.roots)
def roots(p):
    p = np.atleast_1d(asarray(p))
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    p = p if p.dtype.kind in "fc" else cast(p, np.float64)
    return real_if_all_are(prims.roots(p, basis="polynomial", descending=True), p)


def real_if_all_are(found: Any, c: Any) -> Any:
    """Roots as NumPy gives them: real numbers, if the coefficients are real and all roots are."""
    known = numbers_of(found)
    return np.real(found) if c.dtype.kind != "c" and known is not None and not np.any(known.imag) else found


# ---- arithmetic ----------------------------------------------------------------------------


def _sum(a1: Any, a2: Any, combine: Any) -> Any:
    a, b = _coefficients(a1), _coefficients(a2)
    size = max(a.shape[0], b.shape[0])
    a, b = [_padded(p, size - p.shape[0], 0) for p in (a, b)]
    return _poly1d_if((a1, a2), combine(a, b))


def _padded(p: Any, before: int, after: int) -> Any:
    return np.concatenate([np.zeros(before, p.dtype), p, np.zeros(after, p.dtype)]) if before + after else p


@implements(np.polyadd)
def polyadd(a1, a2):
    return _sum(a1, a2, np.add)


@implements(np.polysub)
def polysub(a1, a2):
    return _sum(a1, a2, np.subtract)


@implements(np.polymul)
def polymul(a1, a2):
    a, b = [_without_zeros_in_front(_coefficients(p)) for p in (a1, a2)]
    return _poly1d_if((a1, a2), np.convolve(a, b))


def _without_zeros_in_front(p: Any) -> Any:
    """NumPy multiplies polynomials of which only a last coefficient may be 0.

    Of a batch only what is 0 in every member goes; in a program of types nothing is known to be 0.
    """
    if not p.shape[0]:
        return np.zeros(1, p.dtype)
    known = numbers_of(p)
    if known is None or not np.size(known):
        return p
    count = np.flatnonzero(np.reshape(known != 0, (-1, p.shape[0])).any(0))
    return p[count[0] if count.size else -1 :]


@implements(np.polydiv)
def polydiv(u, v):
    above, below = [p + 0.0 for p in (_coefficients(u), _coefficients(v))]
    if above.ndim != 1 or below.ndim != 1:
        np.polydiv(np.ones(above.shape), np.ones(below.shape))  # NumPy's error
    dtype = (above[0] + below[0]).dtype
    m, n = above.shape[0] - 1, below.shape[0] - 1
    scale = 1.0 / below[0]
    quotient, rest = [], cast(above, dtype)
    for k in range(m - n + 1):
        d = scale * rest[k]
        quotient.append(d)
        rest = rest - _padded(d * below, k, m - n - k)
    quotient = cast(np.stack(quotient), dtype) if quotient else np.zeros(1, dtype)
    while rest.shape[0] > 1 and np.allclose(rest[0], 0, rtol=1e-14):
        rest = rest[1:]
    return _poly1d_if((u, v), quotient, rest)


@implements(np.polyder)
def polyder(p, m=1):
    m = _order(m, "derivative")
    coefficients = p.coeffs if isinstance(p, np.poly1d) else asarray(p)
    if coefficients.ndim != 1:
        np.polyder(np.ones(coefficients.shape), m)  # NumPy's error
    for _ in range(m):
        powers = np.arange(len(coefficients) - 1, 0, -1)
        coefficients = coefficients[:-1] * powers
    return _poly1d_if((p,), coefficients)


@implements(np.polyint)
def polyint(p, m=1, k=None):
    m = _order(m, "integral")
    k = np.zeros(m) if k is None else np.atleast_1d(asarray(k))
    if k.shape[0] == 1 and m > 1:
        k = np.broadcast_to(k, m)
    if k.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    coefficients = p.coeffs if isinstance(p, np.poly1d) else asarray(p)
    for i in range(m):
        coefficients = np.concatenate(
            [coefficients / np.arange(len(coefficients), 0, -1), np.reshape(k[i], 1)]
        )
    return _poly1d_if((p,), coefficients)


def _order(m: Any, what: str) -> int:
    m = operator.index(m)
    if m < 0:
        raise ValueError(f"Order of {what} must be positive")
    return m


# ---- least squares -------------------------------------------------------------------------


def weighted_fit(columns: Any, y: Any, w: Any, rcond: Any, guarded: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Least squares with the columns brought to length 1: the solution, what `lstsq` gives, the lengths.

    Columns of zeros stay as they are if `guarded`.
    """
    if w is not None:
        w = asarray(w)
        columns = cast(columns * w[:, None], columns.dtype)
        y = cast(y * (w if y.ndim == 1 else w[:, None]), y.dtype)
    squares = np.real(columns * np.conj(columns)) if columns.dtype.kind == "c" else columns * columns
    lengths = np.sqrt(np.sum(squares, axis=0))
    empty = np.equal(lengths, 0)
    if guarded and (isinstance(empty, Tracer) or empty.any()):
        lengths = np.where(empty, 1.0, lengths)
    scaled = columns / lengths
    solution, residuals, rank, values = np.linalg.lstsq(scaled, y, rcond)
    return (solution.T / lengths).T, residuals, rank, values, (scaled, lengths)


def warn_of_rank(rank: Any, order: int, category: type[Warning]) -> None:
    """NumPy's warning, where the rank is known."""
    if not isinstance(rank, Tracer) and rank != order:
        warnings.warn("The fit may be poorly conditioned", category, stacklevel=stacklevel())


@implements(np.polyfit)
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    refuse_traced("polyfit", "deg", deg)
    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if w is not None:
        w = asarray(w) + 0.0
    shapes = [np.ones(a.shape) for a in (x, y)]
    if deg < 0 or x.ndim != 1 or not x.size or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        np.polyfit(*shapes, deg)  # NumPy's error
    if w is not None and w.shape != y.shape[:1]:
        np.polyfit(*shapes, 0, w=np.ones(w.shape))  # NumPy's error
    rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    fitted = weighted_fit(vander(x, order), y, w, rcond, guarded=False)
    c, residuals, rank, values, (scaled, lengths) = fitted
    if full:
        return c, residuals, rank, values, rcond
    warn_of_rank(rank, order, np.exceptions.RankWarning)
    if not cov:
        return c
    covariance = np.linalg.inv(scaled.T @ scaled) / np.outer(lengths, lengths)
    if isinstance(cov, str) and cov == "unscaled":
        factor = 1
    elif x.shape[0] <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    else:
        factor = residuals / (x.shape[0] - order)
    return c, covariance * factor if y.ndim == 1 else covariance[:, :, None] * factor
