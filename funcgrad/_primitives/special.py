"""The special functions that NumPy has: sinc and the Bessel function i0, with derivatives of every order."""

import math

import numpy as np

from funcgrad._primitives.kinds import elementwise

# ---- sin(x) / x ----------------------------------------------------------------------------


def _sine_quotient(x, *, n):
    """The n-th derivative of sin(x)/x: by its series near 0, by recurrence elsewhere.

    From x f = sin: x f_n = sin_n - n f_(n-1), the n-th derivative of a product; and
    f_n = sum over k of (-1)^((n+k)/2) x^k / (k! (n+k+1)), k + n even, from the integral of cos(tx) over
    [0, 1]. The recurrence loses digits where x < n.
    """
    x = np.asarray(x)
    near = np.abs(x) < n + 1 if n else x == 0
    far = np.where(near, n + 1, x)
    sine, cosine = np.sin(far), np.cos(far) if n else None
    out = sine / far
    for m in range(1, n + 1):
        derivative = (sine, cosine, -sine, -cosine)[m % 4]
        out = (derivative - m * out) / far
    if near.any():
        out = np.asarray(out)
        out[near] = _sine_series(x[near], n)
    return out.astype(x.dtype)[()]


def _sine_series(x, n):
    square, number = x * x, x.real.dtype.type
    out = np.zeros_like(x)
    last = 20 + 4 * n if n else 0  # where |x| < n + 1 the terms beyond are below rounding
    for k in range(last + n % 2, -1, -2):
        term = np.longdouble((-1) ** ((n + k) // 2)) / float(math.factorial(k) * (n + k + 1))
        out *= square
        out += number(term)
    return out * x if n % 2 else out


#: The n-th derivative of sin(x)/x.
sine_quotient = elementwise(
    _sine_quotient, lambda g, x, *, n: g * sine_quotient(x, n=n + 1), name="sine_quotient"
)

# ---- the modified Bessel function of order 0 -----------------------------------------------

_NODES = 128  # enough where i0 does not overflow


def _bessel_i0(x, *, n):
    """The n-th derivative of i0(x), the mean of exp(x cos t) over a period.

    So it is the mean of cos(t)^n exp(x cos t), and of a smooth periodic function a sum over equidistant
    nodes gives the mean to rounding.
    """
    if n == 0:
        return np.i0(x)
    x = np.asarray(x)
    total = np.zeros_like(x)
    for j in range(_NODES // 2):  # nodes come in pairs of opposite cosines
        cosine = math.cos((j + 0.5) * (math.pi / _NODES))
        pair = np.exp(x * cosine) + (-1) ** n * np.exp(x * -cosine)
        total += cosine**n / _NODES * pair
    return total[()]


#: The n-th derivative of `np.i0`.
bessel_i0 = elementwise(_bessel_i0, lambda g, x, *, n: g * bessel_i0(x, n=n + 1), name="bessel_i0")
