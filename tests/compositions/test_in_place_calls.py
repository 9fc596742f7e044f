"""Functions that write in place, as bodies of loops and branches, under checkpoint, and in custom rules."""

import numpy as np
import pytest
from expect import same

from funcgrad import (
    checkpoint,
    checkpointed_loop,
    custom_jvp,
    custom_linear_solve,
    custom_minimizer,
    custom_vjp,
    errors,
    eval_jaxpr,
    grad,
    hvp,
    jvp,
    lax,
    make_jaxpr,
    value_and_grad,
    vjp,
    vmap,
)

V = np.array([3.0, 1.0, 2.0])
T = np.array([1.0, -0.5, 0.25])
M = np.array([[1.5, -0.5], [0.25, 1.0], [0.75, 2.0]])


def step(c):
    """Writes through views of what it makes, into what is like its argument, and into its argument."""
    out = np.zeros_like(c)
    out[...] = c
    tail = out[1:]
    tail += 0.3 * c[0]
    c *= 0.5
    rest = c.reshape(-1)[::2]
    rest += out[::2]
    return out * c


def twice(x):
    return step(step(x * 1.0))


def custom(f):
    """`f` with a rule that writes into what it is given, in place."""
    outer = custom_vjp(f)

    def fwd(x):
        return f(x * 1.0), x

    def bwd(x, g):
        _, pull = vjp(lambda y: f(y * 1.0), x * 1.0)
        (share,) = pull(g * 1.0)
        g *= 100.0
        x *= 100.0
        view = share[1:]
        view *= 2.0
        view *= 0.5
        return (share,)

    outer.defvjp(fwd, bwd)
    return outer


def custom_forward(f):
    outer = custom_jvp(f)

    @outer.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        out, tangent = jvp(lambda y: f(y * 1.0), (x * 1.0,), (t * 1.0,))
        x *= 100.0
        t *= 100.0
        return out, tangent

    return outer


CALLS = {
    "scan": lambda x: lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0],
    "scan-checkpoint": lambda x: lax.scan(lambda c, _: (step(c), None), x, None, length=2, checkpoint=1)[0],
    "fori": lambda x: lax.fori_loop(0, 2, lambda i, c: step(c), x),
    "cond": lambda x: lax.cond(np.sum(x) > 0, step, lambda c: c, lax.cond(True, step, lambda c: c, x * 1.0)),
    "checkpoint": lambda x: checkpoint(step)(checkpoint(step)(x)),
    "checkpointed_loop": lambda x: checkpointed_loop(step, x, length=2, slots=1),
    "custom_vjp": lambda x: custom(step)(custom(step)(x)),
    "custom_jvp": lambda x: custom_forward(step)(custom_forward(step)(x)),
    "map": lambda x: step(lax.map(lambda row: step(row), x[None])[0]),
    "vmap": lambda x: vmap(step)(vmap(step)(x[None]))[0],
}  # fmt: skip

MODES = {
    "grad": lambda f: grad(f)(V),
    "value": lambda f: value_and_grad(f)(V)[0],
    "jvp": lambda f: jvp(f, (V,), (T,))[1],
    "hvp": lambda f: hvp(f)(V, T),
    "vmap-grad": lambda f: vmap(grad(f))(np.stack([V, 2.0 * V])),
    "grad-vmap": lambda f: grad(lambda xs: np.sum(vmap(f)(xs)))(np.stack([V, 2.0 * V])),
    "program": lambda f: evaluated(f),
    "program-grad": lambda f: evaluated(grad(f)),
    "grad-jvp": lambda f: grad(lambda x: jvp(f, (x,), (T,))[1])(V),
    "checkpoint": lambda f: grad(checkpoint(f))(V),
}


def evaluated(f):
    program = make_jaxpr(f)(V)
    return eval_jaxpr(program, program.consts, V)[0]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_of_functions_that_write(call, mode):
    given = V.copy()
    found = mode(lambda x: np.sum(np.sin(call(x * 1.0)) * V))
    same(found, mode(lambda x: np.sum(np.sin(twice(x)) * V)), rtol=1e-10)
    assert np.array_equal(V, given)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_they_act_on_values_of_their_own(call):
    """What a call's function writes into its arguments does not reach the caller, traced or not."""

    def f(x):
        y = x * 1.0
        return np.sum(call(y)) + np.sum(y)

    expected = np.sum(twice(V)) + np.sum(V)
    for run in (f, lambda x: value_and_grad(f)(x)[0], lambda x: evaluated(f), lambda x: vmap(f)(x[None])[0]):
        np.testing.assert_allclose(run(V.copy()), expected, rtol=1e-13)


def test_equations_and_their_solvers():
    def by_equation(a):
        def matvec(v):
            r = v * a
            w = r[1:]
            w += 0.3 * v[:-1]
            return r

        def solver(matvec, b):
            return np.linalg.solve(np.stack([matvec(e) for e in np.eye(3)], 1), b)

        return np.sum(custom_linear_solve(matvec, V, solver) ** 2)

    def by_matrix(a):
        return np.sum(np.linalg.solve(np.diag(a) + 0.3 * np.eye(3, k=-1), V) ** 2)

    same(grad(by_equation)(V), grad(by_matrix)(V), rtol=1e-12)
    same(hvp(by_equation)(V, T), hvp(by_matrix)(V, T), rtol=1e-12)

    def minimum(x):
        def objective(v, x):
            r = v * 1.0
            w = r[1:]
            w -= x[1:]
            w *= 2.0
            r[0] -= x[0]
            return np.sum(r**2)

        return np.sum(custom_minimizer(objective, np.zeros(3), lambda f, v: V.copy(), (x,)) ** 3)

    same(grad(minimum)(V), 3.0 * V**2, rtol=1e-12)


def test_results_that_share_memory_with_the_state():
    def f(x):
        def body(c, r):
            c += r
            return c, c

        last, all_of_them = lax.scan(body, x * 1.0, M.T @ np.ones((3, 3)))
        return np.sum(all_of_them * all_of_them) + np.sum(last)

    def pure(x):
        rows = M.T @ np.ones((3, 3))
        first, second = x + rows[0], x + rows[0] + rows[1]
        return np.sum(first**2) + np.sum(second**2) + np.sum(second)

    np.testing.assert_allclose(f(V.copy()), pure(V))
    same(grad(f)(V), grad(pure)(V), rtol=1e-12)
    np.testing.assert_allclose(evaluated(f), pure(V))


def test_rows_at_traced_integers_are_views():
    def f(x):
        def body(i, a):
            row = a[i]
            row *= 2.0
            a[i, 0] += 1.0
            return a

        return np.sum(lax.fori_loop(0, 2, body, x.reshape(3, 1) * np.ones((1, 2))) * M)

    expected = np.sum(np.array([[7.0, 6.0], [3.0, 2.0], [2.0, 2.0]]) * M)
    np.testing.assert_allclose([f(V), evaluated(f), grad(f)(V) @ V + M[0, 0] + M[1, 0]], expected)
    same(evaluated(grad(f)), grad(f)(V), rtol=1e-12)


def test_outside_of_what_runs_again():
    def loop(x):
        y = x * 1.0

        def body(c, _):
            y[0] += 1.0
            return c + y[0], None

        return lax.scan(body, 0.0, None, length=2)[0] + np.sum(y)

    def part_of_it(x):
        y = x[None] * 1.0

        def body(c, _):
            y[0] += 1.0
            return c + y[0, 0], None

        return lax.scan(body, 0.0, None, length=2)[0] + np.sum(y)

    def branch(x):
        y = x * 1.0

        def first(a):
            y[0] = 5.0
            return a

        return lax.cond(x[0] > 5.0, first, lambda a: a, x[1]) + np.sum(y)

    for f in (loop, part_of_it, branch):
        np.testing.assert_allclose(value_and_grad(f)(V)[0], f(V.copy()))
        with pytest.raises(errors.InPlaceError, match="may run again"):
            make_jaxpr(f)(V)

    plain = np.array([1.0, 2.0, 3.0])

    def counting(x):
        def body(c, _):
            plain[0] += 1.0
            return c + plain[0], None

        return lax.scan(body, x, None, length=2)[0]

    with pytest.raises(errors.InPlaceError, match="part of a program"):
        make_jaxpr(counting)(V)

    for view in (lambda y: y[1:], lambda y: y.T, lambda y: y.reshape(-1)):

        def viewing(x, view=view):
            y = x * 1.0

            def inside(t):
                v = view(y)
                v += 1.0
                return t * np.sum(v)

            return np.sum(checkpoint(inside)(x))

        for run in (grad(viewing), lambda x, f=viewing: hvp(f)(x, T)):
            with pytest.raises((errors.InPlaceError, ValueError)):
                run(V)
        same(V, np.array([3.0, 1.0, 2.0]))


def test_constants_that_change_after_they_were_written():
    def f(x):
        buffer, out = np.zeros(3), np.zeros((2, 3), like=x)
        for i in range(2):
            buffer[:] = i + 1.0
            out[i] = buffer
            out[i] *= x
        return np.sum(out)

    same(grad(f)(V), np.full(3, 3.0))

    def shared(x, change):
        plain = np.array([1.0, 2.0, 3.0])
        total = np.sum(np.asarray(plain, like=x) * x)
        if change:
            plain[:] = 0.0
        return total

    same(grad(shared)(V, False), np.array([1.0, 2.0, 3.0]))
    with pytest.raises(errors.ChangedResidualError):
        grad(shared)(V, True)


@pytest.mark.parametrize(
    "wrap", [checkpoint, lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0]]
)
def test_ufunc_at_is_let_write_into_read_only_arrays_by_numpy(wrap):
    def f(a):
        np.add.at(np.ravel(a), [0, 0], 0.5)
        return a * a

    x = M.copy()
    expected = f(M.copy())
    np.testing.assert_allclose(vjp(wrap(f), x)[0], expected)
    same(grad(lambda x: np.sum(wrap(f)(x)))(x), 2.0 * np.where(M == M[0, 0], M + 1.0, M), rtol=1e-12)
    assert np.array_equal(x, M)


def test_ufunc_at_on_a_large_array_is_told():
    def f(a):
        np.add.at(a, np.arange(a.size), 0.5)
        return a * a

    with pytest.raises(errors.InPlaceError, match="ufunc.at"):
        grad(lambda x: np.sum(checkpoint(f)(x)))(np.ones(20_000))


def test_branches_of_a_batch_do_not_write_outside():
    def f(x, index, local):
        y = x * 1.0

        def first(a):
            target = a * 1.0 if local else y
            view = target[1:]
            view *= 5.0
            return target[:2] if local else a[:2]

        return np.sum(lax.cond(index > 0, first, lambda a: a[:2], x)) + np.sum(y)

    indices = np.array([1, -1])
    expected = [f(V, index, True) for index in indices]
    np.testing.assert_allclose(vmap(lambda i: f(V, i, True))(indices), expected)
    many = np.stack([V, V])
    np.testing.assert_allclose(vmap(lambda x, i: f(x, i, True))(many, indices), expected)
    for run in (
        lambda: vmap(lambda x, i: f(x, i, False))(many, indices),
        lambda: vmap(lambda i: f(V, i, False))(indices),
    ):
        with pytest.raises(errors.InPlaceError, match="not all members"):
            run()
