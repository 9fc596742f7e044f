"""Polynomials in the six bases of `numpy.polynomial`: recurrences, and roots as functions of coefficients.

Each basis obeys P[k + 1] = (a x + b) P[k] - c P[k - 1] with numbers a, b, c that depend on k; with
P[-1] = 0 and P[0] = 1 that is all that evaluation, multiplication and derivatives need to know of it.
(Abramowitz and Stegun, Handbook of Mathematical Functions, table 22.7.)
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives.kinds import general


class Basis(NamedTuple):
    """One of the bases.

    Attributes:
        name: that of NumPy's module of it.
        prefix: with which the names of its functions start.
        step: ``step(k)``, the numbers a, b, c of the recurrence from P[k] to P[k + 1].
    """

    name: str
    prefix: str
    step: Callable[[int], tuple[float, float, float]]

    def function(self, what: str) -> Callable:
        """NumPy's function; its modules of polynomials are loaded when they are first asked for."""
        return getattr(getattr(np.polynomial, self.name), self.prefix + what)


BASES = {
    basis.name: basis
    for basis in (
        Basis("polynomial", "poly", lambda k: (1, 0, 0)),
        Basis("chebyshev", "cheb", lambda k: (2 if k else 1, 0, 1)),
        Basis("legendre", "leg", lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1))),
        Basis("hermite", "herm", lambda k: (2, 0, 2 * k)),
        Basis("hermite_e", "herme", lambda k: (1, 0, k)),
        Basis("laguerre", "lag", lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1))),
    )
}


def values(x, count: int, basis: str) -> list:
    """The first `count` functions of a basis at `x`."""
    step, one = BASES[basis].step, x * 0 + 1
    found = [one]
    for k in range(count - 1):
        a, b, c = step(k)
        following = a * x if b == 0 else a * x + b
        if k:
            following = following * found[k]
        found.append(following - c * found[k - 1] if k and c else following)
    return found[:count]


def derivative_matrix(count: int, basis: str, dtype) -> np.ndarray:
    """The matrix that takes `count` coefficients to those of the derivative."""
    return BASES[basis].function("der")(np.eye(count, dtype=dtype))


# ---- roots ---------------------------------------------------------------------------------


def solve(c: np.ndarray, basis: str, descending: bool) -> np.ndarray:
    """NumPy's own roots of one series: `np.roots` if coefficients are of descending powers."""
    return np.roots(c) if descending else BASES[basis].function("roots")(c)


@general(name="polynomial_roots")
def roots(c, *, basis, descending=False):
    """The roots of the polynomials whose coefficients are along the last axis, always complex.

    The number of roots, which zeros at the end of the coefficients lower, is the same in all of a stack.
    """
    dtype = np.result_type(c.dtype, np.complex64)
    if c.ndim == 1:
        return solve(c, basis, descending).astype(dtype)
    found = [solve(series, basis, descending) for series in c.reshape(-1, c.shape[-1])]
    count = len(found[0]) if found else c.shape[-1] - 1
    if any(len(r) != count for r in found):
        raise errors.BatchedMaskError("the roots of polynomials of several degrees", describe(*caller(2)))
    return np.array(found, dtype).reshape(*c.shape[:-1], count)


@roots.jvp
def roots_jvp(t, c, y, *, basis, descending=False):
    # p(z) = 0 stays so: dp(z) + p'(z) dz = 0
    if descending:
        t, c = t[..., ::-1], c[..., ::-1]
    count = c.shape[-1]
    at_roots = np.stack(values(y, count, basis), -1)
    slope = np.einsum("ij,...j->...i", derivative_matrix(count, basis, c.real.dtype), c)
    slope = np.sum(at_roots[..., : max(count - 1, 1)] * slope[..., None, :], -1)
    return -np.sum(at_roots * t[..., None, :], -1) / slope


@roots.typing
def roots_type(c, *, basis, descending=False):
    dtype = np.result_type(c.dtype, np.complex64)
    return ShapeDtypeStruct((*c.shape[:-1], max(c.shape[-1] - 1, 0)), dtype)
