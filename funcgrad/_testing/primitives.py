"""Check a primitive: its rules against each other, against numerical derivatives, and in every transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import Primitive
from funcgrad._core.types import dtype_of, is_differentiable, type_of
from funcgrad._interpreters.stage import out_types
from funcgrad._testing import laws
from funcgrad._testing.gradients import check_grads


def check_primitive(prim: Primitive, args: Sequence[Any], /, **params: Any) -> None:
    """Check all that is declared of a primitive, at one point.

    That its type is its result's; its first and second derivatives in both modes, and all four pairs of
    them, as `check_grads` does; that it keeps float32; that a batch, whichever arguments are batched, is a
    loop; that programs of it and of its derivatives, staged from values and from types, evaluate to it.

    Args:
        prim: the primitive.
        args: arrays at a point where it is smooth; float64 or complex128 where it has derivatives.
        **params: its static parameters.

    Raises:
        DerivativeMismatchError, NotSmoothError: a derivative is wrong, as for `check_grads`.
        LawError: something else is; it says what.

    >>> import numpy as np
    >>> from funcgrad.extend import elementwise
    >>> from funcgrad.testing import check_primitive
    >>> def cubed(x): return x * x * x
    >>> check_primitive(elementwise(cubed, lambda g, x: g * 3 * x * x), [np.array([0.5, -2.0])])
    >>> def squared(x): return x * x
    >>> check_primitive(elementwise(squared, lambda g, x: g * x), [np.array([0.5, -2.0])])
    Traceback (most recent call last):
        ...
    funcgrad.errors.DerivativeMismatchError: the fwd derivative of squared is wrong at out[0]: ...
    """

    def f(*xs):
        return prim(*xs, **params)

    f.__qualname__ = prim.name
    args = [x if np.ndim(x) else np.asarray(x)[()] for x in args]
    _check_type(prim, f, args, params)
    differentiable = prim.rules is not None or getattr(prim, "joint", None)
    if differentiable:
        on_differentiable, chosen = _with_rules(prim, f, args)
        check_grads(on_differentiable, chosen, order=2)
        laws.check_values(on_differentiable, chosen)
        laws.check_precision(on_differentiable, [_single(x) for x in chosen])
    laws.check_batching(f, args)
    laws.check_staging(f, args)


def _check_type(prim: Primitive, f, args: list, params: dict) -> None:
    """The type that a program states is that of the value."""
    out = f(*args)
    stated = out_types(prim, [type_of(x) for x in args], args, params)
    found = [type_of(o) for o in (out if prim.multiple else (out,))]
    if stated != found:
        shown = [", ".join(map(str, types)) for types in (stated, found)]
        raise errors.LawError(prim.name, "the type of its result", "", *shown)


def _with_rules(prim: Primitive, f, args: list):
    """The primitive as a function of the arguments that have a rule and carry derivatives."""
    ruled = [
        i for i, x in enumerate(args)
        if is_differentiable(dtype_of(x)) and (prim.rules is None or prim.rule(i) is not None)
    ]  # fmt: skip

    def on_ruled(*xs):
        whole = list(args)
        for i, x in zip(ruled, xs):
            whole[i] = x
        return f(*whole)

    on_ruled.__qualname__ = prim.name
    return on_ruled, [args[i] for i in ruled]


def _single(x: Any) -> Any:
    """The argument in single precision."""
    narrow = {"f": np.float32, "c": np.complex64}.get(np.asarray(x).dtype.kind)
    return x if narrow is None else np.asarray(x).astype(narrow)[()]
