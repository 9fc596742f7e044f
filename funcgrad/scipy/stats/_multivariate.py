"""Multivariate distributions: the logarithm of their density, its exponential, entropies where closed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad.numpy.creation import asarray
from funcgrad.scipy import special
from funcgrad.scipy._mirror import has_tracer, refuse, refuse_argument
from funcgrad.scipy.stats._base import Named, stated
from funcgrad.scipy.stats._pieces import LOG_2, LOG_PI, LOG_ROOT

gammaln, xlogy = special.gammaln, special.xlogy


class Multivariate(Named):
    """A multivariate distribution of SciPy's, whose density has derivatives.

    Methods have SciPy's names and arguments, and are SciPy's own on plain values; a method without derivative
    raises `UnsupportedFunctionError` on traced ones.
    """

    def __init__(self, own: Any, **formulas: Callable):
        self.own, self._formulas = own, formulas
        self.name = type(own).__name__.removesuffix("_gen")

    def __call__(self, *args: Any, **kwargs: Any) -> FrozenMultivariate:
        return FrozenMultivariate(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = getattr(self.own, name)
        if not inspect.ismethod(own):
            return own

        def method(*args, **kwargs):
            if not (has_tracer(args) or has_tracer(kwargs)):
                return own(*args, **kwargs)
            if name not in self._formulas:
                refuse(f"scipy.stats.{self.name}.{name}", stated(self._formulas))
            bound = inspect.signature(own).bind(*args, **kwargs)
            bound.apply_defaults()
            given = [concrete(x) for x in bound.arguments.values()]
            if not any(isinstance(x, Tracer) or has_tracer(x) for x in given):
                own(*given)  # SciPy's errors on parameters that are not valid
            return self._formulas[name](**bound.arguments)

        method.__name__, method.__doc__ = name, own.__doc__
        return method


class FrozenMultivariate:
    """A multivariate distribution with its parameters."""

    def __init__(self, dist: Multivariate, args: tuple, kwargs: dict):
        self.dist, self.args, self.kwds = dist, args, kwargs
        if not (has_tracer(args) or has_tracer(kwargs)):
            dist.own(*args, **kwargs)  # SciPy's errors

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.dist._formulas:
            method = getattr(self.dist, name)
            if "entropy" in name:
                return lambda: method(*self.args, **self.kwds)
            return lambda x: method(x, *self.args, **self.kwds)
        if has_tracer(self.args) or has_tracer(self.kwds):
            refuse(f"scipy.stats.{self.dist.name}.{name}", stated(self.dist._formulas))
        return getattr(self.dist.own(*self.args, **self.kwds), name)


def _floats(x: Any) -> Any:
    x = asarray(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _squeezed(out: Any) -> Any:
    return np.reshape(out, [n for n in out.shape if n != 1])[()]


def _log_det(lower: Any) -> Any:
    """log det(A) of the Cholesky factor of A."""
    return 2 * np.sum(np.log(np.diagonal(lower, axis1=-2, axis2=-1)), axis=-1)


# ---- normal and t --------------------------------------------------------------------------


def _location_and_shape(mean: Any, cov: Any) -> tuple[Any, Any]:
    """A vector and a matrix from what SciPy lets stand for them."""
    cov = _floats(1.0 if cov is None else cov)
    dim = (cov.shape[0] if cov.ndim == 2 else 1) if mean is None else asarray(mean).size
    mean = np.zeros(dim) if mean is None else _floats(mean)
    if dim == 1:
        return np.reshape(mean, (1,)), np.reshape(cov, (1, 1))
    if cov.ndim == 0:
        return mean, cov * np.eye(dim)
    return mean, np.diag(cov) if cov.ndim == 1 else cov


def _points(x: Any, dim: int) -> Any:
    """Points along the last axis."""
    x = _floats(x)
    return np.reshape(x, (-1, 1) if dim == 1 else (1, -1)) if x.ndim < 2 else x


def _distance(x: Any, mean: Any, cov: Any) -> tuple[Any, Any]:
    """The squared Mahalanobis distance of points, and log det(cov)."""
    lower = np.linalg.cholesky(cov)
    away = x - mean
    flat = np.reshape(away, (-1, mean.shape[0]))
    white = np.linalg.solve(lower, np.swapaxes(flat, 0, 1))
    return np.reshape(np.sum(white * white, axis=0), away.shape[:-1]), _log_det(lower)


def _refuse_singular(name: str, allowed: Any) -> None:
    if allowed:
        refuse_argument(
            f"scipy.stats.{name}",
            "allow_singular=True",
            "A singular covariance has no density that could be differentiated in it. Add a small multiple "
            "of the identity, or write the density on the subspace.",
        )


def _normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    _refuse_singular("multivariate_normal", allow_singular)
    mean, cov = _location_and_shape(mean, cov)
    square, log_det = _distance(_points(x, len(mean)), mean, cov)
    return _squeezed(-0.5 * (square + log_det) - LOG_ROOT * len(mean))


def _normal_entropy(mean=None, cov=1):
    mean, cov = _location_and_shape(mean, cov)
    return (LOG_ROOT + 0.5) * len(mean) + 0.5 * _log_det(np.linalg.cholesky(cov))


def _t_logpdf(x, loc=None, shape=1, df=1):
    loc, shape = _location_and_shape(loc, shape)
    dim, x = len(loc), _points(x, len(loc))
    if not isinstance(concrete(df), Tracer) and concrete(df) == np.inf:
        return _normal_logpdf(x, loc, shape)
    square, log_det = _distance(x, loc, shape)
    df = _floats(1 if df is None else df)
    half = 0.5 * (df + dim)
    factor = gammaln(half) - gammaln(0.5 * df) - (dim / 2) * np.log(df * np.pi) - 0.5 * log_det
    return _squeezed(factor - half * np.log1p(square / df))


def _t_pdf(x, loc=None, shape=1, df=1, allow_singular=False):
    _refuse_singular("multivariate_t", allow_singular)
    return np.exp(_t_logpdf(x, loc, shape, df))


def _matrix_normal_logpdf(X, mean=None, rowcov=1, colcov=1):
    X = _floats(X)
    rows, cols = X.shape[-2:]
    rowcov, colcov = _matrix(rowcov, rows), _matrix(colcov, cols)
    away = X if mean is None else X - _floats(mean)
    low, right = np.linalg.cholesky(rowcov), np.linalg.cholesky(colcov)
    white = np.linalg.solve(low, away)
    white = np.linalg.solve(right, np.swapaxes(white, -1, -2))
    square = np.sum(white * white, axis=(-2, -1))
    factor = 2 * LOG_ROOT * (rows * cols) + cols * _log_det(low) + rows * _log_det(right)
    return _squeezed(-0.5 * (square + factor))


def _matrix(cov: Any, dim: int) -> Any:
    cov = _floats(cov)
    if cov.ndim == 2:
        return cov
    return cov * np.eye(dim) if cov.ndim == 0 else np.diag(cov)


# ---- simplices and counts ------------------------------------------------------------------


def _dirichlet_logpdf(x, alpha):
    x, alpha = asarray(x), _floats(alpha)
    if len(x) != len(alpha):
        x = np.concatenate([x, 1 - np.sum(x, 0, keepdims=True)])
    power = np.reshape(alpha - 1, (-1,) + (1,) * (x.ndim - 1))
    log_beta = np.sum(gammaln(alpha)) - gammaln(np.sum(alpha))
    return _squeezed(np.sum(xlogy(power, x), axis=0) - log_beta)


def _dirichlet_entropy(alpha):
    alpha = _floats(alpha)
    total, count = np.sum(alpha), len(alpha)
    log_beta = np.sum(gammaln(alpha)) - gammaln(total)
    digammas = (total - count) * special.psi(total) - np.sum((alpha - 1) * special.psi(alpha))
    return log_beta + digammas


def _multinomial_logpmf(x, n, p):
    x, n, p = np.floor(_floats(x)), np.floor(_floats(n)), _floats(p)
    # The last probability makes up for the others: by its value if they sum to 1, and in any case
    # by its derivative.
    rest = 1 - np.sum(p[..., :-1], axis=-1)
    off = np.abs(concrete(np.sum(p, axis=-1)) - 1) > 10 * np.finfo(np.float64).eps
    last = np.where(off, 0.0, stop_gradient_leaf(p[..., -1] - rest)) + rest
    p = np.concatenate([p[..., :-1], np.expand_dims(last, -1)], axis=-1)
    at, share = concrete(x), concrete(p)
    possible = np.all(at >= 0, axis=-1) & (np.sum(at, axis=-1) == concrete(n))
    valid = np.all((share >= 0) & (share <= 1), axis=-1) & (concrete(n) >= 0)
    inner = np.expand_dims(possible & valid, -1)
    counts, share = np.where(inner, x, 0.0), np.where(inner, p, 0.5)
    out = gammaln(n + 1) + np.sum(xlogy(counts, share) - gammaln(counts + 1), axis=-1)
    return np.where(valid, np.where(possible, out, -np.inf), np.nan)[()]


# ---- matrices ------------------------------------------------------------------------------


def _log_multigamma(a: Any, dim: int) -> Any:
    out = dim * (dim - 1) / 4 * LOG_PI
    for j in range(dim):
        out = gammaln(a - j / 2) + out
    return out


def _matrices(x: Any, scale: Any) -> tuple[Any, Any, int]:
    """Matrices in the last two axes: SciPy stacks them along the last."""
    scale, x = _floats(scale), _floats(x)
    scale = np.reshape(scale, (1, 1)) if scale.ndim == 0 else np.diag(scale) if scale.ndim == 1 else scale
    dim = len(scale)
    if x.ndim == 0:
        x = x * np.eye(dim)
    elif x.ndim == 1:
        x = np.reshape(x, (1, 1, -1)) if dim == 1 else np.diag(x)
    return np.moveaxis(x, -1, 0) if x.ndim == 3 else x, scale, dim


def _wishart_logpdf(x, df, scale):
    x, scale, dim = _matrices(x, scale)
    df, lower = _floats(df), np.linalg.cholesky(scale)
    trace = np.trace(np.linalg.solve(scale, x), axis1=-2, axis2=-1)
    out = 0.5 * (df - dim - 1) * _log_det(np.linalg.cholesky(x)) - 0.5 * trace
    out = out - 0.5 * df * (dim * LOG_2 + _log_det(lower)) - _log_multigamma(0.5 * df, dim)
    return _squeezed(out)


def _invwishart_logpdf(x, df, scale):
    x, scale, dim = _matrices(x, scale)
    df, lower = _floats(df), np.linalg.cholesky(scale)
    trace = np.trace(np.linalg.solve(x, scale), axis1=-2, axis2=-1)
    out = 0.5 * df * (_log_det(lower) - dim * LOG_2) - 0.5 * trace
    out = out - 0.5 * (df + dim + 1) * _log_det(np.linalg.cholesky(x)) - _log_multigamma(0.5 * df, dim)
    return _squeezed(out)


def _with_density(own: Any, logpdf: Callable, **formulas: Callable) -> Multivariate:
    return Multivariate(own, logpdf=logpdf, pdf=lambda **given: np.exp(logpdf(**given)), **formulas)


multivariate_normal = _with_density(stats.multivariate_normal, _normal_logpdf, entropy=_normal_entropy)
multivariate_t = Multivariate(stats.multivariate_t, logpdf=_t_logpdf, pdf=_t_pdf)
matrix_normal = _with_density(stats.matrix_normal, _matrix_normal_logpdf)
dirichlet = _with_density(stats.dirichlet, _dirichlet_logpdf, entropy=_dirichlet_entropy)
wishart = _with_density(stats.wishart, _wishart_logpdf)
invwishart = _with_density(stats.invwishart, _invwishart_logpdf)
multinomial = Multivariate(
    stats.multinomial,
    logpmf=_multinomial_logpmf,
    pmf=lambda **given: np.exp(_multinomial_logpmf(**given)),
)
