"""Discrete distributions, differentiable in their parameters."""

import numpy as np
from scipy import stats

from funcgrad._core.tracer import concrete
from funcgrad.scipy import special
from funcgrad.scipy.stats._kinds import discrete
from funcgrad.scipy.stats._pieces import any_of, power_exp

inf = np.inf
betaln, gammaln = special.betaln, special.gammaln
xlogy, xlog1py = special.xlogy, special.xlog1py
betainc = special.betainc


def _probability(p):
    return np.less_equal(0, p) & np.less_equal(p, 1)


def _positive_probability(p):
    return np.less(0, p) & np.less_equal(p, 1)


def _count(n):
    return np.greater_equal(n, 0) & np.equal(n, np.floor(n))


def _log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


@discrete(stats.bernoulli, (0.0, 1.0), valid=_probability, defaults=(0.5,))
class bernoulli:
    def logpmf(k, p):
        return xlogy(k, p) + xlog1py(1 - k, -p)

    def pmf(k, p):
        return np.where(k == 1, p, 1 - p)

    def cdf(k, p):
        return 1 - p

    def sf(k, p):
        return p

    def mean(p):
        return p

    def var(p):
        return p * (1 - p)

    def entropy(p):
        return special.entr(p) + special.entr(1 - p)


@discrete(
    stats.binom,
    lambda n, p: (0.0, n),
    valid=lambda n, p: _count(n) & _probability(p),
    defaults=(1.0, 0.5),
    whole=(0,),
)
class binom:
    def logpmf(k, n, p):
        return xlogy(k, p) + xlog1py(n - k, -p) + _log_choose(n, k)

    def pmf(k, n, p):
        edge = np.equal(concrete(p), 0) | np.equal(concrete(p), 1)
        if not any_of(edge):
            return np.exp(xlogy(k, p) + xlog1py(n - k, -p) + _log_choose(n, k))
        at_edge, within = np.where(edge, p, 1.0), np.where(edge, 0.5, p)
        powers = np.power(at_edge, k) * np.power(1 - at_edge, n - k) * np.exp(_log_choose(n, k))
        return np.where(edge, powers, np.exp(xlogy(k, within) + xlog1py(n - k, -within) + _log_choose(n, k)))

    def cdf(k, n, p):
        return betainc(n - k, k + 1, 1 - p)

    def sf(k, n, p):
        return betainc(k + 1, n - k, p)

    def mean(n, p):
        return n * p

    def var(n, p):
        return n * p * (1 - p)


@discrete(stats.poisson, (0.0, inf), valid=lambda mu: np.greater_equal(mu, 0))
class poisson:
    def logpmf(k, mu):
        return xlogy(k, mu) - gammaln(k + 1) - mu

    def pmf(k, mu):
        return power_exp(mu, k, -gammaln(k + 1) - mu)

    def cdf(k, mu):
        return special.gammaincc(k + 1, mu)

    def sf(k, mu):
        return special.gammainc(k + 1, mu)

    def mean(mu):
        return mu

    def var(mu):
        return mu


@discrete(stats.geom, (1.0, inf), valid=_positive_probability, defaults=(0.5,))
class geom:
    def logpmf(k, p):
        return xlog1py(k - 1, -p) + np.log(p)

    def pmf(k, p):
        return np.power(1 - p, k - 1) * p

    def cdf(k, p):
        return -np.expm1(xlog1py(k, -p))

    def sf(k, p):
        return np.power(1 - p, k)

    def logsf(k, p):
        return xlog1py(k, -p)

    def mean(p):
        return 1 / p

    def var(p):
        return (1 - p) / (p * p)

    def entropy(p):
        return (special.entr(p) + special.entr(1 - p)) / p


@discrete(
    stats.nbinom,
    (0.0, inf),
    valid=lambda n, p: np.greater(n, 0) & _positive_probability(p),
    defaults=(1.0, 0.5),
)
class nbinom:
    def logpmf(k, n, p):
        coefficient = gammaln(n + k) - gammaln(k + 1) - gammaln(n)
        return coefficient + n * np.log(p) + xlog1py(k, -p)

    def cdf(k, n, p):
        return betainc(n, k + 1, p)

    def sf(k, n, p):
        return betainc(k + 1, n, 1 - p)

    def mean(n, p):
        return n * (1 - p) / p

    def var(n, p):
        return n * (1 - p) / (p * p)


@discrete(
    stats.betabinom,
    lambda n, a, b: (0.0, n),
    valid=lambda n, a, b: _count(n) & np.greater(a, 0) & np.greater(b, 0),
    whole=(0,),
)
class betabinom:
    def logpmf(k, n, a, b):
        return -np.log(n + 1) - betaln(n - k + 1, k + 1) + betaln(k + a, n - k + b) - betaln(a, b)

    def mean(n, a, b):
        return n * a / (a + b)

    def var(n, a, b):
        share = a / (a + b)
        return n * (a + b + n) * share * (1 - share) / (a + b + 1)


@discrete(
    stats.randint,
    lambda low, high: (low, high - 1.0),
    valid=lambda low, high: np.less(low, high) & _whole(low) & _whole(high),
    defaults=(0.0, 1.0),
    whole=(0, 1),
)
class randint:
    def logpmf(k, low, high):
        return -np.log(high - low)

    def cdf(k, low, high):
        return (k - low + 1) / (high - low)

    def mean(low, high):
        return (high + low - 1) / 2

    def var(low, high):
        return ((high - low) ** 2 - 1) / 12

    def entropy(low, high):
        return np.log(high - low)


def _whole(x):
    return np.equal(x, np.floor(x))


@discrete(
    stats.hypergeom,
    lambda M, n, N: (np.maximum(N - (M - n), 0.0), np.minimum(n, N)),
    valid=lambda M, n, N: _count(M) & _count(n) & _count(N) & np.less_equal(n, M) & np.less_equal(N, M),
    whole=(0, 1, 2),
)
class hypergeom:
    def logpmf(k, M, n, N):
        return _log_choose(n, k) + _log_choose(M - n, N - k) - _log_choose(M, N)

    def mean(M, n, N):
        return N * n / M

    def var(M, n, N):
        return n * (M - n) * N * (M - N) / (M * M * np.where(M > 1, M - 1, 1.0))
