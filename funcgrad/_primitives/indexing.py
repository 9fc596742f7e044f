"""Indexing of every sort.

An index is a static template in which `ARRAY` marks the places of index arrays; those are operands, so
that they may be staged or batched.
"""

import numpy as np

from funcgrad._core.primitive import Accumulator
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._primitives.kinds import linear


class _Array:
    """The place of an index array in a template."""

    def __repr__(self):
        return "array"


ARRAY = _Array()


def assemble(template, arrays):
    """The NumPy index that a template and its arrays stand for."""
    if not arrays:
        return template
    arrays = iter(arrays)
    return tuple([next(arrays) if part is ARRAY else part for part in template])


@linear(structural=True, view=True)
def getitem(x, *arrays, template):
    return x[assemble(template, arrays)]


@getitem.transpose("x")
def getitem_transpose(g, x_shape, x_dtype, arrays, *, template):
    return scatter(g, *arrays, parts=((template, len(arrays)),), shape=x_shape)


def _add_into(buffer, g, residuals, *, template):
    _, _, arrays = residuals
    index = assemble(template, arrays)
    if arrays:
        if buffer.dtype == bool:
            buffer[index] |= g
        else:
            np.add.at(buffer, index, g)  # an entry that is read twice receives twice
    else:
        buffer[index] += g


def _total(shares, shape, dtype):
    operands, parts = [], []
    for g, (_, _, arrays), params in shares:
        operands += [g, *arrays]
        parts.append((params["template"], len(arrays)))
    return scatter(*operands, parts=tuple(parts), shape=shape)


getitem.accumulate = Accumulator(_add_into, _total)


@linear(structural=True, joint=True)
def scatter(*operands, parts, shape):
    """Zeros of a shape to which each ``g`` is added at its index; operands are g, *arrays, g, ..."""
    operands = iter(operands)
    out = None
    for template, count in parts:
        g = next(operands)
        if out is None:
            out = np.zeros(shape, dtype_of(g))
        arrays = tuple([next(operands) for _ in range(count)])
        np.add.at(out, assemble(template, arrays), g)
    return out
