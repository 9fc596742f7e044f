"""Fourier transforms: known gradients, NumPy's errors and arguments."""

import numpy as np
import pytest

from funcgrad import ShapeDtypeStruct, errors, grad, jvp, make_jaxpr

X = np.array([1.0, -2.0, 0.5, 3.0, 0.25])


def test_parseval():
    """The energy is the same on both sides, and so is its gradient."""
    found = grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2) / len(x))(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, 2 * X, rtol=1e-13)
    weights = np.array([1, 2, 2])  # each but the first stands for two
    found = grad(lambda x: np.sum(weights * np.abs(np.fft.rfft(x, norm="ortho")) ** 2))(X)
    np.testing.assert_allclose(found, 2 * X, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_round_trip_is_the_identity(n):
    f = lambda x: np.sum(X * np.fft.irfft(np.fft.rfft(x, n), n)[: len(X)])  # noqa: E731
    expected = np.where(np.arange(5) < n, X, 0)
    if n >= len(X):
        np.testing.assert_allclose(grad(f)(X), expected, atol=1e-13)
    f = lambda x: np.fft.ifft(np.fft.fft(x, n)).real  # noqa: E731
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], np.resize(expected, n) * (np.arange(n) < 5), atol=1e-13)


def test_imaginary_parts_that_are_not_read_get_no_gradient():
    spectrum = np.array([1 + 1j, 2 - 1j, 3 + 2j, 4 + 1j])
    g = grad(lambda z: np.sum(np.fft.irfft(z) ** 2))(spectrum)
    assert g[0].imag == 0 and g[-1].imag == 0 and abs(g[1].imag) > 0.1


def test_float32_stays():
    x = X.astype("f4")
    assert grad(lambda x: np.sum(np.abs(np.fft.rfft(x))))(x).dtype == np.float32
    assert grad(lambda x: np.sum(np.fft.hfft(x)))(x).dtype == np.float32
    assert make_jaxpr(np.fft.fft)(ShapeDtypeStruct(5, np.float32)).out_avals[0].dtype == np.complex64


def test_constants_pass():
    f = lambda x: np.sum(np.abs(np.fft.fft(x)) * np.fft.fftfreq(5))  # noqa: E731
    assert np.all(np.isfinite(grad(f)(X)))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "irfftn"])
def test_out_is_refused(name):
    with pytest.raises(errors.InPlaceError, match=f"np.fft.{name}"):
        grad(lambda x: np.sum(np.real(getattr(np.fft, name)(x, out=np.zeros(5)))))(np.eye(5))


@pytest.mark.parametrize(
    "f, error",
    [
        (lambda x: np.fft.fft(x, 0), ValueError),
        (lambda x: np.fft.fft(x, -1), ValueError),
        (lambda x: np.fft.irfft(x[:1]), ValueError),
        (lambda x: np.fft.fft(x, norm="unit"), ValueError),
        (lambda x: np.fft.fft(x, axis=1), IndexError),
        (lambda x: np.fft.fftn(x, s=(2, 2), axes=(0,)), ValueError),
    ],
)
def test_numpys_errors(f, error):
    with pytest.raises(error):
        f(X)
    with pytest.raises(error):
        grad(lambda x: np.sum(np.abs(f(x))))(X)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_an_axis_named_twice_with_two_lengths(name):
    f, x = getattr(np.fft, name), np.arange(12.0).reshape(3, 4) ** 1.5
    for s, axes in (((1, 2), (0, 0)), ((2, 5, 3), (1, 1, 0)), ((3, 2, 4), (0, 0, 1))):
        value, tangent = jvp(lambda x: f(x, s, axes), (x,), (x,))
        np.testing.assert_allclose(value, f(x, s, axes), atol=1e-12)
        np.testing.assert_allclose(tangent, value, atol=1e-12)
