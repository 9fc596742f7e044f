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
from funcgrad._primitives.kinds import IMPLEMENTATIONS

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
    if method == "__call__":
        implementation = IMPLEMENTATIONS.get(ufunc)
        if implementation is not None:
            if not kwargs:
                if len(inputs) == 1 and type(implementation) is Primitive:
                    return self.trace.process(implementation, inputs, NO_PARAMS)
                return implementation(*inputs)
            return call_ufunc(ufunc, implementation, inputs, **kwargs)
    else:
        implementation = UFUNC_METHODS.get((ufunc, method))
        if implementation is not None:
            return implementation(*inputs, **kwargs)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise errors.UnsupportedFunctionError(name, describe(*caller()))


def array_function(self, function, types, args, kwargs):
    implementation = IMPLEMENTATIONS.get(function)
    if implementation is None:
        module = function.__module__.removeprefix("numpy.")
        name = function.__name__ if module == "numpy" else f"{module}.{function.__name__}"
        raise errors.UnsupportedFunctionError(name, describe(*caller()))
    return implementation(*args, **kwargs)


def call_ufunc(ufunc, implementation, inputs, *, out=None, where=True, dtype=None, casting="same_kind", **kwargs):
    """A ufunc with keyword arguments: `where=` and `dtype=` become equations, `out=` is refused."""
    if out is not None:
        raise errors.InPlaceError(f"np.{ufunc.__name__}(..., out=...)", describe(*caller()))
    if dtype is not None:
        inputs = [np.asarray(x).astype(dtype) if not hasattr(x, "astype") else x.astype(dtype) for x in inputs]
    return implementation(*inputs)
