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


def _call(*args, **kwargs):
    return Call(args, kwargs)


def _through(through, *args, **kwargs):
    return Call(args, kwargs, through)


#: Tried in turn on every callable; at most `ENOUGH` that it takes count.
GENERIC = [
    _call(V), _call(M), _call(V, W), _call(M, V), _call(M, N), _call(V, W, U), _call([V, W]), _call(V, 2),
    _call(M, 2), _call(2, V), _call(V, INTEGERS), _call(INTEGERS, V), _call(MASK, V), _call(V, MASK),
    _call(0.4), _call(0.4, 0.7), _call(2, 0.4), _call(0.4, 0.7, 0.2), _call(V, W, U, V + 0.1),
    _call(3, 2, V), _call(V, (2, 2)), _call(M, (1, 0)), _call(V, 1, 0), _call(V, 1, 0.3), _call([V, W], U),
]  # fmt: skip
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
    "numpy.apply_along_axis": [_call(np.sum, 0, M)],
    "numpy.apply_over_axes": [_call(np.sum, M, [0])],
    "numpy.astype": [_call(V, np.float32), _call(V, np.int64)],
    "numpy.broadcast_to": [_call(V, (3, 4))],
    "numpy.choose": [_call(INTEGERS, [V, W, U, V + W])],
    "numpy.cross": [_call(V[:3], W[:3])],
    "numpy.dsplit": [_call(CUBE, 2)],
    "numpy.fromfunction": [_through(lambda fromfunction, x: fromfunction(lambda i: i * x, (3,)), 0.4)],
    "numpy.interp": [_call(W, SORTED, U), _call(0.4, SORTED, U)],
    "numpy.lexsort": [_call([V, W]), _call(M)],
    "numpy.moveaxis": [_call(CUBE, 0, -1)],
    "numpy.piecewise": [_call(V, [V < 0.5, V >= 0.5], [np.sin, np.cos])],
    "numpy.polyfit": [_call(SORTED, W, 2)],
    "numpy.polyint": [_call(V), _call(V, 2)],
    "numpy.put_along_axis": [_call(V, np.array([1, 2]), W[:2], 0)],
    "numpy.roll": [_call(V, 1), _call(M, 1)],
    "numpy.rollaxis": [_call(CUBE, 2)],
    "numpy.select": [_call([MASK, ~MASK], [V, W]), _call([MASK], [V], 0.5)],
    "numpy.swapaxes": [_call(M, 0, 1)],
    "numpy.trim_zeros": [_call(np.array([0.0, 0.3, 0.0, 0.7, 0.0]))],
    "numpy.vectorize": [_through(lambda vectorize, x: vectorize(lambda t: t * t)(x), V)],
    "numpy.linalg.eig": [_call(M + np.triu(N, 1))],
    "numpy.linalg.cross": [_call(V[:3], W[:3])],
    "numpy.linalg.tensorinv": [_call(np.reshape(M, (2, 2, 2, 2)), 2)],
    **{
        f"numpy.polynomial.{module}.{prefix}{name}": calls
        for module, prefix in POLYNOMIALS.items()
        for name, calls in {
            "fit": [_call(SORTED, W, 2)],
            "vander2d": [_call(V, W, (1, 2))],
            "vander3d": [_call(V, W, U, (1, 2, 1))],
            "interpolate": [_through(lambda interpolate, x: interpolate(lambda t: np.sin(x * t), 3), 0.4)],
        }.items()
    },
    "funcgrad.numpy.fromiter": [
        _through(lambda fromiter, x: fromiter((x * i for i in range(3)), np.float64), 0.4)
    ],
    "ndarray.conj": [_call(V), _call(Z)],
    "ndarray.conjugate": [_call(V), _call(Z)],
    "ndarray.__complex__": [_call(np.array(0.4))],
    "ndarray.astype": [_call(V, np.float32), _call(V, np.int64)],
    "ndarray.swapaxes": [_call(M, 0, 1)],
}


def calls(key: str) -> list[Call]:
    """The arguments to probe a callable with."""
    return SPECIAL.get(key) or SPECIAL.get(key.removeprefix("funcgrad.")) or GENERIC
