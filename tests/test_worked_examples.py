"""Examples whose values are known to the digit, in plain NumPy and in `funcgrad.numpy`."""

import numpy
import pytest

import funcgrad.numpy
from funcgrad import grad, hessian, jacfwd, jvp, stop_gradient, value_and_grad, vjp
from funcgrad.extend import elementwise


@pytest.fixture(params=[numpy, funcgrad.numpy], ids=["numpy", "funcgrad.numpy"])
def np(request):
    """The namespace that the example is written in."""
    return request.param


def close(found, expected, digits):
    """Equal to so many digits after the point, which is how the examples are stated."""
    numpy.testing.assert_allclose(found, expected, rtol=0, atol=0.5 * 10**-digits)


def central_differences(f, tree, name, h=1e-6):
    """The gradient of a scalar function with respect to one entry of a dict, in extended precision."""
    wide = {key: numpy.asarray(value, numpy.longdouble) for key, value in tree.items()}
    gradient = numpy.zeros_like(wide[name])
    for index in numpy.ndindex(gradient.shape):
        step = numpy.zeros_like(gradient)
        step[index] = h
        plus, minus = ({**wide, name: wide[name] + s} for s in (step, -step))
        gradient[index] = (f(plus) - f(minus)) / (2 * numpy.longdouble(h))
    return gradient


# ---- scalars -------------------------------------------------------------------------------


def test_product_plus_argument():
    value, (dx, dy) = value_and_grad(lambda x, y: x * y + x, (0, 1))(3.0, 2.0)
    assert (value, dx, dy) == (9.0, 3.0, 3.0)


def test_a_gradient_carries_no_state_over():
    f = grad(lambda a: a * a + a)
    assert value_and_grad(lambda a: a * a + a)(3.0) == (12.0, 7.0)
    assert f(3.0) == 7.0
    assert f(3.0) == 7.0


def test_neuron(np):
    def neuron(x1, x2, w1, w2, b):
        return np.tanh(w1 * x1 + w2 * x2 + b)

    y, (dx1, dw1, dw2, db) = value_and_grad(neuron, (0, 2, 3, 4))(1.5, -2.0, 0.6, 0.4, 0.1)
    close([y, dw1, dw2, db, dx1], [0.1974, 1.4416, -1.9221, 0.9610, 0.5766], 4)


def test_values_used_twice(np):
    def f(a, b, c):
        d = a * b + c
        e = np.tanh(d + a)
        return e * d + b

    value, gradient = value_and_grad(f, (0, 1, 2))(0.7, -1.3, 2.0)
    close(value, -0.269121, 6)
    close(gradient, (-1.263999, 1.742557, 1.060796), 6)


def test_stop_gradient():
    assert value_and_grad(lambda a: stop_gradient(a * a) * a)(3.0) == (27.0, 9.0)


def test_derivatives_of_tanh_to_third_order(np):
    f, values = np.tanh, []
    for _ in range(4):
        values.append(f(0.5))
        f = grad(f)
    close(values, [0.462117, 0.786448, -0.726862, -0.565209], 6)


def test_second_derivative_of_a_cube():
    second = grad(grad(lambda a: a**3))
    assert [second(a) for a in (-2.0, 0.0, 0.5, 3.0)] == [-12.0, 0.0, 3.0, 18.0]


def test_fused_sigmoid_against_a_composed_one():
    def logistic(x):
        return 1.0 / (1.0 + numpy.exp(-x))

    fused = elementwise(logistic, lambda g, y: g * (y * (1.0 - y)), name="logistic")
    x = numpy.linspace(-4.0, 1.0, 41)
    expected = vjp(logistic, x)[1](numpy.ones(41))[0]
    numpy.testing.assert_allclose(vjp(fused, x)[1](numpy.ones(41))[0], expected, rtol=1e-15)
    numpy.testing.assert_allclose(jvp(fused, (x,), (numpy.ones(41),))[1], expected, rtol=1e-15)


# ---- arrays --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    "f, x, derivative",
    [
        (lambda np, x: np.where(x > 0, x, 0.0), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
        (lambda np, x: np.abs(x), [-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]),
        (lambda np, x: np.sqrt(x), [0.0, 1.0], [numpy.inf, 0.5]),
        (lambda np, x: np.where(x > 0, np.sqrt(x), 0.0), [0.0, 4.0], [0.0, 0.25]),
    ],
    ids=["relu", "abs", "sqrt", "where-sqrt"],
)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_kinks(np, f, x, derivative, mode):
    x = numpy.array(x)
    if mode == "reverse":
        found = grad(lambda x: np.sum(f(np, x)))(x)
    else:
        found = jvp(lambda x: f(np, x), (x,), (numpy.ones_like(x),))[1]
    numpy.testing.assert_array_equal(found, derivative)


@pytest.mark.parametrize("second", [hessian, lambda f: jacfwd(grad(f))], ids=["hessian", "jacfwd-grad"])
def test_hessian(second):
    w = numpy.array([1.5, -2.0])
    numpy.testing.assert_array_equal(second(lambda w: w[0] ** 2 * w[1])(w), [[-4.0, 3.0], [3.0, 0.0]])


def test_two_layer_relu_classifier(np):
    numpy.random.seed(0)
    X, labels = numpy.random.randn(8, 3), numpy.random.randint(0, 2, 8)
    params = {
        "W1": 0.5 * numpy.random.randn(3, 4),
        "b1": numpy.zeros(4),
        "W2": 0.5 * numpy.random.randn(4, 2),
        "b2": numpy.zeros(2),
    }

    def loss(params):
        hidden = X @ params["W1"] + params["b1"]
        hidden = np.where(hidden > 0, hidden, 0.0)
        logits = hidden @ params["W2"] + params["b2"]
        logits = logits - np.max(logits, axis=1, keepdims=True)
        log_p = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
        return -np.mean(log_p[numpy.arange(8), labels])

    value, gradient = value_and_grad(loss)(params)
    close(value, 1.0065, 4)
    assert set(gradient) == set(params)
    for name, found in gradient.items():
        expected = central_differences(loss, params, name).astype(float)
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_linear_layer(np):
    rng = numpy.random.default_rng(1)
    X, W, b = rng.normal(size=(5, 3)), rng.normal(size=(3, 2)), rng.normal(size=2)
    dZ = rng.normal(size=(5, 2))
    dX, dW, db = vjp(lambda X, W, b: np.matmul(X, W) + b, X, W, b)[1](dZ)
    for found, expected in ((dX, dZ @ W.T), (dW, X.T @ dZ), (db, dZ.sum(axis=0))):
        assert found.shape == expected.shape
        numpy.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)


def test_broadcasting_is_undone():
    a, b = numpy.arange(3.0)[:, None], numpy.arange(3.0)[None, :]
    ct = numpy.arange(9.0).reshape(3, 3)
    da, db = vjp(lambda a, b: a + b, a, b)[1](ct)
    numpy.testing.assert_array_equal(da, ct.sum(axis=1, keepdims=True), strict=True)
    numpy.testing.assert_array_equal(db, ct.sum(axis=0, keepdims=True), strict=True)


# ---- descent -------------------------------------------------------------------------------


def test_fitting_a_line(np):
    x = numpy.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    y = 2.0 * x - 1.0

    def loss(w, b):
        return np.mean((w * x + b - y) ** 2)

    w, b = 0.1, 0.0
    for _ in range(200):
        dw, db = grad(loss, (0, 1))(w, b)
        w, b = w - 0.1 * dw, b - 0.1 * db
    numpy.testing.assert_allclose([w, b], [2.0, -1.0], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_minibatches_accumulate_to_the_full_batch(np, k):
    rng = numpy.random.default_rng(2)
    X, y, w = rng.normal(size=(8, 3)), rng.normal(size=8), rng.normal(size=3)

    def loss(w, X, y):
        return np.mean((np.matmul(X, w) - y) ** 2)

    full = grad(loss)(w, X, y)
    parts = [
        grad(lambda w, X, y: loss(w, X, y) / k)(w, *part)
        for part in zip(*(numpy.split(a, k) for a in (X, y)))
    ]
    numpy.testing.assert_allclose(sum(parts), full, rtol=1e-14)
