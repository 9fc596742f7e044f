"""Products of vectors and matrices, one primitive for each pairing, so that `A @ x` is one equation.

Leading axes are a stack and broadcast; nothing is conjugated. The five of them are closed: the transpose of
each is another one. Only the transpose with respect to an operand that a whole stack shares needs more: it
sums over the stack, which `contract` does within a single matrix product.
"""

import math

import numpy as np

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.contractions import contract
from funcgrad._primitives.kinds import linear

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _over_stack(a, b, subscripts):
    """The contraction of two stacks of the same rank, in which ``*`` stands for the stack's axes."""
    core = subscripts.index(",") - 1
    return contract(a, b, subscripts=subscripts.replace("*", _LETTERS[: len(a.shape) - core]))


def _typed(a, b, a_core, b_core):
    """The type of a product whose factors have so many core axes; the sum is over a's last axis."""
    summed = b.shape[-1] if b_core == 1 else b.shape[-2]
    if a.shape[-1] != summed:  # NumPy says so
        np.dot(*[np.broadcast_to(0, t.shape[-core:]) for t, core in ((a, a_core), (b, b_core))])
    stack = np.broadcast_shapes(a.shape[:-a_core], b.shape[:-b_core])
    core = a.shape[-a_core:-1] + (b.shape[-1:] if b_core == 2 else ())
    return ShapeDtypeStruct(stack + core, np.result_type(a.dtype, b.dtype))


def _by_rows(x, b):
    """The product of a stack with what all of it shares, a vector or a matrix: one product, not a stack."""
    *stack, size = x.shape
    return x.reshape(math.prod(stack), size).dot(b).reshape(*stack, *b.shape[1:])


def _is_shared(shape, *stacks):
    """Whether matrices of a shape are one for all along the last axis of their stack, which others have.

    What is summed along that axis then is a product of matrices, as in a batch inside of a batch.
    """
    return (
        len(shape) > 2 and shape[-3] == 1 and len({stack[-1:] for stack in stacks}) == 1 and stacks[0] != ()
    )


def _merged(x):
    """A stack of matrices with their rows and the last axis of the stack as one axis."""
    return np.reshape(x, x.shape[:-3] + (x.shape[-3] * x.shape[-2], x.shape[-1]))


# ---- vector and vector ---------------------------------------------------------------------


@linear(core=(1, 1))
def dot(a, b):
    if b.ndim == 1:
        return a.dot(b)
    if a.ndim == 1:
        return b.dot(a)
    return np.einsum("...k,...k->...", a, b)


@dot.transpose("a")
def dot_transpose_a(g, b, a_shape):
    return _scaled(g, b, a_shape)


@dot.transpose("b")
def dot_transpose_b(g, a, b_shape):
    return _scaled(g, a, b_shape)


def _scaled(g, x, shape):
    stacked = len(g.shape)
    if stacked == 0:
        return g * x
    if len(shape) == 1 and len(x.shape) == stacked + 1:
        return _over_stack(g, x, "*,*Z->Z")
    return fit(g[..., None] * x, shape, None)


@dot.typing
def dot_type(a, b):
    return _typed(a, b, 1, 1)


@linear(core=(1, 1))
def outer(a, b):
    return a[..., :, None] * b[..., None, :]


@outer.transpose("a")
def outer_transpose_a(g, b, a_shape):
    return fit(matvec(g, b), a_shape, None)


@outer.transpose("b")
def outer_transpose_b(g, a, b_shape):
    return fit(vecmat(a, g), b_shape, None)


@outer.typing
def outer_type(a, b):
    stack = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    return ShapeDtypeStruct(stack + (a.shape[-1], b.shape[-1]), np.result_type(a.dtype, b.dtype))


# ---- matrix and vector ---------------------------------------------------------------------


@linear(core=(2, 1))
def matvec(a, x):
    if x.ndim == 1:
        return a.dot(x) if a.ndim == 2 else _by_rows(a, x)
    if a.ndim == 2:
        return _by_rows(x, a.T)
    if a.shape[-3] == 1:  # one matrix for all vectors along an axis: they are the rows of a matrix
        return x @ a[..., 0, :, :].mT
    return (a @ x[..., None])[..., 0]


@matvec.transpose("a")
def matvec_transpose_a(g, x, a_shape):
    if len(a_shape) == 2 and 1 < len(g.shape) == len(x.shape):
        return _over_stack(g, x, "*Y,*Z->YZ")
    if _is_shared(a_shape, g.shape[:-1], x.shape[:-1]):
        return fit(np.expand_dims(matmul(g.mT, x), -3), a_shape, None)
    return fit(outer(g, x), a_shape, None)


@matvec.transpose("x")
def matvec_transpose_x(g, a, x_shape):
    if len(x_shape) == 1 and len(g.shape) > 1:
        return _over_stack(g, a, "*Y,*YZ->Z")
    return fit(vecmat(g, a), x_shape, None)


@matvec.typing
def matvec_type(a, x):
    return _typed(a, x, 2, 1)


@linear(core=(1, 2))
def vecmat(x, a):
    if a.ndim == 2:
        return x.dot(a) if x.ndim < 3 else _by_rows(x, a)
    if x.ndim == 1:
        return x @ a
    if a.shape[-3] == 1:
        return x @ a[..., 0, :, :]
    return (x[..., None, :] @ a)[..., 0, :]


@vecmat.transpose("x")
def vecmat_transpose_x(g, a, x_shape):
    if len(x_shape) == 1 and len(g.shape) > 1:
        return _over_stack(g, a, "*Z,*YZ->Y")
    return fit(matvec(a, g), x_shape, None)


@vecmat.transpose("a")
def vecmat_transpose_a(g, x, a_shape):
    if len(a_shape) == 2 and 1 < len(g.shape) == len(x.shape):
        return _over_stack(x, g, "*Y,*Z->YZ")
    if _is_shared(a_shape, g.shape[:-1], x.shape[:-1]):
        return fit(np.expand_dims(matmul(x.mT, g), -3), a_shape, None)
    return fit(outer(x, g), a_shape, None)


@vecmat.typing
def vecmat_type(x, a):
    return _typed(x, a, 1, 2)


# ---- matrix and matrix ---------------------------------------------------------------------


@linear(core=(2, 2))
def matmul(a, b):
    if a.ndim == 2 == b.ndim:
        return a.dot(b)
    if a.shape[-1] == 1 == b.shape[-2]:  # as `outer`: NumPy's matrix product takes twice the time
        return a * b
    if b.ndim == 2:
        return _by_rows(a, b)
    if a.ndim == 2:
        return _by_rows(b[..., 0], a.T)[..., None] if b.shape[-1] == 1 else a @ b
    if b.shape[-3] == 1:
        out = _merged(a) @ b[..., 0, :, :]
        return out.reshape(out.shape[:-2] + a.shape[-3:-1] + out.shape[-1:])
    return a @ b


@matmul.transpose("a")
def matmul_transpose_a(g, b, a_shape):
    if len(a_shape) == 2 and 2 < len(g.shape) == len(b.shape):
        return _over_stack(g, b, "*XZ,*YZ->XY")
    return fit(matmul(g, b.mT), a_shape, None)


@matmul.transpose("b")
def matmul_transpose_b(g, a, b_shape):
    if len(b_shape) == 2 and 2 < len(g.shape) == len(a.shape):
        return _over_stack(a, g, "*XY,*XZ->YZ")
    if _is_shared(b_shape, g.shape[:-2], a.shape[:-2]):
        rows, columns = _merged(a), _merged(g)
        return fit(np.expand_dims(matmul(rows.mT, columns), -3), b_shape, None)
    return fit(matmul(a.mT, g), b_shape, None)


@matmul.typing
def matmul_type(a, b):
    return _typed(a, b, 2, 2)


# ---- the cross product ---------------------------------------------------------------------


@linear(core=(1, 1))
def cross(a, b):
    """The cross product of vectors of three along the last axis."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    out = np.empty(shape, np.result_type(a.dtype, b.dtype))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.subtract(a[..., j] * b[..., k], a[..., k] * b[..., j], out[..., i])
    return out


@cross.transpose("a")
def cross_transpose_a(g, b, a_shape):
    return fit(cross(b, g), a_shape, None)


@cross.transpose("b")
def cross_transpose_b(g, a, b_shape):
    return fit(cross(g, a), b_shape, None)
