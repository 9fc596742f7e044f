"""The error function, its kin, and the normal distribution.

Formulas: NIST Digital Library of Mathematical Functions, chapter 7.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._core.types import dtype_of
from funcgrad._primitives.selection import nowhere
from funcgrad.scipy.special._declare import declare, elementwise, kernel

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO = math.sqrt(2)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)

# ---- derivatives of the Faddeeva function --------------------------------------------------


def _faddeeva(z, n):
    """The n-th derivative of w(z) = exp(-z^2) erfc(-iz), accurate to rounding where it decays.

    w' = 2i/sqrt(pi) - 2zw and w_k = -2z w_(k-1) - 2(k-1) w_(k-2) lose digits there. So for large z it is its
    asymptotic series, differentiated (7.12.1), and for moderate ones in the upper half plane it comes from
    w_n(z) = (2i)^n n! F_n(-iz), where the scaled repeated integrals F_n of erfc satisfy (7.18.7)
    F_(n-1) = 2x F_n + 2(n+1) F_(n+1), as a continued fraction.
    """
    w = sc.wofz(z)
    before, out = 1j * _TWO_OVER_ROOT_PI * np.ones_like(z), w
    for k in range(1, n + 1):
        before, out = out, (before if k == 1 else -2 * (k - 1) * before) - 2 * z * out
    size = np.abs(z)
    far = (size > 6 + n) & ((z.imag >= 0) | ((z * z).real > 40))
    if far.any():
        out[far] = _faddeeva_far(z[far], n)
    above = (z.imag >= 1) & ~far
    if above.any():
        out[above] = w[above] * _faddeeva_ratio(z[above], n)
    return out


def _faddeeva_far(z, n):
    inverse, total = 1 / (z * z), np.zeros_like(z)
    for k in range(30, -1, -1):  # (2k)!/(4^k k!) z^-(2k+1), differentiated n times
        term = math.factorial(2 * k + n) / (4**k * math.factorial(k))
        total = total * inverse + term
    return 1j / math.sqrt(math.pi) * (-1) ** n * total * z ** -(n + 1.0)


def _faddeeva_ratio(z, n):
    x, ratio, out = -1j * z, 0.0, 1.0
    for m in range(n + 200, 0, -1):
        ratio = 1 / (2 * x + 2 * (m + 1) * ratio)
        if m <= n:
            out = out * ratio
    return (2j) ** n * math.factorial(n) * out


@kernel
def _wofz(z, *, n):
    return _faddeeva(z.astype(complex), n)


@kernel
def _erfcx(x, *, n):
    out = 1j**n * _faddeeva(1j * x, n)
    return out if x.dtype.kind == "c" else out.real


@kernel
def _dawson(x, *, n):
    return _faddeeva(x.astype(complex), n).imag / _TWO_OVER_ROOT_PI


#: The n-th derivatives of `wofz`, `erfcx`, and `dawsn` of real numbers.
faddeeva_derivative = elementwise(
    _wofz, lambda g, x, *, n: g * faddeeva_derivative(x, n=n + 1), name="faddeeva_derivative"
)
erfcx_derivative = elementwise(
    _erfcx, lambda g, x, *, n: g * erfcx_derivative(x, n=n + 1), name="erfcx_derivative"
)
dawson_derivative = elementwise(
    _dawson, lambda g, x, *, n: g * dawson_derivative(x, n=n + 1), name="dawson_derivative"
)


def _dawson_rule(g, y, x):
    if dtype_of(x).kind == "c":
        return g * (1 - 2 * x * y)
    return g * dawson_derivative(x, n=1)


# ---- the error functions -------------------------------------------------------------------

declare("erf", lambda g, x: g * (_TWO_OVER_ROOT_PI * np.exp(-x * x)))
declare("erfc", lambda g, x: -g * (_TWO_OVER_ROOT_PI * np.exp(-x * x)))
declare("erfi", lambda g, x: g * (_TWO_OVER_ROOT_PI * np.exp(x * x)))
declare("erfinv", lambda g, y: g * (np.exp(y * y) / _TWO_OVER_ROOT_PI))
declare("erfcinv", lambda g, y: -g * (np.exp(y * y) / _TWO_OVER_ROOT_PI))
declare("erfcx", lambda g, x: g * erfcx_derivative(x, n=1))
declare("dawsn", _dawson_rule)
declare("wofz", lambda g, x: g * faddeeva_derivative(x, n=1))


def _voigt_derivative(x, sigma, gamma, n):
    """The n-th derivative by x + i gamma of w((x + i gamma)/(sigma sqrt(2)))/(sigma sqrt(2 pi)).

    Its real part is the Voigt profile. At sigma = 0 it is i/(pi (x + i gamma)), of Lorentz's profile, and
    near there, by the equation of heat, that plus sigma^2/2 times its second derivative and so on.
    """
    none = np.equal(sigma, 0)
    safe = np.where(none, 1.0, sigma)
    z = x + 1j * gamma
    wide = faddeeva_derivative(z / (_ROOT_TWO * safe), n=n) / (_ROOT_TWO_PI * safe * (_ROOT_TWO * safe) ** n)
    if nowhere(none):
        return wide
    inverse, half = 1 / np.where(none, z, 1.0), 0.5 * (sigma * sigma)
    terms = [(-1) ** n * math.factorial(n + 2 * k) * inverse ** (n + 2 * k + 1) for k in range(3)]
    return np.where(none, 1j / math.pi * (terms[0] + half * (terms[1] + 0.5 * half * terms[2])), wide)


declare(
    "voigt_profile",  # a convolution with the normal density: by sigma sigma times its second derivative by x
    lambda g, x, sigma, gamma: g * np.real(_voigt_derivative(x, sigma, gamma, 1)),
    lambda g, x, sigma, gamma: g * (sigma * np.real(_voigt_derivative(x, sigma, gamma, 2))),
    lambda g, x, sigma, gamma: -g * np.imag(_voigt_derivative(x, sigma, gamma, 1)),
    args="x sigma gamma",
)

# ---- the normal distribution ---------------------------------------------------------------


def _mills(x):
    """Distribution by density, Phi(x)/phi(x), which neither underflows nor loses digits for x -> -inf."""
    return math.sqrt(math.pi / 2) * sc.erfcx(-x / _ROOT_TWO)


def _quantile_slope(y):
    """The derivative of the normal quantile y by its probability."""
    return _ROOT_TWO_PI * np.exp(0.5 * (y * y))


declare("ndtr", lambda g, x: g * (np.exp(-0.5 * (x * x)) / _ROOT_TWO_PI))
declare("log_ndtr", lambda g, x: g / _mills(x))
declare("ndtri", lambda g, y: g * _quantile_slope(y))
declare("ndtri_exp", lambda g, y: g * _mills(y))
declare(
    "nrdtrimn",  # y = x - sigma ndtri(p)
    lambda g, y, std, x: -g * (std * _quantile_slope((x - y) / std)),
    lambda g, y, std, x: -g * ((x - y) / std),
    lambda g: g,
    args="p std x",
)
declare(
    "nrdtrisd",  # y = (x - mean)/ndtri(p)
    lambda g, p: -g / sc.ndtri(p),
    lambda g, y, p: -g * (y / sc.ndtri(p) * _quantile_slope(sc.ndtri(p))),
    lambda g, p: g / sc.ndtri(p),
    args="mean p x",
)
declare(
    "owens_t",
    lambda g, h, a: -g * (np.exp(-0.5 * (h * h)) * sc.erf(a * h / _ROOT_TWO) / (2 * _ROOT_TWO_PI)),
    lambda g, h, a: g * (np.exp(-0.5 * (h * h) * (1 + a * a)) / (2 * math.pi * (1 + a * a))),
    args="h a",
)
