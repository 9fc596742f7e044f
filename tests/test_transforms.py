"""Signatures and the structures of results: what a user of JAX expects of each transform."""

import collections
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
from expect import same

from funcgrad import (
    errors,
    float0,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    stop_gradient,
    tree,
    value_and_grad,
    value_and_hvp,
    vjp,
)

V = np.array([1.0, 2.0, 3.0])
ZERO0 = np.zeros((), float0)


def product(x, y):
    return x * y


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclasses.dataclass
class Model:
    layer: Layer
    scale: float
    name: str = dataclasses.field(default="m", metadata={"static": True})


def model():
    return Model(Layer(np.array([2.0, 3.0, 4.0]), 5.0), 0.5, "net")


# ---- argnums -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argnums, expected",
    [
        (0, 3.0),
        (1, 2.0),
        (-1, 2.0),
        (-2, 3.0),
        (np.int64(1), 2.0),
        ((0, 1), (3.0, 2.0)),
        ((1, 0), (2.0, 3.0)),
        ((0,), (3.0,)),
        ((-1,), (2.0,)),
        ([0, 1], (3.0, 2.0)),
        ("x", 3.0),
        ("y", 2.0),
        (("y", "x"), {"x": 3.0, "y": 2.0}),
        (("y",), {"y": 2.0}),
        ((0, "y"), (3.0, 2.0)),
        ((), ()),
    ],
)
def test_argnums(argnums, expected):
    same(grad(product, argnums)(2.0, 3.0), expected)
    same(value_and_grad(product, argnums)(2.0, 3.0), (6.0, expected))
    same(jacrev(product, argnums)(2.0, 3.0), expected)
    same(jacfwd(product, argnums)(2.0, 3.0), expected)


@pytest.mark.parametrize(
    "f, argnums, args, kwargs, expected",
    [
        (product, "y", (2.0,), {"y": 3.0}, 2.0),
        (product, ("x", "y"), (2.0,), {"y": 3.0}, {"x": 3.0, "y": 2.0}),
        (product, ("x", "y"), (), {"y": 3.0, "x": 2.0}, {"x": 3.0, "y": 2.0}),
        (functools.partial(product, 2.0), "y", (3.0,), {}, 2.0),
        (functools.partial(product, y=2.0), "x", (3.0,), {}, 2.0),
        (lambda *xs, **k: xs[0] * k["w"], "w", (2.0,), {"w": 3.0}, 2.0),
        (lambda x, /, y: x * y, "x", (2.0, 3.0), {}, 3.0),
        (lambda x, *, y: x * y, "y", (2.0,), {"y": 3.0}, 2.0),
    ],
    ids=["keyword", "both", "all-keywords", "partial", "partial-keyword", "var-keyword", "positional-only",
         "keyword-only"],
)  # fmt: skip
def test_arguments_by_name(f, argnums, args, kwargs, expected):
    same(grad(f, argnums)(*args, **kwargs), expected)


def test_methods_do_not_count_self():
    class Line:
        def at(self, x, y):
            return x * y

    same(grad(Line().at, "y")(2.0, 3.0), 2.0)


def test_keywords_are_not_differentiated():
    same(grad(product)(2.0, y=3.0), 3.0)
    same(grad(product)(2.0, y=3), 3.0)


@pytest.mark.parametrize(
    "argnums, fact",
    [
        (2, "2 positional argument"),
        (-3, "2 positional argument"),
        ((0, 2), "2 positional argument"),
        ("z", "the parameters x, y"),
        (("x", "z"), "the parameters x, y"),
        (1.0, "argnums=1.0"),
        (None, "argnums=None"),
    ],
)
@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, hessian])
def test_argnums_that_name_no_argument(argnums, fact, transform):
    with pytest.raises(errors.ArgnumsError, match=fact):
        transform(product, argnums)(2.0, 3.0)


@pytest.mark.parametrize("argnums", [(0, 0), (1, -1), ("x", "x"), (0, "x")])
def test_an_argument_has_one_place_in_the_result(argnums):
    with pytest.raises(errors.RepeatedArgumentError, match="twice"):
        grad(product, argnums)(2.0, 3.0)


def test_a_parameter_left_at_its_default_is_no_argument_of_the_call():
    with pytest.raises(errors.ArgnumsError, match="pass it"):
        grad(lambda x, y=3.0: x * y, "y")(2.0)


@pytest.mark.parametrize(
    "argnums, path",
    [
        (2, r"arg[2]['w'][1] "),
        (-1, r"arg[2]['w'][1] "),
        ((2, 0), r"arg[2]['w'][1] "),
        ((0, 1), r"arg[1] "),
        ("c", r"c['w'][1] "),
        (("c", "a"), r"c['w'][1] "),
    ],
)
@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, hvp, hessian])
def test_errors_name_the_leaf(argnums, path, transform):
    args = {"x": 1.0}, 3, {"w": [1.0, 2]}
    with pytest.raises(errors.InputTypeError) as caught:
        transform(lambda a, b, c: 1.0, argnums)(*args, *([None] if transform is hvp else []))
    assert str(caught.value).startswith(path)


# ---- trees ---------------------------------------------------------------------------------


def test_a_gradient_has_the_structure_of_its_argument():
    def f(m):
        return m.scale * np.sum(m.layer.w) + 2.0 * m.layer.b

    same(grad(f)(model()), Model(Layer(np.full(3, 0.5), 2.0), 9.0, "net"))
    assert grad(f)(model()).name == "net"


@pytest.mark.parametrize(
    "x, expected",
    [
        ({"a": 2.0, "b": None}, {"a": 4.0, "b": None}),
        ((2.0, (), [3.0]), (4.0, (), [6.0])),
        (collections.OrderedDict(z=1.0, a=2.0), collections.OrderedDict(z=2.0, a=4.0)),
        (collections.defaultdict(list, k=2.0), collections.defaultdict(list, k=4.0)),
        (Layer(2.0, [3.0]), Layer(4.0, [6.0])),
        ({"a": np.float32(2.0)}, {"a": np.float32(4.0)}),
    ],
    ids=["dict-None", "tuple-list", "ordered", "default", "namedtuple", "dtypes"],
)
def test_containers(x, expected):
    def squares(x):
        return sum(leaf * leaf for leaf in tree.leaves(x))

    same(grad(squares)(x), expected)
    same(vjp(squares, x)[1](squares(x) * 0 + 1), (expected,))


def test_a_tree_in_a_tuple_of_argnums():
    def f(p, s, q):
        return p["w"] * s + q[0] * q[1]

    args = {"w": 2.0}, 3.0, (4.0, 5.0)
    same(grad(f, (0, 2))(*args), ({"w": 3.0}, (5.0, 4.0)))
    same(grad(f, ("q", "p"))(*args), {"p": {"w": 3.0}, "q": (5.0, 4.0)})


# ---- types of results ----------------------------------------------------------------------


@pytest.mark.parametrize("x", [3.0, np.float64(3.0), np.array(3.0)], ids=["float", "scalar", "0-d"])
def test_results_without_axes_are_numpy_scalars(x):
    def cube(x):
        return x * x * x

    one = np.ones_like(x)
    same(value_and_grad(cube)(x), (27.0, 27.0))
    same(jvp(cube, (x,), (one,)), (27.0, 27.0))
    same((vjp(cube, x)[0], vjp(cube, x)[1](one)), (27.0, (27.0,)))
    same((linearize(cube, x)[0], linearize(cube, x)[1](one)), (27.0, 27.0))
    same(grad(grad(cube))(x), 18.0)
    for second in (jacfwd(cube), jacrev(cube), jacobian(cube)):
        same(second(x), 27.0)
    same(hessian(cube)(x), 18.0)
    same(value_and_hvp(cube)(x, one), (27.0, 27.0, 18.0))


def test_constant_and_identity_functions_too():
    for f, out in ((lambda x: 2.0, 2.0), (lambda x: x, 3.0), (lambda x: np.array(2.0), 2.0)):
        slope = float(out == 3.0)
        same(value_and_grad(f)(3.0), (out, slope))
        same(jvp(f, (3.0,), (1.0,)), (out, slope))
        same(vjp(f, 3.0)[1](1.0), (slope,))
        same(linearize(f, 3.0)[1](1.0), slope)
        same((jacfwd(f)(3.0), jacrev(f)(3.0)), (slope, slope))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G"])
def test_dtypes_are_kept(dtype):
    x = np.array([0.5, 1.0], dtype)
    one, complex_ = np.ones(2, dtype), x.dtype.kind == "c"

    def f(x):
        return np.sum(2.0 * x * x * x)

    same(grad(f, holomorphic=complex_)(x), (6 * x * x).astype(dtype), 1e-3)
    same(jvp(f, (x,), (one,))[1], np.sum(6 * x * x), 1e-3)
    same(linearize(f, x)[1](one), np.sum(6 * x * x), 1e-3)
    same(hessian(f, holomorphic=complex_)(x), np.diag(12 * x).astype(dtype), 1e-3)
    same(jacrev(f, holomorphic=complex_)(x), (6 * x * x).astype(dtype), 1e-3)


def test_dtypes_may_differ_between_leaves():
    x, y = np.ones(2, np.float32), np.ones(2)
    same(grad(lambda x, y: np.sum(x * y), (0, 1))(x, y), (x, y))
    same(grad(lambda x, s: np.sum(x * s), (0, 1))(x, 2.0), (2 * x, np.float64(2.0)))


# ---- scalar outputs, aux -------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, found",
    [
        (lambda x: x, r"shape \(3,\)"),
        (lambda x: x[:1], r"shape \(1,\)"),
        (lambda x: (np.sum(x), np.sum(x)), "container"),
        (lambda x: [np.sum(x)], "container"),
        (lambda x: None, "container"),
        (lambda x: {"loss": np.sum(x)}, "container"),
    ],
    ids=["vector", "one-element", "pair", "list", "None", "dict"],
)
def test_grad_needs_a_scalar(f, found):
    with pytest.raises(errors.NonScalarOutputError, match=found) as caught:
        grad(f)(V)
    assert "jacrev" in str(caught.value) and "np.sum" in str(caught.value)


@pytest.mark.parametrize(
    "transform", [grad, hvp, jacrev, jacfwd, jacobian, hessian, value_and_grad, value_and_hvp]
)
def test_aux_is_passed_through_without_tracers(transform):
    def f(x):
        y = x * x
        return np.sum(y), {"y": y, "n": 3, "name": "run", "none": None, "const": V, "pair": (y[0], x)}

    args = (V, np.ones(3)) if transform in (hvp, value_and_hvp) else (V,)
    out = transform(f, has_aux=True)(*args)
    aux = out[0][1] if transform in (value_and_grad, value_and_hvp) else out[1]
    assert aux["name"] == "run" and aux["n"] == 3 and aux["none"] is None and aux["const"] is V
    y, (y0, x) = aux["y"], aux["pair"]
    same((y, y0, x), (V * V, 1.0, V))
    plain = {grad: 2 * V, hvp: np.full(3, 2.0), hessian: 2 * np.eye(3)}
    plain |= {jacrev: 2 * V, jacfwd: 2 * V, jacobian: 2 * V}
    if transform in plain:
        same(out[0], plain[transform])


def test_aux_of_vjp_jvp_and_linearize():
    def f(x):
        return 2.0 * x, (x, "a")

    out, pull, aux = vjp(f, V, has_aux=True)
    same((out, pull(V), aux[0]), (2 * V, (2 * V,), V))
    out, t, aux = jvp(f, (V,), (V,), has_aux=True)
    same((out, t, aux[0]), (2 * V, 2 * V, V))
    out, f_lin, aux = linearize(f, V, has_aux=True)
    same((out, f_lin(V), aux[0]), (2 * V, 2 * V, V))


@pytest.mark.parametrize("result", [lambda x: x, lambda x: (x,), lambda x: (x, 1, 2), lambda x: {"a": x}])
def test_aux_needs_a_pair(result):
    for run in (
        lambda: grad(result, has_aux=True)(1.0),
        lambda: vjp(result, 1.0, has_aux=True),
        lambda: jvp(result, (1.0,), (1.0,), has_aux=True),
        lambda: jacfwd(result, has_aux=True)(1.0),
    ):
        with pytest.raises(errors.AuxError, match=r"Return \(output, aux\)"):
            run()


# ---- complex and integers ------------------------------------------------------------------


def test_holomorphic():
    z = np.array([1.0 + 2.0j, -0.5j])
    same(grad(lambda z: np.sum(z * z * z), holomorphic=True)(z), 3 * z * z)
    for transform in (jacrev, jacfwd, jacobian):
        same(transform(lambda z: z * z, holomorphic=True)(z), np.diag(2 * z))
    same(hessian(lambda z: np.sum(z * z * z), holomorphic=True)(z), np.diag(6 * z))
    same(grad(lambda z: z * z, holomorphic=True)(1 + 2j), 2 + 4j)


def test_the_gradient_of_a_real_function_of_complex_numbers_is_that_of_jax():
    same(grad(lambda z: np.real(z * np.conj(z)))(1.0 + 1.0j), 2.0 - 2.0j)
    same(grad(lambda z: np.imag(z))(1.0 + 1.0j), -1.0j)
    same(grad(lambda x: np.real(x * (2.0 + 3.0j)))(1.0), 2.0)


def test_complex_and_real_are_told_apart():
    with pytest.raises(errors.OutputTypeError, match="holomorphic=True"):
        grad(lambda z: z * z)(1.0j)
    with pytest.raises(errors.OutputTypeError, match="holomorphic=True"):
        grad(lambda x: x * 1j)(1.0)
    with pytest.raises(errors.InputTypeError, match="astype"):
        grad(lambda x: x * 1j, holomorphic=True)(1.0)
    with pytest.raises(errors.OutputTypeError, match="must be complex"):
        grad(lambda z: np.real(z), holomorphic=True)(1.0j)
    with pytest.raises(errors.InputTypeError, match="holomorphic=True"):
        jacfwd(lambda z: z)(1.0j)


@pytest.mark.parametrize("x", [3, True, np.int32(3), np.array([1, 2]), np.array([True])])
def test_integers_need_allow_int(x):
    with pytest.raises(errors.InputTypeError, match="allow_int=True"):
        grad(lambda x: np.sum(2.0 * x))(x)
    same(grad(lambda x: np.sum(2.0 * x), allow_int=True)(x), np.zeros(np.shape(x), float0))
    same(jacrev(lambda x: np.sum(2.0 * x), allow_int=True)(x), np.zeros(np.shape(x), float0))


def test_float0_stands_for_integers():
    n, x = np.array([1, 2, 3]), V
    out, pull = vjp(lambda x, n: x * n, x, n)
    same(pull(np.ones(3)), (np.array([1.0, 2.0, 3.0]), np.zeros(3, float0)))
    zero = np.zeros(3, float0)
    same(jvp(lambda x, n: x * n, (x, n), (x, zero)), (V * n, x * n))
    same(jvp(lambda x, n: (x, n), (x, n), (x, zero)), ((x, n), (x, zero)))
    same(linearize(lambda x, n: (x * n, n), x, n)[1](x, zero), (x * n, zero))
    same(grad(lambda p: p["x"] * p["n"], allow_int=True)({"x": 2.0, "n": 3}), {"x": 3.0, "n": ZERO0})
    with pytest.raises(errors.TangentError, match="float0"):
        jvp(lambda x, n: x * n, (x, n), (x, np.zeros(3)))
    out, pull = vjp(lambda x: (x, n), x)
    same(pull((x, zero)), (x,))
    with pytest.raises(errors.CotangentError, match="float0"):
        pull((x, n))


# ---- stop_gradient -------------------------------------------------------------------------


def test_stop_gradient_is_the_value_at_every_level():
    def f(x):
        stopped = stop_gradient(x)
        assert type(stopped) in (float, np.float64) and float(stopped) == 3.0
        assert np.asarray(stopped).dtype == np.float64
        return x * stopped

    same(grad(f)(3.0), 3.0)
    same(jvp(f, (3.0,), (1.0,)), (9.0, 3.0))
    same(grad(grad(f))(3.0), 0.0)
    same(jvp(grad(f), (3.0,), (1.0,)), (3.0, 0.0))
    same(grad(lambda x: jvp(f, (x,), (1.0,))[1])(3.0), 0.0)
    same(grad(grad(lambda x: f(x) * x))(3.0), 6.0)


def test_stop_gradient_of_trees():
    x = {"a": V, "n": 3, "none": None, "s": "text"}
    assert tree.structure(stop_gradient(x)) == tree.structure(x)
    assert stop_gradient(x)["a"] is V

    def f(p):
        kept = stop_gradient(p)
        assert type(kept["a"]) is np.ndarray and kept["a"] is not V
        kept["a"][:] = 7.0  # a copy of its own
        return np.sum(p["a"] * p["a"])

    same(grad(f)({"a": V}), {"a": 2 * V})
    same(V, np.array([1.0, 2.0, 3.0]))
