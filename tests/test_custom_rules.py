"""custom_jvp and custom_vjp: which code runs on what, structures, opaque functions, closures, refusals."""

import functools
import warnings

import numpy as np
import pytest
from expect import in_threads
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import spsolve

from funcgrad import (
    ShapeDtypeStruct,
    check_jaxpr,
    custom_jvp,
    custom_vjp,
    errors,
    eval_jaxpr,
    float0,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    make_jaxpr,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad.testing import check_grads

X = np.array([0.5, -1.5, 2.0])


def close(a, b, rtol=1e-12):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


def plain(x):
    """An array that code in C could take."""
    assert type(x) in (np.ndarray, np.float64, float), type(x)
    return x


# ---- opaque code: called with plain arrays wherever values are known ---------------------------


def opaque_cube():
    """x**3, whose function and rules refuse anything but plain arrays."""
    cube = custom_vjp(lambda x: plain(x) ** 3)
    cube.defvjp(lambda x: (plain(x) ** 3, plain(x)), lambda x, g: (square(x) * 3.0 * g,))
    square = custom_vjp(lambda x: plain(x) ** 2)
    square.defvjp(lambda x: (plain(x) ** 2, plain(x)), lambda x, g: (2.0 * x * g,))
    return cube


def test_the_function_and_its_rules_get_plain_arrays():
    cube = opaque_cube()
    close(cube(X), X**3)
    close(grad(lambda x: np.sum(cube(x)))(X), 3 * X**2)
    close(jvp(cube, (X,), (X,))[1], 3 * X**3)
    close(linearize(cube, X)[1](X), 3 * X**3)
    close(jacrev(cube)(X), np.diag(3 * X**2))
    close(jacfwd(cube)(X), np.diag(3 * X**2))


def test_both_rules_may_be_opaque():
    f = custom_jvp(lambda x: plain(x) ** 3)
    f.defjvp(lambda primals, ts: (plain(primals[0]) ** 3, 3 * plain(primals[0]) ** 2 * plain(ts[0])))
    f.defvjp(lambda x: (plain(x) ** 3, plain(x)), lambda x, g: (3 * x**2 * plain(g),))
    close(jvp(f, (X,), (X,))[1], 3 * X**3)
    close(vjp(f, X)[1](X)[0], 3 * X**3)
    close(linearize(f, X)[1](X), 3 * X**3)


def test_a_sparse_solver_with_a_matrix_as_argument():
    @functools.partial(custom_vjp, vmap_method="sequential")
    def solve(matrix, b):
        return spsolve(matrix, b)

    def bwd(residuals, g):
        (matrix,) = residuals
        return None, solve(matrix.T.tocsc(), g)

    solve.defvjp(lambda matrix, b: (solve(matrix, b), (matrix,)), bwd)
    matrix = sparse.csc_matrix(np.array([[4.0, 1, 0], [1, 3, 1], [0, 0, 2]]))
    f = lambda b: np.sum(solve(matrix, b) ** 2)  # noqa: E731
    inverse = np.linalg.inv(matrix.toarray())
    close(grad(f)(X), 2 * inverse.T @ inverse @ X)
    close(hvp(f)(X, X), 2 * inverse.T @ inverse @ X)
    close(hessian(f)(X), 2 * inverse.T @ inverse)


def test_a_root_of_scipy_at_every_order():
    """x with x + exp(x) = a: dx/da = 1 / (1 + exp(x))."""

    @custom_jvp
    def root(a):
        return brentq(lambda x: x + np.exp(x) - a, -50, 50, xtol=1e-15, rtol=1e-15)

    @root.defjvp
    def rule(primals, tangents):
        x = root(*primals)
        return x, tangents[0] / (1 + np.exp(x))

    x = root(2.0)
    e = np.exp(x)
    close(grad(root)(2.0), 1 / (1 + e), 1e-10)
    close(grad(grad(root))(2.0), -e / (1 + e) ** 3, 1e-10)
    close(grad(grad(grad(root)))(2.0), -e * (1 - 2 * e) / (1 + e) ** 5, 1e-9)
    close(jvp(grad(root), (2.0,), (1.0,))[1], -e / (1 + e) ** 3, 1e-10)


def test_batches_of_opaque_code_run_in_a_loop_if_asked():
    f = custom_jvp(lambda x: float(plain(x)) ** 3, vmap_method="sequential")
    f.defjvp(lambda p, t: (f(p[0]), 3 * p[0] ** 2 * t[0]))
    close(vmap(f)(X), X**3)
    close(vmap(grad(f))(X), 3 * X**2)
    close(grad(lambda x: np.sum(vmap(f)(x)))(X), 3 * X**2)
    close(vmap(vmap(f))(np.stack([X, 2 * X])), np.stack([X, 2 * X]) ** 3)
    with pytest.raises(errors.BatchAxisError, match="which is empty"):
        vmap(f)(np.zeros(0))


@pytest.mark.parametrize("kind", [custom_jvp, custom_vjp])
def test_central_differences_in_place_of_a_rule(kind):
    def f(x, n, y):
        return np.array([plain(x)[0] * np.sin(y), x[1] ** n * y, float(x[0])])

    g = kind(f, numeric="central")
    args = np.array([0.7, 1.2]), 2, 0.4
    exact = np.array([[np.sin(0.4), 0], [0, 2 * 1.2 * 0.4], [1, 0]])
    close(jacfwd(g)(*args), exact, 1e-8)
    close(jacrev(g)(*args), exact, 1e-8)
    close(jacrev(g, 2)(*args), [0.7 * np.cos(0.4), 1.44, 0], 1e-8)
    np.testing.assert_allclose(jacrev(jacrev(g, 2), 2)(*args), [-0.7 * np.sin(0.4), 0, 0], atol=1e-4)
    close(vmap(g, (0, None, None))(np.ones((2, 2)), 2, 0.4), np.stack([f(np.ones(2), 2, 0.4)] * 2))


def test_complex_steps_in_place_of_a_rule():
    g = custom_jvp(lambda x: np.exp(x) * np.sin(x), numeric="complex-step")
    close(grad(g)(0.8), np.exp(0.8) * (np.sin(0.8) + np.cos(0.8)), 1e-15)
    assert grad(g)(np.float32(0.8)).dtype == np.float32
    close(jacrev(g)(X), np.diag(np.exp(X) * (np.sin(X) + np.cos(X))), 1e-14)
    with pytest.raises(errors.ComplexStepError):
        grad(grad(g))(0.8)


def test_differences_are_marked_in_programs():
    program = make_jaxpr(custom_jvp(np.sin, numeric="central"))(ShapeDtypeStruct((), float))
    assert "by central differences" in str(program)


# ---- arguments and results ---------------------------------------------------------------------


def test_nondiff_arguments_come_first_in_rules():
    @functools.partial(custom_vjp, nondiff_argnums=(0, 2))
    def apply(f, x, power):
        return f(x) ** power

    def fwd(f, x, power):
        return apply(f, x, power), x

    def bwd(f, power, x, g):
        return (vjp(lambda x: f(x) ** power, x)[1](g)[0],)

    apply.defvjp(fwd, bwd)
    close(grad(lambda x: apply(np.sin, x, 3))(0.5), 3 * np.sin(0.5) ** 2 * np.cos(0.5))

    other = custom_jvp(lambda n, x: x**n, nondiff_argnums=0)
    other.defjvp(lambda n, p, t: (p[0] ** n, n * p[0] ** (n - 1) * t[0]))
    close(grad(other, 1)(3, 0.5), 3 * 0.25)
    close(grad(grad(other, 1), 1)(3, 0.5), 6 * 0.5)


def test_nondiff_arguments_that_are_traced_count_as_closed_over():
    scale = custom_vjp(lambda a, x: a * np.sin(x), nondiff_argnums=0)
    scale.defvjp(lambda a, x: (scale(a, x), x), lambda a, x, g: (a * np.cos(x) * g,))
    value, gradient = value_and_grad(lambda a, x: scale(a, x), (0, 1))(2.0, 0.5)
    close(gradient, (np.sin(0.5), 2 * np.cos(0.5)))
    close(hessian(lambda a: scale(a, a))(0.5), 2 * np.cos(0.5) - 0.5 * np.sin(0.5))


def test_keywords_and_defaults_become_positions():
    f = custom_jvp(lambda x, y=2.0, *, scale=3.0: x * y * scale)
    f.defjvp(lambda p, t: (p[0] * p[1] * 3.0, (t[0] * p[1] + p[0] * t[1]) * 3.0))
    close(grad(lambda x: f(x, y=4.0))(1.0), 12.0)
    close(grad(lambda y: f(y=y, x=5.0))(1.0), 15.0)


def test_trees_of_arguments_and_results():
    @custom_vjp
    def f(p, q):
        return {"sum": p["w"] + q[0], "count": np.arange(3), "none": None}, p["w"] * q[1]

    def bwd(residuals, g):
        p, q = residuals
        first, second = g
        assert first["count"].dtype == float0 and first["none"] is None
        return {"w": first["sum"] + second * q[1], "b": None}, (first["sum"], second * p["w"])

    f.defvjp(lambda p, q: (f(p, q), (p, q)), bwd)
    p, q = {"w": X, "b": X}, (X + 1, X + 2)

    def loss(p, q):
        first, second = f(p, q)
        return np.sum(first["sum"] ** 2 + second * first["count"])

    def direct(p, q):
        return np.sum((p["w"] + q[0]) ** 2 + p["w"] * q[1] * np.arange(3))

    for got, expected in zip(grad(loss, (0, 1))(p, q), grad(direct, (0, 1))(p, q)):
        for a, b in zip(
            got.values() if isinstance(got, dict) else got,
            expected.values() if isinstance(got, dict) else expected,
        ):
            close(a, b)
    close(jvp(loss, (p, q), (p, q))[1], jvp(direct, (p, q), (p, q))[1])


def test_integer_arguments_have_tangents_without_values():
    f = custom_jvp(lambda i, x: x[i])

    @f.defjvp
    def rule(primals, tangents):
        assert tangents[0].dtype == float0 and np.shape(tangents[0]) == np.shape(primals[0])
        return f(*primals), tangents[1][primals[0]]

    close(grad(lambda x: np.sum(f(np.array([0, 2, 2]), x)))(X), [1, 0, 2])


def test_methods_and_names():
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @custom_jvp
        def apply(self, x):
            """Documented."""
            return self.factor * x

        @apply.defjvp
        def _rule(primals, tangents):
            self, x = primals
            return self.factor * x, self.factor * tangents[1]

    assert grad(Model(3.0).apply)(1.0) == 3.0
    assert Model.apply.__name__ == "apply" and Model.apply.__doc__ == "Documented."
    assert repr(custom_vjp(np.sin)) == "custom_vjp(sin)"


def test_defjvps_gives_a_rule_for_each_argument():
    f = custom_jvp(lambda x, y, z: x * y + z)
    f.defjvps(lambda t, out, x, y, z: t * y, None, lambda t, out, x, y, z: t)
    close(grad(f, (0, 2))(2.0, 3.0, 4.0), (3.0, 1.0))
    assert grad(f, 1, unused="zero")(2.0, 3.0, 4.0) == 0
    with pytest.raises(ValueError, match="nondiff_argnums"):
        custom_jvp(f, nondiff_argnums=0).defjvps(None)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_dtypes_are_kept(dtype):
    x = X.astype(dtype)
    f = custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (x * x, x), lambda x, g: (2 * x * g,))
    (ct,) = vjp(f, x)[1](x)
    assert ct.dtype == x.dtype
    close(ct, 2 * x * x, 1e-6)
    check_grads(f, (x,), order=2 if dtype == "f8" else 1)


# ---- what rules return -------------------------------------------------------------------------


def rule_of(bwd=None, fwd=None):
    f = custom_vjp(lambda x, y: x * y)
    f.defvjp(fwd or (lambda x, y: (x * y, (x, y))), bwd or (lambda r, g: (g * r[1], g * r[0])))
    return lambda: grad(lambda x, y: np.sum(f(x, y)), (0, 1))(X, X)


@pytest.mark.parametrize(
    "run, message",
    [
        (rule_of(lambda r, g: g), "bwd rule .* returned a value of shape"),
        (rule_of(lambda r, g: (g,)), "returned a tuple of 1\nReturn a tuple of 2 cotangents"),
        (rule_of(lambda r, g: (g, g[0])), r"a cotangent of shape \(\) for an argument of shape \(3,\)"),
        (rule_of(lambda r, g: ((g, g), g)), "cotangents of the arguments' structure"),
        (rule_of(fwd=lambda x, y: x * y), "fwd rule .* returned a value of shape"),
    ],
)
def test_rules_of_other_forms_are_refused(run, message):
    with pytest.raises(errors.CustomRuleError, match=message):
        run()


@pytest.mark.parametrize(
    "rule, message",
    [
        (lambda p, t: p[0], "jvp rule .* Return a pair|a pair"),
        (lambda p, t: (p[0], (t[0], t[0])), "a tangent of out's structure"),
        (lambda p, t: (p[0], t[0][0]), r"a tangent of shape \(\) for a result of shape \(3,\)"),
    ],
)
def test_jvp_rules_of_other_forms_are_refused(rule, message):
    f = custom_jvp(lambda x: x)
    f.defjvp(rule)
    for run in (lambda: jvp(f, (X,), (X,)), lambda: vjp(f, X)):
        with pytest.raises(errors.CustomRuleError, match=message):
            run()


def test_none_stands_for_zero():
    f = custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y, None))
    close(grad(f, (0, 1), unused="zero")(2.0, 3.0), (3.0, 0.0))
    g = custom_jvp(lambda x: (x, 2.0))
    g.defjvp(lambda p, t: ((p[0], 2.0), (t[0], None)))
    assert jvp(g, (1.0,), (1.0,)) == ((1.0, 2.0), (1.0, 0.0))


@pytest.mark.parametrize("numeric", ["forward", True])
def test_other_ways_of_differences_are_refused(numeric):
    with pytest.raises(ValueError, match="'central' or 'complex-step'"):
        custom_jvp(np.sin, numeric=numeric)


def test_rules_that_are_not_linear():
    f = custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (p[0], t[0] ** 2))
    with pytest.raises(errors.NotLinearRuleError, match="not linear in its tangents"):
        grad(f)(1.0)
    f = custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (p[0], t[0] + 1.0))
    with pytest.raises(errors.NotLinearRuleError, match=r"f\(0\) is 1"):
        grad(f)(1.0)


# ---- closures, zeros, programs, threads ----------------------------------------------------------


def test_closures_are_differentiated_by_the_function_itself():
    def f(w, x):
        g = custom_vjp(lambda x: np.sin(w * x))
        g.defvjp(lambda x: (g(x), x), lambda x, ct: (7.0 * ct,))  # not the true one, to tell them apart
        return g(x)

    close(grad(f, (0, 1))(2.0, 0.5), (0.5 * np.cos(1.0), 7.0))
    close(jvp(f, (2.0, 0.5), (1.0, 0.0))[1], 0.5 * np.cos(1.0))
    close(jvp(f, (2.0, 0.5), (0.0, 1.0))[1], 7.0)
    close(grad(lambda w: f(w, w))(0.5), 7.0 + 0.5 * np.cos(0.25))


def test_structural_zeros_pass_rules_for_tangents():
    root = custom_jvp(np.sqrt)
    root.defjvp(lambda p, t: (root(p[0]), 0.5 * t[0] / root(p[0])))
    f = lambda x: np.sum(np.where(x > 0, root(x), 0))  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(grad(f)(np.array([0.0, 4.0])), [0, 0.25])


def test_linear_functions_with_rules():
    f = custom_vjp(lambda x: 3.0 * x[::-1])
    f.defvjp(lambda x: (f(x), None), lambda _, g: (f(g),))
    close(linear_transpose(lambda x: 2.0 * f(x), X)(X)[0], 6 * X[::-1])
    close(jvp(f, (X,), (X,))[1], 3 * X[::-1])
    square = custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (square(x), x), lambda x, g: (2 * x * g,))
    with pytest.raises(errors.NotLinearError, match="may read its arguments"):
        linear_transpose(square, X)
    bent = custom_vjp(lambda x: x)
    bent.defvjp(lambda x: (x, None), lambda _, g: (square(g),))
    with pytest.raises(errors.NotLinearRuleError, match="which has rules of its own"):
        jvp(bent, (X,), (X,))


def test_a_rule_that_calls_its_function_on_tangents():
    f = custom_jvp(lambda x: 3.0 * x)
    f.defjvp(lambda p, t: (f(p[0]), f(t[0])))
    assert jvp(f, (1.0,), (2.0,)) == (3.0, 6.0)
    with pytest.raises(errors.CustomRuleError, match="calls the function on its tangents without end"):
        grad(f)(1.0)


def test_programs_keep_the_rules_and_what_they_close_over():
    def f(w, x):
        g = custom_vjp(lambda x: w * x)
        g.defvjp(lambda x: (g(x), None), lambda _, ct: (5.0 * w * ct,))
        return g(x)

    number = ShapeDtypeStruct((), float)
    program = make_jaxpr(f)(number, number)
    check_jaxpr(program)
    assert [eqn.primitive.name for eqn in program.eqns] == ["custom_call"]
    run = lambda w, x: eval_jaxpr(program, program.consts, w, x)[0]  # noqa: E731
    assert run(2.0, 3.0) == 6.0
    close(grad(run, (0, 1))(2.0, 3.0), (3.0, 10.0))
    close(vmap(grad(run, (0, 1)))(X, X + 1)[1], 5 * X)


def test_threads_pull_one_call_together():
    cube = opaque_cube()
    _, pull = vjp(lambda x: cube(np.sin(x)), X)
    expected = pull(X)[0]
    for result in in_threads(lambda: pull(X)[0], 8):
        close(result, expected)


def test_arrays_that_a_rule_keeps_are_not_changed_by_it():
    f = custom_vjp(lambda x: x * 2.0)

    def fwd(x):
        x *= 2.0
        return x, None

    f.defvjp(fwd, lambda _, g: (2.0 * g,))
    x = X.copy()
    out, pull = vjp(lambda x: f(x * 1.0) + f(x), x)
    close(out, 4 * X)
    close(x, X)
    close(pull(X)[0], 4 * X)


def test_rules_stay_with_the_transform_whose_values_they_get():
    """A function that closes over a newer transform's value keeps its rule for an older one's arguments."""

    def f(x):
        def inner(w):
            unit = custom_vjp(lambda x: x * (w if np.ndim(w) == 0 else 1.0))
            unit.defvjp(lambda x: (x * 2.0, None), lambda _, g: (100.0 * g,))
            return unit(x)

        return grad(inner, unused="zero")(2.0) + inner(3.0)

    close(grad(f)(5.0), 100.0 + 1.0)


def test_members_of_a_loop_read_their_own_values_of_what_is_closed_over():
    def f(w, x):
        g = custom_vjp(lambda x: float(plain(x)) * w, vmap_method="sequential")
        g.defvjp(lambda x: (g(x), None), lambda _, ct: (ct * w,))
        return g(x)

    close(vmap(f)(X, X + 1), X * (X + 1))
    close(vmap(grad(f, 1))(X, X + 1), X)
    both = custom_jvp(lambda w, x: w * x, vmap_method="sequential")
    both.defjvp(lambda p, t: (both(*p), t[0] * p[1] + p[0] * t[1]))
    close(vmap(both, (0, None))(X, 2.0), 2 * X)
