"""Tests by statistics with a known distribution, trimmed moments, directions, distances of samples."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from funcgrad._core.tracer import Tracer, concrete
from funcgrad.numpy.arguments import negative_axes
from funcgrad.numpy.creation import asarray, take
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.reductions import merged, restore
from funcgrad.scipy import special
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.stats._gamma import chi2, f, t
from funcgrad.scipy.stats._summaries import count_along, kurtosis, sample, skew, tail, zscore


def _samples(function: str, nan_policy: str, *arrays: Any) -> list:
    """Samples with at least one axis, and all with as many."""
    out = [np.reshape(x, (1,)) if x.ndim == 0 else x for x in sample(function, nan_policy, *arrays)]
    if len({x.ndim for x in out}) > 1:
        cure = "Give all of them as many axes."
        refuse_argument(f"scipy.stats.{function}", "samples with different numbers of axes", cure)
    return out


# ---- tests ---------------------------------------------------------------------------------


class Significance(NamedTuple):
    """A statistic and its p-value."""

    statistic: Any
    pvalue: Any


class Student(Significance):
    """Student's statistic, its p-value and, as `df`, the degrees of freedom."""

    df: Any


class Welch:
    """The result of Welch's test, whose degrees of freedom follow the samples.

    The p-value has no derivative in them in closed form; it is computed when it is asked for, so that this is
    an error only where it is read.
    """

    __slots__ = ("statistic", "df", "_alternative")

    def __init__(self, statistic: Any, df: Any, alternative: str):
        self.statistic, self.df, self._alternative = statistic, df, alternative

    @property
    def pvalue(self) -> Any:
        return tail(t, self._alternative, self.statistic, self.df)

    def __iter__(self):
        return iter((self.statistic, self.pvalue))


def _student(statistic: Any, df: Any, alternative: str) -> Student:
    result = Student(statistic, tail(t, alternative, statistic, df))
    result.df = df
    return result


def _flat(x: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """A sample with the given axes (None: all) merged into the last, and which these were."""
    axes = negative_axes(axis, x.ndim)
    return merged(x, axes), axes


@implements(stats.ttest_1samp)
def ttest_1samp(a, popmean, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    (whole,) = _samples("ttest_1samp", nan_policy, a)
    x, axes = _flat(whole, axis)
    error = np.std(x, axis=-1, ddof=1) / math.sqrt(x.shape[-1])
    if np.ndim(popmean):
        popmean = asarray(popmean)
        popmean = np.squeeze(np.reshape(popmean, (1,) * (whole.ndim - popmean.ndim) + popmean.shape), axes)
    statistic = restore((np.mean(x, axis=-1) - popmean) / error, whole, axes, keepdims)
    return _student(statistic, x.shape[-1] - 1, alternative)


@implements(stats.ttest_rel)
def ttest_rel(a, b, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    x, y = _samples("ttest_rel", nan_policy, a, b)
    return ttest_1samp(x - y, 0.0, axis, alternative=alternative, keepdims=keepdims)


@implements(stats.ttest_ind)
def ttest_ind(a, b, *, axis=0, equal_var=True, nan_policy="propagate", alternative="two-sided", trim=0,
              method=None, keepdims=False):  # fmt: skip
    if trim or method is not None:
        cure = "Leave it out, or apply the test to stop_gradient(x)."
        refuse_argument("scipy.stats.ttest_ind", "trim= or method=", cure)
    arrays = [asarray(v) for v in (a, b)]
    if axis is None:
        arrays, axis = [np.reshape(v, -1) for v in arrays], 0
    whole, other = _samples("ttest_ind", nan_policy, *arrays)
    (x, axes), (y, _) = _flat(whole, axis), _flat(other, axis)
    n, m = x.shape[-1], y.shape[-1]
    means = [np.mean(v, axis=-1) for v in (x, y)]
    squares = [np.sum((v - c[..., None]) ** 2, axis=-1) for v, c in zip((x, y), means)]
    if equal_var:
        df, result = n + m - 2.0, _student
        square = (squares[0] + squares[1]) / df * (1 / n + 1 / m)
    else:
        u, v = [np.true_divide(s, k * (k - 1)) for s, k in zip(squares, (n, m))]
        square, result = u + v, Welch
        df = square * square / (u * u / (n - 1) + v * v / (m - 1))
    statistic = restore((means[0] - means[1]) / np.sqrt(square), whole, axes, keepdims)
    return result(statistic, df, alternative)


@implements(stats.f_oneway)
def f_oneway(*samples, axis=0, equal_var=True, nan_policy="propagate", keepdims=False):
    if not equal_var or keepdims or len(samples) < 2:
        cure = "Pass two samples or more, and leave the other arguments out."
        refuse_argument("scipy.stats.f_oneway", "equal_var=False, keepdims= or one sample", cure)
    samples = _samples("f_oneway", nan_policy, *samples)
    samples = [_flat(x, axis)[0] for x in samples]
    sizes = [x.shape[-1] for x in samples]
    means = [np.mean(x, axis=-1, keepdims=True) for x in samples]
    grand = sum([n * m for n, m in zip(sizes, means)]) / sum(sizes)
    between = sum([n * (m - grand) ** 2 for n, m in zip(sizes, means)])
    within = sum([np.sum((x - m) ** 2, axis=-1, keepdims=True) for x, m in zip(samples, means)])
    groups, rest = len(samples) - 1, sum(sizes) - len(samples)
    statistic = np.squeeze((between / groups) / (within / rest), -1)
    return Significance(statistic, f.sf(statistic, groups, rest))


_DIVERGENCES = {
    None: 1, "pearson": 1, "log-likelihood": 0, "freeman-tukey": -0.5, "mod-log-likelihood": -1,
    "neyman": -2, "cressie-read": 2 / 3,
}  # fmt: skip


@implements(stats.power_divergence)
def power_divergence(f_obs, f_exp=None, ddof=0, axis=0, lambda_=None, *, nan_policy="propagate",
                     keepdims=False):  # fmt: skip
    (seen,) = _samples("power_divergence", nan_policy, f_obs)
    power = _DIVERGENCES.get(lambda_, lambda_) if lambda_ is None or isinstance(lambda_, str) else lambda_
    if isinstance(power, str):
        raise ValueError(f"invalid string for lambda_: {lambda_!r}")
    n = count_along(seen, axis)
    if f_exp is None:
        expected = np.mean(seen, axis=axis, keepdims=True)
    else:
        (expected,) = _samples("power_divergence", "propagate", f_exp)
        totals = [np.sum(concrete(v), axis=axis) for v in np.broadcast_arrays(seen, expected)]
        off = np.abs(totals[0] - totals[1]) > 1e-8 * np.minimum(*totals)
        if not isinstance(concrete(off), Tracer) and np.any(concrete(off)):
            raise ValueError("the observed and the expected frequencies do not have the same sum")
    if power == 1:
        terms = (seen - expected) ** 2 / expected
    elif power == 0:
        terms = 2.0 * special.xlogy(seen, seen / expected)
    elif power == -1:
        terms = 2.0 * special.xlogy(expected, expected / seen)
    else:
        terms = seen * ((seen / expected) ** power - 1) / (0.5 * power * (power + 1))
    statistic = np.sum(terms, axis=axis, keepdims=keepdims)
    return Significance(statistic, chi2.sf(statistic, n - 1 - np.asarray(ddof)))


@implements(stats.chisquare)
def chisquare(f_obs, f_exp=None, ddof=0, axis=0, *, sum_check=True, nan_policy="propagate", keepdims=False):
    if not sum_check:
        cure = "Write np.sum((f_obs - f_exp)**2 / f_exp)."
        refuse_argument("scipy.stats.chisquare", "sum_check=False", cure)
    return power_divergence(f_obs, f_exp, ddof, axis, "pearson", nan_policy=nan_policy, keepdims=keepdims)


@implements(stats.jarque_bera)
def jarque_bera(x, *, axis=None, nan_policy="propagate", keepdims=False):
    (x,) = _samples("jarque_bera", nan_policy, x)
    n = count_along(x, axis)
    lean = skew(x, axis, keepdims=keepdims)
    peak = kurtosis(x, axis, keepdims=keepdims)
    statistic = n / 6 * (lean * lean + peak * peak / 4)
    return Significance(statistic, chi2.sf(statistic, 2))


class Description(NamedTuple):
    """What `scipy.stats.describe` says of a sample."""

    nobs: int
    minmax: tuple
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


@implements(stats.describe)
def describe(a, axis=0, ddof=1, bias=True, nan_policy="propagate"):
    (x,) = _samples("describe", nan_policy, a)
    minmax = np.min(x, axis=axis), np.max(x, axis=axis)
    moments = np.mean(x, axis=axis), np.var(x, axis=axis, ddof=ddof)
    return Description(
        count_along(x, axis), minmax, *moments, skew(x, axis, bias), kurtosis(x, axis, bias=bias)
    )


# ---- trimmed moments -----------------------------------------------------------------------


def _within(x: Any, limits: Any, inclusive: Any) -> Any:
    """Which entries are within limits, of which either may be None."""
    known = concrete(x)
    kept = np.equal(known, known)
    if limits is None:
        return kept
    (low, high), (closed_low, closed_high) = limits, inclusive
    if low is not None:
        kept = kept & (np.greater_equal if closed_low else np.greater)(known, low)
    if high is not None:
        kept = kept & (np.less_equal if closed_high else np.less)(known, high)
    if not isinstance(kept, Tracer) and not np.any(kept):
        raise ValueError("No array values within given limits")
    return kept


def _trimmed(name, a, limits, inclusive, axis, nan_policy, keepdims):
    """The number of entries within limits, their mean, and the sum of their squared deviations."""
    (x,) = _samples(name, nan_policy, a)
    if limits is None:
        n = count_along(x, axis)
        mean = np.mean(x, axis=axis, keepdims=True)
        return (
            n,
            np.mean(x, axis=axis, keepdims=keepdims),
            np.sum((x - mean) ** 2, axis=axis, keepdims=keepdims),
        )
    kept = _within(x, limits, inclusive)
    whole = {"axis": axis, "keepdims": True}
    inside = np.where(kept, x, 0.0)
    count = np.sum(kept, **whole)
    mean = np.sum(inside, **whole) / count
    squares = np.sum(np.where(kept, (inside - mean) ** 2, 0.0), axis=axis, keepdims=keepdims)
    count = count if keepdims else np.squeeze(count, axis)
    return count, mean if keepdims else np.squeeze(mean, axis), squares


@implements(stats.tmean)
def tmean(a, limits=None, inclusive=(True, True), axis=None, *, nan_policy="propagate", keepdims=False):
    return _trimmed("tmean", a, limits, inclusive, axis, nan_policy, keepdims)[1]


@implements(stats.tvar)
def tvar(a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    n, _, squares = _trimmed("tvar", a, limits, inclusive, axis, nan_policy, keepdims)
    return squares / (n - ddof)


@implements(stats.tstd)
def tstd(a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    return np.sqrt(tvar(a, limits, inclusive, axis, ddof, nan_policy=nan_policy, keepdims=keepdims))


@implements(stats.tsem)
def tsem(a, limits=None, inclusive=(True, True), axis=0, ddof=1, *, nan_policy="propagate", keepdims=False):
    n, _, squares = _trimmed("tsem", a, limits, inclusive, axis, nan_policy, keepdims)
    return np.sqrt(squares / (n - ddof) / n)


@implements(stats.gzscore)
def gzscore(a, *, axis=0, ddof=0, nan_policy="propagate"):
    (x,) = _samples("gzscore", nan_policy, a)
    return zscore(np.log(x), axis, ddof)


@implements(stats.kstat)
def kstat(data, n=2, *, axis=None, nan_policy="propagate", keepdims=False):
    """Unbiased estimates of cumulants, by sums of powers (Fisher's k-statistics)."""
    (x,) = _samples("kstat", nan_policy, data)
    if n not in (1, 2, 3, 4):
        raise ValueError("k-statistics only supported for 1<=n<=4")
    size = count_along(x, axis)
    a, b, c, d = [np.sum(x**k, axis=axis, keepdims=keepdims) for k in range(1, n + 1)] + [0.0] * (4 - n)
    if n == 1:
        return a / size
    if n == 2:
        return (size * b - a**2) / (size * (size - 1))
    if n == 3:
        return (2 * a**3 - 3 * size * a * b + size**2 * c) / (size * (size - 1) * (size - 2))
    total = -6 * a**4 + 12 * size * a**2 * b - 3 * size * (size - 1) * b**2
    total = total - 4 * size * (size + 1) * a * c + size**2 * (size + 1) * d
    return total / (size * (size - 1) * (size - 2) * (size - 3))


# ---- directions ----------------------------------------------------------------------------


def _resultant(name, samples, high, low, axis, nan_policy, keepdims):
    """The mean sine and cosine of angles, and the period."""
    (x,) = _samples(name, nan_policy, samples)
    if np.ndim(high) or np.ndim(low):
        refuse_argument(f"scipy.stats.{name}", "an array high or low", "Pass numbers.")
    angle = (x - low) * (2 * np.pi / (high - low))
    return [np.mean(wave(angle), axis=axis, keepdims=keepdims) for wave in (np.sin, np.cos)]


@implements(stats.circmean)
def circmean(samples, high=2 * np.pi, low=0, axis=None, nan_policy="propagate", *, keepdims=False):
    sin, cos = _resultant("circmean", samples, high, low, axis, nan_policy, keepdims)
    return np.mod(np.arctan2(sin, cos), 2 * np.pi) * ((high - low) / (2 * np.pi)) + low


@implements(stats.circvar)
def circvar(samples, high=2 * np.pi, low=0, axis=None, nan_policy="propagate", *, keepdims=False):
    sin, cos = _resultant("circvar", samples, high, low, axis, nan_policy, keepdims)
    return 1.0 - np.hypot(sin, cos)


@implements(stats.circstd)
def circstd(samples, high=2 * np.pi, low=0, axis=None, nan_policy="propagate", *, normalize=False,
            keepdims=False):  # fmt: skip
    sin, cos = _resultant("circstd", samples, high, low, axis, nan_policy, keepdims)
    spread = np.sqrt(-2 * np.log(np.hypot(sin, cos)))
    return spread if normalize else spread * ((high - low) / (2 * np.pi))


# ---- distances -----------------------------------------------------------------------------


def _distribution(x: Any, weights: Any, at: Any) -> Any:
    """The share of a sample that is not above each of some values."""
    order = np.argsort(x)
    places = np.searchsorted(np.sort(concrete(x)), concrete(at), side="right")
    if weights is None:
        return places / x.shape[0]
    sums = np.concatenate([np.zeros(1), np.cumsum(take(asarray(weights), order))])
    return take(sums, places) / sums[-1]


def _distance(name, u_values, v_values, u_weights, v_weights):
    """The steps between all values in order, and the difference of both distributions on each."""
    u, v = _samples(name, "propagate", u_values, v_values)
    if u.ndim != 1 or v.ndim != 1 or not u.size or not v.size:
        raise ValueError("samples are vectors that are not empty")
    together = np.sort(np.concatenate([u, v]))
    at = together[:-1]
    return np.diff(together), _distribution(u, u_weights, at) - _distribution(v, v_weights, at)


@implements(stats.wasserstein_distance)
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    steps, away = _distance("wasserstein_distance", u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(away) * steps)


@implements(stats.energy_distance)
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    steps, away = _distance("energy_distance", u_values, v_values, u_weights, v_weights)
    return math.sqrt(2) * np.sqrt(np.sum(away * away * steps))


# ---- entropy of a sample -------------------------------------------------------------------


@implements(stats.differential_entropy)
def differential_entropy(values, *, window_length=None, base=None, axis=0, method="auto",
                         nan_policy="propagate", keepdims=False):  # fmt: skip
    (whole,) = _samples("differential_entropy", nan_policy, values)
    x, axes = _flat(whole, axis)
    n = x.shape[-1]
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    if not 2 <= 2 * m < n:
        cure = "Pass a window_length that is positive and less than half the sample size."
        refuse_argument("scipy.stats.differential_entropy", f"windows of {m} in {n} samples", cure)
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    if method not in ("vasicek", "van es", "ebrahimi"):
        cure = "Take 'vasicek', 'van es' or 'ebrahimi'."
        refuse_argument("scipy.stats.differential_entropy", f"method={method!r}", cure)
    x = np.sort(x, axis=-1)
    if method == "van es":
        k = np.arange(m, n + 1)
        out = np.mean(np.log((n + 1) / m * (x[..., m:] - x[..., :-m])), axis=-1)
        out = out + (float(np.sum(1 / k)) + math.log(m) - math.log(n + 1))
    else:
        places = np.arange(n)
        gaps = x[..., np.minimum(places + m, n - 1)] - x[..., np.maximum(places - m, 0)]
        reach = np.full(n, 2.0)
        if method == "ebrahimi":  # fewer samples are within reach near the ends
            reach = np.minimum(1 + np.minimum(places, places[::-1]) / m, 2.0)
        out = np.mean(np.log((n / m / reach).astype(x.dtype) * gaps), axis=-1)
    out = out if base is None else out / math.log(base)
    return restore(out, whole, axes, keepdims)
