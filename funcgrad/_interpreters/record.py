"""Record: write a tape, with values, while the function runs as usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import fixed
from funcgrad._core.primitive import check_dtype
from funcgrad._core.source import caller
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Trace, Tracer, closeable, concrete
from funcgrad._core.types import dtype_of, is_differentiable, shape_of
from funcgrad._core.valued import Valued

_ndarray = np.ndarray
_INEXACT = frozenset((np.ndarray, np.float64, np.float32, float, np.complex128))
_float64 = np.float64


class Recorded(Valued):
    """A row of a tape, with its value."""

    __slots__ = ("slot", "value")


@closeable
class Record(Trace):
    """Write every operation on a tape. `push` keeps what the forward walk reads instead of the reverse.

    The hot path of reverse mode: what looks unrolled here was measured to matter.
    """

    __slots__ = ("tape", "push", "plain", "linear")

    transform = "a reverse-mode transform"

    def __init__(self, push: bool = False, kept: bool = False):
        super().__init__()
        self.tape = Tape(kept)
        self.push = push
        self.plain = True  # no value of an older trace was met yet
        self.linear = False  # whether it will be asked if what it records is linear

    def input(self, value: Any) -> Recorded:
        slot = self.tape.append(None)
        self.tape.inputs += 1
        if type(value) is _ndarray:
            self.tape.watch(value)
        elif isinstance(value, Tracer):
            value = self.meet(value)
        return self._tracer(slot, value)

    def key(self, tracer: Recorded) -> int:
        return tracer.slot

    def parts(self, x: Any) -> tuple[bool, tuple]:
        """Whether a value is recorded here, and the value that it is made of."""
        return (False, (x,)) if (mine := self.own(x)) is None else (True, (mine.value,))

    def meet(self, value: Tracer) -> Tracer:
        """A value of an older trace, as it is kept: the user may rebind theirs before the tape is walked."""
        self.plain = False
        self.tape.eager = self.tape.eager and value.eager
        return fixed(value)

    def _tracer(self, slot: int, value: Any) -> Recorded:
        tracer = Recorded()
        tracer._trace = self
        tracer.slot = slot
        tracer.value = value
        return tracer

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.rules is None:  # no rule for each argument
            return self.join(prim, args, params) if prim.joint else self.constant(prim, args, params)
        a = b = None
        if len(args) == 1:
            values = [args[0].value]
            parents = (args[0].slot,)
            traced = 1
        elif len(args) == 2:
            a, b = args
            parents = ()
            traced = 0
            if type(a) is Recorded and a._trace is self:
                traced = 1
                parents = (a.slot,)
                a = a.value
            elif isinstance(a, Tracer):
                a = self.meet(a)
            if type(b) is Recorded and b._trace is self:
                traced += 2
                parents += (b.slot,)
                b = b.value
            elif isinstance(b, Tracer):
                b = self.meet(b)
            values = [a, b]
        else:
            values, parents, traced = self.unpack(args)
        out = (prim.impl if self.plain else prim)(*values, **params)
        plan = (prim.push_plans if self.push else prim.pull_plans).get(traced)
        if plan is None:
            plan = prim.plan(traced, self.push)
        if plan.partial:
            steering = parents
            parents = _differentiable(parents, traced, plan.positions)
            self.note_cut(tuple(row for row in steering if row not in parents))
            if not parents:
                return out
        tape = self.tape
        values.append(out)
        if plan.constants:
            self.watch_constants(plan, values, traced)
        place = caller()
        plans = tape.plans
        slot = len(plans)
        plans.append(plan)
        tape.parents.append(parents)
        tape.residuals.append(plan.read(values) if plan.names else ())
        tape.places.append(place)
        if params:
            tape.params[slot] = params
        cls = type(out)
        if plan.note is not None and not (cls is _float64 and type(a) is cls and type(b) is cls):
            plan.note(tape, slot, parents, values)
        if cls not in _INEXACT:
            if prim.multiple:
                return tuple([self.pick(slot, i, o, place) for i, o in enumerate(out)])
            if not is_differentiable(dtype_of(out)):
                return self.no_tracer(prim, parents, out, place)
        elif cls is _ndarray and out.dtype.kind not in "fc":
            return self.no_tracer(prim, parents, out, place)
        tracer = Recorded()
        tracer._trace = self
        tracer.slot = slot
        tracer.value = out
        return tracer

    def no_tracer(self, prim, parents: tuple[int, ...], out: Any, place: tuple) -> Any:
        """A result that carries no derivative."""
        check_dtype(prim, out)
        self.note_cut(parents, place)
        return out

    def watch_constants(self, plan, values: list, traced: int) -> None:
        tape = self.tape
        positions = plan.constants
        if type(positions) is slice:
            positions = [i for i in range(positions.start, len(values) - 1) if not traced >> i & 1]
        for position in positions:
            value = values[position]
            if type(value) is _ndarray:
                tape.watch(value, len(tape.plans), plan.prim.elementwise)

    def unpack(self, args: tuple) -> tuple[list, tuple[int, ...], int]:
        """The values of any number of arguments, the rows of the traced ones, and which these are."""
        values = []
        parents = []
        traced = 0
        for position, a in enumerate(args):
            if type(a) is Recorded and a._trace is self:
                traced |= 1 << position
                parents.append(a.slot)
                a = a.value
            elif isinstance(a, Tracer):
                a = self.meet(a)
            values.append(a)
        return values, tuple(parents), traced

    def join(self, prim, args: tuple, params: dict) -> Recorded:
        """A primitive that is linear in all arguments together: one rule gives all shares at once."""
        positions, parents, values = [], [], []
        for position, a in enumerate(args):
            if type(a) is Recorded and a._trace is self:
                positions.append(position)
                parents.append(a.slot)
                a = a.value
            elif isinstance(a, Tracer):
                a = self.meet(a)
            values.append(a)
        out = (prim.impl if self.plain else prim)(*values, **params)
        residuals = (positions, [shape_of(v) for v in values])
        slot = self.tape.append(prim.joint_plan, tuple(parents), residuals, caller())
        self.tape.params[slot] = params
        dtypes = [dtype_of(values[position]) for position in positions]
        if dtypes.count(out.dtype) != len(dtypes):
            self.tape.fits[slot] = [(None, dtype) for dtype in dtypes]
            if self.push:
                self.tape.types[slot] = (shape_of(out), out.dtype)
        return self._tracer(slot, out)

    def pick(self, slot: int, index: int, value: Any, place) -> Any:
        """One of several outputs, as a row of its own: it has no plan, its residual says which."""
        dtype = dtype_of(value)
        if not is_differentiable(dtype):
            return value
        if isinstance(value, Tracer):  # eigenvalues with parts in eps
            self.meet(value)
        residuals = (index, shape_of(value), dtype)
        return self._tracer(self.tape.append(None, (slot,), residuals, place), value)

    def constant(self, prim, args: tuple, params: dict) -> Any:
        """A primitive without derivative: carried out on the innermost values, and not recorded."""
        self.note_cut(tuple([a.slot for a in args if type(a) is Recorded and a._trace is self]))
        return prim(*map(concrete, args), **params)


@closeable
class Rerecord(Record):
    """Record a part of a function again, in place of the trace that it ran in before.

    It stands at that trace's level, and takes its tracers, which the function may have closed over, for
    its own inputs.

    Attributes:
        origin: the trace before, or None if the function closed over none of its tracers.
        values: those of the inputs, by their rows in the trace before, or other keys.
        rows: the inputs' rows here. No tracer is kept, which would be a cycle: memory is to go at once.
    """

    __slots__ = ("origin", "values", "rows")

    def __init__(self, origin: Record | None, level: int, values: dict[int, Any]):
        super().__init__()
        self.level = level
        self.origin = origin
        self.values = values
        self.rows = {slot: self.input(value).slot for slot, value in values.items()}

    def given(self, slot: Any) -> Recorded:
        """The input that stands for a row of the trace before."""
        return self._tracer(self.rows[slot], self.values[slot])

    def own(self, x: Any) -> Recorded | None:
        if not isinstance(x, Recorded):
            return None
        if x._trace is self:
            return x
        before = None if self.origin is None else self.origin.own(x)
        if before is None:
            return None
        if before.slot not in self.rows:
            raise errors.ImpureFunctionError("checkpoint", "read other traced values")
        return self.given(before.slot)

    def pass_on_cuts(self, cts: Sequence[Any], cuts: dict, slots: Mapping[Any, int]) -> None:
        """Note in the cuts of the trace before where the dependence on inputs without cotangent ends.

        Args:
            cts: the inputs' cotangents.
            slots: by the keys of the inputs, the rows in the trace before.
        """
        if self.cuts:
            missing = {self.rows[key]: key for key, ct in zip(self.rows, cts) if ct is None}
            for where, (place, rows) in self.cuts.items():
                for row in self.tape.inputs_of(rows) & missing.keys():
                    if missing[row] in slots:
                        cuts.setdefault(where, (place, set()))[1].add(slots[missing[row]])

    def process(self, prim, args: tuple, params: dict) -> Any:
        if self.origin is not None:
            args = tuple([a if (mine := self.own(a)) is None else mine for a in args])
        return super().process(prim, args, params)


def _differentiable(parents, traced: int, positions) -> tuple[int, ...]:
    """The rows of those traced arguments that have a rule."""
    indices = [i for i in range(traced.bit_length()) if traced >> i & 1]
    return tuple(p for p, i in zip(parents, indices) if i in positions)
