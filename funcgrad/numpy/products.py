"""Products: `@`, dot and its kin, tensordot, cross, kron, trace, einsum."""

from __future__ import annotations

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._primitives import products as prims
from funcgrad._primitives.contractions import contract
from funcgrad.numpy.arguments import refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BY_RANK = {(1, 1): prims.dot, (2, 1): prims.matvec, (1, 2): prims.vecmat, (2, 2): prims.matmul}


# ---- matrix products -----------------------------------------------------------------------


@implements(np.matmul)
def matmul(x1, x2, *, axes=None):
    a = x1 if isinstance(x1, (np.ndarray, Tracer)) else asarray(x1)
    b = x2 if isinstance(x2, (np.ndarray, Tracer)) else asarray(x2)
    if axes is not None:
        return _with_axes(matmul, (a, b), axes, (2, 2), 2)
    n, m = a.ndim, b.ndim
    prim = _BY_RANK.get((n, m))
    if prim is not None:
        return prim(a, b)
    if n == 0 or m == 0:
        np.matmul(*[np.broadcast_to(0, x.shape) for x in (a, b)])  # NumPy says why not
    return _BY_RANK[min(n, 2), min(m, 2)](a, b)


def _with_axes(product, operands, axes, cores, out_core):
    """A generalised ufunc with ``axes=``: bring the core axes to the end, and the result's to their place."""
    axes = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
    if len(axes) == len(operands):
        axes.append(tuple(range(-out_core, 0)))
    moved = [np.moveaxis(x, a, tuple(range(-c, 0))) for x, a, c in zip(operands, axes, cores)]
    out = product(*moved)
    return np.moveaxis(out, tuple(range(-out_core, 0)), axes[-1]) if out_core else out


@implements(np.dot)
def dot(a, b, out=None):
    refuse_out("dot", out)
    a, b = asarray(a), asarray(b)
    n, m = a.ndim, b.ndim
    prim = _BY_RANK.get((n, m))
    if prim is not None:
        return prim(a, b)
    if n == 0 or m == 0:
        return np.multiply(a, b)
    return tensordot(a, b, axes=((n - 1,), (max(m - 2, 0),)))


@implements(np.vdot)
def vdot(a, b, /):
    return prims.dot(np.conj(np.ravel(a)), np.ravel(b))


@implements(np.inner)
def inner(a, b, /):
    a, b = asarray(a), asarray(b)
    n, m = len(a.shape), len(b.shape)
    if n == 1 == m:
        return prims.dot(a, b)
    return np.multiply(a, b) if n == 0 or m == 0 else tensordot(a, b, axes=((n - 1,), (m - 1,)))


@implements(np.outer)
def outer(a, b, out=None):
    refuse_out("outer", out)
    vectors = [x if x.ndim == 1 else np.ravel(x) for x in (asarray(a), asarray(b))]
    return prims.outer(*vectors)


@implements(np.linalg.outer)
def linalg_outer(x1, x2, /):
    x1, x2 = asarray(x1), asarray(x2)
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError("np.linalg.outer takes two one-dimensional arrays; np.outer flattens any")
    return prims.outer(x1, x2)


@implements(np.vecdot)
def vecdot(x1, x2, /, *, axis=-1, axes=None, keepdims=False):
    x1, x2 = asarray(x1), asarray(x2)
    if axes is not None:
        out = _with_axes(vecdot, (x1, x2), axes[:2], (1, 1), 0)
    else:
        if axis != -1:
            x1, x2 = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
        if x1.dtype.kind == "c":
            x1 = np.conj(x1)
        out = prims.dot(x1, x2)
    return np.expand_dims(out, axis) if keepdims else out


@implements(np.linalg.vecdot)
def linalg_vecdot(x1, x2, /, *, axis=-1):
    return vecdot(x1, x2, axis=axis)


implements(np.linalg.matmul)(matmul)


def matvec(x1, x2, /, *, axes=None):
    x1, x2 = asarray(x1), asarray(x2)
    if axes is not None:
        return _with_axes(matvec, (x1, x2), axes, (2, 1), 1)
    return prims.matvec(x1, x2)


def vecmat(x1, x2, /, *, axes=None):
    x1, x2 = asarray(x1), asarray(x2)
    if axes is not None:
        return _with_axes(vecmat, (x1, x2), axes, (1, 2), 1)
    return prims.vecmat(np.conj(x1) if x1.dtype.kind == "c" else x1, x2)


if hasattr(np, "matvec"):  # NumPy 2.2
    implements(np.matvec)(matvec)
    implements(np.vecmat)(vecmat)


@implements(np.linalg.multi_dot)
def multi_dot(arrays, *, out=None):
    refuse_out("linalg.multi_dot", out)
    arrays = [asarray(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("np.linalg.multi_dot takes at least two arrays")
    ends = [arrays[0].shape[:-1] or (1,), *[a.shape[-1:] for a in arrays[:-1]]]
    sizes = [*[n for (n,) in ends], arrays[-1].shape[-1] if arrays[-1].ndim == 2 else 1]
    return _multiply_chain(arrays, _best_splits(sizes), 0, len(arrays) - 1)


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to part each sub-chain of matrices so that the products cost least; `sizes` are their ends."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


def _multiply_chain(arrays, split, i, j):
    if i == j:
        return arrays[i]
    k = split[i, j]
    left, right = _multiply_chain(arrays, split, i, k), _multiply_chain(arrays, split, k + 1, j)
    return matmul(left, right)


# ---- products over chosen axes -------------------------------------------------------------


@implements(np.tensordot)
def tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    n, m = len(a.shape), len(b.shape)
    if isinstance(axes, (int, np.integer)):
        axes = (range(n - axes, n), range(axes))
    axes_a, axes_b = [[ax] if isinstance(ax, (int, np.integer)) else list(ax) for ax in axes]
    axes_a, axes_b = [i % n for i in axes_a], [i % m for i in axes_b]
    if [a.shape[i] for i in axes_a] != [b.shape[i] for i in axes_b]:
        raise ValueError("shape-mismatch for sum")
    left, right = list(_LETTERS[:n]), list(_LETTERS[n : n + m])
    for i, j in zip(axes_a, axes_b):
        right[j] = left[i]
    out = [x for x in left if x not in right] + [x for x in right if x not in left]
    return contract(a, b, subscripts=f"{''.join(left)},{''.join(right)}->{''.join(out)}")


@implements(np.linalg.tensordot)
def linalg_tensordot(x1, x2, /, *, axes=2):
    return tensordot(x1, x2, axes)


@implements(np.kron)
def kron(a, b):
    a, b = asarray(a), asarray(b)
    rank = max(len(a.shape), len(b.shape))
    a, b = [np.reshape(x, (1,) * (rank - len(x.shape)) + x.shape) for x in (a, b)]
    left, right = _LETTERS[:rank], _LETTERS[rank : 2 * rank]
    out = "".join(i + j for i, j in zip(left, right))
    blocks = contract(a, b, subscripts=f"{left},{right}->{out}")
    return np.reshape(blocks, tuple(n * m for n, m in zip(a.shape, b.shape)))


@implements(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(asarray(a), axisa, -1), np.moveaxis(asarray(b), axisb, -1)
    lengths = {a.shape[-1], b.shape[-1]}
    if not lengths <= {2, 3}:
        raise ValueError("np.cross takes vectors of three (or two) components along the axis")
    if 2 in lengths:  # in the plane: the third component is 0, and of two such vectors all that is left
        a, b = _in_space(a), _in_space(b)
    out = prims.cross(a, b)
    return out[..., 2] if lengths == {2} else np.moveaxis(out, -1, axisc)


def _in_space(x):
    if x.shape[-1] == 3:
        return x
    return np.concatenate([x, np.zeros(x.shape[:-1] + (1,), x.dtype)], axis=-1)


@implements(np.linalg.cross)
def linalg_cross(x1, x2, /, *, axis=-1):
    x1, x2 = asarray(x1), asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("np.linalg.cross takes vectors of three components along the axis")
    return cross(x1, x2, axis=axis)


# ---- traces --------------------------------------------------------------------------------


@implements(np.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    refuse_out("trace", out)
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@implements(np.linalg.trace)
def linalg_trace(x, /, *, offset=0, dtype=None):
    return trace(x, offset, -2, -1, dtype)
