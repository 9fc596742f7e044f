"""Every ufunc of NumPy's has a derivative, is of the constant kind, or refuses; and values at the kinks."""

import itertools

import numpy as np
import pytest

from funcgrad import errors, grad, jacfwd, jvp, make_jaxpr, vjp, vmap
from funcgrad._core.primitive import Primitive
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.testing import check_grads

UFUNCS = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc)}

#: Ufuncs that numbers with derivatives never reach, and why.
REFUSED = {"isnat": "for dates only"}


def test_every_ufunc_is_known():
    missing = {name for name, f in UFUNCS.items() if f not in IMPLEMENTATIONS and name not in REFUSED}
    assert not missing


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_value_is_numpys(name):
    """On traced values a ufunc gives NumPy's value and dtype, or NumPy's or a named error."""
    f = UFUNCS[name]
    points = [np.array([0.3, 0.7]), np.array([0.6, 0.2]), np.array([0.1, 0.5])][: f.nin]
    if f.signature is not None:
        points = [np.array([[0.3, 0.7], [0.1, 0.2]])] * 2 if name != "vecdot" else points
        if name in ("matvec", "vecmat"):
            points[name == "matvec"] = np.array([0.6, 0.2])
    if name in ("acosh", "arccosh"):
        points = [1 + p for p in points]
    try:
        expected = f(*points)
    except TypeError:
        with pytest.raises((TypeError, errors.FuncgradError)):
            jvp(f, tuple(points), tuple(points))
        return
    found, _ = jvp(f, tuple(points), tuple(points))
    for e, v in zip(
        expected if isinstance(expected, tuple) else (expected,),
        found if isinstance(found, tuple) else (found,),
    ):
        np.testing.assert_array_equal(v, e)
        assert v.dtype == e.dtype


INF, NAN = np.inf, np.nan

KINKS = [
    (np.abs, (0.0,), (0.0,)),
    (np.fabs, (0.0,), (0.0,)),
    (np.sign, (0.0,), (0.0,)),
    (np.sqrt, (0.0,), (INF,)),
    (np.sqrt, (1.0,), (0.5,)),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (np.hypot, (3e-200, 4e-200), (0.6, 0.8)),
    (np.hypot, (3e200, 4e200), (0.6, 0.8)),
    (np.maximum, (1.0, 1.0), (0.5, 0.5)),
    (np.minimum, (1.0, 1.0), (0.5, 0.5)),
    (np.fmax, (1.0, 1.0), (0.5, 0.5)),
    (np.fmin, (1.0, 1.0), (0.5, 0.5)),
    (np.fmax, (NAN, 1.0), (0.0, 1.0)),
    (np.fmin, (1.0, NAN), (1.0, 0.0)),
    (np.power, (0.0, 0.0), (0.0, -INF)),
    (np.power, (0.0, 2.0), (0.0, 0.0)),
    (np.power, (0.0, 1.0), (1.0, 0.0)),
    (np.power, (0.0, 0.5), (INF, 0.0)),
    (lambda a: a**0, (0.0,), (0.0,)),
    (lambda a: a**0.0, (0.0,), (0.0,)),
    (lambda a: a**2, (0.0,), (0.0,)),
    (lambda a: a**3, (-2.0,), (12.0,)),
    (lambda a: a**-1, (-2.0,), (-0.25,)),
    (lambda a: np.power(a, np.array(3.0)), (-2.0,), (12.0,)),
    (np.logaddexp, (-INF, 1.0), (0.0, 1.0)),
    (np.logaddexp, (1.0, -INF), (1.0, 0.0)),
    (np.logaddexp, (1.0, 1.0), (0.5, 0.5)),
    (np.logaddexp, (-INF, -INF), (0.5, 0.5)),
    (np.logaddexp, (1e3, -1e3), (1.0, 0.0)),
    (np.logaddexp2, (-INF, 1.0), (0.0, 1.0)),
    (np.power, (INF, 0.0), (0.0, INF)),
    (lambda b: np.fmod(0.9, b), (0.1,), (-8.0,)),
    (lambda b: np.remainder(0.9, b), (0.1,), (-8.0,)),
    (lambda a: np.modf(a)[0], (INF,), (1.0,)),
    (np.arcsinh, (1e200,), (1e-200,)),
    (np.sinc, (0.0,), (0.0,)),
    (np.i0, (0.0,), (0.0,)),
    (np.tanh, (1e3,), (0.0,)),
    (np.log1p, (0.0,), (1.0,)),
    (np.expm1, (0.0,), (1.0,)),
    (np.arctan2, (0.0, 1.0), (1.0, 0.0)),
    (np.arctan2, (3e-200, 4e-200), (0.16e200, -0.12e200)),
    (lambda a: np.clip(a, 0.0, 1.0), (0.0,), (0.5,)),
    (lambda a: np.clip(a, 0.0, 1.0), (1.0,), (0.5,)),
    (lambda a: np.clip(a, 0.0, 1.0), (2.0,), (0.0,)),
    (lambda a: np.where(a > 0, np.sqrt(a), 0.0), (0.0,), (0.0,)),
    (lambda a: np.where(a > 0, np.log(a), 0.0), (0.0,), (0.0,)),
    (lambda a: np.where(a < 1, np.arccos(a), 0.0), (1.0,), (0.0,)),
    (lambda a: np.where(a > 0, 1 / a, 0.0), (0.0,), (0.0,)),
    (lambda a: np.maximum(np.sqrt(a), 1.0), (0.0,), (0.0,)),
    (lambda a: np.where(a > 0, 3 * np.sqrt(a) * 2 + a, 0.0), (0.0,), (0.0,)),
]


@pytest.mark.parametrize(
    "f, at, slopes",
    KINKS,
    ids=[f"{getattr(f, '__name__', 'f')}-{at}-{i}" for i, (f, at, _) in enumerate(KINKS)],
)
def test_kinks(f, at, slopes):
    """The table of docs/semantics.md, in reverse and in forward mode."""
    with np.errstate(all="ignore"):
        found = grad(f, tuple(range(len(at))), unused="zero")(*at)
        forward = [
            jvp(lambda t, i=i: f(*at[:i], t, *at[i + 1 :]), (at[i],), (1.0,))[1] for i in range(len(at))
        ]
    np.testing.assert_allclose(found, slopes, rtol=1e-14)
    np.testing.assert_allclose(forward, slopes, rtol=1e-14)


def test_a_true_singularity_stays_visible():
    with np.errstate(all="ignore"):
        assert np.isnan(grad(lambda x: np.sqrt(x) ** 2)(0.0))


def test_no_warning_of_infinities():
    """Nor where the difference of two infinities is none."""
    x = np.array([-INF, INF, 0.0])
    for f in (np.logaddexp, np.logaddexp2):
        _, pull = vjp(f, x, x.copy())
        np.testing.assert_allclose(pull(np.ones(3)), np.full((2, 3), 0.5))


def test_no_warning_far_out():
    """Exact, and without overflow: the suite turns warnings into errors."""
    for f in (np.tanh, lambda x: np.logaddexp(x, 0.0), lambda x: 1 / (1 + np.exp(-x)), np.arctan):
        assert grad(f)(600.0) <= 1.0


def test_second_derivatives_at_ties_and_zeros():
    second = lambda f: grad(grad(f))  # noqa: E731
    assert second(lambda x: np.logaddexp(x, 0.0))(0.0) == 0.25
    np.testing.assert_allclose(second(np.sinc)(0.0), -(np.pi**2) / 3)
    np.testing.assert_allclose(grad(second(second(np.sinc)))(0.0), 0.0, atol=1e-12)
    np.testing.assert_allclose(second(second(np.sinc))(0.0), np.pi**4 / 5)
    assert second(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0.0
    assert second(lambda x: np.hypot(x, 0.0))(0.0) == 0.0
    assert second(lambda x: np.abs(x * (1 + 1j)))(0.0) == 0.0
    assert second(np.i0)(0.0) == 0.5
    assert second(lambda x: x**2)(0.0) == 2.0
    assert second(lambda x: np.power(x, np.array(2.0)))(0.0) == 2.0


NUMBERS = {
    "f4 array": np.array([1.5, 2.5], np.float32),
    "f8 array": np.array([1.5, 2.5]),
    "c8 array": np.array([1.5 + 1j, 2.5], np.complex64),
    "f2 array": np.array([1.5, 2.5], np.float16),
    "i8 array": np.array([1, 2]),
    "f4 scalar": np.float32(1.5),
    "f8 scalar": np.float64(1.5),
    "float": 1.5,
    "int": 2,
    "complex": 1.5 + 1j,
    "bool": True,
}
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "maximum": np.maximum,
    "where": lambda a, b: np.where(np.array([True, False]), a, b),
}


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("left, right", list(itertools.product(NUMBERS, NUMBERS)))
def test_promotion_is_numpys(symbol, left, right):
    """Values and dtypes of operators on traced values are those of plain NumPy (NEP 50)."""
    f, a, b = OPERATORS[symbol], NUMBERS[left], NUMBERS[right]
    try:
        expected = f(a, b)
    except TypeError:
        return
    for first, second in ((True, False), (False, True), (True, True)):
        traced = [x for x, t in ((a, first), (b, second)) if t and np.asarray(x).dtype.kind in "fc"]
        if not traced:
            continue

        def run(*xs, first=first, second=second):
            xs = list(xs)
            left = xs.pop(0) if first and np.asarray(a).dtype.kind in "fc" else a
            right = xs.pop(0) if second and np.asarray(b).dtype.kind in "fc" else b
            return f(left, right)

        found, tangent = jvp(run, tuple(traced), tuple(np.asarray(x)[()] * 0 + 1 for x in traced))
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        if found.dtype.kind in "fc":
            assert tangent.dtype == found.dtype


def test_keyword_arguments():
    x = np.array([0.5, 1.5])
    assert grad(lambda x: np.sum(np.sin(x, dtype=np.float64)))(x.astype(np.float32)).dtype == np.float32
    with pytest.raises(errors.InPlaceError, match="out="):
        grad(lambda x: np.sum(np.sin(x, out=np.zeros(2))))(x)
    with pytest.raises(errors.UnsupportedArgumentError, match="np.where"):
        grad(lambda x: np.sum(np.sin(x, where=x > 1)))(x)
    with pytest.raises(errors.InPlaceError, match="zeros_like"):
        grad(lambda x: np.add.at(np.zeros(2), 0, x[0]))(x)
    with pytest.raises(errors.InPlaceError, match="twice"):
        grad(lambda x: np.multiply.at(x, [0, 0], 1.0))(x)
    with pytest.raises(ValueError, match="binary"):  # NumPy's
        grad(lambda x: np.sin.reduce(x))(x)
    with pytest.raises(errors.InPlaceError, match="out="):
        grad(lambda x: np.subtract.reduce(x, out=np.zeros(())))(x)
    with pytest.raises(errors.UnsupportedFunctionError, match=r"^abs \(vectorized\) .*(?s:.*)vectorize\(f\)"):
        grad(lambda x: np.frompyfunc(abs, 1, 1)(x))(x)
    np.testing.assert_allclose(grad(lambda x: np.sum(np.add.outer(x, x)))(x), [4.0, 4.0])


def test_clip_takes_what_numpy_takes():
    x = np.array([-0.5, 0.5, 1.5])
    for f in (
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.clip(x, min=0.0, max=1.0),
        lambda x: x.clip(0.0, 1.0),
        lambda x: x.clip(max=1.0, min=[0.0, 0.0, 0.0]),
        lambda x: x.clip(0.0).clip(max=1.0),
    ):
        np.testing.assert_array_equal(grad(lambda x, f=f: np.sum(f(x)))(x), [0.0, 1.0, 0.0])
    for arguments, options in (((0.0, 1.0), {"min": 0.5}), ((0.0,), {}), ((0.0, 1.0), {"bogus": 1})):
        with pytest.raises((TypeError, ValueError)):
            np.clip(x, *arguments, **options)
        with pytest.raises((TypeError, ValueError)):
            grad(lambda x, a=arguments, o=options: np.sum(np.clip(x, *a, **o)))(x)
    with pytest.raises(errors.UnsupportedArgumentError, match="np.where"):
        grad(lambda x: np.sum(np.clip(x, 0.0, 1.0, where=x > 0)))(x)


PIECES = {
    "functions and a number": lambda x: np.piecewise(x, [x < 0, x > 1], [np.square, np.sin, 5.0]),
    "otherwise": lambda x: np.piecewise(x, [x < 0], [np.square, lambda v: v]),
    "one condition": lambda x: np.piecewise(x[0], x[0] < 0, [np.square, -1]),
    "list": lambda x: np.piecewise(x[0], [[True, False, True]], [lambda v, k: v**k], 3),
    "0-d": lambda x: np.piecewise(x[0, 1], [x[0, 1] < 0, x[0, 1] > 5], [np.square, np.sin, np.exp]),
}


@pytest.mark.parametrize("name", PIECES)
def test_piecewise(name):
    f, x = PIECES[name], np.array([[-1.0, 0.5, 2.0], [3.0, -2.0, 0.1]])
    out, pull = vjp(f, x)
    np.testing.assert_array_equal(out, f(x))
    assert np.shape(out) == np.shape(f(x))
    check_grads(f, (x,), order=2)


def test_powers_of_integers_are_numpys():
    """A batch may be one of integers, of which 2.0 makes floating-point numbers and 2 does not."""
    x = np.array([1, 2, 3])
    for y in (2, 2.0, 0.5, -1.0, np.int64(3), np.float64(2.0)):
        found = vmap(lambda x, y=y: x**y)(x)
        np.testing.assert_array_equal(found, x**y)
        assert found.dtype == (x**y).dtype


def test_lists_are_arrays():
    x = np.array([0.5, 1.5])
    found = vmap(lambda x: (x < [1.0, 1.0], [1.0, 2.0] * x, x ** [1, 2]))(x[None])
    for a, b in zip(found, ([[True, False]], [[0.5, 3.0]], [[0.5, 2.25]])):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(
        grad(lambda x: np.sum(np.multiply(x, [1.0, 2.0]) + [3.0, 4.0] * x))(x), [4.0, 6.0]
    )


def test_primitives_are_named_after_numpy():
    program = make_jaxpr(lambda a, b: a / b + a**b)(1.0, 2.0)
    assert [e.primitive.name for e in program.eqns] == ["divide", "power", "add"]
    assert all(isinstance(e.primitive, Primitive) for e in program.eqns)


def test_constants_under_vmap():
    out = vmap(lambda x: np.where(x > 0, np.floor(x), np.sign(x)))(np.array([1.5, -2.0]))
    np.testing.assert_array_equal(out, [1.0, -1.0])


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("along", [1, 1j])
@pytest.mark.parametrize("part", [2.5, -2.5, 0.5, -0.5])
@pytest.mark.parametrize(
    "f", [np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.log, np.log1p, np.sqrt]
)
def test_complex_branches(f, part, along, zero):
    """On a branch cut the sign of a zero decides the side, for derivatives as for values."""

    def at(t):
        return np.complex128(complex(t, zero) if along == 1 else complex(zero, t))

    with np.errstate(all="ignore"):
        slope = (f(at(part + 1e-6)) - f(at(part - 1e-6))) / (2e-6 * along)
        np.testing.assert_allclose(grad(f, holomorphic=True)(at(part)), slope, rtol=1e-6, atol=1e-8)
        curvature = grad(grad(f, holomorphic=True), holomorphic=True)
        d = grad(f, holomorphic=True)
        slope = (d(at(part + 1e-6)) - d(at(part - 1e-6))) / (2e-6 * along)
        np.testing.assert_allclose(curvature(at(part)), slope, rtol=1e-6, atol=1e-7)


def test_piecewise_in_a_batch():
    """Each function gets all entries there; one that mixes them is found out."""
    x = np.array([[-1.0, 0.5, 2.0], [3.0, -0.2, 0.1]])

    def f(x):
        return np.piecewise(x, [x < 0, x > 1], [np.square, np.sqrt, 0.25])

    np.testing.assert_array_equal(vmap(f)(x), [f(row) for row in x])
    np.testing.assert_array_equal(vmap(jacfwd(f))(x), [jacfwd(f)(row) for row in x])
    with pytest.raises(errors.UnsupportedArgumentError, match="entry by entry"):
        vmap(lambda x: np.piecewise(x, [x > 0], [lambda v: v - np.mean(v)]))(x)


def test_tolerances_may_be_traced():
    assert grad(lambda r: r * np.isclose(np.ones(2), 1.01, rtol=r).sum())(0.1) == 2.0
    close = vmap(lambda r: np.isclose(1.0, 1.01, rtol=r))(np.array([0.1, 0.001]))
    assert close.tolist() == [True, False]


def test_casting_is_numpys():
    x = np.ones(2, np.float32)
    for casting in ("no", "equiv"):
        with pytest.raises(TypeError, match="Cannot cast"):
            grad(lambda x: np.sum(np.add(x, np.ones(2), casting=casting)))(x)
    assert grad(lambda x: np.sum(np.add(x, np.ones(2), casting="safe")))(x).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_exponents_may_be_small_integers(dtype):
    least = np.iinfo(dtype).min if dtype == np.int8 else 0
    x, y = np.array([1.5, 2.0, 1e10]), np.array([least, 3, 0], dtype)
    slope = jvp(lambda x: np.power(x, y), (x,), (np.ones(3),))[1]
    np.testing.assert_allclose(slope, y * x ** (y.astype(float) - 1), rtol=1e-14)
