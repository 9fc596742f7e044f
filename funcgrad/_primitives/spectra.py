"""Eigenvalues and singular values of (stacks of) matrices, and their vectors.

The rules divide by differences of eigenvalues, by `quotient`; what happens at equal ones is told in
`funcgrad._primitives.repeated`.
"""

import itertools

import numpy as np

from funcgrad import errors
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.split import split
from funcgrad._primitives.kinds import constant, general
from funcgrad._primitives.linalg import (
    adjoint,
    conj,
    hermitian_part,
    inexact,
    inv,
    real,
    real_dtype,
    skew,
)  # fmt: skip
from funcgrad._primitives.repeated import (
    choose,
    diagonal,
    gaps,
    groups,
    quotient,
    require_alike,
    require_no_phase,
    require_zero,
    tolerances,
)  # fmt: skip

# ---- Hermitian matrices --------------------------------------------------------------------


@general(multiple=True, guided=True)
def eigh(a, *along, uplo, vectors, solver):
    """Eigenvalues and eigenvectors. The derivative is that of the Hermitian part.

    Without `vectors` these are for the rules alone; then those of equal eigenvalues need not turn right.
    A `solver` in place of NumPy's may give vectors of other phases.
    """
    w, u = (solver or np.linalg.eigh)(a, uplo)
    close = np.diff(w, axis=-1) <= tolerances(w)[1][..., 0]
    if along:
        w, u = choose(_vectors_along, along[0], w, u)
    return split(w, close), u


def _vectors_along(t, w, u):
    """Within a repeated eigenvalue those that diagonalise the change."""
    for group in groups(w):
        v = u[:, group]
        u[:, group] = v @ np.linalg.eigh(hermitian_part(adjoint(v) @ t @ v))[1]


@eigh.jvp("a")
def eigh_jvp(t, y, *, uplo, vectors, solver):
    w, u = y
    p = adjoint(u) @ hermitian_part(t) @ u
    turn = quotient(p, gaps(w), w, p, function="eigh", poles="nan" if vectors else "zero")
    return real(diagonal(p)), u @ turn


@eigh.vjp("a")
def eigh_vjp(g, y, *, uplo, vectors, solver):
    w, u = y
    gw, gu = g.get(0), g.get(1)
    if gu is None:
        require_alike(gw, w, function="eigh")
        return conj((u * gw[..., None, :]) @ adjoint(u))
    k = adjoint(u) @ conj(gu)
    require_no_phase(k, "eigh")
    k = quotient(skew(k) * 0.5, gaps(w), w, gu, function="eigh", poles="refuse")
    left = u @ k
    if gw is not None:
        left = left + u * gw[..., None, :]
    return conj(left @ adjoint(u))


eigh.batching(batch_leading(eigh, itertools.repeat(2)))


@eigh.typing
def eigh_type(a, *along, uplo, vectors, solver):
    dtype = inexact(a)
    return ShapeDtypeStruct(a.shape[:-1], real_dtype(dtype)), ShapeDtypeStruct(a.shape, dtype)


# ---- singular values -----------------------------------------------------------------------


@general(multiple=True, guided=True)
def svd(a, *along, full, vectors, solver):
    """Singular values and vectors, for the rules alone without `vectors`; `full` adds bases of the rest."""
    u, s, vh = (solver or np.linalg.svd)(a, full)
    near = tolerances(s)[1][..., 0]
    close = np.concatenate([-np.diff(s, axis=-1), s[..., -1:]], axis=-1) <= near
    if along:
        s, u, v, a = choose(_singular_vectors_along, along[0], s, u, adjoint(vh), a)
        vh = adjoint(v)
    return u, split(s, close), vh


def _singular_vectors_along(t, s, u, v, a):
    """Within a repeated value those that diagonalise the change; of a value 0 both sides turn freely."""
    rank = np.count_nonzero(s > tolerances(s)[0][0, 0])
    for group in groups(s[:rank]):
        left, right = u[:, group], v[:, group]
        _, turn = np.linalg.eigh(hermitian_part(adjoint(left) @ t @ right))
        u[:, group], v[:, group] = left @ turn, right @ turn
    if rank < len(s):
        left, _, right = np.linalg.svd(a)
        left, right = left[:, rank:], adjoint(right)[:, rank:]
        turn_left, _, turn_right = np.linalg.svd(adjoint(left) @ t @ right)
        u[:, rank:] = (left @ turn_left)[:, : u.shape[1] - rank]
        v[:, rank:] = (right @ adjoint(turn_right))[:, : v.shape[1] - rank]


def _sums(s):
    return s[..., None, :] + s[..., :, None]


@svd.jvp("a")
def svd_jvp(t, y, *, full, vectors, solver):
    u, s, vh = y
    k = s.shape[-1]
    v, s_ = adjoint(vh), s[..., None, :]
    u1, v1 = u[..., :k], v[..., :k]
    tv = t @ v1
    p = adjoint(u1) @ tv

    def over(numerator, d):
        return quotient(numerator, d, s, tv, function="svd", poles="nan" if vectors else "zero")

    both = over(p + adjoint(p), gaps(s)) * 0.5  # how both turn, and how one against the other
    against = over(skew(p), _sums(s)) * 0.5
    du, dv = u1 @ (both + against), v1 @ (both - against)
    if u.shape[-2] > k:
        beyond = over(tv - u1 @ p, s_)
        du = _with_rest(du + beyond, u, u1, beyond, full)
    if vh.shape[-1] > k:
        beyond = over(adjoint(t) @ u1 - v1 @ adjoint(p), s_)
        dv = _with_rest(dv + beyond, v, v1, beyond, full)
    return du, real(diagonal(p)), adjoint(dv)


def _with_rest(tangent, u, u1, beyond, full):
    """The tangent with that of the basis of the rest: it turns as the vectors turn into it."""
    if not full:
        return tangent
    rest = u[..., u1.shape[-1] :]
    return np.concatenate([tangent, -u1 @ (adjoint(beyond) @ rest)], axis=-1)


@svd.vjp("a")
def svd_vjp(g, y, *, full, vectors, solver):
    u, s, vh = y
    k = s.shape[-1]
    v = adjoint(vh)
    u1, v1 = u[..., :k], v[..., :k]
    gu, gs, gv = g.get(0), g.get(1), g.get(2)
    if gu is None and gv is None:
        require_alike(gs, s, function="svd")
        return conj((u1 * gs[..., None, :]) @ adjoint(v1))
    seed = gu if gv is None else gv if gu is None else None
    gu = None if gu is None else _onto(conj(gu), u, u1, full)
    gv = None if gv is None else _onto(gv.mT, v, v1, full)
    zero = u1[..., :k, :] * 0
    ku = zero if gu is None else adjoint(u1) @ gu
    kv = zero if gv is None else adjoint(v1) @ gv
    require_no_phase(ku + kv, "svd", seed)

    def over(numerator, d):
        return quotient(numerator, d, s, ku, kv, function="svd", poles="refuse")

    turn = (over(skew(ku + kv), gaps(s)) + over(skew(ku - kv), _sums(s))) * 0.5
    left = u1 @ turn
    if gs is not None:
        left = left + u1 * gs[..., None, :]
    if gu is not None and u.shape[-2] > k:
        left = left + over(gu - u1 @ ku, s[..., None, :])
    share = left @ adjoint(v1)
    if gv is not None and vh.shape[-1] > k:
        share = share + u1 @ adjoint(over(gv - v1 @ kv, s[..., None, :]))
    return conj(share)


def _onto(g, u, u1, full):
    """The cotangent of the vectors alone: the basis of the rest only turns with them."""
    k = u1.shape[-1]
    if not full or u.shape[-1] == k:
        return g
    g1, g2, rest = g[..., :k], g[..., k:], u[..., k:]
    turn = skew(adjoint(rest) @ g2)
    require_zero(turn, g2, function="svd", error=errors.ArbitraryBasisError)
    return g1 - rest @ (adjoint(g2) @ u1)


svd.batching(batch_leading(svd, itertools.repeat(2)))


@svd.typing
def svd_type(a, *along, full, vectors, solver):
    dtype, (m, n) = inexact(a), a.shape[-2:]
    k, stack = min(m, n), a.shape[:-2]
    u = ShapeDtypeStruct(stack + (m, m if full else k), dtype)
    vh = ShapeDtypeStruct(stack + (n if full else k, n), dtype)
    return u, ShapeDtypeStruct(stack + (k,), real_dtype(dtype)), vh


# ---- any square matrix ---------------------------------------------------------------------


@general(multiple=True, guided=True)
def eig(a, *along):
    """Eigenvalues and eigenvectors, always complex.

    LAPACK's vectors have length 1, and their largest component is real.
    """
    w, v = np.linalg.eig(a)
    dtype = np.result_type(w.dtype, np.complex64)
    w, v = w.astype(dtype), v.astype(dtype)
    if along:
        w, v = choose(_eigenvectors_along, along[0], w, v)
    close = np.abs(w[..., None, :] - w[..., :, None]) <= tolerances(w)[1]
    return split(w, close & ~np.eye(w.shape[-1], dtype=bool)), v


def _eigenvectors_along(t, w, v):
    change = np.linalg.inv(v) @ t @ v
    for i in range(len(w)):
        group = np.flatnonzero(np.abs(w - w[i]) <= tolerances(w)[0][0, 0])
        if group[0] == i and len(group) > 1:
            turned = v[:, group] @ np.linalg.eig(change[np.ix_(group, group)])[1]
            top = turned[np.argmax(np.abs(turned), axis=0), np.arange(len(group))]
            turned = turned * (np.abs(top) / top)
            v[:, group] = turned / np.linalg.norm(turned, axis=0)


def _largest(v):
    """The place of the largest component of each column, as a mask of 0 and 1."""
    size = np.abs(v)
    rows = np.arange(v.shape[-2])[:, None]
    return (rows == np.argmax(size, axis=-2)[..., None, :]).astype(size.dtype)


largest = constant(_largest, "largest_component")


@eig.jvp("a")
def eig_jvp(t, y):
    w, v = y
    c = inv(v) @ t @ v
    dv = v @ quotient(c, gaps(w), w, c, function="eig", poles="nan")
    length = np.sum(np.real(conj(v) * dv), axis=-2, keepdims=True)
    dv = dv - v * length
    top = largest(v)
    phase = np.sum(np.imag(dv) * top, axis=-2, keepdims=True) / np.sum(
        np.real(v) * top, axis=-2, keepdims=True
    )
    return diagonal(c), dv - v * (1j * phase)


@eig.vjp("a")
def eig_vjp(g, y):
    w, v = y
    gw, gv = g.get(0), g.get(1)
    if gv is None:
        require_alike(gw, w, function="eig")
        core = v.mT * gw[..., :, None]
    else:
        along = np.sum(gv * v, axis=-2, keepdims=True)  # what lengthens (real) and turns (imaginary)
        top = largest(v)
        turn = np.imag(along) / np.sum(np.real(v) * top, axis=-2, keepdims=True)
        gv = gv - conj(v) * np.real(along) - 1j * (turn * top)
        core = quotient(v.mT @ gv, gaps(w), w, gv, function="eig", poles="refuse") @ v.mT
        if gw is not None:
            core = core + v.mT * gw[..., :, None]
    return inv(v).mT @ core


eig.batching(batch_leading(eig, itertools.repeat(2)))


@eig.typing
def eig_type(a, *along):
    dtype = np.result_type(inexact(a), np.complex64)
    return ShapeDtypeStruct(a.shape[:-1], dtype), ShapeDtypeStruct(a.shape, dtype)
