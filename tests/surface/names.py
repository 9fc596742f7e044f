"""Every public callable, by the name that users call it by."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import funcgrad.numpy
from funcgrad._core.tracer import Tracer

POLYNOMIALS = ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e")
SCIPY = ("special", "linalg", "stats", "signal", "integrate", "interpolate", "ndimage", "fft", "optimize")
UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
DISTRIBUTION_METHODS = (
    "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "mean", "median", "var",
    "std", "entropy", "moment", "stats", "interval", "expect", "fit", "nnlf",
)  # fmt: skip

#: Methods of ndarray that are Python's own, and no operations on its entries.
OBJECT = {
    "array_finalize", "array_interface", "array_prepare", "array_priority", "array_struct", "array_wrap",
    "array_ufunc", "array_function", "array_namespace", "buffer", "class", "class_getitem", "delattr",
    "dir", "dlpack", "dlpack_device", "doc", "format", "getattribute", "getstate", "init",
    "init_subclass", "new", "reduce", "reduce_ex", "repr", "setattr", "setstate", "sizeof", "str",
    "subclasshook", "hash", "release_buffer",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A public callable.

    Attributes:
        space: the namespace, as its users write it: ``numpy.linalg``.
        name: the name in it; ``add.reduce`` of a ufunc's method, ``norm.pdf`` of a distribution's.
        call: the callable. An attribute of arrays is a function that reads it.
        value: what `record` recognises it by.
    """

    space: str
    name: str
    call: Callable
    value: Any

    @property
    def key(self) -> str:
        return f"{self.space}.{self.name}"


def public(module: Any) -> list[str]:
    """The names of a module's public callables; submodules and constants are none."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    return sorted({n for n in names if callable(getattr(module, n, None)) and n != "test"})


def _module(space: str, source: Any, names: list[str]) -> Iterator[Entry]:
    for name in names:
        value = getattr(source, name)
        yield Entry(space, name, value, value)


def _laid_over(space: str, theirs: str) -> Iterator[Entry]:
    """What a module of funcgrad's has in place of NumPy's."""
    try:
        ours, theirs = importlib.import_module(space), importlib.import_module(theirs)
    except ImportError:
        return iter(())
    names = [n for n in public(theirs) if getattr(ours, n, None) not in (None, getattr(theirs, n))]
    return _module(space, ours, names)


def _ufunc_methods() -> Iterator[Entry]:
    for name in public(np):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and ufunc.signature is None and name == ufunc.__name__:
            takes = [t.partition("->") for t in ufunc.types]
            for method in UFUNC_METHODS:
                if method in ("outer", "at"):
                    is_there = any("d" in t for t, _, _ in takes) and ufunc.nin >= 1 + (method == "outer")
                else:
                    is_there = ("dd", "->", "d") in takes
                if is_there and ufunc.nout == 1:
                    call = getattr(ufunc, method)
                    yield Entry("ufunc methods", f"{name}.{method}", call, (ufunc, method))


def _array_attributes() -> Iterator[Entry]:
    for name in sorted(dir(np.ndarray)):
        if name.startswith("_") and (not name.startswith("__") or name.strip("_") in OBJECT):
            continue
        if callable(getattr(np.ndarray, name)):
            call = _method(name)
        else:
            call = _attribute(name)
        yield Entry("ndarray", name, call, (np.ndarray, name))


def _method(name: str) -> Callable:
    def call(x, *args, **kwargs):
        return getattr(x, name)(*args, **kwargs)

    return call


def _attribute(name: str) -> Callable:
    return lambda x: getattr(x, name)


def _distributions(space: str, module: Any, theirs: Any) -> Iterator[Entry]:
    """The methods of objects such as ``scipy.stats.norm``, which compute."""
    for name in public(theirs):
        own = getattr(theirs, name)
        if not _is_distribution(own):
            continue
        value = getattr(module, name, own)
        for method in DISTRIBUTION_METHODS:
            slow = method in ("expect", "fit", "moment", "nnlf") and name not in ("norm", "gamma", "poisson")
            if hasattr(own, method) and not slow:
                yield Entry(space, f"{name}.{method}", _of(value, method), (value, method))


def _is_distribution(value: Any) -> bool:
    return hasattr(value, "rvs") and not isinstance(value, type)


def _of(value: Any, method: str) -> Callable:
    return lambda *args, **kwargs: getattr(value, method)(*args, **kwargs)


def entries() -> list[Entry]:
    """All of them, in the order of the page."""
    found = [*_module("numpy", np, public(np)), *_array_attributes(), *_ufunc_methods()]
    for name in ("linalg", "fft"):
        module = getattr(np, name)
        found += _module(f"numpy.{name}", module, public(module))
    found += _module("numpy.polynomial", np.polynomial, public(np.polynomial))
    for name in POLYNOMIALS:
        module = getattr(np.polynomial, name)
        names = [n for n in public(module) if n not in public(np.polynomial)]
        found += _module(f"numpy.polynomial.{name}", module, names)
    ours = [n for n in public(funcgrad.numpy) if getattr(funcgrad.numpy, n) is not getattr(np, n, None)]
    found += _module("funcgrad.numpy", funcgrad.numpy, ours)
    for name in ("polynomial", *(f"polynomial.{name}" for name in POLYNOMIALS)):
        found += _laid_over(f"funcgrad.numpy.{name}", f"numpy.{name}")
    for name in SCIPY:
        theirs = importlib.import_module(f"scipy.{name}")
        mirror = mirrored(name)
        for n in public(theirs):  # what a mirror lacks is used from SciPy
            if _is_distribution(getattr(theirs, n)):
                continue  # its methods are listed
            found += _module(f"scipy.{name}", mirror if hasattr(mirror, n) else theirs, [n])
        if mirror is not None:
            own = [n for n in getattr(mirror, "__all__", ()) if not hasattr(theirs, n)]
            found += _module(f"scipy.{name}", mirror, own)
        if name == "stats":
            found += _distributions("scipy.stats distributions", mirror or theirs, theirs)
    return found


def mirrored(name: str) -> Any:
    """The module of funcgrad.scipy of that name; None if SciPy's is used as it is."""
    try:
        return importlib.import_module(f"funcgrad.scipy.{name}")
    except ImportError:
        return None


def tracer_attributes() -> Iterator[tuple[Any, Any]]:
    """The functions that carry an array's methods, operators and attributes out on traced values."""
    classes = [Tracer]
    for kind in classes:
        classes += kind.__subclasses__()
        for name, value in vars(kind).items():
            function = value.fget if isinstance(value, property) else value
            if hasattr(np.ndarray, name) and hasattr(function, "__code__"):
                yield function, (np.ndarray, name)
