"""Cumulative operations and differences of neighbours."""

import numpy as np

import funcgrad.numpy as fnp
from samples.table import Sample

_rng = np.random.default_rng(3)
V = _rng.normal(size=6)
M = _rng.normal(size=(3, 4))
WIDE = _rng.normal(size=(3, 9))
PLACES = np.cumsum(_rng.uniform(0.5, 1.5, size=4))
MASK = np.array([[True, False, True, True], [True] * 4, [False, True, False, True]])


def with_nan(x):
    """The array with NaN in some places."""
    return np.where(MASK, x, np.nan)


SAMPLES = [
    Sample("cumsum", lambda x: np.cumsum(x * x), (V,), dtypes=("f4", "f8", "g", "c16")),
    Sample("cumsum-flat", lambda x: np.cumsum(x * x), (M,)),
    Sample("cumsum-axis=0", lambda x: np.cumsum(x * x, axis=0), (M,)),
    Sample("cumsum-dtype", lambda x: np.cumsum(x * x, axis=1, dtype="f8"), (M,)),
    Sample("cumsum-0d", lambda x: np.cumsum(x * x), (np.array(0.7),)),
    Sample("cumsum-empty", lambda x: np.cumsum(x, axis=0), (np.zeros((0, 3)),)),
    Sample("add.accumulate", lambda x: np.add.accumulate(x * x), (M,)),
    Sample("nancumsum", lambda x: np.nancumsum(with_nan(x) ** 2, axis=1), (M,)),
    Sample("cumulative_sum", lambda x: np.cumulative_sum(x * x, include_initial=True), (V,)),
    Sample("cumprod", np.cumprod, (V,), dtypes=("f4", "f8", "g", "c16"), order=3),
    Sample("cumprod-axis=0", lambda x: np.cumprod(x, axis=0), (WIDE,)),
    Sample("cumprod-axis=1", lambda x: np.cumprod(x, axis=1), (M,)),
    Sample("cumprod-size-1", lambda x: np.cumprod(x, axis=0), (M[:1],)),
    Sample("cumprod-empty", lambda x: np.cumprod(x, axis=1), (np.zeros((2, 0)),)),
    Sample("cumprod-zeros", lambda x: np.cumprod(x * np.array([1.0, 0, 1, 1, 0, 1])), (V,)),
    Sample("multiply.accumulate", lambda x: np.multiply.accumulate(x), (M,)),
    Sample("nancumprod", lambda x: np.nancumprod(with_nan(x), axis=0), (M,)),
    Sample("cumulative_prod", lambda x: np.cumulative_prod(x, axis=1, include_initial=True), (M,)),
    Sample("maximum.accumulate", lambda x: np.maximum.accumulate(x, axis=1) ** 2, (M,)),
    Sample("minimum.accumulate", lambda x: np.minimum.accumulate(x) ** 2, (V,)),
    Sample("diff", lambda x: np.diff(x * x), (M,), dtypes=("f4", "f8", "c16")),
    Sample("diff-n=2-axis=0", lambda x: np.diff(x * x, n=2, axis=0), (M,)),
    Sample("diff-n=0", lambda x: np.diff(x * x, n=0), (M,)),
    Sample("diff-ends", lambda x, p: np.diff(x * x, prepend=0.5, append=p), (M, V[:3].reshape(3, 1))),
    Sample("diff-traced-end", lambda x, p: np.diff(x * x, axis=0, prepend=p), (M, np.array(0.3))),
    Sample("ediff1d", lambda x: np.ediff1d(x * x, to_begin=1.0, to_end=[2.0, 3.0]), (M,)),
    Sample("ediff1d-plain", lambda x: np.ediff1d(x * x), (V,)),
    Sample("trapezoid", lambda y: np.trapezoid(y * y), (M,), dtypes=("f4", "f8", "c16")),
    Sample("trapezoid-dx", lambda y, h: np.trapezoid(y * y, dx=h, axis=0), (M, np.array(0.3))),
    Sample("trapezoid-x", lambda y, x: np.trapezoid(y * y, x, axis=1), (M, PLACES)),
    Sample("trapezoid-x-2d", lambda y, x: np.trapezoid(y * y, x, axis=0), (M, M + 1.0)),
    Sample("gradient", lambda f: np.gradient(f * f), (V,)),
    Sample("gradient-2d", lambda f: np.gradient(f * f, edge_order=2), (WIDE,)),
    Sample("gradient-spacing", lambda f, h: np.gradient(f * f, h, axis=1), (M, np.array(0.3))),
    Sample("gradient-places", lambda f, x: np.gradient(f * f, x, axis=1), (M, PLACES)),
    Sample("gradient-places-2", lambda f, x: np.gradient(f * f, x, axis=-1, edge_order=2), (M, PLACES)),
    Sample("gradient-mixed", lambda f, x: np.gradient(f * f, 0.5, x, edge_order=2), (M, PLACES)),
    Sample("unwrap", lambda p: np.unwrap(p * 4) ** 2, (V,)),
    Sample("unwrap-axis=0", lambda p: np.unwrap(p, discont=0.2, axis=0, period=1.0) ** 2, (M,)),
    Sample("unwrap-period", lambda p, t: fnp.unwrap(p * 4, period=t) ** 2, (M, np.array(1.3))),
    Sample(
        "unwrap-of-period", lambda t: fnp.unwrap(V * 4, 0.8, period=t) ** 2, (np.array(1.3),), dtypes=("f8",)
    ),
]
