"""Eigenvalues and singular values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from funcgrad._core.tracer import Tracer
from funcgrad._primitives import spectra
from funcgrad._primitives.linalg import adjoint
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy._values import known, known_or_refuse
from funcgrad.scipy.linalg._operands import array, matrices, over_stack
from funcgrad.scipy.linalg._structures import DefiniteBanded, Triangular, mirrored, structured_solve

# ---- SciPy's drivers, for the phases of the vectors ----------------------------------------


def _aligned(v, some, selection):
    """The vectors with the phases that some of them have elsewhere; those of equal values stay."""
    if selection is None:
        return v
    overlap = np.sum(np.conj(v[:, selection]) * some, axis=0)
    size = np.abs(overlap)
    v[:, selection] *= np.where(size > 0.5, overlap / np.where(size > 0.5, size, 1), 1).astype(v.dtype)
    return v


class Driver(NamedTuple):
    """`scipy.linalg.eigh`, with vectors as it gives them if only a range of them is asked for."""

    driver: str | None
    first: int | None = None
    last: int | None = None

    def __call__(self, a, uplo):
        return over_stack(lambda a: self._one(a, uplo == "L"), (2,), a)

    def _one(self, a, lower):
        if self.first is None:
            return scipy.linalg.eigh(a, lower=lower, driver=self.driver, check_finite=False)
        w, v = scipy.linalg.eigh(a, lower=lower, check_finite=False)
        subset = (self.first, self.last)
        options = {"driver": self.driver, "subset_by_index": subset, "check_finite": False}
        _, some = scipy.linalg.eigh(a, lower=lower, **options)
        return w, _aligned(v, some, slice(self.first, self.last + 1))


class TridiagonalDriver(NamedTuple):
    """`scipy.linalg.eigh_tridiagonal` of a full matrix."""

    driver: str
    first: int | None = None
    last: int | None = None

    def __call__(self, a, uplo):
        return over_stack(self._one, (2,), a)

    def _one(self, a):
        d, e = np.diagonal(a), np.diagonal(a, -1)
        if self.first is None:
            return scipy.linalg.eigh_tridiagonal(d, e, lapack_driver=self.driver, check_finite=False)
        w, v = scipy.linalg.eigh_tridiagonal(d, e, check_finite=False)
        options = {"select": "i", "select_range": (self.first, self.last), "lapack_driver": self.driver}
        _, some = scipy.linalg.eigh_tridiagonal(d, e, check_finite=False, **options)
        return w, _aligned(v, some, slice(self.first, self.last + 1))


class BandedDriver(NamedTuple):
    """`scipy.linalg.eig_banded` of a full matrix with `width` diagonals below the main one."""

    width: int
    lower: bool
    first: int | None = None
    last: int | None = None

    def __call__(self, a, uplo):
        return over_stack(self._one, (2,), a)

    def _one(self, a):
        band = np.zeros((self.width + 1, len(a)), a.dtype)
        for i in range(self.width + 1):
            if self.lower:
                band[i, : len(a) - i] = np.diagonal(a, -i)
            else:
                band[self.width - i, i:] = np.diagonal(a, i)
        w, v = scipy.linalg.eig_banded(band, lower=self.lower)
        if self.first is None:
            return w, v
        options = {"lower": self.lower, "select": "i", "select_range": (self.first, self.last)}
        _, some = scipy.linalg.eig_banded(band, **options)
        return w, _aligned(v, some, slice(self.first, self.last + 1))


def gesvd(a, full):
    """`scipy.linalg.svd` by another algorithm than NumPy's."""
    return over_stack(
        lambda a: scipy.linalg.svd(a, full_matrices=full, lapack_driver="gesvd", check_finite=False), (2,), a
    )


# ---- Hermitian matrices --------------------------------------------------------------------


def _range(function, w, by_index, by_value):
    """First and last of the eigenvalues that are asked for; None if these are all."""
    n = w.shape[-1]
    if by_index is not None and by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    if by_index is not None:
        first, last = map(int, by_index)
        if not 0 <= first <= last < n:
            raise ValueError(
                f"Requested eigenvalue indices are not valid. Valid range is [0, {n - 1}] and start <= end, "
                f"but start={first}, end={last} is given"
            )
        return first, last
    if by_value is None:
        return None, None
    if any(isinstance(bound, Tracer) for bound in by_value):
        refuse_argument(function, "traced bounds of eigenvalues", "They decide how many there are.")
    if w.ndim > 1:
        refuse_argument(function, "bounds of the eigenvalues of a stack", "Give indices of them.")
    low, high = by_value
    if not low < high:
        raise ValueError(
            "Requested eigenvalue bounds are not valid. Valid range is (-inf, inf) and low < high, but "
            f"low={low}, high={high} is given"
        )
    value = known_or_refuse(w, "which eigenvalues are within bounds")
    return int(np.sum(value <= low)), int(np.sum(value <= high)) - 1


def _hermitian(function, a, uplo, driver, subset, vectors):
    """Eigenvalues and, or None, eigenvectors; `driver` makes a solver for a range of them."""
    by_index, by_value = subset
    if by_index is None and by_value is None and vectors:
        return spectra.eigh(a, uplo=uplo, vectors=True, solver=driver(None, None))
    w, _ = spectra.eigh(a, uplo=uplo, vectors=False, solver=None)
    first, last = _range(function, w, by_index, by_value)
    chosen = slice(None) if first is None else slice(first, last + 1)
    if not vectors:
        return w[..., chosen], None
    if last < first:
        return w[..., chosen], a[..., :, :0]
    w, v = spectra.eigh(a, uplo=uplo, vectors=True, solver=driver(first, last))
    return w[..., chosen], v[..., :, chosen]


@implements(scipy.linalg.eigh)
def eigh(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
         check_finite=True, subset_by_index=None, subset_by_value=None, driver=None):  # fmt: skip
    a, lower = matrices(a, check_finite), bool(lower)
    subset = (subset_by_index, subset_by_value)
    if driver not in (None, "ev", "evd", "evr", "evx", "gv", "gvd", "gvx"):
        raise ValueError(f'"{driver}" is unknown')
    if driver and (driver[0] == "g") != (b is not None):
        raise ValueError(f'"{driver}" is for {"generalized" if driver[0] == "g" else "standard"} problems')
    chosen = any(part is not None for part in subset)
    if b is not None:
        driver = ("ev" + driver[2:]) if driver else ("evx" if chosen else "evd")
    if chosen and driver in ("ev", "evd"):
        raise ValueError(f'"{driver}" cannot compute subsets of eigenvalues')
    a, back = mirrored(a, lower, True), None
    if b is not None:
        a, back = _standard(a, mirrored(matrices(b, check_finite), lower, True), type)
    w, v = _hermitian(
        "scipy.linalg.eigh",
        a,
        "L" if lower else "U",
        lambda first, last: Driver(driver, first, last),
        subset,
        not eigvals_only,
    )
    if eigvals_only:
        return w
    return w, (v if back is None else back(v))


def _standard(a, b, kind):
    """The standard problem that a generalised one is, and what makes its vectors those of the other.

    With b = l l' and v = l'^-1 u it is l^-1 a l'^-1 u = w u for a v = w b v, and l' a l u = w u for
    a b v = w v; for b a v = w v it is that with v = l u.
    """
    if kind not in (1, 2, 3):
        raise ValueError('"type" keyword only accepts 1, 2, and 3.')
    factor = np.linalg.cholesky(b)

    def divide(x):
        return structured_solve(factor, x, structure=Triangular(lower=True))

    def divide_adjoint(x):
        return structured_solve(adjoint(factor), x, structure=Triangular(lower=False))

    if kind == 1:
        standard = divide(adjoint(divide(a)))
    else:
        standard = adjoint(factor) @ a @ factor
    standard = (standard + adjoint(standard)) * 0.5
    return standard, (lambda u: factor @ u) if kind == 3 else divide_adjoint


@implements(scipy.linalg.eigvalsh)
def eigvalsh(a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
             subset_by_index=None, subset_by_value=None, driver=None):  # fmt: skip
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, check_finite=check_finite, driver=driver,
                subset_by_index=subset_by_index, subset_by_value=subset_by_value)  # fmt: skip


def _selection(select, select_range):
    """SciPy's older way to ask for a range: by index, by value."""
    kind = {0: "a", 1: "v", 2: "i"}.get(select, str(select)[:1].lower())
    if kind not in "avi":
        raise ValueError("invalid argument for select")
    if kind != "a" and np.ndim(select_range) != 1:
        raise ValueError("select_range must be a 2-element array-like in nondecreasing order")
    return (select_range if kind == "i" else None), (select_range if kind == "v" else None)


@implements(scipy.linalg.eigh_tridiagonal)
def eigh_tridiagonal(d, e, eigvals_only=False, select="a", select_range=None, check_finite=True, tol=0.0,
                     lapack_driver="auto"):  # fmt: skip
    d, e = array(d, check_finite), array(e, check_finite)
    if d.dtype.kind == "c" or e.dtype.kind == "c":
        raise TypeError("Only real arrays currently supported")
    if d.shape[-1] != e.shape[-1] + 1:
        raise ValueError(f"d ({d.shape[-1]}) must have one more element than e ({e.shape[-1]})")
    if lapack_driver not in ("auto", "stemr", "sterf", "stebz", "stev", "stevd"):
        raise ValueError(f"lapack_driver must not be {lapack_driver}")
    stack = np.broadcast_shapes(d.shape[:-1], e.shape[:-1])
    d, e = [np.broadcast_to(x, stack + x.shape[-1:]) for x in (d, e)]
    band = np.stack([d, np.concatenate([e, np.zeros_like(d[..., :1])], axis=-1)], axis=-2)
    full, band = DefiniteBanded(lower=True).full(band)
    w, v = _hermitian(
        "scipy.linalg.eigh_tridiagonal",
        full.dense(band),
        "L",
        lambda first, last: TridiagonalDriver(lapack_driver, first, last),
        _selection(select, select_range),
        not eigvals_only,
    )
    return w if eigvals_only else (w, v)


@implements(scipy.linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(d, e, select="a", select_range=None, check_finite=True, tol=0.0,
                         lapack_driver="auto"):  # fmt: skip
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite, tol, lapack_driver)


@implements(scipy.linalg.eig_banded)
def eig_banded(a_band, lower=False, eigvals_only=False, overwrite_a_band=False, select="a",
               select_range=None, max_ev=0, check_finite=True):  # fmt: skip
    band, lower = matrices(a_band, check_finite, square=False), bool(lower)
    width = band.shape[-2] - 1
    full, band = DefiniteBanded(lower).full(band)
    w, v = _hermitian(
        "scipy.linalg.eig_banded",
        full.dense(band),
        "L",
        lambda first, last: BandedDriver(width, lower, first, last),
        _selection(select, select_range),
        not eigvals_only,
    )
    return w if eigvals_only else (w, v)


@implements(scipy.linalg.eigvals_banded)
def eigvals_banded(a_band, lower=False, overwrite_a_band=False, select="a", select_range=None,
                   check_finite=True):  # fmt: skip
    return eig_banded(a_band, lower, True, False, select, select_range, 0, check_finite)


# ---- any square matrix, and any matrix -----------------------------------------------------


def _plain_problem(function, b, homogeneous):
    if b is not None:
        cure = "Write eig(solve(b, a)), which has the same values and vectors, in another order."
        refuse_argument(function, "a second matrix b", cure)
    if homogeneous:
        refuse_argument(function, "homogeneous_eigvals=True", "Leave it out: without b they are (w, 1).")


@implements(scipy.linalg.eig)
def eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True,
        homogeneous_eigvals=False):  # fmt: skip
    _plain_problem("scipy.linalg.eig", b, homogeneous_eigvals)
    if left:
        cure = "The left vectors are the columns of inv(v).conj().T for the right ones v, up to length."
        refuse_argument("scipy.linalg.eig", "left=True", cure)
    a = matrices(a, check_finite)
    w, v = spectra.eig(a)
    if not right:
        return w
    values = [known(w), known(v)]
    if a.dtype.kind != "c" and all(x is not None and not np.any(x.imag) for x in values):
        v = np.real(v)
    return w, v


@implements(scipy.linalg.eigvals)
def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    _plain_problem("scipy.linalg.eigvals", b, homogeneous_eigvals)
    return spectra.eig(matrices(a, check_finite))[0]


@implements(scipy.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f'lapack_driver must be "gesdd" or "gesvd", not "{lapack_driver}"')
    a = matrices(a, check_finite, square=False)
    full = bool(full_matrices and compute_uv and a.shape[-1] != a.shape[-2])
    solver = gesvd if lapack_driver == "gesvd" else None
    u, s, vh = spectra.svd(a, full=full, vectors=bool(compute_uv), solver=solver)
    return (u, s, vh) if compute_uv else s


@implements(scipy.linalg.svdvals)
def svdvals(a, overwrite_a=False, check_finite=True):
    return svd(a, compute_uv=False, check_finite=check_finite)


# ---- bases of range and null space -------------------------------------------------------------


def _rank(function, s, shape, rcond):
    """The number of singular values that count; it must be full, for else the next matrix has another."""
    if isinstance(rcond, Tracer):
        refuse_argument(
            f"scipy.linalg.{function}", "a traced rcond", "It decides on the rank: pass a plain number."
        )
    plain = known_or_refuse(s, f"the rank of a matrix in scipy.linalg.{function}")
    if rcond is None:
        rcond = np.finfo(plain.dtype).eps * max(shape)
    if np.any(plain <= rcond * np.max(plain, axis=-1, keepdims=True, initial=0.0)):
        refuse_argument(
            f"scipy.linalg.{function}",
            "a matrix that has not full rank",
            "Its rank jumps. Where it stays the projectors have derivatives: a @ pinv(a) onto the range, and "
            "eye(n) - pinv(a) @ a onto the null space.",
        )


@implements(scipy.linalg.orth)
def orth(A, rcond=None):
    A = matrices(A, square=False)
    u, s, _ = svd(A, full_matrices=False)
    _rank("orth", s, A.shape[-2:], rcond)
    return u


@implements(scipy.linalg.null_space)
def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    A = matrices(A, check_finite, square=False)
    _, s, vh = svd(A, lapack_driver=lapack_driver)
    _rank("null_space", s, A.shape[-2:], rcond)
    return adjoint(vh[..., min(A.shape[-2:]) :, :])
