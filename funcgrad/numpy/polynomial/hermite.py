"""As `numpy.polynomial.hermite`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("hermite", __name__))
