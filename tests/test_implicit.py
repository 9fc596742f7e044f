"""Solutions of equations: by any solver, in every mode and order by the equation, beside closed forms."""

import concurrent.futures
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

from funcgrad import (
    ShapeDtypeStruct,
    check_jaxpr,
    checkpoint,
    custom_fixed_point,
    custom_jvp,
    custom_linear_solve,
    custom_minimizer,
    custom_root,
    custom_vjp,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    lax,
    linear_transpose,
    linearize,
    make_jaxpr,
    tree,
    vjp,
    vmap,
)
from funcgrad.testing import check_grads

RNG = np.random.default_rng(0)
M = RNG.normal(size=(3, 3))
P = M @ M.T + np.eye(3)
B = RNG.normal(size=3)
C = P + 1j * RNG.normal(size=(3, 3))


def close(found, expected, rtol=1e-6):
    assert tree.structure(found) == tree.structure(expected)
    for a, b in zip(tree.leaves(found), tree.leaves(expected)):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


# ---- the cube root in many ways, under every pairing of transforms -----------------------------------------


def brent(f, x):
    return scipy.optimize.brentq(f, 0.0, 10.0, xtol=1e-15, rtol=1e-14)


def newton(f, x):
    for _ in range(60):
        x = x - f(x) * 2e-6 / (f(x + 1e-6) - f(x - 1e-6))
    return x


class Holder:
    """Where no closure is in plain sight."""

    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return x**3 - self.a


def nested(a):
    def f(x):
        return (
            x * custom_root(lambda y: y**2 - x**4, 1.0, lambda f, y: brent(lambda y: f(10 * y), y) * 10) - a
        )

    return custom_root(f, 1.0, brent)


def in_a_tree(a):
    def f(x):
        return {"p": x["p"] ** 3 - a, "n": x["n"], "none": None}

    def solve(f, x):
        return {**x, "p": brent(lambda p: f({**x, "p": p})["p"], 1.0)}

    return custom_root(f, {"p": 1.0, "n": 3, "none": None}, solve)["p"]


WAYS = {
    "newton": lambda a: custom_root(lambda x: x**3 - a, 1.0, newton),
    "scipy": lambda a: custom_root(lambda x: x**3 - a, 1.0, brent, vmap_method="sequential"),
    "hidden": lambda a: custom_root(Holder(a), 1.0, brent),
    "tangent": lambda a: custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0)),
    "aux": lambda a: custom_root(lambda x: x**3 - a, 1.0, lambda f, x: (newton(f, x), 3), has_aux=True)[0],
    "fixed": lambda a: custom_fixed_point(lambda x, a: (2 * x + a / x**2) / 3, 1.0, (a,)),
    "minimum": lambda a: custom_minimizer(lambda x: x**4 / 4 - a * x, 1.0, lambda f, x: brent(grad(f), x)),
    "nested": nested,
    "tree": in_a_tree,
    "linear": lambda a: np.cbrt(custom_linear_solve(lambda x: x * a, a * a, lambda mv, b: b / mv(1.0))),
}  # fmt: skip

THREE = np.array([1.0, 2.0, 3.0])


def d(f):
    return lambda a: jvp(f, (a,), (1.0,))[1]


def program(f, at):
    made = make_jaxpr(f)(at)
    return lambda a: eval_jaxpr(made, made.consts, a)[0]


TRANSFORMED = {
    "value": lambda f: f(2.0),
    "r": lambda f: grad(f)(2.0),
    "f": lambda f: d(f)(2.0),
    "rr": lambda f: grad(grad(f))(2.0),
    "rf": lambda f: grad(d(f))(2.0),
    "fr": lambda f: d(grad(f))(2.0),
    "ff": lambda f: d(d(f))(2.0),
    "rrr": lambda f: grad(grad(grad(f)))(2.0),
    "rrf": lambda f: grad(grad(d(f)))(2.0),
    "rfr": lambda f: grad(d(grad(f)))(2.0),
    "rff": lambda f: grad(d(d(f)))(2.0),
    "frr": lambda f: d(grad(grad(f)))(2.0),
    "frf": lambda f: d(grad(d(f)))(2.0),
    "ffr": lambda f: d(d(grad(f)))(2.0),
    "fff": lambda f: d(d(d(f)))(2.0),
    "linearize": lambda f: linearize(f, 2.0)[1](1.5),
    "vjp": lambda f: vjp(f, 2.0)[1](1.5),
    "v": lambda f: vmap(f)(THREE),
    "vv": lambda f: vmap(vmap(f))(np.stack([THREE, 2 * THREE])),
    "vr": lambda f: vmap(grad(f))(THREE),
    "vrr": lambda f: vmap(grad(grad(f)))(THREE),
    "vfr": lambda f: vmap(d(grad(f)))(THREE),
    "rv": lambda f: grad(lambda a: np.sum(vmap(f)(a) ** 2))(THREE),
    "fv": lambda f: jacfwd(vmap(f))(THREE),
    "rrv": lambda f: hessian(lambda a: np.sum(vmap(f)(a) ** 2))(THREE),
    "rvr": lambda f: grad(lambda a: np.sum(vmap(grad(f))(a) ** 2))(THREE),
    "r in r": lambda f: grad(lambda a: grad(lambda b: f(a * b))(1.5))(2.0),
    "r in v": lambda f: vmap(lambda w: grad(lambda a: f(a * w))(2.0))(THREE),
    "r in v in r": lambda f: grad(
        lambda a: np.sum(vmap(lambda w: grad(lambda b: f(a * w * b))(2.0))(THREE))
    )(1.0),
    "checkpoint": lambda f: grad(grad(checkpoint(f)))(2.0),
    "r in checkpoint": lambda f: grad(lambda a: grad(checkpoint(lambda b: f(a * b)))(1.5))(2.0),
    "program": lambda f: program(f, 2.0)(3.0),
    "program of r": lambda f: program(grad(f), 2.0)(3.0),
    "program of rr": lambda f: program(grad(grad(f)), 2.0)(3.0),
    "program of v": lambda f: program(vmap(f), THREE)(THREE + 1),
    "r of program": lambda f: grad(program(f, 2.0))(3.0),
    "rr of program of types": lambda f: grad(grad(program(f, ShapeDtypeStruct((), float))))(3.0),
    "v of program": lambda f: vmap(program(f, 2.0))(THREE),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMED)
@pytest.mark.parametrize("way", WAYS)
def test_cube_roots(way, transform):
    run = TRANSFORMED[transform]
    if way == "aux" and "types" in transform:
        with pytest.raises(errors.OutputTypeError, match="aux of unknown type"):
            run(WAYS[way])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.BatchLoopWarning)
        close(run(WAYS[way]), run(np.cbrt))


# ---- closed forms ------------------------------------------------------------------------------------------


def test_the_square_root_of_a_matrix():
    def by_root(a):
        def solve(f, x):
            return scipy.linalg.sqrtm(-f(np.zeros((3, 3)))).real

        return custom_root(lambda x: x @ x - a, np.eye(3), solve)

    def by_eigenvalues(a):
        w, u = np.linalg.eigh(a)
        return (u * np.sqrt(w)) @ u.T

    def total(root):
        return lambda a: np.sum(root((a + a.T) / 2) ** 3)

    close(grad(total(by_root))(P), grad(total(by_eigenvalues))(P))
    close(hessian(total(by_root))(P), hessian(total(by_eigenvalues))(P), 1e-5)


def test_keplers_equation():
    """E - e sin E = m: dE/dm = 1 / (1 - e cos E), dE/de = sin E / (1 - e cos E)."""

    def anomaly(m, e):
        return custom_fixed_point(lambda x: m + e * np.sin(x), m, max_steps=5000)

    m, e = np.array([0.3, 1.0, 2.5]), 0.6
    x = anomaly(m, e)
    np.testing.assert_allclose(x - e * np.sin(x), m, rtol=1e-14)
    close(jacrev(anomaly)(m, e), np.diag(1 / (1 - e * np.cos(x))))
    close(jacfwd(anomaly, 1)(m, e), np.sin(x) / (1 - e * np.cos(x)))
    check_grads(anomaly, (m, e), order=3)


def by_numpy(a, b):
    return custom_linear_solve(
        lambda x: a @ x, b, lambda _, b: np.linalg.solve(a, b), lambda _, b: np.linalg.solve(a.T, b)
    )


def by_columns(a, b):
    def solve(matvec, b):
        return np.linalg.solve(np.stack([matvec(e) for e in np.eye(3)], axis=1), b)

    return custom_linear_solve(lambda x: a @ x, b, solve)


def by_a_map_that_runs_again(a, b):
    return custom_linear_solve(checkpoint(lambda x: a @ x), b, lambda _, b: np.linalg.solve(a, b))


@pytest.mark.parametrize("solve", [by_numpy, by_columns, by_a_map_that_runs_again])
def test_linear_systems(solve):
    def total(solve):
        return lambda a, b: np.sum(np.sin(solve(a, b)))

    found, expected = total(solve), total(np.linalg.solve)
    both = np.stack([P, P + np.eye(3)]), np.stack([B, 2 * B])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's solver takes whole batches
        for transform in (grad, hessian):
            close(transform(found, (0, 1))(P, B), transform(expected, (0, 1))(P, B))
        close(jacfwd(jacfwd(found), 1)(P, B), jacfwd(jacfwd(expected), 1)(P, B))
        close(vmap(grad(found, (0, 1)))(*both), vmap(grad(expected, (0, 1)))(*both))
        close(
            hessian(lambda a: np.sum(vmap(solve, (0, None))(a, B) ** 2))(both[0]),
            hessian(lambda a: np.sum(np.linalg.solve(a, B) ** 2))(both[0]),
        )
    close(linear_transpose(lambda b: solve(P, b), B)(B), (np.linalg.solve(P.T, B),))


def test_the_map_may_have_a_rule_of_its_own():
    product = custom_vjp(lambda x: M @ x)
    product.defvjp(lambda x: (M @ x, None), lambda _, g: (g @ M,))
    solution = lambda b: custom_linear_solve(product, b, lambda _, b: np.linalg.solve(M, b))  # noqa: E731
    for transform in (jacrev, jacfwd):
        close(transform(solution)(B), np.linalg.inv(M))
    f, plain = lambda b: np.sum(solution(b) ** 3), lambda b: np.sum(np.linalg.solve(M, b) ** 3)
    close(hessian(f)(B), hessian(plain)(B))


def test_they_are_linear_in_the_right_hand_side_only():
    with pytest.raises(errors.NotLinearError):
        linear_transpose(
            lambda a: custom_linear_solve(lambda x: x + a * x, 2.0, lambda mv, b: b / mv(1.0)), 1.0
        )


def test_they_may_stand_in_rules():
    f = custom_jvp(np.sin)
    f.defjvp(lambda x, t: (np.sin(x[0]), np.cos(x[0]) * by_columns(P, P @ t[0])))
    for transform in (grad, hessian):
        close(transform(lambda x: np.sum(f(x) ** 2))(B), transform(lambda x: np.sum(np.sin(x) ** 2))(B))


def test_symmetric_systems_with_aux():
    def solve(s):
        b = {"u": B, "v": 1.0}
        matvec = lambda x: {"u": s * (P @ x["u"]) + x["v"], "v": np.sum(x["u"]) + 3.0 * x["v"]}  # noqa: E731
        whole = np.block([[2.0 * P, np.ones((3, 1))], [np.ones((1, 3)), np.array([[3.0]])]])

        def solver(matvec, b):
            x = np.linalg.solve(whole, np.append(b["u"], b["v"]))
            return {"u": x[:3], "v": x[3]}, "direct"

        x, aux = custom_linear_solve(matvec, b, solver, symmetric=True, has_aux=True)
        assert aux == "direct"
        return np.sum(x["u"] * x["v"])

    def directly(s):
        whole = np.block([[s * P, np.ones((3, 1))], [np.ones((1, 3)), np.array([[3.0]])]])
        x = np.linalg.solve(whole, np.append(B, 1.0))
        return np.sum(x[:3] * x[3])

    close(grad(solve)(2.0), grad(directly)(2.0))
    close(grad(grad(solve))(2.0), grad(grad(directly))(2.0))


# ---- complex numbers ---------------------------------------------------------------------------------------


def test_complex_systems():
    def total(solve):
        return lambda a, b: np.sum(np.abs(solve(a, b)) ** 2) + np.real(solve(a, b)[0])

    b = B + 1j
    for solve in (by_numpy, by_columns):
        close(grad(total(solve), (0, 1))(C, b), grad(total(np.linalg.solve), (0, 1))(C, b))


def test_complex_roots():
    def root(a):
        return custom_root(lambda z: z * z - a, 1 + 1j, lambda f, z: scipy.optimize.newton(f, z, tol=1e-14))

    def total(f):
        return lambda a: np.abs(f(a)) ** 2 + np.imag(f(a)) ** 3

    a = 1 + 2j
    close(grad(root, holomorphic=True)(a), grad(np.sqrt, holomorphic=True)(a))
    close(jvp(root, (a,), (1j,)), jvp(np.sqrt, (a,), (1j,)))
    close(grad(total(root))(a), grad(total(np.sqrt))(a))


def test_an_equation_with_conjugates_is_linear_over_the_reals_only():
    def root(a):
        def solve(f, z):
            r = f(0j)
            return -complex(r.real / 1.3, r.imag / 0.7)

        return custom_root(lambda z: z + 0.3 * np.conj(z) - a, 0j, solve)

    def directly(a):
        return np.real(a) / 1.3 + 1j * np.imag(a) / 0.7

    def total(f):
        return lambda a: 2.0 * np.abs(f(a)) ** 2 + np.imag(f(a)) ** 3 + np.real(f(a))

    a = np.complex128(1 + 2j)
    close(grad(total(root))(a), grad(total(directly))(a))
    close(jvp(root, (a,), (1 + 1j,)), jvp(directly, (a,), (1 + 1j,)))


# ---- large systems, batches, threads -----------------------------------------------------------------------


def test_large_systems_are_solved_without_their_matrix():
    n = 1500
    diagonal, a = np.linspace(1.0, 5.0, n), RNG.normal(size=n)

    def root(a):
        def f(x):
            return diagonal * x + 0.1 * np.roll(x, 1) + 0.01 * x**3 - a

        return custom_root(f, np.zeros(n), lambda f, x: scipy.optimize.newton_krylov(f, x, f_tol=1e-11))

    x = root(a)
    matrix = np.diag(diagonal + 0.03 * x**2) + 0.1 * np.roll(np.eye(n), 1, axis=0)
    close(grad(lambda a: np.sum(root(a) ** 2))(a), np.linalg.solve(matrix.T, 2 * x))


def test_a_large_system_that_the_iteration_does_not_solve():
    n = 1100
    b = np.zeros(n)
    b[0] = 1.0  # the shift's inverse moves it by n - 1 places: no space of fewer vectors holds it

    def root(a):
        return custom_root(lambda x: np.roll(x, 1) - a, np.zeros(n), lambda f, x: np.roll(b, -1))

    with pytest.raises(errors.NotConvergedError, match="after GMRES"):
        grad(lambda a: root(a)[3])(b)


def test_a_solver_that_takes_no_batches_runs_in_a_loop_and_says_so():
    def root(a):
        return custom_root(lambda x: x**3 - a, 1.0, brent)

    with pytest.warns(errors.BatchLoopWarning, match="custom_root runs in a loop over the batch of 3"):
        close(vmap(root)(THREE), np.cbrt(THREE))


@pytest.mark.parametrize("axis_size", [0, 1, 3])
def test_whole_batches(axis_size):
    a = THREE[:axis_size]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(vmap(grad(WAYS["newton"]))(a), np.ones(axis_size) / 3 * a ** (-2 / 3))


def test_each_member_of_a_batch_is_checked():
    def two_steps(f, x):
        return x - f(x) / 2.0 * 0.999  # right for the first member's equation, not for the other's

    def root(a, c):
        return custom_root(lambda x: 2.0 * x + c * x**2 - a, 0.0, two_steps, rtol=0.01)

    a = np.array([1e6, 1.0])
    assert np.all(np.isfinite(vmap(grad(root), (0, None))(a, 0.0)))
    with pytest.raises(errors.NotConvergedError):
        vmap(grad(root))(a, np.array([0.0, 1.0]))


def test_threads():
    at = [1.0, 2.0, 3.0] * 8
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        close(list(pool.map(hessian(WAYS["scipy"]), at)), [hessian(np.cbrt)(a) for a in at])


# ---- what is refused ---------------------------------------------------------------------------------------


def test_what_is_no_root_has_no_derivative():
    def root(a, rtol=None):
        return custom_root(lambda x: x**2 - a, 1.0, lambda f, x: 1.0 + 1e-3, rtol=rtol)

    assert root(1.0) == 1.001  # a value is the solver's
    for derivative in (grad(root), d(root), jacfwd(root)):
        with pytest.raises(errors.NotConvergedError, match=r"is 1\.0e-03, more than the 1\.2e-04 allowed"):
            derivative(1.0)
    close(grad(root)(1.0, rtol=1e-2), 0.5 / 1.001)
    with pytest.raises(errors.NotConvergedError):
        grad(lambda a: custom_root(lambda x: x - a, 1.0, lambda f, x: np.nan))(1.0)


def test_what_does_not_solve_a_system_has_no_derivative():
    for symmetric in (True, False):
        with pytest.raises(errors.NotConvergedError, match="the residual"):
            grad(lambda b: np.sum(custom_linear_solve(lambda x: P @ x, b, lambda mv, b: b, None, symmetric)))(
                B
            )
    with pytest.raises(errors.NotConvergedError, match="the residual"):  # found out in the backward pass
        exact = lambda _, b: np.linalg.solve(P, b)  # noqa: E731
        grad(lambda b: np.sum(custom_linear_solve(lambda x: P @ x, b, exact, lambda vm, b: b)))(B)
    with pytest.raises(errors.NotConvergedError, match="the residual"):
        grad(lambda a: custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y))(2.0)


def test_maps_that_are_not_linear():
    for matvec, why in [
        (lambda x: P @ x + 1.0, r"matvec\(0\) is"),
        (lambda x: P @ x + x**3, "depends on the"),
    ]:
        with pytest.raises(errors.EquationError, match=rf"(?s)matvec\(x\) is not linear \(.*{why}"):
            grad(lambda b: np.sum(custom_linear_solve(matvec, b, lambda mv, b: 0.0 * b, rtol=2.0)))(B)  # noqa: B023


def test_half_precision():
    root = lambda a: custom_root(lambda x: x**2 - a, np.float16(1.5), lambda f, x: np.float16(2.0))  # noqa: E731
    assert grad(root)(np.float16(4.0)) == np.float16(0.25)


def test_inside_loops_and_branches():
    def looped(root):
        return lambda a: lax.scan(lambda c, x: (root(c) * x, c), a, np.ones(3))[0]

    found, expected = looped(WAYS["scipy"]), looped(np.cbrt)
    close(grad(grad(found))(2.0), grad(grad(expected))(2.0))
    close(vmap(grad(found))(THREE), vmap(grad(expected))(THREE))
    close(grad(program(found, ShapeDtypeStruct((), float)))(2.0), grad(expected)(2.0))
    branched = lambda a: lax.cond(a > 1.5, WAYS["scipy"], lambda a: a, a)  # noqa: E731
    close(vmap(grad(branched))(THREE), np.where(THREE > 1.5, vmap(grad(np.cbrt))(THREE), 1.0))


def test_derivatives_that_are_taken_later():
    _, pull = vjp(WAYS["scipy"], 2.0)
    slope = grad(np.cbrt)(2.0)
    close(grad(lambda g: pull(g)[0] ** 2)(3.0), 6.0 * slope**2)
    close(vmap(lambda g: pull(g)[0])(THREE), THREE * slope)
    _, push = linearize(WAYS["scipy"], 2.0)
    close(vmap(push)(THREE), THREE * slope)
    in_members = lambda w: vjp(lambda a: WAYS["scipy"](a * w), 2.0)[1](1.0)[0]  # noqa: E731
    expected = grad(lambda w: grad(lambda a: np.cbrt(a * w))(2.0))
    close(jacrev(vmap(in_members))(THREE), np.diag(vmap(expected)(THREE)))


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_singular_equations(scale):
    ones = np.full((3, 3), scale)

    def root(a):
        return custom_root(lambda x: ones @ x - a, np.zeros(3), lambda f, x: x + a0 / 3 / scale)

    a0 = np.full(3, scale)
    with pytest.raises(errors.SingularSystemError, match="singular at the solution"):
        grad(lambda a: np.sum(root(a)))(a0)
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda a: custom_root(lambda x: x**3 - a, 0.0, lambda f, x: x))(0.0)


def test_badly_scaled_equations_are_not_singular():
    scale = np.array([1e-150, 1.0, 1e150])
    root = lambda a: custom_root(lambda x: scale * x - a, np.zeros(3), lambda f, x: -f(x) / scale)  # noqa: E731
    close(jacrev(root)(scale), np.diag(1 / scale))


def test_forms():
    good = lambda f, x: x  # noqa: E731
    for f, guess, solve, message in [
        (lambda x: x[:1], np.ones(2), good, r"f\(x\) is a value of shape \(1,\)"),
        (lambda x: (x,), np.ones(2), good, r"f\(x\) is the tree"),
        (lambda x: x + 1j, np.ones(2), good, r"f\(x\) is .*complex"),
        (np.sin, np.ones(2), lambda f, x: x[0], "the solver's result is"),
        (np.sin, np.ones(2), lambda f, x: [x], "the solver's result is the tree"),
    ]:
        with pytest.raises(errors.EquationError, match=message) as caught:
            custom_root(f, guess, solve)
        assert f"{__file__}:" in str(caught.value)
    with pytest.raises(ValueError, match="vmap_method"):
        custom_root(np.sin, 1.0, good, vmap_method="loop")
    with pytest.raises(errors.NotConvergedError, match="the last step, after 50 of them"):
        custom_fixed_point(lambda x: -x, 1.0, max_steps=50)


def test_programs_show_the_equation():
    made = make_jaxpr(WAYS["scipy"])(2.0)
    check_jaxpr(made)
    assert "implicit[equation=custom_root" in str(made)
    with pytest.raises(errors.OutputTypeError, match="aux of type str"):
        make_jaxpr(
            lambda a: custom_root(lambda x: x - a, 1.0, lambda f, x: (-f(0.0), "yes"), has_aux=True)[0]
        )(1.0)


def test_single_precision_stays():
    found = grad(lambda a: custom_root(lambda x: x**3 - a, np.float32(1.5), newton_in_steps))(np.float32(8.0))
    assert found.dtype == np.float32
    close(found, np.float32(1 / 12), 1e-5)


def newton_in_steps(f, x):
    for _ in range(20):
        x = x - f(x) / (3 * x**2)
    return x


def test_the_guess_has_no_derivative_and_aux_is_the_solvers():
    def f(a, guess):
        x, aux = custom_root(
            lambda x: x**3 - a, guess, lambda f, x: (newton(f, x), {"guess": x}), has_aux=True
        )
        return x + 0.0 * aux["guess"]

    close(grad(f, (0, 1))(8.0, 1.5), (1 / 12, 0.0))


def test_where_they_are_found():
    for f in (custom_root, custom_linear_solve, custom_fixed_point, custom_minimizer):
        assert getattr(lax, f.__name__) is f
