"""`scipy.special`, differentiable.

SciPy's ufuncs work on traced values as they are called: `scipy.special.erf(x)`. This namespace is SciPy's,
name for name, and lays its own functions over those that are written in Python, such as `logsumexp`.

An argument of which no derivative in closed form is known, such as the order of a Bessel function, is refused
where it is traced (`funcgrad.errors.MissingDerivativeError`); the other arguments have theirs.
"""

import scipy.special as _scipy_special

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.special import (
    _bessel,
    _distributions,
    _elementary,
    _elliptic,
    _functions,
    _gamma,
    _integrals,
    _normal,
    _polynomials,
    _waves,
)

_INSTEAD = {
    "legendre_p_all": "Write legendre_p for each degree.",
    "assoc_legendre_p_all": "Write assoc_legendre_p for each degree and order.",
    "sph_legendre_p_all": "Write sph_legendre_p for each degree and order.",
    "sph_harm_y_all": "Write sph_harm_y for each degree and order.",
    "riccati_jn": "Write x * spherical_jn(k, x) for each k.",
    "riccati_yn": "Write -x * spherical_yn(k, x) for each k.",
    "pbdv_seq": "Write pbdv for each order.",
    "pbvv_seq": "Write pbvv for each order.",
    "factorial2": "Write 2 ** (n / 2) * gamma(n / 2 + 1) for even n, and for odd n divide by sqrt(pi / 2).",
}

globals().update(_mirror(_scipy_special, _INSTEAD))
__all__ = list(dict.fromkeys(_scipy_special.__all__))
