"""scipy.fft: SciPy's values, and its errors."""

import numpy as np
import pytest
import scipy.fft

from funcgrad import grad, jvp
from funcgrad.scipy import fft

X = np.arange(12.0).reshape(3, 4) ** 1.5


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("orthogonalize", [None, False, True])
def test_values_are_scipys(name, type, norm, orthogonalize):
    options = {"type": type, "norm": norm, "orthogonalize": orthogonalize}
    for x, more in ((X, {}), (X, {"n": 6}), (X, {"n": 2, "axis": 0}), (X.astype("f4"), {})):
        found = jvp(lambda x: getattr(fft, name)(x, **options, **more), (x,), (x,))[0]
        expected = getattr(scipy.fft, name)(x, **options, **more)
        assert found.dtype == expected.dtype
        assert np.max(np.abs(found - expected)) < 20 * np.finfo(x.dtype).eps * np.max(np.abs(expected))


@pytest.mark.parametrize("name", ["hfft2", "ihfft2", "hfftn", "ihfftn", "dctn", "idstn", "fftn", "irfftn"])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_values_along_several_axes(name, norm):
    for more in ({}, {"s": (4, 3)}, {"s": (4,), "axes": (0,)} if name[-1] == "n" else {}):
        found = jvp(lambda x: getattr(fft, name)(x, norm=norm, **more), (X,), (X,))[0]
        assert np.allclose(found, getattr(scipy.fft, name)(X, norm=norm, **more))


def test_whole_numbers_and_errors():
    assert np.allclose(grad(lambda x: np.sum(fft.dct([1, 2]) * x))(2.0), np.sum(scipy.fft.dct([1, 2])))
    with pytest.raises(ValueError, match="norm"):
        grad(lambda x: fft.dct(x, norm="other")[0])(X[0])
