"""Minima: SciPy's `minimize` and `minimize_scalar`, given derivatives, and differentiable themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as _scipy

from funcgrad._core.tracer import settled
from funcgrad._transforms.derivatives import grad
from funcgrad._transforms.implicit import custom_minimizer, custom_root
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy.optimize._flat import FlatProblem, diagnostics, tuple_of

_NO_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_HESSIAN = ("dogleg", "trust-exact")
_NEAR = 1e-5  # of a bound's size: what is that near to it, and would go on, is at it
_HESSIAN_PRODUCT = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")


def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None,
    callback=None, options=None,
):  # fmt: skip
    """`scipy.optimize.minimize` of a function of a tree, given its derivatives, and differentiable itself.

    Where the method takes them, gradients come from reverse mode, and Hessians (``dogleg``, ``trust-exact``)
    or their products with vectors (``Newton-CG``, ``trust-*``) from forward over reverse mode.

    If `fun` closes over traced values, or `args` or `bounds` hold some, the result's x is differentiable in
    them, at every order: by the gradient, which is zero at the solution, in the variables that are not at a
    bound. Then the result has `x`, `fun`, and how the method fared; what else it has (the inverse Hessian)
    depends on the method's path, and is left out.

    Args:
        fun: ``fun(x, *args)``, a number; x is like x0.
        x0: a tree of real arrays; a list of numbers is an array, as to SciPy.
        jac, hess, hessp: None to have them filled in; else as for SciPy, of trees. ``jac="2-point"`` asks for
            SciPy's differences, for functions that cannot be traced.
        bounds: pairs, or `scipy.optimize.Bounds`, for the flat x (leaves in the tree's order).
        args, method, constraints, tol, callback, options: as for SciPy; `callback` and the functions of
            constraints see the flat x.

    Returns:
        SciPy's `OptimizeResult`, in which `x` is like x0.

    Raises:
        UnsupportedArgumentError: derivatives are taken of a solution under constraints.
        NotConvergedError, SingularSystemError: they do not exist where the method ended.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import minimize
    >>> def lowest(a):
    ...     return minimize(lambda x: np.sum(np.cosh(x - a) + x), np.zeros(2), tol=1e-9).x
    >>> print(f"{grad(lambda a: lowest(a)[0])(0.5):.6f}")
    1.000000
    """
    args = tuple_of(args)
    with_gradient = jac is True
    problem = FlatProblem((lambda *a: fun(*a)[0]) if with_gradient else fun, x0, args)
    name = method.lower() if isinstance(method, str) else ""

    def both(v):
        value, gradient = fun(problem.unflatten(v), *args)
        return value, problem.flatten(gradient)

    def flat_jac(v):
        return problem.flatten(jac(problem.unflatten(v), *args))

    def flat_hess(v):
        return hess(problem.unflatten(v), *args)

    def flat_hessp(v, p):
        return problem.flatten(hessp(problem.unflatten(v), problem.unflatten(p), *args))

    def solve(v, limits):
        flat, slope, second, product = problem.fun, jac, hess, hessp
        if with_gradient:
            flat = both
        elif jac is None and name not in _NO_GRADIENT:
            flat, slope = problem.value_and_grad, True
        elif callable(jac):
            slope = flat_jac
        if callable(hess):
            second = flat_hess
        elif hess is None and hessp is None and name in _HESSIAN:
            second = problem.hess
        if hessp is not None:
            product = flat_hessp
        elif hess is None and name in _HESSIAN_PRODUCT:
            product = problem.hessp
        return _scipy.minimize(
            flat, v, (), method, slope, second, product, limits, constraints, tol, callback, options
        )

    low, high = limits_of(bounds, len(problem.x0))
    if not (problem.traced or has_tracer([low, high])):
        result = solve(problem.x0, bounds)
        for key in ("x", "jac"):
            if key in result and np.size(result[key]) == problem.x0.size:  # COBYLA's gradient is empty
                result[key] = problem.unflatten(result[key])
        return result
    if np.size(constraints):
        refuse_argument(
            "scipy.optimize.minimize", "constraints=",
            "Write the solution as a root of its optimality conditions: take funcgrad.custom_root.",
        )  # fmt: skip
    return _differentiable(problem, solve, low, high, bounds)


def _differentiable(problem: FlatProblem, solve: Callable, low: Any, high: Any, bounds: Any) -> Any:
    """The result of a solver, whose x follows from the objective's gradient and the bounds."""

    runs = []

    def solver(_, v):
        limits = bounds
        if has_tracer([low, high]):
            limits = _scipy.Bounds(np.asarray(settled(low)), np.asarray(settled(high)))
        runs.append(solve(np.asarray(v), limits))
        return runs[-1].x

    x = by_gradient(problem.fun, problem.x0, solver, low, high)
    return _scipy.OptimizeResult(x=problem.unflatten(x), fun=problem.fun(x), **diagnostics(runs))


def by_gradient(objective: Callable, x0: Any, solver: Callable, low: Any = None, high: Any = None) -> Any:
    """A minimum that a solver finds, by the gradient of the variables that are at no bound."""
    if low is None:
        return custom_minimizer(objective, x0, solver, vmap_method="sequential")

    def optimality(v):
        g = grad(objective)(v)
        for bound, held in ((low, (v <= low) & (g > 0)), (high, (v >= high) & (g < 0))):
            g = np.where(held, v - np.where(np.isfinite(bound), bound, 0.0), g)
        return g

    def at_bounds(_, v):
        """The solver's result, put on the bounds that methods from the interior end right before."""
        x = solver(_, v)
        g = grad(objective)(x)
        for bound, sign in ((low, 1.0), (high, -1.0)):
            bound = np.asarray(settled(bound))
            near = np.abs(x - bound) <= _NEAR * np.maximum(1.0, np.abs(bound))
            x = np.where(np.isfinite(bound) & near & (sign * g > 0), bound, x)
        return x

    return custom_root(optimality, x0, at_bounds, vmap_method="sequential")


def limits_of(bounds: Any, count: int) -> tuple[Any, Any]:
    """Lower and upper bounds as flat arrays, which may be traced; None for none."""
    if bounds is None:
        return None, None
    if isinstance(bounds, _scipy.Bounds):
        low, high = bounds.lb, bounds.ub
    else:
        pairs = list(bounds)
        low = _row([-np.inf if pair[0] is None else pair[0] for pair in pairs])
        high = _row([np.inf if pair[1] is None else pair[1] for pair in pairs])
    return np.broadcast_to(low, (count,)), np.broadcast_to(high, (count,))


def _row(numbers: list) -> Any:
    return np.stack([np.asarray(n, float) if not has_tracer(n) else n for n in numbers])


def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    """`scipy.optimize.minimize_scalar`, whose result's x is differentiable in what `fun` closes over.

    Args:
        fun, bracket, bounds, args, method, tol, options: as for SciPy.

    Returns:
        SciPy's `OptimizeResult`; where derivatives are taken its x follows from ``fun'(x) = 0``.

    Raises:
        NotConvergedError, SingularSystemError: the derivative is not zero there (as at an end of `bounds`),
            or the second one is.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import minimize_scalar
    >>> print(f"{grad(lambda a: minimize_scalar(lambda x: (x - a) ** 2 + x**4).x)(3.0):.6f}")
    0.142857
    """
    args = tuple_of(args)
    start = 0.0 if bounds is None else 0.5 * (bounds[0] + bounds[1])
    if bracket is not None:
        start = bracket[-1]

    def objective(x):
        return fun(x, *args)

    def solve(objective):
        limits = None if bounds is None else [float(settled(b)) for b in bounds]
        around = None if bracket is None else [float(settled(b)) for b in bracket]
        return _scipy.minimize_scalar(objective, around, limits, (), method, tol, options)

    runs = []

    def solver(_, x):
        runs.append(solve(objective))
        return np.float64(runs[-1].x)

    if not (has_tracer([args, start]) or has_tracer(objective(start))):
        return solve(objective)
    x = by_gradient(objective, 1.0 * start, solver)
    return _scipy.OptimizeResult(x=x, fun=objective(x), **diagnostics(runs))
