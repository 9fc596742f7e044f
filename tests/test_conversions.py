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
