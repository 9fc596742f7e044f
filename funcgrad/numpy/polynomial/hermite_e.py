"""As `numpy.polynomial.hermite_e`, of traced values too."""

from funcgrad.numpy.polynomial._module import namespace

globals().update(namespace("hermite_e", __name__))
