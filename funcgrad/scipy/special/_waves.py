"""Parabolic cylinder, Mathieu and spheroidal wave functions: with their slope they close under derivatives.

SciPy's functions give the value and the slope, whose derivative follows from the differential equation
(NIST Digital Library of Mathematical Functions, 12.2, 28.2, 28.20 and 30.2).
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad.scipy.special._declare import ORDER, SHAPE, declare, declare_outputs, of

#: By the number of arguments: their names, and what makes a rule of a function of all of them.
_FORMS = {
    2: ("v x", lambda f: lambda g, v, x: g * f(v, x)),
    3: ("m q x", lambda f: lambda g, m, q, x: g * f(m, q, x)),
    4: ("m n c x", lambda f: lambda g, m, n, c, x: g * f(m, n, c, x)),
    5: ("m n c cv x", lambda f: lambda g, m, n, c, cv, x: g * f(m, n, c, cv, x)),
}


def _wave(name, count, curvature, unit=1.0):
    """Declare a pair (w, w') with w'' = curvature(w, w', *args), of x in a unit that is `unit` radians."""
    names, rule = _FORMS[count]
    refused = (ORDER,) + (SHAPE,) * (count - 2)
    pair = declare_outputs(
        name,
        (*refused, rule(lambda *args: unit * pair[1](*args))),
        (*refused, rule(lambda *args: unit * curvature(pair[0](*args), pair[1](*args), *args))),
        args=names,
    )


# ---- parabolic cylinder functions ----------------------------------------------------------

_wave("pbdv", 2, lambda w, slope, v, x: (0.25 * (x * x) - v - 0.5) * w)
_wave("pbvv", 2, lambda w, slope, v, x: (0.25 * (x * x) - v - 0.5) * w)
_wave("pbwa", 2, lambda w, slope, a, x: (a - 0.25 * (x * x)) * w)

# ---- Mathieu functions ---------------------------------------------------------------------

_DEGREE = math.pi / 180  # the angle is in degrees, the slope by radians

for _letter, _value in (("c", sc.mathieu_a), ("s", sc.mathieu_b)):

    def _angular(w, slope, m, q, x, value=_value):
        return (2 * q * np.cos(2 * _DEGREE * x) - of(value(m, q), x)) * w

    def _modified(w, slope, m, q, x, value=_value):
        return (of(value(m, q), x) - 2 * q * np.cosh(2 * x)) * w

    _wave(f"mathieu_{_letter}em", 3, _angular, unit=_DEGREE)
    _wave(f"mathieu_mod{_letter}em1", 3, _modified)
    _wave(f"mathieu_mod{_letter}em2", 3, _modified)

declare("mathieu_a", ORDER, SHAPE, args="m q")
declare("mathieu_b", ORDER, SHAPE, args="m q")

# ---- spheroidal wave functions -------------------------------------------------------------


def _prolate(w, slope, m, c, cv, x):
    size = 1 - x * x
    return (2 * x * slope - (cv - c * c * (x * x) - m * m / size) * w) / size


def _oblate(w, slope, m, c, cv, x):
    size = 1 - x * x
    return (2 * x * slope - (cv + c * c * (x * x) - m * m / size) * w) / size


def _oblate_radial(w, slope, m, c, cv, x):  # at ix in place of x
    size = 1 + x * x
    return -(2 * x * slope - (cv - c * c * (x * x) - m * m / size) * w) / size


def _spheroidal(name, value, curvature):
    _wave(name, 4, lambda w, slope, m, n, c, x: curvature(w, slope, m, c, of(value(m, n, c), x), x))
    _wave(f"{name}_cv", 5, lambda w, slope, m, n, c, cv, x: curvature(w, slope, m, c, cv, x))


_spheroidal("pro_ang1", sc.pro_cv, _prolate)
_spheroidal("pro_rad1", sc.pro_cv, _prolate)
_spheroidal("obl_ang1", sc.obl_cv, _oblate)
_spheroidal("obl_rad1", sc.obl_cv, _oblate_radial)

_SECOND = "SciPy's values and slopes of radial functions of the second kind do not fit each other"
for _name in ("pro_rad2", "obl_rad2"):
    for _suffix, _args in (("", "m n c x"), ("_cv", "m n c cv x")):
        _refused = (_SECOND,) * len(_args.split())
        declare_outputs(_name + _suffix, _refused, _refused, args=_args)

declare("pro_cv", ORDER, ORDER, SHAPE, args="m n c")
declare("obl_cv", ORDER, ORDER, SHAPE, args="m n c")
