"""NumPy's `polynomial` package, of traced coefficients and traced arguments too.

NumPy's functions ask for plain arrays, and no protocol reaches them. These have their names; on plain arrays
they are NumPy's own.

>>> import numpy as np
>>> from funcgrad import grad
>>> from funcgrad.numpy.polynomial import Polynomial, chebyshev
>>> grad(lambda c: chebyshev.chebval(0.5, c))(np.array([1.0, 2.0, 3.0]))
array([ 1. ,  0.5, -0.5])
>>> grad(lambda x: Polynomial([1.0, 0.0, 2.0])(x))(3.0)
np.float64(12.0)
"""

import numpy as _numpy

from funcgrad.numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)
from funcgrad.numpy.polynomial.chebyshev import Chebyshev
from funcgrad.numpy.polynomial.hermite import Hermite
from funcgrad.numpy.polynomial.hermite_e import HermiteE
from funcgrad.numpy.polynomial.laguerre import Laguerre
from funcgrad.numpy.polynomial.legendre import Legendre
from funcgrad.numpy.polynomial.polynomial import Polynomial

set_default_printstyle = _numpy.polynomial.set_default_printstyle

__all__ = [
    "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "chebyshev", "hermite",
    "hermite_e", "laguerre", "legendre", "polynomial", "polyutils", "set_default_printstyle",
]  # fmt: skip
