"""Distributions as SciPy's objects: location, scale, support and invalid parameters, once for all of them.

A distribution is a block of standardised formulas, for location 0 and scale 1 inside the support. What is
outside is selected away: such entries are computed at a point inside, so that nothing overflows, warns or
divides by zero there, and their derivative is a structural zero.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import shape_of
from funcgrad.numpy.creation import asarray
from funcgrad.scipy import special
from funcgrad.scipy._mirror import has_tracer, refuse, refuse_argument

#: What may be computed from other formulas if a block does not state it. (`xlogy` does not warn at 0.)
_DERIVED = {
    "pdf": lambda d: lambda *a: np.exp(d["logpdf"](*a)),
    "logcdf": lambda d: lambda *a: special.xlogy(1.0, d["cdf"](*a)),
    "sf": lambda d: lambda *a: 1 - d["cdf"](*a),
    "logsf": lambda d: lambda *a: special.xlogy(1.0, d["sf"](*a)),
    "isf": lambda d: lambda q, *a: d["ppf"](1 - q, *a),
    "pmf": lambda d: lambda *a: np.exp(d["logpmf"](*a)),
}
_NEEDS = {"pdf": "logpdf", "logcdf": "cdf", "sf": "cdf", "logsf": "sf", "isf": "ppf", "pmf": "logpmf"}

_INSTEAD = {
    "rvs": "Draw standard variates of plain parameters and transform them: loc + scale * norm.rvs(size=n).",
    "nnlf": "Write -np.sum(distribution.logpdf(x, ...)).",
    "fit": "Write the negative log-likelihood, -np.sum(distribution.logpdf(x, ...)), and minimise it.",
    "expect": "Write the integral as a sum over nodes: np.sum(weights * f(nodes) * distribution.pdf(nodes)).",
    "moment": "mean, var and std have derivatives; write higher moments with their closed form.",
}


class Point(NamedTuple):
    """Where a standardised formula is computed.

    Attributes:
        z: the standardised argument, replaced by a point inside the support where it is outside.
        shapes: the shape parameters, replaced by valid ones where they are not.
        loc, scale: of the distribution.
        inside: where z counts; True if everywhere.
        outside: the values elsewhere.
        shape, dtype: of the result.
    """

    z: Any
    shapes: tuple
    loc: Any
    scale: Any
    inside: Any
    outside: Any
    shape: tuple[int, ...]
    dtype: np.dtype


class Named:
    """What is printed, copied and pickled by its name in `funcgrad.scipy.stats`: there is one of each."""

    name: str

    def __repr__(self) -> str:
        return f"<funcgrad.scipy.stats.{self.name}>"

    def __reduce__(self) -> tuple:
        return _by_name, (self.name,)


def _by_name(name: str) -> Any:
    return getattr(importlib.import_module("funcgrad.scipy.stats"), name)


def surely(condition: Any) -> bool:
    """Whether a condition is known to hold everywhere; in a batch or a program it is not known."""
    return not isinstance(condition, Tracer) and bool(np.all(condition))


def stated(formulas: dict[str, Callable]) -> str | None:
    """What to write in place of a method without derivative."""
    if not formulas:
        return "No method of this distribution has derivatives. Write its density with np and scipy.special."
    return f"It has no closed form that could be differentiated; these have: {', '.join(sorted(formulas))}."


def numbers(x: Any) -> Any:
    """An array of floats; traced ones are returned as they are."""
    x = asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


class Distribution(Named):
    """A distribution of SciPy's, whose densities have derivatives.

    Methods have SciPy's names and arguments, ``norm.logpdf(x, loc, scale)`` or
    ``norm(loc, scale).logpdf(x)``. On plain values they are SciPy's own. On traced ones they are
    differentiable in the argument, the shape parameters, the location and the scale; a method that is not
    raises `UnsupportedFunctionError`, and an argument in which a function has no derivative in closed form
    (``t.cdf`` in its degrees of freedom) raises `MissingDerivativeError`.
    """

    kind = "continuous"

    def __init__(self, own: Any, formulas: dict[str, Callable], support, valid, point, defaults, open, whole):
        self.own = own
        self.name = own.name
        self._names = tuple(own.shapes.split(", ")) if own.shapes else ()
        self._formulas = dict(formulas)
        for name in ("sf", "pdf", "pmf", "logcdf", "logsf", "isf"):
            if name not in self._formulas and _NEEDS[name] in self._formulas:
                self._formulas[name] = _DERIVED[name](self._formulas)
        self._formulas = {name: f for name, f in self._formulas.items() if f is not None}
        self._stated = frozenset(formulas)
        self._support = support
        self._valid = valid or (lambda *shapes: _all_positive(shapes))
        self._point = point
        self._defaults = defaults or (1.0,) * len(self._names)
        self._open = open
        self._whole = whole
        words = (*self._names, "loc") + (("scale",) if self.kind == "continuous" else ())
        self._signature = inspect.Signature(
            [
                inspect.Parameter(
                    word,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default={"loc": 0, "scale": 1}.get(word, inspect.Parameter.empty),
                )
                for word in words
            ]
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Frozen:
        return Frozen(self, args, kwargs)

    freeze = __call__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = getattr(self.own, name)
        if not inspect.ismethod(own):
            return own

        def method(*args, **kwargs):
            if has_tracer(args) or has_tracer(kwargs):
                refuse(f"scipy.stats.{self.name}.{name}", _INSTEAD.get(name))
            return own(*args, **kwargs)

        return method

    # ---- parameters ------------------------------------------------------------------------

    def _bind(self, args: tuple, kwargs: dict) -> tuple[tuple, Any, Any]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        shapes = [numbers(given[name]) for name in self._names]
        # parameters that count something have no derivative, as what is rounded has none
        shapes = tuple([np.floor(s) if i in self._whole else s for i, s in enumerate(shapes)])
        loc, scale = given["loc"], given.get("scale", 1)
        loc, scale = (x if type(x) is int and x in (0, 1) else asarray(x) for x in (loc, scale))
        return shapes, loc, scale

    def _checked(self, shapes: tuple, scale: Any) -> tuple[Any, tuple, Any]:
        """Which parameters are valid; and they, with others in the place of those that are not."""
        valid = self._valid(*map(concrete, shapes)) & np.greater(concrete(scale), 0)
        if surely(valid):
            return True, shapes, scale
        shapes = tuple([np.where(valid, s, d) for s, d in zip(shapes, self._defaults)])
        return valid, shapes, np.where(valid, scale, 1)

    def _ends(self, shapes: tuple) -> tuple[Any, Any]:
        return self._support(*map(concrete, shapes)) if callable(self._support) else self._support

    def _inner(self, shapes: tuple) -> Any:
        """A point inside the support."""
        if self._point is not None:
            return self._point(*map(concrete, shapes))
        low, high = self._support
        if low == -np.inf:
            return 0.0 if high == np.inf else high - 1.0
        return low + 1.0 if high == np.inf else (low + high) / 2

    def _formula(self, name: str) -> Callable:
        if name not in self._formulas:
            refuse(f"scipy.stats.{self.name}.{name}", stated(self._formulas))
        return self._formulas[name]

    @staticmethod
    def _settled(out: Any, p: Point) -> Any:
        """A result with the values outside, in SciPy's shape and dtype."""
        if p.inside is not True:
            out = np.where(p.inside, out, p.outside)
        out = asarray(out)
        if out.shape != p.shape:
            out = np.broadcast_to(out, p.shape)
        return (out if out.dtype == p.dtype else out.astype(p.dtype))[()]

    # ---- moments ---------------------------------------------------------------------------

    def _moment(self, name: str, args: tuple, kwargs: dict) -> Any:
        formula = self._formula(name)
        shapes, loc, scale = self._bind(args, kwargs)
        valid, shapes, scale = self._checked(shapes, scale)
        out = formula(*shapes)
        if name == "mean":
            out = out * scale + loc
        elif name == "var":
            out = out * (scale * scale) + 0 * loc
        elif self.kind == "continuous":
            out = out + np.log(scale) + 0 * loc
        shape = np.broadcast_shapes(*map(shape_of, (*shapes, loc, scale)))
        p = Point(None, shapes, loc, scale, valid, np.nan, shape, np.dtype(np.float64))
        return self._settled(out, p)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_tracer(args) or has_tracer(kwargs)):
            return self.own.mean(*args, **kwargs)
        return self._moment("mean", args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_tracer(args) or has_tracer(kwargs)):
            return self.own.var(*args, **kwargs)
        return self._moment("var", args, kwargs)

    def std(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_tracer(args) or has_tracer(kwargs)):
            return self.own.std(*args, **kwargs)
        return np.sqrt(self._moment("var", args, kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_tracer(args) or has_tracer(kwargs)):
            return self.own.entropy(*args, **kwargs)
        return self._moment("entropy", args, kwargs)

    def stats(self, *args: Any, moments: str = "mv", **kwargs: Any) -> Any:
        if not (has_tracer(args) or has_tracer(kwargs)):
            return self.own.stats(*args, moments=moments, **kwargs)
        if set(moments) - {"m", "v"}:
            cure = "Ask for moments='mv', or write skewness and kurtosis with their closed form."
            refuse_argument(f"scipy.stats.{self.name}.stats", f"moments={moments!r}", cure)
        out = tuple([(self.mean if m == "m" else self.var)(*args, **kwargs) for m in "mv" if m in moments])
        return out if len(out) > 1 else out[0]


def _all_positive(shapes: tuple) -> Any:
    valid = True
    for s in shapes:
        valid = valid & np.greater(s, 0)
    return valid


#: Methods of a frozen distribution whose first argument is a point, not a parameter.
_AT_POINTS = {
    "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "interval",
}  # fmt: skip
_WITHOUT = {"mean", "var", "std", "entropy", "stats", "median"}


class Frozen:
    """A distribution with its parameters, as SciPy's `norm(loc, scale)` is."""

    def __init__(self, dist: Distribution, args: tuple, kwargs: dict):
        self.dist, self.args, self.kwds = dist, args, kwargs
        dist._signature.bind(*args, **kwargs)

    def __repr__(self) -> str:
        words = [*map(repr, self.args), *[f"{k}={v!r}" for k, v in self.kwds.items()]]
        return f"<funcgrad.scipy.stats.{self.dist.name}({', '.join(words)})>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        args, kwargs = self.args, self.kwds
        if name in _AT_POINTS and hasattr(self.dist, name):
            method = getattr(self.dist, name)
            return lambda x: method(x, *args, **kwargs)
        if name in _WITHOUT and hasattr(self.dist, name):
            method = getattr(self.dist, name)
            return lambda **options: method(*args, **kwargs, **options)
        if has_tracer(args) or has_tracer(kwargs):
            refuse(f"scipy.stats.{self.dist.name}.{name}", _INSTEAD.get(name))
        own = getattr(self.dist.own(*args, **kwargs), name)
        if not callable(own):
            return own

        def method(*arguments, **options):
            if has_tracer(arguments) or has_tracer(options):
                refuse(f"scipy.stats.{self.dist.name}.{name}", _INSTEAD.get(name))
            return own(*arguments, **options)

        return method
