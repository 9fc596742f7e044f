"""Tests, trimmed moments, directions and distances of samples, of `funcgrad.scipy.stats`."""

import numpy as np

from funcgrad.scipy import stats
from samples.table import Sample

_rng = np.random.default_rng(37)
V, U = _rng.normal(size=7), _rng.normal(size=5) + 0.4
P, W = _rng.uniform(0.5, 2.0, size=7), _rng.uniform(0.5, 2.0, size=5)
M, N = _rng.normal(size=(4, 3)), _rng.normal(size=(5, 3))
Q = _rng.uniform(0.5, 2.0, size=(4, 3))
F8 = {"dtypes": ("f8",)}


def statistic(name, **given):
    """The first entry of a result, with every argument a sample."""
    return lambda *xs: getattr(stats, name)(*xs, **given).statistic


def both(name, **given):
    return lambda *xs: tuple(getattr(stats, name)(*xs, **given))


def balanced(x, y):
    """Expected frequencies with the observed ones' sum."""
    return y * (np.sum(x, axis=0) / np.sum(y, axis=0))


def divergence(power):
    return lambda x, y: tuple(stats.power_divergence(x, balanced(x, y), lambda_=power))


def described(x):
    said = stats.describe(x, axis=None)
    return (*said.minmax, *said[2:])


SAMPLES = [
    Sample("ttest_1samp", both("ttest_1samp"), (V, 0.2), **F8),
    Sample("ttest_1samp-less", both("ttest_1samp", axis=1, alternative="less"), (M, 0.2), **F8),
    Sample("ttest_rel", both("ttest_rel", alternative="greater"), (V, P), **F8),
    Sample("ttest_ind", both("ttest_ind"), (M, N), **F8),
    Sample("ttest_ind-welch", statistic("ttest_ind", equal_var=False, axis=None), (M, U), **F8),
    Sample("f_oneway", both("f_oneway"), (M, N, Q), **F8),
    *[
        Sample(f"power_divergence-{power}", divergence(power), (P, P[::-1] + 0.3), **F8)
        for power in (None, "log-likelihood", "freeman-tukey", "mod-log-likelihood", "neyman", 0.7)
    ],
    Sample("chisquare", both("chisquare", ddof=1), (Q,), **F8),
    Sample("jarque_bera", both("jarque_bera"), (V,), **F8),
    Sample("describe", described, (M,), **F8),
    Sample("tmean", lambda x: stats.tmean(x, (-0.9, 1.1)), (V,), **F8),
    Sample("tvar", lambda x: stats.tvar(x, (-1.2, None), axis=1), (M,), **F8),
    Sample("tstd", lambda x: stats.tstd(x), (M,), **F8),
    Sample("tsem", lambda x: stats.tsem(x, (None, 1.5), axis=None), (M,), **F8),
    Sample("gzscore", lambda x: stats.gzscore(x, axis=1, ddof=1), (Q,), **F8),
    *[Sample(f"kstat-{n}", lambda x, n=n: stats.kstat(x, n), (V,), **F8) for n in (1, 2, 3, 4)],
    Sample("circmean", stats.circmean, (M,), **F8),
    Sample("circmean-degrees", lambda x: stats.circmean(30 * x, 180, -180, axis=0), (M,), **F8),
    Sample("circvar", lambda x: stats.circvar(x, axis=1), (M,), **F8),
    Sample("circstd", lambda x: stats.circstd(x, high=4.0), (M,), **F8),
    Sample("wasserstein_distance", stats.wasserstein_distance, (V, U), **F8),
    Sample("wasserstein_distance-weights", stats.wasserstein_distance, (V, U, P, W), **F8),
    Sample("energy_distance", stats.energy_distance, (V, U, P, W), **F8),
    *[
        Sample(
            f"differential_entropy-{m}",
            lambda x, m=m: stats.differential_entropy(
                x, method=m, base=2, window_length=1 + (x.shape[0] > 4)
            ),
            (V,),
            **F8,
        )
        for m in ("vasicek", "van es", "ebrahimi")
    ],
    Sample(
        "differential_entropy", lambda x: stats.differential_entropy(x, axis=1, window_length=1), (N,), **F8
    ),
]
