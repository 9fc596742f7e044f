"""SciPy's namespaces, name for name, with derivatives where there are any.

SciPy's functions know no protocol, so a namespace here hands out each of them in a wrapper that looks for
traced values among the arguments. A submodule registers its implementations by
``@implements(scipy.linalg.solve)``, as NumPy's are, and takes the wrappers for its names:

    globals().update(mirror(scipy.linalg, INSTEAD))
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._interpreters.calls import closed_over
from funcgrad._primitives.kinds import IMPLEMENTATIONS


def mirror(
    module: ModuleType,
    instead: Mapping[str, str] | None = None,
    calling: Mapping[str, str] | None = None,
    classes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The public names of a SciPy module, for the namespace that lays derivatives over it.

    On plain values a function is SciPy's own. On traced ones it is carried out by what `IMPLEMENTATIONS` has
    for it, and refused if that is nothing. Ufuncs, which NumPy's protocol hands on by itself, constants and
    classes are SciPy's; a class that is not laid over refuses a traced value as it converts it to an array.

    Args:
        module: SciPy's.
        instead: for functions without derivative what to write in their place, as a sentence.
        calling: the same for functions that call functions, where one of these closes over traced values.
        classes: the same for classes that are to refuse traced values by name.
    """
    instead, calling = instead or {}, calling or {}

    def mirrored(name: str, value: Any) -> Any:
        if classes and name in classes:
            return _refusing(value, module.__name__, name, classes[name])
        if not is_function(value):
            return value
        return _on_tracers(value, f"{module.__name__}.{name}", instead.get(name), calling.get(name))

    names = {name: mirrored(name, value) for name, value in vars(module).items() if not name.startswith("_")}
    return {**names, "__getattr__": functools.partial(getattr, module)}  # submodules may be loaded later


def is_function(value: Any) -> bool:
    """Whether it is a function: no class, no ufunc, no object that happens to be callable."""
    return callable(value) and hasattr(value, "__name__") and not isinstance(value, (type, np.ufunc))


def has_tracer(x: Any) -> bool:
    """Whether a traced value is among these arguments, in containers nested to any depth."""
    if isinstance(x, Tracer):
        return True
    if isinstance(x, (list, tuple, set)):
        return any(map(has_tracer, x))
    if isinstance(x, dict):
        return any(map(has_tracer, x.values()))
    return isinstance(x, np.ndarray) and x.dtype.kind == "O" and any(map(has_tracer, x.flat))


def refuse(name: str, instead: str | None = None) -> None:
    """Raise since a function has no derivative here; `name` as in ``scipy.linalg.schur``."""
    raise errors.UnsupportedFunctionError(name, describe(*caller(2)), instead)


def refuse_argument(function: str, argument: str, cure: str) -> None:
    """Raise since a function has no derivative with this argument."""
    raise errors.UnsupportedArgumentError(function, argument, describe(*caller(2)), cure)


def _on_tracers(function: Callable, name: str, instead: str | None, calling: str | None) -> Callable:
    """SciPy's function, that looks for traced values among its arguments first."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if has_tracer(args) or (kwargs and has_tracer(kwargs)):
            implementation = IMPLEMENTATIONS.get(function)
            if implementation is None:
                refuse(name, instead)
            return implementation(*args, **kwargs)
        if calling is None:
            return function(*args, **kwargs)
        given = args, kwargs
        if closed_over([args, kwargs]):
            args, kwargs = tuple(map(_watched, args)), {k: _watched(v) for k, v in kwargs.items()}
        try:
            return function(*args, **kwargs)
        except Exception as error:
            # compiled code puts an error of its own in the place of one that its callbacks raise
            if not isinstance(error, errors.ConcretizationError) and not any(
                map(_has_raised, [*args, *kwargs.values()])
            ):
                raise
            implementation = IMPLEMENTATIONS.get(function)
            if getattr(implementation, "takes_closures", False):
                args, kwargs = given
                return implementation(*args, **kwargs)
            place = describe(*caller(2))
            argument = "a function that closes over traced values"
            raise errors.UnsupportedArgumentError(name, argument, place, calling) from error

    call.__module__, _, call.__qualname__ = f"funcgrad.{name}".rpartition(".")
    call.__doc__ = without_examples(function.__doc__)
    return call


def without_examples(doc: str | None) -> str | None:
    """SciPy's documentation but for its examples, which would be tests of ours."""
    return doc and re.split(r"\n *Examples\n *-+\n", doc)[0].replace(">>> ", "")


def _refusing(cls: type, module: str, name: str, instead: str) -> type:
    """A class of SciPy's that refuses traced values, when it is made and when it is called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if has_tracer((args, kwargs)):
            refuse(f"{module}.{name}", instead)
        super(made, self).__init__(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if has_tracer((args, kwargs)):
            refuse(f"{module}.{name}", instead)
        return super(made, self).__call__(*args, **kwargs)

    methods = {
        "__init__": __init__,
        "__doc__": without_examples(cls.__doc__),
        "__module__": f"funcgrad.{module}",
    }
    if any("__call__" in vars(base) for base in cls.__mro__):
        methods["__call__"] = __call__
    made = type(cls)(name, (cls,), methods)
    return made


def _watched(value: Any) -> Any:
    """A function that raises where it gives back a traced value, of which SciPy might drop the derivative."""
    if not isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return value

    @functools.wraps(value)
    def watched(*args: Any, **kwargs: Any) -> Any:
        out = value(*args, **kwargs)
        if has_tracer(out):
            watched.raised = True
            raise errors.ConcretizationError("SciPy's reading a result", "", describe(*caller()))
        return out

    return watched


def _has_raised(value: Any) -> bool:
    return getattr(value, "raised", False) is True
