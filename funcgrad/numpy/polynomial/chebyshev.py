"""As `numpy.polynomial.chebyshev`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("chebyshev", __name__))
