"""SciPy's optimisers: on trees, with derivatives filled in; differentiated by the equations they solve."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.optimize

from funcgrad import (
    errors,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    make_jaxpr,
    vmap,
)
from funcgrad.scipy import optimize

X = np.linspace(0.0, 2.0, 12)
RNG = np.random.default_rng(0)
Y = 1.5 * np.exp(-0.7 * X) + 0.2 + 0.05 * RNG.normal(size=12)


def close(found, expected, rtol=1e-6):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def by_differences(f, a, step=1e-5):
    unit = np.eye(np.size(a)).reshape(np.size(a), *np.shape(a))
    return np.stack([(f(a + step * e) - f(a - step * e)) / (2 * step) for e in unit], axis=-1)


# ---- plain values ----------------------------------------------------------------------------------------


def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


METHODS = [
    None, "Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA", "SLSQP",
    "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
def test_every_method_of_minimize_is_given_what_it_takes(method):
    derivatives = {"jac": scipy.optimize.rosen_der, "hess": scipy.optimize.rosen_hess}
    takes = {"dogleg": 2, "trust-exact": 2, "Nelder-Mead": 0, "Powell": 0, "COBYLA": 0}.get(method, 1)
    given = dict(list(derivatives.items())[:takes])
    if method in ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"):
        given["hessp"] = scipy.optimize.rosen_hess_prod
    found = optimize.minimize(rosen, [0.8, 1.2], method=method)
    expected = scipy.optimize.minimize(rosen, [0.8, 1.2], method=method, **given)
    close(found.x, expected.x, 1e-4)
    assert abs(found.nfev - expected.nfev) <= 2 and found.success == expected.success


def test_trees():
    def loss(p, x, y):
        return np.sum((p["a"] * np.exp(p["rest"][0] * x) + p["rest"][1] - y) ** 2)

    start = {"a": 1.0, "rest": (np.array(-1.0), np.zeros(1))}
    found = optimize.minimize(loss, start, (X, Y), tol=1e-10)
    flat = scipy.optimize.minimize(
        lambda v: loss({"a": v[0], "rest": (v[1], v[2:])}, X, Y), [1.0, -1.0, 0.0], tol=1e-10
    )
    assert found.x["rest"][1].shape == (1,) and found.jac.keys() == found.x.keys()
    close(np.hstack([found.x["a"], *found.x["rest"]]), flat.x, 1e-5)
    p = optimize.flat_problem(loss, start, X, Y)
    v, t = np.array([1.2, -0.5, 0.1]), np.array([1.0, 2.0, -1.0])
    close(p.jac(v), by_differences(p.fun, v), 1e-6)
    close(p.hess(v) @ t, p.hessp(v, t))
    close(p.flatten(p.unflatten(v)), v)
    assert p.value_and_grad(v)[0] == p.fun(v)
    with pytest.raises(errors.InputTypeError, match="not made of real numbers"):
        optimize.flat_problem(loss, {"a": 1j})


def test_derivatives_of_ones_own():
    own = optimize.minimize(rosen, [0.8, 1.2], jac=scipy.optimize.rosen_der, method="BFGS")
    pair = optimize.minimize(lambda x: (rosen(x), scipy.optimize.rosen_der(x)), [0.8, 1.2], jac=True)
    opaque = optimize.minimize(lambda x: float(x[0]) ** 2 + float(x[1]) ** 2, [0.8, 1.2], jac="2-point")
    close(own.x, [1.0, 1.0], 1e-4)
    close(pair.x, [1.0, 1.0], 1e-4)
    close(opaque.x, [0.0, 0.0], 1e-4)
    by_tree = optimize.minimize(
        lambda p: (p["u"] - 1.0) ** 2, {"u": 0.0}, method="Newton-CG", jac=lambda p: {"u": 2 * (p["u"] - 1)},
        hess=lambda p: np.array([[2.0]]),
    )  # fmt: skip
    close(by_tree.x["u"], 1.0)


def test_other_solvers_on_plain_values():
    residual = lambda p: p[0] * np.exp(p[1] * X) - Y  # noqa: E731
    ours, theirs = (
        optimize.least_squares(residual, [1.0, 0.0]),
        scipy.optimize.least_squares(residual, [1.0, 0.0]),
    )
    close(ours.x, theirs.x)
    close(ours.jac, by_differences(residual, ours.x))
    assert ours.nfev <= theirs.nfev
    model = lambda x, a, b: a * np.exp(b * x)  # noqa: E731
    for a, b in zip(optimize.curve_fit(model, X, Y), scipy.optimize.curve_fit(model, X, Y)):
        close(a, b, 1e-5)
    system = lambda x: np.stack([x[0] ** 2 + x[1] - 3.0, np.sin(x[1]) - x[0] + 1.0])  # noqa: E731
    close(optimize.root(system, [1.0, 1.0]).x, scipy.optimize.root(system, [1.0, 1.0]).x)
    close(optimize.fsolve(system, [1.0, 1.0]), scipy.optimize.fsolve(system, [1.0, 1.0]))
    close(optimize.root(lambda p: {"u": p["u"] ** 3 - 8.0}, {"u": 1.0}).x["u"], 2.0)
    cube = lambda x, a=8.0: x**3 - a  # noqa: E731
    for name in ("brentq", "brenth", "ridder", "bisect", "toms748"):
        ours, theirs = getattr(optimize, name), getattr(scipy.optimize, name)
        assert ours(cube, 0.0, 9.0) == theirs(cube, 0.0, 9.0)
        assert ours(cube, 0.0, 9.0, (1.0,), full_output=True)[1].converged
        assert pickle.loads(pickle.dumps(ours)) is ours
        assert inspect.signature(ours) == inspect.signature(theirs)
    assert optimize.newton(cube, 1.5) == scipy.optimize.newton(cube, 1.5)
    assert optimize.root_scalar(cube, bracket=(0, 9)) == scipy.optimize.root_scalar(cube, bracket=(0, 9))
    assert optimize.fixed_point(np.cos, 1.0) == scipy.optimize.fixed_point(np.cos, 1.0)
    assert optimize.minimize_scalar(cube, bounds=(0, 1), args=(2.0,)).success


# ---- derivatives of solutions ----------------------------------------------------------------------------

A = np.array([8.0, 3.0])

ROOTS = {
    "root": lambda a: optimize.root(lambda x: x**3 - a, np.ones(2)).x,
    "root-lm": lambda a: optimize.root(lambda x, a: x**3 - a, np.ones(2), a, method="lm").x,
    "root-broyden": lambda a: optimize.root(lambda x: x**3 - a, [1.9, 1.4], method="broyden1", tol=1e-10).x,
    "root-tree": lambda a: optimize.root(lambda x: {"u": x["u"] ** 3 - a}, {"u": np.ones(2)}).x["u"],
    "fsolve": lambda a: optimize.fsolve(lambda x: x**3 - a, [1.0, 1.0]),
    "newton": lambda a: optimize.newton(lambda x: x**3 - a, np.array([1.9, 1.4]), tol=1e-12),
    "fixed_point": lambda a: optimize.fixed_point(lambda x: (2 * x + a / x**2) / 3, [1.0, 1.0]),
    "minimize": lambda a: optimize.minimize(lambda x: np.sum(x**4 / 4 - a * x), [1.0, 1.0], tol=1e-10).x,
    "minimize-newton": lambda a: optimize.minimize(
        lambda x, a: np.sum(x**4 / 4 - a * x), [1.0, 1.0], (a,), method="trust-exact", tol=1e-10
    ).x,
    "minimize-simplex": lambda a: optimize.minimize(
        lambda x: np.sum(x**4 / 4 - a * x), [1.9, 1.4], method="Nelder-Mead", tol=1e-11
    ).x,
    "least_squares": lambda a: optimize.least_squares(lambda x: x**3 - a, [1.0, 1.0], xtol=1e-13).x,
}  # fmt: skip
SCALARS = {
    "brentq": lambda a: optimize.brentq(lambda x: x**3 - a, 0.0, 10.0),
    "toms748": lambda a: optimize.toms748(lambda x, a: x**3 - a, 0.0, 10.0, (a,)),
    "bracket": lambda a: optimize.brentq(lambda x: x**3 - a, 0.0 * a, a + 2.0),
    "newton": lambda a: optimize.newton(lambda x: x**3 - a, 1.8, lambda x: 3 * x**2),
    "root_scalar": lambda a: optimize.root_scalar(lambda x: x**3 - a, bracket=(0.0, 10.0)).root,
    "root_scalar-newton": lambda a: optimize.root_scalar(
        lambda x: (x**3 - a, 3 * x**2), x0=1.8, fprime=True
    ).root,
    "minimize_scalar": lambda a: optimize.minimize_scalar(
        lambda x: x**4 / 4 - a * x, (1.0, 2.0), tol=1e-12
    ).x,
}  # fmt: skip
ROOTS |= {name: lambda a, f=f: np.stack([f(a[0]), f(a[1])]) for name, f in SCALARS.items()}


@pytest.mark.parametrize("name", ROOTS)
def test_cube_roots(name):
    f, rtol = ROOTS[name], 1e-5
    close(f(A), np.cbrt(A), rtol)
    for jacobian in (jacrev, jacfwd):
        close(jacobian(f)(A), jacobian(np.cbrt)(A), rtol)
    total = lambda f: lambda a: np.sum(f(a) ** 2)  # noqa: E731
    close(hessian(total(f))(A), hessian(total(np.cbrt))(A), rtol)
    close(jacfwd(jacfwd(jacrev(total(f))))(A), jacfwd(jacfwd(jacrev(total(np.cbrt))))(A), rtol)
    close(vmap(f)(np.stack([A, A + 1])), np.cbrt(np.stack([A, A + 1])), rtol)
    close(vmap(grad(total(f)))(np.stack([A, A + 1])), vmap(grad(total(np.cbrt)))(np.stack([A, A + 1])), rtol)


def test_a_bilevel_problem():
    """The penalty of a ridge regression, by the held-out loss."""
    u, v = RNG.normal(size=(20, 4)), RNG.normal(size=(10, 4))
    y, z = u @ np.ones(4) + RNG.normal(size=20), v @ np.ones(4)

    def held_out(fit):
        return lambda penalty: np.mean((v @ fit(penalty) - z) ** 2)

    def by_scipy(penalty):
        loss = lambda w: np.sum((u @ w - y) ** 2) + penalty * np.sum(w**2)  # noqa: E731
        return optimize.minimize(loss, np.zeros(4), tol=1e-9).x

    def directly(penalty):
        return np.linalg.solve(u.T @ u + penalty * np.eye(4), u.T @ y)

    for transform in (grad, lambda f: grad(grad(f))):
        close(transform(held_out(by_scipy))(0.7), transform(held_out(directly))(0.7))


def test_bounds_hold_variables():
    """min (x - a)'(x - a) with x <= b: what is at its bound moves with it."""

    def solution(a, b):
        return optimize.minimize(lambda x: np.sum((x - a) ** 2) + 0.1 * x[0] * x[1], np.zeros(3),
                                 bounds=[(None, b), (-5.0, 5.0), (0.0, None)], tol=1e-12).x  # fmt: skip

    a, b = np.array([2.0, 1.0, -1.0]), 1.5
    close(solution(a, b), [1.5, 1.0 - 0.05 * 1.5, 0.0], 1e-5)
    close(jacrev(solution)(a, b), [[0, 0, 0], [0, 1, 0], [0, 0, 0]], 1e-5)
    close(jacfwd(solution, 1)(a, b), [1.0, -0.05, 0.0], 1e-5)
    fitted = lambda a, b: optimize.least_squares(lambda x: x - a, np.zeros(3), bounds=(-1.0, b)).x  # noqa: E731
    close(jacrev(fitted)(np.array([2.0, 1.0, 0.5]), b), np.diag([0.0, 1.0, 1.0]), 1e-5)


@pytest.mark.parametrize("method", ["L-BFGS-B", "TNC", "SLSQP", "Powell", "Nelder-Mead", "COBYLA"])
def test_bounds_by_every_method(method):
    def solution(a):
        loss = lambda x: np.sum((x - a) ** 2) + 0.2 * x[0] * x[1]  # noqa: E731
        return optimize.minimize(loss, [0.2, 0.3], method=method, bounds=[(0, 1), (0, 1)], tol=1e-9).x

    close(jacrev(solution)(np.array([2.0, 0.5])), [[0.0, 0.0], [0.0, 1.0]], 1e-5)


@pytest.mark.parametrize("method", [None, "Nelder-Mead", "COBYLA", "Newton-CG"])
def test_one_variable_is_an_array_as_to_scipy(method):
    found = optimize.minimize(lambda x: (x - 1.0) ** 2, 3.0, method=method)
    assert found.x.shape == (1,)
    close(found.x, [1.0], 1e-3)
    close(grad(lambda a: optimize.minimize(lambda x: (x - a) ** 2, 3.0, tol=1e-9).x[0])(2.0), 1.0)


def test_what_a_solution_does_not_depend_on():
    start = lambda s: np.sum(optimize.minimize(lambda x: np.sum((x - 1.0) ** 2), s * np.ones(2)).x)  # noqa: E731
    assert grad(start)(2.0) == 0.0
    fit = lambda p: optimize.curve_fit(lambda x, a, b: a * x + b, X, Y, (p, 1.0))[0][0]  # noqa: E731
    assert grad(fit)(2.0) == 0.0
    ends = lambda e: optimize.brentq(lambda x: x**3 - 2.0, 0.0, e)  # noqa: E731
    assert grad(ends)(3.0) == 0.0


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_robust_fits(loss):
    def fit(y):
        residual = lambda p: p[0] * np.exp(p[1] * X) + p[2] - y  # noqa: E731
        return optimize.least_squares(
            residual, [1.0, -1.0, 0.0], loss=loss, f_scale=0.05, xtol=1e-14, ftol=1e-14, gtol=1e-12
        ).x

    close(jacrev(fit)(Y), by_differences(fit, Y, 1e-4), 1e-4)


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("kind", ["none", "deviations", "covariance"])
def test_curve_fit(kind, absolute):
    model = lambda x, a, b, c: a * np.exp(-b * x) + c  # noqa: E731
    mix = 0.01 * np.eye(12) + 0.003
    sigma = {"none": None, "deviations": 0.1 + 0.02 * X, "covariance": mix}[kind]
    options = {"absolute_sigma": absolute, "xtol": 1e-12, "ftol": 1e-12}

    def fit(y, sigma=sigma):
        return optimize.curve_fit(model, X, y, (1.0, 1.0, 0.0), sigma, **options)

    expected = scipy.optimize.curve_fit(model, X, Y, (1.0, 1.0, 0.0), sigma, **options)
    for part in (0, 1):
        close(jvp(fit, (Y,), (Y,))[0][part], expected[part], 1e-5)
        close(jacrev(lambda y: fit(y)[part])(Y), by_differences(lambda y: fit(y)[part], Y, 1e-3), 1e-4)  # noqa: B023
    if kind == "deviations":
        of_sigma = lambda s: fit(Y, s)[0]  # noqa: E731
        close(jacrev(of_sigma)(sigma), by_differences(of_sigma, sigma, 1e-4), 1e-3)


def test_results_say_what_they_know():
    results = []

    def lowest(a):
        results.append(optimize.minimize(lambda x: np.sum((x - a) ** 2) + a, np.zeros(2)))
        return results[0].fun

    close(grad(lowest)(3.0), 1.0)
    assert results[0].success and results[0].nit >= 1
    assert "hess_inv" not in results[0]


# ---- what is refused -------------------------------------------------------------------------------------


def test_constraints_and_full_output():
    line = {"type": "eq", "fun": lambda x: x[0] + x[1] - 1.0}
    found = optimize.minimize(lambda x: np.sum(x**2), np.zeros(2), constraints=line)
    close(found.x, [0.5, 0.5], 1e-5)
    with pytest.raises(errors.UnsupportedArgumentError, match="(?s)minimize.*constraints=.*custom_root"):
        grad(lambda a: optimize.minimize(lambda x: np.sum(a * x**2), np.zeros(2), constraints=line).fun)(1.0)
    with pytest.raises(errors.UnsupportedArgumentError, match="full_output"):
        grad(lambda a: optimize.fsolve(lambda x: x - a, 1.0, full_output=True)[0][0])(1.0)
    with pytest.raises(errors.UnsupportedArgumentError, match="nan_policy"):
        grad(lambda a: optimize.curve_fit(lambda x, p: p * x, X, a * X, nan_policy="omit")[0][0])(1.0)
    for name in ("linprog", "milp", "linear_sum_assignment", "nnls", "fmin_bfgs"):
        with pytest.raises(errors.UnsupportedFunctionError, match=f"scipy.optimize.{name} "):
            grad(lambda a: getattr(optimize, name)(np.stack([a, a]), 1.0))(1.0)  # noqa: B023


def test_where_there_is_no_derivative():
    stopped = lambda a: optimize.minimize(  # noqa: E731
        lambda x: rosen(x) + a * np.sum(x), [-1.2, 1.0], method="BFGS", options={"maxiter": 2}
    )
    with pytest.raises(errors.NotConvergedError, match="custom_minimizer"):
        grad(lambda a: stopped(a).x[0])(0.0)
    with pytest.raises(errors.SingularSystemError):  # a whole line of minima
        grad(lambda a: optimize.minimize(lambda x: (np.sum(x) - a) ** 2, np.zeros(2)).x[0])(1.0)


def test_programs():
    made = make_jaxpr(ROOTS["minimize"])(A)
    assert "implicit[" in str(made)
