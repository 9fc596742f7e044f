"""Batch: carry a batch axis, always in front, through every operation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Trace, Tracer, closeable, concrete, settled
from funcgrad._core.types import dtype_of, shape_of


class Batched(Tracer):
    """A value with a batch axis in front, which the function does not see."""

    __slots__ = ("value",)

    @property
    def primal(self) -> Any:
        return self  # what a batched value is depends on the member of the batch

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.value)[1:]

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.value)

    @property
    def weak(self) -> bool:
        return False


def is_batched(x: Any) -> bool:
    """Whether a value that no derivative passes, such as a condition, differs between members of a batch."""
    return type(concrete(x)) is Batched


def any_member(x: Any) -> bool:
    """Whether a condition holds for any member of all batches that it is in."""
    x = concrete(x)
    while type(x) is Batched:
        x = concrete(np.any(x.value))
    return bool(x)


@closeable
class Batch(Trace):
    """Carry a batch axis of one size through every operation."""

    __slots__ = ("size", "reordered")

    transform = "vmap"

    def __init__(self, size: int):
        super().__init__()
        self.size = size
        self.reordered = False  # whether a member's entries may lie in another order than C's by now

    def batched(self, value: Any) -> Batched:
        tracer = Batched()
        tracer._trace = self
        tracer.value = value
        return tracer

    def parts(self, x: Any) -> tuple[bool, tuple]:
        """Whether a value is batched, and the values that it is made of."""
        x = settled(x)
        return (False, (x,)) if self.own(x) is None else (True, (x.value,))

    def spread(self, x: Any) -> tuple[bool, tuple]:
        """As `parts`, of a value that every member is given."""
        batched, (value,) = self.parts(x)
        return True, (value if batched else np.broadcast_to(value, (self.size, *shape_of(value))),)

    def whole(self, value: Any) -> Batched:
        """The inverse of `parts`."""
        return self.batched(value)

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.reorders is not None and prim.reorders(params):
            self.reordered = True
        values, batched = [], []
        for a in args:
            own = type(a) is Batched and a._trace is self
            batched.append(own)
            values.append(a.value if own else a)
        if prim.batch is not None:
            out = prim.batch(values, batched, **params)
        else:
            out = self.loop(prim, values, batched, params)
        if prim.multiple:
            return tuple([self.batched(o) for o in out])
        tracer = Batched()
        tracer._trace = self
        tracer.value = out
        return tracer

    def loop(self, prim, values: list, batched: list[bool], params: dict) -> Any:
        """The fallback for a primitive without batching rule."""
        warnings.warn(
            f"{prim.name} has no batching rule: it runs in a loop over the batch of {self.size} "
            f"({describe(*caller(3))})",
            errors.BatchLoopWarning,
            stacklevel=2,
        )
        outs = [
            prim(*[v[i] if b else v for v, b in zip(values, batched)], **params) for i in range(self.size)
        ]
        if prim.multiple:
            return tuple(np.stack(part) for part in zip(*outs))
        return np.stack(outs)


def batch_leading(prim, core: Sequence[int]) -> Callable:
    """The batching rule of a primitive that broadcasts all axes but each argument's last `core` ones.

    Elementwise primitives have no core axes, a matrix product has two for each argument.
    """

    def batch(values, batched, **params):
        rank, uneven = None, False
        for v, b, c in zip(values, batched, core):
            n = len(shape_of(v)) - b - c  # how many axes broadcast, the batch axis not counted
            if rank is None:
                rank = n
            elif n != rank:
                rank, uneven = max(n, rank), True
        if uneven:
            values = [_align(v, rank + 1 + c) if b else v for v, b, c in zip(values, batched, core)]
        return prim(*values, **params)

    return batch


def _align(v: Any, ndim: int) -> Any:
    """A batch whose members have axes of size 1 put in front, so that the batch axis stays the first."""
    shape = v.shape
    missing = ndim - len(shape)
    return np.reshape(v, shape[:1] + (1,) * missing + shape[1:]) if missing else v


def batch_by_itself(prim) -> Callable:
    """The batching rule of a primitive of one array whose axes all count from the end."""

    def batch(values, batched, **params):
        return prim(*values, **params)

    return batch


def batch_alike(prim) -> Callable:
    """The batching rule of a primitive of arrays of one shape, whose axes count from the end."""

    def batch(values, batched, **params):
        size = next(shape_of(v)[0] for v, b in zip(values, batched) if b)
        alike = [v if b else np.broadcast_to(v, (size, *shape_of(v))) for v, b in zip(values, batched)]
        return prim(*alike, **params)

    return batch
