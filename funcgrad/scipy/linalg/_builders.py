"""Matrices made of vectors and of other matrices, numbers of a matrix, and questions about one."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from funcgrad import numpy as fnp
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy._values import known_or_refuse
from funcgrad.scipy.linalg._operands import array, matrices
from funcgrad.scipy.linalg._structures import Toeplitz
from funcgrad.scipy.linalg._systems import toeplitz_diagonals

# ---- constant diagonals --------------------------------------------------------------------


def _vector(x):
    x = asarray(x)
    return np.reshape(x, (1,)) if x.ndim == 0 else x


@implements(scipy.linalg.toeplitz)
def toeplitz(c, r=None):
    c = _vector(c)
    diagonals, (m, n) = toeplitz_diagonals((c, np.conj(c) if r is None else _vector(r)))
    return Toeplitz().dense(diagonals, m, n)


@implements(scipy.linalg.circulant)
def circulant(c):
    c = _vector(c)
    n = np.arange(c.shape[-1])
    return c[..., n[:, None] - n]


@implements(scipy.linalg.hankel)
def hankel(c, r=None):
    c = _vector(c)
    r = np.zeros_like(c) if r is None else _vector(r)
    stack = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    c, r = [np.broadcast_to(x, stack + x.shape[-1:]) for x in (c, r)]
    diagonals = np.concatenate([c, r[..., 1:]], axis=-1)
    return diagonals[..., np.arange(c.shape[-1])[:, None] + np.arange(r.shape[-1])]


@implements(scipy.linalg.convolution_matrix)
def convolution_matrix(a, n, mode="full"):
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    a = _vector(a)
    m = a.shape[-1]
    if m == 0:
        raise ValueError("len(a) must be at least 1.")
    first, rows = {"full": (0, m + n - 1), "same": ((min(m, n) - 1) // 2, max(m, n)),
                   "valid": (min(m, n) - 1, max(m, n) - min(m, n) + 1)}.get(mode, (None, None))  # fmt: skip
    if first is None:
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    at = first + np.arange(rows)[:, None] - np.arange(n)
    return np.where((at >= 0) & (at < m), a[..., np.clip(at, 0, m - 1)], np.zeros((), a.dtype))


# ---- companions of polynomials and populations ---------------------------------------------


def _below(row, strict):
    """The matrix with this first row and, below the diagonal, these entries."""
    n = row.shape[-1]
    place = np.eye(n, k=-1)[:, : n - 1].astype(strict.dtype)
    lower = place * strict[..., None, :]
    lower = np.concatenate([lower, np.zeros((*lower.shape[:-1], 1), lower.dtype)], axis=-1)
    return np.concatenate([row[..., None, :], lower[..., 1:, :]], axis=-2)


@implements(scipy.linalg.companion)
def companion(a):
    a = asarray(a)
    if a.ndim < 1 or a.shape[-1] < 2:
        raise ValueError("The length of `a` must be at least 2.")
    row = -a[..., 1:] / a[..., :1]
    return _below(row, np.ones((*row.shape[:-1], row.shape[-1] - 1), row.dtype))


@implements(scipy.linalg.leslie)
def leslie(f, s):
    f, s = asarray(f), asarray(s)
    if f.shape[-1] != s.shape[-1] + 1:
        raise ValueError("Incorrect lengths for f and s: the length of s must be one less than that of f.")
    stack = np.broadcast_shapes(f.shape[:-1], s.shape[:-1])
    return _below(*[np.broadcast_to(x, stack + x.shape[-1:]) for x in (f, s)])


@implements(scipy.linalg.fiedler)
def fiedler(a):
    a = _vector(a)
    return np.abs(a[..., :, None] - a[..., None, :])


# ---- of matrices ---------------------------------------------------------------------------


@implements(scipy.linalg.block_diag)
def block_diag(*arrs):
    blocks = [asarray(x) for x in arrs] or [np.zeros((1, 0))]
    blocks = [np.reshape(x, (1, -1)) if x.ndim < 2 else x for x in blocks]
    stack = np.broadcast_shapes(*[x.shape[:-2] for x in blocks])
    width, before, rows = sum(x.shape[-1] for x in blocks), 0, []
    for x in blocks:
        x = np.broadcast_to(x, stack + x.shape[-2:])
        after = width - before - x.shape[-1]
        sides = [np.zeros((*x.shape[:-1], n), x.dtype) for n in (before, after)]
        rows.append(fnp.concatenate([sides[0], x, sides[1]], axis=-1))
        before += x.shape[-1]
    return fnp.concatenate(rows, axis=-2)


@implements(scipy.linalg.khatri_rao)
def khatri_rao(a, b):
    a, b = matrices(a, square=False), matrices(b, square=False)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    out = a[..., :, None, :] * b[..., None, :, :]
    return np.reshape(out, (*out.shape[:-3], a.shape[-2] * b.shape[-2], a.shape[-1]))


@implements(scipy.linalg.diagsvd)
def diagsvd(s, M, N):
    s = asarray(s)
    if s.shape[-1] not in (M, N):
        raise ValueError("Length of s must be M or N.")
    k = s.shape[-1]
    return (
        s[..., None, :] * np.eye(M, k, dtype=s.dtype)
        if k == N
        else s[..., :, None] * np.eye(k, N, dtype=s.dtype)
    )


# ---- numbers -------------------------------------------------------------------------------


def _double(a):
    """In double precision, in which SciPy gives some numbers of single precision matrices."""
    return a.astype(np.result_type(a.dtype, np.float64))


@implements(scipy.linalg.det)
def det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(_double(matrices(a, check_finite)))


@implements(scipy.linalg.norm)
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    a = array(a, check_finite)
    if a.ndim == 1 and ord in (None, 2) and axis is None and not keepdims:
        a = _double(a)  # the BLAS's norm is a Python number
    return np.linalg.norm(a, ord, axis, keepdims)


# ---- questions, whose answers have no derivative -------------------------------------------


def _answer(function):
    def implementation(a, *args, **kwargs):
        if any(hasattr(x, "_trace") for x in (*args, *kwargs.values())):
            refuse_argument(f"scipy.linalg.{function.__name__}", "a traced tolerance", "Pass a plain number.")
        return function(known_or_refuse(a, f"scipy.linalg.{function.__name__}"), *args, **kwargs)

    IMPLEMENTATIONS[function] = implementation


for _function in (scipy.linalg.issymmetric, scipy.linalg.ishermitian, scipy.linalg.bandwidth):
    _answer(_function)
