"""NumPy's protocols on tracers: one look-up in the table of implementations.

`np.sin(x)` and `x_array * x` arrive in ``__array_ufunc__``, `np.sum(x)` in ``__array_function__``; code
without tracers never comes here and pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import NO_PARAMS, Primitive
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import IMPLEMENTATIONS

#: Types of operands that are no tracers, as most are.
PLAIN = frozenset((np.ndarray, float, int, np.float64))

#: (ufunc, method) -> implementation, for `np.add.reduce` and its like.
UFUNC_METHODS: dict[tuple[np.ufunc, str], Callable] = {}


def implements(*functions: Callable) -> Callable:
    """Carry out NumPy functions on tracers by the decorated function, with NumPy's own signature."""

    def register(implementation):
        for function in functions:
            IMPLEMENTATIONS[function] = implementation
        return implementation

    return register


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    implementation = IMPLEMENTATIONS.get(ufunc)
    if method == "__call__" and implementation is not None:
        if kwargs:
            return call_ufunc(ufunc, implementation, inputs, **kwargs)
        if type(implementation) is Primitive:  # straight to the trace, past the search for it
            if len(inputs) == 1 or type(inputs[0]) in PLAIN or type(inputs[1]) in PLAIN:
                return self._trace.process(implementation, inputs, NO_PARAMS)
        for x in inputs:  # lists are arrays to NumPy
            if isinstance(x, (list, tuple)):
                inputs = [np.asarray(x) if isinstance(x, (list, tuple)) else x for x in inputs]
                break
        return implementation(*inputs)
    by_method = UFUNC_METHODS.get((ufunc, method))
    if by_method is not None:
        return by_method(*inputs, **kwargs)
    place = describe(*caller(2))
    if method == "outer" and implementation is not None and ufunc.nin == 2:
        if kwargs:
            raise errors.UnsupportedArgumentError(
                f"{ufunc.__name__}.outer", "keyword arguments", place, "Leave them out."
            )
        return _outer(ufunc, implementation, *inputs)
    if method == "at":
        cure = "Write funcgrad.numpy.index_add(x, index, v), or np.where."
        raise errors.InPlaceError(f"np.{ufunc.__name__}.at", place, cure)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise errors.UnsupportedFunctionError(name, place)


def array_function(self, function, types, args, kwargs):
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is None:
        module = function.__module__.removeprefix("numpy.")
        name = function.__name__ if module == "numpy" else f"{module}.{function.__name__}"
        raise errors.UnsupportedFunctionError(name, describe(*caller(2)))
    return implementation(*args, **kwargs)


def _place() -> str:
    return describe(*caller(3))


def call_ufunc(ufunc, implementation, inputs, *, out=None, where=True, dtype=None, casting="same_kind",
               order="K", subok=True, signature=None, **kwargs):  # fmt: skip
    """A ufunc with keyword arguments: `dtype=` casts the inputs, `out=` and `where=` are refused."""
    name = ufunc.__name__
    if out is not None and any(o is not None for o in out):
        cure = f"Write x = np.{name}(x, v), or with the operator x = x * v: these make a new array."
        raise errors.InPlaceError(f"x *= v on a plain array, or np.{name}(..., out=x),", _place(), cure)
    if where is not True:
        cure = f"Entries left out would be undefined. Write np.where(mask, np.{name}(x), other)."
        raise errors.UnsupportedArgumentError(name, "where=", _place(), cure)
    if signature is not None:
        cure = "Write dtype= or cast the arguments."
        raise errors.UnsupportedArgumentError(name, "signature=", _place(), cure)
    if dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
        operands = (*map(_type, inputs), *(None,) * ufunc.nout)
        types = ufunc.resolve_dtypes(operands, signature=signature, casting=casting)
        inputs = [np.astype(as_operand(x), t) for x, t in zip(inputs, types)]
    return implementation(*inputs, **kwargs)


def _type(x):
    kind = type(x)
    return kind if kind in (int, float, complex) else dtype_of(as_operand(x))


def as_operand(x):
    """Lists as arrays; tracers and arrays as they are."""
    return x if isinstance(x, Tracer) else np.asarray(x)


def _outer(ufunc, implementation, a, b):
    """All pairs of entries: ``ufunc.outer``."""
    a, b = as_operand(a), as_operand(b)
    return implementation(np.reshape(a, a.shape + (1,) * b.ndim), b)
