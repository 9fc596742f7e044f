"""Reductions. Axes are tuples of negative integers: a batch axis in front changes nothing."""

import numpy as np

from funcgrad._primitives.kinds import linear


@linear(structural=True)
def sum(x, *, axis, keepdims=False):
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


@sum.transpose
def sum_transpose(g, x_shape, *, axis, keepdims=False):
    if not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, x_shape)
