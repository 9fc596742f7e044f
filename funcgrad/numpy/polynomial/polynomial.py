"""As `numpy.polynomial.polynomial`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("polynomial", __name__))
