"""Primitives about programs rather than numbers: cutting derivatives, calling nested programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._primitives.kinds import constant


def _stopped(x):
    # a copy: the tape may hold this array as a residual
    return np.array(x) if type(x) is np.ndarray else x


_stop_gradient = constant(_stopped, name="stop_gradient")
_stop_gradient.batch = lambda values, batched: _stop_gradient(*values)


def stop_gradient_leaf(x: Any) -> Any:
    """The value of a leaf, which no derivative passes."""
    if not isinstance(x, Tracer):
        return x
    before = x.trace.cut if hasattr(x.trace, "cut") else None
    out = _stop_gradient(x)
    x.trace.cut = before  # a cut that was asked for is no accident
    return out
