"""Tracers that look like a value which they hold: those of a record, and those with a tangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of


class Valued(Tracer):
    """A tracer that looks like its `value`.

    Every operation asks for shapes and dtypes: these are read without a call, at half the cost.
    """

    __slots__ = ()

    value: Any

    @property
    def primal(self) -> Any:
        return self.value

    @property
    def shape(self) -> tuple[int, ...]:
        try:
            return self.value.shape
        except AttributeError:  # a Python scalar
            return ()

    @property
    def dtype(self) -> np.dtype:
        try:
            return self.value.dtype
        except AttributeError:
            return dtype_of(self.value)

    @property
    def ndim(self) -> int:
        try:
            return self.value.ndim
        except AttributeError:
            return 0

    @property
    def weak(self) -> bool:
        value = self.value
        if isinstance(value, Tracer):
            return value.weak
        # NumPy's float64 and complex128 are subclasses of Python's, but as strong as arrays are
        return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
