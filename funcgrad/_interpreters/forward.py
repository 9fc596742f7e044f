"""Forward: carry a tangent beside each value; and push tangents along a recorded tape."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._core.plans import push_joint
from funcgrad._core.primitive import NO_PARAMS, check_dtype
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import (
    Trace,
    Tracer,
    closeable,
    concrete,
    deriving_context,
    is_eager,
    known_finite,
    settled,
)
from funcgrad._core.types import dtype_of, is_differentiable, shape_of, zeros_of
from funcgrad._core.valued import Valued

_ndarray = np.ndarray


class Dual(Valued):
    """A value and its tangent; a tangent of None is zero."""

    __slots__ = ("value", "tangent")

    @property
    def eager(self) -> bool:
        return is_eager(self.value) and is_eager(self.tangent)

    def known_finite(self) -> bool:
        return known_finite(self.value) and known_finite(self.tangent)


@closeable
class Forward(Trace):
    """Carry tangents through every operation.

    Attributes:
        quiet: the context of the call with NumPy's floating-point warnings off. Tangents are computed in
            copies of it: an infinite derivative is a result, but a warning about a value is the user's
            (and `np.errstate` around each rule would cost 0.7 us, this 0.05 us).
        plain: whether no value of an older trace was met yet.
    """

    __slots__ = ("quiet", "plain")

    transform = "a forward-mode transform"
    #: where a part of the function runs again, warnings are off already
    when_closed = {"quiet": property(lambda self: contextvars.copy_context())}

    def __init__(self):
        super().__init__()
        self.quiet = deriving_context()
        self.plain = True

    def dual(self, value: Any, tangent: Any) -> Any:
        if isinstance(value, Tracer):
            self.plain = False
        if tangent is None:
            return value
        dual = Dual()
        dual._trace = self
        dual.value = value
        dual.tangent = tangent
        return dual

    def parts(self, x: Any) -> tuple[bool, tuple]:
        """Whether a value has a tangent, and the values that it is made of."""
        x = settled(x)
        return (False, (x,)) if self.own(x) is None else (True, (x.value, x.tangent))

    def spread(self, x: Any) -> tuple[bool, tuple]:
        """As `parts`, of a value that is given a tangent if it can have one."""
        dual, parts = self.parts(x)
        if dual or not is_differentiable(dtype_of(parts[0])):
            return dual, parts
        return True, (*parts, zeros_of(parts[0]))

    def whole(self, value: Any, tangent: Any) -> Dual:
        """The inverse of `parts`."""
        return self.dual(value, tangent)

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.rules is None:  # no rule for each argument
            return self.join(prim, args, params) if prim.joint else self.constant(prim, args, params)
        values = []
        tangents = []
        traced = 0
        bit = 1
        for a in args:
            if type(a) is Dual and a._trace is self:
                traced |= bit
                tangents.append(a.tangent)
                a = a.value
            elif isinstance(a, Tracer):
                self.plain = False
            values.append(a)
            bit += bit
        out = (prim.impl if self.plain else prim)(*values, **params)
        if prim.guided and any(map(has_part, out)):
            out = prim(*values, *map(concrete, tangents), **params)
        plan = prim.push_plans.get(traced)
        if plan is None:
            plan = prim.plan(traced, True)
        if len(plan.positions) != len(tangents):  # some of them only steer, as a condition does
            self.note_cut()
            bits = [i for i in range(traced.bit_length()) if traced >> i & 1]
            tangents = [t for t, i in zip(tangents, bits) if i in plan.positions]
            if not tangents:
                return out
        values.append(out)
        tangent = self.quiet.copy().run(plan.push, tangents, plan.read(values), params)
        if prim.multiple:
            tangent = (None,) * len(out) if tangent is None else tangent
            return tuple(self.dual(o, fit_tangent(t, o)) for o, t in zip(out, tangent))
        if not (
            type(out) is _ndarray
            and type(tangent) is _ndarray
            and tangent.shape == out.shape
            and tangent.dtype is out.dtype
        ):
            tangent = fit_tangent(tangent, out)
            if tangent is None:
                check_dtype(prim, out)
                self.note_cut()
                return out
        dual = Dual()
        dual._trace = self
        dual.value = out
        dual.tangent = tangent
        return dual

    def join(self, prim, args: tuple, params: dict) -> Any:
        """A primitive that is linear in all arguments together: its tangent is itself on tangents."""
        positions, tangents, values = [], [], []
        for position, a in enumerate(args):
            if type(a) is Dual and a._trace is self:
                positions.append(position)
                tangents.append(a.tangent)
                a = a.value
            elif isinstance(a, Tracer):
                self.plain = False
            values.append(a)
        out = prim(*values, **params)
        tangent = push_joint(prim, tangents, positions, [shape_of(v) for v in values], params)
        return self.dual(out, fit_tangent(tangent, out))

    def constant(self, prim, args: tuple, params: dict) -> Any:
        """A primitive without derivative: carried out on the innermost values."""
        self.note_cut()
        return prim(*map(concrete, args), **params)


def has_part(x: Any) -> bool:
    """Whether a value has a part in eps at the bottom (see `Split`)."""
    while isinstance(x, Tracer):
        if x._trace.infinitesimal:
            return True
        x = getattr(x, "value", None)
    return False


def fit_tangent(tangent: Any, out: Any) -> Any:
    """Give a tangent the shape and dtype of its value, as broadcasting and promotion gave the value."""
    if tangent is None:
        return None
    dtype = dtype_of(out)
    if not is_differentiable(dtype):
        return None
    shape = shape_of(out)
    return cast_tangent(tangent, shape, dtype)


def cast_tangent(tangent: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if shape_of(tangent) != shape:
        tangent = np.broadcast_to(tangent, shape)
    own = dtype_of(tangent)
    if own != dtype:
        if own.kind == "c" and dtype.kind != "c":
            tangent = np.real(tangent)
        tangent = tangent.astype(dtype)
    return tangent


def push_forward(
    tape: Tape, tangents: Sequence[Any], slots: Sequence[int], types: Sequence[tuple], check: Any = None
) -> list[Any]:
    """The tangents of the rows `slots`, given the inputs', along a tape recorded with `push`.

    A tape has no row that does not depend on an input, so every row has a tangent.

    Args:
        types: the (shape, dtype) of each row asked for.
        check: for `debug_nans` the `WalkCheck` that looks at each row's tangent.
    """
    tape.verify()
    types_of = tape.types.get
    ts: list[Any] = [None] * len(tape)
    ts[: tape.inputs] = tangents
    for row in range(tape.inputs, len(tape)):
        plan, parents = tape.plans[row], tape.parents[row]
        if plan is None:  # one of several outputs
            index, shape, dtype = tape.residuals[row]
            t = ts[parents[0]][index]
            ts[row] = np.zeros(shape, dtype) if t is None else cast_tangent(t, shape, dtype)
            continue
        incoming = [ts[p] for p in parents]
        t = plan.push(incoming, tape.residuals[row], tape.params.get(row, NO_PARAMS))
        type_ = types_of(row)
        ts[row] = t if type_ is None else cast_tangent(t, *type_)
        if check is not None:
            check.pushed(row, incoming, tape.residuals[row], ts[row])
    return [cast_tangent(ts[slot], *type_) for slot, type_ in zip(slots, types)]
