"""Linear systems, inverses and least squares."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from funcgrad._core.tracer import Tracer
from funcgrad._primitives import linalg as prims
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy._values import known
from funcgrad.scipy.linalg._operands import array, columns, matrices
from funcgrad.scipy.linalg._structures import (
    Banded,
    DefiniteBanded,
    Dense,
    Toeplitz,
    Triangular,
    mirrored,
    structured_solve,
)

# SciPy's overwrite_a and overwrite_b allow it to save a copy; here nothing is overwritten.

_ASSUMPTIONS = {
    None: None, "general": "gen", "gen": "gen", "diagonal": "diagonal", "tridiagonal": "tridiagonal",
    "banded": "banded", "upper triangular": "upper triangular", "lower triangular": "lower triangular",
    "symmetric": "sym", "sym": "sym", "hermitian": "her", "her": "her",
    "positive definite": "pos", "pos": "pos",
}  # fmt: skip


def _solve(data, b, structure, vector):
    x = structured_solve(data, b, structure=structure)
    return x[..., 0] if vector else x


def _assumed(assume_a):
    if assume_a not in _ASSUMPTIONS:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    return _ASSUMPTIONS[assume_a]


def _structure(a, assume, lower):
    """The structure that a solver is told of, and the data that it reads."""
    if assume in ("upper triangular", "lower triangular"):
        return Triangular(assume == "lower triangular"), a
    if assume in ("diagonal", "tridiagonal"):
        k = int(assume == "tridiagonal")
        return Dense("gen", False), a * (np.tri(a.shape[-1], k=k) * np.tri(a.shape[-1], k=k).T).astype(
            prims.real_dtype(a.dtype)
        )
    if assume == "banded":
        return Dense("gen", False), a
    return Dense(assume, bool(lower)), a


@implements(scipy.linalg.solve)
def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
          transposed=False):  # fmt: skip
    a = matrices(a, check_finite)
    if transposed and a.dtype.kind == "c":
        raise NotImplementedError(
            "scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex matrices."
        )
    b, vector = columns(b, a.shape[-1], check_finite)
    structure, data = _structure(a, _assumed(assume_a), lower)
    if transposed:
        structure, data = structure.transposed(data)
    return _solve(data, b, structure, vector)


@implements(scipy.linalg.inv)
def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    a = matrices(a, check_finite)
    assume = _assumed(assume_a)
    if assume in (None, "gen"):
        return prims.inv(a)
    structure, data = _structure(a, assume, lower)
    return structured_solve(data, np.eye(a.shape[-1], dtype=a.dtype), structure=structure)


@implements(scipy.linalg.solve_triangular)
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    a = matrices(a, check_finite)
    b, vector = columns(b, a.shape[-1], check_finite)
    return _solve(*_triangular(a, b, trans, bool(lower), bool(unit_diagonal)), vector)


def _triangular(a, b, trans, lower, unit=False):
    """Data, right-hand side and structure of a triangular system, or its transpose."""
    trans = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    if trans:
        a, lower = (a.mT if trans == 1 else prims.adjoint(a)), not lower
    return a, b, Triangular(lower, unit)


@implements(scipy.linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    c = matrices(c, check_finite)
    b, vector = columns(b, c.shape[-1], check_finite)
    first, second = (0, 2) if lower else (2, 0)
    y = _solve(*_triangular(c, b, first, bool(lower)), False)
    return _solve(*_triangular(c, y, second, bool(lower)), vector)


@implements(scipy.linalg.solve_banded)
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    below, above = map(int, l_and_u)
    ab = matrices(ab, check_finite, square=False)
    if ab.shape[-2] != below + above + 1:
        raise ValueError(
            f"invalid values for the number of lower and upper diagonals: l+u+1 ({below + above + 1}) does "
            f"not equal ab.shape[0] ({ab.shape[-2]})"
        )
    b, vector = columns(b, ab.shape[-1], check_finite)
    return _solve(ab, b, Banded(below, above), vector)


@implements(scipy.linalg.solveh_banded)
def solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    ab = matrices(ab, check_finite, square=False)
    b, vector = columns(b, ab.shape[-1], check_finite)
    return _solve(ab, b, DefiniteBanded(bool(lower)), vector)


@implements(scipy.linalg.cho_solve_banded)
def cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    cb, lower = cb_and_lower
    cb = matrices(cb, check_finite, square=False)
    b, vector = columns(b, cb.shape[-1], check_finite)
    k = cb.shape[-2] - 1
    factor = Banded(k, 0) if lower else Banded(0, k)
    other, adjoint = factor.transposed(prims.conj(cb))
    first, second = ((cb, factor), (adjoint, other)) if lower else ((adjoint, other), (cb, factor))
    return _solve(second[0], _solve(first[0], b, first[1], False), second[1], vector)


# ---- constant diagonals --------------------------------------------------------------------


def toeplitz_diagonals(c_or_cr, check_finite=False):
    """The diagonals of a Toeplitz matrix from the lowest, last, to the uppermost, first, and its shape."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = array(c, check_finite)
    r = prims.conj(c) if r is None else array(r, check_finite)
    stack = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    c, r = [np.broadcast_to(x, stack + x.shape[-1:]) for x in (c, r)]
    return np.concatenate([r[..., :0:-1], c], axis=-1), (c.shape[-1], r.shape[-1])


@implements(scipy.linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr, b, check_finite=True):
    diagonals, (m, n) = toeplitz_diagonals(c_or_cr, check_finite)
    if m != n:
        raise ValueError("Incompatible dimensions.")
    b, vector = columns(b, m, check_finite)
    return _solve(diagonals, b, Toeplitz(), vector)


@implements(scipy.linalg.matmul_toeplitz)
def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    diagonals, (m, n) = toeplitz_diagonals(c_or_cr, check_finite)
    x, vector = columns(x, n, check_finite)
    out = Toeplitz().dense(diagonals, m, n) @ x
    return out[..., 0] if vector else out


@implements(scipy.linalg.solve_circulant)
def solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    c, b = [np.reshape(x, (1,)) if x.ndim == 0 else x for x in (array(c), array(b))]
    if c.shape[caxis] != b.shape[baxis]:
        raise ValueError(f"Shapes of c {c.shape} and b {b.shape} are incompatible")
    if b.size == 0:
        return b + np.zeros((), c.dtype)
    fc = np.fft.fft(np.moveaxis(c, caxis, -1))
    value = known(fc)
    if value is not None:
        size = np.abs(value)
        limit = tol
        if tol is None:
            limit = np.max(size, axis=-1, keepdims=True) * c.shape[caxis] * np.finfo(np.float64).eps
        if np.any(size <= limit):
            if singular == "raise":
                raise np.linalg.LinAlgError("near singular circulant matrix.")
            refuse_argument(
                "scipy.linalg.solve_circulant",
                'singular="lstsq" of a singular matrix',
                "Write pinv(circulant(c)) @ b, whose rank is taken to be constant.",
            )
    x = np.fft.ifft(np.fft.fft(np.moveaxis(b, baxis, -1)) / fc)
    if c.dtype.kind != "c" and b.dtype.kind != "c":
        x = np.real(x)
    return np.moveaxis(x, -1, outaxis)


# ---- least squares and pseudo-inverses -----------------------------------------------------


def _eps(a):
    return float(np.finfo(prims.inexact(a)).eps)


@implements(scipy.linalg.lstsq)
def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    if lapack_driver not in (None, "gelsd", "gelsy", "gelss"):
        raise ValueError(f'LAPACK driver "{lapack_driver}" is not found')
    if isinstance(cond, Tracer):
        refuse_argument("scipy.linalg.lstsq", "a traced cond", "It decides on the rank: pass a plain number.")
    a = matrices(a, check_finite, square=False)
    m, n = a.shape[-2:]
    b, vector = columns(b, m, check_finite)
    x, rank, s = prims.lstsq(a, b, rcond=_eps(a) if cond is None else float(cond))
    residual = b - a @ x
    residual = np.sum(prims.real(prims.conj(residual) * residual), axis=-2)
    full = isinstance(rank, Tracer) or np.all(np.asarray(rank) == n)
    x, residual = (x[..., 0], residual[..., 0]) if vector else (x, residual)
    if lapack_driver == "gelsy" or m <= n or not full:
        residual = np.zeros((0,), residual.dtype)
    return x, residual, rank, None if lapack_driver == "gelsy" else s


@implements(scipy.linalg.pinv)
def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    return _pinv("pinv", matrices(a, check_finite, square=False), atol, rtol, return_rank, False)


@implements(scipy.linalg.pinvh)
def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    a = matrices(a, check_finite)
    return _pinv("pinvh", mirrored(a, lower, True), atol, rtol, return_rank, True)


def _pinv(name, a, atol, rtol, return_rank, hermitian):
    for argument, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tracer):
            refuse_argument(f"scipy.linalg.{name}", f"a traced {argument}", "It decides on the rank.")
        if value is not None and value < 0:
            raise ValueError("atol and rtol values must be positive.")
    rtol = max(a.shape[-2:]) * _eps(a) if rtol is None else float(rtol)
    if atol:
        value = known(a)
        if value is None or a.ndim > 2:
            cure = "Give rtol, which is relative to the largest singular value."
            refuse_argument(f"scipy.linalg.{name}", "atol of matrices in a batch", cure)
        largest = np.max(np.linalg.svd(value, compute_uv=False), initial=0.0)
        rtol += float(atol / largest) if largest else 0.0
    out = prims.pinv(a, rcond=rtol, hermitian=hermitian)
    if not return_rank:
        return out
    return out, prims.matrix_rank(a, tol=None, hermitian=hermitian, rtol=rtol)
