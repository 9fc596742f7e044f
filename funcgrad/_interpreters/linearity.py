"""Is a recorded function linear? As far as its rules tell: none may read what depends on the inputs.

What a call gives is recorded as depending on all that it reads. Which results do so in truth is found out
here, by running the call again.
"""

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
    why, _ = dependence(record, [True] * record.tape.inputs, ())
    if why is not None:
        return why
    for out in outs:
        if not isinstance(out, Tracer) and np.any((out != 0) & np.isfinite(out)):
            return f"f(0) is {out}"
    return None


def dependence(record: Record, inputs: Sequence[bool], outs: Sequence[Any]) -> tuple[str | None, list[bool]]:
    """Why a function is not linear in some of its inputs, or None; and which results depend on them."""
    tape = record.tape
    depends = list(inputs)
    reached: dict[int, Sequence[bool]] = {}  # of the rows of calls, which results depend on the inputs
    for row in range(tape.inputs, len(tape)):
        plan, parents = tape.plans[row], tape.parents[row]
        moving = [depends[parent] for parent in parents]
        depends.append(any(moving))
        if not depends[row]:
            continue
        if isinstance(plan, CallPlan):
            why, reached[row] = plan.dependence(tape.residuals[row], moving)
            if why is not None:
                return f"{why} ({tape.where(row)})", []
        elif plan is None:
            call, index = parents[0], tape.residuals[row][0]
            depends[row] = reached[call][index] if call in reached else True
        elif _reads_moving(plan, record.push, moving):
            return f"the derivative of {plan.prim.name}, at {tape.where(row)}, depends on the argument", []
    for place, rows in record.cuts.values():
        if not rows or any(depends[row] for row in rows):
            what = "a comparison, rounding or integer read"
            return f"{what} at {describe(*place)} depends on the argument", []
    own = [record.own(out) for out in outs]
    return None, [tracer is not None and depends[tracer.slot] for tracer in own]


def _reads_moving(plan, push: bool, moving: Sequence[bool]) -> bool:
    """Whether the rule of an argument that depends on the inputs reads such an argument."""
    args = plan.prim.args
    positions = [p for p, moves in zip(plan.positions, moving) if moves]
    names = {args[min(p, len(args) - 1)] for p in positions}
    for position in positions:
        rule = plan.prim.rule(position)
        reads = set(rule.push_reads if push else rule.pull_reads)
        if len(positions) > 1 and "others" in reads:
            reads.add(args[-1])  # of several traced operands each is read by the others
        if "y" in reads or reads & names:
            return True
    outer = plan.prim.outer
    reads = set() if outer is None else set(outer.push_reads if push else outer.pull_reads)
    return bool(positions) and ("y" in reads or bool(reads & names))
