"""Calls of functions whose derivatives their authors give: custom_jvp and custom_vjp.

Rules see what stands beneath the trace in charge: plain arrays, unless an older transform traces those too.
Each mode is derived from the other's rule, by the transpose of what that does to tangents or cotangents. What
a function closes over is no argument of the rules: in these values it is differentiated itself.
"""

from __future__ import annotations

import contextvars
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.boxes import own_box
from funcgrad._core.tracer import (
    Reading,
    Trace,
    Tracer,
    concrete,
    resuming,
    settled,
    successors,
    suspending,
)
from funcgrad._core.types import dtype_of, shape_of, zeros_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import (
    Call,
    CallPlan,
    Shares,
    bind,
    bind_members,
    closed_over,
    differentiable,
    hints_below,
    not_newer,
    record_call,
    unchanged,
)
from funcgrad._interpreters.forward import Forward, fit_tangent, push_forward
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.reverse import Outputs, pull_back, pull_back_masked
from funcgrad._interpreters.stage import Stage, nested
from funcgrad._primitives.checkpoints import CallPrimitive, program_function
from funcgrad._primitives.rules import (
    BatchedRules,
    Rules,
    StagedRules,
    checked_jvp,
    checked_share,
    differential_type,
    require_linear,
    with_zeros,
)


class CustomCall(Call):
    """A call of a function that has rules."""

    __slots__ = ("rules",)

    def __init__(self, fun: Callable, rules: Rules, hints: Sequence[Tracer] = ()):
        super().__init__(fun, hints)
        self.rules = rules

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        rules, mine = self.rules, [trace.own(a) for a in args]
        traced = [i for i, tracer in enumerate(mine) if tracer is not None]
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()  # what is read from now on, the function or a rule closes over
            if not traced:  # whose arguments are older ones' gives its rules to those
                outs, row = bind(self, values, below=trace), _Row()
            elif rules.fwd is None:
                outs, row = _linearized(rules, values, traced, trace)
            elif not trace.push:
                outs, row = _pullable(rules, values, traced)
            elif rules.jvp is None:
                outs, row = _transposable(rules, values, traced, trace)
            else:
                outs, row = _pushable(rules, self.fun, values, traced)
            row.stand_ins = {t: own for t, own in successors().items() if t is not trace}
            row.trace = weakref.ref(trace)
        if trace.linear:
            row.probed = self, values, traced
        not_newer(outs, trace)
        parents = [(mine[i].slot, values[i]) for i in traced]
        closures = self._by_closures(trace, values) if captured else {}
        row.through, row.count = list(closures), len(outs)
        parents += [(own.slot, own.value) for own in closures.values()]
        return record_call(trace, _PLAN, parents, outs, row, row.watched) if parents else outs

    def forward(self, trace: Forward, args: Sequence[Any]) -> list[Any]:
        rules, mine = self.rules, [trace.own(a) for a in args]
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()
            tangents = [None if tracer is None else tracer.tangent for tracer in mine]
            if not any(tracer is not None for tracer in mine):
                outs = bind(self, values, below=trace)
                ts = [None] * len(outs)
            elif rules.jvp is not None:
                outs, ts = checked_jvp(rules, values, with_zeros(tangents, values))
            else:
                traced = [i for i, t in enumerate(tangents) if t is not None]
                outs, row = _transposable(rules, values, traced, trace)
                ts = row.push([tangents[i] for i in traced])
        not_newer(outs, trace)
        ts = [None if t is None or not differentiable(o) else fit_tangent(t, o) for t, o in zip(ts, outs)]
        for i, own in (self._by_closures(trace, values) if captured else {}).items():
            ts[i] = own.tangent if ts[i] is None else ts[i] + own.tangent
        return [trace.dual(o, t) for o, t in zip(outs, ts)]

    def _by_closures(self, trace: Record | Forward, values: Sequence[Any]) -> dict[int, Tracer]:
        """The results that depend on what the function closes over, by its own operations."""
        outs = unchanged(lambda values: self.fun(*values), values)
        own = {i: trace.own(settled(out)) for i, out in enumerate(outs)}
        return {i: tracer for i, tracer in own.items() if tracer is not None}

    def batch(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        if self.rules.sequential:
            return self._loop(trace, args)
        batched = BatchedRules(self.fun, self.rules, trace, [trace.own(a) is not None for a in args])
        call = CustomCall(batched.fun, batched.rules, hints_below(trace, self.closed_over))
        try:
            outs = bind(call, [trace.parts(a)[1][0] for a in args], below=trace)
        except Exception as error:
            error.add_note(
                f"{self.rules.name} is given whole batches, by vmap or by jacfwd, jacrev and hessian: if it "
                "is no NumPy, make it with vmap_method='sequential'"
            )
            raise
        return [trace.whole(o) for o in outs]

    def _loop(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        columns = bind_members(self, trace, args, self.rules.name)
        return [trace.whole(np.stack(outs)) for outs in columns]

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        program, captured = nested(self.fun, args, trace)
        rules = StagedRules(self.rules, trace, captured)
        return list(trace.process(custom, (*captured, *args), {"jaxpr": program, "rules": rules}))


# ---- what the row of a call keeps, by the rule that there is -----------------------------------


class _Row:
    """How a row pulls and pushes.

    Attributes:
        count: how many results there are.
        through: results that also depend on what the function closes over; these are parents, too.
        stand_ins: for other traces that were suspended or ran again.
        trace: the trace in charge, by a weak reference: its tape holds the row. A rule that closes over
            tracers of it reads their values.
        probed: on a tape that is to be linear, the call, its arguments and which of them are traced.
        watched: what the rule reads again when the tape is walked.
    """

    watched: Sequence[Any] = ()

    def running(self):
        """The context of the rules."""
        trace = self.trace()
        return resuming(self.stand_ins if trace is None else {**self.stand_ins, trace: Reading(trace)})

    def shares(self, g: Outputs) -> tuple[list[Any], list[Any] | None]:
        """The cotangents of the traced arguments, and their masks of structural zeros."""
        return [], None

    def push(self, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the results."""
        return [None] * self.count


class _Pullable(_Row):
    def __init__(self, rules: Rules, residuals: Any, values, outs, traced):
        self.rules, self.traced = rules, traced
        self.residuals, self.treedef = tree.flatten(residuals)
        self.watched = self.residuals
        self.likes = [differential_type(v) for v in values]
        self.out_types = [differential_type(o) for o in outs]

    def shares(self, g):
        zeros = [None if t is None else np.zeros(*t) for t in self.out_types]
        count = len(zeros)

        def bwd(flat):
            return self.rules.bwd(tree.unflatten(self.treedef, flat[count:]), flat[:count])

        cts = unchanged(bwd, [*[g.get(i, zero) for i, zero in enumerate(zeros)], *self.residuals])
        return [checked_share(self.rules, settled(cts[i]), self.likes[i]) for i in self.traced], None


def _pullable(rules: Rules, values, traced):
    outs, residuals = unchanged(rules.fwd, values)
    outs, residuals = [settled(o) for o in outs], tree.map(settled, residuals)
    return outs, _Pullable(rules, residuals, values, outs, traced)


class _Linear(_Row):
    """A linear function on a tape: tangents of arguments to tangents of results."""

    def __init__(self, record: Record, tangents: Sequence[Any], outs: Sequence[Any]):
        self.tape = record.tape
        self.rows = [None if (own := record.own(t)) is None else own.slot for t in tangents]
        self.types = [differential_type(o) for o in outs]

    def shares(self, g):
        reached = [i for i in g if self.rows[i] is not None]
        rows, cts = [self.rows[i] for i in reached], [g[i] for i in reached]
        if g.masks:
            return pull_back_masked(self.tape, rows, cts, [g.lives.get(i) for i in reached])
        return pull_back(self.tape, rows, cts), None

    def push(self, tangents):
        reached = [i for i, row in enumerate(self.rows) if row is not None]
        rows, types = [self.rows[i] for i in reached], [self.types[i] for i in reached]
        pushed = dict(zip(reached, push_forward(self.tape, tangents, rows, types)))
        return [pushed.get(i) for i in range(len(self.rows))]


def _linearized(rules: Rules, values, traced, trace: Record):
    record = Record(trace.push, trace.tape.kept)
    record.linear = True
    record.stand_above(trace)
    tangents = [None] * len(values)
    for i in traced:
        tangents[i] = record.input(zeros_of(values[i]))
    depth = _nested.get()
    if depth > _DEEP:
        found = "nothing: it calls the function on its tangents without end"
        raise errors.CustomRuleError(rules.name, "jvp", found, "tangents by other functions, or give defvjp")
    token = _nested.set(depth + 1)
    try:
        with np.errstate(all="ignore"):  # the tangents' values are made up, only their way counts
            outs, ts = checked_jvp(rules, values, with_zeros(tangents, values))
    finally:
        _nested.reset(token)
    record.close()
    require_linear(rules, "tangents", record, ts)
    # a call in the rule makes its value depend on the tangents, as all of its results
    return [record.parts(o)[1][0] for o in outs], _Linear(record, ts, outs)


#: How many rules are run for tangents of each other: a linear function's might call it on tangents.
_nested: contextvars.ContextVar[int] = contextvars.ContextVar("nested", default=0)
_DEEP = 32


class _Transposed(_Row):
    """The transpose of a linear function on a tape: cotangents of results to those of arguments."""

    def __init__(self, record: Record, places, cts: Sequence[Any]):
        self.tape = record.tape
        self.places = places  # which results the inputs are for
        self.rows = [None if (own := record.own(ct)) is None else own.slot for ct in cts]

    def push(self, tangents):
        pairs = [(row, t) for row, t in zip(self.rows, tangents) if row is not None]
        pulled = pull_back(self.tape, [row for row, _ in pairs], [t for _, t in pairs])
        return [None if place is None else pulled[place] for place in self.places]


def _transposable(rules: Rules, values, traced, trace: Trace):
    outs, residuals = unchanged(rules.fwd, values)
    outs = [settled(o) for o in outs]
    record, places, cts = Record(kept=isinstance(trace, Record) and trace.tape.kept), [], []
    record.linear = True
    record.stand_above(trace)
    for o in outs:
        places.append(len(record.tape) if differentiable(o) else None)
        cts.append(record.input(zeros_of(o)) if differentiable(o) else None)
    with np.errstate(all="ignore"):
        in_cts = rules.bwd(tree.map(own_box, residuals), cts)
    record.close()
    shares = [checked_share(rules, in_cts[i], differential_type(values[i])) for i in traced]
    require_linear(rules, "cotangents", record, shares)
    return outs, _Transposed(record, places, shares)


class _Pushable(_Row):
    def __init__(self, rules: Rules, values, traced):
        self.rules, self.traced = rules, traced
        self.values = self.watched = values

    def push(self, tangents):
        ts: list[Any] = [None] * len(self.values)
        for i, t in zip(self.traced, tangents):
            ts[i] = t
        return checked_jvp(self.rules, self.values, with_zeros(ts, self.values))[1]


def _pushable(rules: Rules, fun: Callable, values, traced):
    outs = [settled(o) for o in bind(CustomCall(fun, rules, closed_over(fun)), values)]
    return outs, _Pushable(rules, values, traced)


def _pull(row: _Row, g: Outputs) -> Shares:
    with row.running():
        shares, lives = row.shares(g)
    return Shares(
        [*shares, *map(g.get, row.through)],
        [*(lives or [None] * len(shares)), *map(g.lives.get, row.through)],
    )


def _push(row: _Row, tangents: Sequence[Any]) -> tuple:
    own = len(tangents) - len(row.through)
    with row.running():
        ts = row.push(tangents[:own])
    for i, t in zip(row.through, tangents[own:]):
        ts[i] = t if ts[i] is None else ts[i] + t
    return tuple(ts)


def _dependence(row: _Row, moving: Sequence[bool]) -> tuple[str | None, Sequence[bool]]:
    """As `linearity.dependence`: a function with rules is linear if it is at some numbers."""
    call, values, traced = row.probed
    places = tuple(i for i, moves in zip(traced, moving) if moves)
    unknown = f"{call.rules.name}, which has rules of its own, may read its arguments"
    if any(moving[len(traced) :]):
        return unknown, ()
    values = [concrete(v) for v in values]
    if any(isinstance(v, Tracer) for v in values):
        return unknown, ()
    random = np.random.default_rng(0)
    u, v = ([random.standard_normal(shape_of(values[i])) for i in places] for _ in range(2))

    def at(scale_u, scale_v):
        args = list(values)
        for i, a, b in zip(places, u, v):
            args[i] = (scale_u * a + scale_v * b).astype(dtype_of(values[i]))[()]
        return [np.asarray(o) for o in call.fun(*args)]

    zero, first = at(0, 0), at(1, 0)
    depends = [bool(np.any(a != b)) for a, b in zip(zero, first)]
    if places not in call.rules.proved:
        for start, a, b, both in zip(zero, first, at(0, 1), at(1, 2)):
            tolerance = 1e3 * np.finfo(both.dtype).eps * np.max(np.abs(both), initial=1) if both.size else 0
            if both.dtype.kind in "fc" and np.any(np.abs(a + 2 * b - 2 * start - both) > tolerance):
                return unknown, ()
        call.rules.proved.add(places)
    return None, depends


# ---- programs ------------------------------------------------------------------------------------


class CustomPrimitive(CallPrimitive):
    """What stands for a call with rules in programs; the values that the function closed over come first."""

    __slots__ = ()

    def __call__(self, *args, jaxpr, rules):
        return tuple(bind(_staged_call(args, jaxpr, rules), args[len(rules.variables) :]))


def _staged_call(args, jaxpr, rules: StagedRules) -> CustomCall:
    values = args[: len(rules.variables)]
    program = program_function(jaxpr)
    hints = [x for x in values if isinstance(x, Tracer)]
    return CustomCall(lambda *rest: program(*values, *rest), rules.of(values), hints)


custom = CustomPrimitive("custom_call", None)
custom.impl = lambda *args, jaxpr, rules: tuple(program_function(jaxpr)(*args))
custom.typed = lambda *types, jaxpr, rules: jaxpr.out_avals

_PLAN = CallPlan(custom, _pull, _push, dependence=_dependence, masks=True)
