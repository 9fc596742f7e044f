"""The constant kind: ufuncs without derivative, whose result is piecewise constant or no number."""

import numpy as np

from funcgrad._primitives.kinds import constant, elementwise

COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
TESTS = (np.isfinite, np.isinf, np.isnan, np.signbit)
LOGIC = (np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
ROUNDING = (np.floor, np.ceil, np.trunc, np.rint)
INTEGERS = (
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd, np.lcm,
    np.bitwise_count,
)  # fmt: skip

for _ufunc in (*COMPARISONS, *TESTS, *LOGIC, *ROUNDING, *INTEGERS):
    constant(_ufunc)

spacing = constant(np.spacing)
real_sign = constant(np.sign)
#: The exponent of a number, as `frexp` gives it.
exponent = constant(lambda x: np.frexp(x)[1], name="exponent")
exponent.elementwise = True

nextafter = elementwise(np.nextafter, lambda g: g, None)  # a step of one rounding error
ldexp = elementwise(np.ldexp, lambda g, b: np.ldexp(g, b), None)
heaviside = elementwise(
    np.heaviside,
    None,
    lambda g, a: np.where(a == 0, g, np.zeros((), g.dtype)),
    live=(None, lambda a: a == 0),
)
