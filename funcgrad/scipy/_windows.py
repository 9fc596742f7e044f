"""Entries selected from the windows about each sample: medians and their like."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import concrete
from funcgrad._primitives.indexing import ARRAY, gather
from funcgrad.numpy.creation import take


def shifted(wide: Any, footprint: np.ndarray, axes: tuple[int, ...], shape: tuple[int, ...]) -> list:
    """For each place of a footprint, the extended image as it is seen from there."""
    parts = []
    for at in zip(*np.nonzero(footprint)):
        index = [slice(None)] * len(shape)
        for axis, start in zip(axes, at):
            index[axis] = slice(int(start), int(start) + shape[axis])
        parts.append(wide[tuple(index)])
    return parts


def ranked(wide: Any, footprint: np.ndarray, axes: tuple[int, ...], shape: tuple[int, ...], rank: int) -> Any:
    """The entry of a rank in each window: which it is, is constant; ties are in the window's order."""
    values = np.stack(shifted(concrete(wide), footprint, axes, shape), axis=-1)
    chosen = np.argsort(values, axis=-1, kind="stable")[..., rank]
    offsets = dict(zip(axes, np.nonzero(footprint)))
    places = []
    for axis in range(-len(shape), 0):
        along = np.arange(shape[axis]).reshape((-1,) + (1,) * (-1 - axis))
        along = along + take(offsets[axis], chosen) if axis in offsets else along
        places.append(along)
    return gather(wide, *places, template=(ARRAY,) * len(shape), unique=False)
