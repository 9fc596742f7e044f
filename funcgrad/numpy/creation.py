"""Making arrays of traced values, which no protocol of NumPy's reaches: `np.array([x, y])` and its like."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import Memory, in_memory, is_uncertain, link
from funcgrad._core.tracer import Tracer
from funcgrad._primitives.arithmetic import convert
from funcgrad._primitives.arithmetic import copy as copy_of
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.numpy.arguments import numbers_of
from funcgrad.numpy.conversions import trying

#: Classes that are neither traced nor hold what may be.
_PLAIN = frozenset((np.ndarray, float, int, bool, complex, str, np.float64, np.float32, np.int64, type(None)))


def has_tracer(x: Any) -> bool:
    """Whether a traced value is among the entries of lists and tuples, nested to any depth."""
    if type(x) in _PLAIN:
        return False
    if isinstance(x, (list, tuple)):
        for part in x:
            if type(part) not in _PLAIN and has_tracer(part):
                return True
        return False
    return isinstance(x, Tracer)


def _strong(x: Tracer) -> Tracer:
    """A traced Python scalar as an array, whose dtype does not give way to others' any more."""
    return convert(x, dtype=x.dtype) if not x.shape and x.weak else x


def copied(x: Tracer, order: str | None = "K") -> Tracer:
    """A copy that lies in memory in an order, as the views that are taken of it depend on."""
    uncertain = is_uncertain(x)
    kept = order in (None, "K", "k", "A", "a") or (not uncertain and _lies(x, order))
    out = copy_of.of(x, {} if kept else {"order": order})
    if isinstance(out, Tracer):  # of a copy it is known how it lies
        if order in ("C", "c", "F", "f"):
            out.memory = Memory(order.upper(), True)
        elif not uncertain and not (flags := in_memory(out).flags).c_contiguous and flags.f_contiguous:
            out.memory = Memory("F", True)
    return out


def _lies(x: Tracer, order: str) -> bool:
    flags = in_memory(x).flags
    return flags.f_contiguous if order in ("F", "f") else flags.c_contiguous


def _ordered(x: Any, order: str | None) -> Any:
    """A traced array itself, or a copy if it does not lie in memory in this order."""
    if not isinstance(x, Tracer) or order in (None, "K", "k", "A", "a"):
        return x
    if is_uncertain(x):
        out = copy_of.of(x, {"order": order})
        link(x, out)
        return out
    return x if _lies(x, order) else copied(x, order)


def _stack(x: Any) -> Any:
    """Nested lists and tuples as one traced array."""
    if isinstance(x, (list, tuple)):
        return np.stack([_stack(part) for part in x]) if x else np.asarray(x)
    return _strong(x) if isinstance(x, Tracer) else np.asanyarray(x)  # a masked array stays one: refused


_MANY = 100  # entries of a list


def array(object: Any, dtype: Any = None, *, copy: bool | None = True, order: str = "K",
          subok: bool = False, ndmin: int = 0, like: Any = None) -> Any:  # fmt: skip
    """An array of the given values, of which any may be traced, in lists nested to any depth.

    Args:
        object, dtype, copy, order, subok, ndmin, like: as for `numpy.array`.

    Returns:
        A plain array if nothing is traced, else a traced one.

    Raises:
        ValueError: the nested lists are ragged.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: np.sum(np.array([x, x**2, 1.0])))(3.0)
    np.float64(7.0)
    """
    many = isinstance(object, (list, tuple)) and len(object) > _MANY
    if many or not has_tracer(object):
        given = {} if like is None else {"like": like}
        try:  # of many entries, to look at each would take longer than NumPy does
            with trying() if many else contextlib.nullcontext():
                return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **given)
        except (TypeError, ValueError):
            if not many or not has_tracer(object):
                raise
    out = _stack(object)
    if dtype is not None and out.dtype != np.dtype(dtype):
        out = out.astype(dtype)
    out = copied(out, order) if copy and out is object else _ordered(out, order)
    if out.ndim < ndmin:
        out = np.reshape(out, (1,) * (ndmin - out.ndim) + out.shape)
    return out


def asarray(a: Any, dtype: Any = None, order: str | None = None, *, device: str | None = None,
            copy: bool | None = None, like: Any = None) -> Any:  # fmt: skip
    """The argument as an array; a traced array is returned as it is.

    Args:
        a, dtype, order, device, copy, like: as for `numpy.asarray`.

    Returns:
        A plain array if nothing is traced, else a traced one.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: np.asarray([x, 2.0 * x])[1])(3.0)
    np.float64(2.0)
    """
    if isinstance(a, Tracer):
        if dtype is None and not copy:
            return _ordered(_strong(a), order)
        return array(a, dtype, copy=bool(copy), order=order or "K")
    if isinstance(a, (list, tuple)):
        return (
            array(a, dtype, order=order, copy=copy) if copy is not False else np.asarray(a, dtype, copy=copy)
        )
    return np.asarray(a, dtype, order, device=device, copy=copy)


def asanyarray(a: Any, dtype: Any = None, order: str | None = None, **kwargs: Any) -> Any:
    """As `asarray`; subclasses of ndarray pass as they are."""
    return asarray(a, dtype, order, **kwargs) if has_tracer(a) else np.asanyarray(a, dtype, order)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """As `asarray`, with at least one axis, as NumPy's."""
    if not has_tracer(a):
        return np.ascontiguousarray(a, dtype)
    return array(a, dtype, copy=False, order="C", ndmin=1)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """As `asarray`, in Fortran's order."""
    return np.asfortranarray(a, dtype) if not has_tracer(a) else asarray(a, dtype, "F")


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """As `asarray`; an error if an entry is infinite or NaN.

    Raises:
        ValueError: one is, of those whose values are known.
    """
    if not has_tracer(a):
        return np.asarray_chkfinite(a, dtype, order)
    out = asarray(a, dtype)
    known = numbers_of(out)
    if known is not None:
        np.asarray_chkfinite(known)
    return out


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """As `asarray`: of what may be required of memory, traced arrays have an order."""
    if not has_tracer(a):
        return np.require(a, dtype, requirements)
    requirements = [requirements] if isinstance(requirements, str) else requirements or ()
    required = {r[0].upper() for r in requirements}
    return asarray(a, dtype, "F" if "F" in required else "C" if "C" in required else None)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: str | None = None,
         like: Any = None) -> Any:  # fmt: skip
    """An array of one value, which may be traced.

    Args:
        shape, fill_value, dtype, order, device, like: as for `numpy.full`.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda x: np.sum(np.full(3, x)))(1.0)
    np.float64(3.0)
    """
    if not has_tracer(fill_value):
        given = {} if like is None else {"like": like}
        return np.full(shape, fill_value, dtype, order, device=device, **given)
    value = array(fill_value, dtype, copy=False)
    return np.broadcast_to(value, shape).copy()


def _on_any(function: Callable) -> Callable:
    """NumPy's function, carried out on tracers in whichever argument: its protocol asks only the first."""

    @functools.wraps(function, assigned=("__name__", "__qualname__"), updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if has_tracer(args) or has_tracer(tuple(kwargs.values())):
            return IMPLEMENTATIONS[function](*args, **kwargs)
        return function(*args, **kwargs)

    call.__doc__ = f"`numpy.{function.__name__}`, of traced values in whichever argument."
    return call


def _of_functions(numpys: Callable) -> Callable:
    """As `_on_any`, where functions among the arguments may close over tracers."""
    on_any = _on_any(numpys)

    @functools.wraps(on_any)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with trying():
                return on_any(*args, **kwargs)
        except (errors.ConcretizationError, ValueError):
            if has_tracer((args, *kwargs.values())):
                raise
            return IMPLEMENTATIONS[numpys](*args, **kwargs)

    return call


append = _on_any(np.append)
apply_along_axis = _of_functions(np.apply_along_axis)
column_stack = _on_any(np.column_stack)
concatenate = concat = _on_any(np.concatenate)
dstack = _on_any(np.dstack)
full_like = _on_any(np.full_like)
histogram = _on_any(np.histogram)
hstack = _on_any(np.hstack)
interp = _on_any(np.interp)
nan_to_num = _on_any(np.nan_to_num)
pad = _on_any(np.pad)
piecewise = _of_functions(np.piecewise)
polyint = _on_any(np.polyint)
select = _on_any(np.select)
stack = _on_any(np.stack)
take = _on_any(np.take)
trapezoid = _on_any(np.trapezoid)
unwrap = _on_any(np.unwrap)
vstack = _on_any(np.vstack)
