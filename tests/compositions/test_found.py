"""Programs in which random ones once found a fault, as short as they can be made."""

import warnings

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.testing import check_grads

X = np.array([0.3, -0.8, 1.1])
MASK = np.array([True, False, True])


def test_a_read_of_what_a_selection_masks():
    """The mask of a selection is a view, or another row's: marking the entries read needs a copy."""
    check_grads(lambda x: (lambda y: (y[1:], y[:1], np.where(MASK, y, 0.0)))(np.sin(x)), (X,))
    check_grads(lambda x: (lambda y: (y[1:], np.where(MASK[:, None], y, 0.0)))(np.sin(x)), (X,))


def test_a_plain_share_after_a_traced_one_after_a_plain_one():
    """A buffer for sums in place may meanwhile have become a traced sum."""

    def f(x):
        y = np.sin(x)
        plain = 2.0 * y + 3.0 * y
        return np.sum(plain + y * y + 4.0 * y + np.mean(y))

    expected = fg.hvp(f)(X, np.ones(3))
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(fg.grad(f)(x)))(X), expected)
    check_grads(lambda x: np.sin(V) * x + 2.0 * x + np.mean(x) * x, (X,), order=3)


V = np.array([0.7, -1.1, 0.4])


def test_the_mixed_derivative_of_a_power_with_exponent_0():
    """Where an exponent is 0 the slope by the base is 0, but it depends on the exponent."""
    base, exponent = np.array([2.0, 0.5]), np.zeros(2)
    for derive in (fg.grad, lambda f: lambda x: fg.jvp(f, (x,), (np.ones_like(x),))[1]):
        slope = derive(lambda b: np.sum(fg.grad(lambda a: np.sum(np.power(a, b)))(base)))
        np.testing.assert_allclose(np.sum(slope(exponent)), 2.5)
    assert np.all(fg.grad(lambda a: np.sum(np.power(a, exponent)))(np.array([0.0, 3.0])) == 0)


def test_the_imaginary_part_of_a_python_number():
    """NumPy gives a Python float, whose cotangent is real though it has no dtype."""
    for z in (1 + 2j, np.complex128(1 + 2j)):
        assert fg.grad(lambda z: np.real(1j * np.imag(z)))(z) == 0
        assert fg.grad(lambda z: np.imag(1j * np.imag(z)))(z) == -1j


def test_a_value_that_a_call_is_given_and_closes_over():
    """The backward sweep runs the function again, and it reads the value in both ways."""

    def staged(x):
        program = fg.make_jaxpr(lambda x: fg.lax.cond(x[0] > 0, lambda y: np.sin(y * x), lambda y: y, x))(x)
        return fg.eval_jaxpr(program, program.consts, x)[0]

    for f in (
        lambda x: fg.checkpoint(lambda y: np.sin(y * x))(x),
        lambda x: fg.checkpoint(lambda y: np.sin(y * x), fg.checkpoint_policies.everything_saveable)(x),
        lambda x: fg.checkpointed_loop(lambda y: np.sin(y * x), x, length=1),
        lambda x: fg.lax.cond(x[0] > 0, lambda y: np.sin(y * x), lambda y: y, x),
        staged,
    ):
        check_grads(f, (X,), order=2)
        expected = np.sum(2 * X * np.cos(X * X))
        np.testing.assert_allclose(np.sum(fg.grad(lambda x: np.sum(f(x)))(X)), expected)
        program = fg.make_jaxpr(fg.grad(lambda x: np.sum(f(x))))(fg.ShapeDtypeStruct((3,), float))
        np.testing.assert_allclose(np.sum(fg.eval_jaxpr(program, program.consts, X)[0]), expected)


def test_a_matrix_and_a_right_side_of_one_value():
    def solution(x):
        return fg.custom_linear_solve(lambda v: 2 * v + x * v, x, lambda matvec, b: b / matvec(np.ones(3)))

    check_grads(solution, (np.array([0.3, 0.8, 1.1]),), order=2)
    with pytest.raises(fg.errors.NotLinearError):
        fg.linear_transpose(solution, X)


def test_a_loop_in_a_rule_for_tangents():
    f = fg.custom_jvp(lambda x: np.exp(x))
    f.defjvp(
        lambda primals, tangents: fg.jvp(
            lambda x: fg.checkpointed_loop(lambda y: y * (1 + x / 1000), np.ones(3), length=1000),
            primals,
            tangents,
        )
    )
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(f(x)))(X), np.exp(X), rtol=2e-3)


def test_rules_of_ones_own_within_a_checkpoint_that_is_transposed():
    double = fg.custom_jvp(lambda x: 2.0 * x)
    double.defjvp(lambda primals, tangents: (2.0 * primals[0], 2.0 * tangents[0]))
    for f in (double, fg.checkpoint(double), lambda x: fg.checkpointed_loop(double, x, length=1)):
        np.testing.assert_allclose(fg.linear_transpose(fg.checkpoint(f), X)(X)[0], 2 * X)


def test_a_cut_within_a_call_is_reported():
    """A gradient that is zero because all that a checkpoint does with its input is to round it."""

    def steps(x):
        return np.floor(10 * x) * 2.0

    def of(wrapped):
        return lambda x, y: np.sum(wrapped(np.sin(x)) * y)

    for wrapped in (
        steps,
        fg.checkpoint(steps),
        fg.checkpoint(fg.checkpoint(steps)),
        fg.checkpoint(steps, fg.checkpoint_policies.everything_saveable),
        lambda x: fg.checkpoint(lambda: steps(x))(),
        lambda x: fg.checkpointed_loop(steps, x, length=3),
        lambda x: fg.checkpointed_loop(lambda y: y + steps(x), np.zeros(3), length=3),
        lambda x: fg.lax.scan(lambda c, y: (c + steps(y), None), 0.0, x)[0],
    ):
        with pytest.warns(
            fg.errors.DependenceCutWarning, match=r"arg\[0\] is zero.*test_found.py:\d+ \(.*steps"
        ):
            assert np.all(fg.grad(of(wrapped))(X, X) == 0)
        with pytest.raises(fg.errors.UnusedInputError, match="last cut at"):
            fg.grad(of(wrapped), unused="error")(X, X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fg.grad(of(wrapped), argnums=1)(X, X)
            fg.grad(of(wrapped), argnums=(0, 1), unused="zero")(X, X)
            fg.grad(lambda x: of(wrapped)(x, x))(X)
