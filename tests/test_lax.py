"""Control flow: values as JAX and Python have them, one equation in programs, batches, refusals."""

import functools
import itertools
import operator
import warnings

import numpy as np
import pytest

import funcgrad
from funcgrad import (
    ShapeDtypeStruct,
    check_jaxpr,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    jacrev,
    jvp,
    lax,
    make_jaxpr,
    vjp,
    vmap,
)

X = np.array([0.5, -1.5, 2.0])
SCALAR = ShapeDtypeStruct((), float)
VECTOR = ShapeDtypeStruct((3,), float)


def close(a, b, rtol=1e-12):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


def names(program):
    return [eqn.primitive.name for eqn in program.eqns]


# ---- cond and switch -------------------------------------------------------------------------


def absolute(x):
    return lax.cond(x > 0, lambda x: 1.0 * x, lambda x: -x, x)


def test_cond_calls_one_branch_only():
    def fail(x):
        raise AssertionError("not this one")

    assert lax.cond(True, np.sin, fail, 0.0) == 0.0
    assert grad(lambda x: lax.cond(x > 1, fail, lambda x: x * x, x))(0.5) == 1.0


@pytest.mark.parametrize("pred", [1, 0, True, np.bool(False), 2.5, np.array(1)])
def test_cond_takes_any_scalar(pred):
    assert lax.cond(pred, lambda: 1.0, lambda: 2.0) == (1.0 if pred else 2.0)


def test_cond_of_a_batch_selects_for_each_member_and_derivatives_do_not_mix():
    f = lambda x: lax.cond(x > 0, np.sqrt, lambda x: x * x, x)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(vmap(f)(X), [np.sqrt(0.5), 2.25, np.sqrt(2.0)])
        close(vmap(grad(f))(np.array([0.0, 4.0])), [0.0, 0.25])
        close(grad(lambda x: np.sum(vmap(f)(x)))(X), vmap(grad(f))(X))


def test_switch_brings_its_index_into_range():
    branches = [lambda x: x, lambda x: 2 * x, lambda x: 3 * x]
    assert [lax.switch(i, branches, 1.0) for i in (-5, 0, 1, 2, 7)] == [1.0, 1.0, 2.0, 3.0, 3.0]
    close(vmap(lambda i, x: lax.switch(i, branches, x))(np.array([-1, 1, 9]), X), X * [1, 2, 3])
    program = make_jaxpr(lambda i, x: lax.switch(i, branches, x))(ShapeDtypeStruct((), int), SCALAR)
    assert [eval_jaxpr(program, [], i, 1.0) for i in (-5, 1, 7)] == [[1.0], [2.0], [3.0]]


def test_cond_is_one_equation_with_both_branches():
    program = make_jaxpr(absolute)(SCALAR)
    check_jaxpr(program)
    assert names(program)[-1] == "cond" and len(program.eqns[-1].params["branches"]) == 2
    assert [eval_jaxpr(program, [], x)[0] for x in (2.0, -3.0)] == [2.0, 3.0]
    assert grad(lambda x: eval_jaxpr(program, [], x)[0])(-3.0) == -1.0


def test_branches_of_a_program_share_what_they_close_over():
    def f(x, y):
        return lax.cond(x[0] > 0, lambda: np.sum(x * y), lambda: y[0] * 2.0)

    program = make_jaxpr(grad(f, (0, 1)))(VECTOR, VECTOR)
    check_jaxpr(program)
    for sign in (1.0, -1.0):
        got = eval_jaxpr(program, program.consts, sign * X, X + 1)
        for a, b in zip(got, grad(f, (0, 1), unused="zero")(sign * X, X + 1)):
            close(a, b)


@pytest.mark.parametrize("pred", [np.array([True]), "yes", None, [True]])
def test_what_decides_must_be_a_scalar(pred):
    with pytest.raises(errors.PredicateError, match="of (shape|type)"):
        lax.cond(pred, abs, abs, 1.0)


def test_indices_and_bounds_must_be_integers():
    with pytest.raises(errors.PredicateError, match="of dtype float64"):
        lax.switch(1.0, [abs], 1.0)
    with pytest.raises(errors.PredicateError, match="a bound of fori_loop is of dtype float64"):
        grad(lambda x: lax.fori_loop(0, x, lambda i, v: v * 1.5, x))(2.7)
    for bound in (np.array([2, 3]), "3", None):
        with pytest.raises(errors.PredicateError, match="a bound of fori_loop is of (shape|type)"):
            lax.fori_loop(bound, 4, lambda i, v: v * 1.5, 1.0)
    with pytest.raises(ValueError, match="one branch at least"):
        lax.switch(1, [], 1.0)


# ---- loops -----------------------------------------------------------------------------------


def test_scan_keeps_trees_and_integers():
    def step(carry, x):
        carry = {"sum": carry["sum"] + x["a"] * x["n"], "count": carry["count"] + 1}
        return carry, (carry["count"], None, carry["sum"])

    xs = {"a": X, "n": np.arange(3)}
    carry, (counts, nothing, sums) = lax.scan(step, {"sum": 0.0, "count": 0}, xs)
    assert carry["count"] == 3 and nothing is None and list(counts) == [1, 2, 3]
    close(sums, np.cumsum(X * np.arange(3)))
    close(grad(lambda a: lax.scan(step, {"sum": 0.0, "count": 0}, {**xs, "a": a})[0]["sum"])(X), [0, 1, 2])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 4])
def test_scan_is_a_loop(length, reverse):
    xs = np.linspace(0.3, 1.2, 2 * length).reshape(length, 2)

    def step(c, x):
        return np.sin(c * x) + x, c[0]

    def plain(c, xs):
        ys = []
        for x in xs[::-1] if reverse else xs:
            c, y = step(c, x)
            ys.append(y)
        ys = ys[::-1] if reverse else ys
        return c, np.stack(ys) if ys else np.zeros(0)

    def scanned(c, xs):
        return lax.scan(step, c, xs, reverse=reverse)

    c = np.array([0.2, 0.7])
    for got, expected in zip(scanned(c, xs), plain(c, xs)):
        close(got, expected)
        assert np.shape(got) == np.shape(expected)
    for argument in (0, 1):
        for got, expected in zip(jacrev(scanned, argument)(c, xs), jacrev(plain, argument)(c, xs)):
            close(got, expected)
    program = make_jaxpr(scanned)(ShapeDtypeStruct((2,), float), ShapeDtypeStruct((length, 2), float))
    check_jaxpr(program)
    assert names(program).count("scan") == 1
    for got, expected in zip(eval_jaxpr(program, program.consts, c, xs), plain(c, xs)):
        close(got, expected)


def test_scan_without_xs_and_bad_lengths():
    assert lax.scan(lambda c, x: (c + 1, x), 0, length=5) == (5, None)
    with pytest.raises(ValueError, match="no array in xs, and no length"):
        lax.scan(lambda c, x: (c, None), 0.0)
    with pytest.raises(ValueError, match=r"lengths \[2, 3\]"):
        lax.scan(lambda c, x: (c, None), 0.0, (np.ones(3), np.ones(2)))
    with pytest.raises(ValueError, match="without axes"):
        lax.scan(lambda c, x: (c, None), 0.0, 1.0)


def test_the_derivative_of_a_staged_scan_is_a_scan():
    def f(w, xs):
        return np.sum(lax.scan(lambda c, x: (np.tanh(w * c + x), c), w, xs)[1])

    xs = np.linspace(-1, 1, 20)
    types = SCALAR, ShapeDtypeStruct((20,), float)
    for derivative in (grad(f, (0, 1)), hessian(f), jacrev(grad(f))):
        program = make_jaxpr(derivative)(*types)
        check_jaxpr(program)
        assert "scan" in names(program) and len(program.eqns) < 40
        got = eval_jaxpr(program, program.consts, 0.7, xs)
        for a, b in zip(got, funcgrad.tree.leaves(derivative(0.7, xs))):
            close(a, b, 1e-11)


def test_hessian_through_scan_against_a_closed_form():
    # the logistic map's third iterate, whose derivatives are a polynomial's
    f = lambda r: lax.scan(lambda x, _: (r * x * (1 - x), None), 0.3, length=3)[0]  # noqa: E731
    r = np.polynomial.Polynomial([0, 1])
    p = 0.3
    for _ in range(3):
        p = r * p * (1 - p)
    close(f(2.7), p(2.7))
    close(grad(f)(2.7), p.deriv()(2.7), 1e-11)
    close(hessian(f)(2.7), p.deriv(2)(2.7), 1e-10)


def newton(a):
    """A square root, in a number of steps that depends on it."""
    return lax.while_loop(lambda x: abs(x * x - a) > 1e-14 * a, lambda x: 0.5 * (x + a / x), 1.0 + 0.0 * a)


def test_reverse_mode_through_a_loop_of_unknown_length():
    for a in (0.3, 2.0, 50.0):
        close(newton(a), np.sqrt(a))
        close(grad(newton)(a), 0.5 / np.sqrt(a), 1e-9)
        close(grad(grad(newton))(a), -0.25 * a**-1.5, 1e-9)
        close(jvp(grad(newton), (a,), (1.0,))[1], -0.25 * a**-1.5, 1e-9)
    batch = np.array([0.3, 2.0, 50.0])
    close(vmap(newton)(batch), np.sqrt(batch))
    close(vmap(grad(newton))(batch), 0.5 / np.sqrt(batch), 1e-9)
    close(grad(lambda b: np.sum(vmap(newton)(b)))(batch), 0.5 / np.sqrt(batch), 1e-9)


def test_members_of_a_batch_stop_at_their_own_time():
    counts = vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0)))
    steps, values = counts(np.array([0, 3, 1]))
    assert list(steps) == [0, 3, 1] and list(values) == [1.0, 8.0, 2.0]
    program = make_jaxpr(counts)(ShapeDtypeStruct((3,), int))
    steps, values = eval_jaxpr(program, program.consts, np.array([0, 3, 1]))
    assert list(steps) == [0, 3, 1] and list(values) == [1.0, 8.0, 2.0]


def test_fori_loop_counts():
    assert lax.fori_loop(2, 5, lambda i, v: v + i, 0) == 9
    assert lax.fori_loop(5, 2, lambda i, v: v + i, 7) == 7
    close(vmap(lambda n: lax.fori_loop(0, n, lambda i, v: v + i, 0))(np.array([1, 4])), [0, 6])
    program = make_jaxpr(lambda n, x: lax.fori_loop(0, n, lambda i, v: v * x, 1.0))(
        ShapeDtypeStruct((), int), SCALAR
    )
    assert "while" in names(program) and eval_jaxpr(program, program.consts, 3, 2.0) == [8.0]
    program = make_jaxpr(lambda x: lax.fori_loop(0, 3, lambda i, v: v * x, 1.0))(SCALAR)
    assert names(program) == ["scan"] and eval_jaxpr(program, program.consts, 2.0) == [8.0]


@pytest.mark.parametrize("batch_size", [None, 1, 2, 5])
def test_map(batch_size):
    f = lambda x: (np.sum(x) * x, x[0])  # noqa: E731
    xs = np.arange(10.0).reshape(5, 2)
    got = lax.map(f, xs, batch_size=batch_size)
    for a, b in zip(got, vmap(f)(xs)):
        close(a, b)
    close(
        grad(lambda xs: np.sum(lax.map(f, xs, batch_size=batch_size)[0]))(xs),
        grad(lambda xs: np.sum(vmap(f)(xs)[0]))(xs),
    )


@pytest.mark.parametrize("length", range(1, 10))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(length, reverse):
    rng = np.random.default_rng(length)
    matrices = rng.normal(size=(length, 2, 2))
    order = matrices[::-1] if reverse else matrices
    totals = list(itertools.accumulate(order, operator.matmul))
    expected = np.stack(totals[::-1] if reverse else totals)
    close(lax.associative_scan(np.matmul, matrices, reverse=reverse), expected, 1e-10)
    xs = rng.normal(size=(2, length))
    expected = np.cumsum(xs[:, ::-1], axis=1)[:, ::-1] if reverse else np.cumsum(xs, axis=1)
    close(lax.associative_scan(np.add, xs, reverse=reverse, axis=1), expected, 1e-10)


def test_associative_scan_of_trees_is_a_recurrence():
    # y[i] = a[i] y[i-1] + b[i], whose steps compose
    a, b = np.linspace(0.1, 0.9, 7), np.linspace(-1, 1, 7)

    def recurrence(a, b):
        combine = lambda s, t: (s[0] * t[0], s[1] * t[0] + t[1])  # noqa: E731
        return lax.associative_scan(combine, (a, b))[1]

    def plain(a, b):
        ys = list(itertools.accumulate(zip(a, b), lambda y, ab: ab[0] * y + ab[1], initial=0.0))[1:]
        return np.stack(ys)

    close(recurrence(a, b), plain(a, b))
    close(jacrev(recurrence)(a, b), jacrev(plain)(a, b))


def test_select():
    close(lax.select(X > 0, X, -X), np.abs(X))
    with pytest.raises(ValueError, match="one shape"):
        lax.select(X > 0, X, 1.0)
    with pytest.raises(TypeError, match="one dtype"):
        lax.select(X > 0, X, X.astype(np.float32))


# ---- what a loop may not do, and what it leaves alone -----------------------------------------


@pytest.mark.parametrize(
    "loop",
    [
        lambda x: lax.while_loop(lambda x: np.sum(x) < 9, lambda x: np.append(x, 1.0), x),
        lambda x: lax.scan(lambda c, _: (c[:2], None), x, length=2),
        lambda x: lax.fori_loop(0, 2, lambda i, c: (c, c), x),
        lambda x: lax.fori_loop(0, 2, lambda i, c: c.astype(np.float32), x),
        lambda x: lax.fori_loop(0, 2, lambda i, c: 1j * c, x),
    ],
)
@pytest.mark.parametrize("run", [lambda f: f(X), lambda f: make_jaxpr(f)(VECTOR), lambda f: vjp(f, X)])
def test_the_state_keeps_its_types(loop, run):
    with pytest.raises(errors.CarryTypeError, match="after a step"):
        run(loop)


def test_a_loop_changes_no_array_of_the_caller():
    def step(c, x):
        c += x
        x *= 2
        return c, x

    init, xs = np.zeros(3), np.ones((4, 3))
    carry, ys = lax.scan(step, init, xs)
    assert not init.any() and (xs == 1).all()
    close(carry, np.full(3, 4.0))
    close(ys, 2 * xs)


def test_loops_close_over_traced_values_of_every_level():
    def f(w, x):
        inner = grad(lambda x: lax.fori_loop(0, 3, lambda i, c: np.sin(c * w * x), 1.0))
        return inner(x) * w

    def plain(w, x):
        return grad(lambda x: functools.reduce(lambda c, i: np.sin(c * w * x), range(3), 1.0))(x) * w

    close(grad(f)(0.7, 0.4), grad(plain)(0.7, 0.4))
    close(hessian(f)(0.7, 0.4), hessian(plain)(0.7, 0.4))
    program = make_jaxpr(hessian(f))(SCALAR, SCALAR)
    close(eval_jaxpr(program, program.consts, 0.7, 0.4)[0], hessian(plain)(0.7, 0.4))


def test_programs_hold_while_loops_in_forward_mode_only():
    """Reverse mode would write down the steps of one value, and be wrong for others."""
    f = grad(lambda x: lax.while_loop(lambda x: x < 9.0, lambda x: x * x, x))
    for given in (2.0, SCALAR):
        with pytest.raises(errors.StagedDerivativeError, match="reverse mode through while_loop"):
            make_jaxpr(f)(given)
    forward = make_jaxpr(
        lambda x: jvp(lambda x: lax.while_loop(lambda x: x < 9.0, lambda x: x * x, x), (x,), (1.0,))
    )
    program = forward(SCALAR)
    check_jaxpr(program)
    assert names(program)[-1] == "while" and eval_jaxpr(program, program.consts, 2.0) == [16.0, 32.0]


@pytest.mark.parametrize("checkpoint", [1, 3, {"max_bytes": 100}, {"slots": 2, "spill": "disk"}])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_with_few_states_kept(checkpoint, reverse):
    def f(w, xs, **kept):
        step = lambda c, x: (np.tanh(w * c + x), c * x)  # noqa: E731
        carry, ys = lax.scan(step, np.zeros(3), xs, reverse=reverse, **kept)
        return np.sum(carry) + np.sum(ys * ys)

    xs = np.linspace(-1, 1, 36).reshape(12, 3)
    kept = functools.partial(f, checkpoint=checkpoint)
    for derivative in (lambda f: grad(f, (0, 1)), hessian, lambda f: jacrev(grad(f, 1))):
        for a, b in zip(
            funcgrad.tree.leaves(derivative(kept)(0.7, xs)), funcgrad.tree.leaves(derivative(f)(0.7, xs))
        ):
            close(a, b, 1e-11)
