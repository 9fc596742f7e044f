"""Distributions made of the normal one, and others on the whole line."""

import numpy as np
from scipy import stats

from funcgrad.scipy import special
from funcgrad.scipy.stats._kinds import continuous
from funcgrad.scipy.stats._pieces import (
    EULER,
    LOG_2,
    LOG_PI,
    LOG_ROOT,
    expm1_quotient,
    log1mexp,
    log_normal_mass,
    normal_logpdf,
)

inf = np.inf
ndtr, log_ndtr, ndtri = special.ndtr, special.log_ndtr, special.ndtri

# ---- the normal family ---------------------------------------------------------------------


@continuous(stats.norm)
class norm:
    def logpdf(x):
        return normal_logpdf(x)

    def cdf(x):
        return ndtr(x)

    def sf(x):
        return ndtr(-x)

    def logcdf(x):
        return log_ndtr(x)

    def logsf(x):
        return log_ndtr(-x)

    def ppf(q):
        return ndtri(q)

    def isf(q):
        return -ndtri(q)

    def mean():
        return 0.0

    def var():
        return 1.0

    def entropy():
        return LOG_ROOT + 0.5


@continuous(stats.lognorm, (0.0, inf), open=True)
class lognorm:
    def logpdf(x, s):
        return normal_logpdf(np.log(x) / s) - np.log(s * x)

    def cdf(x, s):
        return ndtr(np.log(x) / s)

    def sf(x, s):
        return ndtr(-np.log(x) / s)

    def logcdf(x, s):
        return log_ndtr(np.log(x) / s)

    def logsf(x, s):
        return log_ndtr(-np.log(x) / s)

    def ppf(q, s):
        return np.exp(s * ndtri(q))

    def isf(q, s):
        return np.exp(-s * ndtri(q))

    def mean(s):
        return np.exp(0.5 * (s * s))

    def var(s):
        return np.expm1(s * s) * np.exp(s * s)

    def entropy(s):
        return LOG_ROOT + 0.5 + np.log(s)


@continuous(stats.halfnorm, (0.0, inf))
class halfnorm:
    def logpdf(x):
        return normal_logpdf(x) + LOG_2

    def cdf(x):
        return special.erf(x * np.sqrt(0.5))

    def sf(x):
        return 2 * ndtr(-x)

    def logsf(x):
        return LOG_2 + log_ndtr(-x)

    def ppf(q):
        return ndtri((1 + q) / 2)

    def isf(q):
        return -ndtri(q / 2)

    def mean():
        return np.sqrt(2 / np.pi)

    def var():
        return 1 - 2 / np.pi

    def entropy():
        return 0.5 * np.log(np.pi / 2) + 0.5


def _within(a, b):
    """A point between two, of which any may be infinite."""
    return (np.maximum(a, np.minimum(b, 0.0) - 2) + np.minimum(b, np.maximum(a, 0.0) + 2)) / 2


@continuous(
    stats.truncnorm,
    lambda a, b: (a, b),
    valid=lambda a, b: np.less(a, b),
    point=_within,
    defaults=(-1.0, 1.0),
)
class truncnorm:
    def logpdf(x, a, b):
        return normal_logpdf(x) - log_normal_mass(a, b)

    def cdf(x, a, b):
        return np.exp(log_normal_mass(a, x) - log_normal_mass(a, b))

    def sf(x, a, b):
        return np.exp(log_normal_mass(x, b) - log_normal_mass(a, b))

    def logcdf(x, a, b):
        return log_normal_mass(a, x) - log_normal_mass(a, b)

    def logsf(x, a, b):
        return log_normal_mass(x, b) - log_normal_mass(a, b)

    def mean(a, b):
        low, high = np.exp(normal_logpdf(a)), np.exp(normal_logpdf(b))
        return (low - high) / np.exp(log_normal_mass(a, b))


@continuous(stats.skewnorm, valid=np.isfinite)
class skewnorm:
    logcdf = logsf = None  # these differences lose all digits in the tails

    def logpdf(x, a):
        return LOG_2 + normal_logpdf(x) + log_ndtr(a * x)

    def cdf(x, a):
        return ndtr(x) - 2 * special.owens_t(x, a)

    def sf(x, a):
        return ndtr(-x) + 2 * special.owens_t(x, a)

    def mean(a):
        return np.sqrt(2 / np.pi) * a / np.hypot(1, a)

    def var(a):
        return 1 - (2 / np.pi) * (a * a) / (1 + a * a)


@continuous(stats.exponnorm)
class exponnorm:
    def logpdf(x, K):
        rate = 1 / K
        return rate * (0.5 * rate - x) + log_ndtr(x - rate) - np.log(K)

    def cdf(x, K):
        rate = 1 / K
        return ndtr(x) - np.exp(rate * (0.5 * rate - x) + log_ndtr(x - rate))

    def sf(x, K):
        rate = 1 / K
        return ndtr(-x) + np.exp(rate * (0.5 * rate - x) + log_ndtr(x - rate))

    def mean(K):
        return K

    def var(K):
        return 1 + K * K


@continuous(stats.invgauss, (0.0, inf), open=True)
class invgauss:
    def logpdf(x, mu):
        away = (x - mu) / mu
        return -LOG_ROOT - 1.5 * np.log(x) - away * away / (2 * x)

    def logcdf(x, mu):
        root = np.sqrt(x)
        first = log_ndtr((x / mu - 1) / root)
        return first + np.log1p(np.exp(2 / mu + log_ndtr(-(x / mu + 1) / root) - first))

    def logsf(x, mu):
        root = np.sqrt(x)
        first = log_ndtr(-(x / mu - 1) / root)
        return first + log1mexp(first - 2 / mu - log_ndtr(-(x / mu + 1) / root))

    def cdf(x, mu):
        root = np.sqrt(x)
        return ndtr((x / mu - 1) / root) + np.exp(2 / mu + log_ndtr(-(x / mu + 1) / root))

    def sf(x, mu):
        root = np.sqrt(x)
        return ndtr(-(x / mu - 1) / root) - np.exp(2 / mu + log_ndtr(-(x / mu + 1) / root))

    def mean(mu):
        return mu

    def var(mu):
        return mu**3


# ---- others on the whole line --------------------------------------------------------------


@continuous(stats.cauchy)
class cauchy:
    def logpdf(x):
        return -LOG_PI - np.log1p(x * x)

    def cdf(x):
        return np.arctan2(1.0, -x) / np.pi

    def sf(x):
        return np.arctan2(1.0, x) / np.pi

    def ppf(q):
        return -1 / np.tan(np.pi * q)

    def isf(q):
        return 1 / np.tan(np.pi * q)

    def entropy():
        return np.log(4 * np.pi)


def _laplace_tail(x):
    """Whether x is on the right, and the logarithm of what lies beyond it on its side, times 2."""
    right = np.greater(x, 0)
    return right, np.where(right, -x, x)


@continuous(stats.laplace)
class laplace:
    def logpdf(x):
        return -np.abs(x) - LOG_2

    def cdf(x):
        right, tail = _laplace_tail(x)
        return np.where(right, 1 - 0.5 * np.exp(tail), 0.5 * np.exp(tail))

    def sf(x):
        right, tail = _laplace_tail(-x)
        return np.where(right, 1 - 0.5 * np.exp(tail), 0.5 * np.exp(tail))

    def logcdf(x):
        right, tail = _laplace_tail(x)
        return np.where(right, np.log1p(-0.5 * np.exp(tail)), tail - LOG_2)

    def logsf(x):
        right, tail = _laplace_tail(-x)
        return np.where(right, np.log1p(-0.5 * np.exp(tail)), tail - LOG_2)

    def ppf(q):
        right = np.greater(q, 0.5)
        return np.where(right, -1, 1) * np.log(2 * np.where(right, 1 - q, q))

    def isf(q):
        right = np.greater(q, 0.5)
        return np.where(right, 1, -1) * np.log(2 * np.where(right, 1 - q, q))

    def mean():
        return 0.0

    def var():
        return 2.0

    def entropy():
        return LOG_2 + 1


@continuous(stats.logistic)
class logistic:
    def logpdf(x):
        return special.log_expit(x) + special.log_expit(-x)

    def cdf(x):
        return special.expit(x)

    def sf(x):
        return special.expit(-x)

    def logcdf(x):
        return special.log_expit(x)

    def logsf(x):
        return special.log_expit(-x)

    def ppf(q):
        return special.logit(q)

    def isf(q):
        return -special.logit(q)

    def mean():
        return 0.0

    def var():
        return np.pi**2 / 3

    def entropy():
        return 2.0


@continuous(stats.gumbel_r)
class gumbel_r:
    def logpdf(x):
        return -x - np.exp(-x)

    def cdf(x):
        return np.exp(-np.exp(-x))

    def logcdf(x):
        return -np.exp(-x)

    def sf(x):
        return -np.expm1(-np.exp(-x))

    def logsf(x):
        right = np.greater(x, 0)
        z, far = np.exp(-np.where(right, x, 0.0)), np.where(right, 0.0, x)
        return np.where(right, np.log(expm1_quotient(-z)) - x, log1mexp(np.exp(-far)))

    def ppf(q):
        return -np.log(-np.log(q))

    def isf(q):
        return -np.log(-np.log1p(-q))

    def mean():
        return EULER

    def var():
        return np.pi**2 / 6

    def entropy():
        return EULER + 1


@continuous(stats.gumbel_l)
class gumbel_l:
    def logpdf(x):
        return x - np.exp(x)

    def cdf(x):
        return -np.expm1(-np.exp(x))

    def sf(x):
        return np.exp(-np.exp(x))

    def logsf(x):
        return -np.exp(x)

    def ppf(q):
        return np.log(-np.log1p(-q))

    def isf(q):
        return np.log(-np.log(q))

    def mean():
        return -EULER

    def var():
        return np.pi**2 / 6

    def entropy():
        return EULER + 1


@continuous(stats.vonmises, valid=lambda kappa: np.greater_equal(kappa, 0))
class vonmises:
    def logpdf(x, kappa):
        half = np.sin(x / 2)  # cos(x) - 1 without loss near 0
        return kappa * (-2 * (half * half)) - 2 * LOG_ROOT - np.log(special.i0e(kappa))

    def entropy(kappa):
        return (
            2 * LOG_ROOT + np.log(special.i0e(kappa)) + kappa * (1 - special.i1e(kappa) / special.i0e(kappa))
        )
