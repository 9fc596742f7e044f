"""Factorisations: Cholesky, LU, QR, RQ and the polar one."""

from __future__ import annotations

import functools

import numpy as np
import scipy.linalg

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives import linalg as prims
from funcgrad._primitives.factorizations import cholesky as lower_factor
from funcgrad._primitives.factorizations import qr as thin_qr
from funcgrad._primitives.factorizations import rest_of_basis
from funcgrad._primitives.kinds import constant, general
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.linalg._operands import array, columns, matrices, over_stack
from funcgrad.scipy.linalg._structures import DefiniteBanded, Triangular, mirrored, structured_solve

# ---- Cholesky ------------------------------------------------------------------------------


def _cholesky(a, lower):
    """The factor of what LAPACK sees, which reads one triangle."""
    factor = lower_factor(mirrored(a, lower, True))
    return factor if lower else prims.adjoint(factor)


@implements(scipy.linalg.cholesky)
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return _cholesky(matrices(a, check_finite), bool(lower))


@implements(scipy.linalg.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    a, lower = matrices(a, check_finite), bool(lower)
    rest = np.triu(a, 1) if lower else np.tril(a, -1)  # what was there stays there
    return _cholesky(a, lower) + rest, lower


@implements(scipy.linalg.cholesky_banded)
def cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    ab, lower = matrices(ab, check_finite, square=False), bool(lower)
    k, n = ab.shape[-2] - 1, ab.shape[-1]
    band, entries = DefiniteBanded(lower).full(ab)
    factor = _cholesky(band.dense(entries), lower)
    rows, j = np.arange(k + 1)[:, None], np.arange(n)
    i = j + (rows if lower else rows - k)
    there = (i >= 0) & (i < n)
    return np.where(there, factor[..., np.clip(i, 0, n - 1), j], ab)


# ---- LU ------------------------------------------------------------------------------------


@general(multiple=True)
def lu(a):
    """The rows' order, and the factors of the matrix whose rows are put in it."""
    solver = functools.partial(scipy.linalg.lu, p_indices=True, check_finite=False)
    order, lower, upper = over_stack(solver, (2,), a)
    return np.argsort(order, axis=-1), lower, upper


@lu.jvp
def lu_jvp(t, y):
    order, lower, upper = y
    k = min(t.shape[-2:])
    t = np.take_along_axis(t, order[..., None], axis=-2)
    l1, u1 = lower[..., :k, :], upper[..., :k]
    left = structured_solve(l1, t[..., :k, :], structure=Triangular(lower=True, unit=True))
    core = _divide(left[..., :k], u1)  # inverse(l) t inverse(u), whose parts are the changes
    dl = l1 @ np.tril(core, -1)
    du = np.triu(core) @ u1
    if t.shape[-2] > k:
        dl = np.concatenate([dl, _divide(t[..., k:, :] - lower[..., k:, :] @ du, u1)], axis=-2)
    if t.shape[-1] > k:
        du = np.concatenate([du, left[..., k:] - np.tril(core, -1) @ upper[..., k:]], axis=-1)
    return None, dl, du


def _divide(x, upper):
    """``x @ inverse(upper)``."""
    return structured_solve(upper.mT, x.mT, structure=Triangular(lower=True)).mT


@lu.typing
def lu_type(a):
    (m, n), stack, dtype = a.shape[-2:], a.shape[:-2], prims.inexact(a)
    k = min(m, n)
    return (
        ShapeDtypeStruct(stack + (m,), np.int64),
        ShapeDtypeStruct(stack + (m, k), dtype),
        ShapeDtypeStruct(stack + (k, n), dtype),
    )


@implements(scipy.linalg.lu)
def lu_(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    a = matrices(a, check_finite, square=False)
    order, lower, upper = lu(a)
    if permute_l:
        return np.take_along_axis(lower, _inverse(order)[..., None], axis=-2), upper
    if p_indices:
        return _inverse(order).astype(np.int32), lower, upper
    places = (np.arange(a.shape[-2])[:, None] == order[..., None, :]).astype(prims.real_dtype(a.dtype))
    return places, lower, upper


def _inverse(order):
    return np.argsort(order, axis=-1)


def _exchanges(order, *, count):
    """LAPACK's form of an order of rows: row i was exchanged with row ``pivots[i]``, one after the other."""
    pivots = np.zeros(order.shape[:-1] + (count,), np.int32)
    for stack in np.ndindex(order.shape[:-1]):
        rows = list(range(order.shape[-1]))
        for i in range(count):
            j = rows.index(order[stack][i])
            rows[i], rows[j] = rows[j], rows[i]
            pivots[(*stack, i)] = j
    return pivots


def _order(pivots, *, size):
    """The order of rows that exchanges make."""
    orders = np.zeros(pivots.shape[:-1] + (size,), np.int64)
    for stack in np.ndindex(pivots.shape[:-1]):
        rows = list(range(size))
        for i, j in enumerate(pivots[stack]):
            rows[i], rows[j] = rows[j], rows[i]
        orders[stack] = rows
    return orders


exchanges = constant(_exchanges, "row_exchanges")
order_of_exchanges = constant(_order, "order_of_exchanges")
exchanges.typed = lambda order, *, count: ShapeDtypeStruct(order.shape[:-1] + (count,), np.int32)
order_of_exchanges.typed = lambda pivots, *, size: ShapeDtypeStruct(pivots.shape[:-1] + (size,), np.int64)


@implements(scipy.linalg.lu_factor)
def lu_factor(a, overwrite_a=False, check_finite=True):
    a = matrices(a, check_finite, square=False)
    m, n = a.shape[-2:]
    order, lower, upper = lu(a)
    strict = np.tril(lower, -1)
    if m > n:
        upper = np.concatenate([upper, np.zeros((*upper.shape[:-2], m - n, n), upper.dtype)], axis=-2)
    if n > m:
        strict = np.concatenate([strict, np.zeros((*strict.shape[:-2], m, n - m), strict.dtype)], axis=-1)
    return strict + upper, exchanges(order, count=min(m, n))


@implements(scipy.linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    factors, pivots = lu_and_piv
    factors = matrices(factors, check_finite)
    n = factors.shape[-1]
    b, vector = columns(b, n, check_finite)
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, not {trans!r}")
    order = order_of_exchanges(pivots, size=n)
    lower, upper = Triangular(True, unit=True), Triangular(False)
    if not trans:
        x = np.take_along_axis(*_alike(b, order[..., None]), axis=-2)
        x = structured_solve(factors, structured_solve(factors, x, structure=lower), structure=upper)
    else:
        factors = factors.mT if trans == 1 else prims.adjoint(factors)
        x = structured_solve(factors, b, structure=Triangular(True))
        x = structured_solve(factors, x, structure=Triangular(False, unit=True))
        x = np.take_along_axis(*_alike(x, _inverse(order)[..., None]), axis=-2)
    return x[..., 0] if vector else x


def _alike(x, index):
    """Both with the stacks of both, which `take_along_axis` wants of one shape."""
    stack = np.broadcast_shapes(x.shape[:-2], index.shape[:-2])
    return np.broadcast_to(x, stack + x.shape[-2:]), np.broadcast_to(index, stack + index.shape[-2:])


# ---- QR ------------------------------------------------------------------------------------


def _pivots(a):
    """The order in which LAPACK takes the columns."""
    return over_stack(
        lambda a: scipy.linalg.qr(a, mode="r", pivoting=True, check_finite=False)[1].astype(np.int32), (2,), a
    )


column_pivots = constant(_pivots, "column_pivots")
column_pivots.typed = lambda a: ShapeDtypeStruct(a.shape[:-2] + a.shape[-1:], np.int32)


@implements(scipy.linalg.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    a = matrices(a, check_finite, square=False)
    m, n = a.shape[-2:]
    if mode == "raw":
        cure = 'Use mode="economic", which gives Q itself and R.'
        refuse_argument("scipy.linalg.qr", "mode='raw'", cure)
    pivots = column_pivots(a) if pivoting else None
    if pivoting:  # the order is taken to be constant, as it is but for ties
        a = np.take_along_axis(a, pivots[..., None, :], axis=-1)
    q, r = thin_qr(a[..., :m] if n > m else a)
    if n > m:
        r = np.concatenate([r, prims.adjoint(q) @ a[..., m:]], axis=-1)
    if m > n and mode != "economic":
        r = np.concatenate([r, np.zeros((*r.shape[:-2], m - n, n), r.dtype)], axis=-2)
        if mode != "r":
            q = np.concatenate([q, rest_of_basis(q)], axis=-1)
    if mode == "r":
        return (r, pivots) if pivoting else (r,)
    return (q, r, pivots) if pivoting else (q, r)


@implements(scipy.linalg.rq)
def rq(a, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    a = matrices(a, check_finite, square=False)
    m, n = a.shape[-2:]
    # the rows from the last to the first, by Gram and Schmidt, are the QR factorisation of the turned matrix
    above, last = a[..., : max(m - n, 0), :], a[..., max(m - n, 0) :, :]
    q, r = thin_qr(prims.adjoint(last[..., ::-1, ::-1]))
    q, r = prims.adjoint(q)[..., ::-1, ::-1], prims.adjoint(r)[..., ::-1, ::-1]
    if m > n:
        r = np.concatenate([above @ prims.adjoint(q), r], axis=-2)
    if m < n and mode != "economic":
        r = np.concatenate([np.zeros((*r.shape[:-2], m, n - m), r.dtype), r], axis=-1)
        if mode == "full":
            rest = rest_of_basis(prims.adjoint(q)[..., ::-1, ::-1])
            q = np.concatenate([prims.adjoint(rest)[..., ::-1, ::-1], q], axis=-2)
    return r if mode == "r" else (r, q)


@implements(scipy.linalg.qr_multiply)
def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    if mode not in ("left", "right"):
        raise ValueError("Mode argument can only be 'left' or 'right' but not '" + mode + "'")
    a, c = matrices(a, square=False), array(c)
    vector = c.ndim == 1
    if vector:
        c = c[:, None] if mode == "left" else c[None, :]
    q, r, *pivots = qr(a, mode="economic", pivoting=pivoting)
    if conjugate:
        q = prims.conj(q)
    if mode == "left" and c.shape[-2] != q.shape[-1]:
        refuse_argument(
            "scipy.linalg.qr_multiply",
            "a c that meets further columns of Q",
            "They are any basis of what the first ones leave out: give c a row for each column of a.",
        )
    out = q @ c if mode == "left" else c @ q
    if vector:
        out = np.reshape(out, (*out.shape[:-2], -1))
    return (out, r, *pivots)


# ---- polar ---------------------------------------------------------------------------------


@implements(scipy.linalg.polar)
def polar(a, side="right"):
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    w, s, vh = np.linalg.svd(matrices(a, square=False), full_matrices=False)
    if side == "right":
        return w @ vh, (prims.adjoint(vh) * s[..., None, :]) @ vh
    return w @ vh, (w * s[..., None, :]) @ prims.adjoint(w)


@implements(scipy.linalg.orthogonal_procrustes)
def orthogonal_procrustes(A, B, check_finite=True):
    A, B = matrices(A, check_finite, square=False), matrices(B, check_finite, square=False)
    if A.ndim != 2 or A.shape != B.shape:
        raise ValueError(f"the shapes of A and B differ ({A.shape} vs {B.shape})")
    u, w, vt = np.linalg.svd((B.mT @ prims.conj(A)).mT, full_matrices=False)
    return u @ vt, np.sum(w)
