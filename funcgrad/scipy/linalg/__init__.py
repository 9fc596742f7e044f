"""`scipy.linalg`, differentiable.

Matrices may be stacked where SciPy's functions take stacks; `overwrite_a` and its like are permissions that
nothing here makes use of. A solver that is told of a symmetric or triangular matrix reads one triangle of it,
and only that one has a derivative.

>>> import numpy as np
>>> from funcgrad import grad
>>> from funcgrad.scipy import linalg
>>> grad(lambda t: np.sum(linalg.expm(t * np.array([[0.0, 1.0], [-1.0, 0.0]]))))(0.0)
np.float64(0.0)
>>> p, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
>>> grad(lambda b: b @ linalg.cho_solve(linalg.cho_factor(p), b))(b).round(4)
array([0.1818, 1.2727])
"""

import scipy.linalg as _scipy_linalg

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.linalg import _builders, _equations, _factorizations, _functions, _spectra, _systems

_FUNCTION = "Write a function of a matrix as expm, logm, sqrtm, or through eigh: (u * f(w)) @ u.conj().T."
_TRIANGULAR_FORM = (
    "Triangular forms are not unique where eigenvalues are equal. Take eig or eigh, or what you need it for: "
    "expm, sqrtm, solve_sylvester."
)
_INSTEAD = {
    "subspace_angles": "Write np.arccos(svdvals(qa.conj().T @ qb)) of qa = qr(a, mode='economic')[0] and qb.",
    "funm": _FUNCTION,
    "schur": _TRIANGULAR_FORM,
    "hessenberg": _TRIANGULAR_FORM,
    "rsf2csf": _TRIANGULAR_FORM,
    "qz": _TRIANGULAR_FORM,
    "ordqz": _TRIANGULAR_FORM,
    "cossin": "Take the singular values of the blocks.",
    "ldl": "Take cholesky of a positive definite matrix, or solve(a, b, assume_a='sym').",
    "expm_cond": "Write norm of the derivatives that expm_frechet gives.",
    "matrix_balance": "Balance stop_gradient(a), and apply the scaling to a.",
    "qr_delete": "Take qr of the changed matrix.",
    "qr_insert": "Take qr of the changed matrix.",
    "qr_update": "Take qr of the changed matrix.",
    "fiedler_companion": "Take companion(a), which has the same eigenvalues.",
    "clarkson_woodruff_transform": "Draw the sketch s of a plain matrix, and write s @ a.",
}

globals().update(_mirror(_scipy_linalg, _INSTEAD))
__all__ = list(_scipy_linalg.__all__)
