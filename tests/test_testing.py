"""The checks themselves: planted faults are found and named, kinks are told apart from faults."""

import numpy as np
import pytest

from funcgrad import errors, stop_gradient
from funcgrad.extend import elementwise, general, linear
from funcgrad.testing import check_grads, check_primitive, numerical_jvp

X = np.array([0.3, -1.2, 2.0])

# ---- numerical derivatives -----------------------------------------------------------------


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (np.exp, 1.0, np.exp(1.0)),
        (np.sqrt, 1e-6, 500.0),
        (np.log, 1e6, 1e-6),
        (lambda x: np.sin(1e3 * x), 0.5, 1e3 * np.cos(500.0)),
        (lambda x: x**9, 2.0, 9 * 2.0**8),
        (np.exp, 1.0 + 2.0j, np.exp(1.0 + 2.0j)),
    ],
)
def test_numerical_derivatives_have_nearly_all_digits(f, x, expected):
    assert numerical_jvp(f, (x,), (1.0,)) == pytest.approx(expected, rel=1e-13)


def test_numerical_derivatives_of_what_stops_at_float64():
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    t = np.array([[1.0, 0.0], [2.0, 0.0]])
    expected = np.linalg.det(a) * np.trace(np.linalg.solve(a, t))
    assert numerical_jvp(np.linalg.det, (a,), (t,)) == pytest.approx(expected, rel=1e-9)


def test_numerical_derivatives_of_trees():
    found = numerical_jvp(
        lambda p: {"y": p["a"] * p["n"], "n": p["n"]}, ({"a": X, "n": 3},), ({"a": X, "n": 0},)
    )
    np.testing.assert_allclose(found["y"], 3 * X, rtol=1e-14)
    assert found["n"] == 0
    assert found["y"].dtype == np.float64


def test_numerical_derivatives_of_complex_functions_are_real_linear():
    assert numerical_jvp(np.abs, (3.0 + 4.0j,), (1.0j,)) == pytest.approx(0.8, rel=1e-13)


# ---- check_grads ---------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("modes", [("fwd", "rev"), ["fwd"], ("rev",)])
def test_smooth_functions_pass(order, modes):
    check_grads(lambda x, y: np.sin(x) * np.exp(y) + x, (X, X / 2), order=order, modes=modes)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G"])
def test_dtypes_pass(dtype):
    check_grads(lambda x: np.sin(x) * x, (X.astype(dtype),), order=1 if dtype == "f2" else 2)


def test_scalars_integers_and_empty_arrays_pass():
    check_grads(lambda x, n: (x * n, n, {"y": np.sin(x)}), (0.5, 3), order=3)
    check_grads(lambda x: x * 2.0, (np.zeros((0, 3)),))


def stopped(x):
    return x * stop_gradient(x)


def test_a_wrong_entry_is_named():
    with pytest.raises(errors.DerivativeMismatchError) as caught:
        check_grads(lambda p: {"good": p["a"], "bad": p["a"] * stopped(p["b"])}, ({"a": X, "b": X},))
    assert (caught.value.word, caught.value.path, caught.value.entry) == ("fwd", "out['bad']", (0,))
    with pytest.raises(errors.DerivativeMismatchError) as caught:
        check_grads(lambda p: p["a"] * stopped(p["b"]), ({"a": X, "b": X},), modes=["rev"])
    assert (caught.value.word, caught.value.path, caught.value.entry) == ("rev", "arg[0]['b']", (0,))
    assert "the rev derivative of" in str(caught.value)
    assert caught.value.found == pytest.approx(caught.value.expected / 2)


def test_a_wrong_entry_among_right_ones_is_named():
    mask = np.array([0.0, 0.0, 1.0])
    with pytest.raises(errors.DerivativeMismatchError) as caught:
        check_grads(lambda x: x * x * (1 - mask) + stopped(x) * mask, (X,), modes=["rev"])
    assert caught.value.entry == (2,)


def test_tolerances_are_taken():
    def slightly_off(x):
        return x * x + 1e-5 * stopped(x)

    with pytest.raises(errors.DerivativeMismatchError):
        check_grads(slightly_off, (X,), order=1)
    check_grads(slightly_off, (X,), order=1, rtol=1e-4)
    check_grads(slightly_off, (X,), order=1, atol=1e-4)
    check_grads(np.sin, (X,), eps=1e-2)


KINKS = {
    "kink": (lambda x: np.sqrt(x * x), 0.0, "its slope jumps there from -1"),
    "kink of the derivative": (lambda x: x * np.sqrt(x * x), 1e-100, "second derivative jumps there"),
    "jump": (lambda x: x / np.sqrt(x * x), 1e-100, "its value jumps there from"),
    "edge": (lambda x: np.sqrt(x), 0.0, "not defined on both sides"),
    "pole": (lambda x: 1.0 / x, np.float64(0.0), "its value there is inf"),
    "cusp": (lambda x: np.sqrt(np.sqrt(x * x)), 1e-100, "grows without bound"),
}


@pytest.mark.parametrize("f, x, why", KINKS.values(), ids=KINKS)
@pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")
def test_kinks_are_told_apart_from_faults(f, x, why):
    with pytest.raises(errors.NotSmoothError) as caught:
        check_grads(f, (x,), order=2)
    assert why in str(caught.value)


def test_noise_is_told_apart_from_faults():
    random = np.random.default_rng(0)
    with pytest.raises(errors.NotSmoothError, match="is it random"):
        check_grads(lambda x: x + 1e-3 * random.normal(), (1.0,))
    with pytest.raises(errors.NotSmoothError):
        check_grads(lambda x: x + 1e-3 * np.sin(1e12 * x), (1.0,))


def test_nothing_to_check():
    with pytest.raises(errors.NothingToCheckError, match="arguments"):
        check_grads(lambda n: n * 2.0, (3,))
    with pytest.raises(errors.NothingToCheckError, match="results"):
        check_grads(lambda x: 3, (X,))
    with pytest.raises(ValueError, match="'fwd' and 'rev'"):
        check_grads(np.sin, (X,), modes=["forward"])


# ---- check_primitive -----------------------------------------------------------------------


def cube(x):
    return x * x * x


def cubed(rule=lambda g, x: 3 * g * x * x, **changes):
    prim = elementwise(cube, rule)
    for name, value in changes.items():
        setattr(prim, name, value)
    return prim


def total(x, *, scale):
    return np.add.reduce(x, axis=-1) * scale


@pytest.mark.parametrize("x", [X, X + 0.5j, 0.7, np.ones((2, 0))], ids=["real", "complex", "scalar", "empty"])
def test_right_primitives_pass(x):
    check_primitive(cubed(), [x])


FAULTS = {
    "tangent": ({"rule": lambda g, x: g * x * x}, errors.DerivativeMismatchError, "the fwd derivative"),
    "second order": (
        {"rule": lambda g, x: 3 * g * stop_gradient(x * x)},
        errors.DerivativeMismatchError,
        "the fwd-over-fwd derivative",
    ),
    "widening": ({"rule": lambda g, x: np.float64(3) * g * x * x}, errors.LawError, "f64[3] from"),
    "batching": ({"batch": lambda values, batched: cube(values[0]) + 1}, errors.LawError, "vmap"),
    "type": ({"typed": lambda x: type(x)(x.shape, np.float32)}, errors.LawError, "type of its result"),
}


@pytest.mark.parametrize("changes, error, message", FAULTS.values(), ids=FAULTS)
def test_faults_of_a_primitive_are_named(changes, error, message):
    with pytest.raises(error) as caught:
        check_primitive(cubed(**changes), [X])
    assert message in str(caught.value)


def test_a_rule_that_looks_at_values_cannot_be_staged():
    def rule(g, x):
        return 3 * g * x * x if np.all(x == x) else g

    with pytest.raises(errors.FuncgradError):
        check_primitive(cubed(rule), [X])


def test_a_wrong_transpose_is_found():
    prim = linear(total)
    prim.transpose(lambda g, x_shape, *, scale: np.broadcast_to(np.expand_dims(g, -1), x_shape))
    prim.typing(lambda x, *, scale: type(x)(x.shape[:-1], x.dtype))
    with pytest.raises(errors.DerivativeMismatchError, match="the rev derivative of total is wrong at arg"):
        check_primitive(prim, [X], scale=2.0)


def test_a_wrong_vjp_is_found():
    prim = general(cube)
    prim.jvp(lambda t, x: 3 * t * x * x)
    prim.vjp(lambda g, x: g * x * x)
    with pytest.raises(errors.DerivativeMismatchError, match="the rev derivative"):
        check_primitive(prim, [X])


def test_a_wrong_conjugate_is_found():
    prim = elementwise(np.absolute, lambda g, x, y: g * x / y, name="wrong_abs", impl=lambda x: np.abs(x))
    with pytest.raises(errors.DerivativeMismatchError):
        check_primitive(prim, [X + 0.5j])
