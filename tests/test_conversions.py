"""Where NumPy asks for a plain array: the error names the function, the line and what to write."""

import numpy as np
import pytest
from expect import here

import funcgrad.numpy as fnp
from funcgrad import errors, grad, jvp

P = np.polynomial
X = np.array([1.0, 2.0])

#: What is called, and what the message tells to write.
CURES = {
    "polynomial.chebyshev.chebval": lambda x: P.chebyshev.chebval(0.5, x),
    "polynomial.polynomial.polyval": lambda x: P.polynomial.polyval(0.5, x),
    "polynomial.legendre.legvander": lambda x: P.legendre.legvander(x, 2),
    "polynomial.Chebyshev": lambda x: P.Chebyshev([1.0, 2.0])(x),
    "polynomial.Polynomial": lambda x: P.Polynomial(x),
    "polynomial.Hermite": lambda x: P.Hermite.fit(x, x, 1),
    "r_": lambda x: np.r_[x, 1.0],
    "c_": lambda x: np.c_[x, x],
    "vectorize": lambda x: np.vectorize(lambda a: a)(x),
    "full": lambda x: np.full(3, x[0]),
    "polyint": lambda x: np.polyint([1.0, 2.0], 1, [x[0]]),
    "pad": lambda x: np.pad([1.0, 2.0], 1, constant_values=x[0]),
    "select": lambda x: np.select([[True]], [[1.0]], x[0]),
    "piecewise": lambda x: np.piecewise(np.ones(2), [[True, False]], [lambda v: v * x[0]]),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * x[0], 0, np.ones((2, 2))),
    "asarray_chkfinite": lambda x: np.asarray_chkfinite(x),
}


@pytest.mark.parametrize("name", CURES)
def test_the_cure_names_the_function_that_works(name):
    with pytest.raises(errors.ConcretizationError) as caught:
        grad(lambda x: np.sum(CURES[name](x)))(X)
    message = str(caught.value)
    assert f"np.asarray(x) in np.{name} on" in message
    assert f"Write funcgrad.numpy.{name}, which takes traced values" in message
    assert f"{__file__}:" in message
    owner = fnp
    for part in name.split("."):
        owner = getattr(owner, part)
    assert owner is not None


@pytest.mark.parametrize(
    "name, f",
    [
        ("full_like", lambda m, x: m.full_like(np.ones(2), x)),
        ("nan_to_num", lambda m, x: m.nan_to_num(np.array([np.nan, 1.0]), nan=x)),
        ("unwrap", lambda m, x: m.unwrap(np.arange(3.0) * 4, period=x)),
        ("interp", lambda m, x: m.interp([-1.0], [0.0, 1.0], [1.0, 2.0], left=x)),
        ("select", lambda m, x: m.select([[True, False]], [[1.0, 2.0]], x)),
        ("piecewise", lambda m, x: m.piecewise(np.ones(2), [[True, False]], [lambda v: v * x, 0.0])),
        ("apply_along_axis", lambda m, x: m.apply_along_axis(lambda row: row * x, 0, np.ones((2, 2)))),
        ("histogram", lambda m, x: m.histogram(np.arange(5.0), bins=[0.0, x, 3.0])[1]),
        ("trapezoid", lambda m, x: m.trapezoid(np.arange(5.0), dx=x)),
        ("clip", lambda m, x: np.arange(3.0).clip(x, 2.0)),
    ],
)
def test_functions_whose_other_arguments_are_traced(name, f):
    """`funcgrad.numpy` takes them; NumPy's own does, too, or names it."""
    value, tangent = jvp(lambda x: f(fnp, x), (0.7,), (1.0,))
    np.testing.assert_allclose(value, f(np, 0.7), rtol=1e-14)
    slope = (np.asarray(f(np, 0.7 + 1e-6)) - np.asarray(f(np, 0.7 - 1e-6))) / 2e-6
    np.testing.assert_allclose(tangent, slope, rtol=1e-7, atol=1e-9)
    try:
        np.testing.assert_array_equal(jvp(lambda x: f(np, x), (0.7,), (1.0,))[1], tangent)
    except errors.FuncgradError as error:
        assert f"Write funcgrad.numpy.{name}, which" in str(error)


def test_other_functions_are_named_too():
    match = r"np.asarray\(x\) in np.kaiser on (?s:.*)funcgrad.numpy.array"
    with pytest.raises(errors.ConcretizationError, match=match):
        grad(lambda x: np.kaiser(3, x[0]))(X)
    with pytest.raises(errors.ConcretizationError) as caught:
        grad(lambda x: np.asarray(x))(X)
    assert str(caught.value).startswith(f"np.asarray(x) on a traced value, at {here(1)}")


@pytest.mark.parametrize(
    "value",
    [
        P.polynomial.polyval, P.chebyshev.chebval, P.legendre.legval, P.hermite.hermval, P.hermite_e.hermeval,
        P.laguerre.lagval, P.polynomial.polyvalfromroots,
    ],
)  # fmt: skip
def test_columns_of_coefficients_are_not_taken_for_others(value):
    """NumPy's functions ask whether x is an ndarray, which a traced one is not."""
    for c in (np.ones((2, 2)), np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(4, 2)):
        with pytest.raises(errors.UnsupportedArgumentError, match=f"Write funcgrad.numpy.*{value.__name__}"):
            jvp(lambda x: value(x, c), (X,), (X,))
        for f, x in (
            (lambda x: value(x, c, tensor=False), X),
            (lambda x: value(x, c), 1.5),
            (lambda x: value(x, c[:, 0]), X if value is not P.polynomial.polyvalfromroots else X[0]),
        ):
            np.testing.assert_array_equal(jvp(f, (x,), (x,))[0], f(x))
    if value is P.polynomial.polyvalfromroots:
        for options in ({}, {"tensor": False}):
            with pytest.raises(errors.UnsupportedArgumentError, match="polyvalfromroots"):
                jvp(lambda x: value(x, c[:2, 0], **options), (X,), (X,))


def test_writing_within_a_function_of_numpys():
    assert grad(lambda a: P.chebyshev.chebinterpolate(lambda x: a * x, 3)[1])(2.0) == 1.0
    assert grad(lambda a: fnp.polynomial.chebyshev.chebinterpolate(lambda x: a * x, 3)[1])(2.0) == 1.0
    with pytest.raises(errors.InPlaceError, match="makes a new array|make a new array") as caught:
        grad(lambda x: np.sum(np.sin(x, out=np.zeros(2))))(X)
    assert f"{__file__}:" in str(caught.value)


def test_what_to_write_in_place_of_a_conversion():
    for read in (float, complex):
        with pytest.raises(errors.ConcretizationError) as caught:
            grad(lambda x: read(x[0]))(X)
        assert f"or write {read.__name__}(stop_gradient(x)) if a constant is meant" in str(caught.value)
