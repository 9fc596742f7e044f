"""Linear systems, inverses, determinants and norms of (stacks of) matrices.

The rules are written for complex matrices in the pairing Re(g z), so they transpose and never conjugate,
except where the function itself does.
"""

import itertools

import numpy as np

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import constant, general


def adjoint(x):
    """The conjugate transpose of matrices."""
    return np.conj(x).mT if x.dtype.kind == "c" else x.mT


def conj(x):
    return np.conj(x) if x.dtype.kind == "c" else x


def real(x):
    return np.real(x) if x.dtype.kind == "c" else x


def hermitian_part(x):
    return (x + adjoint(x)) * 0.5


def skew(x):
    """Twice the anti-Hermitian part."""
    return x - adjoint(x)


def real_dtype(dtype):
    return np.zeros((), dtype).real.dtype


def inexact(*types):
    """The dtype of a result of LAPACK's: that of the operands, or float64 for integers."""
    dtype = np.result_type(*[t.dtype for t in types])
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


# ---- systems and inverses ------------------------------------------------------------------


@general(core=(2, 2))
def solve(a, b):
    return np.linalg.solve(a, b)


@solve.outer_jvp
def solve_outer_jvp(t, a):
    return solve(a, t)


@solve.outer_vjp
def solve_outer_vjp(g, a):
    return solve(a.mT, g)


@solve.jvp("a")
def solve_jvp_a(t, y):
    return -(t @ y)


@solve.vjp("a")
def solve_vjp_a(g, y, a_shape):
    return fit(-(g @ y.mT), a_shape, None)


@solve.jvp("b")
def solve_jvp_b(t):
    return t


@solve.vjp("b")
def solve_vjp_b(g, b_shape):
    return fit(g, b_shape, None)


@solve.typing
def solve_type(a, b):
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return ShapeDtypeStruct(stack + b.shape[-2:], inexact(a, b))


@general
def inv(a):
    return np.linalg.inv(a)


@inv.jvp
def inv_jvp(t, y):
    return -(y @ t @ y)


@inv.vjp
def inv_vjp(g, y):
    y = y.mT
    return -(y @ g @ y)


@inv.typing
def inv_type(a):
    return ShapeDtypeStruct(a.shape, inexact(a))


@general
def pinv(a, *, rcond, hermitian=False):
    return np.linalg.pinv(a, rcond=rcond, hermitian=hermitian)


@pinv.jvp
def pinv_jvp(t, a, y, *, rcond, hermitian=False):
    # the rank is taken to be constant, as it must be where the pseudo-inverse is continuous
    t_, y_ = adjoint(t), adjoint(y)
    rows, columns = t_ - (t_ @ a) @ y, t_ - y @ (a @ t_)
    return y @ (y_ @ rows) + (columns @ y_) @ y - y @ t @ y


@pinv.typing
def pinv_type(a, *, rcond, hermitian=False):
    return ShapeDtypeStruct(a.shape[:-2] + a.shape[:-3:-1], inexact(a))


@general(core=(2, 2), multiple=True)
def lstsq(a, b, *, rcond):
    """The solution, the rank and the singular values."""
    if a.ndim == 2 == b.ndim:
        x, _, rank, s = np.linalg.lstsq(a, b, rcond)
        return x, rank, s
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = [np.broadcast_to(x, stack + x.shape[-2:]) for x in (a, b)]
    solved = [lstsq.impl(a[i], b[i], rcond=rcond) for i in np.ndindex(stack)]
    if not solved:
        return tuple([np.zeros(t.shape, t.dtype) for t in lstsq_type(a, b, rcond=rcond)])
    return tuple([np.reshape(part, stack + np.shape(part[0])) for part in zip(*solved)])


@lstsq.jvp("a")
def lstsq_jvp_a(t, y, a, b, *, rcond):
    p, x = pinv(a, rcond=rcond), y[0]
    p_, t_ = adjoint(p), adjoint(t)
    z = t_ @ (p_ @ x)
    tangent = p @ (p_ @ (t_ @ (b - a @ x)) - t @ x) + z - p @ (a @ z)
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return tangent, None, np.sum(real((adjoint(u) @ t) * conj(vh)), axis=-1)


@lstsq.jvp("b")
def lstsq_jvp_b(t, a, *, rcond):
    return pinv(a, rcond=rcond) @ t, None, None


@lstsq.typing
def lstsq_type(a, b, *, rcond):
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    dtype = inexact(a, b)
    x = ShapeDtypeStruct(stack + (a.shape[-1], b.shape[-1]), dtype)
    s = ShapeDtypeStruct(stack + (min(a.shape[-2:]),), real_dtype(dtype))
    return x, ShapeDtypeStruct(stack, np.int32), s


# ---- determinants --------------------------------------------------------------------------


@general
def det(a):
    return np.linalg.det(a)


@det.jvp
def det_jvp(t, a):
    return np.sum(cofactor(a) * t, axis=(-2, -1))


@det.vjp
def det_vjp(g, a):
    return g[..., None, None] * cofactor(a)


@det.typing
def det_type(a):
    return ShapeDtypeStruct(a.shape[:-2], inexact(a))


@general
def cofactor(a, *directions):
    """The gradient of the determinant, differentiated along each of the directions.

    The determinant is a polynomial. What it does along k directions is symmetric in them, so this one
    function has every derivative of the determinant, and is its own transpose. None of it divides by
    what may be 0: it is exact at singular matrices.
    """
    a, *directions = np.broadcast_arrays(a, *directions)
    fast = _cofactor_by_inverse(a, directions) if len(directions) < 2 else None
    return _cofactor_by_svd(a, directions) if fast is None else fast


def _cofactor_by_inverse(a, directions):
    """For matrices that are not near to singular; None else."""
    try:
        x = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return None
    condition = np.linalg.norm(a, axis=(-2, -1)) * np.linalg.norm(x, axis=(-2, -1))
    if not np.all(condition < np.finfo(x.dtype).eps ** -0.3):
        return None
    if directions:
        xt = x @ directions[0]
        x = np.trace(xt, axis1=-2, axis2=-1)[..., None, None] * x - xt @ x
    return np.linalg.det(a)[..., None, None] * x.mT


def _cofactor_by_svd(a, directions):
    u, s, vh = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    directions = [adjoint(u) @ t @ adjoint(vh) for t in directions]
    core = _cofactor_of_diagonal(s, directions)
    return sign[..., None, None] * (conj(u) @ core @ conj(vh))


def _cofactor_of_diagonal(s, directions):
    """Leibniz' formula at a diagonal matrix: of k + 1 rows the factors are off the diagonal."""
    count = len(directions) + 1
    rest = _products_without(s, count)
    letters = "abcdefghijklmnopqrstuvwxyz"[:count]
    out = np.zeros(np.broadcast_shapes(*[t.shape for t in directions], s.shape + s.shape[-1:]),
                   np.result_type(s, *directions))  # fmt: skip
    diagonal = np.einsum("...ii->...i", out)  # a view
    for order in itertools.permutations(range(count)):
        sign = np.linalg.det(np.eye(count)[list(order)]).round()
        factors = [f"...{letters[i]}{letters[j]}" for i, j in enumerate(order[:-1])]
        last = letters[-1] if order[-1] == count - 1 else letters[-1] + letters[order[-1]]
        subscripts = ",".join([f"...{letters}", *factors]) + f"->...{last}"
        share = sign * np.einsum(subscripts, rest, *directions)
        if len(last) == 1:
            diagonal += share
        else:
            out += share
    return out


def _products_without(s, count):
    """At [i, j, ...]: the product of all entries of `s` but these `count`; 0 where two of them are equal."""
    n = s.shape[-1]
    ones = np.ones(s.shape[:-1] + (1,), s.dtype)
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    later = np.triu(np.ones((n, n), bool), 1)
    between = np.cumprod(np.where(later, s[..., None, :], ones[..., None]), -1)
    between = np.concatenate([np.ones_like(between[..., :1]), between[..., :-1]], -1) * later
    out = before
    for rank in range(count - 1):
        out = out[..., None] * between.reshape(s.shape[:-1] + (1,) * rank + (n, n))
    out = out * after.reshape(s.shape[:-1] + (1,) * (count - 1) + (n,))
    stack = tuple(range(s.ndim - 1))
    orders = itertools.permutations(range(s.ndim - 1, s.ndim - 1 + count))
    return sum(out.transpose(stack + order) for order in orders)


@cofactor.jvp("a")
def cofactor_jvp(t, a, directions):
    return cofactor(a, *directions, t)


@cofactor.vjp("a")
def cofactor_vjp(g, a, directions, a_shape):
    return fit(cofactor(a, *directions, g), a_shape, None)


@cofactor.jvp("*directions")
def cofactor_direction_jvp(t, index, a, directions):
    return cofactor(a, *directions[: index - 1], t, *directions[index:])


@cofactor.vjp("*directions")
def cofactor_direction_vjp(g, index, a, directions, shapes):
    return fit(cofactor_direction_jvp(g, index, a, directions), shapes[index], None)


cofactor.batching(batch_leading(cofactor, itertools.repeat(2)))


@cofactor.typing
def cofactor_type(a, *directions):
    shape = np.broadcast_shapes(a.shape, *[t.shape for t in directions])
    return ShapeDtypeStruct(shape, inexact(a, *directions))


@general(multiple=True)
def slogdet(a):
    return tuple(np.linalg.slogdet(a))


@slogdet.jvp
def slogdet_jvp(t, y, a):
    tangent = np.sum(inv(a).mT * t, axis=(-2, -1))
    if a.dtype.kind != "c":
        return None, tangent  # the sign is constant
    return y[0] * (np.imag(tangent) * 1j), np.real(tangent)


@slogdet.vjp
def slogdet_vjp(g, y, a):
    scale = g.get(1)
    if a.dtype.kind == "c" and 0 in g:
        phase = np.imag(g[0] * y[0]) * 1j
        scale = phase if scale is None else scale + phase
    return None if scale is None else scale[..., None, None] * inv(a).mT


@slogdet.typing
def slogdet_type(a):
    dtype = inexact(a)
    sign = ShapeDtypeStruct(a.shape[:-2], dtype)
    return sign, ShapeDtypeStruct(a.shape[:-2], real_dtype(dtype))


def _matrix_rank(a, *, tol, hermitian, rtol):
    return np.linalg.matrix_rank(a, tol, hermitian, rtol=rtol)


matrix_rank = constant(_matrix_rank, "matrix_rank")


# ---- norms ---------------------------------------------------------------------------------


@general
def norm(x, *, ord, axis):
    """The p-norm along axes, p other than 0 and infinity; its derivative at 0 is 0."""
    if ord == 2:
        if x.dtype.kind == "c":
            return np.sqrt(np.add.reduce(np.square(x.real) + np.square(x.imag), axis=axis))
        if len(axis) == x.ndim:
            x = x.ravel(order="K")
            return np.sqrt(x.dot(x))
        return np.sqrt(np.add.reduce(np.square(x), axis=axis))
    return np.add.reduce(np.abs(x) ** ord, axis=axis) ** (1.0 / ord)


def _norm_gradient(x, y, ord, axis):
    if y.ndim:
        y = np.expand_dims(y, axis)
    if ord == 2:
        return conj(x) / np.where(y == 0, np.inf, y)  # 0 at 0, and so are its derivatives
    size = np.abs(x)
    zero = size == 0
    y, size = np.where(y == 0, 1, y), np.where(zero, 1, size)
    return np.where(zero, 0, conj(x) / size) * (size / y) ** (ord - 1)


@norm.jvp
def norm_jvp(t, x, y, *, ord, axis):
    return np.sum(real(t * _norm_gradient(x, y, ord, axis)), axis=axis)


@norm.vjp
def norm_vjp(g, x, y, *, ord, axis):
    if g.ndim:
        g = np.expand_dims(g, axis)
    return g * _norm_gradient(x, y, ord, axis)
