"""`scipy.optimize`, given derivatives, and differentiable itself.

`minimize`, `least_squares`, `curve_fit`, `root` and `fsolve` take functions of trees, and get gradients,
Hessian products and Jacobians from this library. Their solutions, and those of `root_scalar`, `newton`,
`brentq` and its kin, `minimize_scalar` and `fixed_point`, are differentiable in what their functions close
over: by the equation that they solve, whichever method solved it. The others refuse traced values by name;
`custom_root`, `custom_fixed_point` and `custom_minimizer` take any of them as a solver.
"""

import scipy.optimize as _scipy_optimize

from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.optimize import _fits, _minima, _roots
from funcgrad.scipy.optimize._flat import FlatProblem, flat_problem

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

bisect, brenth, brentq, ridder, toms748 = (
    _roots.bisect, _roots.brenth, _roots.brentq, _roots.ridder, _roots.toms748,
)  # fmt: skip
newton, root, root_scalar, fsolve = _roots.newton, _roots.root, _roots.root_scalar, _roots.fsolve
fixed_point = _roots.fixed_point
minimize, minimize_scalar = _minima.minimize, _minima.minimize_scalar
least_squares, curve_fit = _fits.least_squares, _fits.curve_fit

__all__ = [*_scipy_optimize.__all__, "FlatProblem", "flat_problem"]
