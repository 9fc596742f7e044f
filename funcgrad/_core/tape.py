"""The tape that reverse mode walks: one row for each operation, linearised at the recorded values.

It is stored by column. Rows that are objects or tuples of their own cost 0.7 us more each on a long
tape, since Python's cyclic collector visits them again and again (1.2 us against 0.45 us a row at a
million rows); a column's entries are invisible to it. A variable is its row number, and the tape
holds no tracer: there are no cycles, and memory goes at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core import source
from funcgrad._core.boxes import fixed
from funcgrad._core.fingerprints import fingerprint, is_large, owner
from funcgrad._core.tracer import Tracer


class Tape:
    """Rows of linear equations.

    Columns:
        plans: what the row does; None for an input.
        parents: the rows it reads, one for each of the plan's positions.
        residuals: the values its rule asked for.
        places: where in the user's code it was called: code object and instruction offset.
    And by row, where there is something to say:
        params: the primitive's static parameters.
        fits: for each parent None or the (shape, dtype) that its share must be fitted to.
        types: the (shape, dtype) of a row that shares are accumulated into; of a tape recorded for the
            forward walk, of a row whose tangent must be given them.
    `kept` says that the tape is kept to be walked later, after code of the user's has run; `eager` that the
    numbers of all values are there to be looked at. ``outside()`` gives the arrays that were there before the
    function ran: large ones are compared by a sample. Those that it makes are its own to write to.
    """

    __slots__ = (
        "plans", "parents", "residuals", "places", "params", "fits", "types", "inputs",
        "kept", "eager", "outside", "_watched", "_owners",
    )  # fmt: skip

    def __init__(self, kept: bool = False):
        self.plans: list = []
        self.parents: list[tuple[int, ...]] = []
        self.residuals: list = []
        self.places: list = []
        self.params: dict[int, dict] = {}
        self.fits: dict[int, list] = {}
        self.types: dict[int, tuple] = {}
        self.inputs = 0
        self.kept = kept
        self.eager = True
        self.outside: Callable[[], list[np.ndarray]] | None = None
        self._owners: set[int] | None = None
        self._watched: dict[int, list[tuple[Any, int | None, bool, bytes | Tracer]]] = {}

    def __len__(self) -> int:
        return len(self.plans)

    def append(self, plan, parents=(), residuals=None, place=(None, 0)) -> int:
        self.plans.append(plan)
        self.parents.append(parents)
        self.residuals.append(residuals)
        self.places.append(place)
        return len(self.plans) - 1

    def where(self, row: int) -> str:
        """The user's file, line and function of a row, and what its operands and result are tagged."""
        named = [("operand", p) for p in self.parents[row] if self._tags(p)]
        readers = [r for r in range(row + 1, len(self)) if row in self.parents[r]]
        named += [("result", r) for r in readers if self._tags(r)]
        tags = ", ".join(f"{what} {self.params[r]['name']!r}" for what, r in named)
        return source.describe(*self.places[row]) + (f" [{tags}]" if tags else "")

    def _tags(self, row: int) -> bool:
        plan = self.plans[row]
        return plan is not None and plan.prim.tags

    def inputs_of(self, rows) -> set[int]:
        """The inputs that any of these rows depend on."""
        seen = bytearray(len(self))
        for row in rows:
            seen[row] = True
        for row in range(max(rows, default=-1), self.inputs - 1, -1):
            if seen[row]:
                for parent in self.parents[row]:
                    seen[parent] = True
        return {row for row in range(self.inputs) if seen[row]}

    def watch(self, array: Any, row: int | None = None, whole: bool = False) -> None:
        """Remember what an array of the user's holds, or a box of an older trace: residuals may depend on it.

        Args:
            row: the row that reads it; None if perhaps none does, as of an input or a result.
            whole: whether every entry of a large array counts, or a sample.
        """
        whole = whole or self.kept or self._is_made(array)
        held = _held(array, whole)
        known = self._watched.setdefault(id(array), [])
        if not known or not _same(known[-1][3], held) or known[-1][2] != whole:
            known.append((array, row, whole, held))  # most are read again and again, and kept once
        elif known[-1][1] is None and row is not None:
            known[-1] = (array, row, whole, held)

    def _is_made(self, array: Any) -> bool:
        """Whether this is a large array that the function which is recorded made itself."""
        if self.outside is None or type(array) is not np.ndarray or not is_large(array):
            return False
        if self._owners is None:
            self._owners = {id(owner(a)) for a in self.outside()}
        return id(owner(array)) not in self._owners

    def verify(self) -> None:
        """Raise if an array that a residual depends on was changed after it was recorded."""
        for known in self._watched.values():
            for array, row, whole, held in known:
                if not _same(_held(array, whole), held):
                    self._report(array, row)

    def _report(self, array: np.ndarray, row: int | None) -> None:
        """Name the operation that read an array which was changed, if any did."""
        if row is None:
            reading = (i for i, r in enumerate(self.residuals) if r is not None and _refers(r, array))
            row = next(reading, None)
            if row is None:
                return
        name, where = self.plans[row].prim.name, self.where(row)
        raise errors.ChangedResidualError(name, where, array.shape, array.dtype)


def _held(array: Any, whole: bool) -> bytes | Tracer:
    """What tells whether an array was changed in place, or a traced one bound to another value."""
    return fixed(array) if isinstance(array, Tracer) else fingerprint(array, whole)


def _same(a: bytes | Tracer, b: bytes | Tracer) -> bool:
    return a is b if isinstance(a, Tracer) else a == b


def _refers(residuals: Any, array: np.ndarray) -> bool:
    """Whether one of the residuals is an array, or a view of one, that shares memory with `array`."""
    if isinstance(residuals, (tuple, list)):
        return any(_refers(r, array) for r in residuals)
    value = residuals
    while isinstance(value, Tracer):
        value = getattr(value, "value", None)
    return isinstance(value, np.ndarray) and np.may_share_memory(value, array)
