"""NumPy's `linalg` module: systems, factorisations, determinants, norms."""

from __future__ import annotations

import math

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._primitives import factorizations, spectra
from funcgrad._primitives import linalg as prims
from funcgrad.numpy.arguments import NO_VALUE
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

# The classes of NumPy's named results, which have no public names.
_EigResult = type(np.linalg.eig(np.eye(1)))
_EighResult = type(np.linalg.eigh(np.eye(1)))
_QRResult = type(np.linalg.qr(np.eye(1)))
_SVDResult = type(np.linalg.svd(np.eye(1)))
_SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


def _matrices(a, square=False):
    """The argument as (a stack of) matrices; NumPy's errors if it is none."""
    a = asarray(a)
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if square and a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return a


def _known(x):
    """The array at the bottom of a traced one, for decisions that need values; None if there is none."""
    while isinstance(x, Tracer):
        x = getattr(x, "value", None)
    return x if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else None


# ---- systems and inverses ------------------------------------------------------------------


@implements(np.linalg.solve)
def solve(a, b):
    a, b = _matrices(a, square=True), asarray(b)
    if b.ndim == 1:
        return prims.solve(a, b[:, None])[..., 0]
    return prims.solve(a, b)


@implements(np.linalg.inv)
def inv(a):
    return prims.inv(_matrices(a, square=True))


@implements(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, *, rtol=NO_VALUE):
    a = _matrices(a)
    if rcond is None and rtol is NO_VALUE:
        rcond = 1e-15
    elif rcond is None:
        rcond = _tolerance("pinv", "rtol", rtol, _eps(a) * max(a.shape[-2:]))
    elif rtol is not NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    rcond = _tolerance("pinv", "rcond", rcond, None)
    return prims.pinv(a, rcond=rcond, hermitian=bool(hermitian))


def _eps(a):
    return float(np.finfo(prims.inexact(a)).eps)


def _tolerance(function, argument, value, default):
    """A tolerance, which must be one number: it decides on ranks."""
    if value is None:
        return default
    if isinstance(value, Tracer) or np.ndim(value):
        raise errors.UnsupportedArgumentError(
            f"linalg.{function}", argument, describe(*caller(3)), "Give one plain number for all matrices."
        )
    return float(value)


@implements(np.linalg.lstsq)
def lstsq(a, b, rcond=None):
    a, b = _matrices(a), asarray(b)
    m, n = a.shape[-2:]
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    rcond = _tolerance("lstsq", "rcond", rcond, _eps(a) * max(m, n))
    x, rank, s = prims.lstsq(a, b, rcond=rcond)
    residual = b - a @ x
    residual = np.sum(prims.real(prims.conj(residual) * residual), axis=-2)
    if m <= n or not _is_full(rank, n):
        residual = residual[:0]
    return x[..., 0] if vector else x, residual, rank, s


def _is_full(rank, n):
    return isinstance(rank, Tracer) or int(rank) == n


@implements(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    a, b = asarray(a), asarray(b)
    if axes is not None:
        kept = [k for k in range(a.ndim) if k not in axes]
        a = np.transpose(a, kept + list(axes))
    inner = a.shape[-(a.ndim - b.ndim) :] if a.ndim > b.ndim else ()
    size = math.prod(inner)
    if a.size != size**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.reshape(solve(np.reshape(a, (size, size)), np.ravel(b)), inner)


@implements(np.linalg.tensorinv)
def tensorinv(a, ind=2):
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    front, back = a.shape[:ind], a.shape[ind:]
    return np.reshape(inv(np.reshape(a, (math.prod(front), -1))), back + front)


@implements(np.linalg.matrix_power)
def matrix_power(a, n):
    a = _matrices(a, square=True)
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a, n = inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else result @ a
        n >>= 1
        if n:
            a = a @ a
    return result


# ---- factorisations ------------------------------------------------------------------------


def _read_triangle(a, lower=True):
    """The Hermitian matrix that LAPACK sees, which reads one triangle only.

    A matrix that is Hermitian already is left alone: its derivative treats both triangles alike. Of one that
    is not, where the other triangle is empty for instance, the other triangle has derivative 0.
    """
    known = _known(a)
    if known is None:
        return a
    size = np.max(np.abs(known), initial=0.0)
    if np.max(np.abs(known - prims.adjoint(known)), initial=0.0) <= np.finfo(known.dtype).eps ** 0.5 * size:
        return a
    return np.tril(a) + prims.adjoint(np.tril(a, -1)) if lower else np.triu(a) + prims.adjoint(np.triu(a, 1))


@implements(np.linalg.cholesky)
def cholesky(a, /, *, upper=False):
    a = _read_triangle(_matrices(a, square=True), not upper)
    factor = factorizations.cholesky(a)
    return prims.adjoint(factor) if upper else factor


@implements(np.linalg.qr)
def qr(a, mode="reduced"):
    a = _matrices(a)
    m, n = a.shape[-2:]
    if mode in ("raw", "economic", "full", "f", "e"):
        cure = 'Use mode="reduced", which gives Q itself and R.'
        raise errors.UnsupportedArgumentError("linalg.qr", f"mode={mode!r}", describe(*caller(2)), cure)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    q, r = factorizations.qr(a[..., :m] if n > m else a)
    if n > m:
        r = np.concatenate([r, prims.adjoint(q) @ a[..., m:]], axis=-1)
    if mode == "complete" and m > n:
        q = np.concatenate([q, factorizations.rest_of_basis(q)], axis=-1)
        r = np.concatenate([r, np.zeros((*r.shape[:-2], m - n, n), r.dtype)], axis=-2)
    return r if mode == "r" else _QRResult(q, r)


@implements(np.linalg.eigh)
def eigh(a, UPLO="L"):
    return _EighResult(*_eigh(a, UPLO, vectors=True))


def _eigh(a, uplo, vectors):
    uplo = uplo.upper()
    if uplo not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = _read_triangle(_matrices(a, square=True), uplo == "L")
    return spectra.eigh(a, uplo=uplo, vectors=vectors, solver=None)


@implements(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L"):
    return _eigh(a, UPLO, vectors=False)[0]


@implements(np.linalg.eig)
def eig(a):
    a = _matrices(a, square=True)
    w, v = spectra.eig(a)
    return _EigResult(*((np.real(w), np.real(v)) if _all_real(a, w, v) else (w, v)))


@implements(np.linalg.eigvals)
def eigvals(a):
    a = _matrices(a, square=True)
    w, _ = spectra.eig(a)
    return np.real(w) if _all_real(a, w) else w


def _all_real(a, *results):
    """Whether NumPy's results are real numbers: those of a real matrix, if all are real."""
    if a.dtype.kind == "c":
        return False
    known = [_known(x) for x in results]
    return all(x is not None and not np.any(x.imag) for x in known)


@implements(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    a = _matrices(a)
    if hermitian:
        u, s, vh = _hermitian_svd(a, compute_uv)
    else:
        m, n = a.shape[-2:]
        full = bool(full_matrices and compute_uv and m != n)
        u, s, vh = spectra.svd(a, full=full, vectors=bool(compute_uv), solver=None)
    return _SVDResult(u, s, vh) if compute_uv else s


def _hermitian_svd(a, vectors):
    w, u = _eigh(a, "L", vectors)
    order = np.argsort(np.abs(w), axis=-1)[..., ::-1]
    w = np.take_along_axis(w, order, axis=-1)
    u = np.take_along_axis(u, order[..., None, :], axis=-1)
    return u, np.abs(w), prims.adjoint(u * np.sign(w)[..., None, :])


@implements(np.linalg.svdvals)
def svdvals(x, /):
    return svd(x, compute_uv=False)


# ---- numbers of a matrix -------------------------------------------------------------------


@implements(np.linalg.det)
def det(a):
    return prims.det(_matrices(a, square=True))


@implements(np.linalg.slogdet)
def slogdet(a):
    return _SlogdetResult(*prims.slogdet(_matrices(a, square=True)))


@implements(np.linalg.matrix_rank)
def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    tol, rtol = [_tolerance("matrix_rank", "tol", value, None) for value in (tol, rtol)]
    return prims.matrix_rank(asarray(A), tol=tol, hermitian=bool(hermitian), rtol=rtol)


@implements(np.linalg.cond)
def cond(x, p=None):
    x = _matrices(x)
    if p is None or p == 2:
        s = svdvals(x)
        return np.max(s, axis=-1) / np.min(s, axis=-1)
    if p == -2:
        s = svdvals(x)
        return np.min(s, axis=-1) / np.max(s, axis=-1)
    return norm(x, p, axis=(-2, -1)) * norm(inv(x), p, axis=(-2, -1))


# ---- norms ---------------------------------------------------------------------------------


@implements(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False):
    x = asarray(x)
    if axis is None:
        if ord is None or (ord == 2 and x.ndim == 1) or (ord in ("f", "fro") and x.ndim == 2):
            return _vector_norm(x, 2, tuple(range(-x.ndim, 0)), keepdims)
        axis = tuple(range(-x.ndim, 0))
    axis = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    axis = tuple([i if i < 0 else i - x.ndim for i in axis])
    if len(axis) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axis, keepdims)
    if len(axis) == 2:
        return _matrix_norm(x, ord, axis, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


@implements(np.linalg.vector_norm)
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = asarray(x)
    if axis is None:
        axis = range(x.ndim)
    elif isinstance(axis, (int, np.integer)):
        axis = (axis,)
    axis = tuple([i if i < 0 else i - x.ndim for i in axis])
    return _vector_norm(x, ord, axis, keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return _matrix_norm(_matrices(x), ord, (-2, -1), keepdims)


def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(prims.real_dtype(x.dtype)), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    out = prims.norm(x, ord=2 if ord is None else float(ord), axis=axis)
    return np.expand_dims(out, axis) if keepdims else out


def _matrix_norm(x, ord, axis, keepdims):
    row, column = axis
    if row % x.ndim == column % x.ndim:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord in ("fro", "f"):
        out = prims.norm(x, ord=2, axis=axis)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = np.sum(np.abs(x), axis=row if abs(ord) == 1 else column, keepdims=True)
        out = np.max(sums, axis=axis) if ord > 0 else np.min(sums, axis=axis)
    elif ord in (2, -2, "nuc"):
        s = svdvals(np.moveaxis(x, axis, (-2, -1)))
        if ord == -2:
            out = np.min(s, axis=-1)
        else:
            s = _without_zeros(s)
            out = np.sum(s, axis=-1) if ord == "nuc" else np.max(s, axis=-1)
    else:
        raise ValueError("Invalid norm order for matrices.")
    return np.expand_dims(out, axis) if keepdims else out


def _without_zeros(s):
    """Singular values; one that is 0 is at a kink, where the derivative is 0."""
    largest = np.max(s, axis=-1, keepdims=True, initial=0.0)
    return np.where(s > 32 * _eps(s) * largest, s, 0.0)


def __getattr__(name):
    return getattr(np.linalg, name)  # what has to do with no traced value
