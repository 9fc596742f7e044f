"""Which public callables each sample calls on traced values, seen while it runs.

Python's profiler shows every call. One whose caller is neither NumPy, SciPy nor funcgrad is the sample's own;
NumPy's functions and ufuncs arrive in the protocols, everything else by its code.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from samples.table import Sample

from funcgrad import jvp
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, is_differentiable
from funcgrad.numpy import protocol
from surface.names import Entry, tracer_attributes

_LIBRARIES = ("numpy", "scipy", "funcgrad")


class Use(NamedTuple):
    """A sample that calls a callable, and whether what it got back was traced."""

    sample: Sample
    traced: bool


def uses(samples: Iterable[Sample], entries: Iterable[Entry]) -> dict[Any, list[Use]]:
    """For each entry's value the samples that call it on traced values."""
    known = _Callables(entries)
    found: dict[Any, dict[str, Use]] = defaultdict(dict)
    for sample in samples:
        for value, traced in calls(sample, known):
            before = found[value].get(sample.id)
            found[value][sample.id] = Use(sample, traced or (before is not None and before.traced))
    return {value: list(of.values()) for value, of in found.items()}


def calls(sample: Sample, known: _Callables) -> list[tuple[Any, bool]]:
    """What a sample calls on traced values, and whether each result is traced."""
    places = [i for i, x in enumerate(sample.args) if is_differentiable(dtype_of(np.asarray(x)))]
    floats = tuple(np.asarray(sample.args[i])[()] for i in places)
    found, open_frames = [], {}

    def f(*xs):
        args = list(sample.args)
        for i, x in zip(places, xs):
            args[i] = x
        sys.setprofile(watch)
        try:
            return sample.f(*args)
        finally:
            sys.setprofile(None)

    def watch(frame, event, result):
        if event == "call" and not _of_library(frame.f_back):
            value = known.called(frame)
            if value is not None:
                open_frames[frame] = value
        elif event == "return" and frame in open_frames:
            found.append((open_frames.pop(frame), holds_tracer(result)))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # a sample that raises fails in test_rules
            jvp(f, floats, tuple(np.ones_like(x) for x in floats))
    return found


def _of_library(frame) -> bool:
    """Whether code of NumPy, SciPy or funcgrad made the call, and not a sample."""
    name = frame.f_globals.get("__name__", "").partition(".")[0]
    return name in _LIBRARIES


def holds_tracer(value: Any, depth: int = 3) -> bool:
    """Whether a traced value is in it, or in what it holds."""
    if isinstance(value, Tracer):
        return True
    if not depth or isinstance(value, (str, bytes, type)):
        return False
    if isinstance(value, (tuple, list)):
        return any(holds_tracer(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(holds_tracer(v, depth - 1) for v in value.values())
    return hasattr(value, "__dict__") and holds_tracer(vars(value), depth - 1)


class _Callables:
    """Finds the public callable that a frame runs."""

    def __init__(self, entries: Iterable[Entry]):
        self.by_code: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
        self.objects: dict[int, Any] = {}
        for entry in entries:
            self._add(entry.call, entry.value)
            if isinstance(entry.value, tuple) and not isinstance(entry.value[0], (type, np.ufunc)):
                self.objects[id(entry.value[0])] = entry.value[0]  # a distribution
            if isinstance(entry.value, type):
                self._add(entry.value.__init__, entry.value)
                self._add(entry.value.__new__, entry.value)
        for function, value in tracer_attributes():
            self._add(function, value)

    def _add(self, function: Any, value: Any) -> None:
        if hasattr(function, "__self__"):  # a method of an object
            function = function.__func__ if hasattr(function, "__func__") else None
        if hasattr(function, "__code__"):
            self.by_code[function.__code__].append((function, value))
        elif callable(function):
            self.objects[id(function)] = value

    def called(self, frame) -> Any:
        """The value of the entry that this frame runs on traced values; None if it is none."""
        code, names = frame.f_code, frame.f_locals
        if code is protocol.array_ufunc.__code__:
            ufunc, method = names["ufunc"], names["method"]
            return ufunc if method == "__call__" else (ufunc, method)
        if code is protocol.array_function.__code__:
            return names["function"]
        if not any(holds_tracer(names[n]) for n in names if n not in code.co_freevars):
            return None
        candidates = self.by_code.get(code, ())
        for function, value in candidates:
            if len(candidates) == 1 or _is_run(function, value, names):
                return value
        owner = names.get("self")
        owner = getattr(owner, "dist", owner)  # of a frozen distribution
        if id(owner) in self.objects:
            value = self.objects[id(owner)]
            method = names.get("name", code.co_name)  # of a method that is made when it is asked for
            return value if method == "__call__" else (value, method)
        return None


def _is_run(function: Any, value: Any, names: dict[str, Any]) -> bool:
    """Whether a frame with these names runs this one of several functions with the same code."""
    if isinstance(value, tuple) and "self" in names and names["self"] is value[0]:
        return True  # a method of this object
    cells = function.__closure__ or ()
    return bool(cells) and all(
        names.get(name, cell) is cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, cells)
    )
