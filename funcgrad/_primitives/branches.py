"""cond and switch as equations of programs: a number, and the functions that it chooses from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import noting_writes, outliving
from funcgrad._core.jaxpr import Jaxpr, Var
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete, rerunning, settled, successors, suspending
from funcgrad._core.types import type_of
from funcgrad._interpreters.batch import Batch, is_batched
from funcgrad._interpreters.calls import (
    Call,
    CallPlan,
    Shares,
    bind,
    hints_below,
    record_call,
    writing_nothing,
)
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record, Rerecord
from funcgrad._interpreters.reruns import mask_of, pull_recorded, require_masks, with_masks_if_needed
from funcgrad._interpreters.reverse import Outputs, fitted
from funcgrad._interpreters.stage import Stage, nested
from funcgrad._primitives.checkpoints import RowOf, program_function
from funcgrad._primitives.loops import LoopParts, LoopPrimitive, own_value


class Branches(Call):
    """``fun[index](*operands)``, called with the index first; it is in range."""

    __slots__ = ()

    fun: Sequence[Callable]

    def run(self, args: Sequence[Any]) -> list[Any]:
        index, *operands = args
        if is_batched(index):
            return select_branches(self.fun, index, operands, self.closed_over)
        return list(self.fun[int(concrete(index))](*operands))

    def forward(self, trace: Forward | Batch, args: Sequence[Any]) -> list[Any]:
        index, *operands = args
        if trace.own(index) is not None:
            if isinstance(trace, Batch):
                return select_branches(self.fun, index, operands, self.closed_over)
            index = trace.below(trace.own(index))
        given = [trace.parts(x) for x in operands]
        out = LoopParts(trace, ())

        def through(branch):
            def run(*flat):
                with out.running():
                    outs = branch(*out.whole(flat, [traced for traced, _ in given]))
                    spread = [trace.spread(o) for o in outs]
                out.traced = [traced for traced, _ in spread]
                return [part for _, parts in spread for part in parts]

            return run

        call = Branches([through(branch) for branch in self.fun], hints_below(trace, self.closed_over))
        flat = [part for _, parts in given for part in parts]
        return out.whole(bind(call, [index, *flat], below=trace))

    batch = forward

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        if trace.push:
            raise errors.StagedDerivativeError("linearize through cond", describe(*caller()))
        with suspending(trace) as captured:
            values, given = [settled(a) for a in args], dict(captured)
            captured.clear()  # what is read from now on, a branch closes over
            outs = bind(self, values, below=trace)
            stand_ins = successors()
        parents = [(slot, tracer.value) for slot, tracer in (given | captured).items()]
        if not parents:
            return outs
        row = _BranchRow(self, trace, args, dict(parents), bool(captured), stand_ins)
        return record_call(trace, _PLAN, parents, outs, row, [*values, *self.closed_over])

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        index, *operands = args
        programs = [nested(branch, [type_of(x) for x in operands], trace) for branch in self.fun]
        first = programs[0][0].out_avals
        for number, (program, _) in enumerate(programs):
            if program.out_avals != first:
                shown = ", ".join(map(str, first)), ", ".join(map(str, program.out_avals))
                raise errors.BranchTypeError(number, *shown, describe(*caller()))
        consts = list({id(c): c for _, captured in programs for c in captured}.values())
        branches = tuple(_with_consts(program, captured, consts) for program, captured in programs)
        params = {"branches": branches, "num_consts": len(consts)}
        return list(trace.process(cond, (index, *consts, *operands), params))


def select_branches(
    branches: Sequence[Callable], index: Any, operands: Sequence[Any], outside: Sequence[Any]
) -> list[Any]:
    """Every branch's results, and for each member of a batch those of its own.

    Args:
        outside: arrays, among others, that the branches are known to close over.
    """
    with np.errstate(all="ignore"):  # of members that take other branches
        results = [_alone(branch, operands, outside) for branch in branches]
    outs = results[-1]
    for number in reversed(range(len(branches) - 1)):
        chosen = np.equal(index, number)
        outs = [np.where(chosen, own, rest) for own, rest in zip(results[number], outs, strict=True)]
    return outs


def _alone(branch: Callable, operands: Sequence[Any], outside: Sequence[Any]) -> list[Any]:
    """A branch's results, which some members do not take: it must not write to what others see."""
    who = "a branch that not all members of a batch take"
    with writing_nothing(outside, who), noting_writes() as noted:
        results = [settled(o) for o in branch(*map(own_value, operands))]
    if outliving(noted, results):
        what = f"a write into an array from outside of {who}"
        raise errors.InPlaceError(what, describe(*caller()), "Return the new array from each branch instead.")
    return results


def _with_consts(program: Jaxpr, captured: Sequence[Tracer], consts: Sequence[Tracer]) -> Jaxpr:
    """A branch's program with an input for whatever any branch closes over."""
    own = dict(zip(map(id, captured), program.invars))
    variables = [own.get(id(c)) or Var(c.aval) for c in consts]
    rest = program.invars[len(captured) :]
    return Jaxpr(program.constvars, program.consts, variables + rest, program.eqns, program.outvars)


class _BranchRow:
    """What the tape keeps of a choice: its inputs. The backward sweep runs the chosen branch again."""

    def __init__(self, call: Branches, trace: Record, args, values: dict[int, Any], closes: bool, stand_ins):
        self.call, self.values, self.stand_ins, self.level = call, values, stand_ins, trace.level
        mine = [trace.own(a) for a in args]
        self.args = [settled(a) if own is None else RowOf(own.slot) for a, own in zip(args, mine)]
        self.origin = trace if closes else None

    def pull(self, g: Outputs) -> Shares:
        """The inputs' shares, with masks where structural zeros come or are made in a branch."""
        return with_masks_if_needed(lambda masks: self._pull(g, masks), bool(g.lives))

    def _pull(self, g: Outputs, masks: bool) -> Shares:
        index, *operands = self.args
        if type(index) is RowOf:
            index = self.values[index.slot]
        slots = list(self.values)
        count = len(slots) + len(g)

        def pulling(branch):
            def pull(*flat):
                values, cts, lives = flat[: len(slots)], flat[len(slots) : count], flat[count:]
                trace = Rerecord(self.origin, self.level, dict(zip(slots, values)))
                args = [trace.given(a.slot) if type(a) is RowOf else a for a in operands]
                with rerunning(self.stand_ins, self.origin, trace):
                    outs = [settled(o) for o in branch(*args)]
                    trace.close()
                    require_masks(trace, masks)
                    by_number = dict(zip(g.lives, lives))
                    flows = {i: (ct, by_number.get(i)) for i, ct in zip(g, cts)}
                    cts, lives = pull_recorded(trace, outs, flows, masks)
                shares = [fitted(ct, v) for ct, v in zip(cts, values)]
                return shares + [mask_of(*flow) for flow in zip(cts, lives, values)] * masks

            return pull

        hints = hints_below(self.origin, self.call.closed_over)
        call = Branches([pulling(branch) for branch in self.call.fun], hints)
        flat = bind(call, [index, *self.values.values(), *g.values(), *g.lives.values()])
        return Shares(flat[: len(slots)], flat[len(slots) :] if masks else [None] * len(slots))


def _branches_of(args, branches, num_consts) -> tuple[Branches, Sequence[Any]]:
    index, *rest = args
    consts, operands = rest[:num_consts], rest[num_consts:]

    def closing(program):
        return lambda *operands: program(*consts, *operands)

    hints = [c for c in consts if isinstance(c, Tracer)]
    return Branches([closing(program_function(b)) for b in branches], hints), [index, *operands]


cond = LoopPrimitive("cond", _branches_of)
cond.typed = lambda *types, branches, num_consts: branches[0].out_avals
_PLAN = CallPlan(cond, _BranchRow.pull, masks=True)
