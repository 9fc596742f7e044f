"""Split: an infinitesimal that parts equal eigenvalues, so that derivatives at a repeated one are limits.

A function of a matrix that does not depend on which eigenvectors are chosen for a repeated eigenvalue has a
derivative there, but the rule for eigenvectors divides 0 by 0. The quotient's limit takes what first
derivatives do not know: how numerator and denominator vanish. So where eigenvalues are equal they leave
`eigh` as w + eps * (1, 2, 3, ...), with an infinitesimal eps that this trace carries beneath all others, and
a primitive with a `limit` divides the parts in eps where the finite ones vanish. What leaves a transform
leaves without its part in eps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import without_part
from funcgrad._interpreters.forward import Dual, Forward


class Split(Forward):
    """Carry the parts in eps. There is one such trace; it holds nothing and is beneath all others."""

    __slots__ = ()

    infinitesimal = True

    def __init__(self):
        super().__init__()
        self.level = -1

    def dual(self, value: Any, tangent: Any) -> Any:
        if is_split(value):  # eigenvalues of a matrix that is split already
            tangent = value.tangent if tangent is None else value.tangent + tangent
            value = value.value
        return super().dual(value, tangent)

    def note_cut(self, rows=(), place=None) -> None:
        """Nothing: no derivative is taken here."""

    def process(self, prim, args: tuple, params: dict) -> Any:
        if prim.limit is None:
            with np.errstate(invalid="ignore"):  # an unknown part in eps is NaN
                return super().process(prim, args, params)
        values = [without_part(a) for a in args]
        tangents = [a.tangent if is_split(a) else None for a in args]
        return self.dual(*prim.limit(values, tangents, **params))


_SPLIT = Split()


def is_split(x: Any) -> bool:
    return type(x) is Dual and x._trace is _SPLIT


def split(values: np.ndarray, close: np.ndarray) -> Any:
    """Eigenvalues along the last axis, parted if any are `close`."""
    if not np.any(close):
        return values
    parts = np.arange(1, values.shape[-1] + 1, dtype=values.real.dtype)
    return _SPLIT.dual(values, np.broadcast_to(parts, values.shape).astype(values.dtype))
