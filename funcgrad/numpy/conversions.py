"""`np.asarray(x)` of a traced value: an error that says which function asked for it, and what to write."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import describe, is_internal
from funcgrad._core.tracer import Tracer

_FLOAT_CURE = (
    "Use NumPy's function for math's (np.sin(x), not math.sin(x)) and leave the conversion out, or write "
    "{} if a constant is meant. An array that traced values are put into is made by np.zeros_like(x), or "
    "np.zeros(shape, like=x), not np.zeros(shape); one of several is funcgrad.numpy.array([x, y]). Plain "
    "arrays' methods and generators of random numbers take none: write np.dot(a, x), not a.dot(x), and "
    "m + s * rng.normal(size=n)."
)
_INDEX_CURE = "To read a plain array at traced indices, write funcgrad.numpy.take(a, x, axis=0)."

#: Methods of NumPy's objects in which conversions happen, and the objects' names.
_OBJECTS = {
    "AxisConcatenator.__getitem__": "r_", "nd_grid.__getitem__": "mgrid", "vectorize.__call__": "vectorize",
    "ndenumerate.__init__": "ndenumerate",
}  # fmt: skip


def refuse_array(x: Any) -> None:
    """Raise since a traced value was asked for as a plain array."""
    if x._trace.ended:
        x._trace.refuse("np.asarray")
    function, place = asked_by(sys._getframe(2))
    if function is None and x.dtype.kind in "iub":
        _refuse(x, "a[x], or np.asarray(x),", _INDEX_CURE, place)
    cure = _cure(function, "np.asarray(stop_gradient(x))")
    _refuse(x, _in_function("np.asarray(x)", function), cure, place)


def refuse_number(x: Any, conversion: str) -> None:
    """Raise since a traced value was asked for as a Python number, by ``float(x)`` or its like."""
    if x._trace.ended:
        x._trace.refuse(conversion.partition("(")[0])
    function, place = asked_by(sys._getframe(2))
    cure = _cure(function, conversion.replace("(x)", "(stop_gradient(x))"))
    _refuse(x, _in_function(conversion, function), cure, place)


_trying: contextvars.ContextVar[bool] = contextvars.ContextVar("trying", default=False)


@contextlib.contextmanager
def trying() -> Iterator[None]:
    """The context of a call that may be refused, since there is another way: no refusal is remembered."""
    token = _trying.set(True)
    try:
        yield
    finally:
        _trying.reset(token)


def _refuse(x: Any, what: str, cure: str, place: str) -> None:
    """Raise, and remember it: code in between may catch the error, or make another of it."""
    error = errors.ConcretizationError(what, cure, place)
    while isinstance(x, Tracer) and not _trying.get():
        x._trace.refused = (what, place, str(error))
        x = getattr(x, "value", None)
    try:
        raise error
    finally:
        del error  # whose traceback holds this frame: no cycle


def refuse_write(what: str, cure: str | None = None, depth: int = 2) -> None:
    """Raise since something would be written in place, maybe by a function of NumPy's."""
    function, place = asked_by(sys._getframe(depth))
    if function is not None:
        what = f"{what}, in {_shown(function)},"
        cure = cure_by_function(function) or (
            "NumPy's function works in place. Give it plain values there, or write it with supported ones."
        )
    raise errors.InPlaceError(what, place, cure)


def _in_function(conversion: str, function: str | None) -> str:
    return conversion if function is None else f"{conversion} in {_shown(function)}"


def _cure(function: str | None, cut: str) -> str:
    return cure_by_function(function) or _cure_by_module() or _FLOAT_CURE.format(cut)


def cure_by_function(function: str | None) -> str | None:
    """What to write in place of a function that no protocol reaches, if there is something."""
    instead = None if function is None else _our(function)
    return instead and (
        f"No protocol of NumPy's reaches {_shown(function)} here. Write {instead}, which takes traced "
        "values, or stop_gradient(x) if a constant is meant."
    )


def _cure_by_module() -> str | None:
    """What to import in place of the module of SciPy's that asked, by a method or a private function."""
    frame = sys._getframe(3)
    while frame is not None:
        library, *path = frame.f_globals.get("__name__", "").split(".")
        if library == "scipy" and path and hasattr(importlib.import_module("funcgrad.scipy"), path[0]):
            return (
                f"No protocol of NumPy's reaches scipy.{path[0]} here. Take the function or class of the "
                f"same name from funcgrad.scipy.{path[0]}, or write stop_gradient(x) if a constant is meant."
            )
        if library not in ("scipy", "numpy", "funcgrad"):
            return None
        frame = frame.f_back
    return None


def _shown(function: str) -> str:
    return function.replace("numpy.", "np.", 1) if function.startswith("numpy.") else function


def asked_by(frame: FrameType | None) -> tuple[str | None, str]:
    """The public function of NumPy's or SciPy's in which a frame is, and the place that called it."""
    function = None
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("numpy", "scipy"):
        function, frame = _public_name(frame) or function, frame.f_back
    while frame is not None and is_internal(frame.f_code.co_filename):  # a function of ours that calls it
        frame = frame.f_back
    return function, describe(None, 0) if frame is None else describe(frame.f_code, frame.f_lasti)


def _public_name(frame: FrameType) -> str | None:
    """What a frame of a library is called by its users; None of a private function."""
    module, name = frame.f_globals["__name__"], frame.f_code.co_qualname
    if name in _OBJECTS:
        return "numpy.c_" if frame.f_locals.get("self") is np.c_ else f"numpy.{_OBJECTS[name]}"
    if name.startswith("ABCPolyBase."):
        cls = frame.f_locals.get("self", frame.f_locals.get("cls"))
        return f"numpy.polynomial.{(cls if isinstance(cls, type) else type(cls)).__name__}"
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        owner = ".".join(parts[:length])
        function = getattr(sys.modules.get(owner), name, None)
        if getattr(inspect.unwrap(function), "__code__", None) is frame.f_code and "._" not in owner:
            return f"{owner}.{name}"
    return None


def _our(function: str) -> str | None:
    """The function of funcgrad's that stands for one of NumPy's or SciPy's, if there is one."""
    module, _, name = function.rpartition(".")
    library, *path = module.split(".")
    try:
        owner = importlib.import_module(f"funcgrad.{library}")
        for part in path:
            owner = getattr(owner, part)
    except (ImportError, AttributeError):
        return None
    own, other = getattr(owner, name, None), getattr(sys.modules[module], name, None)
    return f"funcgrad.{function}" if own is not None and own is not other else None


# ---- series of several columns -------------------------------------------------------------

_FOLDER = os.path.join(os.path.dirname(np.__file__), "polynomial")

#: The files of `numpy.polynomial`'s bases.
SERIES = frozenset(
    os.path.join(_FOLDER, f"{name}.py")
    for name in ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
)


def check_series(frame: FrameType) -> None:
    """Refuse a traced array in `chebval` and its like, if there are several columns of coefficients.

    NumPy asks there whether x is an `ndarray`, takes a traced one for a number, and would pair its entries
    with the columns.
    """
    names = frame.f_locals
    x, tensor = names["x"], names.get("tensor")
    if "r" in names:  # roots are always one axis of their own
        wrong = tensor or np.ndim(x) >= np.ndim(names["r"])
    else:
        wrong = tensor and np.ndim(names.get("c")) > 1
    if np.ndim(x) and wrong:
        name = f"polynomial.{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_name}"
        cure = f"NumPy takes it for a number. Write funcgrad.numpy.{name}, which takes traced values."
        place = describe(frame.f_back.f_code, frame.f_back.f_lasti)
        raise errors.UnsupportedArgumentError(name, "a traced array here", place, cure)
