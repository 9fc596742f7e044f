"""`funcgrad.numpy`: NumPy's namespace, name for name, and on plain arrays NumPy itself."""

import inspect

import numpy as np
import pytest

import funcgrad.numpy as fnp
from funcgrad import errors, grad, jvp, vmap
from funcgrad._primitives.kinds import IMPLEMENTATIONS

X = np.array([1.0, 2.0])
SPACES = (np, np.linalg, np.fft, np.emath, np.lib.stride_tricks)

#: Functions of dates, which carry no derivative.
DATES = {"busday_count", "busday_offset", "datetime_as_string", "is_busday", "isnat"}


def dispatching(space):
    """The public functions that ask their arguments' classes what to do."""
    for name in dir(space):
        value = getattr(space, name)
        if not name.startswith("_") and type(value).__name__ in ("_ArrayFunctionDispatcher", "ufunc"):
            yield name, value


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_every_function_that_a_protocol_reaches_is_there(space):
    missing = {name for name, value in dispatching(space) if value not in IMPLEMENTATIONS}
    assert missing <= DATES


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_their_arguments_are_numpys(space):
    for name, value in dispatching(space):
        implementation = IMPLEMENTATIONS.get(value)
        if isinstance(value, np.ufunc) or not inspect.isfunction(implementation):
            continue
        wanted, found = (inspect.signature(f).parameters.values() for f in (value, implementation))
        if {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} <= {p.kind for p in found}:
            continue  # whatever NumPy's takes
        named = [
            [p.name for p in ps if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)] for ps in (wanted, found)
        ]
        assert any(p.kind is p.VAR_KEYWORD for p in found) or set(named[0]) <= set(named[1]), name
        by_place = [
            [p.name for p in ps if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            for ps in (wanted, found)
        ]
        assert by_place[0] == by_place[1], name


@pytest.mark.parametrize("name", sorted({*np.__all__, *dir(np.linalg), *dir(np.fft)}))
def test_every_name_is_there(name):
    for ours, theirs in ((fnp, np), (fnp.linalg, np.linalg), (fnp.fft, np.fft)):
        if hasattr(theirs, name):
            assert hasattr(ours, name)


@pytest.mark.parametrize("name", ["polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre"])
def test_every_name_of_the_bases_is_there(name):
    ours, theirs = getattr(fnp.polynomial, name), getattr(np.polynomial, name)
    assert set(theirs.__all__) == set(ours.__all__) and all(hasattr(ours, n) for n in theirs.__all__)


PLAIN = {
    "array": lambda m: m.array([[1, 2], [3, 4.5]], np.float32, ndmin=3),
    "array of many": lambda m: m.array(list(range(1000))),
    "array of text": lambda m: m.array(["a", "b"]),
    "asarray": lambda m: m.asarray(X) is X,
    "asanyarray": lambda m: m.asanyarray(np.ma.array(X)),
    "arange": lambda m: m.arange(1, 7, 2, dtype=float),
    "full": lambda m: m.full((2, 2), [1, 2]),
    "c_": lambda m: m.c_[X, X],
    "r_": lambda m: m.r_["0,2", 1:3, [5, 6]],
    "mgrid": lambda m: m.mgrid[:2, 0:1:3j],
    "ogrid": lambda m: m.ogrid[:2, 0:1:3j],
    "vectorize": lambda m: m.vectorize(lambda a, b: a + b, otypes="i")([1, 2], 3),
    "fromiter": lambda m: m.fromiter(range(4), float, 3),
    "require": lambda m: m.require(X, requirements="F").flags.f_contiguous,
    "polynomial": lambda m: m.polynomial.Polynomial([1, 2, 3])(0.5),
    "chebyshev": lambda m: m.polynomial.chebyshev.chebfit(np.arange(5.0), np.arange(5.0) ** 2, 2),
    "emath": lambda m: m.emath.sqrt(-1.0),
    "random": lambda m: m.random.default_rng(0).normal(),
    "pad": lambda m: m.pad(X, 1),
    "interp": lambda m: m.interp(1.5, X, X),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_arrays_go_to_numpy(name):
    found, expected = PLAIN[name](fnp), PLAIN[name](np)
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, expected)]):
        assert type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
        np.testing.assert_array_equal(a, b)


def test_long_lists_are_arrays_of_traced_values_too():
    many = [float(k) for k in range(300)]
    assert grad(lambda x: np.sum(fnp.array([*many, x, 2.0 * x])))(1.0) == 3.0
    with pytest.raises(ValueError):
        fnp.array([*many, [1.0]])


# ---- the array API standard ----------------------------------------------------------------


def standardise(x):
    """A function for any library of arrays that keeps to the standard."""
    xp = x.__array_namespace__()
    mean = xp.mean(x, axis=-1, keepdims=True)
    return (x - mean) / xp.std(x, axis=-1, keepdims=True)


def whiten(x):
    xp = x.__array_namespace__(api_version="2024.12")
    d = x - xp.mean(x, axis=0)
    factor = xp.linalg.cholesky(xp.matmul(xp.matrix_transpose(d), d) + xp.eye(d.shape[1], dtype=d.dtype))
    return xp.linalg.solve(factor, xp.matrix_transpose(d))


def pack(x):
    xp = x.__array_namespace__()
    parts = [xp.asarray([x[0, 0], 1.0]), xp.astype(x[0], xp.float64), xp.full((2,), x[0, 1])]
    return xp.concat([xp.reshape(part, (-1,)) for part in parts])


@pytest.mark.parametrize("f", [standardise, whiten, pack])
def test_generic_functions(f):
    x = np.array([[0.3, 1.2, -0.4], [0.8, -1.1, 0.5], [1.4, 0.2, 0.9]])
    plain = f(x) if f is not pack else np.array([0.3, 1.0, *x[0], 1.2, 1.2])
    t = np.ones_like(x) * [1.0, -2.0, 0.5]
    value, tangent = jvp(f, (x,), (t,))
    np.testing.assert_allclose(value, plain, rtol=1e-13)
    if f is not pack:
        e = 1e-6
        np.testing.assert_allclose(tangent, (f(x + e * t) - f(x - e * t)) / (2 * e), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(vmap(f)(x[None]), plain[None], rtol=1e-13)


def test_the_namespace_of_a_traced_value_is_this_one():
    assert grad(lambda x: x * (x.__array_namespace__() is fnp))(1.0) == 1.0
    with pytest.raises(ValueError, match="1999"):
        grad(lambda x: x.__array_namespace__(api_version="1999"))(1.0)


# ---- vectorize -----------------------------------------------------------------------------


def test_vectorize_is_a_decorator_with_a_name_and_words():
    @fnp.vectorize(otypes=[float], excluded={1, "scale"})
    def value(x, p, scale=1.0):
        """The value of a polynomial."""
        return np.polyval(p, x) * scale

    assert value.__name__ == "value" and value.__doc__ == "The value of a polynomial."
    assert grad(lambda s: np.sum(value(X, fnp.array([s, 1.0]), scale=s)))(2.0) == 4.0 * 3.0 + 2.0
    assert fnp.vectorize(abs, doc="Sizes.").__doc__ == "Sizes."


def test_vectorize_refuses():
    with pytest.raises(errors.UnsupportedArgumentError, match=r"otypes=\[float\]"):
        grad(lambda x: np.sum(fnp.vectorize(lambda a: 0 if a < 1.5 else a)(x)))(X)
    with pytest.raises(ValueError, match="otypes"):
        grad(lambda x: np.sum(fnp.vectorize(lambda a: a)(x[:0])))(X)
    with pytest.raises(ValueError, match="core dim"):
        grad(lambda x: np.sum(fnp.vectorize(np.dot, signature="(n),(n)->()")(x, np.ones(3))))(X)
    with pytest.raises(ValueError, match="outputs"):
        grad(lambda x: np.sum(fnp.vectorize(lambda a: a, signature="(n)->(n),()")(x)))(X)
    with pytest.raises(TypeError, match="positional"):
        grad(lambda x: np.sum(fnp.vectorize(np.dot, signature="(n),(n)->()")(x)))(X)
    with pytest.raises(errors.UnsupportedFunctionError, match="funcgrad.numpy.vectorize"):
        grad(lambda x: np.frompyfunc(lambda a: a, 1, 1)(x))(X)
    assert fnp.vectorize(lambda a: a, otypes="d")(np.zeros((0, 2))).shape == (0, 2)
    assert jvp(lambda x: fnp.vectorize(lambda a: a, otypes="d")(x[:0]), (X,), (X,))[0].shape == (0,)
