"""What makes a module of one basis of NumPy's: its functions and its class, for traced values too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from funcgrad._core.tracer import Tracer
from funcgrad._primitives.polynomials import BASES
from funcgrad.numpy.creation import has_tracer
from funcgrad.numpy.polynomial import _series
from funcgrad.numpy.polynomial.polyutils import (
    getdomain,
    mapdomain,
    mapparms,
    over,
    series,
    trimcoef,
)  # fmt: skip


def namespace(name: str, module: str) -> dict[str, Any]:
    """The public names of NumPy's module of a basis, for the module of the given name."""
    basis = BASES[name]
    numpys = getattr(np.polynomial, name)
    names = {n: getattr(numpys, n) for n in numpys.__all__}
    for suffix, function in _series.FUNCTIONS.items():
        own = names.get(basis.prefix + suffix)
        if own is not None:
            names[basis.prefix + suffix] = _bound(function, basis, own, module)
    conversion = f"poly2{basis.prefix}"
    if conversion in names:
        names[conversion] = _bound(_series.from_polynomial, basis, names[conversion], module)
    (cls,) = [value for value in names.values() if isinstance(value, type)]
    names[cls.__name__] = _class(cls, basis.prefix, names, module)
    return names | {"__all__": list(numpys.__all__)}


def _bound(function: Any, basis: Any, numpys: Any, module: str) -> Any:
    def bound(*args, **kwargs):
        return function(basis, *args, **kwargs)

    bound.__module__ = module
    call = over(numpys)(bound)
    if function is not _series.interpolate:
        return call
    bound.__name__, bound.__qualname__, bound.__doc__ = call.__name__, call.__qualname__, call.__doc__
    return bound  # what is interpolated may close over traced values


def _class(numpys: type, prefix: str, names: dict[str, Any], module: str) -> type:
    """NumPy's class of series, whose coefficients, domain and window may be traced."""
    operations = ("add", "sub", "mul", "div", "pow", "val", "int", "der", "fit", "line", "roots", "fromroots")
    methods = {f"_{name}": staticmethod(names[prefix + name]) for name in operations}
    if hasattr(numpys, "interpolate"):
        methods["interpolate"] = classmethod(_interpolate)
    doc = f"As `{numpys.__module__}.{numpys.__name__}`; coefficients, domain and window may be traced."
    return type(numpys.__name__, (_Traced, numpys), {"__module__": module, "__doc__": doc, **methods})


def _interpolate(cls, func, deg, domain=None, args=()):
    """As NumPy's."""
    domain = cls.domain if domain is None else domain
    points = mapdomain(np.polynomial.chebyshev.chebpts1(deg + 1), cls.window, domain)
    coef = _series.interpolate(BASES["chebyshev"], lambda _: func(points, *args), deg)
    return cls(coef, domain=domain)


class _Traced(ABCPolyBase):
    """What NumPy's classes do by functions that ask for plain arrays."""

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        if not has_tracer((coef, domain, window)):
            super().__init__(coef, domain, window, symbol)
            return
        super().__init__([1.0], symbol=symbol)
        (self.coef,) = series(coef, trim=False)
        for name, given in (("domain", domain), ("window", window)):
            if given is not None:
                (given,) = series(given, trim=False)
                if given.shape[0] != 2:
                    raise ValueError(f"{name.capitalize()} has wrong number of elements.")
                setattr(self, name, given)

    def __call__(self, arg):
        return self._val(mapdomain(arg, self.domain, self.window), self.coef)

    def __truediv__(self, other):
        if isinstance(other, Tracer) and not other.ndim:
            return self.__class__(self.coef / other, self.domain, self.window, self.symbol)
        return super().__truediv__(other)

    def roots(self):
        """As NumPy's."""
        return mapdomain(self._roots(self.coef), self.window, self.domain)

    def trim(self, tol=0):
        """As NumPy's."""
        return self.__class__(trimcoef(self.coef, tol), self.domain, self.window, self.symbol)

    def mapparms(self):
        """As NumPy's."""
        return mapparms(self.domain, self.window)

    @classmethod
    def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        """As NumPy's."""
        if not has_tracer((x, y, w, domain, window)):
            return super().fit(x, y, deg, domain, rcond, full, w, window, symbol)
        if domain is None:
            domain = getdomain(x)
            same = np.equal(domain[0], domain[1])
            domain = domain + np.where(same, np.array([-1.0, 1.0], domain.dtype), np.zeros(2, domain.dtype))
        elif isinstance(domain, list) and not domain:
            domain = cls.domain
        window = cls.window if window is None else window
        found = cls._fit(mapdomain(x, domain, window), y, deg, w=w, rcond=rcond, full=full)
        if not full:
            return cls(found, domain, window, symbol)
        return cls(found[0], domain, window, symbol), found[1]

    @classmethod
    def fromroots(cls, roots, domain=(), window=None, symbol="x"):
        """As NumPy's."""
        if not has_tracer((roots, domain, window)):
            return super().fromroots(roots, list(domain) if domain == () else domain, window, symbol)
        (roots,) = series(roots, trim=False)
        if domain is None:
            domain = getdomain(roots)
        elif isinstance(domain, (list, tuple)) and not domain:
            domain = cls.domain
        window = cls.window if window is None else window
        offset, scale = mapparms(domain, window)
        coef = cls._fromroots(offset + scale * roots) / scale ** roots.shape[0]
        return cls(coef, domain, window, symbol)
