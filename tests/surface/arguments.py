"""Arguments to probe callables with: a generic table, and the names that need others."""

from __future__ import annotations

import numpy as np

from surface.probe import Call

V = np.array([0.21, 0.43, 0.62, 0.85])
W = np.array([0.74, 0.35, 0.91, 0.16])
U = np.array([0.52, 0.97, 0.28, 0.69])
M = np.array([[0.91, 0.12, 0.05, 0.21], [0.12, 0.83, 0.17, 0.08], [0.05, 0.17, 0.72, 0.26],
              [0.21, 0.08, 0.26, 0.97]])  # fmt: skip
N = M[::-1] @ M + np.eye(4)
INTEGERS = np.array([1, 0, 2, 3])
MASK = np.array([True, False, True, True])


def call(*args, **kwargs):
    """Arguments for a call."""
    return Call(args, kwargs, suits=True)


def through(through, *args, **kwargs):
    """Arguments for ``through(callable, *args)``."""
    return Call(args, kwargs, through, suits=True)


#: Tried in turn on every callable; at most `ENOUGH` that it takes count.
GENERIC = [
    call(V), call(M), call(V, W), call(M, V), call(M, N), call(V, W, U), call([V, W]), call(V, 2),
    call(M, 2), call(2, V), call(V, INTEGERS), call(INTEGERS, V), call(MASK, V), call(V, MASK),
    call(0.4), call(0.4, 0.7), call(2, 0.4), call(0.4, 0.7, 0.2), call(V, W, U, V + 0.1),
    call(3, 2, V), call(V, (2, 2)), call(M, (1, 0)), call(V, 1, 0), call(V, 1, 0.3), call([V, W], U),
]  # fmt: skip
GENERIC = [call._replace(suits=False) for call in GENERIC]
ENOUGH = 3

SORTED = np.array([0.1, 0.3, 0.6, 1.0])
CUBE = (np.arange(24.0) / 24 + 0.01).reshape(2, 3, 4) ** 2
Z = V + 1j * W


#: NumPy's modules of polynomials and the prefixes of their functions.
POLYNOMIALS = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "laguerre": "lag", "hermite": "herm",
    "hermite_e": "herme",
}  # fmt: skip

#: Callables that none of these suit, or that these would only half try: by key.
SPECIAL: dict[str, list[Call]] = {
    "numpy.apply_along_axis": [call(np.sum, 0, M)],
    "numpy.apply_over_axes": [call(np.sum, M, [0])],
    "numpy.astype": [call(V, np.float32), call(V, np.int64)],
    "numpy.broadcast_to": [call(V, (3, 4))],
    "numpy.choose": [call(INTEGERS, [V, W, U, V + W])],
    "numpy.cross": [call(V[:3], W[:3])],
    "numpy.dsplit": [call(CUBE, 2)],
    "numpy.fromfunction": [through(lambda fromfunction, x: fromfunction(lambda i: i * x, (3,)), 0.4)],
    "numpy.interp": [call(W, SORTED, U), call(0.4, SORTED, U)],
    "numpy.lexsort": [call([V, W]), call(M)],
    "numpy.moveaxis": [call(CUBE, 0, -1)],
    "numpy.piecewise": [call(V, [V < 0.5, V >= 0.5], [np.sin, np.cos])],
    "numpy.polyfit": [call(SORTED, W, 2)],
    "numpy.polyint": [call(V), call(V, 2)],
    "numpy.put_along_axis": [call(V, np.array([1, 2]), W[:2], 0)],
    "numpy.roll": [call(V, 1), call(M, 1)],
    "numpy.rollaxis": [call(CUBE, 2)],
    "numpy.select": [call([MASK, ~MASK], [V, W]), call([MASK], [V], 0.5)],
    "numpy.swapaxes": [call(M, 0, 1)],
    "numpy.trim_zeros": [call(np.array([0.0, 0.3, 0.0, 0.7, 0.0]))],
    "numpy.vectorize": [through(lambda vectorize, x: vectorize(lambda t: t * t)(x), V)],
    "numpy.linalg.eig": [call(M + np.triu(N, 1))],
    "numpy.linalg.cross": [call(V[:3], W[:3])],
    "numpy.linalg.tensorinv": [call(np.reshape(M, (2, 2, 2, 2)), 2)],
    **{
        f"numpy.polynomial.{module}.{prefix}{name}": calls
        for module, prefix in POLYNOMIALS.items()
        for name, calls in {
            "fit": [call(SORTED, W, 2)],
            "vander2d": [call(V, W, (1, 2))],
            "vander3d": [call(V, W, U, (1, 2, 1))],
            "interpolate": [through(lambda interpolate, x: interpolate(lambda t: np.sin(x * t), 3), 0.4)],
        }.items()
    },
    "funcgrad.numpy.fromiter": [
        through(lambda fromiter, x: fromiter((x * i for i in range(3)), np.float64), 0.4)
    ],
    "ndarray.conj": [call(V), call(Z)],
    "ndarray.conjugate": [call(V), call(Z)],
    "ndarray.__complex__": [call(np.array(0.4))],
    "ndarray.astype": [call(V, np.float32), call(V, np.int64)],
    "ndarray.swapaxes": [call(M, 0, 1)],
}
