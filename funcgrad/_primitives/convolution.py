"""Convolution along the last axis; other axes broadcast."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from funcgrad._interpreters.reverse import fit
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
def convolve_transpose_a(g, v, a_shape, *, valid=False):
    return fit(convolve(g, v[..., ::-1], valid=not valid), a_shape, None)


@convolve.transpose("v")
def convolve_transpose_v(g, a, v_shape, *, valid=False):
    if valid:
        share = convolve(a, g[..., ::-1], valid=True)[..., ::-1]
    else:
        share = convolve(g, a[..., ::-1], valid=True)
    return fit(share, v_shape, None)  # summed over the axes in which `v` was broadcast
