"""Elementary functions: exponentials, logarithms, roots, trigonometric and hyperbolic functions.

Formulas: NIST Digital Library of Mathematical Functions, chapters 4.2, 4.20, 4.34 and 4.37. Python numbers
in a rule are weak, so a float32 cotangent stays one.
"""

import numpy as np

from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import elementwise

_LN2 = 0.6931471805599453
_LN10 = 2.302585092994046
_DEGREE = 0.017453292519943295

exp = elementwise(np.exp, lambda g, y: g * y)
exp2 = elementwise(np.exp2, lambda g, y: g * (_LN2 * y))
expm1 = elementwise(np.expm1, lambda g, x: g * np.exp(x))
log = elementwise(np.log, lambda g, x: g / x)
log2 = elementwise(np.log2, lambda g, x: g / (_LN2 * x))
log10 = elementwise(np.log10, lambda g, x: g / (_LN10 * x))
log1p = elementwise(np.log1p, lambda g, x: g / (1 + x))

sqrt = elementwise(np.sqrt, lambda g, y: 0.5 * g / y)
cbrt = elementwise(np.cbrt, lambda g, y: g / (3 * (y * y)))

sin = elementwise(np.sin, lambda g, x: g * np.cos(x))
cos = elementwise(np.cos, lambda g, x: -g * np.sin(x))
tan = elementwise(np.tan, lambda g, y: g * (1 + y * y))
arcsin = elementwise(np.arcsin, lambda g, x: g / np.sqrt((1 - x) * (1 + x)))
arccos = elementwise(np.arccos, lambda g, x: -g / np.sqrt((1 - x) * (1 + x)))
arctan = elementwise(np.arctan, lambda g, x: g / (1 + x * x))

sinh = elementwise(np.sinh, lambda g, x: g * np.cosh(x))
cosh = elementwise(np.cosh, lambda g, x: g * np.sinh(x))
tanh = elementwise(np.tanh, lambda g, y: g * (1 - y * y))


def _arcsinh_rule(g, x):
    # hypot does not overflow, as a square does, in float16 from 256 on
    return g / (np.sqrt(1 + x * x) if dtype_of(x).kind == "c" else np.hypot(x, 1))


arcsinh = elementwise(np.arcsinh, _arcsinh_rule)
arccosh = elementwise(np.arccosh, lambda g, x: g / (np.sqrt(x - 1) * np.sqrt(x + 1)))
arctanh = elementwise(np.arctanh, lambda g, x: g / ((1 - x) * (1 + x)))

deg2rad = elementwise(np.deg2rad, lambda g: g * _DEGREE)
radians = elementwise(np.radians, lambda g: g * _DEGREE)
rad2deg = elementwise(np.rad2deg, lambda g: g / _DEGREE)
degrees = elementwise(np.degrees, lambda g: g / _DEGREE)
