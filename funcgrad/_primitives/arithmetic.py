"""Arithmetic: sums, products, quotients, powers.

The implementations are Python's operators: two Python floats stay a Python float, as they do in the
user's own code, and on scalars an operator costs a tenth of the ufunc.
"""

import operator

import numpy as np

from funcgrad._primitives.kinds import elementwise

_PYTHON = frozenset((float, int, bool, complex))


def _weakly(ufunc):
    """The ufunc, for which two Python scalars stay a Python scalar (and 1 / 0 is inf, with a warning)."""

    def impl(a, b):
        out = ufunc(a, b)
        return out.item() if type(a) in _PYTHON and type(b) in _PYTHON else out

    return impl


def _power(a, b):
    if type(a) is np.ndarray or type(b) is np.ndarray:
        return a**b  # NumPy's shortcuts for squares and roots
    return _weakly(np.power)(a, b)


negative = elementwise(np.negative, lambda g: -g, impl=operator.neg)
positive = elementwise(np.positive, lambda g: g, impl=operator.pos)
add = elementwise(np.add, lambda g: g, lambda g: g, impl=operator.add)
subtract = elementwise(np.subtract, lambda g: g, lambda g: -g, impl=operator.sub)
multiply = elementwise(np.multiply, lambda g, b: g * b, lambda g, a: g * a, impl=operator.mul)
divide = elementwise(
    np.true_divide,
    lambda g, b: g / b,
    lambda g, y, b: -g * y / b,
    impl=_weakly(np.true_divide),
    name="div",
)
square = elementwise(np.square, lambda g, x: g * (2 * x))


def _power_base(g, a, b):
    # b * a**(b - 1), and 0 where b is 0: there a**b is constant, though a**(b - 1) may be infinite
    return g * (b * np.power(a, np.where(b == 0, np.ones((), a.dtype), b - 1)))


def _power_exponent(g, y, a, b):
    # y log(a); where y is 0 because a is, it is 0 from the right
    return g * y * np.log(np.where((a == 0) & (b > 0), np.ones((), a.dtype), a))


power = elementwise(np.power, _power_base, _power_exponent, impl=_power, name="pow")


def _integer_power(x, *, y):
    return x**y


def _integer_power_rule(g, x, *, y):
    if y == 0:
        return g * 0.0
    if y == 1:
        return g
    return g * (y * integer_power(x, y=y - 1))


#: A power with an exponent that is a Python integer: exact everywhere, and much cheaper.
integer_power = elementwise(
    _integer_power, _integer_power_rule, name="integer_pow", impl=_integer_power
)
