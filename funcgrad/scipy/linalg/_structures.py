"""Linear systems whose matrix has a structure: triangular, banded, Toeplitz, symmetric.

One primitive solves them all. A structure says how a matrix is made of its data; it has

- ``solve(data, b)``: SciPy's solver, for one matrix and columns `b`;
- ``product(data, x)``: the part of matrix times columns that is linear in the data, in differentiable NumPy;
- ``transposed(data)``: structure and data of the transposed matrix;
- ``core``: how many axes the data of one matrix has.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import general
from funcgrad._primitives.linalg import adjoint, conj, inexact, real
from funcgrad.scipy.linalg._operands import over_stack

# ---- the primitive -------------------------------------------------------------------------


@general
def structured_solve(data, b, *, structure):
    """The solution of a system, whose matrix is made of `data` by its `structure`."""
    return over_stack(structure.solve, (structure.core, 2), data, b)


@structured_solve.outer_jvp
def _outer_jvp(t, data, *, structure):
    return structured_solve(data, t, structure=structure)


@structured_solve.outer_vjp
def _outer_vjp(g, data, *, structure):
    structure, data = structure.transposed(data)
    return structured_solve(data, g, structure=structure)


@structured_solve.jvp("data")
def _jvp_data(t, y, *, structure):
    return -structure.product(t, y)


@structured_solve.jvp("b")
def _jvp_b(t, *, structure):
    return t


@structured_solve.vjp("b")
def _vjp_b(g, b_shape, *, structure):
    return fit(g, b_shape, None)


@structured_solve.batching
def _batch(values, batched, *, structure):
    return batch_leading(structured_solve, (structure.core, 2))(values, batched, structure=structure)


@structured_solve.typing
def _type(data, b, *, structure):
    stack = np.broadcast_shapes(data.shape[: data.ndim - structure.core], b.shape[:-2])
    return ShapeDtypeStruct(stack + b.shape[-2:], inexact(data, b))


# ---- dense ---------------------------------------------------------------------------------


def mirrored(a, lower, conjugate):
    """The symmetric or Hermitian matrix that a solver sees, which reads one triangle."""
    half, strict = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
    if not (conjugate and a.dtype.kind == "c"):
        return half + strict.mT
    return strict + adjoint(strict) + real(half - strict)  # of the diagonal the real part is read


class Dense(NamedTuple):
    """A square matrix, of which `assume` says what is known: SciPy's ``assume_a``."""

    assume: str | None
    lower: bool
    core: ClassVar[int] = 2

    def solve(self, a, b):
        return scipy.linalg.solve(a, b, assume_a=self.assume, lower=self.lower, check_finite=False)

    def product(self, a, x):
        if self.assume in ("sym", "her", "pos"):
            a = mirrored(a, self.lower, self.assume != "sym")
        return a @ x

    def transposed(self, a):
        if self.assume in ("her", "pos"):
            return self, conj(a)
        return self, a if self.assume == "sym" else a.mT


class Triangular(NamedTuple):
    """The lower or upper triangle of a square matrix; with `unit` its diagonal counts as ones."""

    lower: bool
    unit: bool = False
    core: ClassVar[int] = 2

    def solve(self, a, b):
        return scipy.linalg.solve_triangular(
            a, b, lower=self.lower, unit_diagonal=self.unit, check_finite=False
        )

    def product(self, a, x):
        return (np.tril(a, -self.unit) if self.lower else np.triu(a, +self.unit)) @ x

    def transposed(self, a):
        return Triangular(not self.lower, self.unit), a.mT


# ---- diagonals -----------------------------------------------------------------------------


def _window(n, below, above):
    """Of the band in each row: the columns, LAPACK's rows of them, and which there are."""
    offsets = np.arange(-below, above + 1)
    columns = np.arange(n)[:, None] + offsets
    there = (columns >= 0) & (columns < n)
    return np.clip(columns, 0, max(n - 1, 0)), np.broadcast_to(above - offsets, columns.shape), there


class Banded(NamedTuple):
    """`below` and `above` diagonals beside the main one; entry [i, j] is ``data[above + i - j, j]``."""

    below: int
    above: int
    core: ClassVar[int] = 2

    def solve(self, ab, b):
        return scipy.linalg.solve_banded((self.below, self.above), ab, b, check_finite=False)

    def product(self, ab, x):
        columns, rows, there = _window(ab.shape[-1], self.below, self.above)
        entries = np.where(there, ab[..., rows, columns], np.zeros((), ab.dtype))
        return np.einsum("...iw,...iwk->...ik", entries, x[..., columns, :])

    def transposed(self, ab):
        columns, rows, there = _window(ab.shape[-1], self.below, self.above)
        entries = np.where(there, ab[..., rows, columns], np.zeros((), ab.dtype))
        return Banded(self.above, self.below), entries.mT

    def dense(self, ab):
        """The matrix."""
        n = ab.shape[-1]
        offset = np.arange(n)[:, None] - np.arange(n)
        there = (offset <= self.below) & (-offset <= self.above)
        entries = ab[..., np.clip(self.above + offset, 0, ab.shape[-2] - 1), np.arange(n)]
        return np.where(there, entries, np.zeros((), ab.dtype))


class DefiniteBanded(NamedTuple):
    """A positive definite matrix, of which the diagonals on one side are given; `lower` or upper."""

    lower: bool
    core: ClassVar[int] = 2

    def solve(self, ab, b):
        return scipy.linalg.solveh_banded(ab, b, lower=self.lower, check_finite=False)

    def full(self, ab):
        """As `Banded`, with the diagonals on the other side too."""
        k = ab.shape[-2] - 1
        half = ab[..., 1:, :] if self.lower else ab[..., :k, :]
        diagonal = real(ab[..., :1, :] if self.lower else ab[..., k:, :])
        zeros = np.zeros((k + 1, 1), ab.dtype)
        strict = half + zeros[:k]  # beside the main diagonal, as a band of its own
        if self.lower:
            band = np.concatenate([np.zeros_like(diagonal), strict], axis=-2)
            other = Banded(k, 0).transposed(band)[1][..., :k, :]
            parts = [conj(other), diagonal, strict]
        else:
            band = np.concatenate([strict, np.zeros_like(diagonal)], axis=-2)
            other = Banded(0, k).transposed(band)[1][..., 1:, :]
            parts = [strict, diagonal, conj(other)]
        return Banded(k, k), np.concatenate(parts, axis=-2)

    def product(self, ab, x):
        band, ab = self.full(ab)
        return band.product(ab, x)

    def transposed(self, ab):
        return self, conj(ab)


class Toeplitz(NamedTuple):
    """Constant diagonals: entry [i, j] is ``data[n - 1 + i - j]``."""

    core: ClassVar[int] = 1

    def solve(self, diagonals, b):
        n = len(b)
        if n == 0:
            return np.zeros_like(b)
        c, r = diagonals[n - 1 :], diagonals[n - 1 :: -1]
        return scipy.linalg.solve_toeplitz((c, r), b, check_finite=False)

    def product(self, diagonals, x):
        return self.dense(diagonals, x.shape[-2], x.shape[-2]) @ x

    def transposed(self, diagonals):
        return self, diagonals[..., ::-1]

    def dense(self, diagonals, m, n):
        """The matrix of `m` rows and `n` columns."""
        return diagonals[..., n - 1 + np.arange(m)[:, None] - np.arange(n)]
