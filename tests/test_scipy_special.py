"""SciPy's special functions: many digits, special points, refusals, and the whole namespace."""

import subprocess
import sys
import warnings

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc

import funcgrad.scipy.special as fsc
from funcgrad import errors, grad, jvp, linearize, make_jaxpr, stop_gradient, value_and_grad, vjp, vmap
from funcgrad._primitives.kinds import IMPLEMENTATIONS

mp.mp.dps = 40


def derivatives(f, x, order):
    """The derivatives of a function of one number, by forward mode in forward mode."""
    g, out = f, []
    for _ in range(order):
        g = (lambda h: lambda x: jvp(h, (x,), (np.ones_like(x),))[1])(g)
        out.append(g(x))
    return out


def student(df, t):
    """Student's distribution function, but for a constant."""
    scale = mp.gamma((df + 1) / 2) / mp.gamma(df / 2) / mp.sqrt(mp.pi * df)
    return scale * t * mp.hyp2f1(0.5, (df + 1) / 2, 1.5, -t * t / df)


#: name: what it is to mpmath, points, and the relative errors of the first, second and third derivative, if
#: they may be more than 1e-12.
TO_MANY_DIGITS = {
    "erf": (mp.erf, (-3, -0.5, 0.7, 2, 5)),
    "erfc": (mp.erfc, (-3, 0.5, 5, 20)),
    "erfi": (mp.erfi, (-2, 0.3, 4)),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), (-3, -0.5, 0.3, 1, 4, 7, 30, 1e3, 1e6)),
    "dawsn": (
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        (0.5, -2, 4, 6.5, 20, 1e3),
        (1e-12, 1e-12, 1e-10),
    ),
    "erfinv": (mp.erfinv, (-0.9, 0.3, 0.999)),
    "ndtr": (mp.ncdf, (-10, 0.5, 8)),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), (-100, -30, -5, 0.1, 3, 8), (1e-12, 1e-12, 1e-11)),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), (1e-3, 0.3, 0.9)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (-50, -2, 0.3, 40)),
    "logit": (lambda p: mp.log(p / (1 - p)), (1e-8, 0.3, 0.9)),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (-50, -2, 0.3, 40)),
    "exprel": (lambda x: mp.expm1(x) / x, (-300, -3, 1e-8, 0.2, 5, 300)),
    "cosm1": (lambda x: mp.cos(x) - 1, (1e-6, 2)),
    "entr": (lambda x: -x * mp.log(x), (1e-10, 0.3, 4)),
    "gamma": (mp.gamma, (-2.5, 0.1, 3.3, 50)),
    "gammaln": (mp.loggamma, (0.1, 3.3, 1e5)),
    "rgamma": (mp.rgamma, (-3, -2.5, 0, 0.1, 3.3, 50)),
    "psi": (mp.digamma, (-2.5, 0.1, 3.3, 1e5)),
    "j0": (lambda x: mp.besselj(0, x), (0.5, 7, 30)),
    "j1": (lambda x: mp.besselj(1, x), (1e-8, 0.5, 7, 30)),
    "y0": (lambda x: mp.bessely(0, x), (0.5, 7)),
    "y1": (lambda x: mp.bessely(1, x), (0.5,)),
    "i0": (lambda x: mp.besseli(0, x), (-2, 0.5, 30)),
    "i1": (lambda x: mp.besseli(1, x), (-2, 0.5, 30)),
    "i0e": (
        lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
        (0.5, 10, 24, 26, 1e3, 1e6, -50),
        (1e-12, 1e-12, 1e-11),
    ),
    "i1e": (
        lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
        (0.5, 10, 24, 28, 1e3, 1e6, -50),
        (1e-12, 1e-12, 1e-11),
    ),
    "k0": (lambda x: mp.besselk(0, x), (1e-5, 0.5, 7)),
    "k1": (lambda x: mp.besselk(1, x), (1e-5, 0.5, 7)),
    "k0e": (lambda x: mp.exp(x) * mp.besselk(0, x), (0.5, 1e6), (1e-12, 1e-12, 1e-11)),
    "k1e": (lambda x: mp.exp(x) * mp.besselk(1, x), (0.5, 1e6), (1e-12, 1e-12, 1e-11)),
    "exp1": (mp.e1, (0.1, 2, 30)),
    "expi": (mp.ei, (-2, 0.1, 30)),
    "spence": (lambda x: mp.polylog(2, 1 - x), (0.01, 0.9, 1, 1.1, 1.9)),
    "wrightomega": (lambda x: mp.lambertw(mp.exp(x)).real, (-20, 0.5, 30)),
    "ellipk": (mp.ellipk, (-5, 1e-8, 0.3, 0.99)),
    "ellipkm1": (lambda p: mp.ellipk(1 - mp.mpf(p)), (1e-15, 0.3)),
    "ellipe": (mp.ellipe, (-5, 1e-8, 0.3, 0.99)),
    "kolmogorov": (
        lambda x: (
            2 * mp.nsum(lambda k: (-1) ** (k - 1) * mp.exp(-2 * k * k * x * x), [1, mp.inf], method="d")
        ),
        (0.5, 0.99, 1.01, 2),
    ),
}
#: name: the arguments in front, the function of the last one to mpmath, points, errors.
OF_THE_LAST = {
    "jv": ((1.3,), lambda x: mp.besselj(1.3, x), (1e-3, 0.5, 7)),
    "yv": ((1.3,), lambda x: mp.bessely(1.3, x), (0.5, 7)),
    "iv": ((1.3,), lambda x: mp.besseli(1.3, x), (1e-3, 0.5, 30)),
    "kv": ((1.3,), lambda x: mp.besselk(1.3, x), (1e-5, 0.5, 7)),
    "ive": ((1.3,), lambda x: mp.exp(-x) * mp.besseli(1.3, x), (0.5, 20, 40, 1e5), (1e-12, 1e-12, 1e-10)),
    "kve": ((1.3,), lambda x: mp.exp(x) * mp.besselk(1.3, x), (0.5, 20, 40, 1e5)),
    "expn": ((3,), lambda x: mp.expint(3, x), (0.1, 2, 30)),
    "struve": ((0.5,), lambda x: mp.struveh(0.5, x), (0.3, 2, 9)),
    "modstruve": ((0.5,), lambda x: mp.struvel(0.5, x), (0.3, 2, 9)),
    "gammainc": ((2.5,), lambda x: mp.gammainc(2.5, 0, x, regularized=True), (1e-4, 0.5, 3, 30)),
    "gammaincc": ((2.5,), lambda x: mp.gammainc(2.5, x, regularized=True), (1e-4, 0.5, 3, 30)),
    "betainc": ((2.5, 0.7), lambda x: mp.betainc(2.5, 0.7, 0, x, regularized=True), (1e-4, 0.3, 0.9, 0.9999)),
    "hyp0f1": ((1.3,), lambda x: mp.hyp0f1(1.3, x), (-3, 0.5, 9)),
    "hyp1f1": ((0.6, 1.3), lambda x: mp.hyp1f1(0.6, 1.3, x), (-3, 0.5, 9)),
    "hyp2f1": ((0.6, 1.3, 1.7), lambda x: mp.hyp2f1(0.6, 1.3, 1.7, x), (-3, 0.5, 0.9)),
    "_zeta": ((2.5,), lambda q: mp.zeta(2.5, q), (0.1, 3, 1e4)),
    "eval_legendre": ((7,), lambda x: mp.legendre(7, x), (-1, 0.3, 1)),
    "eval_chebyt": ((7,), lambda x: mp.chebyt(7, x), (-1, 0.3, 1)),
    "eval_hermite": ((7,), lambda x: mp.hermite(7, x), (-1, 0.3, 3)),
    "eval_jacobi": ((5, 0.6, 1.2), lambda x: mp.jacobi(5, 0.6, 1.2, x), (-1, 0.3, 1)),
    "eval_genlaguerre": ((5, 0.6), lambda x: mp.laguerre(5, 0.6, x), (0, 0.3, 7)),
    "stdtr": ((1e5,), lambda t: student(mp.mpf(10) ** 5, t), (-3, 0.5, 4)),
    "poch": ((2.5,), lambda m: mp.rf(2.5, m), (-1.2, 0.3, 5)),
    "beta": ((20.0,), lambda b: mp.beta(20, b), (0.7, 3)),
    "betaln": ((1e6,), lambda b: mp.log(mp.beta(10**6, b)), (0.7, 3, 1e4)),
    "xlogy": ((0.7,), lambda y: 0.7 * mp.log(y), (1e-8, 3)),
    "boxcox": ((2.5,), lambda lmbda: mp.expm1(lmbda * mp.log(2.5)) / lmbda, (-3, 1e-9, 0.4, 3)),
    "inv_boxcox": ((2.5,), lambda lmbda: mp.exp(mp.log1p(lmbda * mp.mpf(2.5)) / lmbda), (1e-9, 0.4, 3)),
    "ellipkinc": ((0.7,), lambda m: mp.ellipf(0.7, m), (-3, 1e-9, 0.3, 0.99)),
    "ellipeinc": ((4.0,), lambda m: mp.ellipe(4.0, m), (-3, 1e-9, 0.3, 0.99)),
}  # fmt: skip
CASES = [(name, (), *case) for name, case in TO_MANY_DIGITS.items()] + [
    (name, *case) for name, case in OF_THE_LAST.items()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_to_many_digits(case):
    name, front, reference, points, *errors = case
    ufunc = getattr(sc, name, None) or getattr(sc._ufuncs, name)
    x = np.array(points, float)
    found = derivatives(lambda x: ufunc(*front, x), x, 3)
    for order, (values, error) in enumerate(zip(found, errors[0] if errors else (1e-12,) * 3), 1):
        for point, value in zip(x, values):
            exact = mp.diff(reference, mp.mpf(float(point)), order)
            away = abs(mp.mpf(float(value)) - exact)
            assert away <= error * abs(exact), (float(point), order, float(value), float(exact))


# ---- singular points and edges ---------------------------------------------------------------

INF = np.inf


def lorentz(n):
    """The n-th derivative of Lorentz's profile of width 1.1 at 0.7."""
    return -((-1) ** n) * float(mp.factorial(n)) / np.pi * np.imag((0.7 + 1.1j) ** -(n + 1))


#: A function, a point, and its derivatives there, from the first on.
AT_POINTS = {
    "xlogy-by-x-at-0": (lambda x: sc.xlogy(x, 3.0), 0.0, (np.log(3.0), 0.0)),
    "xlogy-by-y-at-0": (lambda y: sc.xlogy(0.0, y), 0.0, (0.0, 0.0)),
    "xlogy-infinite": (lambda x: sc.xlogy(x, 0.0), 0.0, (-INF,)),
    "xlog1py-by-y-at--1": (lambda y: sc.xlog1py(0.0, y), -1.0, (0.0, 0.0)),
    "entr-at-0": (sc.entr, 0.0, (INF,)),
    "rel_entr-by-y-at-0": (lambda y: sc.rel_entr(0.0, y), 0.0, (0.0, 0.0)),
    "kl_div-by-y-at-0": (lambda y: sc.kl_div(0.0, y), 0.0, (1.0, 0.0)),
    "kl_div-near": (lambda x: sc.kl_div(x, 1.0), 1 + 2.0**-40, (np.log1p(2.0**-40), 1 / (1 + 2.0**-40))),
    "logit-at-0": (sc.logit, 0.0, (INF,)),
    "logit-at-1": (sc.logit, 1.0, (INF,)),
    "expit-far": (sc.expit, 800.0, (0.0, 0.0)),
    "log_expit-far": (sc.log_expit, -800.0, (1.0, 0.0)),
    "log_ndtr-at-0": (sc.log_ndtr, 0.0, (np.sqrt(2 / np.pi), -2 / np.pi)),
    "erfinv-at-1": (sc.erfinv, 1.0, (INF,)),
    "ndtri-at-0": (sc.ndtri, 0.0, (INF,)),
    "rgamma-at-0": (sc.rgamma, 0.0, (1.0, 2 * np.euler_gamma)),
    "rgamma-at--3": (sc.rgamma, -3.0, (-6.0,)),
    "j0-at-0": (lambda x: sc.jv(0, x), 0.0, (0.0, -0.5, 0.0)),
    "j1-at-0": (lambda x: sc.jv(1, x), 0.0, (0.5, 0.0, -0.375)),
    "j1-ufunc-at-0": (sc.j1, 0.0, (0.5, 0.0, -0.375)),
    "i1-at-0": (sc.i1, 0.0, (0.5, 0.0, 0.375)),
    "i0e-at-0": (sc.i0e, 0.0, (0.0,)),
    "jv-half-at-0": (lambda x: sc.jv(0.5, x), 0.0, (INF,)),
    "spherical_jn-at-0": (lambda x: fsc.spherical_jn(1, x), 0.0, (1 / 3, 0.0)),
    "gammainc-exponential-at-0": (lambda x: sc.gammainc(1.0, x), 0.0, (1.0, -1.0, 1.0)),
    "gammainc-at-0": (lambda x: sc.gammainc(3.0, x), 0.0, (0.0, 0.0, 1.0)),
    "gammainc-steep-at-0": (lambda x: sc.gammainc(0.5, x), 0.0, (INF,)),
    "betainc-at-0": (lambda x: sc.betainc(2.0, 3.0, x), 0.0, (0.0, 12.0, -48.0)),
    "betainc-at-1": (lambda x: sc.betainc(3.0, 2.0, x), 1.0, (0.0, -12.0)),
    "betainc-uniform-at-0": (lambda x: sc.betainc(1.0, 1.0, x), 0.0, (1.0, 0.0, 0.0)),
    "exprel-at-0": (sc.exprel, 0.0, (1 / 2, 1 / 3, 1 / 4)),
    "boxcox-by-lmbda-at-0": (lambda c: sc.boxcox(np.e, c), 0.0, (1 / 2, 1 / 3, 1 / 4)),
    "sici-at-0": (lambda x: sc.sici(x)[0], 0.0, (1.0, 0.0, -1 / 3)),
    "shichi-at-0": (lambda x: sc.shichi(x)[0], 0.0, (1.0, 0.0, 1 / 3)),
    "spence-at-1": (sc.spence, 1.0, (-1.0, 1 / 2, -2 / 3)),
    "lambertw-at-0": (lambda x: np.real(sc.lambertw(x)), 0.0, (1.0, -2.0, 9.0)),
    "ellipk-at-0": (sc.ellipk, 0.0, (np.pi / 8, 9 * np.pi / 64)),
    "ellipkinc-at-0": (lambda m: sc.ellipkinc(np.pi, m), 0.0, (np.pi / 4, 9 * np.pi / 32)),
    "agm-equal": (lambda a: sc.agm(a, 2.0), 2.0, (0.5, -1 / 16)),
    "elliprc-equal": (lambda x: sc.elliprc(x, 1.0), 1.0, (-1 / 6, 3 / 20)),
    "bei-at-0": (sc.bei, 0.0, (0.0, 0.5, 0.0, 0.0)),
    "ber-at-0": (sc.ber, 0.0, (0.0, 0.0, 0.0, -3 / 8)),
    "pseudo_huber-at-0": (lambda r: sc.pseudo_huber(1.0, r), 0.0, (0.0, 1.0, 0.0)),
    "huber-beyond": (lambda d: sc.huber(d, 3.0), 1.0, (2.0, -1.0)),
    "legendre-constant": (lambda x: sc.eval_legendre(0, x), 0.3, (0.0, 0.0)),
    "binom-at-pole": (lambda n: sc.binom(n, 5.0), 3.0, (-0.05,)),
    "diric-at-0": (lambda x: fsc.diric(x, 3), 0.0, (0.0, -2 / 3)),
    "diric-at-2-pi": (lambda x: fsc.diric(x, 3), 2 * np.pi, (0.0, -2 / 3)),
    "voigt-by-sigma-at-0": (
        lambda s: sc.voigt_profile(0.7, s, 1.1),
        0.0,
        (0.0, lorentz(2), 0.0, 3 * lorentz(4)),
    ),
    "chndtr-by-nc-at-0": (
        lambda nc: sc.chndtr(1.3, 4.0, nc),
        0.0,
        tuple(np.diff(sc.chdtr([4.0, 6.0, 8.0, 10.0], 1.3), k)[0] / 2**k for k in (1, 2, 3)),
    ),
    "sph_harm_y-at-pole": (
        lambda t: np.real(fsc.sph_harm_y(2, 0, t, 0.0)),
        0.0,
        (0.0, -3 * np.sqrt(5 / np.pi) / 2),
    ),
}


@pytest.mark.parametrize("name", AT_POINTS)
def test_special_points(name):
    f, point, expected = AT_POINTS[name]
    for derive in (forward, backward):
        with np.errstate(all="raise"):
            found = derive(f, point, len(expected))
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-13), (derive.__name__, found)


def forward(f, x, order):
    return derivatives(f, np.float64(x), order)


def backward(f, x, order):
    g, out = f, []
    for _ in range(order):
        g = grad(g)
        out.append(g(x))
    return out


@pytest.mark.parametrize("a, shares", [
    ([0.0, -INF, 0.0], [0.5, 0.0, 0.5]),
    ([-INF, -INF], [0.5, 0.5]),
    ([INF, 1.0, INF], [0.5, 0.0, 0.5]),
    ([1000.0, 999.0], [1 / (1 + np.exp(-1)), np.exp(-1) / (1 + np.exp(-1))]),
    ([-INF, 3.0], [0.0, 1.0]),
])  # fmt: skip
def test_logsumexp_of_extremes(a, shares):
    a = np.array(a)
    with np.errstate(over="raise", invalid="raise"):
        value, found = value_and_grad(lambda a: fsc.logsumexp(a))(a)
        tangent = jvp(lambda a: fsc.logsumexp(a), (a,), (np.arange(len(a)) + 1.0,))[1]
    with np.errstate(all="ignore"):
        assert np.array_equal(value, sc.logsumexp(a))
    assert np.allclose(found, shares, rtol=1e-14)
    assert np.allclose(tangent, np.dot(shares, np.arange(len(a)) + 1.0))


def test_logsumexp_of_weights():
    a, b = np.array([1.0, 800.0, -2.0]), np.array([2.0, 0.0, -0.5])
    plain = sc.logsumexp(a, b=b)
    value, (by_a, by_b) = value_and_grad(lambda a, b: fsc.logsumexp(a, b=b), (0, 1))(a, b)
    assert np.isclose(value, plain)
    total = np.exp(plain)
    assert np.allclose(by_a, [2 * np.exp(1) / total, 0.0, -0.5 * np.exp(-2) / total])
    assert np.allclose(by_b[[0, 2]], np.exp(a[[0, 2]]) / total)
    small = np.array([1.0, 3.0, -2.0])
    by_b = grad(lambda b: fsc.logsumexp(small, b=b))(b)
    assert np.allclose(by_b, np.exp(small) / np.sum(b * np.exp(small)))  # also where the weight is 0
    for axis in (None, 0, 1, (0, 1)):
        for keepdims in (False, True):
            m = np.outer(a / 100, small)
            value = vjp(lambda m: fsc.logsumexp(m, axis=axis, keepdims=keepdims), m)[0]
            assert np.allclose(value, sc.logsumexp(m, axis=axis, keepdims=keepdims), rtol=1e-14)
    assert np.shape(vjp(lambda m: fsc.logsumexp(m, axis=0), np.zeros((0, 3)))[0]) == (3,)


# ---- arguments without rule --------------------------------------------------------------------

#: Arguments of which SciPy takes the whole part, or that choose a branch: they only steer.
STEERING = {
    "bdtr": "k n", "bdtrc": "k n", "bdtri": "k n", "nbdtr": "k n", "nbdtrc": "k n", "nbdtri": "k n",
    "pdtr": "k", "pdtrc": "k", "pdtri": "k", "smirnov": "n", "smirnovi": "n", "gammasgn": "x",
    "special_round": "x",
}  # fmt: skip
PUBLIC = sorted({name for name in sc.__all__ if isinstance(getattr(sc, name), np.ufunc)})


def primitives_of(ufunc):
    """The primitives that carry a ufunc out, found by staging it, but for those of NumPy's functions."""
    kinds = [t.split("->")[0] for t in ufunc.types]
    usual = next((t for t in kinds if set(t) == {"l", "d"}), None)
    usual = usual or next(t for t in kinds if set(t) <= set("dD"))
    program = make_jaxpr(ufunc)(*[{"l": 2, "d": 0.4, "D": 0.4 + 0.1j}[k] for k in usual])
    return [eqn.primitive for eqn in program.eqns if not hasattr(np, eqn.primitive.name)]


@pytest.mark.parametrize("name", PUBLIC)
def test_no_derivative_is_dropped(name):
    """Each argument of each ufunc has a rule, or is refused by name, or is known to steer."""
    for prim in primitives_of(getattr(sc, name)):
        rules = prim.rules or [None] * len(prim.args)
        dropped = {arg for arg, rule in zip(prim.args, rules) if rule is None}
        assert dropped == set(STEERING.get(prim.name, "").split()), prim.name


REFUSED = {
    "jv": (0.5, 2.0), "kv": (0.5, 2.0), "gammainc": (1.5, 2.0), "betainc": (1.5, 2.5, 0.4),
    "hyp2f1": (0.6, 1.3, 1.7, 0.4), "eval_jacobi": (3.0, 0.6, 1.2, 0.4), "stdtr": (4.5, 0.3),
    "chndtr": (2.0, 3.4, 1.1), "pbdv": (1.3, 0.4), "gdtr": (0.5, 1.7, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_unknown_derivatives_are_refused(name):
    f, args = getattr(sc, name), REFUSED[name]
    refused = 0
    for prim in primitives_of(f)[:1]:
        for i, (arg, rule) in enumerate(zip(prim.args, prim.rules)):

            def run(x, i=i):
                out = f(*args[:i], x, *args[i + 1 :])
                return out[0] if isinstance(out, tuple) else out

            if rule is None:
                continue
            if rule.missing is None:
                assert np.isfinite(grad(run)(args[i]))
                continue
            refused += 1
            for derive in (grad(run), lambda x: jvp(run, (x,), (1.0,)), lambda x: linearize(run, x)):
                with pytest.raises(errors.MissingDerivativeError, match=f"{arg}, at .*{__name__}"):
                    derive(args[i])
            assert np.array_equal(grad(lambda x: x * run(stop_gradient(x)))(args[i]), run(args[i]))
            assert np.array_equal(vmap(run)(np.array([args[i]] * 2)), [run(args[i])] * 2)
    assert refused


def test_three_arguments_of_different_levels():
    """An inner transform's value may come after an outer one's."""
    for f in (
        lambda x, y: sc.elliprf(1.0, x, y),
        lambda x, y: sc.voigt_profile(0.3, x, y),
        lambda x, y: sc.elliprj(1.0, 2.0, x, y),
    ):
        x, y, h = 2.0, 3.0, 1e-5
        mixed = (f(x + h, y + h) - f(x - h, y + h) - f(x + h, y - h) + f(x - h, y - h)) / (4 * h * h)
        assert np.isclose(grad(lambda x: grad(lambda y: f(x, y))(y))(x), mixed, rtol=1e-4)
        assert np.isclose(grad(lambda y: grad(lambda x: f(x, y))(x))(y), mixed, rtol=1e-4)


# ---- the namespace -------------------------------------------------------------------------------


def test_every_ufunc_is_known():
    assert not [name for name in PUBLIC if getattr(sc, name) not in IMPLEMENTATIONS]


def test_the_namespace_is_scipys():
    assert set(fsc.__all__) == set(sc.__all__)
    for name in PUBLIC:
        assert getattr(fsc, name) is getattr(sc, name)


def test_functions_in_python_are_differentiable_or_refused():
    """Called with traced numbers, none of them returns a value without derivative."""
    silent, x = [], np.array([0.4, 0.7])
    for name in sc.__all__:
        f = getattr(fsc, name)
        if isinstance(f, (type, np.ufunc)) or not callable(f) or name in ("geterr", "seterr", "sinc"):
            continue
        for count in (1, 2, 3, 4):

            def run(x, count=count, f=f):
                return f(*[x] * count)

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    out = jvp(run, (x,), (np.array([1.0, 2.0]),))[1]
                except (TypeError, ValueError):  # FuncgradErrors about functions and arguments are TypeErrors
                    continue
            if not np.any(out):
                silent.append(name)
    assert not silent


def test_errors_name_scipys_functions():
    for run, pattern in (
        (lambda x: fsc.ellip_harm(5, 8, 2, 1, x), r"^scipy\.special\.ellip_harm is not supported"),
        (lambda x: fsc.comb(x, 2, exact=True), r"^scipy\.special\.comb does not support exact=True"),
        (lambda x: sc.erf(x, where=x > 0), r"^scipy\.special\.erf does not support where="),
        (lambda x: sc.jv.reduce(x), r"^scipy\.special\.jv\.reduce is not supported"),
        (lambda x: fsc.legendre_p(2, x, diff_n=1), r"legendre_p does not support diff_n=1"),
    ):
        with pytest.raises(errors.FuncgradError, match=pattern):
            grad(lambda x: np.sum(run(x)))(np.array([0.3]))


def test_ufuncs_take_keywords_lists_and_pairs():
    x = np.array([0.3, 0.8])
    assert np.allclose(
        grad(lambda x: np.sum(sc.erf(x, dtype=np.float64)))(x), 2 / np.sqrt(np.pi) * np.exp(-x * x)
    )
    assert np.shape(jvp(lambda x: sc.jv.outer([0, 1, 2], x), (x,), (x,))[1]) == (3, 2)
    assert np.shape(jvp(lambda x: sc.betainc([1.0, 2.0], 2.0, x), (x,), (x,))[1]) == (2,)
    assert np.allclose(
        vmap(lambda n, x: sc.eval_legendre(n, x))(np.array([2, 3]), x), sc.eval_legendre([2, 3], x)
    )
    assert np.allclose(
        vmap(grad(lambda x, n: fsc.spherical_jn(n, x)), (0, 0))(x, np.array([1, 2])),
        sc.spherical_jn(np.array([1, 2]), x, derivative=True),
    )


def test_scipy_is_loaded_by_nobody_but_the_user():
    code = """
import sys, threading
import funcgrad
assert not any(name.split(".")[0] == "scipy" for name in sys.modules)
import numpy as np, scipy.special as sc
assert "funcgrad.scipy.special" not in sys.modules
start, found = threading.Barrier(8), []
def run(i):
    start.wait()
    f = (sc.erf, sc.gammaln, sc.expit, lambda x: sc.jv(1, x))[i % 4]
    found.append((i % 4, float(funcgrad.grad(f)(0.5))))
threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
expected = {0: 0.8787825789354448, 1: sc.psi(0.5), 2: sc.expit(0.5) * sc.expit(-0.5), 3: sc.jvp(1, 0.5)}
assert len(found) == 8 and all(abs(v - expected[i]) < 1e-14 for i, v in found), found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_scipys_faults_are_not_ours():
    """Where SciPy's value is off, the derivative is the true function's."""
    slope = jvp(lambda x: sc.itairy(x)[0], (3.1,), (1.0,))[1]
    assert slope == sc.airy(3.1)[0]
    slope = jvp(lambda x: sc.modfresnelp(x)[0], (-0.7,), (1.0,))[1]
    assert np.isclose(slope, -np.exp(0.49j))


@pytest.mark.parametrize(
    "f",
    [
        lambda n, x: fsc.eval_jacobi(n, 3 * n, n, x),
        lambda n, x: fsc.eval_gegenbauer(2, n, x),
        lambda n, x: fsc.agm(n, x),
        lambda n, x: fsc.jv(n - n, x),
        lambda n, x: fsc.spherical_jn(n - n, x, derivative=True),
        lambda n, x: fsc.hyp1f1(n, n, x),
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64])
def test_orders_may_be_stored_in_small_integers(f, dtype):
    x, n = np.array([0.3, 0.8]), np.array([85, 2])
    wanted = jvp(lambda x: f(n, x), (x,), (x,))[1]
    np.testing.assert_allclose(jvp(lambda x: f(n.astype(dtype), x), (x,), (x,))[1], wanted, rtol=1e-10)
