"""Functions of `scipy.special` that are written in Python: those that no protocol reaches on traced values.

Those that only call ufuncs work as they are; they carry themselves out.
"""

import math

import numpy as np
import scipy.special as sc

from funcgrad._core.types import dtype_of
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad._primitives.selection import nowhere
from funcgrad._primitives.special import sine_quotient
from funcgrad.numpy.arguments import negative_axes, refuse_traced
from funcgrad.numpy.protocol import as_operand, implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.special import _polynomials

for _name in (
    "softplus", "lambertw", "zeta", "jvp", "yvp", "kvp", "ivp", "h1vp", "h2vp", "assoc_laguerre",
):  # fmt: skip
    if hasattr(sc, _name):
        IMPLEMENTATIONS[getattr(sc, _name)] = getattr(sc, _name)

# ---- sums of exponentials ------------------------------------------------------------------


def _floating(x):
    x = as_operand(x)
    return x if dtype_of(x).kind in "fc" else np.astype(x, np.float64)


def _shift(a, axis):
    """The largest real parts, which no derivative passes: what is added back does not depend on them."""
    return stop_gradient_leaf(np.max(np.real(a), axis=axis, keepdims=True))


@implements(sc.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """log(sum of b exp(a)), as exact as `np.logaddexp`: where entries are infinite and equal they share."""
    a = _floating(a)
    if b is not None:
        b = as_operand(b)
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
        a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    if np.ndim(a) == 0:
        a, b = np.reshape(a, (1,)), b if b is None else np.reshape(b, (1,))
    axis = negative_axes(axis, np.ndim(a))
    if any(np.shape(a)[i] == 0 for i in axis):
        total = np.sum(np.real(a), axis=axis, keepdims=keepdims) - np.inf
        return (total, np.sign(total)) if return_sign else total
    counted = a if b is None else np.where(np.equal(b, 0), -np.inf, a)  # what the largest is taken of
    largest = _shift(counted, axis)
    infinite = np.isinf(largest)
    if nowhere(infinite):
        shifted = a - largest
    else:  # then the largest carries the derivative of those that are equal to it
        ties = infinite & np.equal(counted, largest)
        largest = np.where(infinite, np.max(np.real(counted), axis=axis, keepdims=True), largest)
        finite = np.where(infinite & (largest < 0), 0.0, largest)
        shifted = np.where(ties, 0.0, a) - np.where(ties, 0.0, finite)
    if b is None:
        total = np.sum(np.exp(shifted), axis=axis, keepdims=True)
    else:
        most = math.log(np.finfo(dtype_of(shifted)).max) - 1
        over = np.equal(b, 0) & (np.real(shifted) > most)  # 0 times a power that overflows
        total = np.sum(b * np.exp(np.where(over, most, shifted)), axis=axis, keepdims=True)
    sign = np.sign(total)
    out = np.log(np.abs(total) if return_sign else total) + largest
    if not keepdims:
        out, sign = np.squeeze(out, axis=axis), np.squeeze(sign, axis=axis)
    return (out, sign) if return_sign else out


@implements(sc.softmax)
def softmax(x, axis=None):
    """exp(x) over its sum along an axis, which neither overflows nor depends on the largest entry's size."""
    x = _floating(x)
    axis = negative_axes(axis, np.ndim(x))
    powers = np.exp(x - _shift(x, axis))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@implements(sc.log_softmax)
def log_softmax(x, axis=None):
    """The logarithm of `softmax`, exact where that underflows."""
    x = _floating(x)
    axis = negative_axes(axis, np.ndim(x))
    largest = _shift(x, axis)
    shifted = x - np.where(np.isfinite(largest), largest, 0.0)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# ---- gamma functions and counts ------------------------------------------------------------


@implements(sc.polygamma)
def polygamma(n, x):
    """The n-th derivative of digamma, by Hurwitz's zeta function as SciPy has it."""
    refuse_traced("scipy.special.polygamma", "n", n)
    n, x = np.asarray(n), as_operand(x)
    higher = np.where(n == 0, 1, n)  # zeta has a pole at 1
    by_zeta = (-1.0) ** (higher + 1) * sc.gamma(higher + 1.0) * sc.zeta(higher + 1, x)
    return by_zeta if nowhere(n == 0) else np.where(n == 0, sc.psi(x), by_zeta)


@implements(sc.multigammaln)
def multigammaln(a, d):
    """The logarithm of the multivariate gamma function: a sum of those of the univariate one."""
    refuse_traced("scipy.special.multigammaln", "d", d)
    if np.ndim(d) or np.floor(d) != d:
        raise ValueError("d should be a positive integer (dimension)")
    parts = [sc.gammaln(a - (j - 1.0) / 2) for j in range(1, int(d) + 1)]
    return d * (d - 1) * 0.25 * np.log(np.pi) + sum(parts)


def _refuse_exact(function, exact):
    if exact:
        cure = "It counts with integers. Leave it out, or pass plain ones."
        refuse_argument(f"scipy.special.{function}", "exact=True", cure)


@implements(sc.comb)
def comb(N, k, *, exact=False, repetition=False):
    """Binomial coefficients, continued to real numbers."""
    _refuse_exact("comb", exact)
    if repetition:
        empty = np.equal(k, 0) & np.greater_equal(N, 0)
        return np.where(empty, 1.0, sc.binom(N + k - 1, k))
    proper = np.less_equal(k, N) & np.greater_equal(N, 0) & np.greater_equal(k, 0)
    return np.where(proper, sc.binom(N, k), 0.0)


@implements(sc.perm)
def perm(N, k, exact=False):
    """Numbers of permutations, continued to real numbers."""
    _refuse_exact("perm", exact)
    proper = np.less_equal(k, N) & np.greater_equal(N, 0) & np.greater_equal(k, 0)
    return np.where(proper, sc.poch(N - k + 1, k), 0.0)


@implements(sc.factorial)
def factorial(n, exact=False, extend="zero"):
    """gamma(n + 1), and 0 for negative n unless ``extend="complex"``."""
    _refuse_exact("factorial", exact)
    n = _floating(n)
    out = np.astype(sc.gamma(n + 1), np.result_type(dtype_of(n), np.float64))  # SciPy's results are double
    return out if extend == "complex" else np.where(np.less(n, 0), 0.0, out)


@implements(sc.diric)
def diric(x, n):
    """sin(nx/2)/(n sin(x/2)), through sin(u)/u so that it is exact at multiples of 2 pi."""
    refuse_traced("scipy.special.diric", "n", n)
    x, n = _floating(x), np.asarray(n)
    turns = np.rint(x / (2 * math.pi))
    half = 0.5 * (x - 2 * math.pi * turns)
    sign = np.where(np.equal(np.remainder(turns * (n - 1), 2), 0), 1.0, -1.0)
    proper = (n > 0) & (n == np.floor(n))
    count = np.where(proper, n, 1).astype(np.float64 if n.ndim else dtype_of(x))
    out = sign * sine_quotient(count * half, n=0) / sine_quotient(half, n=0)
    return np.where(proper, out, np.nan)


# ---- functions of several derivatives ------------------------------------------------------


def _refuse_derivatives(function, diff_n):
    if diff_n:
        cure = "Take the derivative by grad, jvp or jacfwd of the function itself."
        refuse_argument(f"scipy.special.{function}", f"diff_n={diff_n}", cure)


if hasattr(sc, "sph_harm_y"):

    @implements(sc.legendre_p)
    def legendre_p(n, z, *, diff_n=0):
        """Legendre polynomials."""
        _refuse_derivatives("legendre_p", diff_n)
        return np.expand_dims(_polynomials.legendre(n, z), 0)  # the axis of derivatives

    @implements(sc.assoc_legendre_p)
    def assoc_legendre_p(n, m, z, *, branch_cut=2, norm=False, diff_n=0):
        """Associated Legendre functions of real numbers."""
        _refuse_derivatives("assoc_legendre_p", diff_n)
        if dtype_of(z).kind == "c":
            refuse_argument("scipy.special.assoc_legendre_p", "complex z", "Pass real numbers.")
        return np.expand_dims(_polynomials.associated(n, m, z, branch_cut=branch_cut, norm=norm), 0)

    @implements(sc.sph_legendre_p)
    def sph_legendre_p(n, m, theta, *, diff_n=0):
        """Spherical Legendre functions."""
        _refuse_derivatives("sph_legendre_p", diff_n)
        return np.expand_dims(_polynomials.sph_legendre(n, m, theta), 0)

    @implements(sc.sph_harm_y)
    def sph_harm_y(n, m, theta, phi, *, diff_n=0):
        """Spherical harmonics."""
        _refuse_derivatives("sph_harm_y", diff_n)
        return _polynomials.harmonic(n, m, theta, phi)
