"""Convolution along the last axis; other axes broadcast."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from funcgrad._primitives.kinds import linear


@linear(core=(1, 1))
def convolve(a, v, *, valid=False):
    """Every place where `a` and `v` overlap; with `valid` those with all of `v`, which is not the longer."""
    if a.ndim == v.ndim == 1:
        return np.convolve(a, v, "valid" if valid else "full")
    if a.shape[-1] < v.shape[-1]:
        a, v = v, a
    size = v.shape[-1]
    if not valid:
        a = np.pad(a, [(0, 0)] * (a.ndim - 1) + [(size - 1, size - 1)])
    return np.matmul(sliding_window_view(a, size, -1), v[..., ::-1, None])[..., 0]


@convolve.transpose("a")
def convolve_transpose_a(g, v, *, valid=False):
    return convolve(g, v[..., ::-1], valid=not valid)


@convolve.transpose("v")
def convolve_transpose_v(g, a, *, valid=False):
    if valid:
        return convolve(a, g[..., ::-1], valid=True)[..., ::-1]
    return convolve(g, a[..., ::-1], valid=True)
