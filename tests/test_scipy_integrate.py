"""`funcgrad.scipy.integrate`: Leibniz' rule against closed forms, and what is refused."""

import numpy as np
import pytest
import scipy.integrate

from funcgrad import errors, grad, hessian, jacrev, make_jaxpr, vmap
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad.scipy import integrate as I


def test_limits_and_argument_at_once():
    """d/dw of the integral of exp(-w x) from 0 to w is exp(-w^2) less that of x exp(-w x)."""
    found = grad(lambda w: I.quad(lambda x, w: np.exp(-w * x), 0.0, w, args=(w,))[0])
    integral = scipy.integrate.quad(lambda x: x * np.exp(-1.5 * x), 0, 1.5)[0]
    assert np.isclose(found(1.5), np.exp(-2.25) - integral, rtol=1e-12)
    assert np.isclose(grad(found)(1.5), (found(1.5 + 1e-5) - found(1.5 - 1e-5)) / 2e-5, rtol=1e-8)


def test_gaussian_moments_of_every_order():
    """The n-th derivative of the integral of exp(-w x^2) is that of sqrt(pi / w)."""
    f = lambda w: I.quad(lambda x, w: np.exp(-w * x * x), -np.inf, np.inf, args=(w,))[0]  # noqa: E731
    w = 0.8
    for order, factor in enumerate((1, -1 / 2, 3 / 4, -15 / 8)):
        assert np.isclose(f(w), factor * np.sqrt(np.pi) * w ** (-order - 0.5), rtol=1e-9)
        f = grad(f)


def test_a_derivative_has_its_own_error_control():
    """At w = 0 the integrand vanishes and one interval is enough for it, but not for its derivative."""
    spike = lambda x: np.exp(-1e4 * (x - 0.3) ** 2)  # noqa: E731
    found = grad(lambda w: I.quad(lambda x, w: w * spike(x), 0, 1, args=(w,))[0])(0.0)
    assert np.isclose(found, np.sqrt(np.pi) / 100, rtol=1e-8)


def test_arguments_of_any_structure():
    params = {"rates": np.array([0.5, 2.0]), "name": None, "scale": (3.0, 1)}

    def f(params):
        def integrand(x, p, power):
            return p["scale"][0] * np.sum(np.exp(-p["rates"] * x)) ** power

        return I.quad(integrand, 0.0, 1.0, args=(params, 2))[0]

    found = grad(lambda p: f({**params, "rates": p}))(params["rates"])
    shift = 1e-6 * np.eye(2)
    expected = [(f({**params, "rates": params["rates"] + s}) - f({**params, "rates": params["rates"] - s}))
                for s in shift]  # fmt: skip
    assert np.allclose(found, np.array(expected) / 2e-6, rtol=1e-6)


def test_vector_integrals():
    """The Jacobian of integrals of exp(-w_i x) is diagonal."""
    w = np.array([0.5, 1.0, 2.0])
    found = jacrev(lambda w: I.quad_vec(lambda x, w: np.exp(-w * x), 0.0, 1.0, args=(w,))[0])(w)
    expected = np.exp(-w) / w - (1 - np.exp(-w)) / w**2
    assert np.allclose(found, np.diag(expected), atol=1e-10)


def test_a_double_and_a_triple_integral():
    area = lambda r: I.dblquad(  # noqa: E731
        lambda y, x, r: 1.0, -r, r, lambda x: -np.sqrt(r * r - x * x) if r * r > x * x else 0.0 * r,
        lambda x: np.sqrt(r * r - x * x) if r * r > x * x else 0.0 * r, args=(r,),
    )  # fmt: skip
    with pytest.raises(errors.UnsupportedArgumentError, match="args="):
        grad(lambda r: area(r)[0])(1.0)  # the bounds close over r
    volume = grad(
        lambda a: I.tplquad(
            lambda z, y, x, a: a * x * y * z, 0, a, 0, lambda x: x, 0, lambda x, y: y, args=(a,)
        )[0]
    )
    assert np.isclose(volume(1.0), 7 / 48, rtol=1e-10)


def test_integrals_under_vmap_and_staged():
    f = lambda w: I.quad(lambda x, w: np.exp(-w * x), 0.0, 1.0, args=(w,))[0]  # noqa: E731
    w = np.array([0.5, 2.0])
    assert np.allclose(vmap(grad(f))(w), [grad(f)(x) for x in w])
    program = make_jaxpr(hessian(f))(ShapeDtypeStruct((), np.float64))
    assert [eqn.primitive.name for eqn in program.eqns].count("integral") >= 1


def test_jumps_are_told_of():
    """The derivative of the length of {x < w} comes from where the jump is, which no rule sees."""
    f = lambda w: I.quad(lambda x, w: 1.0 if x < w else 0.0, 0, 1, args=(w,), points=[0.5])[0]  # noqa: E731
    with pytest.warns(errors.DependenceCutWarning, match="where it may jump.*Split the integral"):
        grad(f)(0.5)


def decay(w, **options):
    return I.solve_ivp(lambda t, y: -w * y, (0.0, 1.0), [1.0], rtol=1e-10, atol=1e-10, **options)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_a_right_hand_side_that_closes_over_what_is_traced(method):
    """y = exp(-w t), and every derivative of it."""
    f = lambda w: decay(w, method=method).y[0, -1]  # noqa: E731
    for order in range(4):
        assert np.isclose(f(0.7), (-1) ** order * np.exp(-0.7), rtol=1e-7)
        f = grad(f)


def test_times_that_depend_on_what_is_traced():
    """y(w) = exp(-w^2), read off the dense solution; y at the end of the span, which is w too."""
    dense = grad(lambda w: decay(w, dense_output=True).sol(w)[0])(0.7)
    assert np.isclose(dense, -1.4 * np.exp(-0.49), rtol=1e-8)

    def end(w):
        return I.solve_ivp(lambda t, y: -w * y, (0.0, w), [1.0], rtol=1e-10, atol=1e-10).y[0, -1]

    assert np.isclose(grad(end)(0.7), -1.4 * np.exp(-0.49), rtol=1e-8)


def test_a_solution_is_scipys():
    plain = I.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.2, 1.0])
    assert type(plain) is type(scipy.integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0]))

    def f(y):
        found = I.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.stack([y]), t_eval=[0.2, 1.0])
        assert found.success and found.nfev == plain.nfev and found.sol is None
        assert np.array_equal(found.t, plain.t)
        return found.y[0]

    assert np.allclose(jacrev(f)(1.0), plain.y[0], rtol=1e-12)
    with pytest.raises(errors.UnknownValueError, match="choice of solve_ivp's steps"):
        vmap(f)(np.ones(2))
    with pytest.raises(ValueError, match="t_eval"):
        grad(lambda y: I.solve_ivp(lambda t, y: -y, (0.0, 1.0), np.stack([y]), t_eval=[2.0]).y[0, 0])(1.0)


ROWS = [
    (lambda w: I.quad(lambda x: np.exp(-w * x), 0.0, 1.0)[0], r"args=\(w,\)"),
    (lambda w: I.quad(lambda x, v: np.exp(-w * x * v), 0.0, 1.0, args=(w,))[0], r"args=\(w,\)"),
    (lambda w: I.quad_vec(lambda x: np.exp(-w * x), 0.0, 1.0)[0], r"args=\(w,\)"),
    (lambda w: I.quad(lambda x, w: w, 0.0, 1.0, args=(w,), full_output=1)[0], "Leave it out"),
    (lambda w: I.quad(lambda x: x, 0.0, 1.0, weight="cos", wvar=w)[0], "by args="),
    (lambda w: I.quad(lambda x: x, 0.0, w, weight="cos", wvar=1.0)[0], "Write the weight into"),
    (lambda w: I.quad_vec(lambda x, w: w, 0.0, 1.0, args=(w,), workers=2)[0], "Leave it out"),
    (lambda w: I.romb(np.stack([w, w, w]), show=True), "stop_gradient"),
    (lambda w: I.solve_ivp(lambda t, y: -w * y, (0, 1.0), [1.0], method="LSODA").y, 'method="RK45"'),
    (lambda w: I.solve_ivp(lambda t, y: -w * y, (0, 1.0), [1.0], events=lambda t, y: y[0]).y, "Newton"),
    (lambda w: I.solve_ivp(lambda t, y: -y, (0, 1.0), [1.0], rtol=w).y, "steers the steps"),
    (lambda w: I.odeint(lambda y, t: -y * w, [1.0], [0, 1.0])[0, 0], "Take solve_ivp"),
    (lambda w: I.odeint(lambda y, t: -y, w, [0, 1.0])[0, 0], "Take solve_ivp"),
    (lambda w: I.nquad(lambda x: x, [[0, w]])[0], "dblquad"),
    (lambda w: I.tanhsinh(lambda x: x, 0, w).integral, "quad"),
]


@pytest.mark.parametrize("f, cure", ROWS)
def test_refusals_say_what_to_write(f, cure):
    refused = (errors.UnsupportedArgumentError, errors.UnsupportedFunctionError)
    with pytest.raises(refused, match=cure) as info:
        grad(lambda w: np.sum(f(w)))(0.7)
    assert "scipy.integrate." in str(info.value) and "test_scipy_integrate.py" in str(info.value)


def test_steps_of_length_zero():
    """Repeated abscissae: SciPy leaves the parabola's terms out, and so does the derivative."""
    y, x = np.arange(5.0) ** 2, np.array([0.0, 1, 1, 2, 3])
    assert np.isclose(I.simpson(y, x=x), scipy.integrate.simpson(y, x=x))
    assert np.all(np.isfinite(grad(lambda y: I.simpson(y, x=x))(y)))


def test_wrong_samples_are_scipys_errors():
    for f in (
        lambda y: I.romb(y[:4]),
        lambda y: I.cumulative_simpson(y, x=y * 0),
        lambda y: I.cumulative_simpson(y, dx=np.ones(2)),
        lambda y: I.cumulative_trapezoid(y, initial=1),
        lambda y: I.cumulative_trapezoid(y[:0]),
        lambda y: I.simpson(y, x=y[:3]),
    ):
        with pytest.raises(ValueError):
            grad(lambda y: np.sum(f(y)))(np.arange(5.0))


def test_an_integral_between_equal_limits():
    from_start = grad(lambda b: I.quad(lambda t: np.exp(-t), 0.0, b)[0])
    assert from_start(0.0) == 1.0
    assert np.isclose(grad(from_start)(0.0), -1.0)
