"""Calls of functions whose derivatives their authors give: custom_jvp and custom_vjp.

Rules see what stands beneath the trace in charge: plain arrays, unless an older transform traces those too.
Each mode is derived from the other's rule, by the transpose of what that does to tangents or cotangents. What
a function closes over is no argument of the rules: in these values it is differentiated itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.tracer import Trace, Tracer, resuming, settled, successors, suspending
from funcgrad._core.types import dtype_of, float0, shape_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import (
    Call,
    CallPlan,
    Shares,
    bind,
    closed_over,
    differentiable,
    hints_below,
    not_newer,
    record_call,
    unchanged,
)
from funcgrad._interpreters.forward import Forward, fit_tangent, push_forward
from funcgrad._interpreters.linearity import nonlinearity
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.reverse import Outputs, pull_back, pull_back_masked
from funcgrad._interpreters.stage import Stage, nested
from funcgrad._primitives.checkpoints import CallPrimitive, program_function


class Rules:
    """The derivative of a function of flat values, by its author.

    Attributes:
        name: the function's.
        jvp: ``jvp(primals, tangents) -> (outs, tangents)``, or None.
        fwd: ``fwd(args) -> (outs, residuals)``, or None.
        bwd: ``bwd(residuals, cotangents) -> cotangents``, or None.
        sequential: whether batches run in a loop, since the function is no NumPy.
        mark: what programs say of it: ``"central"`` where differences stand in for a rule.

    Tangents and cotangents are None for leaves without derivative; rules may return None for zero.
    """

    __slots__ = ("name", "jvp", "fwd", "bwd", "sequential", "mark")

    def __init__(self, name, jvp=None, fwd=None, bwd=None, sequential=False, mark=None):
        self.name, self.jvp, self.fwd, self.bwd = name, jvp, fwd, bwd
        self.sequential, self.mark = sequential, mark

    def __repr__(self) -> str:
        return self.name + (f" by {self.mark} differences" if self.mark else "")


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
            if rules.fwd is None:
                outs, row = _linearized(rules, values, traced, trace)
            elif not trace.push:
                outs, row = _pullable(rules, values, traced)
            elif rules.jvp is None:
                outs, row = _transposable(rules, values, traced, trace)
            else:
                outs, row = _pushable(rules, self.fun, values, traced)
            row.stand_ins = successors()
        not_newer(outs, trace)
        parents = [(mine[i].slot, values[i]) for i in traced]
        row.through = []
        if captured:
            for i, out in enumerate(self.fun(*values)):
                if (own := trace.own(settled(out))) is not None:
                    row.through.append(i)
                    parents.append((own.slot, own.value))
        return record_call(trace, _PLAN, parents, outs, row) if parents else outs

    def forward(self, trace: Forward, args: Sequence[Any]) -> list[Any]:
        rules, mine = self.rules, [trace.own(a) for a in args]
        with suspending(trace) as captured:
            values = [settled(a) for a in args]
            captured.clear()
            tangents = [None if tracer is None else tracer.tangent for tracer in mine]
            if rules.jvp is not None:
                outs, ts = _checked_jvp(rules, values, _with_zeros(tangents, values))
            else:
                traced = [i for i, t in enumerate(tangents) if t is not None]
                outs, row = _transposable(rules, values, traced, trace)
                ts = row.push([tangents[i] for i in traced])
        not_newer(outs, trace)
        ts = [None if t is None or not differentiable(o) else fit_tangent(t, o) for t, o in zip(ts, outs)]
        if captured:
            for i, out in enumerate(self.fun(*values)):
                if (own := trace.own(settled(out))) is not None:
                    ts[i] = own.tangent if ts[i] is None else ts[i] + own.tangent
        return [trace.dual(o, t) for o, t in zip(outs, ts)]

    def batch(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        if self.rules.sequential:
            return self._loop(trace, args)
        batched = Batched(self, trace, [trace.own(a) is not None for a in args])
        call = CustomCall(batched.fun, batched.rules, hints_below(trace, self.closed_over))
        outs = bind(call, [trace.parts(a)[1][0] for a in args], below=trace)
        return [trace.whole(o) for o in outs]

    def _loop(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        parts = [trace.parts(a) for a in args]
        members = [
            bind(self, [value[i] if batched else value for batched, (value,) in parts], below=trace)
            for i in range(trace.size)
        ]
        if not members:
            raise errors.BatchAxisError(
                f"{self.rules.name} runs in a loop over its batch, which is empty",
                "Give it a batch of one member at least: the results' shapes are not known otherwise.",
            )
        return [trace.whole(np.stack(outs)) for outs in zip(*members)]

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        program, captured = nested(self.fun, args, trace)
        rules = StagedRules(self.rules, trace, captured)
        return list(trace.process(custom, (*captured, *args), {"jaxpr": program, "rules": rules}))


# ---- what the row of a call keeps, by the rule that there is -----------------------------------


class _Row:
    """How a row pulls and pushes.

    Attributes:
        through: results that also depend on what the function closes over; these are parents, too.
        stand_ins: for traces that were suspended or ran again.
    """

    def shares(self, g: Outputs) -> tuple[list[Any], list[Any] | None]:
        raise NotImplementedError

    def push(self, tangents: Sequence[Any]) -> list[Any]:
        raise NotImplementedError


class _Pullable(_Row):
    def __init__(self, rules: Rules, residuals: Any, values, outs, traced):
        self.rules, self.residuals, self.traced = rules, residuals, traced
        self.likes = [_type(v) for v in values]
        self.out_types = [_type(o) for o in outs]

    def shares(self, g):
        if not self.traced:
            return [], None
        zeros = [None if t is None else np.zeros(*t) for t in self.out_types]
        cts = self.rules.bwd(self.residuals, [g.get(i, zero) for i, zero in enumerate(zeros)])
        return [_checked_share(self.rules, settled(cts[i]), self.likes[i]) for i in self.traced], None


def _pullable(rules: Rules, values, traced):
    outs, residuals = unchanged(rules.fwd, values)
    outs, residuals = [settled(o) for o in outs], tree.map(settled, residuals)
    return outs, _Pullable(rules, residuals, values, outs, traced)


class _Linear(_Row):
    """A linear function on a tape: tangents of arguments to tangents of results."""

    def __init__(self, record: Record, tangents: Sequence[Any], outs: Sequence[Any]):
        self.tape = record.tape
        self.rows = [None if (own := record.own(t)) is None else own.slot for t in tangents]
        self.types = [_type(o) for o in outs]

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
    record = Record(trace.push)
    record.stand_above(trace)
    tangents = [None] * len(values)
    for i in traced:
        tangents[i] = record.input(np.zeros(shape_of(values[i]), dtype_of(values[i])))
    with np.errstate(all="ignore"):  # the tangents' values are made up, only their way counts
        outs, ts = _checked_jvp(rules, values, _with_zeros(tangents, values))
    record.close()
    _require_linear(rules, "tangents", record, ts)
    return outs, _Linear(record, ts, outs)


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
    record, places, cts = Record(), [], []
    record.stand_above(trace)
    for o in outs:
        places.append(len(record.tape) if differentiable(o) else None)
        cts.append(record.input(np.zeros(shape_of(o), dtype_of(o))) if differentiable(o) else None)
    with np.errstate(all="ignore"):
        in_cts = rules.bwd(residuals, cts)
    record.close()
    shares = [_checked_share(rules, in_cts[i], _type(values[i])) for i in traced]
    _require_linear(rules, "cotangents", record, shares)
    return outs, _Transposed(record, places, shares)


class _Pushable(_Row):
    def __init__(self, rules: Rules, values, traced):
        self.rules, self.values, self.traced = rules, values, traced

    def push(self, tangents):
        ts: list[Any] = [None] * len(self.values)
        for i, t in zip(self.traced, tangents):
            ts[i] = t
        return _checked_jvp(self.rules, self.values, _with_zeros(ts, self.values))[1]


def _pushable(rules: Rules, fun: Callable, values, traced):
    outs = [settled(o) for o in bind(CustomCall(fun, rules, closed_over(fun)), values)]
    return outs, _Pushable(rules, values, traced)


def _pull(g: Outputs, residuals: tuple, params: dict) -> Shares:
    ((row,),) = residuals
    with resuming(row.stand_ins):
        shares, lives = row.shares(g)
    return Shares(
        [*shares, *map(g.get, row.through)],
        [*(lives or [None] * len(shares)), *map(g.lives.get, row.through)],
    )


def _push(tangents: Sequence[Any], residuals: tuple, params: dict) -> tuple:
    ((row,),) = residuals
    own = len(tangents) - len(row.through)
    with resuming(row.stand_ins):
        ts = row.push(tangents[:own])
    for i, t in zip(row.through, tangents[own:]):
        ts[i] = t if ts[i] is None else ts[i] + t
    return tuple(ts)


# ---- checks of what rules return ----------------------------------------------------------------


def _type(x: Any) -> tuple | None:
    """The shape and dtype of a leaf that has a derivative."""
    return (shape_of(x), dtype_of(x)) if differentiable(x) else None


def _with_zeros(tangents: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Tangents with zeros in place of None where the value could have one."""
    return [
        np.zeros(shape_of(x), dtype_of(x))[()] if t is None and differentiable(x) else t
        for t, x in zip(tangents, values)
    ]


def _checked_jvp(rules: Rules, values, tangents) -> tuple[list[Any], list[Any]]:
    outs, ts = unchanged(lambda values: rules.jvp(values, tangents), values)
    outs, ts = [settled(o) for o in outs], [settled(t) for t in ts]
    if len(outs) != len(ts):
        raise errors.CustomRuleError(
            rules.name, "jvp", f"{len(outs)} results with {len(ts)} tangents", "a tangent for each result"
        )
    for o, t in zip(outs, ts):
        if t is not None and dtype_of(t) != float0 and shape_of(t) != shape_of(o):
            found = f"a tangent of shape {shape_of(t)} for a result of shape {shape_of(o)}"
            raise errors.CustomRuleError(rules.name, "jvp", found, "tangents of the results' shapes")
    return outs, [None if t is None or dtype_of(t) == float0 else t for t in ts]


def _checked_share(rules: Rules, ct: Any, like: tuple) -> Any:
    if ct is None or dtype_of(ct) == float0:
        return None
    if shape_of(ct) != like[0]:
        found = f"a cotangent of shape {shape_of(ct)} for an argument of shape {like[0]}"
        raise errors.CustomRuleError(rules.name, "bwd", found, "cotangents of the arguments' shapes")
    return ct if isinstance(ct, (np.ndarray, np.generic, Tracer)) else np.asarray(ct)


def _require_linear(rules: Rules, flows: str, record: Record, outs: Sequence[Any]) -> None:
    values = [record.parts(o)[1][0] for o in outs if o is not None]
    why = nonlinearity(record, values)
    if why is not None:
        raise errors.NotLinearRuleError(rules.name, flows, why)


# ---- batches and programs -----------------------------------------------------------------------


class Batched:
    """A function with rules as one of whole batches: all results have the batch axis in front."""

    def __init__(self, call: CustomCall, trace: Batch, batched: Sequence[bool]):
        self.call, self.trace, self.batched = call, trace, batched
        rules = call.rules
        self.rules = Rules(
            rules.name,
            rules.jvp and self.jvp,
            rules.fwd and self.fwd,
            rules.bwd and self.bwd,
            mark=rules.mark,
        )

    def fun(self, *args):
        with self._running():
            return self._out(self.call.fun(*self._in(args)))

    def jvp(self, primals, tangents):
        with self._running():
            outs, ts = self.call.rules.jvp(self._in(primals), self._in(tangents))
            return self._out(outs), self._out(ts)

    def fwd(self, args):
        with self._running():
            outs, residuals = self.call.rules.fwd(self._in(args))
            leaves, treedef = tree.flatten(residuals)
            parts = [self.trace.parts(x) for x in leaves]
            return self._out(outs), ([x for _, (x,) in parts], [b for b, _ in parts], treedef)

    def bwd(self, residuals, cts):
        leaves, batched, treedef = residuals
        with self._running():
            whole = [self.trace.whole(x) if b else x for x, b in zip(leaves, batched)]
            cts = [None if ct is None else self.trace.whole(ct) for ct in cts]
            shares = self.call.rules.bwd(tree.unflatten(treedef, whole), cts)
            return [self._share(*pair) for pair in zip(shares, self.batched)]

    def _running(self):
        return resuming({self.trace: self.trace} if self.trace.closed else {})

    def _in(self, values):
        return [self.trace.whole(x) if b and x is not None else x for x, b in zip(values, self.batched)]

    def _out(self, values):
        return [None if x is None else self.trace.spread(x)[1][0] for x in values]

    def _share(self, ct: Any, batched: bool) -> Any:
        """The cotangent of an argument: one for each member, or their sum where all share it."""
        if ct is None or dtype_of(ct) == float0:
            return None
        (spread,) = self.trace.spread(ct)[1]
        return spread if batched else np.add.reduce(spread, axis=0)


class StagedRules:
    """Rules in a program, and what stands there for values that they may close over."""

    def __init__(self, rules: Rules, trace: Stage, captured: Sequence[Any]):
        self.rules, self.trace = rules, trace
        self.variables = [x.variable for x in captured]

    def __repr__(self) -> str:
        return repr(self.rules)

    def of(self, values: Sequence[Any]) -> Rules:
        """The rules, where the captured variables have these values."""
        bound = {self.trace: _Bound(self.trace, dict(zip(self.variables, values)))}

        def running(rule):
            def run(*args):
                with resuming(bound) if self.trace.closed else suspending(self.trace):
                    return rule(*args)

            return rule and run

        rules = self.rules
        kept = rules.sequential, rules.mark
        return Rules(rules.name, running(rules.jvp), running(rules.fwd), running(rules.bwd), *kept)


class _Bound:
    """Stands in for a trace that wrote a program, whose variables have values now."""

    def __init__(self, trace: Trace, values: dict):
        self.trace, self.values = trace, values

    def own(self, x: Any) -> Any:
        if self.trace.own(x) is None:
            return None
        if x.variable not in self.values:
            self.trace.refuse("a custom rule")
        return self.values[x.variable]

    def process(self, prim, args: tuple, params: dict) -> Any:
        return prim(*map(settled, args), **params)


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

_PLAN = CallPlan(custom, _pull, _push)
_PLAN.lives = lambda shares, residuals, params: shares.lives
