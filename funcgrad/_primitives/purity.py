"""Functions that run again: with values only, and whether they give what they gave before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.fingerprints import sampled
from funcgrad._core.tracer import Trace, Tracer, settled
from funcgrad._core.types import shape_of


class Reader:
    """Stands in for a trace that has ended, where a part of its function runs again with values only."""

    def __init__(self, origin: Trace, values: dict[int, Any]):
        """`values` are those of the tracers that the part reads, by their rows."""
        self.origin, self.values = origin, values

    def own(self, x: Any) -> Any:
        tracer = self.origin.own(x)
        if tracer is None:
            return None
        if tracer.slot not in self.values:
            raise errors.ImpureFunctionError("checkpoint", "read other traced values")
        return self.values[tracer.slot]

    def process(self, prim, args: tuple, params: dict) -> Any:
        return prim(*map(settled, args), **params)


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
