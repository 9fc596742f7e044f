"""Roots and fixed points: SciPy's solvers, given derivatives, and differentiable themselves."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as _scipy

from funcgrad import tree
from funcgrad._core.tracer import settled
from funcgrad._transforms.implicit import custom_fixed_point, custom_root
from funcgrad.scipy._mirror import has_tracer, refuse_argument, without_examples
from funcgrad.scipy.optimize._flat import FlatSystem, diagnostics, tuple_of

_JACOBIAN = ("hybr", "lm")


def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    """`scipy.optimize.root` of a function of a tree, with its Jacobian filled in, and differentiable itself.

    Args:
        fun: ``fun(x, *args)``, a tree of as many numbers as x.
        x0: a tree of real arrays; a list of numbers is an array, as to SciPy.
        jac: None to have it filled in (methods ``hybr`` and ``lm``); else as for SciPy.
        args, method, tol, callback, options: as for SciPy.

    Returns:
        SciPy's `OptimizeResult`, in which `x` is like x0. Where derivatives are taken it has `x`, `fun` and
        how the method fared.

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where the method ended.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import root
    >>> print(f"{grad(lambda a: root(lambda x: x**3 - a, 1.0).x[0])(8.0):.6f}")
    0.083333
    """
    args = tuple_of(args)
    problem = FlatSystem((lambda *a: fun(*a)[0]) if jac is True else fun, x0, args)

    def slope(v):
        if jac is True:
            return fun(problem.unflatten(v), *args)[1]
        return problem.jac(v) if jac is None else jac(problem.unflatten(v), *args)

    def solve(v):
        filled = slope if callable(jac) or jac is True or (jac is None and method in _JACOBIAN) else jac
        return _scipy.root(problem.fun, v, (), method, filled, tol, callback, options)

    if not problem.traced:
        result = solve(problem.x0)
        result.x = problem.unflatten(result.x)
        return result

    runs = []

    def solver(_, v):
        runs.append(solve(np.asarray(v)))
        return runs[-1].x

    x = custom_root(problem.fun, problem.x0, solver, vmap_method="sequential")
    return _scipy.OptimizeResult(x=problem.unflatten(x), fun=problem.fun(x), **diagnostics(runs))


def fsolve(
    func, x0, args=(), fprime=None, full_output=0, col_deriv=0, xtol=1.49012e-08, maxfev=0, band=None,
    epsfcn=None, factor=100, diag=None,
):  # fmt: skip
    """`scipy.optimize.fsolve`, with the Jacobian filled in, differentiable in what `func` closes over.

    Args:
        func, x0, args, fprime, full_output, col_deriv, xtol, maxfev, band, epsfcn, factor, diag: as for
            SciPy; `band` asks for differences.

    Returns:
        The root, a flat array; with `full_output` as SciPy's (on plain values only).

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where it ended.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import fsolve
    >>> print(f"{grad(lambda a: fsolve(lambda x: np.cos(x) - a * x, 1.0)[0])(1.0):.6f}")
    -0.441611
    """
    args = tuple_of(args)
    problem = FlatSystem(func, x0, args)

    def solve(v):
        slope = fprime and (lambda v: fprime(problem.unflatten(v), *args))
        if fprime is None and band is None:
            slope = (lambda v: problem.jac(v).T) if col_deriv else problem.jac
        return _scipy.fsolve(
            problem.fun, v, (), slope, full_output, col_deriv, xtol, maxfev, band, epsfcn, factor, diag
        )

    if not problem.traced:
        return solve(problem.x0)
    if full_output:
        refuse_argument("scipy.optimize.fsolve", "full_output=", "Take root, whose result says as much.")
    return custom_root(problem.fun, problem.x0, lambda _, v: solve(np.asarray(v)), vmap_method="sequential")


def _bracketed(name: str) -> Callable:
    """One of SciPy's methods between two ends."""
    theirs = getattr(_scipy, name)
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def find(f, a, b, args=(), *rest, **options):
        args = tuple_of(args)

        def fun(x):
            return f(x, *args)

        def solve(fun):
            return theirs(fun, float(settled(a)), float(settled(b)), (), *rest, **options)

        start = 0.5 * (a + b)
        if not (has_tracer([args, start]) or has_tracer(fun(start))):
            return theirs(f, a, b, args, *rest, **options)
        full_output = signature.bind(f, a, b, args, *rest, **options).arguments.get("full_output", False)
        return _scalar_root(f"scipy.optimize.{name}", fun, start, solve, full_output)

    del find.__wrapped__  # it is no more SciPy's
    find.__module__, find.__qualname__, find.__signature__ = "funcgrad.scipy.optimize", name, signature
    find.__doc__ = without_examples(theirs.__doc__)
    return find


brentq, brenth, ridder, bisect, toms748 = map(_bracketed, ("brentq", "brenth", "ridder", "bisect", "toms748"))


def newton(
    func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, x1=None, rtol=0.0,
    full_output=False, disp=True,
):  # fmt: skip
    """`scipy.optimize.newton`, differentiable in what `func` closes over and in `args`.

    Args:
        func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol, full_output, disp: as for SciPy. With
            ``fprime=None`` it is the secant method, as SciPy's.

    Returns:
        The root; the further results of `full_output` have no derivative.

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where it ended.

    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import newton
    >>> print(f"{grad(lambda a: newton(lambda x: x**3 - a, 1.5))(8.0):.6f}")
    0.083333
    """
    args = tuple_of(args)
    further = (tol, maxiter, fprime2, x1, rtol, full_output, disp)

    def fun(x):
        return func(x, *args)

    if not (has_tracer([args, x0, x1]) or has_tracer(fun(x0))):
        return _scipy.newton(func, x0, fprime, args, *further)

    def solve(fun, start):
        slopes = [g and (lambda x, g=g: g(x, *args)) for g in (fprime, fprime2)]
        second = None if x1 is None else settled(x1)
        return _scipy.newton(
            fun, start, slopes[0], (), tol, maxiter, slopes[1], second, rtol, full_output, disp
        )

    return _scalar_root("scipy.optimize.newton", fun, 1.0 * x0, solve, full_output, True)


def _scalar_root(name: str, fun, start, solve: Callable, full_output: bool, takes_start: bool = False) -> Any:
    further = []

    def solver(fun, x):
        found = solve(fun, x) if takes_start else solve(fun)
        if full_output:
            found, *rest = found
            further.append(rest)
        return found

    x = custom_root(fun, start, solver, vmap_method="sequential")
    if full_output and (len(further) != 1 or np.ndim(x)):
        refuse_argument(name, "full_output=", "Leave it out for arrays, batches and programs.")
    return (x, *further[0]) if full_output else x


def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None, rtol=None,
    maxiter=None, options=None,
):  # fmt: skip
    """`scipy.optimize.root_scalar`, whose root is differentiable in what `f` closes over and in `args`.

    Args:
        f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options: as for SciPy.

    Returns:
        SciPy's `RootResults`.

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where it ended.

    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import root_scalar
    >>> print(f"{grad(lambda a: root_scalar(lambda x: x**3 - a, bracket=(0, 9)).root)(8.0):.6f}")
    0.083333
    """
    args = tuple_of(args)
    start = x0 if x0 is not None else 0.5 * (bracket[0] + bracket[1]) if bracket is not None else 0.0

    def fun(x):
        return f(x, *args)

    if not (has_tracer([args, start, x1, bracket]) or has_tracer(fun(start))):
        return _scipy.root_scalar(
            f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter, options
        )

    runs = []

    def solver(_, x):
        slopes = [(lambda x, g=g: g(x, *args)) if callable(g) else g for g in (fprime, fprime2)]
        ends, first, second = tree.map(lambda v: float(settled(v)), (bracket, x0, x1))
        result = _scipy.root_scalar(
            f if fprime is True else fun, args if fprime is True else (), method, ends, *slopes, first,
            second, xtol, rtol, maxiter, options,
        )  # fmt: skip
        runs.append(result)
        return result.root

    def equation(x):
        return fun(x)[0] if fprime is True else fun(x)

    x = custom_root(equation, 1.0 * start, solver, vmap_method="sequential")
    last = min(runs, key=lambda result: result.converged) if runs else None
    result = _scipy.RootResults(x, *((last.iterations, last.function_calls) if runs else (0, 0)), 0, method)
    if last is not None:
        result.converged, result.flag, result.method = last.converged, last.flag, last.method
    return result


def fixed_point(func, x0, args=(), xtol=1e-08, maxiter=500, method="del2"):
    """`scipy.optimize.fixed_point`, differentiable in what `func` closes over and in `args`.

    Args:
        func, x0, args, xtol, maxiter, method: as for SciPy.

    Returns:
        The fixed point.

    Raises:
        NotConvergedError, SingularSystemError: derivatives do not exist where it ended.

    >>> from funcgrad import grad
    >>> from funcgrad.scipy.optimize import fixed_point
    >>> print(f"{grad(lambda a: fixed_point(lambda x: (x + a / x) / 2.0, 1.0))(4.0):.6f}")
    0.250000
    """
    args = tuple_of(args)

    def fun(x):
        return func(x, *args)

    def solver(fun, x):
        return np.asarray(_scipy.fixed_point(fun, x, (), xtol, maxiter, method))[()]

    start = 1.0 * (np.asarray(x0) if isinstance(x0, (list, tuple)) else x0)
    if not (has_tracer([args, start]) or has_tracer(fun(start))):
        return _scipy.fixed_point(func, x0, args, xtol, maxiter, method)
    return custom_fixed_point(fun, start, solve=solver, vmap_method="sequential")
