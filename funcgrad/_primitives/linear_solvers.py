"""Solvers of systems with linear maps that are given as functions of flat vectors.

Real and imaginary parts are separate unknowns, so a map need only be linear over the reals: the derivative of
a function that conjugates is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.batch import Batch

DENSE = 1000  # unknowns up to which the matrix is written out
_IN_LAPACK = {"e": np.float32, "g": np.float64}  # what it computes half and extended precision in
_CHUNK = 128  # columns of it that are computed at a time
_KEPT = 100  # vectors that GMRES keeps
_ROUNDS = 10  # times that it starts again


def solve_system(name: str, where: str, what: str, matvec: Callable, b: Sequence[Any]) -> list[Any]:
    """Solve ``matvec(x) = b``: by the matrix where that is small, else by GMRES.

    Args:
        name: of the function that asks, and `where` it was called, for errors; `what` they call the map.
        matvec: takes and returns lists of arrays like b.
        b: numbers, or batches of them.

    Raises:
        SingularSystemError: the matrix is singular to working precision.
        NotConvergedError: GMRES did not get there.
    """
    space = _Space(b)
    if space.size == 0:
        return list(b)
    if space.size <= DENSE:
        return space.split(_solve_dense(name, where, what, _matrix(space, matvec), space.join(b)))
    return space.split(_gmres(name, where, lambda v: space.join(matvec(space.split(v))), space.join(b)))


class _Space:
    """Lists of arrays as real vectors."""

    def __init__(self, like: Sequence[Any]):
        self.shapes = [shape_of(v) for v in like]
        self.dtypes = [dtype_of(v) for v in like]
        self.sizes = [math.prod(s) * (1 + (d.kind == "c")) for s, d in zip(self.shapes, self.dtypes)]
        self.size = sum(self.sizes)

    def join(self, vs: Sequence[Any]) -> Any:
        flat = []
        for v, dtype in zip(vs, self.dtypes):
            parts = (np.real(v), np.imag(v)) if dtype.kind == "c" else (v,)
            flat += [np.reshape(part, (-1,)) for part in parts]
        vector = np.concatenate(flat)
        dtype = _IN_LAPACK.get(dtype_of(vector).char)
        return vector if dtype is None else vector.astype(dtype)

    def split(self, vector: Any) -> list[Any]:
        found, start = [], 0
        for shape, dtype, size in zip(self.shapes, self.dtypes, self.sizes):
            part = vector[start : start + size]
            start += size
            if dtype.kind == "c":
                part = part[: size // 2] + 1j * part[size // 2 :]
            found.append(np.reshape(part, shape).astype(dtype))
        return found


def _matrix(space: _Space, matvec: Callable) -> Any:
    """The matrix of a map, from its values at the unit vectors."""
    columns = []
    for start in range(0, space.size, _CHUNK):
        count = min(_CHUNK, space.size - start)
        trace = Batch(count)
        unit = trace.batched(np.eye(count, space.size, start))
        try:
            _, (column,) = trace.spread(space.join(matvec(space.split(unit))))
        finally:
            trace.close()
        columns.append(column)
    return np.concatenate(columns).T


def _solve_dense(name: str, where: str, what: str, matrix: Any, b: Any) -> Any:
    numbers = matrix
    while isinstance(numbers, Tracer):  # a batch: each has its axis in front
        numbers = numbers.value
    if np.any(_is_singular(numbers)):
        raise errors.SingularSystemError(name, what, where)
    return np.linalg.solve(matrix, b)


def _is_singular(matrices: np.ndarray) -> np.ndarray:
    """Whether matrices are singular to working precision, however their rows and columns are scaled."""
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    a = np.where(finite[..., None, None], matrices, np.eye(matrices.shape[-1], dtype=matrices.dtype))
    for axis in (-1, -2):
        largest = np.abs(a).max(axis=axis, keepdims=True)
        a = a / np.where(largest == 0, 1, largest)
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.asarray(True)
    bound = np.abs(a).sum(axis=-1).max(axis=-1) * np.abs(inverse).sum(axis=-1).max(axis=-1)
    return finite & ~(bound * np.finfo(matrices.dtype).eps < 1)


def _gmres(name: str, where: str, matvec: Callable, b: np.ndarray) -> np.ndarray:
    """Saad and Schultz's method (1986), restarted, until the true residual is small."""
    eps = float(np.finfo(b.dtype).eps)
    allowed = max(eps**0.75, 10 * eps) * float(np.linalg.norm(b))
    x = np.zeros_like(b)
    r, size = b, float(np.linalg.norm(b))
    for _ in range(_ROUNDS):
        if not size > allowed:  # NaN goes its way, as through any product
            return x if size == size else b * np.nan
        x = x + _krylov_step(matvec, r, allowed)
        r = b - matvec(x)
        size = float(np.linalg.norm(r))
    if size <= allowed:
        return x
    raise errors.NotConvergedError(
        name, "the residual of the linearised equation, after GMRES,", size, allowed,
        "Give a tangent_solve of your own that fits the problem (a factorisation, a preconditioned method).",
        where,
    )  # fmt: skip


def _krylov_step(matvec: Callable, r: np.ndarray, allowed: float) -> np.ndarray:
    """The correction from one of Krylov's spaces, by Arnoldi's basis of it: that of least residual."""
    kept = min(_KEPT, len(r))
    basis, hessenberg = np.zeros((kept + 1, len(r)), r.dtype), np.zeros((kept + 1, kept), r.dtype)
    size = np.linalg.norm(r)
    basis[0] = r / size
    for k in range(1, kept + 1):
        w = matvec(basis[k - 1])
        scale = np.linalg.norm(w)
        for _ in range(2):  # twice is enough to keep them orthogonal
            shares = basis[:k] @ w
            hessenberg[:k, k - 1] += shares
            w = w - shares @ basis[:k]
        length = hessenberg[k, k - 1] = np.linalg.norm(w)
        exhausted = not length > np.finfo(r.dtype).eps * scale
        if exhausted or k == kept or k % 10 == 0:
            small, wanted = hessenberg[: k + 1, :k], np.zeros(k + 1, r.dtype)
            wanted[0] = size
            coefficients = np.linalg.lstsq(small, wanted, rcond=None)[0]
            if exhausted or np.linalg.norm(wanted - small @ coefficients) <= 0.1 * allowed:
                break
        basis[k] = w / length
    return coefficients @ basis[:k]
