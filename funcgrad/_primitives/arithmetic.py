"""Arithmetic: sums, products, quotients, powers.

The implementations are Python's operators: two Python floats stay a Python float, as they do in the
user's own code, and on scalars an operator costs a tenth of the ufunc.
"""

import operator

import numpy as np

from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import constant, elementwise, linear
from funcgrad._primitives.selection import nowhere

_PYTHON = frozenset((float, int, bool, complex))


def _weakly(ufunc, operation):
    """An operator; of two Python scalars it is a Python scalar (and 1 / 0 is inf, with a warning)."""

    def impl(a, b):
        if type(a) in _PYTHON and type(b) in _PYTHON:
            return ufunc(a, b).item()
        return operation(a, b)  # for arrays, with NumPy's shortcuts for squares and roots

    return impl


_power = _weakly(np.power, operator.pow)

negative = elementwise(np.negative, lambda g: -g, impl=operator.neg)
positive = elementwise(np.positive, lambda g: g, impl=operator.pos)
add = elementwise(np.add, lambda g: g, lambda g: g, impl=operator.add)
subtract = elementwise(np.subtract, lambda g: g, lambda g: -g, impl=operator.sub)
multiply = elementwise(np.multiply, lambda g, b: g * b, lambda g, a: g * a, impl=operator.mul)
divide = elementwise(
    np.true_divide,
    lambda g, b: g / b,
    lambda g, y, b: -g * y / b,
    impl=_weakly(np.true_divide, operator.truediv),
)
square = elementwise(np.square, lambda g, x: g * (2 * x), impl=lambda x: x * x)


def _power_base(g, a, b):
    # b * a**(b - 1), and 0 where both are 0: there a**b is constant in a, though a**(b - 1) is infinite
    flat = np.equal(b, 0) & np.equal(a, 0)
    lower = b - g.dtype.type(1)  # not in b's dtype: the least of the small integers has none below
    if nowhere(flat):
        return g * (b * np.power(a, lower))
    zero = np.zeros((), g.dtype)
    return np.where(flat, zero, g * (b * np.power(a, np.where(flat, zero, lower))))


def _power_exponent(g, y, a, b):
    # y log(a); where y is 0 because a is, it is 0 from the right
    return g * y * np.log(np.where((a == 0) & (np.real(b) > 0), np.ones((), g.dtype), a))


power = elementwise(np.power, _power_base, _power_exponent, impl=_power)


def _scalar_power_rule(g, x, *, y):
    if y == 0:
        return g * 0.0
    if y == 1:
        return g
    if y == 2:
        return g * (2 * x)
    if y == 0.5:
        return g * (0.5 / np.sqrt(x))  # a tenth of the time of a power
    if y == -1:
        return -g / np.square(x)
    return g * (y * scalar_power(x, y=y - 1))


#: A power whose exponent is a Python number: exact everywhere, and much cheaper than the general one.
scalar_power = elementwise(lambda x, *, y: _power(x, y), _scalar_power_rule, name="scalar_power")

reciprocal = elementwise(np.reciprocal, lambda g, y: -g * y * y)
floor_divide = constant(np.floor_divide)
remainder = elementwise(np.remainder, lambda g: g, lambda g, a, b: -g * np.floor_divide(a, b))
# a / b may round up to a whole number that b is not contained in a: the remainder tells
fmod = elementwise(np.fmod, lambda g: g, lambda g, y, a, b: -g * np.rint((a - y) / b))
#: The fractional part of a number, as `modf` gives it.
fraction = elementwise(lambda x: np.modf(x)[0], lambda g: g, name="fraction")
copysign = elementwise(np.copysign, lambda g, a, b: g * (np.copysign(np.sign(a), b) * np.sign(a)), None)


def direction(x, size):
    """x / size, and 0 with all its derivatives where size is 0: there 0 is a subgradient of it."""
    origin = np.equal(size, 0)
    if nowhere(origin):
        return x / size
    zero = np.zeros((), dtype_of(size))
    return np.where(origin, zero, x / np.where(origin, zero + 1, size))


# a quotient does not overflow, as a square would
hypot = elementwise(
    np.hypot,
    lambda g, y, a: g * direction(a, y),
    lambda g, y, b: g * direction(b, y),
)


def _arctan2_first(g, a, b):
    h = np.hypot(a, b)
    return g / h * (b / h)


def _arctan2_second(g, a, b):
    h = np.hypot(a, b)
    return -(g / h * (a / h))


arctan2 = elementwise(np.arctan2, _arctan2_first, _arctan2_second)


def _shares_of_sum(log_sum, power):
    """The rules of log(b**x + b**y): an argument's share of the sum, exact where arguments are infinite.

    The share is b**-log_sum(0, other - own), which has every derivative where the arguments are equal.
    """

    def share(g, own, other):
        equal = np.isinf(own) & np.equal(own, other)
        if not nowhere(equal):  # the difference of infinities is 0 here
            zero = np.zeros((), g.dtype)
            own, other = np.where(equal, zero, own), np.where(equal, zero, other)
        return g * power(-log_sum(0.0, other - own))

    return lambda g, a, b: share(g, a, b), lambda g, a, b: share(g, b, a)


logaddexp = elementwise(np.logaddexp, *_shares_of_sum(np.logaddexp, np.exp))
logaddexp2 = elementwise(np.logaddexp2, *_shares_of_sum(np.logaddexp2, np.exp2))


# For a complex x = r e^(it) sign is e^(it), and abs' share its conjugate: df/dx - i df/dy.
def _abs_rule(g, x):
    sign = np.sign(x)
    return g * (np.conj(sign) if sign.dtype.kind == "c" else sign)


absolute = elementwise(np.absolute, _abs_rule, name="abs")
fabs = elementwise(np.fabs, lambda g, x: g * np.sign(x))


@linear(name="real", view=True, structural=True)
def real(x):
    return np.real(x)


@real.transpose
def real_transpose(g):
    return g


@real.putting
def _real_put(x, part):
    return part + imag(x) * 1j


@linear(name="imag", view=True, structural=True)
def imag(x):
    return np.imag(x)


@imag.transpose
def imag_transpose(g):
    return g * -1j  # a float64 scalar on the right would make a Python complex


@imag.putting
def _imag_put(x, part):
    return real(x) + part * 1j


@linear(name="conj", structural=True)
def conjugate(x):
    return np.conjugate(x)


@conjugate.transpose
def conjugate_transpose(g):
    return np.conj(g)


@linear(name="convert", structural=True)
def convert(x, *, dtype):
    return x.astype(dtype) if isinstance(x, (np.ndarray, np.generic)) else dtype.type(x)


@convert.transpose
def convert_transpose(g, *, dtype):
    return g  # the walk casts it to the argument's dtype


@linear(name="copy", structural=True, reorders=lambda params: "order" in params)
def copy(x, *, order="K"):
    return np.copy(x, order)


@copy.transpose
def copy_transpose(g, *, order="K"):
    return g
