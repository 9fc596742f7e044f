"""Primitives about programs rather than numbers: cutting derivatives, calling nested programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.evaluation import evaluate
from funcgrad._core.primitive import Primitive
from funcgrad._core.tracer import Tracer
from funcgrad._interpreters.stage import Stage
from funcgrad._primitives.kinds import PRIMITIVES, constant, linear


def _stopped(x):
    # a copy: the tape may hold this array as a residual
    return np.array(x) if type(x) is np.ndarray else x


_stop_gradient = constant(_stopped, name="stop_gradient")
_stop_gradient.batch = lambda values, batched: _stop_gradient(*values)


def stop_gradient_leaf(x: Any) -> Any:
    """The value of a leaf, which no derivative passes."""
    if not isinstance(x, Tracer):
        return x
    before = dict(x._trace.cuts)
    out = _stop_gradient(x)
    x._trace.cuts = before  # a cut that was asked for is no accident
    return out


@linear(name="name", structural=True, view=True, tags=True)
def tag_leaf(x, *, name):
    """The value itself, under a name that policies of checkpoints and printed programs know it by."""
    return x


@tag_leaf.transpose
def _tag_transpose(g, *, name):
    return g


@tag_leaf.putting
def _tag_put(x, part, *, name):
    return part


class CallPrimitive(Primitive):
    """A call of a nested program: one equation when staged; to every other trace, its equations."""

    __slots__ = ()

    def __call__(self, *args, jaxpr, name):
        levels = [a._trace for a in args if isinstance(a, Tracer)]
        top = max(levels, key=lambda trace: trace.level, default=None)
        if isinstance(top, Stage):
            return top.process(self, args, {"jaxpr": jaxpr, "name": name})
        return tuple(evaluate(jaxpr, jaxpr.consts, args))


def _call(*args, jaxpr, name):
    return tuple(evaluate(jaxpr, jaxpr.consts, args))


call = CallPrimitive("call", _call, ("*args",))
call.multiple = True
call.typed = lambda *types, jaxpr, name: jaxpr.out_avals
PRIMITIVES["call"] = call
