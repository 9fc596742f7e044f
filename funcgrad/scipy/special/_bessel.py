"""Bessel, Hankel, Airy, Kelvin and Struve functions, by their argument.

Formulas: NIST Digital Library of Mathematical Functions, chapters 9, 10 and 11. Derivatives by the mean or
difference of neighbouring orders (10.6.1, 10.29.1) are exact at 0, where those with a quotient v/z are not.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._core.types import dtype_of
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad._primitives.selection import nowhere
from funcgrad.scipy.special._declare import ORDER, declare, declare_outputs, elementwise, find, of

# ---- unscaled ------------------------------------------------------------------------------


def _cylinder(name, sign_below, sign_above):
    """The rule of a function whose derivative is half the sum of the orders below and above, with signs."""
    f = getattr(sc, name)

    def rule(g, v, z):
        return g * (0.5 * (sign_below * f(v - 1, z) + sign_above * f(v + 1, z)))

    return rule


declare("jv", ORDER, _cylinder("jv", 1, -1), args="v z")
declare("yv", ORDER, _cylinder("yv", 1, -1), args="v z")
declare("iv", ORDER, _cylinder("iv", 1, 1), args="v z")
declare("kv", ORDER, _cylinder("kv", -1, -1), args="v z")
declare("hankel1", ORDER, _cylinder("hankel1", 1, -1), args="v z")
declare("hankel2", ORDER, _cylinder("hankel2", 1, -1), args="v z")
declare("yn", ORDER, lambda g, n, x: g * (0.5 * (sc.yn(n - 1, x) - sc.yn(n + 1, x))), args="n x")
declare("kn", ORDER, lambda g, n, x: -g * (0.5 * (sc.kn(n - 1, x) + sc.kn(n + 1, x))), args="n x")

declare("j0", lambda g, x: -g * sc.j1(x))
declare("j1", lambda g, x: g * (0.5 * (sc.j0(x) - sc.jv(2, x))))
declare("y0", lambda g, x: -g * sc.y1(x))
declare("y1", lambda g, y, x: g * (sc.y0(x) - y / x))
declare("i0", lambda g, x: g * sc.i1(x))
declare("i1", lambda g, x: g * (0.5 * (sc.i0(x) + sc.iv(2, x))))
declare("k0", lambda g, x: -g * sc.k1(x))
declare("k1", lambda g, x: -g * (0.5 * (sc.k0(x) + sc.kv(2, x))))

# ---- exponentially scaled ------------------------------------------------------------------

_TERMS = 20


def _log_slope(v, zeta, z):
    """The derivative by z of log(zeta^(-1/2) sum of a_k(v)/zeta^k), for zeta a multiple of z.

    That is the asymptotic series of exp(zeta) K_v(zeta) (10.40.2) but for a constant; -zeta gives that of
    exp(-zeta) I_v(zeta), and a quarter turn those of Hankel's functions.
    """
    square = 4 * (v * v)
    total, weighted = 1.0, _TERMS
    for k in range(_TERMS - 1, -1, -1):  # Horner's scheme: each coefficient is the one before times this
        ratio = (square - (2 * k + 1) ** 2) / (8 * (k + 1) * zeta)
        total, weighted = 1 + ratio * total, k + ratio * weighted
    return -(0.5 + weighted / total) / z


def _scaled(direct, unit):
    """The rule of an exponentially scaled function: `direct`, but for large z the asymptotic slope.

    There the slope is small against the terms of the direct formula, which lose as many digits.
    """

    def rule(g, y, v, z):
        size = z if dtype_of(z).kind == "c" else np.abs(z)
        far = np.real(size) > 25 + 2 * (v * v)
        if nowhere(far):
            return g * direct(y, v, z)
        near = direct(y, v, np.where(far, 1.0, z))
        z, size = np.where(far, z, 100.0), np.where(far, size, 100.0)
        return g * np.where(far, y * _log_slope(v, unit * size, z), near)

    return rule


def _scaled_apart(name, part, sign_above):
    """A function that is scaled by exp(-|part(z)|), which for complex z is no holomorphic factor.

    So it is a holomorphic function of z times exp(-s), at s = |part(z)|.
    """
    f = getattr(sc, name)
    apart = elementwise(
        lambda v, z, s: f(v, z) * np.exp(np.abs(part(z)) - s),
        ORDER,
        lambda g, v, z, s: g * (0.5 * (apart(v - 1, z, s) + sign_above * apart(v + 1, z, s))),
        lambda g, y: -g * y,
        args="v z s",
        name=f"{name}_apart",
    )
    real = IMPLEMENTATIONS[f]

    def scaled(v, z):
        return apart(v, z, np.abs(part(z))) if dtype_of(z).kind == "c" else real(v, z)

    IMPLEMENTATIONS[f] = scaled


def _ive_slope(y, v, z):
    return 0.5 * (sc.ive(v - 1, z) + sc.ive(v + 1, z)) - np.sign(z) * y


declare("ive", ORDER, _scaled(_ive_slope, -1), args="v z")
declare("jve", ORDER, _cylinder("jve", 1, -1), args="v z")
declare("yve", ORDER, _cylinder("yve", 1, -1), args="v z")
_scaled_apart("ive", np.real, 1)
_scaled_apart("jve", np.imag, -1)
_scaled_apart("yve", np.imag, -1)
declare(
    "kve",
    ORDER,
    _scaled(lambda y, v, z: y - 0.5 * (sc.kve(v - 1, z) + sc.kve(v + 1, z)), 1),
    args="v z",
)
declare(
    "hankel1e",
    ORDER,
    _scaled(lambda y, v, z: 0.5 * (sc.hankel1e(v - 1, z) - sc.hankel1e(v + 1, z)) - 1j * y, -1j),
    args="v z",
)
declare(
    "hankel2e",
    ORDER,
    _scaled(lambda y, v, z: 0.5 * (sc.hankel2e(v - 1, z) - sc.hankel2e(v + 1, z)) + 1j * y, 1j),
    args="v z",
)


def _scaled_of_order(order, direct, unit):
    rule = _scaled(lambda y, v, x: direct(y, x), unit)
    return lambda g, y, x: rule(g, y, order, x)


declare("i0e", _scaled_of_order(0, lambda y, x: sc.i1e(x) - np.sign(x) * y, -1))
declare("i1e", _scaled_of_order(1, lambda y, x: 0.5 * (sc.i0e(x) + sc.ive(2, x)) - np.sign(x) * y, -1))
declare("k0e", _scaled_of_order(0, lambda y, x: y - sc.k1e(x), 1))
declare("k1e", _scaled_of_order(1, lambda y, x: y - 0.5 * (sc.k0e(x) + sc.kve(2, x)), 1))

# ---- spherical -----------------------------------------------------------------------------


def _spherical(name, below, above):
    """f_n' = (below n f_(n-1) + above (n+1) f_(n+1))/(2n + 1), from 10.51.1 and 10.51.4; so too its slope."""
    function = getattr(sc, name)

    def slope_of_slope(g, n, z):
        order = of(n, z)
        lower, upper = slope(np.abs(np.subtract(n, 1)), z), slope(np.add(n, 1), z)
        return g * ((below * order * lower + above * (order + 1) * upper) / (2 * order + 1))

    value = elementwise(
        lambda n, z: function(n, z), ORDER, lambda g, n, z: g * slope(n, z), args="n z", name=name
    )
    slope = elementwise(
        lambda n, z: function(n, z, derivative=True), ORDER, slope_of_slope, args="n z", name=f"{name}_d"
    )

    def call(n, z, derivative=False):
        return slope(n, z) if derivative else value(n, z)

    IMPLEMENTATIONS[function] = call
    for private, primitive in ((f"_{name}", value), (f"_{name}_d", slope)):
        if find(private) is not None:
            IMPLEMENTATIONS[find(private)] = primitive


_spherical("spherical_jn", 1, -1)
_spherical("spherical_yn", 1, -1)
_spherical("spherical_in", 1, 1)
_spherical("spherical_kn", -1, -1)

# ---- Airy functions ------------------------------------------------------------------------

airy = declare_outputs(
    "airy",
    lambda g, x: g * airy[1](x),
    lambda g, x: g * (x * airy[0](x)),
    lambda g, x: g * airy[3](x),
    lambda g, x: g * (x * airy[2](x)),
)
_airye = declare_outputs(
    "airye",
    lambda g, y, x: g * (np.sqrt(x) * y + _airye[1](x)),
    lambda g, y, x: g * (np.sqrt(x) * y + x * _airye[0](x)),
)
# Bi is scaled by exp(-|Re(2/3 z^(3/2))|), which is no holomorphic factor: see `_scaled_apart`
_airye_apart = (
    elementwise(
        lambda x, s: sc.airye(x)[2] * np.exp(_airy_scale(x) - s),
        lambda g, x, s: g * _airye_apart[1](x, s),
        lambda g, y: -g * y,
        args="x s",
        name="airye_2",
    ),
    elementwise(
        lambda x, s: sc.airye(x)[3] * np.exp(_airy_scale(x) - s),
        lambda g, x, s: g * (x * _airye_apart[0](x, s)),
        lambda g, y: -g * y,
        args="x s",
        name="airye_3",
    ),
)


def _airy_scale(x):
    if dtype_of(x).kind == "c":
        return np.abs(np.real(2 / 3 * x * np.sqrt(x)))
    positive = np.where(x > 0, x, 0.0)
    return 2 / 3 * positive * np.sqrt(positive)


def _airye_outputs(x):
    s = _airy_scale(x)
    return _airye[0](x), _airye[1](x), _airye_apart[0](x, s), _airye_apart[1](x, s)


IMPLEMENTATIONS[sc.airye] = _airye_outputs
declare_outputs(
    "itairy",
    lambda g, x: g * sc.airy(x)[0],
    lambda g, x: g * sc.airy(x)[2],
    lambda g, x: g * sc.airy(-x)[0],
    lambda g, x: g * sc.airy(-x)[2],
)

# ---- Kelvin functions ----------------------------------------------------------------------


def _near_zero(x, first, step, coefficient, elsewhere):
    """The sum of coefficient(k) (x/2)^(first + step k) where |x| < 1, for there a quotient cancels."""
    near = np.abs(x) < 1
    half = 0.5 * np.where(near, x, 0.0)
    square, total = half**step, 0.0
    for k in range(10, -1, -1):
        total = total * square + coefficient(k)
    return np.where(near, half**first * total, elsewhere(np.where(near, 1.0, x)))


def _ber_quotient(x):
    """ber'(x)/x."""
    factorial = math.factorial
    return _near_zero(
        x, 2, 4, lambda k: (-1) ** (k + 1) * (k + 1) / factorial(2 * k + 2) ** 2, lambda x: sc.berp(x) / x
    )


def _bei_quotient(x):
    """bei'(x)/x."""
    factorial = math.factorial
    return _near_zero(
        x, 0, 4, lambda k: (-1) ** k * (k + 0.5) / factorial(2 * k + 1) ** 2, lambda x: sc.beip(x) / x
    )


# w = ber + i bei and w = ker + i kei satisfy w'' = i w - w'/x (10.61.3)
declare("ber", lambda g, x: g * sc.berp(x))
declare("bei", lambda g, x: g * sc.beip(x))
declare("ker", lambda g, x: g * sc.kerp(x))
declare("kei", lambda g, x: g * sc.keip(x))
declare("berp", lambda g, x: -g * (sc.bei(x) + _ber_quotient(x)))
declare("beip", lambda g, x: g * (sc.ber(x) - _bei_quotient(x)))
declare("kerp", lambda g, y, x: -g * (sc.kei(x) + y / x))
declare("keip", lambda g, y, x: g * (sc.ker(x) - y / x))


def _kelvin(x):
    pairs = ((sc.ber, sc.bei), (sc.ker, sc.kei), (sc.berp, sc.beip), (sc.kerp, sc.keip))
    return tuple(real(x) + 1j * imag(x) for real, imag in pairs)


IMPLEMENTATIONS[sc.kelvin] = _kelvin

# ---- Struve functions, and integrals -------------------------------------------------------


def _struve(name, sign):
    """By 11.4.27 and 11.4.28: near 0 without a quotient, elsewhere without the term that cancels."""
    f = getattr(sc, name)

    def rule(g, v, x):
        near = np.abs(x) < 1
        x_near, x_far = np.where(near, x, 0.5), np.where(near, 1.0, x)
        term = np.power(0.5 * x_near, v) * sc.rgamma(v + 1.5) / math.sqrt(math.pi)
        balanced = 0.5 * (f(v - 1, x_near) + sign * f(v + 1, x_near) + term)
        return g * np.where(near, balanced, f(v - 1, x_far) - v / x_far * f(v, x_far))

    return rule


declare("struve", ORDER, _struve("struve", -1), args="v x")
declare("modstruve", ORDER, _struve("modstruve", 1), args="v x")


def _bessel_quotient(f, sign):
    """sign (f(x) - 1)/x of a Bessel function of order 0."""
    return lambda x: _near_zero(
        x,
        1,
        2,
        lambda k: 0.5 * sign**k / math.factorial(k + 1) ** 2,
        lambda x: sign * (f(x) - 1) / x,
    )


_j0_quotient, _i0_quotient = _bessel_quotient(sc.j0, -1), _bessel_quotient(sc.i0, 1)
declare_outputs("itj0y0", lambda g, x: g * sc.j0(x), lambda g, x: g * sc.y0(x))
declare_outputs("iti0k0", lambda g, x: g * sc.i0(x), lambda g, x: g * sc.k0(x))
declare_outputs("it2j0y0", lambda g, x: g * _j0_quotient(x), lambda g, x: -g * (sc.y0(x) / x))
declare_outputs("it2i0k0", lambda g, x: g * _i0_quotient(x), lambda g, x: -g * (sc.k0(x) / x))
declare("itstruve0", lambda g, x: g * sc.struve(of(0, x), x))
declare("it2struve0", lambda g, x: -g * (sc.struve(of(0, x), x) / x))
declare("itmodstruve0", lambda g, x: g * sc.modstruve(of(0, x), x))


def _besselpoly_by_a(g, a, lmb, nu):
    # the integral of x^lmb J_nu(2ax) over [0, 1], differentiated under the integral
    return g * (sc.besselpoly(a, lmb + 1, nu - 1) - sc.besselpoly(a, lmb + 1, nu + 1))


declare("besselpoly", _besselpoly_by_a, ORDER, ORDER, args="a lmb nu")
