"""Rules that authors give for functions: their form, what they must return, batches and programs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.tracer import Reading, Tracer, continuing, resuming, settled, successors, suspending
from funcgrad._core.types import dtype_of, float0, shape_of, zeros_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import differentiable, unchanged
from funcgrad._interpreters.linearity import nonlinearity
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.stage import Stage


class Rules:
    """The derivative of a function of flat values, by its author.

    Attributes:
        name: the function's.
        jvp: ``jvp(primals, tangents) -> (outs, tangents)``, or None.
        fwd: ``fwd(args) -> (outs, residuals)``, or None.
        bwd: ``bwd(residuals, cotangents) -> cotangents``, or None.
        sequential: whether batches run in a loop, since the function is no NumPy.
        proved: the sets of arguments in which the function was found to be linear.
        mark: what programs say of it: ``"central"`` where differences stand in for a rule.

    Tangents and cotangents are None for leaves without derivative; rules may return None for zero.
    """

    __slots__ = ("name", "jvp", "fwd", "bwd", "sequential", "mark", "proved")

    def __init__(self, name, jvp=None, fwd=None, bwd=None, sequential=False, mark=None, proved=None):
        self.name, self.jvp, self.fwd, self.bwd = name, jvp, fwd, bwd
        self.sequential, self.mark = sequential, mark
        self.proved: set[tuple[int, ...]] = set() if proved is None else proved

    def __repr__(self) -> str:
        return self.name + (f" by {self.mark} differences" if self.mark else "")


# ---- checks of what rules return ----------------------------------------------------------------


def differential_type(x: Any) -> tuple | None:
    """The shape and dtype of a leaf that has a derivative."""
    return (shape_of(x), dtype_of(x)) if differentiable(x) else None


def with_zeros(tangents: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Tangents with zeros in place of None where the value could have one."""
    return [zeros_of(x)[()] if t is None and differentiable(x) else t for t, x in zip(tangents, values)]


def checked_jvp(rules: Rules, values, tangents) -> tuple[list[Any], list[Any]]:
    count = len(values)
    outs, ts = unchanged(lambda flat: rules.jvp(flat[:count], flat[count:]), [*values, *tangents])
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


def checked_share(rules: Rules, ct: Any, like: tuple) -> Any:
    if ct is None or dtype_of(ct) == float0:
        return None
    if shape_of(ct) != like[0]:
        found = f"a cotangent of shape {shape_of(ct)} for an argument of shape {like[0]}"
        raise errors.CustomRuleError(rules.name, "bwd", found, "cotangents of the arguments' shapes")
    return ct if isinstance(ct, (np.ndarray, np.generic, Tracer)) else np.asarray(ct)


def require_linear(rules: Rules, flows: str, record: Record, outs: Sequence[Any]) -> None:
    values = [record.parts(o)[1][0] for o in outs if o is not None]
    why = nonlinearity(record, values)
    if why is not None:
        raise errors.NotLinearRuleError(rules.name, flows, why)


# ---- batches and programs -----------------------------------------------------------------------


class BatchedRules:
    """A function with rules as one of whole batches: all results have the batch axis in front."""

    def __init__(self, fun: Callable, rules: Rules, trace: Batch, batched: Sequence[bool]):
        self.whole, self.given, self.trace, self.batched = fun, rules, trace, batched
        self.rules = Rules(
            rules.name,
            rules.jvp and self.jvp,
            rules.fwd and self.fwd,
            rules.bwd and self.bwd,
            mark=rules.mark,
        )

    def fun(self, *args):
        with self._running():
            return self._out(self.whole(*self._in(args)))

    def jvp(self, primals, tangents):
        with self._running():
            outs, ts = self.given.jvp(self._in(primals), self._in(tangents))
            return self._out(outs), self._out(ts)

    def fwd(self, args):
        with self._running():
            outs, residuals = self.given.fwd(self._in(args))
            leaves, treedef = tree.flatten(residuals)
            parts = [self.trace.parts(x) for x in leaves]
            return self._out(outs), ([x for _, (x,) in parts], [b for b, _ in parts], treedef)

    def bwd(self, residuals, cts):
        leaves, batched, treedef = residuals
        with self._running():
            whole = [self.trace.whole(x) if b else x for x, b in zip(leaves, batched)]
            cts = [None if ct is None else self.trace.whole(ct) for ct in cts]
            shares = self.given.bwd(tree.unflatten(treedef, whole), cts)
            return [self._share(*pair) for pair in zip(shares, self.batched)]

    def _running(self):
        return continuing(self.trace)

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
        self.rules, self.trace, self.stand_ins = rules, trace, successors()
        self.variables = [x.variable for x in captured]

    def __repr__(self) -> str:
        return repr(self.rules)

    def of(self, values: Sequence[Any]) -> Rules:
        """The rules, where the captured variables have these values."""
        known = dict(zip(self.variables, values))

        def read(x):
            if x.variable not in known:
                self.trace.refuse("a custom rule")
            return known[x.variable]

        bound = {self.trace: Reading(self.trace, read)}

        def running(rule):
            def run(*args):
                with (
                    resuming(self.stand_ins),
                    resuming(bound) if self.trace.closed else suspending(self.trace),
                ):
                    return rule(*args)

            return rule and run

        rules = self.rules
        kept = rules.sequential, rules.mark, rules.proved
        return Rules(rules.name, running(rules.jvp), running(rules.fwd), running(rules.bwd), *kept)
