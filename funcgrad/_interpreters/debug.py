"""Interpreters that look at every value, for `debug_nans`: the first non-finite one is an error.

A value or tangent that is not finite though the arguments were is an event. It becomes an error only where
it reaches a result, since a selection may leave it out: `np.where(x > 0, np.log(x), 0)` is fine at 0. So each
trace keeps, for each array that is not finite, the event that it came from.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe, is_internal
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer, closeable, concrete
from funcgrad._interpreters.batch import Batched
from funcgrad._interpreters.forward import Dual, Forward, push_forward
from funcgrad._interpreters.record import Record, Recorded
from funcgrad._interpreters.reverse import _walk

Entry = tuple[int, ...]
Event = tuple[Any, ...]  #: the facts of a `NonFiniteError`


def _values(value: Any) -> tuple[Any, int]:
    """The plain values at the bottom of tracers, and how many batch axes stand in front of them."""
    batches, value = 0, concrete(value)
    while type(value) is Batched:
        batches, value = batches + 1, concrete(value.value)
    return value, batches


def _finite(value: Any) -> bool:
    value, _ = _values(value)
    if value is None or isinstance(value, (Tracer, tuple, list)):  # types alone; tuples hold arguments
        return True
    return bool(np.all(np.isfinite(value)))


def _first(value: Any) -> tuple[Entry, Entry, Any]:
    """The first non-finite entry's index, without and with batch axes, and what stands there."""
    value, batches = _values(value)
    value = np.asarray(value)
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
    return index[batches:], index, value[index]


def _shown(args, names, entry: Entry, index: Entry) -> str:
    """The operands at an entry, as far as they have it."""
    parts = []
    for name, a in zip(names, args):
        a, batches = _values(a)
        if a is None or isinstance(a, (Tracer, tuple, list)):
            continue
        a, at = np.asarray(a), index if batches else entry
        if a.ndim <= len(at):
            own = tuple(i if n > 1 else 0 for i, n in zip(at[len(at) - a.ndim :], a.shape))
            if all(i < n for i, n in zip(own, a.shape)):
                parts.append(f"{name} = {a[own]}")
    return ", ".join(parts) or "its operands are finite"


def _place() -> str:
    """Where the user called what is being computed: in a walk over a tape, what the row was."""
    frame = sys._getframe(2)
    while frame is not None and is_internal(frame.f_code.co_filename):
        if frame.f_code in (_walk.__code__, push_forward.__code__):
            return frame.f_locals["tape"].where(frame.f_locals["row"])
        frame = frame.f_back
    return describe(*caller(2))


class _Looking:
    """What looking traces share: the events, by the array that is not finite.

    Attributes:
        events: the array's id -> the array, so that the id stays its own, and the event.
    """

    __slots__ = ()

    def look(self, prim, args: tuple, out: Any) -> Any:
        for o in out if isinstance(out, tuple) else (out,):
            self._look_at(prim, args, o, "")
            self._look_at(prim, args, o, "tangent")
        return out

    def _look_at(self, prim, args: tuple, out: Any, which: str) -> None:
        part = self._part(out, which)
        if part is None or _finite(part) or id(part) in self.events:
            return
        bad = [p for a in args for w in {"", which} if (p := self._part(a, w)) is not None and not _finite(p)]
        event = next((self.events[id(p)][1] for p in bad if id(p) in self.events), None)
        if event is None and bad:
            return  # the user's own
        if event is None:
            entry, index, found = _first(part)
            shown = f"there {_shown([self._part(a, '') for a in args], prim.args, entry, index)}"
            found = f"the tangent {found}" if which else found
            event = (prim.name, _place(), "forward", entry, found, shown)
        self.events[id(part)] = (part, event)

    def _part(self, x: Any, which: str) -> Any:
        """A tracer's value or tangent; of a plain array the value."""
        if type(x) in (Dual, Recorded) and x._trace is self:
            return getattr(x, which or "value", None)
        return None if which else x

    def require_finite(self, outs) -> None:
        """Raise the event that a result came from, if it is not finite."""
        for out in outs:
            for which in ("", "tangent"):
                part = self._part(out, which)
                if id(part) in self.events:
                    raise errors.NonFiniteError(*self.events[id(part)][1])


@closeable
class CheckedRecord(_Looking, Record):
    """Record, with a look at every value."""

    __slots__ = ("events",)

    def __init__(self, push: bool = False, kept: bool = False):
        super().__init__(push, kept)
        self.events: dict[int, tuple[Any, Event]] = {}

    def process(self, prim, args, params):
        return self.look(prim, args, super().process(prim, args, params))


@closeable
class CheckedForward(_Looking, Forward):
    """Forward, with a look at every value and tangent."""

    __slots__ = ("events",)

    def __init__(self):
        super().__init__()
        self.events: dict[int, tuple[Any, Event]] = {}

    def process(self, prim, args, params):
        return self.look(prim, args, super().process(prim, args, params))


class WalkCheck:
    """A look at every row of a walk over a tape, backward or forward.

    Attributes:
        events: those of the forward pass, by the array that is not finite.
        marks: for rows whose (co)tangent is not finite the event that it came from.
    """

    def __init__(self, tape: Tape, events: dict[int, tuple[Any, Event]]):
        self.tape = tape
        self.events = events
        self.marks: dict[int, Event] = {}

    def pulled(self, row: int, g: Any, residuals: Any, shares: Any) -> None:
        """After a row of the backward walk."""
        given = g.values() if isinstance(g, dict) else (g,)
        for parent, share in zip(self.tape.parents[row], shares):
            if share is not None and not _finite(share):
                self._mark(parent, self._event(row, [row], given, residuals, share))

    def pushed(self, row: int, incoming: Any, residuals: Any, t: Any) -> None:
        """After a row of the forward walk."""
        for part in t if isinstance(t, tuple) else (t,):
            if part is not None and not _finite(part):
                self._mark(row, self._event(row, self.tape.parents[row], incoming, residuals, part))

    def _mark(self, row: int, event: Event | None) -> None:
        if event is not None:
            self.marks.setdefault(row, event)

    def _event(self, row: int, before, given, residuals, result) -> Event | None:
        """The event that a result which is not finite came from; None if it is the user's own."""
        if not all(map(_finite, given)):
            return next((e for e in map(self._event_of, before) if e is not None), None)
        plan = self.tape.plans[row]
        bad = [r for r in residuals if not _finite(r)]
        if bad:
            return next((self.events[id(r)][1] for r in bad if id(r) in self.events), None)
        entry, index, found = _first(result)
        shown = _shown(residuals, plan.names, entry, index)
        factor = f"the derivative of {plan.prim.name} is not finite there ({shown})"
        sweep = "forward" if plan.push is not None else "backward"
        place = self.tape.where(row)
        return plan.prim.name, place, sweep, entry, found, factor

    def _event_of(self, row: int) -> Event | None:
        """A row's event: its own, or that of a row which handed its cotangent on without a look."""
        if row in self.marks:
            return self.marks[row]
        tape = self.tape
        for later in range(row + 1, len(tape)):
            plan = tape.plans[later]
            if row in tape.parents[later] and (plan is None or plan.accumulate is not None):
                event = self._event_of(later)
                if event is not None:
                    return event
        return None

    def require_finite(self, rows, results) -> None:
        """Raise the event that a result came from, if it is not finite."""
        for row, result in zip(rows, results):
            if row is not None and result is not None and not _finite(result):
                event = self._event_of(row)
                if event is not None:
                    raise errors.NonFiniteError(*event)
