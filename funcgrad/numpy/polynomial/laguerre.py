"""As `numpy.polynomial.laguerre`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("laguerre", __name__))
