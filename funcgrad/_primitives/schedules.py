"""Which states of a loop are kept, so that it can be run backwards step by step: binomial checkpointing.

To go back over `length` steps from their first state, with room for `slots` states in all, the states in
between are found again by advancing. Advance to a state in the middle, keep it, go back over the rest with
one slot less, then over the steps before it. With the best choice of the middle, the steps advanced are

    t(length, slots) = r length - C(slots + r, slots + 1),   r the least with C(slots + r, slots) >= length,

so that no step is advanced more than r times. Source: Griewank and Walther, "Algorithm 799: revolve", ACM
TOMS 26(1), 2000; Griewank, "Achieving logarithmic growth of temporal and spatial complexity", 1992. Where the
number of steps is not known beforehand, evenly spaced states are kept, and those used that help.
"""

from __future__ import annotations

import itertools
from math import comb, isqrt
from typing import Any


def repetitions(length: int, slots: int) -> int:
    """The r of the formula: how often a step is advanced at most."""
    if slots == 1:
        return length - 1
    r, reach = 0, 1  # C(slots + r, slots)
    while reach < length:
        r += 1
        reach = reach * (slots + r) // r
    return r


def advances(length: int, slots: int) -> int:
    """The least number of steps that are advanced to go back over `length` steps.

    Each step is run once more, to be recorded; these runs are not counted.
    """
    r = repetitions(length, slots)
    return r * length - comb(slots + r, slots + 1)


def split(length: int, slots: int) -> int:
    """How many steps to advance before the next state is kept: a choice that is best.

    The first state takes one of the slots. Any number for which the steps before need `r - 1` repetitions
    at most, and those after it `r`, is as good; this is the largest.
    """
    if slots == 1:
        return length - 1
    r = repetitions(length, slots)
    return min(comb(slots + r - 1, slots), length - comb(slots + r - 2, slots - 1))


def usual_slots(length: int | None) -> int:
    """So many slots that no step is advanced more than twice; 64 for a loop of unknown length."""
    if length is None:
        return 64
    return next(s for s in itertools.count(max(1, isqrt(2 * length) - 2)) if comb(s + 2, 2) >= length)


def useful(positions: list[int], length: int, slots: int) -> list[int]:
    """Which of the states at these positions, the first being 0, are worth their slots.

    The steps that are advanced in going back are at most as many as from the first state alone.
    """
    chosen = [positions[0]]
    while True:
        first, free = chosen[-1], slots - len(chosen) + 1
        rest = length - first
        later = [p for p in positions if p > first]
        if not later or free == 1:
            return chosen
        cost, best = min((advances(p - first, free) + advances(length - p, free - 1), p) for p in later)
        if cost > advances(rest, free):
            return chosen
        chosen.append(best)


class Kept:
    """The states that a loop keeps while it runs forwards.

    Attributes:
        slots: how many at most; one more may stand before the last step of all.
        length: the number of steps; None if it is not known.
        shelf: where they are, with `put`.
    """

    def __init__(self, slots: int, length: int | None, shelf: Any):
        self.slots, self.length, self.shelf = slots, length, shelf
        self._restart()
        self._done: list[list] = []

    def _restart(self) -> None:
        self.entries: list[tuple[int, Any]] = []
        self.next = 0
        self.every = 1

    def offer(self, position: int, state: list[Any]) -> None:
        """Keep the state before a step, or not."""
        if position == 0:  # a loop may be begun again
            self._restart()
        if self.length is None:
            self._thin_out(position)
        if position != self.next:
            return
        self.entries.append((position, self.shelf.put(state)))
        if self.length is None:
            self.next += self.every
        elif (rest := self.length - position) > 1:
            self.next += split(rest, self.slots - len(self.entries) + 1)

    def _thin_out(self, position: int) -> None:
        """Where no slot is left, keep every second state from now on."""
        if position == self.next and len(self.entries) == self.slots:
            self.every *= 2
            self.entries = [entry for entry in self.entries if entry[0] % self.every == 0]
            self.next = -(-position // self.every) * self.every

    def finish(self, length: int) -> None:
        """The loop has ended after so many steps."""
        entries = self.entries
        if self.length is None and entries:
            chosen = set(useful([position for position, _ in entries], length, self.slots))
            entries = [entry for entry in entries if entry[0] in chosen]
        self._done[:] = [entries]
        self._restart()

    def take(self) -> list[tuple[int, Any]]:
        """The states, the first one first; they are given away once, and none are left then."""
        try:
            return self._done.pop()  # atomic: two threads may walk one tape
        except IndexError:
            return []
