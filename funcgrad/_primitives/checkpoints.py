"""checkpoint: a call whose residuals are its inputs; the backward sweep runs the function again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._core.evaluation import evaluate
from funcgrad._core.primitive import Primitive
from funcgrad._core.tracer import Tracer, deriving, is_deriving, rerunning, settled, successors, suspending
from funcgrad._interpreters.calls import (
    Call,
    CallPlan,
    Parts,
    Shares,
    bind,
    hints_below,
    record_call,
    unchanged,
)
from funcgrad._interpreters.linearity import dependence
from funcgrad._interpreters.record import Record, Rerecord
from funcgrad._interpreters.reruns import pull_recorded
from funcgrad._interpreters.reverse import Outputs
from funcgrad._interpreters.stage import Stage, nested
from funcgrad._primitives.kinds import PRIMITIVES
from funcgrad._primitives.purity import Held, reading
from funcgrad._primitives.saving import Differs, Reusing, Saved, Saving, given_rows


class Checkpoint(Call):
    """To a recording trace one row, of which nothing but the inputs is kept, and what the policy says.

    The row's derivative is a checkpoint too, so that the traces below keep no more either.

    Attributes:
        policy: None, or a function of `Operation` that says whether its results are saved.
    """

    __slots__ = ("policy",)

    def __init__(self, fun: Callable, closed_over: Sequence[Any] = (), policy: Callable | None = None):
        super().__init__(fun, closed_over)
        self.policy = policy

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        if trace.push:  # kept for a linear function, which is to be fast
            return list(self.fun(*args))
        call: Call = self
        if self.policy is not None:
            saving = Saving(self.fun, self.policy, trace, given_rows(trace, args))
            call = Checkpoint(saving, self.closed_over, self.policy)
        with suspending(trace) as captured:
            values, given = [settled(a) for a in args], dict(captured)
            captured.clear()  # what is read from now on, the function closes over
            outs, saved = bind(call, values, below=trace), []
        if self.policy is not None:
            count = len(outs) - saving.size
            outs, saved = outs[:count], outs[count:]
        inputs = given | captured
        if not inputs:
            return outs
        again = Rerun(self, trace, args, inputs, bool(captured), outs)
        if saved:
            again.saved, again.layout = saved, saving.saved
        parents = [(slot, tracer.value) for slot, tracer in inputs.items()]
        watched = [*args, *[value for _, value in parents], *self.closed_over]
        return record_call(trace, _PLAN, parents, outs, again, watched)

    def forward(self, trace, args: Sequence[Any]) -> list[Any]:
        parts = Parts(trace, self.fun, args)
        hints = hints_below(trace, self.closed_over)
        return parts.whole(bind(Checkpoint(parts, hints, self.policy), parts.args, below=trace))

    batch = forward

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        program, captured = nested(self.fun, args, trace)
        params = {"jaxpr": program} | ({} if self.policy is None else {"policy": self.policy})
        return list(trace.process(checkpoint, (*captured, *args), params))


class Rerun:
    """What the tape keeps of a checkpoint: the function and its inputs.

    Attributes:
        call, args: what is called; traced arguments stand there as their rows.
        values: by their rows, the values of the traced inputs.
        origin: the trace, if the function closes over tracers of it.
        level: the trace's.
        stand_ins: of traces that ran again at the time.
        held: what the results were, so that a function that gives others is found out.
        saved: results of operations that were saved; `layout` says of which.
        cuts: the trace's.
        is_rule: whether the function is the pull of another checkpoint.
    """

    __slots__ = (
        "call", "args", "values", "origin", "level", "stand_ins", "held", "saved", "layout", "cuts",
        "is_rule",
    )  # fmt: skip

    def __init__(self, call: Call, trace: Record, args, inputs: dict[int, Tracer], closes: bool, outs):
        self.call = call
        rows = [None if (mine := trace.own(a)) is None else mine.slot for a in map(settled, args)]
        self.args = [a if row is None else RowOf(row) for a, row in zip(args, rows)]
        self.values = {slot: tracer.value for slot, tracer in inputs.items()}
        self.origin = trace if closes else None
        self.level, self.cuts = trace.level, trace.cuts
        self.stand_ins, self.is_rule = successors(), is_deriving()
        self.held = Held(outs)
        self.saved: Sequence[Any] = ()
        self.layout: dict[int, Saved] = {}

    def pull(self, values: Sequence[Any], cts: dict[int, Any], lives: dict[int, Any], masks: bool):
        """The inputs' cotangents and masks of structural zeros, given the inputs and the results'.

        After the inputs, `values` has what was saved.
        """
        values, saved = values[: len(self.values)], values[len(self.values) :]
        by_row = dict(zip(self.values, values))
        trace, outs = self._recorded(by_row, saved)
        with self._resuming(trace):
            results = [o.value if trace.own(o) is not None else o for o in outs]
            self.held.verify(results, lambda: self._again(values), "checkpoint")
            flows = {i: (ct, lives.get(i)) for i, ct in cts.items()}
            shares, found = pull_recorded(trace, outs, flows, masks)
        trace.pass_on_cuts(shares, self.cuts, {slot: slot for slot in self.values})
        return shares, found

    def _recorded(self, by_row: dict[int, Any], saved: Sequence[Any]) -> tuple[Rerecord, list[Any]]:
        """The function recorded again, and its results."""
        if saved:
            trace = Reusing(self.origin, self.level, by_row, self.layout, saved)
            try:
                with self._resuming(trace):
                    outs = self._run(trace)
                    trace.finish()
                return trace, outs
            except Differs:  # where more is known, transforms within it may take a shorter way
                pass
        trace = Rerecord(self.origin, self.level, by_row)
        with self._resuming(trace):
            return trace, self._run(trace)

    def _resuming(self, stand_in: Any):
        return rerunning(self.stand_ins, self.origin, stand_in)

    def _run(self, trace: Rerecord) -> list[Any]:
        args = [trace.given(a.slot) if type(a) is RowOf else a for a in self.args]
        with deriving(self.is_rule):
            outs = [settled(o) for o in self.call.fun(*args)]
        trace.close()
        return outs

    def dependence(self, moving: Sequence[bool]) -> tuple[str | None, Sequence[bool]]:
        """As `linearity.dependence`, of some of the traced inputs."""
        trace = Rerecord(self.origin, self.level, self.values)
        trace.linear = True
        with self._resuming(trace):
            return dependence(trace, moving, self._run(trace))

    def _again(self, values: Sequence[Any]) -> list[Any]:
        """The results, by the function as it ran first."""
        by_row = dict(zip(self.values, values))
        reader = None if self.origin is None else reading(self.origin, by_row)
        with self._resuming(reader):
            return unchanged(self.call.run, [by_row[a.slot] if type(a) is RowOf else a for a in self.args])


class RowOf:
    """Stands for a traced argument in what the tape keeps, for the tape holds no tracer."""

    __slots__ = ("slot",)

    def __init__(self, slot: int):
        self.slot = slot


def pull_again(again: Rerun, g: Outputs) -> Shares:
    """The shares of a checkpoint's inputs, by a function that is a checkpoint to the traces below."""
    given = [*again.values.values(), *again.saved]
    count, present = len(given), []

    def pulled(*flat):
        values, cts, lives = flat[:count], flat[count : count + len(g)], flat[count + len(g) :]
        results = again.pull(values, dict(zip(g, cts)), dict(zip(g.lives, lives)), g.masks)
        present[:] = [[part is not None for part in parts] for parts in results]
        return [part for parts in results for part in parts if part is not None]

    hints = hints_below(again.origin, again.call.closed_over)
    flat = iter(bind(Checkpoint(pulled, hints), [*given, *g.values(), *g.lives.values()]))
    shares, lives = ([next(flat) if there else None for there in parts] for parts in present)
    return Shares(shares, lives)


class CallPrimitive(Primitive):
    """What stands for a call in programs: an equation with nested programs."""

    __slots__ = ("call_of",)

    def __init__(self, name: str, call_of: Callable[..., Call]):
        """``call_of(**params)`` is the call that the equation stands for."""
        super().__init__(name, self._run, ("*args",))
        self.call_of = call_of
        self.multiple = True
        PRIMITIVES[name] = self

    def __call__(self, *args, **params):
        return tuple(bind(self.call_of(**params), args))

    def _run(self, *args, **params):
        return tuple(self.call_of(**params).run(args))


def program_function(jaxpr) -> Callable:
    """The function of a nested program."""
    return lambda *args: evaluate(jaxpr, jaxpr.consts, args)


def _checkpoint_of(jaxpr, policy=None) -> Checkpoint:
    return Checkpoint(program_function(jaxpr), (), policy)


checkpoint = CallPrimitive("checkpoint", _checkpoint_of)
checkpoint.typed = lambda *types, jaxpr, policy=None: jaxpr.out_avals

_PLAN = CallPlan(checkpoint, pull_again, dependence=Rerun.dependence, masks=True)
