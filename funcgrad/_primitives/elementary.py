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


def _on_side_of(guide, x, root):
    """A root, or of a complex number that of its two which lies with `guide(x)`.

    A root has a branch cut where its function has one, and the sign of a zero decides the side. It does not
    survive the arithmetic under the root, so the function itself tells.
    """
    if dtype_of(x).kind != "c":
        return root
    away = np.real(root * np.conj(guide(x))) < 0
    return np.where(away, -root, root)


def _arcsin_root(x):
    return _on_side_of(lambda x: np.cos(np.arcsin(x)), x, np.sqrt((1 - x) * (1 + x)))


def _arccos_root(x):
    return _on_side_of(lambda x: np.sin(np.arccos(x)), x, np.sqrt((1 - x) * (1 + x)))


arcsin = elementwise(np.arcsin, lambda g, x: g / _arcsin_root(x))
arccos = elementwise(np.arccos, lambda g, x: -g / _arccos_root(x))
arctan = elementwise(np.arctan, lambda g, x: g / (1 + x * x))

sinh = elementwise(np.sinh, lambda g, x: g * np.cosh(x))
cosh = elementwise(np.cosh, lambda g, x: g * np.sinh(x))
tanh = elementwise(np.tanh, lambda g, y: g * (1 - y * y))


def _arcsinh_root(x):
    if dtype_of(x).kind != "c":
        return np.hypot(x, 1)  # it does not overflow, as a square does, in float16 from 256 on
    return _on_side_of(lambda x: np.cosh(np.arcsinh(x)), x, np.sqrt(1 + x * x))


def _arccosh_root(x):
    return _on_side_of(lambda x: np.sinh(np.arccosh(x)), x, np.sqrt(x - 1) * np.sqrt(x + 1))


arcsinh = elementwise(np.arcsinh, lambda g, x: g / _arcsinh_root(x))
arccosh = elementwise(np.arccosh, lambda g, x: g / _arccosh_root(x))
arctanh = elementwise(np.arctanh, lambda g, x: g / ((1 - x) * (1 + x)))

deg2rad = elementwise(np.deg2rad, lambda g: g * _DEGREE)
radians = elementwise(np.radians, lambda g: g * _DEGREE)
rad2deg = elementwise(np.rad2deg, lambda g: g / _DEGREE)
degrees = elementwise(np.degrees, lambda g: g / _DEGREE)
