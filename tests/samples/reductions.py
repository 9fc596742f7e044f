"""Reductions: sums, products, extrema, variances, over every form of axis."""

import numpy as np

from samples.table import Sample

_rng = np.random.default_rng(2)
V = _rng.normal(size=5)
M = _rng.normal(size=(3, 4))
T = _rng.normal(size=(2, 3, 2))
ONE = _rng.normal(size=(1, 3))
SCALAR = np.array(0.7)
EMPTY = np.zeros((0, 3))
MASK = np.array([[True, False, True, True], [True] * 4, [False, True, False, True]])
ANY_DTYPE = ("f2", "f4", "f8", "g", "c16")


def with_nan(x):
    """The array with NaN in some places."""
    return np.where(MASK, x, np.nan)


SAMPLES = [
    Sample("sum", np.sum, (M,), dtypes=ANY_DTYPE),
    Sample("sum-axis=0", lambda x: np.sum(x, axis=0) ** 2, (M,)),
    Sample("sum-axis=-1-keepdims", lambda x: x * np.sum(x, axis=-1, keepdims=True), (M,)),
    Sample("sum-axes", lambda x: np.sum(x * x, axis=(0, -1)), (T,)),
    Sample("sum-no-axes", lambda x: np.sum(x * x, axis=()), (M,)),
    Sample("sum-0d", np.sum, (SCALAR,)),
    Sample("sum-empty", lambda x: np.sum(x, axis=0), (EMPTY,)),
    Sample("sum-size-1", lambda x: np.sum(x * x, axis=0), (ONE,)),
    Sample("sum-initial-where", lambda x: np.sum(x * x, axis=1, initial=2.0, where=MASK), (M,)),
    Sample("sum-dtype", lambda x: np.sum(x * x, dtype=np.float64), (M,), dtypes=("f2", "f4", "f8")),
    Sample("add.reduce", lambda x: np.add.reduce(x * x), (M,)),
    Sample("add.reduceat", lambda x: np.add.reduceat(x * x, [0, 2, 1], axis=1), (M,)),
    Sample("add.reduceat-axis=0", lambda x: np.add.reduceat(x * x, [1, 2]), (M,)),
    Sample("nansum", lambda x: np.nansum(with_nan(x) ** 2, axis=0), (M,)),
    Sample("prod", np.prod, (V,), dtypes=("f4", "f8", "g", "c16"), order=3),
    Sample("prod-axis=0", lambda x: np.prod(x, axis=0), (M,)),
    Sample("prod-axis=1-keepdims", lambda x: np.prod(x, axis=1, keepdims=True), (M,)),
    Sample("prod-all-axes", lambda x: np.prod(x, axis=None, keepdims=True), (ONE,)),
    Sample("prod-axes", lambda x: np.prod(x, axis=(0, 2)), (T,)),
    Sample("prod-axes-keepdims", lambda x: np.prod(x, axis=(-1, 0), keepdims=True), (T,)),
    Sample("prod-0d", np.prod, (SCALAR,)),
    Sample("prod-empty", lambda x: np.prod(x, axis=0), (EMPTY,)),
    Sample("prod-initial-where", lambda x: np.prod(x, axis=1, initial=2.0, where=MASK), (M,)),
    Sample("prod-zeros", lambda x: np.prod(x * np.array([1.0, 0.0, 1.0, 0.0])), (V[:4],)),
    Sample("multiply.reduce", lambda x: np.multiply.reduce(x, axis=1), (M,)),
    Sample("nanprod", lambda x: np.nanprod(with_nan(x), axis=0), (M,)),
    Sample("max", lambda x: np.max(x) ** 2, (M,), dtypes=("f2", "f4", "f8", "g")),
    Sample("max-axis=0", lambda x: np.max(x, axis=0) ** 2, (M,)),
    Sample("amax-keepdims", lambda x: x * np.amax(x, axis=1, keepdims=True), (M,)),
    Sample("max-axes", lambda x: np.max(x, axis=(0, 2)) ** 2, (T,)),
    Sample("max-0d", lambda x: np.max(x) ** 2, (SCALAR,)),
    Sample("max-initial-where", lambda x: np.max(x, axis=1, initial=-0.05, where=MASK), (M,)),
    Sample("max-empty-initial", lambda x: np.max(x, axis=0, initial=0.0), (EMPTY,)),
    Sample("min", lambda x: np.min(x) ** 2, (M,)),
    Sample("amin-axis=-1", lambda x: np.amin(x, axis=-1) ** 2, (M,)),
    Sample("minimum.reduce", lambda x: np.minimum.reduce(x) ** 2, (M,)),
    Sample("maximum.reduce", lambda x: np.maximum.reduce(x, axis=(0, 1)) ** 2, (M,)),
    Sample("nanmax", lambda x: np.nanmax(with_nan(x), axis=0) ** 2, (M,)),
    Sample("nanmin", lambda x: np.nanmin(with_nan(x), axis=1, keepdims=True) ** 2, (M,)),
    Sample("fmin.reduce", lambda x: np.fmin.reduce(x) ** 2, (M,)),
    Sample("ptp", lambda x: np.ptp(x, axis=0) ** 2, (M,)),
    Sample("logaddexp.reduce", lambda x: np.logaddexp.reduce(x, axis=1), (M,)),
    Sample("logaddexp.reduce-all", lambda x: np.logaddexp.reduce(x, axis=None, keepdims=True), (M,)),
    Sample("logaddexp.reduce-where", lambda x: np.logaddexp.reduce(x, axis=0, where=MASK, initial=0.1), (M,)),
    Sample("mean", np.mean, (M,), dtypes=ANY_DTYPE),
    Sample("mean-axis=0", lambda x: np.mean(x * x, axis=0), (M,)),
    Sample("mean-where", lambda x: np.mean(x * x, axis=1, keepdims=True, where=MASK), (M,)),
    Sample("mean-dtype", lambda x: np.mean(x * x, dtype=np.float64), (M,)),
    Sample("nanmean", lambda x: np.nanmean(with_nan(x) ** 2, axis=0), (M,)),
    Sample("var", np.var, (M,), dtypes=("f4", "f8", "g", "c16")),
    Sample("var-axis=0-ddof", lambda x: np.var(x, axis=0, ddof=1), (M,)),
    Sample("var-axes-keepdims", lambda x: np.var(x, axis=(0, 2), keepdims=True), (T,)),
    Sample("var-correction", lambda x: np.var(x, axis=1, correction=1), (M,)),
    Sample("var-mean", lambda x, m: np.var(x, axis=1, mean=m), (M, V[:3].reshape(3, 1))),
    Sample("var-where", lambda x: np.var(x, axis=1, where=MASK), (M,), dtypes=("f4", "f8", "c16")),
    Sample("std", np.std, (M,), dtypes=("f4", "f8", "g", "c16")),
    Sample("std-axis=0-ddof", lambda x: np.std(x, axis=0, ddof=1), (M,)),
    Sample("std-keepdims", lambda x: (x - np.mean(x, 1, keepdims=True)) / np.std(x, 1, keepdims=True), (M,)),
    Sample("std-where", lambda x: np.std(x, axis=1, where=MASK, ddof=0.5), (M,)),
    Sample("nanvar", lambda x: np.nanvar(with_nan(x), axis=0), (M,)),
    Sample("nanstd", lambda x: np.nanstd(with_nan(x), axis=1, ddof=1), (M,)),
    Sample("all-any", lambda x: x * np.all(x > 0) + x * np.any(x < 0, axis=0) * 2, (M,)),
    Sample("all-where", lambda x: x * np.all(x > 0, axis=1, keepdims=True, where=MASK), (M,)),
    Sample("count_nonzero", lambda x: x * np.count_nonzero(x > 0, axis=0), (M,)),
    Sample("argmax", lambda x: np.take_along_axis(x, np.argmax(x, 1, keepdims=True), 1) ** 2, (M,)),
    Sample("argmin", lambda x: x * np.argmin(x) + np.argmin(x, axis=0), (M,)),
    Sample("nanargmax", lambda x: x * np.nanargmax(with_nan(x), axis=0), (M,)),
    Sample("nanargmin", lambda x: x * np.nanargmin(with_nan(x)), (M,)),
]
