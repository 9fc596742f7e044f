"""Functions that run again: with values only, and whether they give what they gave before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.fingerprints import sampled
from funcgrad._core.tracer import Reading, Trace, Tracer, settled
from funcgrad._core.types import shape_of


def reading(origin: Trace, values: dict[int, Any]) -> Reading:
    """What stands in for a trace that has ended, where a part of its function runs again with values only.

    Args:
        values: those of the tracers that the part reads, by their rows.
    """

    def read(tracer):
        if tracer.slot not in values:
            raise errors.ImpureFunctionError("checkpoint", "read other traced values")
        return values[tracer.slot]

    return Reading(origin, read)


class Held:
    """What results were, or a sample of them."""

    __slots__ = ("samples", "shapes")

    def __init__(self, outs: Sequence[Any]):
        self.samples = [_sample(o) for o in outs]
        self.shapes = [shape_of(o) for o in outs]

    def verify(self, outs: Sequence[Any], again: Callable[[], Sequence[Any]], transform: str) -> None:
        """Raise if the function gave other results.

        Traced and plain operations may round differently. So if `outs` are not the same, the function runs
        as it did first, by `again`, unless they are close.
        """
        outs = list(map(settled, outs))
        if len(outs) != len(self.shapes):
            raise errors.ImpureFunctionError(transform, f"gave {len(outs)} results, not {len(self.shapes)},")
        if self.shapes != list(map(shape_of, outs)):
            raise errors.ImpureFunctionError(transform, "gave results of other shapes")
        if not self._agree(outs, _close) and not self._agree(list(map(settled, again())), _same):
            raise errors.ImpureFunctionError(transform, "gave another result")

    def _agree(self, outs: Sequence[Any], compare: Callable) -> bool:
        pairs = zip(self.samples, map(_sample, outs), strict=True)
        return all(a is None or b is None or a.shape != b.shape or compare(a, b) for a, b in pairs)


def _sample(x: Any) -> np.ndarray | None:
    """Some 500 numbers of a value, or all; None where it has none yet."""
    while isinstance(x, Tracer):
        x = getattr(x, "value", None)
    if type(x) is np.ndarray:
        return sampled(x)
    return np.asarray(x) if isinstance(x, (np.generic, float, int, complex)) else None


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if _same(a, b):
        return True
    if a.dtype != b.dtype or a.dtype.kind not in "fc" or not a.size:
        return False
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)):
        return False
    a, b = a[finite], b[finite]
    scale = np.max(np.abs(a), initial=0)
    return bool(np.all(np.abs(a - b) <= 64 * np.finfo(a.dtype).eps * scale))
