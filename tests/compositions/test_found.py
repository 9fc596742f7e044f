"""Programs in which random ones once found a fault, as short as they can be made."""

import numpy as np

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
