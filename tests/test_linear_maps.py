"""Linear maps: tangents pushed, cotangents pulled, Jacobians, Hessians and their products, of trees."""

import numpy as np
import pytest
from expect import same

from funcgrad import (
    ShapeDtypeStruct,
    errors,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_hvp,
    vjp,
)

V = np.array([1.0, 2.0, 3.0])


def product(x, y):
    return x * y


# ---- jvp, vjp ------------------------------------------------------------------------------


def test_vjp_pulls_many_times():
    out, pull = vjp(lambda x, y: (x * y, {"s": np.sum(x)}), V, 2.0)
    same(out, (2 * V, {"s": 6.0}))
    for k in (1.0, -2.0, 0.0):
        same(pull((k * np.ones(3), {"s": 1.0})), (np.full(3, 2 * k + 1), 6.0 * k))


def test_vjp_and_jvp_of_functions_without_arguments_or_results():
    same(vjp(lambda: 1.0)[1](1.0), ())
    same(vjp(lambda x: (), V)[1](()), (np.zeros(3),))
    same(jvp(lambda: 1.0, (), ()), (1.0, 0.0))
    same(jvp(lambda x: None, (V,), (V,)), (None, None))
    same(linearize(lambda x: [], V)[1](V), [])


def test_jvp_takes_tuples_or_lists():
    same(jvp(product, [2.0, 3.0], (1.0, 0.0)), (6.0, 3.0))
    same(jvp(lambda p: p["a"] * p["b"][0], ({"a": 2.0, "b": [3.0]},), ({"a": 1.0, "b": [1.0]},)), (6.0, 5.0))


def test_linearize_in_many_directions():
    f = lambda x, y: (x * y * y, np.sum(x))  # noqa: E731
    out, f_lin = linearize(f, V, 2.0)
    same(out, f(V, 2.0))
    for x_dot, y_dot in ((V, 0.0), (0 * V, 1.0), (V * V, -3.0)):
        same(f_lin(x_dot, y_dot), jvp(f, (V, 2.0), (x_dot, y_dot))[1])


@pytest.mark.parametrize(
    "tangents, found",
    [
        ((V[:2], 1.0), r"tangent\[0\]: expected float64\[3\], found float64\[2\]"),
        ((V.astype("f4"), 1.0), r"tangent\[0\].*found float32\[3\]"),
        ((V, 1j), r"tangent\[1\].*complex"),
        ((V, np.ones(1)), r"tangent\[1\]: expected float64\[\], found float64\[1\]"),
        ((V,), "expected"),
        ((V, 1.0, 1.0), "expected"),
        ((V, (1.0,)), "expected"),
        ((V, None), "expected"),
        ((V, "one"), r"tangent\[1\].*str"),
        ((V, True), r"tangent\[1\].*bool"),
    ],
)
def test_tangents_must_match(tangents, found):
    with pytest.raises(errors.TangentError, match=found) as caught:
        jvp(product, (V, 2.0), tangents)
    assert "np.zeros_like" in str(caught.value)
    with pytest.raises(errors.TangentError, match=found):
        linearize(product, V, 2.0)[1](*tangents)


@pytest.mark.parametrize("primals, tangents", [(V, (V,)), ((V,), V), (3.0, 1.0), ({"x": V}, {"x": V})])
def test_primals_and_tangents_are_tuples(primals, tangents):
    with pytest.raises(errors.TangentError, match="a tuple or list"):
        jvp(lambda x: x, primals, tangents)


@pytest.mark.parametrize(
    "ct, found",
    [
        ((np.ones(2), {"s": 1.0}), r"cotangent\[0\]: expected float64\[3\], found float64\[2\]"),
        ((np.ones(3, "f4"), {"s": 1.0}), r"cotangent\[0\].*float32"),
        ((np.ones(3), {"s": 1j}), r"cotangent\[1\]\['s'\].*complex"),
        ((np.ones(3), {"t": 1.0}), "expected"),
        (np.ones(3), "expected"),
        ([np.ones(3), {"s": 1.0}], "expected"),
        ((np.ones(3), {"s": None}), "expected"),
    ],
)
def test_cotangents_must_match(ct, found):
    _, pull = vjp(lambda x: (x, {"s": np.sum(x)}), V)
    with pytest.raises(errors.CotangentError, match=found) as caught:
        pull(ct)
    assert "np.ones_like" in str(caught.value)


def test_a_wrong_structure_is_named_where_it_begins():
    x = {"w": (V, {"b": 1.0}), "n": None}
    for wrong, path in (
        ({"w": (V, {"c": 1.0}), "n": None}, r"\[0\]\['w'\]\[1\]: .*'b'"),
        ({"w": [V, {"b": 1.0}], "n": None}, r"\[0\]\['w'\]: "),
        ({"w": (V,), "n": None}, r"\[0\]\['w'\]: "),
        ({"w": (V, {"b": (1.0,)}), "n": None}, r"\[0\]\['w'\]\[1\]\['b'\]: expected an array or number"),
        ({"w": (V, {"b": 1.0}), "n": 0.0}, r"\[0\]\['n'\]: "),
    ):
        with pytest.raises(errors.TangentError, match="tangent" + path):
            jvp(lambda x: x["w"][0], (x,), (wrong,))
        with pytest.raises(errors.TangentError, match="tangent" + path):
            linearize(lambda x: x["w"][0], x)[1](wrong)
        with pytest.raises(errors.CotangentError, match="cotangent" + path.removeprefix(r"\[0\]")):
            vjp(lambda x: x, x)[1](wrong)


def test_matrices_and_masked_arrays_are_no_tangents():
    x = np.ones((2, 2))
    for wrong in (x.view(np.matrix), np.ma.array(x)):
        with pytest.raises(errors.TangentError, match=type(wrong).__name__):
            jvp(lambda x: x * x, (x,), (wrong,))
        with pytest.raises(errors.CotangentError, match=type(wrong).__name__):
            vjp(lambda x: x * x, x)[1](wrong)


def test_vjp_takes_no_keywords_of_the_function():
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        vjp(product, 2.0, y=3.0)


# ---- linear_transpose ----------------------------------------------------------------------


def test_linear_transpose():
    A = np.arange(6.0).reshape(2, 3)
    t = linear_transpose(lambda x, y: A @ x + 2.0 * y, V, np.zeros(2))
    same(t(np.array([1.0, 10.0])), (A.T @ np.array([1.0, 10.0]), np.array([2.0, 20.0])))
    t = linear_transpose(lambda x: {"a": 3.0 * x}, ShapeDtypeStruct((3,), np.float32))
    same(t({"a": np.ones(3, "f4")}), (np.full(3, 3.0, "f4"),))
    same(linear_transpose(lambda p: p[0] - p[1], (ShapeDtypeStruct((), float), 1.0))(2.0), ((2.0, -2.0),))
    same(linear_transpose(lambda x: 0.0 * x, V)(V), (0 * V,))


@pytest.mark.parametrize(
    "f, why",
    [
        (lambda x: x * x, "square"),
        (lambda x: np.sin(x), "sin"),
        (lambda x: np.exp(x), "exp"),
        (lambda x: np.dot(x, x), "dot"),
        (lambda x: np.einsum("i,i->", x, x), "contract"),
        (lambda x: x / (x + 1.0), "div"),
        (lambda x: x + 1.0, r"f\(0\)"),
        (lambda x: np.ones(3), r"f\(0\)"),
        (lambda x: np.where(x > 0, x, 0.0), "compar"),
        (lambda x: x if x[0] > 0 else -x, "compar"),
        (lambda x: np.maximum(x, 0.0), "maximum"),
        (lambda x: np.sort(x), "compar"),
    ],
)
def test_what_is_not_linear_is_refused(f, why):
    with pytest.raises(errors.NotLinearError, match=why):
        linear_transpose(f, V)


# ---- Jacobians and Hessians ----------------------------------------------------------------


@pytest.mark.parametrize("transform", [jacfwd, jacrev, jacobian])
def test_jacobians_of_trees(transform):
    def f(p, s):
        return {"u": p["w"] * s, "v": (np.sum(p["w"]) * p["b"],)}

    p = {"w": V, "b": 2.0}
    by_p = {"u": {"w": 3 * np.eye(3), "b": np.zeros(3)}, "v": ({"w": np.full(3, 2.0), "b": 6.0},)}
    same(transform(f)(p, 3.0), by_p)
    by_s = {"u": V, "v": (0.0,)}
    same(transform(f, 1)(p, 3.0), by_s)
    same(
        transform(f, (1, 0))(p, 3.0),
        {"u": (V, by_p["u"]), "v": ((0.0, by_p["v"][0]),)},
    )
    same(transform(f, ("s",))(p, 3.0), {"u": {"s": V}, "v": ({"s": 0.0},)})


@pytest.mark.parametrize("transform", [jacfwd, jacrev, jacobian])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (1, 0), (0,)], ids=str)
@pytest.mark.parametrize("out", [(), (4,), (0,)], ids=str)
def test_jacobians_have_the_output_axes_first(transform, shape, out):
    jacobian = transform(lambda x: np.sum(x) * np.ones(out) if out else np.sum(x))(np.ones(shape))
    same(jacobian, np.ones(out + shape)[()])


def test_jacobians_of_constants():
    for transform in (jacfwd, jacrev, jacobian):
        same(transform(lambda x: np.ones(2))(V), np.zeros((2, 3)))
        same(transform(lambda x: ())(V), ())


def test_hessians_of_trees():
    def f(p, s):
        return {"out": p["w"] * p["b"] * s}

    out = hessian(f)({"w": np.array([1.0, 2.0]), "b": 3.0}, 2.0)
    cross = 2 * np.eye(2)
    expected = {"w": {"w": np.zeros((2, 2, 2)), "b": cross}, "b": {"w": cross, "b": np.zeros(2)}}
    same(out, {"out": expected})
    same(hessian(product, (0, 1))(2.0, 3.0), ((0.0, 1.0), (1.0, 0.0)))
    same(
        hessian(product, ("x", "y"))(2.0, 3.0),
        {"x": {"x": 0.0, "y": 1.0}, "y": {"x": 1.0, "y": 0.0}},
    )
    same(hessian(product, (1,))(2.0, 3.0), ((0.0,),))


def test_hvp():
    def f(p, s):
        return np.sum(p["w"] * p["w"]) * p["b"] * s

    p, v = {"w": V, "b": 2.0}, {"w": np.array([1.0, 0.0, 0.0]), "b": 0.0}
    product_ = {"w": np.array([12.0, 0.0, 0.0]), "b": 6.0}
    gradient = {"w": 12 * V, "b": 42.0}
    same(hvp(f)(p, 3.0, v), product_)
    same(value_and_hvp(f)(p, 3.0, v), (84.0, gradient, product_))
    same(hvp(product, (0, 1))(2.0, 3.0, (1.0, 10.0)), (10.0, 1.0))
    same(hvp(product, (1,))(2.0, 3.0, (1.0,)), (0.0,))
    same(hvp(product, ("x", "y"))(2.0, 3.0, {"x": 1.0, "y": 10.0}), {"x": 10.0, "y": 1.0})
    same(hvp(product, "y")(2.0, 1.0, y=3.0), 0.0)
    same(value_and_hvp(lambda x: (x * x, x), has_aux=True)(3.0, 1.0), ((9.0, 3.0), 6.0, 2.0))
    with pytest.raises(errors.TangentError):
        hvp(f)(p, 3.0, V)


@pytest.mark.parametrize(
    "f",
    [
        lambda s: np.sum(np.ones((2, 3)) + s),
        lambda s: np.sum((np.ones((2, 3)) * V + s) * 2.0, axis=0),
        lambda s: (V + s)[1],
        lambda s: np.transpose(np.ones((2, 3)) - s),
        lambda s: V @ (V / s),
        lambda s: np.concatenate([V + s, V.astype("f4")]),
        lambda s: np.stack([s, 2.0, s * s]),
        lambda s: np.sum(V.astype("f4") * s) + np.mean(np.maximum(s, V)),
        lambda s: np.abs(s * 1j) + np.real((V + s) * (1 + 2j)),
        lambda s: np.linalg.eigh(np.eye(3) * V + s)[0],
        lambda s: np.where(V > 2, s, V).reshape(3, 1),
        lambda s: np.sum(np.ones(3, "f4") + s.astype("f4")),
    ],
    ids=["sum", "rows", "index", "transpose", "product", "concatenate", "stack", "dtypes", "complex",
         "several", "where", "cast"],
)  # fmt: skip
def test_tangents_are_broadcast_and_promoted_as_values_are(f):
    s = np.float64(0.5)
    out, push = linearize(f, s)
    same(push(np.float64(2.0)), jvp(f, (s,), (np.float64(2.0),))[1])
    same(push(1.0), jacfwd(f)(s))
    np.testing.assert_allclose(push(1.0), jacrev(f)(s), rtol=1e-6)
    same(out, f(s))
