"""Factorisations of (stacks of) matrices: Cholesky and QR."""

import numpy as np

from funcgrad import errors
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives.kinds import general
from funcgrad._primitives.linalg import adjoint, conj, hermitian_part, inexact, inv, real_dtype, skew
from funcgrad._primitives.repeated import require_zero

# ---- Cholesky ------------------------------------------------------------------------------


@general
def cholesky(a):
    """The lower factor. The derivative is that of the Hermitian part: both triangles count alike."""
    return np.linalg.cholesky(a)


def _lower_half(x):
    """The lower triangle with half of the diagonal, the inverse of ``l -> l + adjoint(l)``."""
    weights = np.tri(x.shape[-1], dtype=real_dtype(x.dtype))
    np.fill_diagonal(weights, 0.5)
    return x * weights


@cholesky.jvp
def cholesky_jvp(t, y):
    x = inv(y)
    return y @ _lower_half(x @ hermitian_part(t) @ adjoint(x))


@cholesky.vjp
def cholesky_vjp(g, y):
    x = inv(y)
    return hermitian_part(x.mT @ _lower_half(y.mT @ g) @ conj(x))


@cholesky.typing
def cholesky_type(a):
    return ShapeDtypeStruct(a.shape, inexact(a))


# ---- QR ------------------------------------------------------------------------------------


@general(multiple=True)
def qr(a):
    """Q and R of matrices with at least as many rows as columns."""
    return tuple(np.linalg.qr(a))


@qr.jvp
def qr_jvp(t, y):
    q, r = y
    tr = t @ inv(r)
    c = adjoint(q) @ tr
    below = c * np.tri(c.shape[-1], k=-1, dtype=real_dtype(c.dtype))
    rotation = skew(below)
    if c.dtype.kind == "c":  # the diagonal of R stays real
        rotation = rotation + 1j * (np.imag(c) * np.eye(c.shape[-1], dtype=real_dtype(c.dtype)))
    change = c - rotation
    return tr - q @ change, change @ r


@qr.typing
def qr_type(a):
    k = a.shape[-1]
    dtype = inexact(a)
    return ShapeDtypeStruct(a.shape, dtype), ShapeDtypeStruct(a.shape[:-2] + (k, k), dtype)


@general
def rest_of_basis(q):
    """Vectors that complete orthonormal columns to a basis, those that `np.linalg.qr` takes."""
    return np.linalg.qr(q, "complete")[0][..., q.shape[-1] :]


# Of all bases of the rest the derivative is that of the one which turns no more than it must: what depends on
# the others has none.
@rest_of_basis.jvp
def rest_of_basis_jvp(t, y, q):
    return -q @ (adjoint(t) @ y)


@rest_of_basis.vjp
def rest_of_basis_vjp(g, y, q):
    require_zero(skew(adjoint(y) @ conj(g)), g, function="qr", error=errors.ArbitraryBasisError)
    return -conj(y @ (g.mT @ q))


@rest_of_basis.typing
def rest_of_basis_type(q):
    m, n = q.shape[-2:]
    return ShapeDtypeStruct(q.shape[:-1] + (m - n,), q.dtype)
