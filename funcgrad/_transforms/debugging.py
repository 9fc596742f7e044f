"""`debug_nans`: turn the first non-finite value into an error that names its cause."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterable, Iterator
from typing import Any

from funcgrad._interpreters.debug import CheckedForward, CheckedRecord, WalkCheck
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record

_checking: contextvars.ContextVar[bool] = contextvars.ContextVar("debug_nans", default=False)


@contextlib.contextmanager
def debug_nans(enable: bool = True) -> Iterator[None]:
    """Within this context, a NaN or infinity that arises from finite values and reaches a result is an error.

    Every derivative taken inside looks at each value, forward and backward. What a selection leaves out,
    as ``np.where(x > 0, np.log(x), 0)`` does at 0, is no error. It holds for the current thread (and async
    task) only.

    Args:
        enable: False switches the checks off again in an inner context.

    Raises:
        NonFiniteError: names the operation, the user's line, the entry and the factor that was bad.

    >>> import numpy as np
    >>> from funcgrad import debug_nans, grad
    >>> with debug_nans():
    ...     grad(lambda x: np.sum(x * np.sqrt(x)))(np.array([0.0, 1.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.NonFiniteError: sqrt made ... from finite values in the backward pass, at entry (0,)...
    """
    token = _checking.set(enable)
    try:
        yield
    finally:
        _checking.reset(token)


def new_record(push: bool = False, kept: bool = False) -> Record:
    return CheckedRecord(push, kept) if _checking.get() else Record(push, kept)


def new_forward() -> Forward:
    return CheckedForward() if _checking.get() else Forward()


def walk_check(record: Record) -> WalkCheck | None:
    """What looks at each row of a walk over a tape."""
    return WalkCheck(record.tape, getattr(record, "events", {})) if _checking.get() else None


def require_finite(trace: Record | Forward, outs: Iterable[Any]) -> None:
    """Raise if a result is not finite, though what it came from was."""
    if isinstance(trace, (CheckedRecord, CheckedForward)):
        trace.require_finite(outs)
