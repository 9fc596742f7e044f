"""Derivatives by differences, for functions that no rule is known for: ``numeric=`` of custom functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.calls import bind, differentiable
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad._primitives.custom import CustomCall, Rules

_STEP = 1e-30  # the complex step's error is of its square


def numeric_rules(fun: Callable, name: str, method: str, hints: Sequence[Tracer]) -> Rules:
    """Rules that evaluate the function beside the point.

    Args:
        fun: a function of flat values.
        method: ``"central"``: (f(x + h) - f(x - h)) / 2h, h = (eps)^(1/3), with an error of about eps^(2/3);
            ``"complex-step"``: Im f(x + ih) / h, exact to rounding for functions that are analytic and take
            complex numbers (Squire and Trapp, SIAM Review 40(1), 1998).

    A direction costs two evaluations, a gradient two for each entry of the arguments.
    """
    rules = Rules(name, sequential=True, mark=method)
    along = _central if method == "central" else _complex_step

    def call(values):
        return bind(CustomCall(fun, rules, hints), values)

    def jvp(primals, tangents):
        return call(primals), along(call, primals, tangents, name)

    def fwd(args):
        outs = call(args)
        columns = [_columns(along, call, args, index, name) for index in range(len(args))]
        return outs, (columns, [(shape_of(x), dtype_of(x)) if differentiable(x) else None for x in args])

    def bwd(residuals, cts):
        columns, types = residuals
        return [
            None if type_ is None else _pull_columns(own, cts, *type_) for own, type_ in zip(columns, types)
        ]

    rules.jvp, rules.fwd, rules.bwd = jvp, fwd, bwd
    return rules


def _central(call, primals, tangents, name) -> list[Any]:
    moving = {i for i, t in enumerate(tangents) if differentiable(t)}
    if not moving:
        return [None] * len(primals)
    scale, length = _largest(primals, moving), _largest(tangents, moving)
    epsilon = max(np.finfo(dtype_of(primals[i])).eps for i in moving)
    h = epsilon ** (1 / 3) * np.maximum(1.0, scale) / np.where(length > 0, length, 1.0)
    h = np.exp2(np.round(np.log2(h)))  # a power of two, so that nothing is lost in x + h

    def moved(sign):
        return call([x + sign * h * tangents[i] if i in moving else x for i, x in enumerate(primals)])

    return [(up - down) / (2 * h) if differentiable(up) else None for up, down in zip(moved(1), moved(-1))]


def _largest(values, moving) -> Any:
    """The largest modulus of these values' entries, which no derivative passes."""
    return np.max(
        np.stack([np.max(np.abs(stop_gradient_leaf(values[i])), initial=0) for i in sorted(moving)])
    )


def _complex_step(call, primals, tangents, name) -> list[Any]:
    moving = {i for i, t in enumerate(tangents) if differentiable(t)}
    if any(dtype_of(primals[i]).kind == "c" for i in moving):
        raise errors.ComplexStepError(name)
    outs = call([x + 1j * (_STEP * tangents[i]) if i in moving else x for i, x in enumerate(primals)])
    return [np.imag(o) / _STEP if differentiable(o) else None for o in outs]


def _columns(along, call, args, index: int, name: str) -> list[Any] | None:
    """The derivatives of all results with respect to the entries of one argument, along a first axis."""
    if not differentiable(args[index]):
        return None
    shape, dtype = shape_of(args[index]), dtype_of(args[index])
    columns = []
    for entry in range(int(np.prod(shape))):
        direction = np.zeros(int(np.prod(shape)), dtype)
        direction[entry] = 1
        tangents = [None] * len(args)
        tangents[index] = direction.reshape(shape)[()]
        columns.append(along(call, args, tangents, name))
    return [None if parts[0] is None else np.stack(parts) for parts in zip(*columns)]


def _pull_columns(columns, cts, shape, dtype) -> Any:
    total = np.zeros(int(np.prod(shape)), dtype)
    for column, ct in zip(columns, cts):
        if column is not None and differentiable(ct):
            total = total + np.reshape(column, (len(column), -1)) @ np.reshape(ct, -1)
    return np.reshape(total, shape)
