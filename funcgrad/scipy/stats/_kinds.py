"""The two kinds of univariate distribution, and how a block of formulas declares one."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import stats

from funcgrad._core.tracer import concrete
from funcgrad._core.types import shape_of
from funcgrad.numpy.creation import asarray
from funcgrad.scipy._mirror import has_tracer
from funcgrad.scipy.stats._base import Distribution, Point, numbers, surely


class Continuous(Distribution):
    """A continuous distribution: `pdf`, `cdf`, `sf`, their logarithms, `ppf`, `isf`."""

    def _at(self, x: Any, args: tuple, kwargs: dict, low: Any, high: Any, open: bool) -> Point:
        """The standardised argument of a function that is `low` below the support and `high` above."""
        x = asarray(x)
        shapes, loc, scale = self._bind(args, kwargs)
        dtype = np.promote_types(x.dtype, np.float64)
        shape = np.broadcast_shapes(*map(shape_of, (x, *shapes, loc, scale)))
        valid, shapes, scale = self._checked(shapes, scale)
        z = x if type(loc) is int and loc == 0 else x - loc
        z = z if type(scale) is int else z / scale
        z = z if z.dtype == dtype else z.astype(dtype)
        a, b = self._ends(shapes)
        at = concrete(z)
        less = np.less if open else np.less_equal
        inside = less(a, at) & less(at, b) & np.isfinite(at) & valid
        if surely(inside):
            return Point(z, shapes, loc, scale, True, None, shape, dtype)
        outside = low if low == high else np.where(np.greater_equal(at, b), high, low)
        outside = np.where(np.equal(at, at) & valid, outside, np.nan)
        z = np.where(inside, z, self._inner(shapes))
        return Point(z, shapes, loc, scale, inside, outside, shape, dtype)

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_tracer((x, args, kwargs)):
            return self.own.pdf(x, *args, **kwargs)
        formula = self._formula("pdf")
        p = self._at(x, args, kwargs, 0.0, 0.0, self._open and "pdf" not in self._stated)
        return self._settled(formula(p.z, *p.shapes) / p.scale, p)

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_tracer((x, args, kwargs)):
            return self.own.logpdf(x, *args, **kwargs)
        formula = self._formula("logpdf")
        p = self._at(x, args, kwargs, -np.inf, -np.inf, self._open)
        out = formula(p.z, *p.shapes)
        return self._settled(out if type(p.scale) is int else out - np.log(p.scale), p)

    def _cumulated(self, name: str, x: Any, args: tuple, kwargs: dict, low: float, high: float) -> Any:
        if not has_tracer((x, args, kwargs)):
            return getattr(self.own, name)(x, *args, **kwargs)
        formula = self._formula(name)
        p = self._at(x, args, kwargs, low, high, True)
        return self._settled(formula(p.z, *p.shapes), p)

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return self._cumulated("cdf", x, args, kwargs, 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return self._cumulated("sf", x, args, kwargs, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return self._cumulated("logcdf", x, args, kwargs, -np.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return self._cumulated("logsf", x, args, kwargs, 0.0, -np.inf)

    def _quantile(self, name: str, q: Any, args: tuple, kwargs: dict) -> Any:
        if not has_tracer((q, args, kwargs)):
            return getattr(self.own, name)(q, *args, **kwargs)
        formula = self._formula(name)
        q = numbers(q)
        shapes, loc, scale = self._bind(args, kwargs)
        shape = np.broadcast_shapes(*map(shape_of, (q, *shapes, loc, scale)))
        valid, shapes, scale = self._checked(shapes, scale)
        at = concrete(q)
        inside = np.greater(at, 0) & np.less(at, 1) & valid
        known = surely(inside)
        out = formula(q if known else np.where(inside, q, 0.5), *shapes) * scale + loc
        outside = None
        if not known:
            ends = [self._end(end, loc, scale) for end in self._ends(shapes)]
            low, high = ends if name == "ppf" else ends[::-1]
            outside = np.where(np.equal(at, 0) & valid, low, np.nan)
            outside = np.where(np.equal(at, 1) & valid, high, outside)
        dtype = np.dtype(np.float64)
        return self._settled(out, Point(q, shapes, loc, scale, known or inside, outside, shape, dtype))

    @staticmethod
    def _end(end: Any, loc: Any, scale: Any) -> Any:
        """An end of the support, which moves with location and scale if it is finite."""
        finite = np.isfinite(end)
        if surely(finite):
            return end * scale + loc
        return np.where(finite, np.where(finite, end, 0.0) * scale + loc, end)

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        return self._quantile("ppf", q, args, kwargs)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        return self._quantile("isf", q, args, kwargs)

    def median(self, *args: Any, **kwargs: Any) -> Any:
        return self.ppf(0.5, *args, **kwargs)

    def interval(self, confidence: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_tracer((confidence, args, kwargs)):
            return self.own.interval(confidence, *args, **kwargs)
        tail = (1 - asarray(confidence)) / 2
        return self.ppf(tail, *args, **kwargs), self.ppf(1 - tail, *args, **kwargs)


class Discrete(Distribution):
    """A discrete distribution: `pmf`, `cdf`, `sf` and their logarithms, with respect to the parameters.

    A count has no derivative: one that is a traced float is rounded, which the gradient notes as a cut.
    """

    kind = "discrete"

    def _evaluated(self, name: str, k: Any, args: tuple, kwargs: dict, low: float, high: float) -> Any:
        if not has_tracer((k, args, kwargs)):
            return getattr(self.own, name)(k, *args, **kwargs)
        formula = self._formula(name)
        k = numbers(k)
        shapes, loc, scale = self._bind(args, kwargs)
        shape = np.broadcast_shapes(*map(shape_of, (k, *shapes, loc)))
        valid, shapes, _ = self._checked(shapes, scale)
        k = k if type(loc) is int and loc == 0 else k - loc
        a, b = self._ends(shapes)
        at = concrete(k)
        k = np.floor(k)
        if "pmf" in name:
            inside = np.less_equal(a, at) & np.less_equal(at, b) & np.equal(at, concrete(k))
        else:
            inside = np.less_equal(a, at) & np.less(at, b)
        inside = inside & valid
        outside = None
        if surely(inside):
            inside = True
        else:
            outside = low if low == high else np.where(np.greater_equal(at, b), high, low)
            outside = np.where(np.equal(at, at) & valid, outside, np.nan)
            k = np.where(inside, k, a)
        out = formula(k, *shapes)
        return self._settled(out, Point(k, shapes, loc, 1, inside, outside, shape, np.dtype(np.float64)))

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("pmf", k, args, kwargs, 0.0, 0.0)

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("logpmf", k, args, kwargs, -np.inf, -np.inf)

    def cdf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("cdf", k, args, kwargs, 0.0, 1.0)

    def sf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("sf", k, args, kwargs, 1.0, 0.0)

    def logcdf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("logcdf", k, args, kwargs, -np.inf, 0.0)

    def logsf(self, k: Any, *args: Any, **kwargs: Any) -> Any:
        return self._evaluated("logsf", k, args, kwargs, 0.0, -np.inf)


def _declare(kind, own, support, valid, point, defaults, open, whole):
    def decorate(block: type) -> Distribution:
        formulas = {
            name: f
            for name, f in vars(block).items()
            if name[0] != "_" and (f is None or inspect.isfunction(f))
        }
        return kind(own, formulas, support, valid, point, defaults, open, frozenset(whole))

    return decorate


def continuous(own, support=(-np.inf, np.inf), *, valid=None, point=None, defaults=None, open=False):
    """Declare a continuous distribution by a class of standardised formulas (decorator).

    A formula that is None is not derived from others.

    Args:
        own: SciPy's object.
        support: its ends, or a function of the shape parameters.
        valid: which shape parameters are; they are positive if it is not given.
        point: a point inside the support, as a function of the shape parameters where the support is one.
        defaults: valid shape parameters, 1 if they are not given.
        open: whether the density at the ends is 0, so that its logarithm is computed between them alone.
    """
    return _declare(Continuous, own, support, valid, point, defaults, open, ())


def discrete(own, support, *, valid=None, defaults=None, whole=()):
    """Declare a discrete distribution; `whole` are the positions of shape parameters that are integers."""
    return _declare(Discrete, own, support, valid, None, defaults, False, whole)


def bare(own: Any) -> Distribution:
    """A distribution of which no method has a derivative."""
    kind = Discrete if isinstance(own, stats.rv_discrete) else Continuous
    return kind(own, {}, (-np.inf, np.inf), None, None, None, False, frozenset())
