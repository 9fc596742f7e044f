"""Is a recorded function linear? As far as its rules tell: none may read what it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._core.source import describe
from funcgrad._core.tracer import Tracer
from funcgrad._interpreters.calls import CallPlan
from funcgrad._interpreters.record import Record


def nonlinearity(record: Record, outs: Sequence[Any]) -> str | None:
    """Why the function that was recorded at 0, with these results, is not linear; None if it is."""
    for place, _ in record.cuts.values():
        return f"a comparison, rounding or integer read at {describe(*place)} depends on the argument"
    tape = record.tape
    for row, plan in enumerate(tape.plans):
        if isinstance(plan, CallPlan):
            why = plan.nonlinearity(tape.residuals[row])
            if why is not None:
                return why
        elif plan is not None and _reads_traced(plan):
            return f"the derivative of {plan.prim.name}, at {tape.where(row)}, depends on the argument"
    for out in outs:
        if not isinstance(out, Tracer) and np.any(out != 0):
            return f"f(0) is {out}"
    return None


def _reads_traced(plan) -> bool:
    reads = set(plan.names)
    args = plan.prim.args
    if len(plan.positions) > 1 and "others" in reads:
        reads.add(args[-1])  # of several traced operands each is read by the others
    return "y" in reads or any(args[min(p, len(args) - 1)] in reads for p in plan.positions)
