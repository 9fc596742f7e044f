"""`scipy.integrate`, differentiable.

Integrals of samples have derivatives with respect to samples, abscissae and steps; integrals of functions
with respect to limits and to the arguments that are passed by ``args=``, each with SciPy's error control;
solutions of differential equations with respect to initial state, times, arguments, and what is closed over.

>>> import numpy as np
>>> from funcgrad import grad
>>> from funcgrad.scipy import integrate
>>> grad(lambda w: integrate.quad(lambda x, w: np.exp(-w * x), 0.0, np.inf, args=(w,))[0])(2.0).round(6)
np.float64(-0.25)
>>> def end(w):
...     return integrate.solve_ivp(lambda t, y: -w * y, (0.0, 1.0), [1.0], rtol=1e-8, atol=1e-8).y[0, -1]
>>> grad(end)(2.0).round(4)
np.float64(-0.1353)
"""

import scipy.integrate as _scipy_integrate

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.integrate import _initial_values, _quadrature, _samples

_ODE = (
    "Its steps are made by code that no derivative passes. Take solve_ivp, by one of its methods RK45, RK23 "
    "and DOP853, with t_eval; or write the steps in NumPy."
)
_FUNCTION = "Take quad or quad_vec, with traced values as limits or in args=."
_INSTEAD = {
    "odeint": _ODE,
    "solve_bvp": _ODE,
    "nquad": "Take quad, dblquad or tplquad, or quad within quad.",
    "cubature": _FUNCTION,
    "tanhsinh": _FUNCTION,
    "qmc_quad": "Draw the points of plain values, and take the mean of the function there.",
    "nsum": "Write np.sum of as many terms as count.",
    "newton_cotes": "Its orders and points are plain values.",
}
_BY_ARGS = {name: _quadrature.PASS_BY_ARGS for name in ("quad", "quad_vec", "dblquad", "tplquad", "nquad")}
_CALLING = {**_BY_ARGS, "solve_ivp": _ODE, "odeint": _ODE, "solve_bvp": _ODE, "cubature": _FUNCTION,
            "tanhsinh": _FUNCTION, "qmc_quad": _FUNCTION, "nsum": _INSTEAD["nsum"]}  # fmt: skip

_CLASSES = dict.fromkeys(("BDF", "DOP853", "LSODA", "RK23", "RK45", "Radau", "complex_ode", "ode"), _ODE)

globals().update(_mirror(_scipy_integrate, _INSTEAD, _CALLING, _CLASSES))
__all__ = list(_scipy_integrate.__all__)
