"""Statistics of samples: means, moments, scores, correlations, transformations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives.kinds import constant
from funcgrad.numpy.arguments import negative_axes, negative_axis
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy import special
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.stats._gamma import beta, t
from funcgrad.scipy.stats._pieces import expm1_quotient


def sample(function: str, nan_policy: str, *arrays: Any) -> list:
    """Arrays of floats of a function whose `nan_policy` may be 'propagate' or 'raise'."""
    if nan_policy == "omit":
        cure = "Select the numbers before, x[~np.isnan(x)], or use NumPy's functions that pass over NaN."
        refuse_argument(f"scipy.stats.{function}", "nan_policy='omit'", cure)
    if nan_policy not in ("propagate", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    out = [asarray(x) for x in arrays]
    if nan_policy == "raise":
        for x in map(concrete, out):
            if not isinstance(x, Tracer) and np.any(np.isnan(x)):
                raise ValueError("The input contains nan values")
    return [x.astype(np.float64) if x.dtype.kind in "biu" else x for x in out]


def count_along(x: Any, axis: Any) -> int:
    """How many entries there are along an axis, several, or all (None)."""
    return math.prod([x.shape[i] for i in negative_axes(axis, x.ndim)])


# ---- means ---------------------------------------------------------------------------------


def _weighted(x: Any, axis: Any, weights: Any, keepdims: bool) -> Any:
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    weights = np.broadcast_to(asarray(weights), x.shape)
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    return np.sum(x * weights, axis=axis, keepdims=keepdims) / total


def _positive(x: Any, axis: Any, keepdims: bool, mean: Any) -> Any:
    """NaN where there are negative numbers, of which some means are not defined."""
    negative = np.any(np.less(concrete(x), 0), axis=axis, keepdims=keepdims)
    if not isinstance(negative, Tracer) and not np.any(negative):
        return mean
    return np.where(negative, np.nan, mean)[()]


@implements(stats.gmean)
def gmean(a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    (x,) = sample("gmean", nan_policy, a)
    x = x if dtype is None else x.astype(dtype)
    return np.exp(_weighted(np.log(x), axis, weights, keepdims))


@implements(stats.hmean)
def hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    (x,) = sample("hmean", nan_policy, a)
    x = x if dtype is None else x.astype(dtype)
    return _positive(x, axis, keepdims, 1.0 / _weighted(1.0 / x, axis, weights, keepdims))


@implements(stats.pmean)
def pmean(a, p, *, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    (x,) = sample("pmean", nan_policy, a)
    x = x if dtype is None else x.astype(dtype)
    if not isinstance(p, Tracer) and p == 0:
        return _positive(x, axis, keepdims, np.exp(_weighted(np.log(x), axis, weights, keepdims)))
    return _positive(x, axis, keepdims, _weighted(x**p, axis, weights, keepdims) ** (1 / p))


@implements(stats.trim_mean)
def trim_mean(a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    (x,) = sample("trim_mean", nan_policy, a)
    whole = x.ndim
    if axis is None:
        x, along = np.reshape(x, -1), -1
    else:
        along = negative_axis(axis, x.ndim)
    n = x.shape[along]
    cut = int(proportiontocut * n)
    if 2 * cut >= n:
        raise ValueError("Proportion too big.")
    kept = np.moveaxis(np.sort(x, axis=along), along, 0)[cut : n - cut]
    out = np.mean(kept, axis=0)
    if not keepdims:
        return out
    return np.reshape(out, (1,) * whole) if axis is None else np.expand_dims(out, along)


# ---- moments -------------------------------------------------------------------------------


def _central(x: Any, order: int, axis: Any, keepdims: bool, center: Any = None) -> Any:
    away = x - (np.mean(x, axis=axis, keepdims=True) if center is None else center)
    return np.mean(away**order, axis=axis, keepdims=keepdims)


@implements(stats.moment)
def moment(a, order=1, axis=0, nan_policy="propagate", *, center=None, keepdims=False):
    (x,) = sample("moment", nan_policy, a)
    orders = np.asarray(order)
    if orders.ndim == 0:
        return _central(x, int(order), axis, keepdims, center)
    return np.stack([_central(x, int(n), axis, keepdims, center) for n in orders])


def _spread(x: Any, axis: Any, keepdims: bool, highest: int) -> tuple[Any, Any, Any]:
    """The second and a higher central moment, and where the sample is constant, as SciPy tells."""
    mean = np.mean(x, axis=axis, keepdims=True)
    square = np.mean((x - mean) ** 2, axis=axis, keepdims=True)
    size = concrete(mean) * np.finfo(x.dtype).eps
    flat = np.less_equal(concrete(square), size * size)
    high = np.mean((x - mean) ** highest, axis=axis, keepdims=True)
    if not keepdims:
        axes = negative_axes(axis, x.ndim)
        square, high, flat = (np.squeeze(y, axes) for y in (square, high, flat))
    return np.where(flat, 1.0, square), high, flat


def _or_nan(flat: Any, out: Any) -> Any:
    if not isinstance(flat, Tracer) and not np.any(flat):
        return out
    return np.where(flat, np.nan, out)[()]


@implements(stats.skew)
def skew(a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    (x,) = sample("skew", nan_policy, a)
    square, cube, flat = _spread(x, axis, keepdims, 3)
    n, out = count_along(x, axis), cube / square**1.5
    if not bias and n > 2:
        out = out * (math.sqrt((n - 1) * n) / (n - 2))
    return _or_nan(flat, out)


@implements(stats.kurtosis)
def kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    (x,) = sample("kurtosis", nan_policy, a)
    square, fourth, flat = _spread(x, axis, keepdims, 4)
    n, out = count_along(x, axis), fourth / (square * square)
    if not bias and n > 3:
        out = ((n * n - 1) * out - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return _or_nan(flat, out - 3 if fisher else out)


@implements(stats.sem)
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    (x,) = sample("sem", nan_policy, a)
    return np.std(x, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(count_along(x, axis))


@implements(stats.variation)
def variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    (x,) = sample("variation", nan_policy, a)
    return np.std(x, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(x, axis=axis, keepdims=keepdims)


@implements(stats.gstd)
def gstd(a, axis=0, ddof=1, *, keepdims=False, nan_policy="propagate"):
    (x,) = sample("gstd", nan_policy, a)
    return np.exp(np.std(np.log(x), axis=axis, ddof=ddof, keepdims=keepdims))


@implements(stats.iqr)
def iqr(
    x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False
):
    (x,) = sample("iqr", nan_policy, x)
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"{scale} is not a valid scale for `iqr`")
        scale = float(2 * special.ndtri(0.75))
    low, high = sorted(rng)
    low, high = np.percentile(x, [low, high], axis=axis, method=interpolation, keepdims=keepdims)
    return ((high - low) / scale).astype(x.dtype)


@implements(stats.median_abs_deviation)
def median_abs_deviation(x, axis=0, center=None, scale=1.0, nan_policy="propagate", *, keepdims=False):
    (x,) = sample("median_abs_deviation", nan_policy, x)
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = float(special.ndtri(0.75))
    if center is None:
        middle = np.median(x, axis=axis, keepdims=True)
    else:
        middle = center(x, axis=axis)
        middle = middle if axis is None else np.expand_dims(middle, axis)
    return np.median(np.abs(x - middle), axis=axis, keepdims=keepdims) / scale


# ---- scores --------------------------------------------------------------------------------


@implements(stats.zmap)
def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    scores, x = sample("zmap", nan_policy, scores, compare)
    deviation = np.std(x, axis=axis, ddof=ddof, keepdims=True)
    flat = np.equal(concrete(deviation), 0)
    away = scores - np.mean(x, axis=axis, keepdims=True)
    if not isinstance(flat, Tracer) and not np.any(flat):
        return away / deviation
    return np.where(flat, np.nan, away / np.where(flat, 1.0, deviation))


@implements(stats.zscore)
def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    return zmap(a, a, axis, ddof, nan_policy)


@implements(stats.entropy)
def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    p, *q = sample("entropy", nan_policy, pk, *([] if qk is None else [qk]))
    p = p / np.sum(p, axis=axis, keepdims=True)
    terms = -special.xlogy(p, p)
    if q:
        q = q[0] / np.sum(q[0], axis=axis, keepdims=True)
        terms = special.xlogy(p, p) - special.xlogy(p, q)
    out = np.sum(terms, axis=axis, keepdims=keepdims)
    return out if base is None else out / math.log(base)


# ---- correlations --------------------------------------------------------------------------


class Correlation(NamedTuple):
    """A coefficient of correlation and the p-value of its test."""

    statistic: Any
    pvalue: Any

    @property
    def correlation(self) -> Any:
        return self.statistic


class Line(NamedTuple):
    """A line through points, as `scipy.stats.linregress` gives it."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any
    intercept_stderr: Any = None

    def __iter__(self):
        return iter(self[:5])  # five can be unpacked, as from SciPy's


def tail(dist: Any, alternative: str, statistic: Any, *parameters: Any, **given: Any) -> Any:
    """The p-value of a statistic whose distribution is symmetric about 0."""
    if alternative == "less":
        return dist.cdf(statistic, *parameters, **given)
    if alternative == "greater":
        return dist.sf(statistic, *parameters, **given)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be one of {'two-sided', 'less', 'greater'}")
    return 2 * dist.sf(np.abs(statistic), *parameters, **given)


@implements(stats.pearsonr)
def pearsonr(x, y, *, alternative="two-sided", method=None, axis=0):
    if method is not None:
        refuse_argument("scipy.stats.pearsonr", "method=", "Leave it out, or apply it to stop_gradient(x).")
    x, y = sample("pearsonr", "propagate", x, y)
    if axis is None:
        x, y, axis = np.reshape(x, -1), np.reshape(y, -1), 0
    n = x.shape[axis]
    if n != y.shape[axis]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    if n < 3:
        refuse_argument("scipy.stats.pearsonr", "less than three points", "Two points are on a line: r is 1.")
    dx = x - np.mean(x, axis=axis, keepdims=True)
    dy = y - np.mean(y, axis=axis, keepdims=True)
    norms = np.linalg.norm(dx, axis=axis, keepdims=True), np.linalg.norm(dy, axis=axis, keepdims=True)
    r = np.clip(np.sum((dx / norms[0]) * (dy / norms[1]), axis=axis), -1.0, 1.0)
    return Correlation(r, tail(beta, alternative, r, n / 2 - 1, n / 2 - 1, loc=-1, scale=2))


def _ranks(x, *, axis):
    return stats.rankdata(x, axis=axis)


ranks = constant(_ranks, name="ranks")


@implements(stats.rankdata)
def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    if method != "average" or nan_policy != "propagate":
        refuse_argument("scipy.stats.rankdata", "method= or nan_policy=", "Apply it to stop_gradient(x).")
    (x,) = sample("rankdata", "propagate", a)
    if axis is None:
        return ranks(np.reshape(x, -1), axis=-1)
    return ranks(x, axis=negative_axis(axis, x.ndim))


@implements(stats.spearmanr)
def spearmanr(a, b=None, axis=0, nan_policy="propagate", alternative="two-sided"):
    """The correlation of ranks, which are constant: its derivative is 0, and noted as a cut."""
    x, *y = sample("spearmanr", nan_policy, a, *([] if b is None else [b]))
    if axis is None or not y or x.ndim != 1 or y[0].ndim != 1:
        refuse_argument("scipy.stats.spearmanr", "samples in columns", "Pass two vectors.")
    u, v = ranks(x, axis=-1), ranks(y[0], axis=-1)
    r, n = np.corrcoef(u, v)[0, 1], x.shape[0]
    statistic = r * np.sqrt((n - 2) / ((r + 1) * (1 - r)))
    return Correlation(r, tail(t, alternative, statistic, n - 2))


@implements(stats.linregress)
def linregress(x, y, alternative="two-sided", *, axis=0, nan_policy="propagate", keepdims=False):
    x, y = sample("linregress", nan_policy, x, y)
    if x.ndim != 1 or y.ndim != 1 or keepdims:
        refuse_argument("scipy.stats.linregress", "more than one sample", "Write vmap(linregress) over them.")
    n = x.shape[0]
    if n != y.shape[0] or n < 3:
        raise ValueError("linregress takes vectors of one length, which on traced values is at least 3")
    mean_x, mean_y = np.mean(x), np.mean(y)
    dx, dy = x - mean_x, y - mean_y
    xx, xy, yy = np.mean(dx * dx), np.mean(dx * dy), np.mean(dy * dy)
    slope = xy / xx
    r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    freedom = n - 2
    statistic = r * np.sqrt(freedom / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    stderr = np.sqrt((1 - r * r) * yy / xx / freedom)
    intercept_stderr = stderr * np.sqrt(xx + mean_x * mean_x)
    pvalue = tail(t, alternative, statistic, freedom)
    return Line(slope, mean_y - slope * mean_x, r, pvalue, stderr, intercept_stderr)


# ---- transformations -----------------------------------------------------------------------


def _power_transform(log: Any, exponent: Any) -> Any:
    """(exp(log)**exponent - 1) / exponent, which is `log` where the exponent is 0."""
    return log * expm1_quotient(exponent * log)


_GIVEN = "Pass lmbda: choosing it is an optimisation; minimise -boxcox_llf or -yeojohnson_llf for it."


@implements(stats.boxcox)
def boxcox(x, lmbda=None, alpha=None, optimizer=None):
    if lmbda is None:
        refuse_argument("scipy.stats.boxcox", "lmbda=None", _GIVEN)
    (x,) = sample("boxcox", "propagate", x)
    return _power_transform(np.log(x), lmbda)


def _yeojohnson(x: Any, lmbda: Any) -> Any:
    right = np.greater_equal(concrete(x), 0)
    log = np.log1p(np.where(right, x, -x))
    out = _power_transform(log, np.where(right, lmbda, 2 - lmbda))
    return np.where(right, out, -out)


@implements(stats.yeojohnson)
def yeojohnson(x, lmbda=None):
    if lmbda is None:
        refuse_argument("scipy.stats.yeojohnson", "lmbda=None", _GIVEN)
    (x,) = sample("yeojohnson", "propagate", x)
    return _yeojohnson(x, lmbda)


@implements(stats.boxcox_llf)
def boxcox_llf(lmb, data, *, axis=0, keepdims=False, nan_policy="propagate"):
    lmb, x = sample("boxcox_llf", nan_policy, lmb, data)
    log = np.log(x)
    spread = np.var(_power_transform(log, lmb), axis=axis, keepdims=keepdims)
    total = np.sum(log, axis=axis, keepdims=keepdims)
    return (lmb - 1) * total - (count_along(x, axis) / 2) * np.log(spread)


@implements(stats.yeojohnson_llf)
def yeojohnson_llf(lmb, data, *, axis=0, nan_policy="propagate", keepdims=False):
    lmb, x = sample("yeojohnson_llf", nan_policy, lmb, data)
    spread = np.var(_yeojohnson(x, lmb), axis=axis, keepdims=keepdims)
    total = np.sum(np.sign(concrete(x)) * np.log1p(np.abs(x)), axis=axis, keepdims=keepdims)
    return (lmb - 1) * total - (count_along(x, axis) / 2) * np.log(spread)
