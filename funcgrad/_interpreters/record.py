"""Record: write a tape, with values, while the function runs as usual."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.source import caller
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Trace, Tracer, closeable, concrete
from funcgrad._core.types import dtype_of, is_differentiable, shape_of

_ndarray = np.ndarray
_INEXACT = frozenset((np.ndarray, np.float64, np.float32, float, np.complex128))
_new = object.__new__


class Recorded(Tracer):
    """A row of a tape, with its value."""

    __slots__ = ("slot", "value")

    @property
    def primal(self) -> Any:
        return self.value


@closeable
class Record(Trace):
    """Write every operation on a tape. `push` keeps what the forward walk reads instead of the reverse.

    The hot path of reverse mode: what looks unrolled here was measured to matter.
    """

    __slots__ = ("tape", "push")

    transform = "a reverse-mode transform"

    def __init__(self, push: bool = False):
        super().__init__()
        self.tape = Tape()
        self.push = push

    def input(self, value: Any) -> Recorded:
        slot = self.tape.append(None)
        self.tape.inputs += 1
        if type(value) is _ndarray:
            self.tape.watch(value, slot)
        return self._tracer(slot, value)

    def _tracer(self, slot: int, value: Any) -> Recorded:
        tracer = _new(Recorded)  # half the cost of calling the class
        tracer.trace = self
        tracer.slot = slot
        tracer.value = value
        return tracer

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.rules is None:
            return self.constant(prim, args, params)
        if len(args) == 1:
            value = args[0].value
            values = [value]
            parents = (args[0].slot,)
            traced = 1
            plain = not isinstance(value, Tracer)
        else:
            values = []
            parents = ()
            traced = 0
            plain = True
            bit = 1
            for a in args:
                if type(a) is Recorded and a.trace is self:
                    traced |= bit
                    parents += (a.slot,)
                    a = a.value
                if plain and isinstance(a, Tracer):
                    plain = False
                values.append(a)
                bit += bit
        out = (prim.impl if plain else prim)(*values, **params)
        plan = (prim.push_plans if self.push else prim.pull_plans).get(traced)
        if plan is None:
            plan = prim.plan(traced, self.push)
        if len(plan.positions) != len(parents):  # some of them only steer, as a condition does
            self.cut = caller()
            parents = _differentiable(parents, traced, plan.positions)
            if not parents:
                return out
        tape = self.tape
        values.append(out)
        if plan.constants != ():
            self.watch_constants(plan, values, traced)
        place = caller()
        slot = len(tape.plans)
        tape.plans.append(plan)
        tape.parents.append(parents)
        tape.residuals.append(plan.read(values))
        tape.places.append(place)
        if params:
            tape.params[slot] = params
        if plan.fitted:
            fitting = fits(plan, values, out)
            if fitting is not None:
                tape.fits[slot] = fitting
        if type(out) not in _INEXACT:
            if prim.multiple:
                return tuple([self.pick(slot, i, o, place) for i, o in enumerate(out)])
            if not is_differentiable(dtype_of(out)):
                return out
        elif type(out) is _ndarray and out.dtype.kind not in "fc":
            return out
        tracer = _new(Recorded)  # half the cost of calling the class
        tracer.trace = self
        tracer.slot = slot
        tracer.value = out
        return tracer

    def watch_constants(self, plan, values: list, traced: int) -> None:
        row = len(self.tape)
        positions = plan.constants
        if positions is None:
            positions = [i for i in range(len(values) - 1) if not traced >> i & 1]
        for position in positions:
            if type(values[position]) is _ndarray:
                self.tape.watch(values[position], row)

    def pick(self, slot: int, index: int, value: Any, place) -> Any:
        """One of several outputs, as a row of its own: it has no plan, and keeps index and type."""
        dtype = dtype_of(value)
        if not is_differentiable(dtype):
            return value
        residual = (index, shape_of(value), dtype)
        return self._tracer(self.tape.append(None, (slot,), residual, place), value)

    def constant(self, prim, args: tuple, params: dict) -> Any:
        """A primitive without derivative: carried out on the innermost values, and not recorded."""
        self.cut = caller()
        return prim(*map(concrete, args), **params)


def _differentiable(parents, traced: int, positions) -> tuple[int, ...]:
    """The rows of those traced arguments that have a rule."""
    indices = [i for i in range(traced.bit_length()) if traced >> i & 1]
    return tuple(p for p, i in zip(parents, indices) if i in positions)


def fits(plan, values: list, out: Any) -> list | None:
    """For each traced argument what its cotangent must be fitted to: broadcasting and promotion undone.

    None stands for nothing to do; a dtype of None for a Python scalar, which takes any.
    """
    prim = plan.prim
    if prim.multiple or prim.accumulate is not None:
        return [(shape_of(values[p]), dtype_of(values[p])) for p in plan.positions]
    elementwise = prim.elementwise
    try:  # nearly always all is the same, and found to be so at a third of the cost
        shape, dtype = out.shape, out.dtype
        for position in plan.positions:
            value = values[position]
            if value.dtype is not dtype or (elementwise and value.shape != shape):
                break
        else:
            return None
    except AttributeError:  # Python scalars
        pass
    shape, dtype = shape_of(out), dtype_of(out)
    result: list[tuple | None] = []
    for position in plan.positions:
        value = values[position]
        own = shape_of(value) if elementwise else None
        own_dtype = getattr(value, "dtype", None)
        same = (own_dtype is None or own_dtype == dtype) and (own is None or own == shape)
        result.append(None if same else (own, own_dtype))
    return result if any(result) else None
