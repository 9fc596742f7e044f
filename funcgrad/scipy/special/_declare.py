"""How the special functions are declared: by name, for not every SciPy has all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import scipy.special as sc
from scipy.special import _ufuncs

from funcgrad._core.primitive import Primitive
from funcgrad._core.types import dtype_of
from funcgrad._primitives import kinds
from funcgrad._primitives.kinds import IMPLEMENTATIONS

#: Why an argument is refused (see `elementwise`).
ORDER = "Derivatives with respect to an order or degree have no closed form"
SHAPE = "Derivatives with respect to this parameter have no closed form"


def elementwise(function: Callable, *actions: Callable | str | None, **kwargs) -> Primitive:
    """`kinds.elementwise`, of rules that may compute with orders and the like without overflow."""
    return kinds.elementwise(function, *map(_with_room, actions), **kwargs)


def _with_room(action: Callable | str | None) -> Callable | str | None:
    """A rule that reads integers as int64: users have them in whatever they are stored in."""
    if not callable(action):
        return action

    @functools.wraps(action)
    def rule(g, *residuals, **params):
        whole = [hasattr(v, "dtype") and dtype_of(v).kind in "biu" for v in residuals]
        residuals = [v.astype(np.int64) if w else v for v, w in zip(residuals, whole)]
        return action(g, *residuals, **params)

    return rule


def declare(
    name: str, *actions: Callable | str | None, args: str | None = None, **kwargs
) -> Primitive | None:
    """Declare one of SciPy's ufuncs, public or not; None if this SciPy does not have it.

    A primitive has the ufunc's name, unless NumPy has one so called.
    """
    ufunc = find(name)
    if ufunc is None:
        return None
    own = f"special_{name}" if hasattr(np, name) else name.removeprefix("_")
    return elementwise(ufunc, *actions, name=own, args=args)


def declare_outputs(name: str, *rules: tuple | Callable, args: str | None = None) -> tuple[Primitive, ...]:
    """Declare a ufunc with several outputs: a primitive for each, so that each flows by itself.

    Args:
        name: SciPy's.
        *rules: for each output the actions of the arguments, or that of the only one.
        args: the arguments' names.
    """
    ufunc = find(name)
    if ufunc is None:
        return ()
    outputs = tuple(
        elementwise(
            _output(ufunc, k), *(rule if isinstance(rule, tuple) else (rule,)), name=f"{name}_{k}", args=args
        )
        for k, rule in enumerate(rules)
    )
    IMPLEMENTATIONS[ufunc] = lambda *args: tuple(output(*args) for output in outputs)
    return outputs


def find(name: str) -> np.ufunc | None:
    """A ufunc of SciPy's by its name, also one that its public functions are made of."""
    ufunc = getattr(_ufuncs, name, None) or getattr(sc, name, None)
    return ufunc if isinstance(ufunc, np.ufunc) else None


def of(value, x):
    """A parameter as a real number of the precision of `x`: SciPy prefers double where types are mixed."""
    dtype = dtype_of(x)
    dtype = (
        dtype if dtype.kind == "f" else np.zeros((), dtype).real.dtype if dtype.kind == "c" else np.float64
    )
    return value.astype(dtype) if hasattr(value, "dtype") else np.dtype(dtype).type(value)


def unless_zero(n, other):
    """n, and `other` where n is 0; a Python number stays one, for it is weak."""
    if isinstance(n, (int, float)):
        return n or other
    return np.where(np.equal(n, 0), other, n)


def _output(ufunc: np.ufunc, k: int) -> Callable:
    return lambda *args: ufunc(*args)[k]


def kernel(function: Callable) -> Callable:
    """A numerical implementation on arrays of one shape: in double precision, without warnings."""

    def impl(*args, **params):
        dtype = np.result_type(*args)
        arrays = np.broadcast_arrays(*args)
        with np.errstate(all="ignore"):
            wide = [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in arrays]
            out = function(*map(np.atleast_1d, wide), **params).reshape(arrays[0].shape)
            single = dtype.kind in "fc" and np.finfo(dtype).dtype.itemsize <= 4
            if single:
                out = out.astype(np.complex64 if out.dtype.kind == "c" else np.float32)
        return out[()]

    return impl
