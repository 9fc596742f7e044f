"""Logistic functions, entropies, transformations of Box and Cox, losses, and functions of degrees."""

import math

import numpy as np
import scipy.special as sc

from funcgrad._primitives.arithmetic import direction, power
from funcgrad._primitives.kinds import constant
from funcgrad._primitives.selection import nowhere
from funcgrad.scipy.special._declare import declare, elementwise, find, kernel

_DEGREE = math.pi / 180

declare("expit", lambda g, y, x: g * (y * sc.expit(-x)))  # 1 - y would lose digits
declare("logit", lambda g, x: g / (x * (1 - x)))
declare("log_expit", lambda g, x: g * sc.expit(-x))

declare("exp2", lambda g, y: g * (math.log(2) * y))
declare("exp10", lambda g, y: g * (math.log(10) * y))
declare("expm1", lambda g, x: g * np.exp(x))
declare("log1p", lambda g, x: g / (1 + x))
declare("cbrt", lambda g, y: g / (3 * (y * y)))
declare("cosm1", lambda g, x: -g * np.sin(x))
declare("exprel", lambda g, x: g * (0.5 * sc.hyp1f1(2.0, 3.0, x)))
declare("sindg", lambda g, x: g * (_DEGREE * sc.cosdg(x)))
declare("cosdg", lambda g, x: -g * (_DEGREE * sc.sindg(x)))
declare("tandg", lambda g, y: g * (_DEGREE * (1 + y * y)))
declare("cotdg", lambda g, y: -g * (_DEGREE * (1 + y * y)))
declare(
    "radian",
    lambda g: g * _DEGREE,
    lambda g: g * (_DEGREE / 60),
    lambda g: g * (_DEGREE / 3600),
    args="d m s",
)
declare("_sinpi", lambda g, x: g * (math.pi * find("_cospi")(x)))
declare("_cospi", lambda g, x: -g * (math.pi * find("_sinpi")(x)))
declare("_log1pmx", lambda g, x: -g * (x / (1 + x)))
declare("_log1mexp", lambda g, x: g / -np.expm1(-x))
constant(sc.round, name="special_round")

# powm1 is a power, less a constant
declare(
    "powm1",
    lambda g, a, b: power.rules[0].push(g, a, b),
    lambda g, y, a, b: power.rules[1].push(g, y + 1, a, b),
)

# ---- entropies -----------------------------------------------------------------------------


def _quotient(a, b):
    """a / b, and 0 where both are 0, as it is for all b along a = 0."""
    none = np.equal(a, 0) & np.equal(b, 0)
    return a / b if nowhere(none) else np.where(none, 0.0, a / np.where(none, 1.0, b))


def _log_of_quotient(a, b):
    """log(a/b), relatively exact where a is near b, and without overflow of the quotient."""
    near = np.abs(a - b) < 0.5 * np.abs(b)
    change = np.where(near, a - b, 0.0) / np.where(near, b, 1.0)
    return np.where(near, np.log1p(change), np.log(a) - np.log(b))


def _relative_change(a, b):
    """(b - a)/b = 1 - a/b, and 1 where both are 0, as it is for all b along a = 0."""
    none = np.equal(a, 0) & np.equal(b, 0)
    return np.where(none, 1.0, (b - a) / np.where(none, 1.0, b))


declare("xlogy", lambda g, b: g * np.log(b), lambda g, a, b: g * _quotient(a, b))
declare("xlog1py", lambda g, b: g * sc.log1p(b), lambda g, a, b: g * _quotient(a, 1 + b))
declare("entr", lambda g, x: -g * (np.log(x) + 1))
declare("rel_entr", lambda g, a, b: g * (_log_of_quotient(a, b) + 1), lambda g, a, b: -g * _quotient(a, b))
declare("kl_div", lambda g, a, b: g * _log_of_quotient(a, b), lambda g, a, b: g * _relative_change(a, b))

# ---- log(1 + x) / x ------------------------------------------------------------------------


@kernel
def _log1p_quotient(x, *, n):
    """The n-th derivative of log1p(x)/x: by its power series near 0, elsewhere from that of a product.

    SciPy's 2F1(1, 1; 2; -x) is off by percents for some complex numbers.
    """
    near = np.abs(x) < 0.5
    far = np.where(near, 1.0, x)
    out = np.log1p(far) / far
    for m in range(1, n + 1):
        out = (-((-1) ** m) * math.factorial(m - 1) / (1 + far) ** m - m * out) / far
    if near.any():
        series = np.zeros_like(x[near])
        for k in range(n + 60, n - 1, -1):
            series = series * x[near] + (-1) ** k * math.perm(k, n) / (k + 1)
        out[near] = series
    return out


#: The n-th derivative of log1p(x)/x.
log1p_quotient = elementwise(
    _log1p_quotient, lambda g, x, *, n: g * log1p_quotient(x, n=n + 1), name="log1p_quotient"
)

# ---- Box and Cox ---------------------------------------------------------------------------


def _boxcox_slope(log, lmbda):
    """Of expm1(lmbda log)/lmbda by lmbda: log^2 times the derivative of exprel."""
    return log * log * (0.5 * sc.hyp1f1(2.0, 3.0, lmbda * log))


def _inverse_slope(g, y, x, lmbda):
    """Of log1p(lmbda x)/lmbda by lmbda, times y."""
    return g * (y * (x * x) * log1p_quotient(lmbda * x, n=1))


declare(
    "boxcox",
    lambda g, x, lmbda: g * np.power(x, lmbda - 1),
    lambda g, x, lmbda: g * _boxcox_slope(np.log(x), lmbda),
    args="x lmbda",
)
declare(
    "boxcox1p",
    lambda g, x, lmbda: g * np.exp((lmbda - 1) * np.log1p(x)),
    lambda g, x, lmbda: g * _boxcox_slope(np.log1p(x), lmbda),
    args="x lmbda",
)
declare("inv_boxcox", lambda g, y, x, lmbda: g * (y / (1 + lmbda * x)), _inverse_slope, args="x lmbda")
declare(
    "inv_boxcox1p",
    lambda g, y, x, lmbda: g * ((1 + y) / (1 + lmbda * x)),
    lambda g, y, x, lmbda: _inverse_slope(g, 1 + y, x, lmbda),
    args="x lmbda",
)

# ---- losses --------------------------------------------------------------------------------


def _huber_by_delta(g, delta, r):
    excess = np.abs(r) - delta
    return g * np.where(excess > 0, excess, 0.0)


def _pseudo_huber_by_delta(g, delta, r):
    # delta (h - delta), with h = hypot(delta, r) and h - delta = r^2/(h + delta)
    h = np.hypot(delta, r)
    ratio = direction(r, h + delta)
    return g * (r * direction(r, h) * (ratio * ratio))


declare(
    "huber",
    _huber_by_delta,
    lambda g, delta, r: g * np.where(np.abs(r) <= delta, r, delta * np.sign(r)),
    args="delta r",
)
declare(
    "pseudo_huber",
    _pseudo_huber_by_delta,
    lambda g, delta, r: g * (delta * direction(r, np.hypot(delta, r))),
    args="delta r",
)
