"""Loops as equations of programs: what they share, and while_loop.

Where values are known a loop is Python's, and its steps are recorded as any other operations are. Where a
program is written, it is one equation with nested programs: each trace above the program rewrites it to a
loop over what its values are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import own_box
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, continuing, settled, suspending
from funcgrad._core.types import type_of
from funcgrad._interpreters.batch import Batch, any_member, is_batched
from funcgrad._interpreters.calls import Call, bind, hints_below
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.stage import Stage, is_staged, nested
from funcgrad._primitives.checkpoints import CallPrimitive, program_function
from funcgrad._primitives.lifting import lift_like


def apply(call: Call, args: Sequence[Any]) -> list[Any]:
    """The results of a loop or choice: as one operation where a program is written, else as Python has it."""
    if any(is_staged(x) for x in [*args, *call.closed_over]):
        return bind(call, args)
    return call.run(args)


class LoopParts:
    """What a loop's state is made of for a `Forward` or `Batch` trace: the same in every step.

    A value that becomes traced in some step is so from the start. That is found out by running steps:
    `settle` begins again until it is known.
    """

    def __init__(self, trace: Forward | Batch, state: Sequence[Any]):
        self.trace, self.given = trace, state
        self.traced = [trace.parts(x)[0] for x in state]

    @property
    def state(self) -> list[Any]:
        return [part for x, traced in zip(self.given, self.traced) for part in self._parts(x, traced)]

    def _parts(self, x: Any, traced: bool) -> tuple:
        return (self.trace.spread(x) if traced else self.trace.parts(x))[1]

    def settle(self, run: Callable[[], list[Any]]) -> list[Any]:
        """The results of `run`, once it is known which values of the state are traced."""
        while True:
            try:
                return run()
            except _MoreIsTraced as found:
                if found.loop is not self:
                    raise

    def whole(self, flat: Sequence[Any], traced: Sequence[bool] | None = None) -> list[Any]:
        """Values from their parts; those of the state, if nothing else is said."""
        rest = iter(flat)
        width = 2 if isinstance(self.trace, Forward) else 1
        return [
            self.trace.whole(*[next(rest) for _ in range(width)]) if own else next(rest)
            for own in (self.traced if traced is None else traced)
        ]

    def parts(self, values: Sequence[Any]) -> list[Any]:
        """The parts of the state after a step."""
        traced = [known or self.trace.parts(x)[0] for x, known in zip(values, self.traced)]
        if traced != self.traced:
            self.traced = traced
            raise _MoreIsTraced(self)
        return [part for x, own in zip(values, traced) for part in self._parts(x, own)]

    def running(self):
        """The context of the functions, also when the trace has ended."""
        return continuing(self.trace)


class _MoreIsTraced(Exception):
    """A value of a loop's state was found to be traced after a step, though not before it."""

    def __init__(self, loop: LoopParts):
        self.loop = loop


def own_value(x: Any) -> Any:
    """A value that a step may change in place without changing the caller's array."""
    return np.array(x) if type(x) is np.ndarray else own_box(x)


def check_carry(before, after) -> None:
    """A loop's state must have the same types after each step."""
    for index, (old, new) in enumerate(zip(before, after)):
        if old.shape != new.shape or (old.dtype != new.dtype and not old.weak):
            raise errors.CarryTypeError(index, str(old), str(new), describe(*caller()))


class LoopPrimitive(CallPrimitive):
    """What stands for a loop in programs; the values that its functions close over come first."""

    __slots__ = ()

    def __call__(self, *args, **params):
        return tuple(apply(*self.call_of(args, **params)))

    def _run(self, *args, **params):
        call, args = self.call_of(args, **params)
        return tuple(call.run(args))


def first_state(state: Sequence[Any], beside: Sequence[Any]) -> list[Any]:
    """A loop's state before its first step, as arrays of its own: the body may write into them.

    So an array of it is traced if anything is that the loop is given, or is known to close over.
    """
    traced = [x for x in map(settled, (*state, *beside)) if isinstance(x, Tracer)]
    newest = max(traced, key=lambda x: x._trace.level, default=None)
    own = map(own_value, state)
    return [lift_like(newest, x) if type(x) is np.ndarray and x.ndim else x for x in own]


class While(Call):
    """``fun(*state) -> state`` while ``test(*state)`` holds."""

    __slots__ = ("test",)

    def __init__(self, test: Callable, fun: Callable, hints: Sequence[Any] = ()):
        super().__init__(fun, hints)
        self.test = test

    def run(self, args: Sequence[Any]) -> list[Any]:
        state, first = first_state(args, self.closed_over), True
        while any_member(holds := settled(self.test(*state))):
            new = [settled(o) for o in self.fun(*state)]
            if first:
                check_carry(map(type_of, state), map(type_of, new))
            if is_batched(holds):  # members that are done keep their state while the others go on
                new = [np.where(holds, n, s) for n, s in zip(new, state)]
            state, first = new, False
        return state

    def forward(self, trace: Forward, args: Sequence[Any]) -> list[Any]:
        loop = LoopParts(trace, args)

        def test(*flat):
            with loop.running():
                return trace.parts(self.test(*loop.whole(flat)))[1][0]

        def body(*flat):
            with loop.running():
                return loop.parts(self.fun(*loop.whole(flat)))

        return self._through(loop, test, body)

    def batch(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        loop = LoopParts(trace, args)

        def test(*flat):
            with loop.running():
                batched, (holds,) = trace.parts(self.test(*loop.whole(flat)))
            return np.any(holds) if batched else holds

        def body(*flat):
            with loop.running():
                state = loop.whole(flat)
                holds, new = self.test(*state), self.fun(*state)
                if trace.own(holds) is not None:
                    new = [np.where(holds, n, s) for n, s in zip(new, state)]
                return loop.parts(new)

        return self._through(loop, test, body)

    def _through(self, loop: LoopParts, test: Callable, body: Callable) -> list[Any]:
        call = While(test, body, hints_below(loop.trace, self.closed_over))
        return loop.whole(loop.settle(lambda: bind(call, loop.state, below=loop.trace)))

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            outs = bind(self, values, below=trace)
        if captured:  # also of known values: the program would hold for this number of steps only
            raise errors.StagedDerivativeError("reverse mode through while_loop", describe(*caller()))
        return outs

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        types = [type_of(a) for a in args]
        test, test_consts = nested(lambda *state: [self.test(*state)], types, trace)
        body, body_consts = nested(self.fun, types, trace)
        check_carry(types, body.out_avals)
        params = {"cond_jaxpr": test, "body_jaxpr": body}
        params |= {"cond_nconsts": len(test_consts), "body_nconsts": len(body_consts)}
        return list(trace.process(while_, (*test_consts, *body_consts, *args), params))


def _while_of(args, cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts) -> tuple[While, Sequence[Any]]:
    test_consts, rest = args[:cond_nconsts], args[cond_nconsts:]
    body_consts, state = rest[:body_nconsts], rest[body_nconsts:]
    test, body = program_function(cond_jaxpr), program_function(body_jaxpr)
    hints = [c for c in (*test_consts, *body_consts) if isinstance(c, Tracer)]
    call = While(lambda *s: test(*test_consts, *s)[0], lambda *s: body(*body_consts, *s), hints)
    return call, state


while_ = LoopPrimitive("while", _while_of)
while_.typed = lambda *types, body_jaxpr, **params: body_jaxpr.out_avals
