"""Functions that several distributions are made of, exact where their parts overflow or vanish."""

import numpy as np

from funcgrad._core.tracer import concrete
from funcgrad.scipy import special

EULER = np.euler_gamma
LOG_2 = np.log(2.0)
LOG_PI = np.log(np.pi)
LOG_ROOT = np.log(2 * np.pi) / 2  # of the normal density's factor

_TERMS = 26
_NEAR = 0.2


def any_of(condition):
    """Whether a condition may hold somewhere; in a batch or a program it may."""
    return bool(np.any(condition)) if isinstance(condition, (np.ndarray, np.bool, bool)) else True


def log1mexp(z):
    """log(1 - exp(-z)) of z > 0, without loss for small z nor for large ones."""
    small = np.less(concrete(z), LOG_2)
    near, far = np.where(small, z, 0.5), np.where(small, 1.0, z)
    return np.where(small, np.log(-np.expm1(-near)), np.log1p(-np.exp(-far)))


def _quotient(function, coefficient, u):
    """function(u) / u, by its power series near 0, so that its derivatives are exact there too."""
    close = np.abs(concrete(u)) < _NEAR
    if not any_of(close):
        return function(u) / u
    near, far = np.where(close, u, 0.0), np.where(close, 1.0, u)
    series = coefficient(_TERMS)
    for n in range(_TERMS - 1, -1, -1):
        series = series * near + coefficient(n)
    return np.where(close, series, function(far) / far)


def _factorial(n):
    return float(np.prod(np.arange(1.0, n + 1)))


def log1p_quotient(u):
    """log(1 + u) / u, which is 1 at 0."""
    return _quotient(np.log1p, lambda n: (-1.0) ** n / (n + 1), u)


def expm1_quotient(u):
    """(exp(u) - 1) / u, which is 1 at 0."""
    return _quotient(np.expm1, lambda n: 1 / _factorial(n + 1), u)


def power_exp(x, p, rest):
    """x**p exp(rest) of x >= 0, by logarithms where x > 0 so that large powers do not overflow."""
    zero = np.equal(concrete(x), 0)
    if not any_of(zero):
        return np.exp(special.xlogy(p, x) + rest)
    at_zero, beyond = np.where(zero, x, 1.0), np.where(zero, 1.0, x)
    with np.errstate(divide="ignore"):  # the density may be infinite at the end of its support
        return np.where(zero, np.power(at_zero, p) * np.exp(rest), np.exp(special.xlogy(p, beyond) + rest))


def normal_logpdf(x):
    return -0.5 * (x * x) - LOG_ROOT


def log_normal_mass(a, b):
    """log(Phi(b) - Phi(a)) of a < b, computed in the left tail where both are on the right."""
    right = np.greater(concrete(a), 0)
    left, end = np.where(right, -b, a), np.where(right, -a, b)
    high = special.log_ndtr(end)
    return high + log1mexp(high - special.log_ndtr(left))
