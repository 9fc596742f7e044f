"""Averages, covariances, quantiles, interpolation, convolution, histograms."""

import numpy as np

from samples.table import Sample

_rng = np.random.default_rng(5)
V = _rng.normal(size=7)
M = _rng.normal(size=(3, 8))
W = _rng.uniform(0.5, 1.5, size=8)
T = _rng.normal(size=(2, 3, 5))
KNOTS = np.array([0.0, 0.4, 1.1, 1.7])
HEIGHTS = _rng.normal(size=4)
POINTS = np.array([[-0.5, 0.2, 0.9], [1.3, 1.6, 2.5]])
MASK = np.array([[True, False, True, True] * 2, [True] * 8, [False, True, False, True] * 2])


def with_nan(x):
    """The array with NaN in some places."""
    return np.where(MASK, x, np.nan)


METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
    "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip


def inside(q):
    """A number between 0 and 1."""
    return 1 / (1 + np.exp(-q))


SAMPLES = [
    Sample("average", np.average, (M,)),
    Sample("average-weights", lambda x, w: np.average(x, axis=1, weights=w), (M, W)),
    Sample("average-all", lambda x, w: np.average(x, weights=w, keepdims=True), (M, M + 4.0)),
    Sample("average-returned", lambda x, w: np.average(x, 1, w, returned=True), (M, W)),
    Sample("average-axes", lambda x, w: np.average(x, (0, 2), w), (T, W[:2].reshape(2, 1) * np.ones((2, 5)))),
    Sample("cov", np.cov, (M,), dtypes=("f4", "f8", "c16")),
    Sample("cov-two", lambda x, y: np.cov(x, y, bias=True), (V, V**2)),
    Sample("cov-columns", lambda x: np.cov(x, rowvar=False, ddof=0), (M,)),
    Sample("cov-aweights", lambda x, w: np.cov(x, aweights=w), (M, W)),
    Sample("cov-weights", lambda x, w: np.cov(x, fweights=np.arange(1, 9), aweights=w), (M, W)),
    Sample("cov-scalar", np.cov, (V,)),
    Sample("corrcoef", np.corrcoef, (M,)),
    Sample("corrcoef-two", lambda x, y: np.corrcoef(x, y)[0, 1], (V, V**2)),
    Sample("median-odd", lambda x: np.median(x) ** 2, (V,)),
    Sample("median-even", lambda x: np.median(x, axis=1, keepdims=True) ** 2, (M,)),
    Sample("median-axes", lambda x: np.median(x, axis=(0, 2)) ** 2, (T,)),
    Sample("nanmedian", lambda x: np.nanmedian(with_nan(x), axis=1) ** 2, (M,)),
    *[
        Sample(f"quantile-{m}", lambda x, m=m: np.quantile(x, [0.2, 0.5, 0.9], method=m) ** 2, (V,))
        for m in METHODS
    ],
    Sample("quantile-axis=0", lambda x: np.quantile(x, 0.3, axis=0, keepdims=True) ** 2, (M,)),
    Sample("quantile-q-2d", lambda x: np.quantile(x, [[0.1, 0.2], [0.0, 1.0]], axis=-1) ** 2, (M,)),
    Sample("percentile", lambda x: np.percentile(x, 30) ** 2, (M,)),
    Sample("percentile-axes", lambda x: np.percentile(x, [10, 60], axis=(0, -1)) ** 2, (T,)),
    Sample("nanpercentile", lambda x: np.nanpercentile(with_nan(x), [20, 80], axis=1) ** 2, (M,)),
    Sample("nanquantile", lambda x: np.nanquantile(with_nan(x), 0.4) ** 2, (M,)),
    *[
        Sample(
            f"quantile-of-q-{m}",
            lambda x, q, m=m: np.quantile(x, inside(q), method=m) ** 2,
            (V, np.array([-1.3, 0.1, 2.2])),
        )
        for m in METHODS
    ],
    Sample("quantile-of-q", lambda q: np.quantile(V, q) ** 2, (np.array(0.3),), dtypes=("f8",)),
    Sample(
        "quantile-q-outside",
        lambda x, q: np.quantile(x, inside(q), method="weibull") ** 2,
        (V, np.array(4.6)),
    ),
    Sample(
        "quantile-q-axis",
        lambda x, q: np.quantile(x, q, axis=1, keepdims=True),
        (M, np.array([[0.3], [0.45]])),
    ),
    Sample("percentile-of-q", lambda x, q: np.percentile(x, q, axis=(0, -1)) ** 2, (T, np.array(33.0))),
    Sample(
        "nanquantile-of-q",
        lambda x, q: np.nanquantile(with_nan(x), q, axis=1) ** 2,
        (M, np.array([0.3, 0.83])),
    ),
    Sample(
        "quantile-weights",
        lambda x, w: np.quantile(x, [0.2, 0.71], axis=1, method="inverted_cdf", weights=w) ** 2,
        (M, W),
    ),
    Sample(
        "quantile-weights-all",
        lambda x, w: x * np.quantile(x, 0.55, weights=w, method="inverted_cdf", keepdims=True),
        (M, M + 4.0),
    ),
    Sample(
        "quantile-weights-q",
        lambda x, q: np.percentile(x, q, weights=W[:7], method="inverted_cdf") ** 2,
        (V, np.array([20.0, 71.0])),
    ),
    Sample(
        "nanpercentile-weights",
        lambda x, w: np.nanpercentile(with_nan(x), 60, 1, method="inverted_cdf", weights=w) ** 2,
        (M, M + 4.0),
    ),
    Sample("interp", np.interp, (POINTS, KNOTS, HEIGHTS)),
    Sample(
        "interp-ends", lambda x, xp, fp: np.interp(x, xp, fp, left=-1.0, right=2.0), (POINTS, KNOTS, HEIGHTS)
    ),
    Sample("interp-period", lambda x, xp, fp: np.interp(x, xp, fp, period=2.0), (POINTS, KNOTS, HEIGHTS)),
    Sample("convolve", np.convolve, (V, W), dtypes=("f4", "f8", "c16")),
    Sample("convolve-valid", lambda a, v: np.convolve(a, v, "valid"), (V, W[:3])),
    Sample("convolve-same", lambda a, v: np.convolve(a, v, "same"), (V[:4], W)),
    Sample("correlate", np.correlate, (V, W[:3]), dtypes=("f4", "f8", "c16")),
    Sample("correlate-full", lambda a, v: np.correlate(a, v, "full"), (V[:4], W), dtypes=("f8", "c16")),
    Sample("correlate-same", lambda a, v: np.correlate(a, v, "same"), (V[:4], W)),
    Sample("bincount", lambda w: np.bincount(np.array([0, 2, 2, 5, 1, 0, 2]), w, 8) ** 2, (V,)),
    Sample("histogram", lambda x, w: np.histogram(x, bins=3, weights=w), (V, W[:7])),
    Sample("histogram-range", lambda x, w: np.histogram(x, 3, (-1.0, 1.0), weights=w)[0] ** 2, (V, W[:7])),
    Sample("histogram-edges", lambda x, w: np.histogram(x, [-1.0, 0.0, 0.7], weights=w)[0] ** 2, (V, W[:7])),
    Sample("histogram-density", lambda x: np.histogram(x, 4, density=True), (V,)),
]
