"""Constants as traced values: what `np.zeros_like(x)` gives can be written to, as `x` can."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.source import caller
from funcgrad._core.tracer import Trace, Tracer, settled, successors
from funcgrad._core.types import dtype_of, is_differentiable, shape_of, zeros_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record
from funcgrad._primitives.kinds import linear


@linear
def lifted(x):
    """The value itself."""
    return x


@lifted.transpose
def _lifted_transpose(g):
    return g


_PULLED, _PUSHED = (lifted.plan(0, push) for push in (False, True))  # of a row that depends on nothing
_PUSHED.push = lambda tangents, residuals, params: np.zeros(*residuals)


def lift(trace: Trace, value: Any) -> Tracer:
    """A constant as a value of a trace: it has no derivative until something is written into it."""
    if isinstance(trace, Record):
        if isinstance(value, Tracer):
            value = trace.meet(value)
        plan, residuals = _PUSHED if trace.push else _PULLED, (shape_of(value), dtype_of(value))
        return trace._tracer(trace.tape.append(plan, (), residuals, caller()), value)
    if isinstance(trace, Forward):
        return trace.dual(value, zeros_of(value))
    if isinstance(trace, Batch):
        return trace.batched(np.broadcast_to(value, (trace.size, *shape_of(value))))
    return trace.process(lifted, (value,), {})


def lift_like(x: Any, value: np.ndarray) -> Any:
    """An array as what may be written to where `x` may: of its trace, if not for derivatives alone."""
    x = settled(x)
    if not isinstance(x, Tracer) or (is_differentiable(x.dtype) and not is_differentiable(value.dtype)):
        return value
    trace = x._trace
    ended = trace.closed and successors().get(trace) is not trace
    return value if ended else lift(trace, value)
