"""Least squares: SciPy's `least_squares` and `curve_fit`, given Jacobians, and differentiable themselves."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.optimize as _scipy

from funcgrad._core.tracer import Tracer, settled
from funcgrad._transforms.derivatives import stop_gradient
from funcgrad._transforms.jacobians import jacobian
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy.optimize._flat import FlatSystem, diagnostics, tuple_of
from funcgrad.scipy.optimize._minima import by_gradient

#: rho(z) of the losses of robust fits, z = (residual / f_scale)**2, as SciPy's documentation gives them
_LOSSES = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * ((1.0 + z) ** 0.5 - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * z**0.5 - 1.0),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def least_squares(
    fun, x0, jac=None, bounds=(-np.inf, np.inf), method="trf", ftol=1e-08, xtol=1e-08, gtol=1e-08,
    x_scale=None, loss="linear", f_scale=1.0, diff_step=None, tr_solver=None, tr_options=None,
    jac_sparsity=None, max_nfev=None, verbose=0, args=(), kwargs=None, **further,
):  # fmt: skip
    """`scipy.optimize.least_squares` of a function of a tree, given its Jacobian, and differentiable itself.

    If `fun` closes over traced values, or `args`, `kwargs` or `bounds` hold some, the result's x is
    differentiable in them: by the gradient of the cost, in the variables that are not at a bound.

    Args:
        fun: ``fun(x, *args, **kwargs)``, the residuals: an array or a tree of some.
        x0: a tree of real arrays; a list of numbers is an array, as to SciPy.
        jac: None to have it filled in; ``"2-point"``, ``"3-point"`` or ``"cs"`` for SciPy's differences; or a
            function, as for SciPy, of trees.
        bounds, method, ftol, xtol, gtol, x_scale, loss, f_scale, diff_step, tr_solver, tr_options,
            jac_sparsity, max_nfev, verbose, args, kwargs, **further: as for SciPy. With `jac_sparsity` the
            Jacobian is SciPy's by differences.

    Returns:
        SciPy's `OptimizeResult`, in which `x` is like x0. Where derivatives are taken it has `x`, `cost`,
        `fun` and how the method fared.

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where the method ended.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import least_squares
    >>> def mean(y):
    ...     return least_squares(lambda x: x["m"] - y, {"m": 0.0}).x["m"]
    >>> grad(mean)(np.array([1.0, 2.0, 6.0])).round(6)
    array([0.333333, 0.333333, 0.333333])
    """
    args, kwargs = tuple_of(args), kwargs or {}
    problem = FlatSystem(lambda x, *args: fun(x, *args, **kwargs), x0, args)

    def solve(v, limits):
        def flat_jac(v):
            return jac(problem.unflatten(v), *args, **kwargs)

        slope = flat_jac if callable(jac) else jac
        if jac is None:
            slope = "2-point" if jac_sparsity is not None else problem.jac
        scale = {} if x_scale is None else {"x_scale": x_scale}
        return _scipy.least_squares(
            problem.fun, v, slope, limits, method, ftol, xtol, gtol, loss=loss, f_scale=f_scale,
            diff_step=diff_step, tr_solver=tr_solver, tr_options=tr_options, jac_sparsity=jac_sparsity,
            max_nfev=max_nfev, verbose=verbose, **scale, **further,
        )  # fmt: skip

    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, _scipy.Bounds) else bounds
    if not (problem.traced or has_tracer([low, high, kwargs, f_scale])):
        result = solve(problem.x0, bounds)
        result.x, result.grad = problem.unflatten(result.x), problem.unflatten(result.grad)
        return result

    def cost(v):
        z = (problem.fun(v) / f_scale) ** 2
        rho = loss(z)[0] if callable(loss) else _LOSSES[loss](z)
        return 0.5 * f_scale**2 * np.sum(rho)

    runs = []

    def solver(_, v):
        runs.append(solve(np.asarray(v), [np.asarray(settled(b), float) for b in (low, high)]))
        return runs[-1].x

    x = by_gradient(cost, problem.x0, solver, *_limits(low, high, len(problem.x0)))
    return _scipy.OptimizeResult(
        x=problem.unflatten(x), cost=cost(x), fun=problem.fun(x), **diagnostics(runs)
    )


def curve_fit(
    f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, check_finite=None, bounds=(-np.inf, np.inf),
    method=None, jac=None, *, full_output=False, nan_policy=None, **kwargs,
):  # fmt: skip
    """`scipy.optimize.curve_fit`, with the Jacobian filled in, and differentiable in the data.

    Args:
        f: the model, ``f(xdata, *parameters)``.
        xdata, ydata: the data, which may be traced.
        sigma: standard deviations or the covariance matrix of ydata, which may be traced.
        jac: None to have it filled in; else as for SciPy.
        p0, absolute_sigma, check_finite, bounds, method, full_output, nan_policy, **kwargs: as for SciPy.

    Returns:
        The parameters and their covariance, both differentiable; with `full_output` as SciPy's (on plain
        values only).

    Raises:
        UnsupportedArgumentError: `full_output` or `nan_policy` on traced values.
        NotConvergedError, SingularSystemError: derivatives do not exist where the method ended.

    >>> import numpy as np
    >>> from funcgrad import jacrev
    >>> from funcgrad.scipy.optimize import curve_fit
    >>> x = np.arange(3.0)
    >>> line = lambda x, a, b: a + b * x
    >>> jacrev(lambda y: curve_fit(line, x, y)[0][1])(np.array([1.0, 2.5, 2.9])).round(6) + 0.0
    array([-0.5,  0. ,  0.5])
    """
    p0 = stop_gradient(p0)  # the solution does not depend on where it was sought
    count = np.size(p0) if p0 is not None else len(inspect.signature(f).parameters) - 1
    start = np.ones(count) if p0 is None else np.reshape(np.asarray(p0, float), (-1,))

    def slope(xdata, *p):
        return jacobian(lambda p: np.reshape(f(xdata, *p), (-1,)))(np.array(p, float))

    def solve(full_output):
        data = [None if d is None else _plain(d) for d in (xdata, ydata, sigma)]
        filled = slope if jac is None else jac
        limits = bounds if isinstance(bounds, _scipy.Bounds) else tuple(map(_plain, bounds))
        return _scipy.curve_fit(
            f, data[0], data[1], p0, data[2], absolute_sigma, check_finite, limits, method, filled,
            full_output=full_output, nan_policy=nan_policy, **kwargs,
        )  # fmt: skip

    if not (has_tracer([xdata, ydata, sigma, bounds]) or has_tracer(f(xdata, *start))):
        return solve(full_output)
    for name, given in (("full_output=", full_output), ("nan_policy=", nan_policy)):
        if given:
            refuse_argument("scipy.optimize.curve_fit", name, "Leave it out, or select the data yourself.")

    def residual(p):
        r = np.reshape(f(xdata, *p), (-1,)) - np.reshape(ydata, (-1,))
        if sigma is None:
            return r
        if np.ndim(sigma) == 2:
            return np.linalg.solve(np.linalg.cholesky(sigma), r)
        return r / np.reshape(sigma, np.shape(sigma) or (1,))

    def cost(p):
        return 0.5 * np.sum(residual(p) ** 2)

    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, _scipy.Bounds) else bounds
    popt = by_gradient(cost, start, lambda _, p: solve(False)[0], *_limits(low, high, count))
    slopes = jacobian(residual)(popt)
    covariance = np.linalg.inv(slopes.T @ slopes)
    freedom = np.size(ydata) - count
    if not absolute_sigma:
        covariance = covariance * (2.0 * cost(popt) / freedom if freedom > 0 else np.inf)
    return popt, covariance


def _limits(low: Any, high: Any, count: int) -> tuple[Any, Any]:
    """Bounds as flat arrays; None where there are none."""
    if not has_tracer([low, high]) and np.all(np.isneginf(low)) and np.all(np.isposinf(high)):
        return None, None
    return tuple(np.broadcast_to(b if has_tracer(b) else np.asarray(b, float), (count,)) for b in (low, high))


def _plain(x: Any) -> Any:
    """A value as SciPy takes it, where traces are suspended."""
    x = settled(x)
    return (
        x if isinstance(x, Tracer) or not isinstance(x, (list, tuple)) else np.asarray(list(map(settled, x)))
    )
