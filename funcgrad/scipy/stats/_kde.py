"""Kernel density estimates, differentiable in the points, the data, the weights and the bandwidth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from funcgrad.numpy.creation import asarray
from funcgrad.scipy._mirror import has_tracer, refuse


def _rows(x: Any) -> Any:
    x = asarray(x)
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    return np.reshape(x, (1, -1)) if x.ndim < 2 else x


def _log_density(kde: Any, points: Any) -> Any:
    """The logarithm of the density at points in columns."""
    points = _rows(points)
    d, m = points.shape
    if d != kde.d:
        if d != 1 or m != kde.d:
            raise ValueError(f"points have dimension {d}, dataset has dimension {kde.d}")
        points = np.reshape(points, (kde.d, 1))
    lower = kde.cho_cov
    data = np.linalg.solve(lower, kde.dataset)
    away = np.linalg.solve(lower, points)[:, :, None] - data[:, None, :]
    energy = np.log(kde.weights) - 0.5 * np.sum(away * away, axis=0)
    factor = (kde.d / 2) * math.log(2 * math.pi) + np.sum(np.log(np.diagonal(lower)))
    return np.logaddexp.reduce(energy, axis=1) - factor


class gaussian_kde(stats.gaussian_kde):
    """`scipy.stats.gaussian_kde`, whose density has derivatives.

    Args:
        dataset, bw_method, weights: as for SciPy's, of which any may be traced; the density is differentiable
            in them and in the points.
    """

    def __new__(cls, dataset, bw_method=None, weights=None):
        if has_tracer((dataset, bw_method, weights)):
            return TracedKernels(dataset, bw_method, weights)
        return super().__new__(cls)

    def evaluate(self, points):
        if has_tracer(points):
            return np.exp(_log_density(self, points))
        return super().evaluate(points)

    def pdf(self, x):
        return self.evaluate(x)

    def logpdf(self, x):
        return _log_density(self, x) if has_tracer(x) else super().logpdf(x)

    __call__ = evaluate


class TracedKernels:
    """A kernel density estimate of which the data, the weights or the bandwidth are traced."""

    def __init__(self, dataset: Any, bw_method: Any, weights: Any):
        self.dataset = _rows(dataset)
        if not self.dataset.size > 1:
            raise ValueError("`dataset` input should have multiple elements.")
        self.d, self.n = self.dataset.shape
        if self.d > self.n:
            raise ValueError("there are fewer points (columns of `dataset`) than dimensions")
        if weights is None:
            self.weights, self.neff = np.full(self.n, 1 / self.n), float(self.n)
        else:
            weights = asarray(weights)
            if weights.shape != (self.n,):
                raise ValueError("`weights` input should be one-dimensional and of length n")
            self.weights = weights / np.sum(weights)
            self.neff = 1 / np.sum(self.weights * self.weights)
        self.factor = self._bandwidth(bw_method)
        covariance = np.reshape(np.cov(self.dataset, aweights=self.weights), (self.d, self.d))
        self.covariance = covariance * self.factor**2
        self.cho_cov = np.linalg.cholesky(covariance) * self.factor

    def _bandwidth(self, method: Any) -> Any:
        if method is None or (isinstance(method, str) and method == "scott"):
            return self.scotts_factor()
        if isinstance(method, str):
            if method != "silverman":
                raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
            return self.silverman_factor()
        return method(self) if callable(method) else method

    def scotts_factor(self) -> Any:
        return self.neff ** (-1 / (self.d + 4))

    def silverman_factor(self) -> Any:
        return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))

    def logpdf(self, x: Any) -> Any:
        return _log_density(self, x)

    def evaluate(self, points: Any) -> Any:
        return np.exp(_log_density(self, points))

    pdf = __call__ = evaluate

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(stats.gaussian_kde, name):
            raise AttributeError(name)
        refuse(f"scipy.stats.gaussian_kde.{name}", "evaluate, pdf and logpdf have derivatives.")
