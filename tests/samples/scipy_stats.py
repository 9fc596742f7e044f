"""Distributions and statistics of `funcgrad.scipy.stats`."""

import warnings

import numpy as np

from funcgrad.scipy import stats
from samples.table import Sample

_rng = np.random.default_rng(17)
LINE = np.array([-1.7, -0.4, 0.3, 1.1, 2.6])
HALF = np.array([0.2, 0.7, 1.3, 2.9])
UNIT = np.array([0.15, 0.4, 0.62, 0.9])
COUNTS = np.array([0.0, 1.0, 2.0, 4.0])
V, W = _rng.normal(size=7), _rng.uniform(0.5, 2.0, size=7)
M, P = _rng.normal(size=(4, 3)), _rng.uniform(0.5, 2.0, size=(4, 3))
SPREAD = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.4], [-0.2, 0.4, 1.2]])
PAIR = np.array([[1.4, 0.2], [0.2, 0.9]])

#: name -> (points in the support, shape parameters)
CONTINUOUS = {
    "norm": (LINE, ()),
    "lognorm": (HALF, (0.8,)),
    "expon": (HALF, ()),
    "gamma": (HALF, (2.3,)),
    "invgamma": (HALF, (4.5,)),
    "beta": (UNIT, (1.7, 2.6)),
    "t": (LINE, (5.3,)),
    "cauchy": (LINE, ()),
    "laplace": (LINE, ()),
    "logistic": (LINE, ()),
    "uniform": (UNIT, ()),
    "chi2": (HALF, (3.7,)),
    "chi": (HALF, (2.4,)),
    "f": (HALF, (5.2, 6.3)),
    "weibull_min": (HALF, (1.7,)),
    "weibull_max": (-HALF, (1.4,)),
    "gumbel_r": (LINE, ()),
    "gumbel_l": (LINE, ()),
    "pareto": (HALF + 1, (2.7,)),
    "rayleigh": (HALF, ()),
    "halfnorm": (HALF, ()),
    "halfcauchy": (HALF, ()),
    "truncnorm": (LINE / 3, (-0.9, 1.6)),
    "skewnorm": (LINE, (1.3,)),
    "vonmises": (LINE, (1.6,)),
    "triang": (UNIT, (0.3,)),
    "genextreme": (LINE, (0.2,)),
    "genpareto": (HALF, (-0.2,)),
    "invgauss": (HALF, (1.2,)),
    "maxwell": (HALF, ()),
    "nakagami": (HALF, (1.4,)),
    "loggamma": (LINE, (1.8,)),
    "exponnorm": (LINE, (1.3,)),
    "powerlaw": (UNIT, (1.7,)),
}

#: name -> (all parameters, of which those behind are differentiated, how many count something)
DISCRETE = {
    "bernoulli": ((0.3,), 0),
    "binom": ((5.0, 0.4), 1),
    "poisson": ((2.3,), 0),
    "geom": ((0.35,), 0),
    "nbinom": ((3.4, 0.45), 0),
    "betabinom": ((6.0, 1.2, 2.3), 1),
}

#: Functions whose derivative in the shape parameters has no closed form.
SHAPELESS = {"gamma", "invgamma", "beta", "t", "chi2", "chi", "f", "nakagami", "loggamma"}
WITHOUT_QUANTILES = {"truncnorm", "skewnorm", "vonmises", "invgauss", "exponnorm"}


def symmetric(a):
    return (a + np.swapaxes(a, -1, -2)) / 2


def _densities():
    for name, (x, shapes) in CONTINUOUS.items():
        dist, place = getattr(stats, name), (0.3, 1.6)
        at = x * place[1] + place[0]
        for method in ("pdf", "logpdf"):
            yield Sample(f"{name}.{method}", getattr(dist, method), (at, *shapes, *place), dtypes=("f8",))
        if name == "vonmises":
            continue
        for method in ("cdf", "sf", "logcdf", "logsf"):
            if name == "skewnorm" and method in ("logcdf", "logsf"):
                continue
            function = getattr(dist, method)
            if name in SHAPELESS:
                f = lambda x, *place, function=function, shapes=shapes: function(x, *shapes, *place)  # noqa: E731
                yield Sample(f"{name}.{method}", f, (at, *place), dtypes=("f8",))
            else:
                yield Sample(f"{name}.{method}", function, (at, *shapes, *place), dtypes=("f8",))
        if name in WITHOUT_QUANTILES:
            continue
        for method in ("ppf", "isf"):
            function = getattr(dist, method)
            if name in SHAPELESS:
                f = lambda q, *place, function=function, shapes=shapes: function(q, *shapes, *place)  # noqa: E731
                yield Sample(f"{name}.{method}", f, (UNIT, *place), dtypes=("f8",))
            else:
                yield Sample(f"{name}.{method}", function, (UNIT, *shapes, *place), dtypes=("f8",))


def _masses():
    for name, (parameters, counts) in DISCRETE.items():
        dist, fixed = getattr(stats, name), parameters[:counts]
        k = COUNTS + (name == "geom")
        k = np.array([0.0, 1.0]) if name == "bernoulli" else k
        for method in ("pmf", "logpmf", "cdf", "sf"):
            if name == "betabinom" and "pmf" not in method:
                continue
            known, free = fixed, parameters[counts:]
            if name == "nbinom" and "pmf" not in method:
                known, free = parameters[:1], parameters[1:]
            m = getattr(dist, method)
            f = lambda *free, m=m, k=k, known=known: m(k, *known, *free)  # noqa: E731
            yield Sample(f"{name}.{method}", f, free, dtypes=("f8",))


def _moments(name):
    dist = getattr(stats, name)

    def moments(*parameters):
        results = [getattr(dist, m)(*parameters) for m in ("mean", "var", "entropy") if m in dist._formulas]
        return tuple(results)

    return moments


def _multinomial(p):
    with warnings.catch_warnings():  # SciPy's, of sums that are not 1 in long double
        warnings.simplefilter("ignore", FutureWarning)
        return stats.multinomial.logpmf(np.array([[1, 2, 3], [4, 0, 2]]), 6, p / np.sum(p))


def _linregress(x, y):
    line = stats.linregress(x, y)
    return line.slope, line.intercept, line.rvalue, line.stderr, line.intercept_stderr


F8 = {"dtypes": ("f8",)}

SAMPLES = [
    *_densities(),
    *_masses(),
    *[
        Sample(f"{name}.moments", _moments(name), (*shapes, 0.3, 1.6), **F8)
        for name, (_, shapes) in CONTINUOUS.items()
        if name not in ("cauchy", "halfcauchy", "genextreme")
    ],
    *[
        Sample(f"{name}.moments", _moments(name), parameters, **F8)
        for name, (parameters, counts) in DISCRETE.items()
        if not counts
    ],
    Sample("norm.logpdf-f4", stats.norm.logpdf, (LINE, 0.3, 1.6), dtypes=("f4",)),
    Sample("norm-frozen", lambda x, m, s: stats.norm(m, scale=s).logpdf(x), (LINE, 0.3, 1.6), **F8),
    Sample("gamma.logpdf-outside", lambda x, a: np.exp(stats.gamma.logpdf(x - 1.0, a)), (HALF, 2.3), **F8),
    Sample("genextreme.logpdf-c=0", stats.genextreme.logpdf, (LINE, 0.0), **F8),
    Sample("genpareto.sf-c=0", stats.genpareto.sf, (HALF, 0.0), **F8),
    Sample(
        "truncnorm.logcdf-tail",
        stats.truncnorm.logcdf,
        (0.1 * HALF + 8, np.array([8.0]), np.array([11.5])),
        **F8,
    ),
    Sample("hypergeom.logpmf", lambda x: x * stats.hypergeom.logpmf(COUNTS, 20, 7, 12), (HALF,), **F8),
    Sample(
        "multivariate_normal.logpdf",
        lambda x, m, c: stats.multivariate_normal.logpdf(x, m, symmetric(c)),
        (M, V[:3], SPREAD),
        **F8,
    ),
    Sample("multivariate_normal-diagonal", stats.multivariate_normal.logpdf, (M, V[:3], W[:3]), **F8),
    Sample("multivariate_normal.pdf-scalar", stats.multivariate_normal.pdf, (M[:, None], V[:3], 1.3), **F8),
    Sample("multivariate_normal.logpdf-1d", stats.multivariate_normal.logpdf, (V, 0.2, 1.3), **F8),
    Sample(
        "multivariate_normal.entropy",
        lambda m, c: stats.multivariate_normal.entropy(m, symmetric(c)),
        (V[:3], SPREAD),
        **F8,
    ),
    Sample(
        "multivariate_t.logpdf",
        lambda x, m, c, df: stats.multivariate_t.logpdf(x, m, symmetric(c), 1.0 * df),
        (M, V[:3], SPREAD, 4.3),
        **F8,
    ),
    Sample(
        "matrix_normal.logpdf",
        lambda x, m, r, c: stats.matrix_normal.logpdf(x, m, symmetric(r), symmetric(c)),
        (M[:2], M[2:], PAIR, SPREAD),
        **F8,
    ),
    Sample("dirichlet.logpdf", lambda x, a: stats.dirichlet.logpdf(x / np.sum(x), a), (W[:3], P[0]), **F8),
    Sample(
        "dirichlet.logpdf-columns", stats.dirichlet.logpdf, (np.array([UNIT[:3], UNIT[:3]]) / 3, P[0]), **F8
    ),
    Sample("dirichlet.entropy", stats.dirichlet.entropy, (P[0],), **F8),
    Sample(
        "wishart.logpdf",
        lambda x, s: stats.wishart.logpdf(symmetric(x), 5.3, symmetric(s)),
        (SPREAD, SPREAD + np.eye(3)),
        **F8,
    ),
    Sample(
        "invwishart.logpdf",
        lambda x, s: stats.invwishart.logpdf(symmetric(x), 5.3, symmetric(s)),
        (SPREAD, SPREAD + 1),
        **F8,
    ),
    Sample(
        "multinomial.logpmf",
        _multinomial,
        (P[0],),
        **F8,
    ),
    Sample("gmean", stats.gmean, (P,)),
    Sample("gmean-weights", lambda x, w: stats.gmean(x, axis=1, weights=w), (P, W[:3])),
    Sample("hmean", lambda x: stats.hmean(x, axis=None), (P,)),
    Sample("pmean", lambda x, w: stats.pmean(x, 3, axis=1, weights=w, keepdims=True), (P, W[:3])),
    Sample("pmean-0", lambda x: stats.pmean(x, 0), (P,)),
    Sample("trim_mean", lambda x: stats.trim_mean(x, 0.2) ** 2, (V,)),
    Sample("trim_mean-axis=None", lambda x: stats.trim_mean(x, 0.3, axis=None, keepdims=True) ** 2, (M,)),
    Sample("moment", lambda x: stats.moment(x, 3, axis=1), (M,)),
    Sample("moment-many", lambda x: stats.moment(x, [2, 4], center=0.2), (M,)),
    Sample("skew", lambda x: stats.skew(x, axis=None), (M,)),
    Sample("skew-unbiased", lambda x: stats.skew(x, bias=False), (M,)),
    Sample("kurtosis", lambda x: stats.kurtosis(x, axis=None), (M,)),
    Sample("kurtosis-unbiased", lambda x: stats.kurtosis(x, bias=False, fisher=False), (V,)),
    Sample("sem", stats.sem, (M,)),
    Sample("variation", lambda x: stats.variation(x, axis=1, ddof=1), (P,)),
    Sample("gstd", stats.gstd, (P,)),
    Sample("iqr", lambda x: stats.iqr(x, axis=0, scale="normal") ** 2, (M,)),
    Sample("median_abs_deviation", lambda x: stats.median_abs_deviation(x, scale="normal") ** 2, (V,)),
    Sample("zscore", stats.zscore, (M,)),
    Sample("zmap", lambda x, y: stats.zmap(x, y, axis=None, ddof=1), (V, M)),
    Sample("entropy", lambda p: stats.entropy(p, base=2), (P,)),
    Sample("entropy-relative", lambda p, q: stats.entropy(p, q, axis=1, keepdims=True), (P, P[::-1] + 1)),
    Sample("pearsonr", lambda x, y: tuple(stats.pearsonr(x, y)), (V, W), **F8),
    Sample("pearsonr-less", lambda x, y: stats.pearsonr(x, y, alternative="less").pvalue, (V, W), **F8),
    Sample("spearmanr", lambda x, y: np.sum(x * y) * stats.spearmanr(x, y).statistic, (V, W), **F8),
    Sample("linregress", _linregress, (V, W), **F8),
    Sample("linregress-pvalue", lambda x, y: stats.linregress(x, y).pvalue, (V, W), **F8),
    Sample("boxcox", stats.boxcox, (W, 0.4)),
    Sample("boxcox-0", stats.boxcox, (W, 0.0)),
    Sample("yeojohnson", stats.yeojohnson, (V, 0.4)),
    Sample("boxcox_llf", stats.boxcox_llf, (0.7, W), **F8),
    Sample("yeojohnson_llf", stats.yeojohnson_llf, (0.7, V), **F8),
    Sample("gaussian_kde", lambda d, x: stats.gaussian_kde(d)(x), (V, LINE), **F8),
    Sample("gaussian_kde-points", lambda x: stats.gaussian_kde(V).logpdf(x), (LINE,), **F8),
    Sample(
        "gaussian_kde.logpdf",
        lambda d, x, w: stats.gaussian_kde(d, "silverman", w).logpdf(x),
        (M.T[:2], PAIR, W[:4]),
        **F8,
    ),
    Sample("gaussian_kde-bandwidth", lambda d, h: stats.gaussian_kde(d, 1.0 * h).pdf(LINE), (V, 0.6), **F8),
]
