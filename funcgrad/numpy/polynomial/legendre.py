"""As `numpy.polynomial.legendre`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("legendre", __name__))
