"""Exponential, uniform, triangular and power-law distributions, and those of extreme values."""

import numpy as np
from scipy import stats

from funcgrad._core.tracer import concrete
from funcgrad.scipy import special
from funcgrad.scipy.stats._kinds import continuous
from funcgrad.scipy.stats._pieces import EULER, LOG_2, expm1_quotient, log1mexp, log1p_quotient, power_exp

inf = np.inf
xlogy = special.xlogy


@continuous(stats.expon, (0.0, inf))
class expon:
    def logpdf(x):
        return -x

    def cdf(x):
        return -np.expm1(-x)

    def sf(x):
        return np.exp(-x)

    def logcdf(x):
        return log1mexp(x)

    def logsf(x):
        return -x

    def ppf(q):
        return -np.log1p(-q)

    def isf(q):
        return -np.log(q)

    def mean():
        return 1.0

    def var():
        return 1.0

    def entropy():
        return 1.0


@continuous(stats.uniform, (0.0, 1.0))
class uniform:
    def logpdf(x):
        return 0.0

    def cdf(x):
        return x

    def sf(x):
        return 1 - x

    def ppf(q):
        return q

    def isf(q):
        return 1 - q

    def mean():
        return 0.5

    def var():
        return 1 / 12

    def entropy():
        return 0.0


@continuous(stats.rayleigh, (0.0, inf), open=True)
class rayleigh:
    def logpdf(x):
        return np.log(x) - 0.5 * (x * x)

    def pdf(x):
        return x * np.exp(-0.5 * (x * x))

    def cdf(x):
        return -np.expm1(-0.5 * (x * x))

    def sf(x):
        return np.exp(-0.5 * (x * x))

    def logsf(x):
        return -0.5 * (x * x)

    def ppf(q):
        return np.sqrt(-2 * np.log1p(-q))

    def isf(q):
        return np.sqrt(-2 * np.log(q))

    def mean():
        return np.sqrt(np.pi / 2)

    def var():
        return 2 - np.pi / 2

    def entropy():
        return EULER / 2 + 1 - LOG_2 / 2


def _weibull_mean(c):
    return special.gamma(1 + 1 / c)


def _weibull_var(c):
    return special.gamma(1 + 2 / c) - special.gamma(1 + 1 / c) ** 2


def _weibull_entropy(c):
    return -EULER / c - np.log(c) + EULER + 1


@continuous(stats.weibull_min, (0.0, inf))
class weibull_min:
    def logpdf(x, c):
        return np.log(c) + xlogy(c - 1, x) - np.power(x, c)

    def pdf(x, c):
        return power_exp(x, c - 1, np.log(c) - np.power(x, c))

    def cdf(x, c):
        return -np.expm1(-np.power(x, c))

    def sf(x, c):
        return np.exp(-np.power(x, c))

    def logsf(x, c):
        return -np.power(x, c)

    def ppf(q, c):
        return np.power(-np.log1p(-q), 1 / c)

    def isf(q, c):
        return np.power(-np.log(q), 1 / c)

    def mean(c):
        return _weibull_mean(c)

    def var(c):
        return _weibull_var(c)

    def entropy(c):
        return _weibull_entropy(c)


@continuous(stats.weibull_max, (-inf, 0.0))
class weibull_max:
    def logpdf(x, c):
        return np.log(c) + xlogy(c - 1, -x) - np.power(-x, c)

    def pdf(x, c):
        return power_exp(-x, c - 1, np.log(c) - np.power(-x, c))

    def cdf(x, c):
        return np.exp(-np.power(-x, c))

    def logcdf(x, c):
        return -np.power(-x, c)

    def sf(x, c):
        return -np.expm1(-np.power(-x, c))

    def ppf(q, c):
        return -np.power(-np.log(q), 1 / c)

    def isf(q, c):
        return -np.power(-np.log1p(-q), 1 / c)

    def mean(c):
        return -_weibull_mean(c)

    def var(c):
        return _weibull_var(c)

    def entropy(c):
        return _weibull_entropy(c)


@continuous(stats.pareto, (1.0, inf))
class pareto:
    def logpdf(x, b):
        return np.log(b) - (b + 1) * np.log(x)

    def cdf(x, b):
        return -np.expm1(-b * np.log(x))

    def sf(x, b):
        return np.power(x, -b)

    def logcdf(x, b):
        return log1mexp(b * np.log(x))

    def logsf(x, b):
        return -b * np.log(x)

    def ppf(q, b):
        return np.exp(-np.log1p(-q) / b)

    def isf(q, b):
        return np.power(q, -1 / b)

    def mean(b):
        return np.where(b > 1, b / np.where(b > 1, b - 1, 1.0), inf)

    def var(b):
        safe = np.where(b > 2, b, 3.0)
        return np.where(b > 2, safe / ((safe - 1) * (safe - 1) * (safe - 2)), inf)

    def entropy(b):
        return 1 + 1 / b - np.log(b)


@continuous(stats.powerlaw, (0.0, 1.0))
class powerlaw:
    def logpdf(x, a):
        return np.log(a) + xlogy(a - 1, x)

    def pdf(x, a):
        return power_exp(x, a - 1, np.log(a))

    def cdf(x, a):
        return np.power(x, a)

    def sf(x, a):
        return -np.expm1(a * np.log(x))

    def logcdf(x, a):
        return a * np.log(x)

    def ppf(q, a):
        return np.power(q, 1 / a)

    def mean(a):
        return a / (a + 1)

    def var(a):
        return a / ((a + 2) * (a + 1) * (a + 1))

    def entropy(a):
        return 1 - 1 / a - np.log(a)


def _triangle(x, c):
    """Whether x is left of the mode; and the mode and its distance from 1, where they divide."""
    left = np.less(concrete(x), concrete(c)) | np.equal(concrete(c), 1)
    return left, np.where(left, c, 1.0), np.where(left, 1.0, 1 - c)


@continuous(
    stats.triang,
    (0.0, 1.0),
    valid=lambda c: np.less_equal(0, c) & np.less_equal(c, 1),
    point=lambda c: 0.5,
    defaults=(0.5,),
)
class triang:
    def logpdf(x, c):
        left, low, high = _triangle(x, c)
        return LOG_2 + xlogy(1.0, np.where(left, x, 1 - x)) - np.log(np.where(left, low, high))

    def pdf(x, c):
        left, low, high = _triangle(x, c)
        return 2 * np.where(left, x, 1 - x) / np.where(left, low, high)

    def cdf(x, c):
        left, low, high = _triangle(x, c)
        return np.where(left, x * x / low, 1 - (1 - x) * (1 - x) / high)

    def sf(x, c):
        left, low, high = _triangle(x, c)
        return np.where(left, 1 - x * x / low, (1 - x) * (1 - x) / high)

    def ppf(q, c):
        left = np.less(concrete(q), concrete(c))
        root = np.sqrt(np.where(left, c * q, (1 - c) * (1 - q)))
        return np.where(left, root, 1 - root)

    def mean(c):
        return (c + 1) / 3

    def var(c):
        return (1 - c + c * c) / 18

    def entropy(c):
        return 0.5 - LOG_2 + 0 * c


def _genextreme_ends(c):
    safe = np.where(np.equal(c, 0), 1.0, c)
    return np.where(np.less(c, 0), 1 / safe, -inf), np.where(np.greater(c, 0), 1 / safe, inf)


def _reduced(x, c):
    """-log(-log(cdf)) of the generalised extreme value distribution: x if c is 0."""
    return x * log1p_quotient(-c * x)


@continuous(stats.genextreme, _genextreme_ends, valid=np.isfinite, point=lambda c: 0.0, open=True)
class genextreme:
    def logpdf(x, c):
        y = _reduced(x, c)
        return -np.exp(-y) - y - np.log1p(-c * x)

    def cdf(x, c):
        return np.exp(-np.exp(-_reduced(x, c)))

    def sf(x, c):
        return -np.expm1(-np.exp(-_reduced(x, c)))

    def logcdf(x, c):
        return -np.exp(-_reduced(x, c))

    def ppf(q, c):
        y = -np.log(-np.log(q))
        return y * expm1_quotient(-c * y)

    def isf(q, c):
        y = -np.log(-np.log1p(-q))
        return y * expm1_quotient(-c * y)


def _genpareto_ends(c):
    return 0.0, np.where(np.less(c, 0), -1 / np.where(np.less(c, 0), c, 1.0), inf)


def _excess(x, c):
    """-log(sf) of the generalised Pareto distribution: x if c is 0."""
    return x * log1p_quotient(c * x)


@continuous(
    stats.genpareto,
    _genpareto_ends,
    valid=np.isfinite,
    point=lambda c: 0.5 / (1 + np.abs(c)),
    defaults=(0.0,),
)
class genpareto:
    def logpdf(x, c):
        return -(c + 1) * _excess(x, c)

    def cdf(x, c):
        return -np.expm1(-_excess(x, c))

    def sf(x, c):
        return np.exp(-_excess(x, c))

    def logsf(x, c):
        return -_excess(x, c)

    def ppf(q, c):
        y = -np.log1p(-q)
        return y * expm1_quotient(c * y)

    def isf(q, c):
        y = -np.log(q)
        return y * expm1_quotient(c * y)

    def mean(c):
        return np.where(c < 1, 1 / np.where(c < 1, 1 - c, 1.0), inf)

    def var(c):
        safe = np.where(c < 0.5, c, 0.0)
        return np.where(c < 0.5, 1 / ((1 - safe) * (1 - safe) * (1 - 2 * safe)), inf)

    def entropy(c):
        return 1 + c
