"""NumPy's protocols on tracers: one look-up in the table of implementations.

`np.sin(x)` and `x_array * x` arrive in ``__array_ufunc__``, `np.sum(x)` in ``__array_function__``; code
without tracers never comes here and pays nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import NO_PARAMS, Primitive
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.numpy.conversions import SERIES, check_series, refuse_write

#: Types of operands that are no tracers, as most are.
PLAIN = frozenset((np.ndarray, float, int, np.float64))

#: The operators of ufuncs.
SYMBOLS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.true_divide: "/", np.floor_divide: "//",
    np.remainder: "%", np.power: "**", np.matmul: "@",
}  # fmt: skip

#: (ufunc, method) -> implementation, for `np.add.reduce` and its like.
UFUNC_METHODS: dict[tuple[np.ufunc, str], Callable] = {}


#: NumPy functions that make arrays -> ``make(x, *args, **kwargs)``, what ``like=x`` has them make.
CREATORS: dict[Callable, Callable] = {}


def implements(*functions: Callable) -> Callable:
    """Carry out NumPy functions on tracers by the decorated function, with NumPy's own signature."""

    def register(implementation):
        for function in functions:
            IMPLEMENTATIONS[function] = implementation
        return implementation

    return register


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    implementation = IMPLEMENTATIONS.get(ufunc) or _from_scipy(ufunc)
    if type(inputs[0]) is np.ndarray and sys._getframe(1).f_code.co_filename in SERIES:
        check_series(sys._getframe(1))
    if method == "__call__" and implementation is not None:
        if kwargs:
            return call_ufunc(ufunc, implementation, inputs, **kwargs)
        if type(implementation) is Primitive:  # straight to the trace, past the search for it
            if len(inputs) == 1 or (
                len(inputs) == 2 and (type(inputs[0]) in PLAIN or type(inputs[1]) in PLAIN)
            ):
                return self._trace.process(implementation, inputs, NO_PARAMS)
        for x in inputs:  # lists are arrays to NumPy
            if isinstance(x, (list, tuple)):
                inputs = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
                break
        return implementation(*inputs)
    refuse_unlike_arrays(f"{ufunc.__name__}.{method}", map(type, inputs))
    by_method = UFUNC_METHODS.get((ufunc, method))
    if by_method is not None:
        (out,) = kwargs.get("out") or (None,)
        if not isinstance(out, Tracer):
            return by_method(*inputs, **kwargs)
        del kwargs["out"]
        return out._write_out(by_method(*inputs, **kwargs), f"np.{ufunc.__name__}.{method}(..., out=x)")
    place = describe(*caller(2))
    if method == "outer" and implementation is not None and ufunc.nin == 2:
        return _outer(ufunc, implementation, *inputs, **kwargs)
    if method == "at":
        return self._write_at(ufunc, *inputs)
    name = _full_name(ufunc)
    if method != "__call__":
        name = f"{name}.{method}"
    raise errors.UnsupportedFunctionError(name, place, _OF_OBJECTS if "O" in ufunc.types[0] else None)


_OF_OBJECTS = (
    "A ufunc of np.frompyfunc computes with Python objects. Write funcgrad.numpy.vectorize(f), which calls f "
    "on traced numbers; or write f with NumPy's functions, and it takes arrays as it is."
)


def _from_scipy(ufunc: np.ufunc) -> Callable | None:
    """What carries out one of SciPy's special functions.

    The module that declares them imports SciPy, which `import funcgrad` must not do; so it is loaded when the
    first of these ufuncs arrives: then the user has imported SciPy. The import system's lock makes other
    threads wait until the table is full.
    """
    if not _is_special(ufunc):
        return None
    importlib.import_module("funcgrad.scipy.special")
    return IMPLEMENTATIONS.get(ufunc)


def _is_special(ufunc: np.ufunc) -> bool:
    """Whether a ufunc is SciPy's: they do not name their module, so it is looked for there."""
    own = sys.modules.get("scipy.special._ufuncs"), sys.modules.get("scipy.special")
    return any(getattr(module, ufunc.__name__, None) is ufunc for module in own if module is not None)


def _full_name(ufunc: np.ufunc) -> str:
    return f"scipy.special.{ufunc.__name__}" if _is_special(ufunc) else ufunc.__name__


def refuse_unlike_arrays(operation: str, types: Iterable[type]) -> None:
    """Matrices and masked arrays, before `np.asarray` makes others of them."""
    for kind in types:
        if kind in PLAIN or not issubclass(kind, np.ndarray):
            continue
        if issubclass(kind, (np.matrix, np.ma.MaskedArray)):
            raise errors.OperandTypeError(operation, kind.__name__, describe(*caller(3)))


def array_function(self, function, types, args, kwargs):
    if len(types) > 1:
        refuse_unlike_arrays(function.__name__, types)
    if function is np.prod and sys._getframe(1).f_code.co_filename in SERIES:
        check_series(sys._getframe(1))
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is None:
        if function in CREATORS:
            return CREATORS[function](self, *args, **kwargs)
        module = function.__module__.removeprefix("numpy.")
        name = function.__name__ if module == "numpy" else f"{module}.{function.__name__}"
        raise errors.UnsupportedFunctionError(name, describe(*caller(2)))
    if kwargs and isinstance(out := kwargs.get("out"), Tracer):
        result = implementation(*args, **{name: value for name, value in kwargs.items() if name != "out"})
        return out._write_out(result, f"np.{function.__name__}(..., out=x)")
    return implementation(*args, **kwargs)


def _place() -> str:
    return describe(*caller(3))


def call_ufunc(ufunc, implementation, inputs, *, out=None, where=True, dtype=None, casting="same_kind",
               order="K", subok=True, signature=None, **kwargs):  # fmt: skip
    """A ufunc with keyword arguments: `dtype=` casts the inputs, `out=` may be traced, `where=` needs it."""
    refuse_unlike_arrays(ufunc.__name__, map(type, inputs))
    name = _full_name(ufunc)
    written = name if name.startswith("scipy.") else f"np.{name}"
    if out is not None and any(isinstance(o, Tracer) for o in out):
        options = {"dtype": dtype, "casting": casting, "signature": signature, **kwargs}
        results = call_ufunc(ufunc, implementation, inputs, **options)
        results = _written(results if ufunc.nout > 1 else (results,), out, where, f"{written}(..., out=x)")
        return results if ufunc.nout > 1 else results[0]
    if out is not None and any(o is not None for o in out):
        symbol = SYMBOLS.get(ufunc)
        by_operator = f", or x = x {symbol} v" if symbol else ""
        what = f"x {symbol}= v on a plain array, or {written}" if symbol else written
        cure = (
            "A plain array holds no traced value: start from np.array(x, like=v) or np.zeros_like(v). Or "
            f"write x = {written}(x, v){by_operator}: these make a new array. For a part of one write "
            "x = funcgrad.numpy.index_update(x, index, value), or index_add(x, index, value)."
        )
        refuse_write(f"{what}(..., out=x),", cure, depth=3)
    if where is not True:
        cure = f"Entries left out would be undefined. Write np.where(mask, {written}(x), other)."
        raise errors.UnsupportedArgumentError(name, "where=", _place(), cure)
    if signature is not None:
        cure = "Write dtype= or cast the arguments."
        raise errors.UnsupportedArgumentError(name, "signature=", _place(), cure)
    if dtype is None and casting == "same_kind":
        return implementation(*inputs, **kwargs)
    result = dtype if dtype is None else np.dtype(dtype)
    operands = (*map(_type, inputs), *(None,) * ufunc.nout)
    signature = (None,) * ufunc.nin + (result,) * ufunc.nout
    types = ufunc.resolve_dtypes(operands, signature=signature, casting=casting)
    if dtype is not None:
        inputs = [np.astype(as_operand(x), t) for x, t in zip(inputs, types)]
    return implementation(*inputs, **kwargs)


def _written(results, outs, where, what: str) -> tuple:
    """A ufunc's results, written into traced arrays."""
    written = []
    for result, out in zip(results, outs):
        if out is None:
            written.append(result)
            continue
        if not isinstance(out, Tracer):
            refuse_write(f"{what} with a plain array among others,", depth=4)
        result = result if where is True else np.where(where, result, out)
        written.append(out._write_out(result, what, broadcasts=True))
    return tuple(written)


def _type(x):
    kind = type(x)
    return kind if kind in (int, float, complex) else dtype_of(as_operand(x))


def as_operand(x):
    """Lists as arrays; tracers and arrays as they are."""
    return x if isinstance(x, Tracer) else np.asarray(x)


def _outer(ufunc, implementation, a, b, **kwargs):
    """All pairs of entries: ``ufunc.outer``."""
    a, b = as_operand(a), as_operand(b)
    return call_ufunc(ufunc, implementation, (np.reshape(a, a.shape + (1,) * b.ndim), b), **kwargs)
