"""Elliptic integrals and functions, and the arithmetic-geometric mean.

Formulas: NIST Digital Library of Mathematical Functions, chapter 19. The complete integrals are
hypergeometric functions (19.5.1), and derivatives of Carlson's symmetric ones are integrals of the same form,
so none of the formulas divides by m or by differences of arguments, which may be 0.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad.scipy.special._declare import declare, declare_outputs, elementwise, kernel, of

# ---- Carlson's integrals -------------------------------------------------------------------


@kernel
def _carlson(*arguments, powers, lead):
    """The integral of t^lead times the product of (t + a)^-p over arguments and powers, t from 0 to infinity.

    In u = log(t) the integrand is analytic in a strip, so the trapezoidal rule is exact to rounding; its
    tails fall exponentially. Where a principal value would be meant it is NaN.
    """
    a, powers = np.stack(arguments), np.array(powers)
    sizes, angles = np.abs(a), np.max(np.abs(np.angle(a)), axis=0)
    proper = angles < math.pi
    step = 0.5 * (1 - np.max(angles, initial=0.0, where=proper) / math.pi)
    zeros = np.max(np.tensordot(powers, sizes == 0, 1), initial=0.0)
    rise, decay = lead + 1 - zeros, np.sum(powers) - lead - 1  # of the tails
    if rise <= 0 or step < 1 / 64:
        return np.full(a.shape[1:], np.inf if rise <= 0 else np.nan, a.dtype)
    low = np.log(np.min(np.where(sizes > 0, sizes, np.inf), axis=0)) - _TAIL / rise
    high = np.log(np.max(sizes, axis=0)) + _TAIL / decay
    total = np.zeros(a.shape[1:], a.dtype)
    for k in range(math.ceil(np.max(high - low, initial=0.0) / step) + 1):
        t = np.exp(low + k * step)
        total += math.prod(((t + x) ** -p for x, p in zip(a, powers)), start=t ** (lead + 1))
    return np.where(proper, step * total, np.nan)


_TAIL = 38.0  # exp(-38) is below rounding


def _raised(g, *arguments, at, powers, lead):
    """Differentiated by an argument, its power rises by 1."""
    raised = tuple(p + (i == at) for i, p in enumerate(powers))
    return -g * (powers[at] * carlson(*arguments, powers=raised, lead=lead))


def carlson(*arguments, powers, lead=0):
    """The integral of t^lead times the product of (t + a)^-p, whose derivatives are of the same form."""
    return _CARLSON[len(arguments)](*arguments, powers=powers, lead=lead)


_CARLSON = {
    2: elementwise(
        _carlson,
        lambda g, a, b, **k: _raised(g, a, b, at=0, **k),
        lambda g, a, b, **k: _raised(g, a, b, at=1, **k),
        name="carlson_2",
    ),
    3: elementwise(
        _carlson,
        lambda g, a, b, c, **k: _raised(g, a, b, c, at=0, **k),
        lambda g, a, b, c, **k: _raised(g, a, b, c, at=1, **k),
        lambda g, a, b, c, **k: _raised(g, a, b, c, at=2, **k),
        name="carlson_3",
    ),
    4: elementwise(
        _carlson,
        lambda g, a, b, c, d, **k: _raised(g, a, b, c, d, at=0, **k),
        lambda g, a, b, c, d, **k: _raised(g, a, b, c, d, at=1, **k),
        lambda g, a, b, c, d, **k: _raised(g, a, b, c, d, at=2, **k),
        lambda g, a, b, c, d, **k: _raised(g, a, b, c, d, at=3, **k),
        args="a b c d",
        name="carlson_4",
    ),
}

declare(
    "elliprf",
    lambda g, x, b, c: -g * (sc.elliprd(b, c, x) / 6),
    lambda g, x, b, c: -g * (sc.elliprd(x, c, b) / 6),
    lambda g, x, b, c: -g * (sc.elliprd(x, b, c) / 6),
    args="x b c",
)
declare(
    "elliprd",
    lambda g, a, b, c: -g * (0.75 * carlson(a, b, c, powers=(1.5, 0.5, 1.5))),
    lambda g, a, b, c: -g * (0.75 * carlson(a, b, c, powers=(0.5, 1.5, 1.5))),
    lambda g, a, b, c: -g * (2.25 * carlson(a, b, c, powers=(0.5, 0.5, 2.5))),
)
declare(
    "elliprg",
    lambda g, a, b, c: g * (0.125 * carlson(a, b, c, powers=(1.5, 0.5, 0.5), lead=1)),
    lambda g, a, b, c: g * (0.125 * carlson(a, b, c, powers=(0.5, 1.5, 0.5), lead=1)),
    lambda g, a, b, c: g * (0.125 * carlson(a, b, c, powers=(0.5, 0.5, 1.5), lead=1)),
)
declare(
    "elliprj",
    lambda g, a, b, c, p: -g * (0.75 * carlson(a, b, c, p, powers=(1.5, 0.5, 0.5, 1.0))),
    lambda g, a, b, c, p: -g * (0.75 * carlson(a, b, c, p, powers=(0.5, 1.5, 0.5, 1.0))),
    lambda g, a, b, c, p: -g * (0.75 * carlson(a, b, c, p, powers=(0.5, 0.5, 1.5, 1.0))),
    lambda g, a, b, c, p: -g * (1.5 * carlson(a, b, c, p, powers=(0.5, 0.5, 0.5, 2.0))),
    args="a b c p",
)


def _elliprc_slopes(value, a, b):
    """Of R_C by both arguments; for negative b it is a principal value, with derivatives in R_C itself."""
    proper = (np.real(b) > 0) | (np.imag(b) != 0)
    by_a = (value - 1 / np.sqrt(a)) / (2 * np.where(proper, 1.0, b - a))
    by_b = -(0.5 * value + a * by_a) / np.where(proper, 1.0, b)
    b = np.where(proper, b, 1.0)
    return (
        np.where(proper, -0.25 * carlson(a, b, powers=(1.5, 1.0)), by_a),
        np.where(proper, -0.5 * carlson(a, b, powers=(0.5, 2.0)), by_b),
    )


declare(
    "elliprc",
    lambda g, y, a, b: g * _elliprc_slopes(y, a, b)[0],
    lambda g, y, a, b: g * _elliprc_slopes(y, a, b)[1],
)

# ---- Legendre's integrals ------------------------------------------------------------------


def _first_complete(m):
    """dK/dm; K is pi/2 2F1(1/2, 1/2; 1; m)."""
    return math.pi / 8 * sc.hyp2f1(of(1.5, m), of(1.5, m), of(2, m), m)


def _second_complete(m):
    """dE/dm; E is pi/2 2F1(-1/2, 1/2; 1; m)."""
    return -math.pi / 8 * sc.hyp2f1(of(0.5, m), of(1.5, m), of(2, m), m)


def _by_parameter(phi, m, complete, by_sine):
    """The derivative by m of an integral to phi: of `turns` half periods, and of the rest."""
    turns = np.rint(phi / math.pi)
    none = np.equal(turns, 0)
    rest = phi - math.pi * turns
    sine, cosine = np.sin(rest), np.cos(rest)
    whole = np.where(none, 0.0, 2 * turns * complete(np.where(none, 0.0, m)))
    return whole + sine**3 / 6 * by_sine(cosine * cosine, 1 - m * (sine * sine))


def _first_by_m(phi, m):
    return _by_parameter(phi, m, _first_complete, lambda c, d: sc.elliprd(c, 1.0, d))


def _second_by_m(phi, m):
    return _by_parameter(phi, m, _second_complete, lambda c, d: -sc.elliprd(c, d, 1.0))


def _root(phi, m):
    return np.sqrt(1 - m * np.square(np.sin(phi)))


declare("ellipk", lambda g, x: g * _first_complete(x))
declare("ellipkm1", lambda g, x: -g * (sc.elliprd(0.0, 1.0, x) / 6))
declare("ellipe", lambda g, x: g * _second_complete(x))
declare(
    "ellipkinc",
    lambda g, phi, m: g / _root(phi, m),
    lambda g, phi, m: g * _first_by_m(phi, m),
    args="phi m",
)
declare(
    "ellipeinc",
    lambda g, phi, m: g * _root(phi, m),
    lambda g, phi, m: g * _second_by_m(phi, m),
    args="phi m",
)

# ---- Jacobi's functions, and the mean ------------------------------------------------------


def _amplitude_by_m(u, m):
    """phi is the inverse function of F(phi, m) = u."""
    phi = _ellipj[3](u, m)
    return -_ellipj[2](u, m) * _first_by_m(phi, m)


def _dn_by_m(g, y, u, m):
    sine, cosine = _ellipj[0](u, m), _ellipj[1](u, m)
    return -g * (sine * (sine + 2 * m * cosine * _amplitude_by_m(u, m)) / (2 * y))


_ellipj = declare_outputs(
    "ellipj",
    (
        lambda g, u, m: g * (_ellipj[1](u, m) * _ellipj[2](u, m)),
        lambda g, u, m: g * (_ellipj[1](u, m) * _amplitude_by_m(u, m)),
    ),
    (
        lambda g, u, m: -g * (_ellipj[0](u, m) * _ellipj[2](u, m)),
        lambda g, u, m: -g * (_ellipj[0](u, m) * _amplitude_by_m(u, m)),
    ),
    (
        lambda g, u, m: -g * (m * _ellipj[0](u, m) * _ellipj[1](u, m)),
        _dn_by_m,
    ),
    (
        lambda g, u, m: g * _ellipj[2](u, m),
        lambda g, u, m: g * _amplitude_by_m(u, m),
    ),
    args="u m",
)


def _agm_by_first(y, a, b):
    # agm(a, b) is pi/(2 R_F(0, a^2, b^2)) (19.8.6, 19.25.1)
    return y * y * (2 / (3 * math.pi) * np.abs(a) * sc.elliprd(0.0, b * b, a * a))


declare(
    "agm",
    lambda g, y, a, b: g * _agm_by_first(y, a, b),
    lambda g, y, a, b: g * _agm_by_first(y, b, a),
)
