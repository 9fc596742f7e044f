"""Loops of which the tape keeps few states: the others are found again in the backward sweep.

    checkpointed(fun, init, xs, *, length=None, until=None, reverse=False,
                 slots=None, max_bytes=None, spill=None, hints=()) -> [*carry, *ys]

runs ``fun(*carry, *x) -> [*carry, *y]`` on flat values, as `scan` does: along the first axes of `xs`,
`length` times; or without xs and ys until ``until(*carry)`` holds, `length` times at most if that is given.
What `fun` closes over is differentiated too. `slots` states are kept at most, or as many as `max_bytes` hold;
`spill` is None, "disk" or a directory. One row of the tape stands for the loop. In programs it is `scan` or
`while`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import Primitive
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, settled, suspending
from funcgrad._core.types import type_of
from funcgrad._interpreters.batch import Batch, any_member, is_batched
from funcgrad._interpreters.calls import (
    CallPlan,
    bind,
    hints_below,
    reachable,
    record_call,
    unchanged,
)
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.stage import Stage
from funcgrad._primitives.checkpoints import pull_again
from funcgrad._primitives.loops import LoopParts, While, check_carry
from funcgrad._primitives.scanning import Scan
from funcgrad._primitives.schedules import Kept, usual_slots
from funcgrad._primitives.shelves import Disk, Memory, nbytes
from funcgrad._primitives.sweeps import Column, Reversal, recorded


def checkpointed(
    fun: Callable,
    init: Sequence[Any],
    xs: Sequence[Any] = (),
    *,
    length: int | None = None,
    until: Callable | None = None,
    reverse: bool = False,
    slots: int | None = None,
    max_bytes: float | None = None,
    spill: str | None = None,
    hints: Sequence[Any] = (),
) -> list[Any]:
    """The last carry and the stacked results of a loop; see the top of this file."""
    if max_bytes is not None:
        size = max(1, sum(map(nbytes, init)))
        if max_bytes < size:
            raise errors.CheckpointBudgetError(f"max_bytes={max_bytes}", f"one state takes {size} bytes")
        slots = min(slots or max_bytes, max_bytes // size)
    elif slots is None:
        slots = usual_slots(None if until is not None else length)
    if slots < 1:
        raise errors.CheckpointBudgetError(f"slots={slots}", "the first state is always kept")
    if length is not None:
        slots = min(slots, max(length, 1))
    loop = Loop(fun, len(init), length, reverse, hints)
    loop.until, loop.slots, loop.spill = until, int(slots), spill
    return bind(loop, [*init, *xs])


class Loop(Scan):
    """A loop that keeps few of its states.

    Attributes:
        until: None, or a function of the carry that says when it has ended.
        slots, spill: how many states are kept, and where.
        kept: where the states go when it runs; None if it is not to be run backwards.
        taken: a list of how many steps were taken, where that is asked for: the loop's forms for traces
            beneath share it; None else.
    """

    __slots__ = ("until", "slots", "spill", "kept", "taken")

    def __init__(self, fun: Callable, carried: int, length: int | None, reverse: bool, hints=()):
        super().__init__(fun, carried, length, reverse, hints)
        self.until = self.spill = self.kept = None
        self.slots = 1
        self.taken: list[int] | None = None

    def like(self, fun: Callable, carried: int, hints: Sequence[Any]) -> Loop:
        loop = Loop(fun, carried, self.length, self.reverse, hints)
        loop.until, loop.slots, loop.spill, loop.taken = self.until, self.slots, self.spill, self.taken
        return loop

    def step(self, args: Sequence[Any]) -> list[Any]:
        """One step; members of a batch that are done keep their state."""
        outs = [settled(o) for o in self.fun(*args)]
        if self.until is not None and any(map(is_batched, args)):
            if is_batched(goes_on := _negation(self.until(*args))):
                outs = [np.where(goes_on, new, old) for new, old in zip(outs, args)]
        return outs

    def run(self, args: Sequence[Any]) -> list[Any]:
        carry, xs = list(args[: self.carried]), args[self.carried :]
        columns: list[Column] = []
        taken = 0
        while taken != self.length:
            if self.until is not None and not any_member(_negation(self.until(*carry))):
                break
            if self.kept is not None:
                self.kept.offer(taken, carry)
            index = self.length - 1 - taken if self.reverse else taken
            inputs = [*carry, *[x[index] for x in xs]]
            outs = unchanged(self.step, inputs)
            if taken == 0:
                check_carry(map(type_of, carry), map(type_of, outs[: self.carried]))
                columns = [Column(self.length) for _ in outs[self.carried :]]
            carry = outs[: self.carried]
            for column, y in zip(columns, outs[self.carried :]):
                column.put(index, y)
            taken += 1
        if self.taken is not None:
            self.taken[:] = [taken]
        if self.kept is not None:
            self.kept.finish(taken)
        if taken == 0 and self.until is None:
            return super().run(args)
        return [*carry, *[column.stacked() for column in columns]]

    def forward(self, trace: Forward | Batch, args: Sequence[Any]) -> list[Any]:
        if not any(map(recorded, [*args, *reachable(self.closed_over)])):
            return self.run(args)  # nothing beneath keeps anything
        if self.until is None:
            return super().forward(trace, args)
        loop, until = LoopParts(trace, args), self.until

        def ended(*flat):
            with loop.running():
                traced, parts = trace.parts(until(*loop.whole(flat)))
            return np.all(parts[0], axis=0) if traced and isinstance(trace, Batch) else parts[0]

        def body(*flat):
            with loop.running():
                return loop.parts(self.step(loop.whole(flat)))

        def run():
            over = self.like(body, len(loop.state), hints_below(trace, self.closed_over))
            over.until = ended
            return bind(over, loop.state, below=trace)

        return loop.whole(loop.settle(run))

    batch = forward

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        if trace.push or trace.linear:  # whether it is linear its steps tell
            return self.run(args)
        kept = Kept(
            self.slots,
            self.length if self.until is None else None,
            Memory() if self.spill is None else Disk(None if self.spill == "disk" else self.spill),
        )
        mine = [trace.own(a) for a in args]
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()
            loop = self.like(self.fun, self.carried, self.closed_over)
            loop.kept, loop.taken = kept, self.taken
            if self.taken is None:
                loop.taken = [self.length] if self.until is None else []
            outs = bind(loop, values, below=trace)
        if not captured and not any(tracer is not None for tracer in mine):
            return outs
        closures = {slot: tracer.value for slot, tracer in captured.items()}
        if any(map(recorded, [*values, *closures.values()])):
            kept.take()  # what there is may be of a run that was begun again
        again = Reversal(self, trace, mine, values, closures, outs, kept, *loop.taken)
        watched = [*values, *closures.values(), *self.closed_over]
        return record_call(trace, _PLAN, again.parents, outs, again, watched)

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        if self.until is None:
            loop = Scan(self.fun, self.carried, self.length, self.reverse, self.closed_over)
            return loop.stage(trace, args)
        if self.taken is not None:  # it is to be run backwards, which takes the number of steps
            raise errors.StagedDerivativeError("reverse mode through until=", describe(*caller()))

        def goes_on(*state):
            return _negation(self.until(*state))

        if self.length is None:
            return While(goes_on, self.fun, self.closed_over).stage(trace, args)

        def test(count, *state):
            return np.logical_and(np.less(count, self.length), goes_on(*state))

        def body(count, *state):
            return [np.add(count, 1), *self.fun(*state)]

        return While(test, body, self.closed_over).stage(trace, [np.int64(0), *args])[1:]


def _negation(x: Any) -> Any:
    x = settled(x)
    return np.logical_not(x) if isinstance(x, Tracer) else not x


_PLAN = CallPlan(Primitive("checkpointed_loop", checkpointed, ("*args",)), pull_again, masks=True)
