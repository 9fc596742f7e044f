"""What a checkpoint saves, by its policy: some results, so that its function need not compute them again.

The function runs forwards on tracers, too, of a trace that drops what it records but counts the operations.
The results that the policy chooses leave the call beside its own: to the traces beneath they are like others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad._core.fingerprints import sampled
from funcgrad._core.primitive import Primitive
from funcgrad._core.tracer import Trace, Tracer, closeable, settled, standing_in, successors
from funcgrad._core.types import ShapeDtypeStruct, shape_of, type_of
from funcgrad._interpreters.record import Record, Recorded, Rerecord


class Operation(NamedTuple):
    """What a policy is asked about.

    Attributes:
        name: the primitive's, as `make_jaxpr` prints it; ``"name"`` for `tag`.
        inputs, outputs: types, with `shape` and `dtype`.
        params: static parameters; ``params["name"]`` is that of `tag`.
    """

    name: str
    inputs: tuple[ShapeDtypeStruct, ...]
    outputs: tuple[ShapeDtypeStruct, ...]
    params: dict[str, Any]


class Saved(NamedTuple):
    """A result that was saved.

    Attributes:
        name: the primitive's.
        count: of how many results; None for one that is no tuple.
        inputs: what the operation was given, in short.
    """

    name: str
    count: int | None
    inputs: list[Any]


class Saving:
    """A function that returns what is to be saved after its results.

    Attributes:
        saved: by the numbers of the operations, what the last run saved; `size` results in all.
    """

    def __init__(self, fun: Callable, policy: Callable, trace: Record, slots: Sequence[int | None]):
        """`slots` are the arguments' rows in the trace, None where they are not traced."""
        self.fun, self.policy, self.trace, self.slots = fun, policy, trace, slots
        self.saved: dict[int, Saved] = {}
        self.size = 0

    def __call__(self, *args):
        saver = Saver(self.trace, self.policy)
        with standing_in(self.trace, saver):
            args = [a if slot is None else saver.adopt(slot, a) for slot, a in zip(self.slots, args)]
            outs = [saver.value(settled(o)) for o in self.fun(*args)]
        saver.close()
        self.saved = {number: saved for number, (saved, _) in saver.saved.items()}
        self.size = sum(len(values) for _, values in saver.saved.values())
        return [*outs, *[value for _, values in saver.saved.values() for value in values]]


class _Nothing(list):
    """A column of the tape that keeps nothing."""

    def append(self, residuals: Any) -> None:
        super().append(None)


@closeable
class Saver(Rerecord):
    """Stands in for the trace of a checkpoint, and saves what the policy says."""

    __slots__ = ("policy", "saved", "numbers", "number", "reader")

    def __init__(self, origin: Record, policy: Callable):
        super().__init__(origin, origin.level, {})
        self.tape.residuals = _Nothing()
        self.policy = policy
        self.saved: dict[int, tuple[Saved, list[Any]]] = {}
        self.numbers: dict[int, int] = {}  # rows -> numbers of the operations that they were saved by
        self.number = 0
        self.reader = successors()[origin]

    def own(self, x: Any) -> Recorded | None:
        if not isinstance(x, Recorded):
            return None
        if x._trace is self:
            return x
        before = self.origin.own(x)
        return None if before is None else self.adopt(before.slot, settled(self.reader.own(x)))

    def adopt(self, slot: int, value: Any) -> Recorded:
        """The input that stands for a row of the trace before."""
        if slot not in self.rows:
            self.values[slot] = value
            self.rows[slot] = self.input(value).slot
        return self.given(slot)

    def value(self, x: Any) -> Any:
        return x if (mine := self.own(x)) is None else mine.value

    def process(self, prim, args: tuple, params: dict) -> Any:
        out = super().process(prim, args, params)
        number, self.number = self.number, self.number + 1
        outs = out if prim.multiple else (out,)
        values = [self.value(o) for o in outs]
        given = [self.value(a) for a in args]
        operation = Operation(prim.name, tuple(map(type_of, given)), tuple(map(type_of, values)), params)
        if self.policy(operation):
            saved = Saved(prim.name, len(outs) if prim.multiple else None, list(map(_digest, given)))
            self.saved[number] = saved, values
            if isinstance(out, Recorded):
                self.numbers[out.slot] = number
        elif getattr(self.policy, "forgets", _never)(operation):
            for a in args:  # what the name is given to is not saved either
                if isinstance(a, Recorded) and (other := self.numbers.pop(a.slot, None)) is not None:
                    del self.saved[other]
        return out


def _never(operation: Operation) -> bool:
    return False


class Differs(BaseException):
    """The operations are others than before; no `Exception`, which a function may catch."""


@closeable
class Reusing(Rerecord):
    """Records a function again, where some results were saved."""

    __slots__ = ("saved", "number", "left")

    def __init__(self, origin: Record | None, level, values: dict, saved: dict[int, Saved], results):
        super().__init__(origin, level, values)
        rest = iter(results)
        self.saved = {}
        for number, one in saved.items():
            self.saved[number] = one, [next(rest) for _ in range(1 if one.count is None else one.count)]
        self.number, self.left = 0, len(self.saved)

    def process(self, prim, args: tuple, params: dict) -> Any:
        number, self.number = self.number, self.number + 1
        if number not in self.saved:
            return super().process(prim, args, params)
        self.left -= 1
        saved, results = self.saved[number]
        given = [a if (mine := self.own(a)) is None else mine.value for a in args]
        if saved.name != prim.name or not _alike(saved.inputs, list(map(_digest, given))):
            raise Differs
        return super().process(
            _Reused(prim, results[0] if saved.count is None else tuple(results)), args, params
        )

    def finish(self) -> None:
        """The function has run."""
        if self.left:
            raise Differs


class _Reused(Primitive):
    """A primitive whose result is there already."""

    __slots__ = ("result", "original")

    def __init__(self, original: Primitive, result: Any):
        for name in Primitive.__slots__:
            setattr(self, name, getattr(original, name))
        self.original, self.result = original, result
        self.impl = self

    def __call__(self, *args, **params):
        return self.result

    def plan(self, traced: int, push: bool):
        return self.original.plan(traced, push)


def _digest(x: Any) -> tuple | None:
    """A value's shape, a number that tells whether it is another, its scale, and what rounding may change."""
    while isinstance(x, Tracer):
        x = getattr(x, "value", None)
    if not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
        return None
    dtype = np.asarray(x).dtype
    entries = np.nan_to_num(np.ravel(sampled(np.asarray(x))).astype(complex), posinf=1e300, neginf=-1e300)
    scale = float(np.max(np.abs(entries), initial=0.0)) or 1.0
    rounding = 1e-4 if dtype in (np.float32, np.complex64, np.float16) else 1e-10
    return shape_of(x), complex(np.dot(entries / scale, np.cos(np.arange(len(entries))))), scale, rounding


def _alike(before: Sequence[Any], now: Sequence[Any]) -> bool:
    if len(before) != len(now):
        return False
    for a, b in zip(before, now):
        if a is None or b is None or len(a[0]) != len(b[0]):
            continue
        if a[0] != b[0] or abs(a[1] - b[1]) > a[3] or abs(a[2] - b[2]) > a[3] * a[2]:
            return False
    return True


def given_rows(trace: Trace, args: Sequence[Any]) -> list[int | None]:
    """The rows of arguments, None where they are not traced."""
    return [None if (mine := trace.own(a)) is None else mine.slot for a in args]
