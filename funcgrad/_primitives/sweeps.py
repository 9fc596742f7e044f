"""The backward sweep of a loop of which some states are kept: advance to a state, record a step, go back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._core.tracer import Reading, Tracer, deriving, is_deriving, rerunning, settled, successors
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.calls import Call, bind, differentiable, unchanged
from funcgrad._interpreters.record import Record, Rerecord
from funcgrad._interpreters.reruns import Flow, pull_recorded
from funcgrad._interpreters.reverse import fit
from funcgrad._interpreters.stage import Stage
from funcgrad._primitives.checkpoints import Checkpoint
from funcgrad._primitives.purity import Held, reading
from funcgrad._primitives.schedules import Kept, split

_SHORT = 8  # steps that are recorded at once where the backward sweep is itself recorded

_NOTHING: Flow = (None, None)


def recorded(x: Any) -> bool:
    """Whether operations on a value are kept by a trace, at any level."""
    todo = [x]
    while todo:
        x = settled(todo.pop())
        if isinstance(x, Tracer):
            if isinstance(x._trace, (Record, Stage)):
                return True
            todo += x._trace.parts(x)[1]
    return False


class Reversal:
    """What the tape keeps of a loop.

    Attributes:
        call: the loop.
        args: what it was called with; `traced` are the positions of those that have rows.
        values: the values of these, and of the rows that the steps close over, in the order of `parents`.
        closures: the rows that the steps close over.
        origin: the trace, if there are any.
        level, cuts: the trace's.
        slots: the rows of `parents`, by what a step reads of them.
        stand_ins: of traces that ran again at the time.
        kept: the states that were kept, for the first walk; another finds them again.
        length: the number of steps.
        active: the leaves of the state that depend on what is traced, as far as is known.
        held: what the loop's last state was.
        is_rule: whether it is part of a rule.
    """

    saved = ()  # results of operations, as a checkpoint may have them

    def __init__(self, call, trace: Record, mine, args, closures: dict[int, Any], outs, kept: Kept, length):
        self.call, self.args, self.kept = call, args, kept
        self.traced = [i for i, tracer in enumerate(mine) if tracer is not None]
        self.parents = [(mine[i].slot, args[i]) for i in self.traced] + list(closures.items())
        self.values = {number: value for number, (_, value) in enumerate(self.parents)}
        self.closures = list(closures)
        self.origin = trace if closures else None
        self.level, self.cuts = trace.level, trace.cuts
        places = [*[("state", i) for i in range(call.carried)], *[("x", i) for i in range(len(args))]]
        self.slots = {places[i]: mine[i].slot for i in self.traced} | {slot: slot for slot in closures}
        self.stand_ins, self.is_rule = successors(), is_deriving()
        self.length = length
        self.active = {i for i in self.traced if i < call.carried}
        self.held = Held(outs[: call.carried])

    def pull(self, values: Sequence[Any], cts: dict[int, Any], lives: dict[int, Any], masks: bool):
        """The inputs' cotangents and masks of structural zeros, given the inputs and the results'."""
        args, count = list(self.args), self.call.carried
        for i, value in zip(self.traced, values):
            args[i] = value
        closures = list(values[len(self.traced) :])
        outs = [(cts.get(i), lives.get(i)) for i in range(len(self.held.shapes))]
        outs += [(cts[i], lives.get(i)) for i in sorted(cts) if i >= count]
        ys = [i - count for i in sorted(cts) if i >= count]
        nested = any(map(recorded, [*values, *cts.values()]))
        kept = [] if nested else self.kept.take()
        while True:
            sweep = Sweep(self, ys, masks)
            try:
                if nested:
                    state, xs, shares = sweep.nested(args[:count], args[count:], closures, outs)
                else:
                    state, xs, shares = sweep.run(kept, args[:count], args[count:], closures, outs)
            except Widened as widened:
                if widened.sweep is not sweep:
                    raise
                self.active = self.active | widened.leaves
                kept = []
            else:
                break
        flows = dict(enumerate(state)) | {count + i: flow for i, flow in xs.items()}
        results = [*[flows.get(i, _NOTHING) for i in self.traced], *shares]
        return [ct for ct, _ in results], [live for _, live in results]


class Widened(Exception):
    """More leaves of the state depend on what is traced than were known to."""

    def __init__(self, sweep: Sweep, leaves: set[int]):
        self.sweep, self.leaves = sweep, leaves


class Sweep:
    """One walk back over a loop.

    Attributes:
        ys: the numbers of the stacked results that have a cotangent.
        masks: whether structural zeros are told from others.
        active, active_xs: which leaves of the state, and of `xs`, have cotangents.
    """

    def __init__(self, row: Reversal, ys: Sequence[int], masks: bool):
        self.row, self.call, self.ys, self.masks = row, row.call, ys, masks
        self.active = sorted(row.active)
        self.active_xs = [i - row.call.carried for i in row.traced if i >= row.call.carried]

    def run(self, kept, init, xs, closures, outs) -> tuple[list[Flow], dict[int, Flow], list[Flow]]:
        """The flows of the first state, of the `xs` and of what the steps close over, given the results'."""
        row, call = self.row, self.call
        length, count = row.length, call.carried
        shelf, slots = row.kept.shelf, row.kept.slots
        stack = kept or [(0, None)]
        flows, ys = outs[:count], outs[count:]
        totals: list[Flow] = [_NOTHING] * len(closures)
        columns = {i: _Columns(length) for i in self.active_xs}
        after, end = row.held, length
        while stack and end:
            position, stored = stack[-1]
            state = shelf.get(stored) if position else init
            if end - position > 1:
                ahead = position + split(end - position, slots - len(stack) + 1)
                for step in range(position, ahead):
                    state = self.advance(state, [x[self._index(step)] for x in xs], closures)
                stack.append((ahead, shelf.put(state)))
                continue
            stack.pop()
            index = self._index(position)
            given = [x[index] for x in xs]
            g = [*flows, *[_at(flow, index) for flow in ys]]
            flows, x_flows, shares = self.back(state, given, closures, g, after)
            for i, flow in x_flows.items():
                columns[i].put(index, flow, self.masks)
            totals = [_add(*pair) for pair in zip(totals, shares)]
            after, end = Held(state), position
        return flows, {i: column.flow(xs[i]) for i, column in columns.items()}, totals

    def _index(self, position: int) -> int:
        return self.row.length - 1 - position if self.call.reverse else position

    def _running(self, stand_in: Any):
        return rerunning(self.row.stand_ins, self.row.origin, stand_in)

    def _reader(self, closures: Sequence[Any]) -> Reading:
        return reading(self.row.origin, dict(zip(self.row.closures, closures)))

    def advance(self, state: Sequence[Any], x: Sequence[Any], closures: Sequence[Any]) -> list[Any]:
        """The state after a step."""
        with self._running(self._reader(closures)):
            return unchanged(self.call.step, [*state, *x])[: len(state)]

    def back(self, state, x, closures, g: Sequence[Flow], after: Held | None):
        """The flows of a step's state, x and closures, given those of its results."""
        row, count = self.row, len(state)
        values = {("state", i): state[i] for i in self.active if differentiable(state[i])}
        values |= {("x", i): x[i] for i in self.active_xs}
        values |= dict(zip(row.closures, closures))
        trace = Rerecord(row.origin, row.level, values)
        keys = [*[("state", i) for i in range(count)], *[("x", i) for i in range(len(x))]]
        inputs = [trace.given(key) if key in values else v for key, v in zip(keys, [*state, *x])]
        with self._running(trace):
            with deriving(row.is_rule):
                outs = unchanged(self.call.step, inputs)
            trace.close()
            own = [trace.own(o) for o in outs]
            if more := {i for i in range(count) if own[i] is not None} - row.active:
                raise Widened(self, more)
            if after is not None:
                results = [o if mine is None else mine.value for o, mine in zip(outs[:count], own)]
                after.verify(results, lambda: self.advance(state, x, closures), "a checkpointed loop")
            numbers = [*range(count), *[count + i for i in self.ys]]
            cts, lives = pull_recorded(trace, outs, dict(zip(numbers, g)), self.masks)
        trace.pass_on_cuts(cts, row.cuts, row.slots)
        likes = values.values()
        flows = [(fit(ct, shape_of(v), dtype_of(v)), live) for ct, live, v in zip(cts, lives, likes)]
        by_key = dict(zip(values, flows))
        back = [by_key.get(("state", i), _NOTHING) for i in range(count)]
        return back, {i: by_key["x", i] for i in self.active_xs}, [by_key[slot] for slot in row.closures]

    # ---- where the sweep is itself recorded: halves are checkpoints of their own -----------------

    def nested(self, init, xs, closures, outs):
        """As `run`, for traces that would keep each operation: memory and repetitions grow with the logarithm
        of the length."""
        count, reverse = self.call.carried, self.call.reverse
        if self.row.length == 0:
            return outs[:count], dict.fromkeys(self.active_xs, _NOTHING), [_NOTHING] * len(closures)
        if reverse:
            xs = [x[::-1] for x in xs]
            outs = [*outs[:count], *[_each(flow, lambda part: part[::-1]) for flow in outs[count:]]]
        state, found, totals = self._segment(self.row.length, init, xs, closures, outs)
        if reverse:
            found = {i: _each(flow, lambda part: part[::-1]) for i, flow in found.items()}
        return state, found, totals

    def _segment(self, length: int, state, xs, closures, outs):
        count = len(state)
        if length <= _SHORT:
            return self._steps(length, state, xs, closures, outs)
        half = length // 2
        first, second = slice(None, half), slice(half, None)

        def part(outs, piece):
            return [*outs[:count], *[_each(flow, lambda ct: ct[piece]) for flow in outs[count:]]]

        middle = self._bound_advance(half, state, [x[first] for x in xs], closures)
        later = self._bound(length - half, middle, [x[second] for x in xs], closures, part(outs, second))
        outs = [*later[0], *outs[count:]]
        sooner = self._bound(half, state, [x[first] for x in xs], closures, part(outs, first))
        found = {i: _joined(sooner[1][i], later[1][i], xs[i], half, self.masks) for i in self.active_xs}
        return sooner[0], found, [_add(*pair) for pair in zip(sooner[2], later[2])]

    def _steps(self, length: int, state, xs, closures, outs):
        count = len(state)
        states = [state]
        for i in range(length - 1):
            states.append(self.advance(states[-1], [x[i] for x in xs], closures))
        flows, totals = outs[:count], [_NOTHING] * len(closures)
        found = {i: _Columns(length) for i in self.active_xs}
        for i in range(length - 1, -1, -1):
            g = [*flows, *[_at(flow, i) for flow in outs[count:]]]
            flows, x_flows, shares = self.back(states.pop(), [x[i] for x in xs], closures, g, None)
            totals = [_add(*pair) for pair in zip(totals, shares)]
            for number, flow in x_flows.items():
                found[number].put(i, flow, self.masks)
        return flows, {i: column.flow(xs[i]) for i, column in found.items()}, totals

    def _bound_advance(self, length: int, state, xs, closures) -> list[Any]:
        hints = [*self.call.closed_over, *_tracers(closures)]
        call = self.call.like(lambda *args: self.call.step(args), len(state), hints)
        call.length, call.until, call.reverse, call.taken = length, None, False, None
        with self._running(self._reader(closures)):
            return bind(call, [*state, *xs])[: len(state)]

    def _bound(self, length: int, state, xs, closures, outs):
        """The flows of a segment, by a function that is a checkpoint to the traces beneath."""
        sizes = len(state), len(xs), len(closures)

        def flat(values):
            state, xs, closures, outs = _cut(values, sizes)
            flows, found, totals = self._segment(length, state, xs, closures, _pairs(outs))
            return [part for flow in (*flows, *found.values(), *totals) for part in flow]

        given = [*state, *xs, *closures, *[part for flow in outs for part in flow]]
        flows, found, totals = _cut(
            _pairs(bind_sparse(flat, given, self.call.closed_over)), (len(state), len(self.active_xs))
        )
        return flows, dict(zip(self.active_xs, found)), totals


def bind_sparse(fun: Callable, args: Sequence[Any], hints: Sequence[Tracer]) -> list[Any]:
    """A checkpoint of a function that takes and returns lists in which values may be missing."""
    there = [a is not None for a in args]
    present: list[bool] = []

    def flat(*values):
        rest = iter(values)
        results = fun([next(rest) if given else None for given in there])
        present[:] = [r is not None for r in results]
        return [r for r in results if r is not None]

    call: Call = Checkpoint(flat, hints)
    rest = iter(bind(call, [a for a in args if a is not None]))
    return [next(rest) if given else None for given in present]


class Column:
    """Values of steps, put together along a new first axis."""

    def __init__(self, length: int | None):
        self.length = length
        self.array: np.ndarray | None = None
        self.entries: list[Any] | None = None

    def put(self, index: int, x: Any) -> None:
        if self.entries is None and not isinstance(x, Tracer):
            shape, dtype = shape_of(x), dtype_of(x)
            if self.array is None:
                self.array = np.zeros((self.length, *shape), dtype)
            if shape == self.array.shape[1:] and dtype == self.array.dtype:
                self.array[index] = x
                return
        if self.entries is None:
            self.entries = [None] * self.length if self.array is None else list(self.array)
            self.array = None
        self.entries[index] = x

    def stacked(self, shape: tuple[int, ...] = (), dtype: Any = float) -> Any:
        """The array, None if it has no entries; `shape` and `dtype` are those of entries that are missing."""
        if self.entries is None:
            return self.array
        return np.stack([np.zeros(shape, dtype) if x is None else x for x in self.entries])


class _Columns:
    """The cotangents of the entries of one of the `xs`, and their masks of structural zeros."""

    def __init__(self, length: int):
        self.cts, self.lives = Column(length), Column(length)

    def put(self, index: int, flow: Flow, masks: bool) -> None:
        ct, live = flow
        if ct is None:  # all its entries are structural zeros
            return
        self.cts.put(index, ct)
        if masks:
            self.lives.put(index, np.ones(shape_of(ct), bool) if live is None else live)

    def flow(self, like: Any) -> Flow:
        shape = shape_of(like)[1:]
        return self.cts.stacked(shape, dtype_of(like)), self.lives.stacked(shape, bool)


def _joined(first: Flow, second: Flow, like: Any, half: int, masks: bool) -> Flow:
    """The flow along a first axis whose two parts are given."""
    if first[0] is None and second[0] is None:
        return _NOTHING
    pieces = []
    for (ct, live), entries in ((first, like[:half]), (second, like[half:])):
        shape = shape_of(entries)
        live = np.full(shape, ct is not None) if masks and live is None else live
        pieces.append((np.zeros(shape, dtype_of(like)) if ct is None else ct, live))
    return np.concatenate([ct for ct, _ in pieces]), np.concatenate([m for _, m in pieces]) if masks else None


def _add(a: Flow, b: Flow) -> Flow:
    """The sum of flows, in place in an array of the first, which nobody else has."""
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    live = None if a[1] is None or b[1] is None else a[1] | b[1]
    total, share = a[0], b[0]
    if type(total) is type(share) is np.ndarray and total.dtype == share.dtype and total.flags.owndata:
        return np.add(total, share, total), live
    return total + share, live


def _at(flow: Flow, index: int) -> Flow:
    return _each(flow, lambda part: part[index])


def _each(flow: Flow, f: Callable) -> Flow:
    ct, live = flow
    return (None if ct is None else f(ct)), (None if live is None else f(live))


def _pairs(flat: Sequence[Any]) -> list[Flow]:
    return list(zip(flat[::2], flat[1::2]))


def _cut(values: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    pieces, start = [], 0
    for size in sizes:
        pieces.append(list(values[start : start + size]))
        start += size
    return [*pieces, list(values[start:])]


def _tracers(values: Sequence[Any]) -> list[Tracer]:
    return [v for v in values if isinstance(v, Tracer)]
