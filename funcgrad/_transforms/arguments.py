"""What a transform is given: which arguments it is for, and whether their leaves are numbers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.source import stacklevel
from funcgrad._core.tracer import Trace, Tracer
from funcgrad._core.types import ShapeDtypeStruct, dtype_of, float0, is_unlike_array, shape_of, type_of
from funcgrad._interpreters.calls import closed_over

Argnums = int | str | tuple[int, ...] | tuple[str, ...]

_FLOATS = frozenset((float, np.float64, np.float32, complex, np.complex128))


def name_of(f: Callable) -> str:
    """What error messages call a function."""
    return getattr(f, "__qualname__", None) or repr(f)


def tell_cause(error: BaseException, trace: Trace) -> None:
    """Add to an error of NumPy's or SciPy's what the refusal said that it was made of."""
    if isinstance(error, errors.FuncgradError):
        return
    seen, cause = set(), error.__cause__ or error.__context__
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        note = f"{type(cause).__name__}: {cause}"
        if isinstance(cause, errors.FuncgradError) and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
            return
        cause = cause.__cause__ or cause.__context__
    if trace.refused is not None:  # C code may lose the error that a callback raised
        error.add_note(f"Before, something was refused: {trace.refused[2]}")


def warn_of_refusal(trace: Trace, f: Callable) -> None:
    """Say that a function went on after something was refused to it, perhaps without a derivative."""
    if trace.refused is not None:
        what, where, _ = trace.refused
        warnings.warn(
            f"{name_of(f)} caught the error that refused {what} on a traced value, at {where}, and went on: "
            "its derivative lacks whatever that value would have led to. Look at the `except` around that "
            "line; stop_gradient(x) is the plain value, if a constant is meant.",
            errors.RefusalCaughtWarning,
            stacklevel=stacklevel(),
        )


def wraps(f: Callable, transform: str) -> Callable:
    """Give a transformed function the name and documentation of the function."""

    def decorate(run):
        run.__wrapped__ = f  # for its signature; `functools.wraps` takes three times as long
        run.__doc__ = f.__doc__
        try:
            run.__module__ = f.__module__
            run.__name__ = f"{transform}_{f.__name__}"
            run.__qualname__ = f"{transform}({name_of(f)})"
        except AttributeError:  # partial objects and callable instances have no names
            pass
        return run

    return decorate


class Chosen:
    """The arguments of one call that are transformed, as one tree, and the call without them.

    ``tree`` is the argument itself for an int or a name, a tuple for a tuple of ints, a dict for a
    tuple of names. ``call(tree)`` calls the function with these arguments in their places.
    """

    __slots__ = ("tree", "label", "_f", "_argnums", "_args", "_kwargs", "_places")

    def __init__(self, f: Callable, argnums: Argnums, args: tuple, kwargs: dict):
        self._f, self._argnums, self._args, self._kwargs = f, argnums, args, kwargs
        if type(argnums) is int and 0 <= argnums < len(args):  # nearly every call
            self._places = argnums
            self.tree = args[argnums]
            return
        single = not isinstance(argnums, (tuple, list))
        places = tuple(self._place(n) for n in ((argnums,) if single else argnums))
        if len(set(places)) < len(places):
            raise errors.RepeatedArgumentError(argnums, name_of(f))
        values = [kwargs[p] if isinstance(p, str) else args[p] for p in places]
        if single:
            (self._places,), (self.tree,) = places, values
        elif argnums and all(isinstance(n, str) for n in argnums):
            self._places, self.tree = dict(zip(argnums, places)), dict(zip(argnums, values))
        else:
            self._places, self.tree = places, tuple(values)

    def _place(self, n: int | str) -> int | str:
        """Where an argument stands in the call: its position, or its keyword."""
        count = len(self._args)
        if isinstance(n, str):
            names = parameter_names(self._f)
            if n in self._kwargs:
                return n
            if n in names and names.index(n) < count:
                return names.index(n)
            raise errors.ArgnumsError(self._argnums, name_of(self._f), count, names)
        return place_of(n, count, self._argnums, self._f)

    def arrays(self) -> list[np.ndarray]:
        """The arrays that the function is given, and those that it closes over or has as attributes."""
        own = getattr(self._f, "__self__", self._f)
        held = closed_over([self._f, *getattr(own, "__dict__", {}).values()])
        return [x for x in (*tree.leaves((self._args, self._kwargs)), *held) if type(x) is np.ndarray]

    def call(self, chosen: Any) -> Any:
        args, kwargs, places = list(self._args), self._kwargs, self._places
        if type(places) is int:
            args[places] = chosen
            return self._f(*args, **kwargs)
        if isinstance(places, str):
            pairs = [(places, chosen)]
        elif isinstance(places, dict):
            pairs = [(place, chosen[name]) for name, place in places.items()]
        else:
            pairs = list(zip(places, chosen))
        if any(isinstance(p, str) for p, _ in pairs):
            kwargs = dict(kwargs)
        for place, value in pairs:
            if isinstance(place, str):
                kwargs[place] = value
            else:
                args[place] = value
        return self._f(*args, **kwargs)

    def path(self, index: int) -> str:
        """The path of a leaf of `tree`, as error messages name it: ``arg[0]['w']``, ``w.bias``."""
        places = self._places
        if isinstance(places, dict):
            labelled = [(name, self.tree[name]) for name in sorted(places)]
        elif isinstance(places, tuple):
            labelled = list(zip(map(_label, places), self.tree))
        else:
            named = isinstance(self._argnums, str)
            labelled = [(self._argnums if named else _label(places), self.tree)]
        paths = [label + path for label, x in labelled for path in tree.leaf_paths(tree.structure(x))]
        return paths[index]


def _label(place: int | str) -> str:
    return place if isinstance(place, str) else f"arg[{place}]"


def place_of(n: Any, count: int, argnums: Any, f: Callable, what: str = "argnums") -> int:
    """The position among `count` arguments that an entry of `argnums` stands for."""
    if not hasattr(n, "__index__") or not -count <= int(n) < count:
        raise errors.ArgnumsError(argnums, name_of(f), count, what=what)
    return int(n) % count


def argument_paths(treedef: tree.TreeDef) -> list[str]:
    """The paths of the leaves of ``(args, kwargs)``, as error messages name them."""
    return [
        f"arg{path[3:]}" if path.startswith("[0]") else f"kwargs{path[3:]}"
        for path in tree.leaf_paths(treedef)
    ]


def parameter_names(f: Callable) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return tuple(p.name for p in parameters if p.kind in kinds)


def differentiable_leaf(x: Any, path: Callable[[], str], allow_int: bool = False) -> Any | None:
    """A leaf as the value of a tracer; None for an integer, which is left as it is.

    Raises:
        InputTypeError: it is no number, or an integer that is not allowed.
    """
    kind = type(x)
    if kind in _FLOATS or (kind is np.ndarray and x.dtype.kind in "fc"):
        return x
    if isinstance(x, Tracer):
        if x._trace.ended:
            x._trace.refuse("a transform")
        if x.dtype.kind in "fc":
            return x
    elif kind is not np.ndarray and not isinstance(x, (np.generic, bool, int)):
        if isinstance(x, (float, complex)):  # a subclass
            return float(x) if isinstance(x, float) else complex(x)
        if not isinstance(x, np.ndarray):
            what = f"{x!r}" if isinstance(x, str) else f"of type {kind.__name__}"
            raise errors.InputTypeError(
                path(), what, "which is no number and no registered container",
                "Pass arrays and numbers; leave other arguments out (argnums, static_argnums, in_axes=None), "
                "or register their class with funcgrad.tree.register.",
            )  # fmt: skip
        if is_unlike_array(x) or x.dtype.kind not in "fciub":
            raise errors.InputTypeError(
                path(), f"of type {kind.__name__}", "whose operations differ from an array's",
                "Pass a plain array: np.asarray(x), or x.filled(value) for a masked array.",
            )  # fmt: skip
        return differentiable_leaf(np.asarray(x), path, allow_int)
    dtype = dtype_of(x)
    if dtype.kind in "fc":
        return x
    if dtype.kind not in "iub":
        raise errors.InputTypeError(
            path(), f"of dtype {dtype}", "which has no derivative",
            "Pass floating-point or complex numbers: x.astype(float).",
        )  # fmt: skip
    if allow_int:
        return None
    shown = f"an array of {dtype}" if shape_of(x) else f"of type {kind.__name__}"
    cure = f"Write {float(x)}" if kind in (int, bool) and abs(x) < 2**53 else "Pass x.astype(float)"
    raise errors.InputTypeError(
        path(), shown, "which has no derivative", f"{cure}, or allow_int=True for a float0 result."
    )  # fmt: skip


def array_leaf(x: Any, path: Callable[[], str]) -> Any:
    """A leaf that may be any number, an integer too."""
    value = differentiable_leaf(x, path, allow_int=True)
    return x if value is None else value


def output_leaf(x: Any, f: Callable) -> Any:
    """A leaf of a function's output: a number, an array or a tracer.

    Raises:
        OutputTypeError: it is none of these.
    """
    if isinstance(x, (np.ndarray, np.generic, float, int, complex, Tracer)):
        dtype = dtype_of(x)
        if dtype.kind in "fciub" or dtype == float0:
            return x
        found = f"an array of dtype {dtype}"
    else:
        found = f"{x!r}" if isinstance(x, str) else f"a value of type {type(x).__name__}"
    raise errors.OutputTypeError(
        name_of(f), found,
        "Return arrays, numbers, or containers of them; other results go with has_aux=True.",
    )  # fmt: skip


def zeros(like: Any) -> Any:
    """A zero of the type of a value; of dtype float0 for an integer."""
    shape, dtype = shape_of(like), dtype_of(like)
    if dtype.kind in "iub":
        return np.zeros(shape, float0)
    return np.zeros(shape, dtype) if shape else dtype.type(0)


def split_aux(out: Any, has_aux: bool, f: Callable) -> tuple[Any, Any]:
    """The output and the auxiliary data."""
    if not has_aux:
        return out, None
    if not (isinstance(out, (tuple, list)) and len(out) == 2):
        found = f"{len(out)} values" if isinstance(out, (tuple, list)) else f"a {type(out).__name__}"
        raise errors.AuxError(name_of(f), found)
    return out[0], out[1]


def describe_type(x: Any) -> str:
    """A value's type, for an error message: ``an array of shape (3,)`` or its class."""
    if isinstance(x, (np.ndarray, np.generic, float, int, complex, Tracer, ShapeDtypeStruct)):
        t = type_of(x)
        return f"a value of shape {t.shape} and dtype {t.dtype}"
    return f"a {type(x).__name__}"
