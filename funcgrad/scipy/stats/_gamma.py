"""Distributions of the gamma and beta families."""

import numpy as np
from scipy import stats

from funcgrad.scipy import special
from funcgrad.scipy.stats._kinds import continuous
from funcgrad.scipy.stats._pieces import EULER, LOG_2, LOG_PI, LOG_ROOT, power_exp

inf = np.inf
betaln, gammaln, psi = special.betaln, special.gammaln, special.psi
xlogy, xlog1py = special.xlogy, special.xlog1py
gammainc, gammaincc = special.gammainc, special.gammaincc
gammaincinv, gammainccinv = special.gammaincinv, special.gammainccinv
betainc, betaincinv = special.betainc, special.betaincinv


@continuous(stats.gamma, (0.0, inf))
class gamma:
    def logpdf(x, a):
        return xlogy(a - 1, x) - x - gammaln(a)

    def pdf(x, a):
        return power_exp(x, a - 1, -x - gammaln(a))

    def cdf(x, a):
        return gammainc(a, x)

    def sf(x, a):
        return gammaincc(a, x)

    def ppf(q, a):
        return gammaincinv(a, q)

    def isf(q, a):
        return gammainccinv(a, q)

    def mean(a):
        return a

    def var(a):
        return a

    def entropy(a):
        return a + gammaln(a) + (1 - a) * psi(a)


@continuous(stats.invgamma, (0.0, inf), open=True)
class invgamma:
    def logpdf(x, a):
        return -(a + 1) * np.log(x) - gammaln(a) - 1 / x

    def cdf(x, a):
        return gammaincc(a, 1 / x)

    def sf(x, a):
        return gammainc(a, 1 / x)

    def ppf(q, a):
        return 1 / gammainccinv(a, q)

    def isf(q, a):
        return 1 / gammaincinv(a, q)

    def mean(a):
        return np.where(a > 1, 1 / np.where(a > 1, a - 1, 1.0), inf)

    def var(a):
        b = np.where(a > 2, a, 3.0)
        return np.where(a > 2, 1 / ((b - 1) * (b - 1) * (b - 2)), inf)

    def entropy(a):
        return a - (a + 1) * psi(a) + gammaln(a)


@continuous(stats.chi2, (0.0, inf))
class chi2:
    def logpdf(x, df):
        return xlogy(df / 2 - 1, x) - x / 2 - gammaln(df / 2) - (LOG_2 / 2) * df

    def pdf(x, df):
        return power_exp(x, df / 2 - 1, -x / 2 - gammaln(df / 2) - (LOG_2 / 2) * df)

    def cdf(x, df):
        return gammainc(df / 2, x / 2)

    def sf(x, df):
        return gammaincc(df / 2, x / 2)

    def ppf(q, df):
        return 2 * gammaincinv(df / 2, q)

    def isf(q, df):
        return 2 * gammainccinv(df / 2, q)

    def mean(df):
        return df

    def var(df):
        return 2 * df

    def entropy(df):
        return df / 2 + LOG_2 + gammaln(df / 2) + (1 - df / 2) * psi(df / 2)


def _chi_mean(df):
    return np.sqrt(2) * np.exp(gammaln((df + 1) / 2) - gammaln(df / 2))


@continuous(stats.chi, (0.0, inf))
class chi:
    def logpdf(x, df):
        return LOG_2 - (LOG_2 / 2) * df - gammaln(df / 2) + xlogy(df - 1, x) - 0.5 * (x * x)

    def pdf(x, df):
        return power_exp(x, df - 1, LOG_2 - (LOG_2 / 2) * df - gammaln(df / 2) - 0.5 * (x * x))

    def cdf(x, df):
        return gammainc(df / 2, 0.5 * (x * x))

    def sf(x, df):
        return gammaincc(df / 2, 0.5 * (x * x))

    def ppf(q, df):
        return np.sqrt(2 * gammaincinv(df / 2, q))

    def isf(q, df):
        return np.sqrt(2 * gammainccinv(df / 2, q))

    def mean(df):
        return _chi_mean(df)

    def var(df):
        return df - _chi_mean(df) ** 2


@continuous(stats.maxwell, (0.0, inf), open=True)
class maxwell:
    def logpdf(x):
        return LOG_2 - LOG_ROOT + 2 * np.log(x) - 0.5 * (x * x)

    def pdf(x):
        return np.sqrt(2 / np.pi) * (x * x) * np.exp(-0.5 * (x * x))

    def cdf(x):
        return gammainc(1.5, 0.5 * (x * x))

    def sf(x):
        return gammaincc(1.5, 0.5 * (x * x))

    def ppf(q):
        return np.sqrt(2 * gammaincinv(1.5, q))

    def isf(q):
        return np.sqrt(2 * gammainccinv(1.5, q))

    def mean():
        return 2 * np.sqrt(2 / np.pi)

    def var():
        return 3 - 8 / np.pi

    def entropy():
        return EULER + LOG_ROOT - 0.5


@continuous(stats.nakagami, (0.0, inf))
class nakagami:
    def logpdf(x, nu):
        return LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, x) - nu * (x * x)

    def pdf(x, nu):
        return power_exp(x, 2 * nu - 1, LOG_2 + xlogy(nu, nu) - gammaln(nu) - nu * (x * x))

    def cdf(x, nu):
        return gammainc(nu, nu * (x * x))

    def sf(x, nu):
        return gammaincc(nu, nu * (x * x))

    def ppf(q, nu):
        return np.sqrt(gammaincinv(nu, q) / nu)

    def isf(q, nu):
        return np.sqrt(gammainccinv(nu, q) / nu)

    def mean(nu):
        return np.exp(gammaln(nu + 0.5) - gammaln(nu)) / np.sqrt(nu)

    def var(nu):
        return 1 - np.exp(2 * (gammaln(nu + 0.5) - gammaln(nu))) / nu


@continuous(stats.loggamma)
class loggamma:
    def logpdf(x, c):
        return c * x - np.exp(x) - gammaln(c)

    def cdf(x, c):
        return gammainc(c, np.exp(x))

    def sf(x, c):
        return gammaincc(c, np.exp(x))

    def ppf(q, c):
        return np.log(gammaincinv(c, q))

    def isf(q, c):
        return np.log(gammainccinv(c, q))

    def mean(c):
        return psi(c)

    def var(c):
        return special.zeta(2.0, c)

    def entropy(c):
        return gammaln(c) - c * psi(c) + c


@continuous(stats.beta, (0.0, 1.0))
class beta:
    def logpdf(x, a, b):
        return xlog1py(b - 1, -x) + xlogy(a - 1, x) - betaln(a, b)

    def pdf(x, a, b):
        return power_exp(x, a - 1, -betaln(a, b)) * power_exp(1 - x, b - 1, 0.0)

    def cdf(x, a, b):
        return betainc(a, b, x)

    def sf(x, a, b):
        return betainc(b, a, 1 - x)

    def ppf(q, a, b):
        return betaincinv(a, b, q)

    def isf(q, a, b):
        return 1 - betaincinv(b, a, q)

    def mean(a, b):
        return a / (a + b)

    def var(a, b):
        return a * b / ((a + b) * (a + b) * (a + b + 1))

    def entropy(a, b):
        return betaln(a, b) - (a - 1) * psi(a) - (b - 1) * psi(b) + (a + b - 2) * psi(a + b)


def _f_share(x, dfn, dfd):
    """The beta variate that belongs to one of F."""
    return dfn * x / (dfd + dfn * x)


@continuous(stats.f, (0.0, inf))
class f:
    def logpdf(x, dfn, dfd):
        n, m = dfn / 2, dfd / 2
        power = xlogy(n, dfn) + xlogy(m, dfd) + xlogy(n - 1, x)
        return power - (n + m) * np.log(dfd + dfn * x) - betaln(n, m)

    def pdf(x, dfn, dfd):
        n, m = dfn / 2, dfd / 2
        rest = xlogy(n, dfn) + xlogy(m, dfd) - (n + m) * np.log(dfd + dfn * x) - betaln(n, m)
        return power_exp(x, n - 1, rest)

    def cdf(x, dfn, dfd):
        return betainc(dfn / 2, dfd / 2, _f_share(x, dfn, dfd))

    def sf(x, dfn, dfd):
        return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))

    def ppf(q, dfn, dfd):
        share = betaincinv(dfn / 2, dfd / 2, q)
        return dfd * share / (dfn * (1 - share))

    def isf(q, dfn, dfd):
        share = betaincinv(dfd / 2, dfn / 2, q)
        return dfd * (1 - share) / (dfn * share)

    def mean(dfn, dfd):
        return np.where(dfd > 2, dfd / np.where(dfd > 2, dfd - 2, 1.0), inf)

    def var(dfn, dfd):
        m = np.where(dfd > 4, dfd, 5.0)
        var = 2 * (m * m) * (dfn + m - 2) / (dfn * ((m - 2) * (m - 2)) * (m - 4))
        return np.where(dfd > 4, var, inf)


def _finite(df):
    """Degrees of freedom, 1 where they are infinite; and where they are."""
    infinite = np.isinf(df)
    return infinite, np.where(infinite, 1.0, df)


@continuous(stats.t)
class t:
    def logpdf(x, df):
        infinite, r = _finite(df)
        half = r / 2
        out = -betaln(0.5, half) - 0.5 * np.log(r) - (half + 0.5) * np.log1p(x * x / r)
        return np.where(infinite, -0.5 * (x * x) - LOG_ROOT, out)

    def cdf(x, df):
        return special.stdtr(df, x)

    def sf(x, df):
        return special.stdtr(df, -x)

    def ppf(q, df):
        return special.stdtrit(df, q)

    def isf(q, df):
        return -special.stdtrit(df, q)

    def mean(df):
        return np.where(df > 1, 0.0, inf)

    def var(df):
        infinite, r = _finite(df)
        r = np.where(df > 2, r, 3.0)
        r = np.where(infinite, 3.0, r)
        out = np.where(infinite, 1.0, r / (r - 2))
        return np.where(df > 2, out, np.where(df > 1, inf, np.nan))

    def entropy(df):
        infinite, r = _finite(df)
        half = r / 2
        out = (half + 0.5) * (psi(half + 0.5) - psi(half)) + 0.5 * np.log(r) + betaln(half, 0.5)
        return np.where(infinite, LOG_ROOT + 0.5, out)


@continuous(stats.halfcauchy, (0.0, inf))
class halfcauchy:
    def logpdf(x):
        return LOG_2 - LOG_PI - np.log1p(x * x)

    def cdf(x):
        return (2 / np.pi) * np.arctan(x)

    def sf(x):
        return (2 / np.pi) * np.arctan2(1.0, x)

    def ppf(q):
        return np.tan((np.pi / 2) * q)

    def isf(q):
        return 1 / np.tan((np.pi / 2) * q)

    def entropy():
        return np.log(2 * np.pi)
