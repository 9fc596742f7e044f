"""Calls a public callable with traced arguments, one after the other, and says what comes of it.

A derivative that comes out is held against central differences in the plain callable; so is one that does
not come out, for a value that depends on an argument and carries no derivative is the worst of all outcomes.
"""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from funcgrad import errors, jvp, vjp
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import float0

STEP = 1e-6
RTOL = 2e-5

# Outcomes, from best to worst.
DIFFERENTIABLE, CONSTANT, REFUSED, WRONG = "differentiable", "constant", "refused", "wrong"
#: No verdict: there is a kink, or noise, where the differences are taken.
UNKNOWN = "unknown"


class Outcome(NamedTuple):
    """What came of a call with one traced argument.

    Attributes:
        kind: one of the four above.
        note: the error's message, or what is wrong.
    """

    kind: str
    note: str = ""


class Call(NamedTuple):
    """Arguments to call something with. Arrays of floats and complex numbers, and lists of them, are traced.

    Attributes:
        args, kwargs: the arguments.
        through: None, or ``through(callable, *args, **kwargs)``, where there is more to do than to call it.
        suits: whether it is known that the plain callable takes them: it is then not called if it refuses a
            traced argument.
    """

    args: tuple
    kwargs: dict = {}
    through: Callable | None = None
    suits: bool = False


class NotSuitable(Exception):
    """The plain callable does not take these arguments, or its result is not the same twice."""


def probe(f: Callable, call: Call) -> dict[Any, Outcome]:
    """For each argument that can be traced, what comes of tracing it.

    Raises:
        NotSuitable: the plain callable does not take these arguments.
    """
    if call.through is not None:
        f = functools.partial(call.through, f)
    with quietly():
        plain = None
        if not call.suits:
            plain = _run(f, call)
            if not _same(plain, _run(f, call)):
                raise NotSuitable("another result each time")
        places = [*range(len(call.args)), *call.kwargs]
        return {place: _trace(f, call, place, plain) for place in places if _floats(_at(call, place))}


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without warnings, without output."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _trace(f: Callable, call: Call, place: Any, plain: list | None) -> Outcome:
    xs = _floats(_at(call, place))
    random = np.random.default_rng(3)
    directions = tuple(_direction(x, random) for x in xs)
    seen: list[Any] = []

    def g(*xs):
        seen[:] = _run(f, _with(call, place, list(xs)))
        return tuple(x for x in seen if _is_float(x))

    try:
        values, tangents = jvp(g, xs, directions)
    except Exception as error:
        return _refusal(error)
    plain = _run(f, call) if plain is None else plain
    traced = any(isinstance(x, Tracer) for x in seen)
    found = [np.asarray(concrete(x)) if isinstance(x, Tracer) else x for x in seen]
    if not _same(plain, found, rtol=1e-9):
        return Outcome(WRONG, "its value is another one when it is traced")
    expected = _differences(f, call, place, xs, directions, [np.shape(x) for x in plain if _is_float(x)])
    if expected is None:
        return Outcome(UNKNOWN, "it is not smooth where it is probed")
    for value, t, e in zip(values, tangents, expected):
        t = np.zeros(np.shape(value)) if getattr(t, "dtype", None) == float0 else np.asarray(t)
        if not _near(t, e):
            what = "wrong" if traced else "dropped without a word"
            return Outcome(WRONG, f"the derivative is {what}: {_short(t)}, by differences {_short(e)}")
    if not traced:
        return Outcome(CONSTANT)
    return _reverse(g, xs, directions, tangents)


def _refusal(error: Exception) -> Outcome:
    """An error of funcgrad's, or one that was raised while it was handled, says what to write instead."""
    first = None
    while error is not None:
        if isinstance(error, errors.FuncgradError):
            return Outcome(REFUSED, f"{type(error).__name__}: {error}")
        if first is None and not isinstance(error, NotSuitable):
            first = error
        error = error.__cause__ or error.__context__
    return Outcome(WRONG, f"{type(first).__name__}, which is no error of funcgrad's: {first}")


def _reverse(g, xs, directions, tangents) -> Outcome:
    """Whether the cotangents are the transpose of the tangents."""
    try:
        out, pull = vjp(g, *xs)
        random = np.random.default_rng(5)
        seeds = tuple(_direction(np.asarray(o), random) for o in out)
        cotangents = pull(seeds)
    except Exception as error:
        return Outcome(WRONG, f"forward mode works, reverse mode does not: {type(error).__name__}: {error}")
    forward = sum(np.sum(np.asarray(s) * np.asarray(t)) for s, t in zip(seeds, tangents) if t.dtype != float0)
    back = sum(np.sum(c * d) for c, d in zip(cotangents, directions))
    if not _near(np.real(back), np.real(forward)):
        return Outcome(WRONG, f"reverse mode gives {back}, forward mode {forward}")
    return Outcome(DIFFERENTIABLE)


def _differences(
    f: Callable, call: Call, place: Any, xs: tuple, directions: tuple, shapes: list
) -> list | None:
    """Central differences along the directions; None where two steps disagree: a kink, a jump, or noise."""
    found = []
    for step in (STEP, 4 * STEP):
        up, down = (
            [
                x for x in _run(f, _with(call, place, [x + s * step * d for x, d in zip(xs, directions)]))
                if _is_float(x)
            ]
            for s in (1, -1)
        )  # fmt: skip
        if not all([np.shape(a) for a in result] == shapes for result in (up, down)):
            return None
        found.append([(np.asarray(a) - np.asarray(b)) / (2 * step) for a, b in zip(up, down)])
    if not all(_near(a, b) for a, b in zip(*found)):
        return None
    return found[0]


# ---- arguments and results -----------------------------------------------------------------


def _run(f: Callable, call: Call) -> list:
    """The leaves of the result, and the arguments that the call changed."""
    args, kwargs = _copied(call.args), _copied(call.kwargs)
    before = [concrete(x) for x in _copied((*args, *kwargs.values()))]
    try:
        out = f(*args, **kwargs)
        leaves = list(_leaves(out))
    except Exception as error:
        raise NotSuitable(str(error)) from error
    for old, new in zip(before, [*args, *kwargs.values()]):
        if isinstance(new, (np.ndarray, Tracer)) and not _same([old], [concrete(new)]):
            leaves.append(new)
    return leaves


def _copied(value: Any) -> Any:
    """The same arguments with arrays of their own."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_copied, value))
    if isinstance(value, dict):
        return {k: _copied(v) for k, v in value.items()}
    return value.copy() if type(value) is np.ndarray else value


def _leaves(value: Any, depth: int = 4) -> Iterator[Any]:
    """What is in a result, in the order it stands there."""
    if isinstance(value, np.flatiter):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and depth:
        value = value.ravel().tolist()
    if (
        isinstance(value, (Tracer, np.ndarray, np.generic, str, bytes, int, float, complex, type))
        or not depth
    ):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _leaves(part, depth - 1)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part, depth - 1)
    elif isinstance(value, Iterator):
        yield from _leaves([part for _, part in zip(range(9), value)], depth - 1)
    elif hasattr(value, "__dict__"):
        for part in vars(value).values():
            yield from _leaves(part, depth - 1)


def _is_float(x: Any) -> bool:
    if isinstance(x, (Tracer, np.ndarray, np.generic)):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex))


def _at(call: Call, place: Any) -> Any:
    return call.kwargs[place] if isinstance(place, str) else call.args[place]


def _floats(argument: Any) -> tuple:
    """The arrays of floats in an argument that is one, or a list of them."""
    if isinstance(argument, list):
        return tuple(x for part in argument for x in _floats(part))
    if type(argument) is float or (isinstance(argument, np.ndarray) and argument.dtype.kind in "fc"):
        return (np.asarray(argument)[()],)
    return ()


def _with(call: Call, place: Any, xs: list) -> Call:
    """The call with other floats in one argument."""
    xs = iter(xs)

    def replaced(argument):
        if isinstance(argument, list):
            return [replaced(part) for part in argument]
        return next(xs) if _floats(argument) else argument

    if isinstance(place, str):
        return call._replace(kwargs={**call.kwargs, place: replaced(call.kwargs[place])})
    return call._replace(args=tuple(replaced(a) if i == place else a for i, a in enumerate(call.args)))


def _direction(x: Any, random: np.random.Generator) -> Any:
    d = random.uniform(0.5, 1.0, np.shape(x)) * (x != 0)  # what is exactly 0 may stand for nothing
    if np.ndim(x) == 2 and np.shape(x)[0] == np.shape(x)[1]:
        d = (d + d.T) / 2  # symmetric matrices stay so
    if np.asarray(x).dtype.kind == "c":
        d = d * (1 + 0.3j)
    return np.asarray(d, np.asarray(x).dtype)[()]


def _same(a: list, b: list, rtol: float = 0.0) -> bool:
    """Whether two results have the same leaves; objects, which have no values, are not looked at."""
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if _is_float(x) and _is_float(y):
            if np.shape(x) != np.shape(y) or not np.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=True):
                return False
        elif isinstance(x, (np.ndarray, np.generic, int)) and x.__class__ is y.__class__:
            if not np.array_equal(x, y):
                return False
    return True


def _near(a: Any, b: Any) -> bool:
    """Whether they agree, where the second, which may be the difference of infinities, is a number at all."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    a = np.where(np.isnan(b), b, a)
    scale = max(1.0, np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=RTOL, atol=RTOL * scale, equal_nan=True))


def _short(x: Any) -> str:
    return np.array2string(np.asarray(x).ravel()[:4], precision=6)
