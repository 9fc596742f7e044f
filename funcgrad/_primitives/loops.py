"""scan and while_loop as equations of programs.

Where values are known a loop is Python's, and its steps are recorded as any other operations are. Where a
program is written, it is one equation with nested programs: each trace above the program rewrites it to a
loop over what its values are made of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, continuing, rerunning, settled, successors, suspending
from funcgrad._core.types import ShapeDtypeStruct, dtype_of, is_differentiable, shape_of, type_of, zeros_of
from funcgrad._interpreters.batch import Batch, any_member, is_batched
from funcgrad._interpreters.calls import Call, CallPlan, bind, hints_below, record_call
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record, Rerecord
from funcgrad._interpreters.reverse import Outputs, fitted, pull_back
from funcgrad._interpreters.stage import Stage, is_staged, nested, output_types
from funcgrad._primitives.checkpoints import CallPrimitive, program_function


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


# ---- scan ----------------------------------------------------------------------------------------


class Scan(Call):
    """``fun(*carry, *x) -> [*carry, *y]`` along the first axes of `xs`.

    Attributes:
        carried: how many values are carried.
        length: the number of steps.
        reverse: whether the last step comes first.
        weak: which of `xs` hold Python scalars, whose entries are to be such again.
    """

    __slots__ = ("carried", "length", "reverse", "weak")

    def __init__(self, fun: Callable, carried: int, length: int, reverse: bool, hints: Sequence[Any] = ()):
        super().__init__(fun, hints)
        self.carried, self.length, self.reverse = carried, length, reverse
        self.weak: Collection[int] = ()

    def like(self, fun: Callable, carried: int, hints: Sequence[Any]) -> Scan:
        return Scan(fun, carried, self.length, self.reverse, hints)

    def run(self, args: Sequence[Any]) -> list[Any]:
        carry, xs = [_own(x) for x in args[: self.carried]], args[self.carried :]
        steps = range(self.length)
        rows = []
        for i in reversed(steps) if self.reverse else steps:
            entries = [_own(x[i]) for x in xs]
            for place in self.weak:
                if isinstance(entries[place], np.generic):
                    entries[place] = entries[place].item()
            outs = [settled(o) for o in self.fun(*carry, *entries)]
            if not rows:
                check_carry(map(type_of, carry), map(type_of, outs[: self.carried]))
            carry = outs[: self.carried]
            rows.append(outs[self.carried :])
        if not rows:
            types = output_types(self.fun, self._types(args))
            return [*carry, *[np.zeros((0, *t.shape), t.dtype) for t in types[self.carried :]]]
        if self.reverse:
            rows.reverse()
        return [*carry, *[np.stack(column) for column in zip(*rows)]]

    def _types(self, args: Sequence[Any]) -> list[ShapeDtypeStruct]:
        """The types of the function's arguments."""
        carry, xs = args[: self.carried], args[self.carried :]
        steps = [(shape_of(x)[1:], dtype_of(x), place in self.weak) for place, x in enumerate(xs)]
        return [*map(type_of, carry), *[ShapeDtypeStruct(*step) for step in steps]]

    def forward(self, trace: Forward | Batch, args: Sequence[Any]) -> list[Any]:
        loop = LoopParts(trace, args[: self.carried])
        xs = [trace.parts(x) for x in args[self.carried :]]
        xs_traced = [traced for traced, _ in xs]
        flat_xs = [_steps_first(trace, p) if own else p for own, parts in xs for p in parts]
        starts = list(itertools.accumulate([len(parts) for _, parts in xs], initial=0))
        y_traced: list[bool] = []

        def body(*flat):
            carry, x = flat[: len(loop.state)], flat[len(loop.state) :]
            with loop.running():
                outs = self.fun(*loop.whole(carry), *loop.whole(x, xs_traced))
                y = [trace.spread(o) for o in outs[self.carried :]]
                y_traced[:] = [traced for traced, _ in y]
                return [*loop.parts(outs[: self.carried]), *[part for _, parts in y for part in parts]]

        def run():
            call = self.like(body, len(loop.state), hints_below(trace, self.closed_over))
            call.weak = [starts[place] for place in self.weak if not xs_traced[place]]
            return bind(call, [*loop.state, *flat_xs], below=trace)

        outs = loop.settle(run)
        ys = [_steps_first(trace, y) for y in outs[len(loop.state) :]]
        return [*loop.whole(outs[: len(loop.state)]), *loop.whole(ys, y_traced)]

    batch = forward

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        if trace.push:
            return self.run(args)
        row = _ScanRow(self, trace, args)
        outs, kept = row.outs[: len(row.outs) - self.carried], row.outs[len(row.outs) - self.carried :]
        row.carries, row.outs = kept, [type_of(o) for o in outs]
        return record_call(trace, _SCAN_PLAN, row.parents, outs, row) if row.parents else outs

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        program, captured = nested(self.fun, self._types(args), trace)
        check_carry(map(type_of, args[: self.carried]), program.out_avals[: self.carried])
        params = {"jaxpr": program, "length": self.length, "reverse": self.reverse}
        params |= {"num_consts": len(captured), "num_carry": self.carried}
        if self.weak:
            params["weak"] = tuple(self.weak)
        return list(trace.process(scan, (*captured, *args), params))


def _steps_first(trace: Forward | Batch, x: Any) -> Any:
    """In a batch the axis of the steps in front of that of the members, or back."""
    return np.swapaxes(x, 0, 1) if isinstance(trace, Batch) else x


def _own(x: Any) -> Any:
    """A value that a step may change in place without changing the caller's array."""
    return np.array(x) if type(x) is np.ndarray else x


def check_carry(before, after) -> None:
    """A loop's state must have the same types after each step."""
    for index, (old, new) in enumerate(zip(before, after)):
        if old.shape != new.shape or (old.dtype != new.dtype and not old.weak):
            raise errors.CarryTypeError(index, str(old), str(new), describe(*caller()))


class _ScanRow:
    """What the tape keeps of a scan: the state before each step. The backward scan runs each step again."""

    def __init__(self, call: Scan, trace: Record, args: Sequence[Any]):
        mine = [trace.own(a) for a in args]
        count = call.carried

        def saving(*flat):
            return [*call.fun(*flat), *flat[:count]]

        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()
            saved = call.like(saving, count, call.closed_over)
            saved.weak = call.weak
            self.outs = bind(saved, values, below=trace)
            self.stand_ins = successors()
        self.call, self.xs, self.level = call, values[count:], trace.level
        pairs = zip(values[:count], self.outs)
        self.weak = [i for i, (v, o) in enumerate(pairs) if type_of(v).weak and type_of(o).weak]
        self.closures = {slot: tracer.value for slot, tracer in captured.items()}
        self.origin = trace if captured else None
        self.traced = [i for i, tracer in enumerate(mine) if tracer is not None]
        self.parents = [(mine[i].slot, values[i]) for i in self.traced] + list(self.closures.items())

    def pull(self, g: Outputs) -> list[Any]:
        call, count = self.call, self.call.carried
        flowing = [i for i, out in enumerate(self.outs) if is_differentiable(out.dtype)]
        cts = [g.get(i, np.zeros(self.outs[i].shape, self.outs[i].dtype)) for i in flowing]
        state = [i for i in flowing if i < count]
        zeros = [zeros_of(v) for v in self.closures.values()]
        moving_xs = [i - count for i in self.traced if i >= count]

        def body(*flat):
            rest = iter(flat)
            ct_state, totals = [next(rest) for _ in state], [next(rest) for _ in zeros]
            carry, x = [next(rest) for _ in range(count)], [next(rest) for _ in self.xs]
            trace = Rerecord(self.origin, self.level, self.closures)
            carry = [trace.input(c) if i in state else c for i, c in enumerate(carry)]
            x = [trace.input(v) if i in moving_xs else v for i, v in enumerate(x)]
            with rerunning(self.stand_ins, self.origin, trace):
                outs = [settled(o) for o in call.fun(*carry, *x)]
                trace.close()
                seeds = dict(zip(flowing, [*ct_state, *rest]))
                reached = [i for i in flowing if trace.own(outs[i]) is not None]
                rows = [outs[i].slot for i in reached]
                pulled = pull_back(trace.tape, rows, [seeds[i] for i in reached], consume=True)
            likes = [*zeros, *[carry[i] for i in state], *[x[i] for i in moving_xs]]
            pulled = [fitted(ct, like) for ct, like in zip(pulled, likes)]
            shares, pulled = pulled[: len(zeros)], pulled[len(zeros) :]
            totals = [total + share for total, share in zip(totals, shares)]
            return [*pulled[: len(state)], *totals, *pulled[len(state) :]]

        first = len(state)
        back = Scan(body, first + len(zeros), call.length, not call.reverse)
        back.weak = [*self.weak, *[count + place for place in call.weak]]
        outs = bind(back, [*cts[:first], *zeros, *self.carries, *self.xs, *cts[first:]])
        by_leaf = dict(zip(state, outs))
        by_leaf |= zip([count + i for i in moving_xs], outs[first + len(zeros) :])
        return [*[by_leaf.get(i) for i in self.traced], *outs[first : first + len(zeros)]]


def _scan_of(args, jaxpr, length, reverse, num_consts, num_carry, weak=()) -> tuple[Scan, Sequence[Any]]:
    consts, program = args[:num_consts], program_function(jaxpr)
    hints = [c for c in consts if isinstance(c, Tracer)]
    call = Scan(lambda *rest: program(*consts, *rest), num_carry, length, reverse, hints)
    call.weak = weak
    return call, args[num_consts:]


class LoopPrimitive(CallPrimitive):
    """What stands for a loop in programs; the values that its functions close over come first."""

    __slots__ = ()

    def __call__(self, *args, **params):
        return tuple(apply(*self.call_of(args, **params)))

    def _run(self, *args, **params):
        call, args = self.call_of(args, **params)
        return tuple(call.run(args))


def _scan_types(*types, jaxpr, length, num_carry, **params):
    stacked = [ShapeDtypeStruct((length, *t.shape), t.dtype) for t in jaxpr.out_avals[num_carry:]]
    return [*jaxpr.out_avals[:num_carry], *stacked]


scan = LoopPrimitive("scan", _scan_of)
scan.typed = _scan_types
_SCAN_PLAN = CallPlan(scan, _ScanRow.pull)


# ---- while_loop ----------------------------------------------------------------------------------


class While(Call):
    """``fun(*state) -> state`` while ``test(*state)`` holds."""

    __slots__ = ("test",)

    def __init__(self, test: Callable, fun: Callable, hints: Sequence[Any] = ()):
        super().__init__(fun, hints)
        self.test = test

    def run(self, args: Sequence[Any]) -> list[Any]:
        state, first = [_own(x) for x in args], True
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
