"""The tape that reverse mode walks: one row for each operation, linearised at the recorded values.

It is stored by column. Rows that are objects or tuples of their own cost 0.7 us more each on a long
tape, since Python's cyclic collector visits them again and again (1.2 us against 0.45 us a row at a
million rows); a column's entries are invisible to it. A variable is its row number, and the tape
holds no tracer: there are no cycles, and memory goes at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core import source

_EXACT = 8192  # bytes up to which a watched array is compared whole
_SAMPLES = 512  # entries that are compared of larger ones


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
        types: the (shape, dtype) of a row that shares are accumulated into.
    """

    __slots__ = (
        "plans", "parents", "residuals", "places", "params", "fits", "types", "inputs",
        "_watched", "_prints", "_rows",
    )  # fmt: skip

    def __init__(self):
        self.plans: list = []
        self.parents: list[tuple[int, ...]] = []
        self.residuals: list = []
        self.places: list = []
        self.params: dict[int, dict] = {}
        self.fits: dict[int, list] = {}
        self.types: dict[int, tuple] = {}
        self.inputs = 0
        self._watched: list[np.ndarray] = []
        self._prints: list = []
        self._rows: list[int] = []

    def __len__(self) -> int:
        return len(self.plans)

    def append(self, plan, parents=(), residuals=None, place=(None, 0)) -> int:
        self.plans.append(plan)
        self.parents.append(parents)
        self.residuals.append(residuals)
        self.places.append(place)
        return len(self.plans) - 1

    def where(self, row: int) -> str:
        """The user's file, line and function of a row."""
        return source.describe(*self.places[row])

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

    def watch(self, array: np.ndarray, row: int) -> None:
        """Remember what an array of the user's holds, since a residual depends on it."""
        self._watched.append(array)
        self._prints.append(fingerprint(array))
        self._rows.append(row)

    def verify(self) -> None:
        """Raise if an array that a residual depends on was changed after it was recorded."""
        for array, print_, row in zip(self._watched, self._prints, self._rows):
            if fingerprint(array) != print_:
                inside = row < len(self.plans) and self.plans[row] is not None
                name = self.plans[row].prim.name if inside else None
                raise errors.ChangedResidualError(
                    name, self.where(row) if inside else None, array.shape, array.dtype
                )


def fingerprint(array: np.ndarray) -> Any:
    """What an array holds: all of it up to 8 KiB, a sample of 512 entries of a larger one.

    A checksum of everything would double the time of a matrix-vector product; in-place operations,
    slices, sorting and refilling change many entries, and a sample sees them.
    """
    if array.nbytes <= _EXACT:
        return array.tobytes()
    return (
        array.ravel(order="K")[:: array.size // _SAMPLES].tobytes()
        if (array.flags.c_contiguous or array.flags.f_contiguous)
        else array.flat[:: array.size // _SAMPLES].tobytes()
    )
