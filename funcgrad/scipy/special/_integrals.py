"""Exponential, logarithmic, sine and Fresnel integrals, Lambert's W, and hypergeometric functions.

Formulas: NIST Digital Library of Mathematical Functions, chapters 6, 7, 13 and 15. Derivatives of
hypergeometric functions shift their parameters.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad._primitives.special import sine_quotient
from funcgrad.scipy.special._declare import (
    ORDER,
    SHAPE,
    declare,
    declare_outputs,
    elementwise,
    find,
    of,
    unless_zero,
)
from funcgrad.scipy.special._elementary import log1p_quotient

# ---- hypergeometric ------------------------------------------------------------------------

declare("hyp0f1", SHAPE, lambda g, b, z: g * (sc.hyp0f1(b + 1, z) / b), args="b z")
declare("hyp1f1", SHAPE, SHAPE, lambda g, a, b, z: g * (a / b * sc.hyp1f1(a + 1, b + 1, z)), args="a b z")
declare(
    "hyp2f1",
    SHAPE,
    SHAPE,
    SHAPE,
    lambda g, a, b, c, z: g * (a * b / c * sc.hyp2f1(a + 1, b + 1, c + 1, z)),
    args="a b c z",
)
declare("hyperu", SHAPE, SHAPE, lambda g, a, b, x: -g * (a * sc.hyperu(a + 1, b + 1, x)), args="a b x")
declare("wright_bessel", SHAPE, SHAPE, lambda g, a, b, x: g * sc.wright_bessel(a, a + b, x), args="a b x")
declare(
    "log_wright_bessel",
    SHAPE,
    SHAPE,
    lambda g, y, a, b, x: g * np.exp(sc.log_wright_bessel(a, a + b, x) - y),
    args="a b x",
)

# ---- exponential integrals -----------------------------------------------------------------

declare("exp1", lambda g, x: -g * (np.exp(-x) / x))
declare("expi", lambda g, x: g * (np.exp(x) / x))


def _expn_rule(g, n, x):
    first = np.exp(-x) * (1 + 1 / x) / x  # E_0(x) is exp(-x)/x
    return -g * np.where(np.equal(n, 0), first, sc.expn(unless_zero(n, 1) - 1, x))


declare("expn", ORDER, _expn_rule, args="n x")


def _sinh_quotient(x):
    """sinh(x)/x, exact at 0 at every order: cosh is 0F1(1/2; x^2/4), and this 0F1(3/2; x^2/4)."""
    return sc.hyp0f1(of(1.5, x), 0.25 * (x * x))


declare_outputs("shichi", lambda g, x: g * _sinh_quotient(x), lambda g, x: g * (np.cosh(x) / x))
declare_outputs("sici", lambda g, x: g * sine_quotient(x, n=0), lambda g, x: g * (np.cos(x) / x))

declare("spence", lambda g, x: -g * log1p_quotient(x - 1, n=0))  # log(x)/(1 - x)

# ---- Fresnel integrals ---------------------------------------------------------------------

_QUARTER = 0.5 * math.pi
declare_outputs(
    "fresnel",
    lambda g, x: g * np.sin(_QUARTER * (x * x)),
    lambda g, x: g * np.cos(_QUARTER * (x * x)),
)


def _modified_fresnel(name, sign):
    """F(x), the integral of exp(sign i t^2) from x on, and K(x) = exp(-sign i (x^2 + pi/4)) F(x)/sqrt(pi).

    Both are entire, so x goes in as a complex number.
    """
    ufunc = find(name)
    turn = math.sqrt(0.5) * (1 - sign * 1j) / math.sqrt(math.pi)
    integral = elementwise(
        lambda z: ufunc(np.real(z))[0], lambda g, x: -g * np.exp(sign * 1j * (x * x)), name=f"{name}_0"
    )
    auxiliary = elementwise(
        lambda z: ufunc(np.real(z))[1],
        lambda g, y, x: -g * (2j * sign * (x * y) + turn),
        name=f"{name}_1",
    )

    def call(x):
        z = x + 0j
        return integral(z), auxiliary(z)

    IMPLEMENTATIONS[ufunc] = call


_modified_fresnel("modfresnelp", 1)
_modified_fresnel("modfresnelm", -1)

# ---- Lambert's W and its like --------------------------------------------------------------

declare("wrightomega", lambda g, y: g * (y / (1 + y)))
declare("_lambertw", lambda g, y: g / (np.exp(y) * (1 + y)), None, None, args="z k tol")
declare("_scaled_exp1", lambda g, y, x: g * (y + y / x - 1))  # x exp(x) E_1(x)
