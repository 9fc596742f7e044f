"""The plain values of traced ones, for decisions that need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete


def known(x: Any) -> np.ndarray | None:
    """The plain array of a traced one; None if there is none, under `vmap` and in abstract programs."""
    value = x.known if isinstance(x, Tracer) else x
    return None if isinstance(value, Tracer) else np.asarray(value)


def known_or_refuse(x: Any, reading: str) -> np.ndarray:
    """The plain array, of what decides on a result's shape."""
    value = known(x)
    if value is None:
        raise errors.UnknownValueError(reading, concrete(x)._trace.transform, describe(*caller(2)))
    return value
