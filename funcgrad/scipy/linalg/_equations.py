"""Matrix equations: Sylvester's, Lyapunov's, Riccati's. Their derivatives solve linear ones."""

from __future__ import annotations

import functools

import numpy as np
import scipy.linalg

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import general
from funcgrad._primitives.linalg import adjoint, hermitian_part, inexact, solve
from funcgrad.numpy.protocol import implements
from funcgrad.scipy.linalg._operands import matrices, over_stack

# ---- A X + X B = Q -------------------------------------------------------------------------


@general(core=(2, 2, 2))
def sylvester(a, b, q):
    """The solution x of ``a @ x + x @ b = q``."""
    return over_stack(scipy.linalg.solve_sylvester, (2, 2, 2), a, b, q)


@sylvester.outer_jvp
def _sylvester_outer_jvp(t, a, b):
    return sylvester(a, b, t)


@sylvester.outer_vjp
def _sylvester_outer_vjp(g, a, b):
    return sylvester(a.mT, b.mT, g)


@sylvester.jvp("a")
def _sylvester_jvp_a(t, y):
    return -(t @ y)


@sylvester.jvp("b")
def _sylvester_jvp_b(t, y):
    return -(y @ t)


@sylvester.jvp("q")
def _sylvester_jvp_q(t):
    return t


@sylvester.vjp("q")
def _sylvester_vjp_q(g, q_shape):
    return fit(g, q_shape, None)


@sylvester.typing
def _sylvester_type(a, b, q):
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2], q.shape[:-2])
    return ShapeDtypeStruct(stack + q.shape[-2:], inexact(a, b, q))


@implements(scipy.linalg.solve_sylvester)
def solve_sylvester(a, b, q):
    return sylvester(matrices(a), matrices(b), matrices(q, square=False))


@implements(scipy.linalg.solve_continuous_lyapunov, scipy.linalg.solve_lyapunov)
def solve_continuous_lyapunov(a, q):
    a, q = matrices(a), matrices(q)
    if a.shape[-1] != q.shape[-1]:
        raise ValueError("Matrix a and q should have the same shape.")
    return sylvester(a, adjoint(a), q)


# ---- X = A X A' + Q ------------------------------------------------------------------------


@general(core=(2, 2))
def discrete_lyapunov(a, q, *, method):
    """The solution x of ``x = a @ x @ adjoint(a) + q``, in double precision as SciPy's."""
    solver = functools.partial(scipy.linalg.solve_discrete_lyapunov, method=method)
    return over_stack(solver, (2, 2), a, q)


@discrete_lyapunov.outer_jvp
def _discrete_outer_jvp(t, a, *, method):
    return discrete_lyapunov(a, t, method=method)


@discrete_lyapunov.outer_vjp
def _discrete_outer_vjp(g, a, *, method):
    return discrete_lyapunov(a.mT, g, method=method)


@discrete_lyapunov.jvp("a")
def _discrete_jvp_a(t, y, a, *, method):
    return t @ y @ adjoint(a) + a @ y @ adjoint(t)


@discrete_lyapunov.jvp("q")
def _discrete_jvp_q(t, *, method):
    return t


@discrete_lyapunov.vjp("q")
def _discrete_vjp_q(g, q_shape, *, method):
    return fit(g, q_shape, None)


@discrete_lyapunov.typing
def _discrete_type(a, q, *, method):
    stack = np.broadcast_shapes(a.shape[:-2], q.shape[:-2])
    return ShapeDtypeStruct(stack + q.shape[-2:], np.result_type(inexact(a, q), np.float64))


@implements(scipy.linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None):
    a, q = matrices(a), matrices(q)
    if method is None:
        method = "bilinear" if a.shape[-1] >= 10 else "direct"
    if method.lower() not in ("direct", "bilinear"):
        raise ValueError(f"Unknown solver {method}")
    return discrete_lyapunov(a, q, method=method.lower())


# ---- Riccati's equations -------------------------------------------------------------------
#
# With the gain k = inverse(r) b' x, or inverse(r + b' x b) b' x a of the discrete one, and the closed loop
# c = a - b k: along a change of the data the change of k drops out, for k minimises a cost (P. Lancaster and
# L. Rodman, Algebraic Riccati Equations, OUP 1995). What is left is Lyapunov's equation for the change of x.
# Changes of q and r count by their Hermitian parts.


def _riccati(name):
    solver = getattr(scipy.linalg, f"solve_{name}_are")

    @general(core=(2, 2, 2, 2), name=f"{name}_are")
    def are(a, b, q, r, *, balanced):
        return over_stack(functools.partial(solver, balanced=balanced), (2, 2, 2, 2), a, b, q, r)

    discrete = name == "discrete"

    def gain(x, a, b, r):
        bx = adjoint(b) @ x
        return solve(r + bx @ b, bx @ a) if discrete else solve(r, bx)

    def loop(x, a, b, r):
        return a - b @ gain(x, a, b, r)

    @are.outer_jvp
    def outer_jvp(t, y, a, b, r, *, balanced):
        c = adjoint(loop(y, a, b, r))
        return discrete_lyapunov(c, t, method="direct") if discrete else sylvester(c, adjoint(c), -t)

    @are.outer_vjp
    def outer_vjp(g, y, a, b, r, *, balanced):
        c = adjoint(loop(y, a, b, r)).mT
        return discrete_lyapunov(c, g, method="direct") if discrete else -sylvester(c, adjoint(c), g)

    def twice(x):
        return x + adjoint(x)

    @are.jvp("a")
    def jvp_a(t, y, a, b, r, *, balanced):
        ahead = adjoint(loop(y, a, b, r)) @ y if discrete else y
        return twice(ahead @ t)

    @are.jvp("b")
    def jvp_b(t, y, a, b, r, *, balanced):
        ahead = adjoint(loop(y, a, b, r)) @ y if discrete else y
        return -twice(ahead @ t @ gain(y, a, b, r))

    @are.jvp("q")
    def jvp_q(t, y, *, balanced):
        return np.broadcast_to(hermitian_part(t), y.shape)  # others may be stacks where q is not

    @are.jvp("r")
    def jvp_r(t, y, a, b, r, *, balanced):
        k = gain(y, a, b, r)
        return adjoint(k) @ hermitian_part(t) @ k

    @are.typing
    def type_(a, b, q, r, *, balanced):
        stack = np.broadcast_shapes(*[x.shape[:-2] for x in (a, b, q, r)])
        return ShapeDtypeStruct(stack + q.shape[-2:], np.result_type(inexact(a, b, q, r), np.float64))

    return are


continuous_are = _riccati("continuous")
discrete_are = _riccati("discrete")


def _reduced(a, b, q, r, e, s):
    """The equation without the cross term `s` and the factor `e`, which has the same solution."""
    a, b, q, r = matrices(a), matrices(b, square=False), matrices(q), matrices(r)
    if s is not None:
        s = matrices(s, square=False)
        k = solve(r, adjoint(s))
        a, q = a - b @ k, hermitian_part(q - s @ k)
    if e is not None:
        e = matrices(e)
        a = solve(e.mT, a.mT).mT
        half = solve(adjoint(e), q)
        q = hermitian_part(adjoint(solve(adjoint(e), adjoint(half))))
    return a, b, q, r


@implements(scipy.linalg.solve_continuous_are)
def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    return continuous_are(*_reduced(a, b, q, r, e, s), balanced=bool(balanced))


@implements(scipy.linalg.solve_discrete_are)
def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    return discrete_are(*_reduced(a, b, q, r, e, s), balanced=bool(balanced))
