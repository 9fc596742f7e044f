"""Eigenvalues and singular values of (stacks of) matrices, and their vectors.

`quotient` is the one place where the rules divide by differences of eigenvalues. What happens at equal ones,
where 0 is divided by 0, is told in `funcgrad._interpreters.split`. Forward mode needs no limit: among the
vectors of a repeated eigenvalue it takes those that the direction of differentiation chooses (`along`), as
perturbation theory does.
"""

import itertools

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._interpreters.split import split
from funcgrad._primitives.contractions import reindex
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

# ---- equal eigenvalues ---------------------------------------------------------------------


def _tolerances(values):
    """Differences up to which eigenvalues are equal, and up to which a limit is better than the quotient."""
    scale = np.max(np.abs(values), axis=-1, initial=0.0)[..., None, None]
    eps = np.finfo(values.dtype).eps
    return 32 * eps * scale, eps**0.5 * scale


@general
def quotient(k, d, values, *references, function, strict):
    """``k / d``, where `d` are differences of eigenvalues (or sums of singular ones).

    Where they vanish `k` must vanish too, or the result depends on the choice of eigenvectors: an error if
    `strict`, and NaN else. `references` tell the size that `k` is to be compared with.
    """
    return _limit((k, d, values, *references), (None, None), function=function, strict=strict)[0]


def _limit(arguments, parts, *, function, strict):
    """The quotient and its part in eps, by the parts in eps where the finite ones vanish."""
    (k, d, values, *references), (k1, d1) = arguments, parts[:2]
    equal, near = _tolerances(values)
    close = np.abs(d) <= near
    if not np.any(close):
        y = k / d
        if k1 is None and d1 is None:
            return y, None
        return y, ((0 if k1 is None else k1) - y * (0 if d1 is None else d1)) / d
    zero = np.zeros(np.broadcast_shapes(k.shape, d.shape), np.result_type(k.dtype, d.dtype))
    equal = close & (np.abs(d) <= equal)
    k, d = k + zero, d + zero
    k1, d1 = [zero if part is None else part + zero for part in (k1, d1)]
    size = max(np.max(np.abs(r), initial=0.0) for r in references)
    with np.errstate(all="ignore"):
        direct, limit = k / d, k1 / d1
        invariant = np.abs(k - limit * d) <= np.finfo(values.dtype).eps ** 0.4 * size
        y = np.where(close & invariant, limit, direct)
        # the limit's own part in eps would take second parts of k and d
        y1 = np.where(close, np.nan, (k1 - direct * d1) / d).astype(zero.dtype)
    wrong = equal & ~invariant
    if np.any(wrong):
        if strict:
            _refuse(function, values, wrong, np.isnan(k1))
        y = np.where(wrong, np.nan, y).astype(zero.dtype)
    return y, y1


def _refuse(function, values, wrong, unknown):
    *stack, _, j = place = tuple(np.argwhere(wrong)[0])
    values = np.broadcast_to(values, wrong.shape[:-2] + values.shape[-1:])[tuple(stack)]
    group = np.flatnonzero(np.abs(values - values[j]) <= _tolerances(values)[0][0])
    raise errors.RepeatedEigenvalueError(
        function,
        tuple([int(i) for i in group]),
        values[j].item(),
        bool(unknown[place]),
        describe(*caller(2)),
    )


quotient.limit = _limit
quotient.batching(batch_leading(quotient, (2, 2, 1) + (2,) * 8))


@quotient.jvp("k")
def quotient_jvp_k(t, d, values, *, function, strict):
    return quotient(t, d, values, t, function=function, strict=strict)


@quotient.vjp("k")
def quotient_vjp_k(g, d, values, k_shape, *, function, strict):
    return fit(quotient(g, d, values, g, function=function, strict=True), k_shape, None)


@quotient.jvp("d")
def quotient_jvp_d(t, y, d, values, *, function, strict):
    k = -y * t
    return quotient(k, d, values, k, function=function, strict=strict)


@quotient.vjp("d")
def quotient_vjp_d(g, y, d, values, d_shape, *, function, strict):
    k = -g * y
    return fit(quotient(k, d, values, k, function=function, strict=True), d_shape, None)


@quotient.typing
def quotient_type(k, d, *others, function, strict):
    return ShapeDtypeStruct(np.broadcast_shapes(k.shape, d.shape), np.result_type(k.dtype, d.dtype))


def _gaps(w):
    """At [i, j]: ``w[j] - w[i]``; infinity on the diagonal, for a vector does not turn towards itself."""
    infinity = np.diag(np.full(w.shape[-1], np.inf, real_dtype(w.dtype)))
    return w[..., None, :] - w[..., :, None] + infinity


def _require_alike(g, w, function):
    """Where only eigenvalues are used, equal ones must count alike: their order says nothing."""
    differences = g[..., None, :] - g[..., :, None]
    quotient(differences, _gaps(w), w, differences, function=function, strict=True)


def _require_zero(x, reference, *, function, error):
    """An error if the function depends on what is arbitrary; `x` is how it does."""
    size = np.max(np.abs(reference), initial=0.0)
    if np.any(np.abs(x) > np.finfo(reference.dtype).eps ** 0.4 * size):
        raise error(function, describe(*caller(2)))
    return x


require_zero = constant(_require_zero, "require_zero")
require_zero.batch = lambda values, batched, **params: require_zero(*values, **params)
require_zero.typed = lambda x, reference, **params: x


def _require_no_phase(k, function):
    """`k`, vectors times cotangent, is real on the diagonal unless the phase of the vectors matters."""
    if k.dtype.kind == "c":
        phase = np.imag(_diagonal(k))
        require_zero(phase, k, function=function, error=errors.EigenvectorPhaseError)


def _diagonal(x):
    return reindex(x, source="ii", target="i")


def _groups(values):
    """The slices of equal entries of a sorted array, of two and more."""
    equal = _tolerances(values)[0][0]
    ends = [0, *(np.flatnonzero(np.abs(np.diff(values)) > equal) + 1).tolist(), len(values)]
    return [slice(i, j) for i, j in itertools.pairwise(ends) if j - i > 1]


# ---- Hermitian matrices --------------------------------------------------------------------


@general(multiple=True, guided=True)
def eigh(a, *along, uplo):
    """Eigenvalues and eigenvectors. The derivative is that of the Hermitian part."""
    w, u = np.linalg.eigh(a, uplo)
    close = np.diff(w, axis=-1) <= _tolerances(w)[1][..., 0]
    if along:
        w, u = _choose(w, [u], lambda u: adjoint(u) @ hermitian_part(along[0]) @ u, along[0].shape[:-2])
    return split(w, close), u


def _choose(values, vectors, change, stack):
    """Among the vectors of a repeated eigenvalue those that diagonalise its ``change(*vectors)``."""
    stack = np.broadcast_shapes(values.shape[:-1], stack)
    values = np.array(np.broadcast_to(values, stack + values.shape[-1:]))
    vectors = [np.array(np.broadcast_to(v, stack + v.shape[-2:])) for v in vectors]
    changes = np.broadcast_to(change(*vectors), stack + (values.shape[-1],) * 2)
    for i in np.ndindex(stack):
        for group in _groups(values[i]):
            _, rotation = np.linalg.eigh(hermitian_part(changes[i][group, group]))
            for v in vectors:
                v[i][:, group] = v[i][:, group] @ rotation
    return values, *vectors


@eigh.jvp("a")
def eigh_jvp(t, y, *, uplo):
    w, u = y
    p = adjoint(u) @ hermitian_part(t) @ u
    turn = quotient(p, _gaps(w), w, p, function="eigh", strict=False)
    return real(_diagonal(p)), u @ turn


@eigh.vjp("a")
def eigh_vjp(g, y, *, uplo):
    w, u = y
    gw, gu = g.get(0), g.get(1)
    if gu is None:
        _require_alike(gw, w, "eigh")
        return conj((u * gw[..., None, :]) @ adjoint(u))
    k = adjoint(u) @ conj(gu)
    _require_no_phase(k, "eigh")
    k = quotient(skew(k) * 0.5, _gaps(w), w, gu, function="eigh", strict=True)
    left = u @ k
    if gw is not None:
        left = left + u * gw[..., None, :]
    return conj(left @ adjoint(u))


eigh.batching(batch_leading(eigh, itertools.repeat(2)))


@eigh.typing
def eigh_type(a, *along, uplo):
    dtype = inexact(a)
    return ShapeDtypeStruct(a.shape[:-1], real_dtype(dtype)), ShapeDtypeStruct(a.shape, dtype)


# ---- singular values -----------------------------------------------------------------------


@general(multiple=True, guided=True)
def svd(a, *along, full):
    """Singular values and vectors; `full` adds bases of what they leave out."""
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    near = _tolerances(s)[1][..., 0]
    close = np.concatenate([-np.diff(s, axis=-1), s[..., -1:]], axis=-1) <= near
    if along:
        k = s.shape[-1]
        s, u, v = _choose(
            s,
            [u, adjoint(vh)],
            lambda u, v: adjoint(u[..., :k]) @ along[0] @ v[..., :k],
            along[0].shape[:-2],
        )
        vh = adjoint(v)
    return u, split(s, close), vh


def _sums(s):
    return s[..., None, :] + s[..., :, None]


@svd.jvp("a")
def svd_jvp(t, y, *, full):
    u, s, vh = y
    k = s.shape[-1]
    v, s_ = adjoint(vh), s[..., None, :]
    u1, v1 = u[..., :k], v[..., :k]
    tv = t @ v1
    p = adjoint(u1) @ tv

    def over(numerator, d):
        return quotient(numerator, d, s, tv, function="svd", strict=False)

    both = over(p + adjoint(p), _gaps(s)) * 0.5  # how both turn, and how one against the other
    against = over(skew(p), _sums(s)) * 0.5
    du, dv = u1 @ (both + against), v1 @ (both - against)
    if u.shape[-2] > k:
        beyond = over(tv - u1 @ p, s_)
        du = _with_rest(du + beyond, u, u1, beyond, full)
    if vh.shape[-1] > k:
        beyond = over(adjoint(t) @ u1 - v1 @ adjoint(p), s_)
        dv = _with_rest(dv + beyond, v, v1, beyond, full)
    return du, real(_diagonal(p)), adjoint(dv)


def _with_rest(tangent, u, u1, beyond, full):
    """The tangent with that of the basis of the rest: it turns as the vectors turn into it."""
    if not full:
        return tangent
    rest = u[..., u1.shape[-1] :]
    return np.concatenate([tangent, -u1 @ (adjoint(beyond) @ rest)], axis=-1)


@svd.vjp("a")
def svd_vjp(g, y, *, full):
    u, s, vh = y
    k = s.shape[-1]
    v = adjoint(vh)
    u1, v1 = u[..., :k], v[..., :k]
    gu, gs, gv = g.get(0), g.get(1), g.get(2)
    if gu is None and gv is None:
        _require_alike(gs, s, "svd")
        return conj((u1 * gs[..., None, :]) @ adjoint(v1))
    gu = None if gu is None else _onto(conj(gu), u, u1, full)
    gv = None if gv is None else _onto(gv.mT, v, v1, full)
    zero = u1[..., :k, :] * 0
    ku = zero if gu is None else adjoint(u1) @ gu
    kv = zero if gv is None else adjoint(v1) @ gv
    _require_no_phase(ku + kv, "svd")

    def over(numerator, d):
        return quotient(numerator, d, s, ku, kv, function="svd", strict=True)

    turn = (over(skew(ku + kv), _gaps(s)) + over(skew(ku - kv), _sums(s))) * 0.5
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
def svd_type(a, *along, full):
    dtype, (m, n) = inexact(a), a.shape[-2:]
    k, stack = min(m, n), a.shape[:-2]
    u = ShapeDtypeStruct(stack + (m, m if full else k), dtype)
    vh = ShapeDtypeStruct(stack + (n if full else k, n), dtype)
    return u, ShapeDtypeStruct(stack + (k,), real_dtype(dtype)), vh


# ---- any square matrix ---------------------------------------------------------------------


@general(multiple=True)
def eig(a):
    """Eigenvalues and eigenvectors, always complex.

    LAPACK's vectors have length 1, and their largest component is real.
    """
    w, v = np.linalg.eig(a)
    dtype = np.result_type(w.dtype, np.complex64)
    w, v = w.astype(dtype), v.astype(dtype)
    close = np.abs(w[..., None, :] - w[..., :, None]) <= _tolerances(w)[1]
    return split(w, close & ~np.eye(w.shape[-1], dtype=bool)), v


def _largest(v):
    """The place of the largest component of each column, as a mask."""
    size = np.abs(v)
    rows = np.arange(v.shape[-1])[:, None]
    return np.asarray(rows == np.expand_dims(np.argmax(size, axis=-2), -2), size.dtype)


@eig.jvp
def eig_jvp(t, y):
    w, v = y
    c = inv(v) @ t @ v
    dv = v @ quotient(c, _gaps(w), w, c, function="eig", strict=False)
    length = np.sum(np.real(conj(v) * dv), axis=-2, keepdims=True)
    dv = dv - v * length
    top = _largest(v)
    phase = np.sum(np.imag(dv) * top, axis=-2, keepdims=True) / np.sum(
        np.real(v) * top, axis=-2, keepdims=True
    )
    return _diagonal(c), dv - v * (1j * phase)


@eig.vjp
def eig_vjp(g, y):
    w, v = y
    gw, gv = g.get(0), g.get(1)
    if gv is None:
        _require_alike(gw, w, "eig")
        core = v.mT * gw[..., :, None]
    else:
        along = np.sum(gv * v, axis=-2, keepdims=True)  # what lengthens (real) and turns (imaginary)
        top = _largest(v)
        turn = np.imag(along) / np.sum(np.real(v) * top, axis=-2, keepdims=True)
        gv = gv - conj(v) * np.real(along) - 1j * (turn * top)
        core = quotient(v.mT @ gv, _gaps(w), w, gv, function="eig", strict=True) @ v.mT
        if gw is not None:
            core = core + v.mT * gw[..., :, None]
    return inv(v).mT @ core


@eig.typing
def eig_type(a):
    dtype = np.result_type(inexact(a), np.complex64)
    return ShapeDtypeStruct(a.shape[:-1], dtype), ShapeDtypeStruct(a.shape, dtype)
