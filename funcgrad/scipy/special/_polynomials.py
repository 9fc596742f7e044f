"""Orthogonal polynomials, Legendre functions and spherical harmonics, by their argument.

Formulas: NIST Digital Library of Mathematical Functions, chapters 14 and 18; derivatives lower the degree and
raise the parameters (18.9.15 and on), which is exact at the ends of the interval.
"""

import numpy as np
import scipy.special as sc

from funcgrad.scipy.special._declare import ORDER, SHAPE, declare, elementwise, of, unless_zero


def _lowered(n, polynomial):
    """polynomial(n - 1), and 0 for n = 0: SciPy's polynomials of degree -1 are not always 0."""
    return np.where(np.equal(n, 0), 0.0, polynomial(unless_zero(n, 1) - 1))


def _lowering(factor, polynomial):
    """The rule of a polynomial with parameters between degree and argument."""
    count = polynomial.__code__.co_argcount
    if count == 2:
        return lambda g, n, x: g * (factor(n) * _lowered(n, lambda n: polynomial(n, x)))
    if count == 3:
        return lambda g, n, a, x: g * (factor(n, a) * _lowered(n, lambda n: polynomial(n, a, x)))
    return lambda g, n, a, b, x: g * (factor(n, a, b) * _lowered(n, lambda n: polynomial(n, a, b, x)))


def _polynomial(name, factor, lower):
    """Declare a polynomial whose derivative is factor(n) times `lower`, of the degree n - 1."""
    names = {2: "n x", 3: "n a x", 4: "n a b x"}[lower.__code__.co_argcount]
    missing = (ORDER,) + (SHAPE,) * (len(names.split()) - 2)
    declare(f"eval_{name}", *missing, _lowering(factor, lower), args=names)


_polynomial("legendre", lambda n: 1.0, lambda n, x: sc.eval_gegenbauer(n, 1.5, x))
_polynomial("sh_legendre", lambda n: 2.0, lambda n, x: sc.eval_gegenbauer(n, 1.5, 2 * x - 1))
_polynomial("chebyt", lambda n: n, lambda n, x: sc.eval_chebyu(n, x))
_polynomial("chebyu", lambda n: 2.0, lambda n, x: sc.eval_gegenbauer(n, 2.0, x))
_polynomial("chebyc", lambda n: n, lambda n, x: sc.eval_chebys(n, x))
_polynomial("chebys", lambda n: 1.0, lambda n, x: sc.eval_gegenbauer(n, 2.0, 0.5 * x))
_polynomial("sh_chebyt", lambda n: 2 * n, lambda n, x: sc.eval_sh_chebyu(n, x))
_polynomial("sh_chebyu", lambda n: 4.0, lambda n, x: sc.eval_gegenbauer(n, 2.0, 2 * x - 1))
_polynomial("hermite", lambda n: 2 * n, lambda n, x: sc.eval_hermite(n, x))
_polynomial("hermitenorm", lambda n: n, lambda n, x: sc.eval_hermitenorm(n, x))
_polynomial("laguerre", lambda n: -1.0, lambda n, x: sc.eval_genlaguerre(n, 1.0, x))
_polynomial("genlaguerre", lambda n, a: -1.0, lambda n, a, x: sc.eval_genlaguerre(n, a + 1, x))
_polynomial("gegenbauer", lambda n, a: 2 * a, lambda n, a, x: sc.eval_gegenbauer(n, a + 1, x))
_polynomial(
    "jacobi", lambda n, a, b: 0.5 * (n + a + b + 1), lambda n, a, b, x: sc.eval_jacobi(n, a + 1, b + 1, x)
)
_polynomial("sh_jacobi", lambda n, a, b: n, lambda n, a, b, x: sc.eval_sh_jacobi(n, a + 2, b + 1, x))


def _lpmv_rule(g, m, v, x):
    # (1 - x^2) P' = (v + m) P_(v-1) - v x P (14.10.5); polynomials, of m = 0, have theirs at the ends too
    plain = np.equal(m, 0)
    inner = np.where(plain, 0.5, x)
    other = ((v + m) * sc.lpmv(m, v - 1, inner) - v * inner * sc.lpmv(m, v, inner)) / (
        (1 - inner) * (1 + inner)
    )
    outer = np.where(plain, x, 0.5)
    return g * np.where(plain, _lowered(v, lambda n: sc.eval_gegenbauer(of(n, x), of(1.5, x), outer)), other)


declare("lpmv", ORDER, ORDER, _lpmv_rule, args="m v x")

# ---- spherical harmonics -------------------------------------------------------------------
# The derivative by theta is half the difference of the orders above and below, with the ladder's factors
# (14.10.1 with 14.30.1): no quotient by sin(theta), so it is exact at the poles.


def _ladder(n, m, g):
    n, m = of(n, g), of(m, g)
    return np.sqrt((n - m) * (n + m + 1)), np.sqrt((n + m) * (n - m + 1))


if hasattr(sc, "sph_harm_y"):

    def _harmonic_by_theta(g, n, m, theta, phi):
        up, down = _ladder(n, m, g)
        above = np.exp(-1j * phi) * harmonic(n, np.add(m, 1), theta, phi)
        below = np.exp(1j * phi) * harmonic(n, np.subtract(m, 1), theta, phi)
        return g * (0.5 * (up * above - down * below))

    harmonic = elementwise(
        lambda n, m, theta, phi: sc.sph_harm_y(n, m, theta, phi),
        ORDER,
        ORDER,
        _harmonic_by_theta,
        lambda g, y, m: g * (1j * of(m, g) * y),
        args="n m theta phi",
        name="sph_harm_y",
    )

    def _legendre_by_theta(g, n, m, theta):
        up, down = _ladder(n, m, g)
        above = sph_legendre(n, np.add(m, 1), theta)
        return g * (0.5 * (up * above - down * sph_legendre(n, np.subtract(m, 1), theta)))

    sph_legendre = elementwise(
        lambda n, m, theta: sc.sph_legendre_p(n, m, theta)[0],
        ORDER,
        ORDER,
        _legendre_by_theta,
        args="n m theta",
        name="sph_legendre_p",
    )

    legendre = elementwise(
        lambda n, z: sc.legendre_p(n, z)[0],
        ORDER,
        lambda g, n, z: g * _lowered(n, lambda n: sc.eval_gegenbauer(n, 1.5, z)),
        args="n z",
        name="legendre_p",
    )

    def _associated_rule(g, n, m, z, *, branch_cut, norm):
        # (1 - z^2) P' = (n + m) P_(n-1) - n z P; polynomials, of m = 0, have theirs at the ends too
        plain = np.equal(m, 0)
        inner, outer = np.where(plain, 0.5, z), np.where(plain, z, 0.5)
        degree, order = of(n, g), of(m, g)
        factor = degree + order
        scale = np.sqrt(degree + 0.5) if norm else 1.0
        if norm:
            factor = np.sqrt((2 * degree + 1) * (degree * degree - order * order) / np.abs(2 * degree - 1))
        below = associated(np.abs(np.subtract(n, 1)), m, inner, branch_cut=branch_cut, norm=norm)
        here = associated(n, m, inner, branch_cut=branch_cut, norm=norm)
        other = (factor * below - degree * inner * here) / ((1 - inner) * (1 + inner))
        legendre = scale * _lowered(n, lambda n: sc.eval_gegenbauer(n, 1.5, outer))
        return g * np.where(plain, legendre, other)

    associated = elementwise(
        lambda n, m, z, *, branch_cut, norm: sc.assoc_legendre_p(n, m, z, branch_cut=branch_cut, norm=norm)[
            0
        ],
        ORDER,
        ORDER,
        _associated_rule,
        args="n m z",
        name="assoc_legendre_p",
    )
