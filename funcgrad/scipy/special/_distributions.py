"""Distribution functions and their inverses, through the densities of the gamma and beta distributions.

Counts, of which SciPy takes the whole part, only steer. The derivative of an inverse is the reciprocal of the
density there.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._primitives.selection import nowhere
from funcgrad.scipy.special._declare import SHAPE, declare, elementwise, find, of
from funcgrad.scipy.special._gamma import beta_density, gamma_density

_QUANTILE = "Derivatives of the inverse by this argument have no closed form"

# ---- binomial, negative binomial, Poisson --------------------------------------------------


def _binomial(k, n, p):
    """The derivative of the upper tail by p."""
    k = of(np.floor(k), p)
    return beta_density(k + 1, n - k, p)


def _negative_binomial(k, n, p):
    return beta_density(n, of(np.floor(k), p) + 1, p)


def _poisson(k, m):
    return gamma_density(of(np.floor(k), m) + 1, m)


declare("bdtr", None, None, lambda g, k, n, p: -g * _binomial(k, n, p), args="k n p")
declare("bdtrc", None, None, lambda g, k, n, p: g * _binomial(k, n, p), args="k n p")
declare("bdtri", None, None, lambda g, y, k, n: -g / _binomial(k, n, y), args="k n p")
declare("nbdtr", None, None, lambda g, k, n, p: g * _negative_binomial(k, n, p), args="k n p")
declare("nbdtrc", None, None, lambda g, k, n, p: -g * _negative_binomial(k, n, p), args="k n p")
declare("nbdtri", None, None, lambda g, y, k, n: g / _negative_binomial(k, n, y), args="k n p")
declare("pdtr", None, lambda g, k, m: -g * _poisson(k, m), args="k m")
declare("pdtrc", None, lambda g, k, m: g * _poisson(k, m), args="k m")
declare("pdtri", None, lambda g, y, k: -g / _poisson(k, y), args="k p")

for _name, _args in {
    "bdtrik": "p n pr", "bdtrin": "k p pr", "nbdtrik": "p n pr", "nbdtrin": "k p pr", "pdtrik": "p m",
    "btdtria": "p b x", "btdtrib": "a p x", "chdtriv": "p x", "chndtridf": "x p nc", "fdtridfd": "dfn p x",
    "gdtrib": "a p x", "stdtridf": "p t", "nctdtridf": "p nc t", "nctdtrinc": "df p t",
    "ncfdtridfd": "dfn p nc f", "ncfdtridfn": "p dfd nc f",
    "ncfdtrinc": "dfn dfd p f",
}.items():  # fmt: skip
    declare(_name, *[_QUANTILE] * len(_args.split()), args=_args)

# ---- chi-square, gamma, F ------------------------------------------------------------------


def _chi_square(v, x):
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


declare("chdtr", SHAPE, lambda g, v, x: g * _chi_square(v, x), args="v x")
declare("chdtrc", SHAPE, lambda g, v, x: -g * _chi_square(v, x), args="v x")
declare("chdtri", SHAPE, lambda g, y, v: -g / _chi_square(v, y), args="v p")

declare(
    "gdtr",
    lambda g, a, b, x: g * (x * gamma_density(b, a * x)),
    SHAPE,
    lambda g, a, b, x: g * (a * gamma_density(b, a * x)),
    args="a b x",
)
declare(
    "gdtrc",
    lambda g, a, b, x: -g * (x * gamma_density(b, a * x)),
    SHAPE,
    lambda g, a, b, x: -g * (a * gamma_density(b, a * x)),
    args="a b x",
)
declare(
    "gdtrix",
    lambda g, y, a: -g * (y / a),
    SHAPE,
    lambda g, y, a, b: g / (a * gamma_density(b, a * y)),
    args="a b p",
)
declare(
    "gdtria",
    lambda g, y, b, x: g / (x * gamma_density(b, x * y)),
    SHAPE,
    lambda g, y, x: -g * (y / x),
    args="p b x",
)


def _f_density(dfn, dfd, x):
    size = dfd + dfn * x
    return beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / size) * (dfn * dfd / (size * size))


declare("fdtr", SHAPE, SHAPE, lambda g, dfn, dfd, x: g * _f_density(dfn, dfd, x), args="dfn dfd x")
declare("fdtrc", SHAPE, SHAPE, lambda g, dfn, dfd, x: -g * _f_density(dfn, dfd, x), args="dfn dfd x")
declare("fdtri", SHAPE, SHAPE, lambda g, y, dfn, dfd: g / _f_density(dfn, dfd, y), args="dfn dfd p")

# ---- Student's t ---------------------------------------------------------------------------


def _half_step(a):
    """gamma(a + 1/2)/gamma(a), for large a by its asymptotic series (DLMF 5.11.13), where `poch` is off."""
    large = a > 200
    inverse = 1 / np.where(large, a, 200.0)
    series = 1 + inverse * (-1 / 8 + inverse * (1 / 128 + inverse * (5 / 1024 - 21 / 32768 * inverse)))
    return np.where(large, np.sqrt(a) * series, sc.poch(np.where(large, 1.0, a), of(0.5, a)))


def _student_density(df, t):
    normal, df = np.isinf(df), of(df, t)
    df = np.where(normal, of(1, t), df)
    scale = _half_step(0.5 * df) / np.sqrt(math.pi * df)
    density = scale * np.exp(-0.5 * (df + 1) * np.log1p(t * t / df))
    return np.where(normal, np.exp(-0.5 * (t * t)) / math.sqrt(2 * math.pi), density)


declare("stdtr", SHAPE, lambda g, df, t: g * _student_density(df, t), args="df t")
declare("stdtrit", SHAPE, lambda g, y, df: g / _student_density(df, y), args="df p")

# ---- noncentral distributions --------------------------------------------------------------


def _noncentral_chi_square(x, df, nc):
    """The density 1/2 exp(-(x + nc)/2) (x/nc)^(df/4 - 1/2) I_(df/2 - 1)(sqrt(nc x)).

    Minus that of df + 2 is the derivative of the distribution function by nc. At nc = 0 it is the mixture of
    central ones with Poisson weights.
    """
    none = np.equal(nc, 0)
    centre = np.where(none, 1.0, nc)
    gap = np.sqrt(x) - np.sqrt(centre)
    order = 0.5 * df - 1
    bessel = sc.ive(order, np.sqrt(centre * x))
    density = 0.5 * np.exp(-0.5 * (gap * gap)) * np.power(x / centre, 0.5 * order) * bessel
    if nowhere(none):
        return density
    half, mixture = 0.5 * nc, 0.0
    for j in range(5, -1, -1):
        mixture = mixture + half**j / math.factorial(j) * _chi_square(df + 2 * j, x)
    return np.where(none, np.exp(-half) * mixture, density)


declare(
    "chndtr",
    lambda g, x, df, nc: g * _noncentral_chi_square(x, df, nc),
    SHAPE,
    lambda g, x, df, nc: -g * _noncentral_chi_square(x, df + 2, nc),
    args="x df nc",
)
declare(
    "chndtrix",
    lambda g, y, df, nc: g / _noncentral_chi_square(y, df, nc),
    SHAPE,
    lambda g, y, df, nc: g * (_noncentral_chi_square(y, df + 2, nc) / _noncentral_chi_square(y, df, nc)),
    args="p df nc",
)
declare(
    "chndtrinc",
    lambda g, y, x, df: g * (_noncentral_chi_square(x, df, y) / _noncentral_chi_square(x, df + 2, y)),
    SHAPE,
    lambda g, y, x, df: -g / _noncentral_chi_square(x, df + 2, y),
    args="x df p",
)


def _noncentral_f(k, dfn, dfd, nc, f):
    """The distribution function at the same beta variate, with 2k more degrees of freedom above."""
    return sc.ncfdtr(dfn + 2 * k, dfd, nc, f * dfn / (dfn + 2 * k))


def _noncentral_f_by_nc(dfn, dfd, nc, f):
    # a mixture of central ones with Poisson weights of mean nc/2
    return 0.5 * (_noncentral_f(1, dfn, dfd, nc, f) - sc.ncfdtr(dfn, dfd, nc, f))


def _noncentral_f_density(dfn, dfd, nc, f):
    # x (1 - x) times the beta density is a (I_x(a, b) - I_x(a + 1, b)) (DLMF 8.17.20); the mixture's sum
    first = sc.ncfdtr(dfn, dfd, nc, f) - _noncentral_f(1, dfn, dfd, nc, f)
    second = _noncentral_f(1, dfn, dfd, nc, f) - _noncentral_f(2, dfn, dfd, nc, f)
    return 0.5 * (dfn * first + nc * second) / f


declare(
    "ncfdtr",
    SHAPE,
    SHAPE,
    lambda g, dfn, dfd, nc, f: g * _noncentral_f_by_nc(dfn, dfd, nc, f),
    lambda g, dfn, dfd, nc, f: g * _noncentral_f_density(dfn, dfd, nc, f),
    args="dfn dfd nc f",
)
declare(
    "ncfdtri",
    SHAPE,
    SHAPE,
    lambda g, y, dfn, dfd, nc: (
        -g * (_noncentral_f_by_nc(dfn, dfd, nc, y) / _noncentral_f_density(dfn, dfd, nc, y))
    ),
    lambda g, y, dfn, dfd, nc: g / _noncentral_f_density(dfn, dfd, nc, y),
    args="dfn dfd nc p",
)


def _noncentral_t_density(df, nc, t):
    """The density, by two confluent hypergeometric functions that are even and odd in nc t."""
    df, nc = of(df, t), of(nc, t)
    size = df + t * t
    z = 0.5 * np.square(nc * t) / size
    log = 0.5 * df * np.log(df / size) + sc.gammaln(df + 1) - sc.gammaln(0.5 * df)
    log = log - df * math.log(2) - 0.5 * (nc * nc)
    odd = math.sqrt(2) * nc * t / size * np.exp(log - sc.gammaln(0.5 * df + 0.5))
    even = np.exp(log - sc.gammaln(0.5 * df + 1)) / np.sqrt(size)
    return odd * sc.hyp1f1(0.5 * df + 1, 1.5, z) + even * sc.hyp1f1(0.5 * df + 0.5, 0.5, z)


declare("nctdtr", SHAPE, SHAPE, lambda g, df, nc, t: g * _noncentral_t_density(df, nc, t), args="df nc t")
declare("nctdtrit", SHAPE, SHAPE, lambda g, y, df, nc: g / _noncentral_t_density(df, nc, y), args="df nc p")

# ---- Tukey's lambda ------------------------------------------------------------------------


def _tukey_by_x(g, y, x, lmbda):
    # the quantile function is (p^lmbda - (1 - p)^lmbda)/lmbda
    outside = (lmbda > 0) & (np.abs(x) * lmbda >= 1)
    p = np.where(outside, 0.5, y)
    slope = np.power(p, lmbda - 1) + np.power(1 - p, lmbda - 1)
    return g * np.where(outside, 0.0, 1 / slope)


def _tukey_by_lmbda(g, y, x, lmbda):
    outside = (lmbda > 0) & (np.abs(x) * lmbda >= 1)
    p = np.where(outside, 0.5, y)

    def part(log):  # the derivative of (exp(lmbda log) - 1)/lmbda by lmbda
        return log * log * (0.5 * sc.hyp1f1(2.0, 3.0, lmbda * log))

    slope = np.power(p, lmbda - 1) + np.power(1 - p, lmbda - 1)
    return -g * np.where(outside, 0.0, (part(np.log(p)) - part(np.log1p(-p))) / slope)


declare("tklmbda", _tukey_by_x, _tukey_by_lmbda, args="x lmbda")

# ---- Kolmogorov's and Smirnov's ------------------------------------------------------------


def _kolmogorov_density(x):
    """Minus the derivative of the survival function, from the two series for it (of theta functions)."""
    low = x < 1
    near, far = np.where(low, x, 0.5), np.where(low, 1.0, x)
    inverse, left, right = 1 / (near * near), 0.0, 0.0
    for k in (5, 4, 3, 2, 1):
        c = ((2 * k - 1) * math.pi) ** 2 / 8
        left = left + np.exp(-c * inverse) * (2 * c * inverse - 1)
        right = right - (-1) ** k * (8 * k * k) * np.exp(-2 * k * k * (far * far))
    return np.where(low, math.sqrt(2 * math.pi) * inverse * left, far * right)


declare("kolmogorov", lambda g, x: -g * _kolmogorov_density(x))
declare("kolmogi", lambda g, y: -g / _kolmogorov_density(y))

if find("_smirnovp") is not None:
    #: SciPy's derivative of `smirnov`: a polynomial in pieces, of which it has no further derivatives.
    smirnov_slope = elementwise(
        find("_smirnovp"),
        None,
        "Second derivatives of smirnov are not available",
        args="n d",
        name="smirnov_slope",
    )
    declare("smirnov", None, lambda g, n, d: g * smirnov_slope(n, d), args="n d")
    declare("smirnovi", None, lambda g, y, n: g / smirnov_slope(n, y), args="n p")
