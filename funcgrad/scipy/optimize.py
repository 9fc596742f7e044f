"""`scipy.optimize`, which refuses traced values by name: its iterations are SciPy's own.

A solution's derivative follows from the equation that it solves, whichever solver found it: `custom_root`,
`custom_fixed_point` and `custom_minimizer` take SciPy's.
"""

import scipy.optimize as _scipy_optimize

from funcgrad.scipy._mirror import mirror as _mirror

_ROOT = "Take funcgrad.custom_root, and this function on plain values as its solver."
_POINT = "Take funcgrad.custom_fixed_point, and this function on plain values as its solver."
_MINIMUM = "Take funcgrad.custom_minimizer, and this function on plain values as its solver."
_RESIDUALS = "The solution is a root of the gradient of the sum of squares: take funcgrad.custom_minimizer."
_PROGRAM = "Its solution jumps, or is a vertex: solve for it by np.linalg.solve in the active constraints."
_SLOPE = "Take funcgrad.grad or jacfwd, which are exact."

_GROUPS = {
    _ROOT: """
        anderson bisect brenth brentq broyden1 broyden2 diagbroyden excitingmixing fsolve linearmixing newton
        newton_krylov ridder root root_scalar toms748""",
    _POINT: "fixed_point",
    _MINIMUM: """
        basinhopping bracket brent brute differential_evolution direct dual_annealing fmin fmin_bfgs fmin_cg
        fmin_cobyla fmin_l_bfgs_b fmin_ncg fmin_powell fmin_slsqp fmin_tnc fminbound golden line_search
        minimize minimize_scalar shgo""",
    _RESIDUALS: "curve_fit isotonic_regression least_squares leastsq lsq_linear nnls",
    _PROGRAM: "linear_sum_assignment linprog milp quadratic_assignment",
    _SLOPE: "approx_fprime check_grad",
}
_INSTEAD = {name: cure for cure, names in _GROUPS.items() for name in names.split()}

globals().update(_mirror(_scipy_optimize, _INSTEAD, _INSTEAD))
__all__ = list(_scipy_optimize.__all__)
