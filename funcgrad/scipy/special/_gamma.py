"""The gamma function, its kin, and the incomplete gamma and beta functions.

Formulas: NIST Digital Library of Mathematical Functions, chapters 5 and 8.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import constant
from funcgrad.scipy.special._declare import SHAPE, declare, elementwise, find, kernel

_EXPONENT = "Derivatives of the zeta function with respect to its exponent have no closed form"
# B_2k / (2k)!, of the asymptotic series of the polygamma functions
_BERNOULLI = [
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
]  # fmt: skip

# ---- polygamma functions -------------------------------------------------------------------


@kernel
def _complex_polygamma(z, *, n):
    """The n-th derivative of digamma, n > 0.

    By its asymptotic series (5.15.8), which recurrence reaches; on the left half plane by reflection.
    """
    left = z.real < 0.5
    x = np.where(left, 1 - z, z)
    total, factorial = np.zeros_like(x), math.factorial(n)
    for _ in range(16):
        total += factorial / x ** (n + 1)
        x = x + 1
    total += math.factorial(n - 1) / x**n + factorial / (2 * x ** (n + 1))
    for k, b in enumerate(_BERNOULLI, 1):
        total += b * math.factorial(2 * k + n - 1) / x ** (2 * k + n)
    out = (-1) ** (n + 1) * total
    if left.any():
        out[left] = (-1) ** n * out[left] - _cotangent_derivative(z[left], n)
    return out


def _cotangent_derivative(z, n):
    """The n-th derivative of pi cot(pi z), a polynomial in the cotangent c since c' = -pi (1 + c^2)."""
    polynomial = np.polynomial.Polynomial([0.0, math.pi])
    for _ in range(n):
        polynomial = -math.pi * polynomial.deriv() * np.polynomial.Polynomial([1.0, 0.0, 1.0])
    cotangent = 1j + 2j / np.expm1(2j * math.pi * z)
    above = z.imag > 0  # there the exponential is small
    cotangent[above] = -1j - 2j / np.expm1(-2j * math.pi * z[above])
    return polynomial(cotangent)


complex_polygamma = elementwise(
    _complex_polygamma, lambda g, x, *, n: g * complex_polygamma(x, n=n + 1), name="complex_polygamma"
)


def _trigamma(x):
    return complex_polygamma(x, n=1) if dtype_of(x).kind == "c" else sc.zeta(2.0, x)


declare("psi", lambda g, x: g * _trigamma(x))
declare("_zeta", _EXPONENT, lambda g, x, q: -g * (x * sc.zeta(x + 1.0, q)), args="x q")
declare("_riemann_zeta", _EXPONENT)
declare("zetac", _EXPONENT)


@kernel
def _digamma_rise(a, b, *, n):
    """psi_n(a + b) - psi_n(a), exact to rounding where b is small beside a: there the difference cancels."""
    usual = (a > 0) & (a + b > 0)
    x, end = np.where(usual, a, 1.0), np.where(usual, b, 1.0)

    def difference(p):  # x^-p - (x + b)^-p
        return x**-p * -np.expm1(-p * np.log1p(end / x))

    total, factorial = np.zeros_like(x), math.factorial(n)
    for _ in range(16):
        total += factorial * difference(n + 1)
        x = x + 1
    total += factorial / 2 * difference(n + 1)
    total += math.factorial(n - 1) * difference(n) if n else np.log1p(end / x)
    for k, c in enumerate(_BERNOULLI, 1):
        total += c * math.factorial(2 * k + n - 1) * difference(2 * k + n)
    total *= (-1) ** n
    if not usual.all():
        plain = sc.polygamma(n, a + b) - sc.polygamma(n, a)
        total = np.where(usual, total, plain)
    return total


def _polygamma(n, x):
    return sc.psi(x) if n == 0 else (-1.0) ** (n + 1) * math.factorial(n) * sc.zeta(n + 1.0, x)


#: How much the n-th derivative of digamma rises from a to a + b.
digamma_rise = elementwise(
    _digamma_rise,
    lambda g, a, b, *, n=0: g * digamma_rise(a, b, n=n + 1),
    lambda g, a, b, *, n=0: g * _polygamma(n + 1, a + b),
    name="digamma_rise",
)

# ---- gamma and beta ------------------------------------------------------------------------


def _reciprocal_slope(x):
    """The derivative of 1/gamma(x); left of 1/2 by reflection, 1/gamma(x) = sin(pi x) gamma(1 - x)/pi, for
    digamma has poles where 1/gamma is 0."""
    left = np.real(x) < 0.5
    safe = np.where(left, x, 0.25)
    angle = math.pi * (safe - 2 * np.rint(0.5 * np.real(safe)))
    mirrored = 1 - safe
    by_reflection = sc.gamma(mirrored) * (np.cos(angle) - np.sin(angle) / math.pi * sc.psi(mirrored))
    safe = np.where(left, 1.0, x)
    return np.where(left, by_reflection, -sc.rgamma(safe) * sc.psi(safe))


declare("gamma", lambda g, y, x: g * (y * sc.psi(x)))
declare("gammaln", lambda g, x: g * sc.psi(x))
declare("loggamma", lambda g, x: g * sc.psi(x))
declare("rgamma", lambda g, x: g * _reciprocal_slope(x))
declare("_lgam1p", lambda g, x: g * sc.psi(1 + x))
constant(sc.gammasgn)
declare(
    "beta",
    lambda g, y, a, b: -g * (y * digamma_rise(a, b, n=0)),
    lambda g, y, a, b: -g * (y * digamma_rise(b, a, n=0)),
)
declare(
    "betaln",
    lambda g, a, b: -g * digamma_rise(a, b, n=0),
    lambda g, a, b: -g * digamma_rise(b, a, n=0),
)


def _poch_by_a(g, y, a, m):
    return g * (y * digamma_rise(a, m, n=0))


declare("poch", _poch_by_a, lambda g, y, a, m: g * (y * sc.psi(a + m)), args="a m")


def _binom_rule(rise, plain):
    """A derivative of gamma(n+1)/(gamma(k+1) gamma(n-k+1)); outside 0 <= k <= n, where it may be 0 against a
    pole of digamma, from those of 1/gamma."""

    def rule(g, y, n, k):
        inside = (k > -1) & (n - k > -1)
        n_in, k_in = np.where(inside, n, 1.0), np.where(inside, k, 0.0)
        n_out, k_out = np.where(inside, 1.0, n), np.where(inside, 2.0, k)
        return g * np.where(inside, y * rise(n_in, k_in), plain(n_out, k_out))

    return rule


def _binom_by_n(n, k):
    below = sc.rgamma(k + 1) * sc.gamma(n + 1)
    return below * (sc.psi(n + 1) * sc.rgamma(n - k + 1) + _reciprocal_slope(n - k + 1))


def _binom_by_k(n, k):
    first = _reciprocal_slope(k + 1) * sc.rgamma(n - k + 1)
    return sc.gamma(n + 1) * (first - sc.rgamma(k + 1) * _reciprocal_slope(n - k + 1))


declare(
    "binom",
    _binom_rule(lambda n, k: digamma_rise(n - k + 1, k, n=0), _binom_by_n),
    _binom_rule(lambda n, k: digamma_rise(k + 1, n - 2 * k, n=0), _binom_by_k),
    args="n k",
)

# ---- the densities of incomplete functions -------------------------------------------------


@kernel
def _gamma_density(a, x):
    """x^(a-1) exp(-x) / gamma(a); SciPy's own factor is accurate for large a, a power exact at x = 0."""
    reciprocal = sc.rgamma(a)
    plain = np.where(reciprocal == 0, 0.0, x ** (a - 1) * np.exp(-x) * reciprocal)
    factor = find("_igam_fac")
    if factor is None:
        accurate = np.exp(sc.xlogy(a - 1, x) - x - sc.gammaln(a))
    else:
        accurate = factor(np.where(a > 0, a, 1.0), x) / x
    return np.where((a > 0) & (x > 1e-3), accurate, plain)


#: The density of the gamma distribution; its slope by x is exact at 0, unlike y * ((a - 1)/x - 1).
gamma_density = elementwise(
    _gamma_density,
    lambda g, y, a, x: g * (sc.xlogy(y, x) - y * sc.psi(a)),
    lambda g, y, a, x: g * (gamma_density(a - 1, x) - y),
    args="a x",
    name="gamma_density",
)


@kernel
def _beta_density(a, b, x, *, i=0, j=0):
    """x^(a-1-i) (1-x)^(b-1-j) / B(a, b)."""
    scale = np.exp(-sc.betaln(a, b))
    plain = scale * x ** (a - 1 - i) * (1 - x) ** (b - 1 - j)
    density = find("_beta_pdf")
    if density is None:
        log = sc.xlogy(a - 1, x) + sc.xlog1py(b - 1, -x) - sc.betaln(a, b)
        accurate = np.exp(log)
    else:
        accurate = density(x, a, b)
    inside = (x > 1e-3) & (x < 1 - 1e-3) & (a > 0) & (b > 0)
    return np.where(inside, accurate * x**-i * (1 - x) ** -j, plain)


def _times(factor, value, edge):
    """A product that is 0 where the factor is 0 and an edge makes the value infinite."""
    none = edge & np.equal(factor, 0)
    return factor * np.where(none, 0.0, value)


def _beta_density_slope(g, a, b, x, *, i=0, j=0):
    up = _times(a - 1 - i, beta_density(a, b, x, i=i + 1, j=j), np.equal(x, 0))
    return g * (up - _times(b - 1 - j, beta_density(a, b, x, i=i, j=j + 1), np.equal(x, 1)))


#: The density of the beta distribution, with the powers lowered by i and j: its derivatives.
beta_density = elementwise(
    _beta_density,
    lambda g, y, a, b, x, **k: g * (sc.xlogy(y, x) + y * digamma_rise(a, b, n=0)),
    lambda g, y, a, b, x, **k: g * (sc.xlog1py(y, -x) + y * digamma_rise(b, a, n=0)),
    _beta_density_slope,
    args="a b x",
    name="beta_density",
)

declare("gammainc", SHAPE, lambda g, a, x: g * gamma_density(a, x), args="a x")
declare("gammaincc", SHAPE, lambda g, a, x: -g * gamma_density(a, x), args="a x")
declare("gammaincinv", SHAPE, lambda g, y, a: g / gamma_density(a, y), args="a p")
declare("gammainccinv", SHAPE, lambda g, y, a: -g / gamma_density(a, y), args="a p")
declare("betainc", SHAPE, SHAPE, lambda g, a, b, x: g * beta_density(a, b, x), args="a b x")
declare("betaincc", SHAPE, SHAPE, lambda g, a, b, x: -g * beta_density(a, b, x), args="a b x")
declare("betaincinv", SHAPE, SHAPE, lambda g, y, a, b: g / beta_density(a, b, y), args="a b p")
declare("betainccinv", SHAPE, SHAPE, lambda g, y, a, b: -g / beta_density(a, b, y), args="a b p")
