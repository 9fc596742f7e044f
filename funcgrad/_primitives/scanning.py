"""scan as an equation of programs; its derivative is a scan, too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer, rerunning, settled, successors, suspending
from funcgrad._core.types import ShapeDtypeStruct, dtype_of, is_differentiable, shape_of, type_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import Call, CallPlan, Shares, bind, hints_below, record_call
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record, Rerecord
from funcgrad._interpreters.reruns import mask_of, pull_recorded, require_masks, with_masks_if_needed
from funcgrad._interpreters.reverse import Outputs, fitted
from funcgrad._interpreters.stage import Stage, nested, output_types
from funcgrad._primitives.checkpoints import program_function
from funcgrad._primitives.loops import LoopParts, LoopPrimitive, check_carry, first_state, own_value


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
        carry, xs = args[: self.carried], args[self.carried :]
        carry = first_state(carry, [*xs, *self.closed_over])
        steps = range(self.length)
        rows = []
        for i in reversed(steps) if self.reverse else steps:
            entries = [own_value(x[i]) for x in xs]
            for place in self.weak:
                if isinstance(entries[place], np.generic):
                    entries[place] = entries[place].item()
            outs = [settled(o) for o in self.fun(*carry, *entries)]
            if not rows:
                check_carry(map(type_of, carry), map(type_of, outs[: self.carried]))
            carry, ys = outs[: self.carried], outs[self.carried :]
            rows.append([own_value(y) if _may_be_written(y, carry) else y for y in ys])
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
        if not row.parents:
            return outs
        watched = [*row.xs, *row.closures.values(), *self.closed_over]
        return record_call(trace, _SCAN_PLAN, row.parents, outs, row, watched)

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        program, captured = nested(self.fun, self._types(args), trace)
        check_carry(map(type_of, args[: self.carried]), program.out_avals[: self.carried])
        params = {"jaxpr": program, "length": self.length, "reverse": self.reverse}
        params |= {"num_consts": len(captured), "num_carry": self.carried}
        if self.weak:
            params["weak"] = tuple(self.weak)
        return list(trace.process(scan, (*captured, *args), params))


def _may_be_written(y: Any, carry: Sequence[Any]) -> bool:
    """Whether a later step may write into a result, since it shares memory with the state."""
    if type(y) is not np.ndarray:
        return isinstance(y, Tracer)
    return any(type(c) is np.ndarray and np.may_share_memory(y, c) for c in carry)


def _steps_first(trace: Forward | Batch, x: Any) -> Any:
    """In a batch the axis of the steps in front of that of the members, or back."""
    return np.swapaxes(x, 0, 1) if isinstance(trace, Batch) else x


class _ScanRow:
    """What the tape keeps of a scan: the state before each step. The backward scan runs each step again."""

    def __init__(self, call: Scan, trace: Record, args: Sequence[Any]):
        mine = [trace.own(a) for a in args]
        count = call.carried

        def saving(*flat):
            return [*call.fun(*map(own_value, flat)), *flat[:count]]

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

    def pull(self, g: Outputs) -> Shares:
        """The inputs' shares, with masks where structural zeros come or are made in a step."""
        return with_masks_if_needed(lambda masks: self._pull(g, masks), bool(g.lives))

    def _pull(self, g: Outputs, masks: bool) -> Shares:
        call, count = self.call, self.call.carried
        flowing = [i for i, out in enumerate(self.outs) if is_differentiable(out.dtype)]
        flows = [_flow_of(self.outs[i], g.get(i), g.lives.get(i), masks) for i in flowing]
        state = [i for i in flowing if i < count]
        totals = [_flow_of(type_of(v), None, None, masks) for v in self.closures.values()]
        moving_xs = [i - count for i in self.traced if i >= count]
        width = 2 if masks else 1

        def body(*flat):
            rest = iter(flat)

            def take(number):
                return [tuple([next(rest) for _ in range(width)]) for _ in range(number)]

            state_flows, totals_before = take(len(state)), take(len(totals))
            carry, x = [next(rest) for _ in range(count)], [next(rest) for _ in self.xs]
            by_number = dict(zip(flowing, [*state_flows, *take(len(flowing) - len(state))]))
            trace = Rerecord(self.origin, self.level, self.closures)
            carry = [trace.input(c) if i in state else c for i, c in enumerate(carry)]
            x = [trace.input(v) if i in moving_xs else v for i, v in enumerate(x)]
            with rerunning(self.stand_ins, self.origin, trace):
                outs = [settled(o) for o in call.fun(*carry, *x)]
                trace.close()
                require_masks(trace, masks)
                pairs = {i: flow if masks else (*flow, None) for i, flow in by_number.items()}
                cts, lives = pull_recorded(trace, outs, pairs, masks)
            likes = [*self.closures.values(), *[carry[i] for i in state], *[x[i] for i in moving_xs]]
            found = [
                (fitted(ct, like), mask_of(ct, live, like))[:width]
                for ct, live, like in zip(cts, lives, likes)
            ]
            shares, found = found[: len(totals)], found[len(totals) :]
            added = [_sum_of(*pair) for pair in zip(totals_before, shares)]
            return [part for flow in (*found[: len(state)], *added, *found[len(state) :]) for part in flow]

        first, carried = flows[: len(state)], len(state) + len(totals)
        back = Scan(body, width * carried, call.length, not call.reverse)
        back.weak = [*self.weak, *[count + place for place in call.weak]]
        given = [part for flow in (*first, *totals) for part in flow]
        entries = [part for flow in flows[len(state) :] for part in flow]
        outs = bind(back, [*given, *self.carries, *self.xs, *entries])
        results = [(*outs[k : k + width], None)[:2] for k in range(0, len(outs), width)]
        by_leaf = dict(
            zip([*state, *[count + i for i in moving_xs]], results[: len(state)] + results[carried:])
        )
        shares = [*[by_leaf.get(i, (None, None)) for i in self.traced], *results[len(state) : carried]]
        return Shares([ct for ct, _ in shares], [live for _, live in shares])


def _flow_of(out: ShapeDtypeStruct, ct: Any, live: Any, masks: bool) -> tuple:
    """A cotangent, and its mask if there are to be any; zeros where nothing flows."""
    mask = np.full(out.shape, ct is not None) if live is None else live
    ct = np.zeros(out.shape, out.dtype) if ct is None else ct
    return (ct, mask) if masks else (ct,)


def _sum_of(total: tuple, share: tuple) -> tuple:
    return (total[0] + share[0], *[np.logical_or(a, b) for a, b in zip(total[1:], share[1:])])


def _scan_of(args, jaxpr, length, reverse, num_consts, num_carry, weak=()) -> tuple[Scan, Sequence[Any]]:
    consts, program = args[:num_consts], program_function(jaxpr)
    hints = [c for c in consts if isinstance(c, Tracer)]
    call = Scan(lambda *rest: program(*consts, *rest), num_carry, length, reverse, hints)
    call.weak = weak
    return call, args[num_consts:]


def _scan_types(*types, jaxpr, length, num_carry, **params):
    stacked = [ShapeDtypeStruct((length, *t.shape), t.dtype) for t in jaxpr.out_avals[num_carry:]]
    return [*jaxpr.out_avals[:num_carry], *stacked]


scan = LoopPrimitive("scan", _scan_of)
scan.typed = _scan_types
_SCAN_PLAN = CallPlan(scan, _ScanRow.pull, masks=True)
