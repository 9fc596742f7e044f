"""Parts of functions that were recorded again, walked back at once.

Masks of structural zeros cost as much as the rest. Where values are known a walk shows whether they matter; a
program is written without them until a step or branch turns out to make structural zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad._core.types import shape_of
from funcgrad._interpreters.calls import Shares
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.reverse import pull_back, pull_back_masked, selects

#: A cotangent with its mask of structural zeros; either may be None.
Flow = tuple[Any, Any]


def pull_recorded(
    trace: Record, outs: Sequence[Any], flows: Mapping[int, Flow], masks: bool
) -> tuple[list[Any], list[Any]]:
    """The inputs' cotangents and masks, of a function that was recorded to be walked back at once.

    Args:
        outs: the function's results; those that do not depend on the inputs are no tracers of the trace.
        flows: cotangents and masks, by the results' numbers.
        masks: whether structural zeros are told from others.
    """
    flowing = [(trace.own(outs[i]), *flow) for i, flow in flows.items()]
    flowing = [(own.slot, ct, live) for own, ct, live in flowing if own is not None and ct is not None]
    rows, cts, lives = ([flow[part] for flow in flowing] for part in range(3))
    if masks:
        return pull_back_masked(trace.tape, rows, cts, lives)
    return pull_back(trace.tape, rows, cts, consume=True), [None] * trace.tape.inputs


class _MasksMatter(Exception):
    """A part of a loop or choice makes structural zeros, which the other parts are to be told of."""


def with_masks_if_needed(pull: Callable[[bool], Shares], masks: bool) -> Shares:
    """``pull(masks)``; and with masks if it finds that they matter, for they cost as much as the rest."""
    try:
        return pull(masks)
    except _MasksMatter:
        return pull(True)


def require_masks(trace: Record, masks: bool) -> None:
    """Begin again with masks if what was recorded makes structural zeros."""
    if not masks and selects(trace.tape):
        raise _MasksMatter


def mask_of(ct: Any, live: Any, like: Any) -> Any:
    """A share's mask: nothing is live where nothing flows."""
    return np.zeros(shape_of(like), bool) if ct is None else live
