"""What a traced array has of an array: operators, methods, attributes; what is refused, and how."""

import copy
import math
import pickle

import numpy as np
import pytest

from funcgrad import errors, grad, jvp, make_jaxpr, stop_gradient, value_and_grad, vmap
from funcgrad import numpy as fnp
from funcgrad._core.types import ShapeDtypeStruct

X = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, 1.0]])


def traced(check, x=X):
    """Run a check on a traced array; its result must be a number or None."""
    return grad(lambda x: np.sum(x) * 0.0 + (check(x) or 0.0), unused="zero")(x)


# ---- every name of an array is supported or refused ----------------------------------------

CALLS = {
    "argpartition": (1,), "astype": (np.float32,), "clip": (0, 1), "compress": ([True, False],),
    "dot": (np.ones(3),), "partition": (1,), "fill": (0.0,), "put": ([0], 1.0), "repeat": (2,),
    "reshape": (3, 2), "resize": ((3, 2),), "searchsorted": (0.3,), "setfield": (1.0, float),
    "swapaxes": (0, 1),
    "take": ([0],), "choose": ([0, 1],), "getfield": (float,), "itemset": (0, 1.0), "to_device": ("cpu",),
    "setflags": (), "tofile": ("nowhere",), "dump": ("nowhere",), "item": (0,), "view": (), "byteswap": (),
}  # fmt: skip
PRIVATE = {name for name in dir(np.ndarray) if name.startswith("_")}


@pytest.mark.parametrize("name", sorted(set(dir(np.ndarray)) - PRIVATE))
def test_every_name_of_an_array(name):
    """It gives what NumPy's gives, or a named error with a cure."""
    x = X[0].copy() if name in ("searchsorted", "choose") else X.copy()

    def use(x):
        attribute = list(x.flat) if name == "flat" else getattr(x, name)
        if not callable(attribute):
            return attribute
        return attribute(*CALLS.get(name, ()))

    found = {}

    def check(t):
        try:
            found["value"] = stop_gradient(use(t))
        except errors.FuncgradError as error:
            found["error"] = error

    traced(check, x)
    if "error" in found:
        assert isinstance(
            found["error"], (errors.InPlaceError, errors.ConcretizationError, errors.UnsupportedFunctionError)
        )
        assert "\n" in str(found["error"]) and __file__ in str(found["error"])
        return
    expected = use(x)
    if isinstance(expected, (np.ndarray, np.generic, list, tuple, int)):
        np.testing.assert_array_equal(np.asarray(found["value"]), np.asarray(expected))
    else:
        assert found["value"] == expected


@pytest.mark.parametrize(
    "name", ["__add__", "__matmul__", "__getitem__", "__len__", "__iter__", "__abs__", "__pow__"]
)
def test_special_methods_exist(name):
    from funcgrad._core.tracer import Tracer

    assert name in dir(Tracer)


# ---- operators -----------------------------------------------------------------------------


def test_matmul_and_unary_operators():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(
        grad(lambda x: np.sum(A @ x + x @ A + abs(-x) + +x))(np.array([1.0, 2.0])), A.sum(0) + A.sum(1) + 2
    )
    np.testing.assert_allclose(grad(lambda x: np.sum([1.0, 2.0] @ x))(A), [[1, 1], [2, 2]])


def test_comparisons_give_plain_booleans():
    def check(x):
        assert type(x > 0) is np.ndarray and (x > 0).dtype == bool
        assert type(x[0, 0] == 0.5) in (np.bool_, bool)
        assert (x == X).all() and not (x != X).any()
        assert 3.0 in x and 7.0 not in x

    traced(check)


def test_unknown_operands_are_refused_by_python():
    for f in (lambda x: x + "a", lambda x: "a" * x, lambda x: x < "a", lambda x: x + None, lambda x: x**None):
        with pytest.raises(TypeError):
            grad(lambda x, f=f: np.sum(f(x)))(X)
    assert grad(lambda x: 1.0 * x if x != "a" else 0 * x)(2.0) == 1.0


def test_roundings_of_python():
    def f(x):
        assert (round(x), round(x, 1)) == (2, 2.3)
        return x * [1.0, 2.0, 3.0][round(x)]

    assert grad(f)(2.26) == 3.0
    with pytest.raises(TypeError, match="__round__"):
        traced(round)
    for read in (math.floor, math.ceil, math.trunc):
        with pytest.raises(errors.ConcretizationError, match=f"np.{read.__name__}"):
            grad(lambda x, read=read: read(x) * x)(2.26)


def test_python_reads_what_has_no_derivative():
    def f(x):
        if x[0] > 0 and bool(x[1] < 5):
            n = int(x[2])
            return x[n] * 2.0 * len(x) * range(5)[int(x[1])]
        return 0.0

    np.testing.assert_allclose(grad(f)(np.array([1.0, 2.0, 1.0])), [0, 12, 0])
    with pytest.raises(ValueError, match="ambiguous"):
        grad(lambda x: x if x > 0 else -x)(X)


READS = {
    "float": float,
    "complex": complex,
    "math": math.sin,
    "asarray": np.asarray,
    "array": np.array,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "pickle": pickle.dumps,
    "assign": lambda x: np.zeros(3).__setitem__(0, x),
}


@pytest.mark.parametrize("reading", READS)
def test_reads_that_would_cut_the_derivative(reading):
    with pytest.raises((TypeError, ValueError)) as caught:
        grad(lambda x: READS[reading](x))(0.5)
    error = caught.value
    while not isinstance(error, errors.ConcretizationError):
        error = error.__cause__ or error.__context__
    assert "traced value" in str(error) and "stop_gradient" in str(error)


def test_branches_need_values():
    for read in (bool, int, lambda x: [1, 2][x.astype(int)]):
        with pytest.raises(errors.UnknownValueError, match="np.where") as caught:
            vmap(lambda x, read=read: read(x) * x)(np.array([1.0, 0.0]))
        assert __file__ in str(caught.value)
        with pytest.raises(errors.UnknownValueError, match="make_jaxpr"):
            make_jaxpr(lambda x, read=read: read(x) * x)(ShapeDtypeStruct((), float))


def test_copies_and_text():
    def check(x):
        assert "Recorded" in repr(x) and "f64[2,3]" in str(x)
        assert f"{x[0, 0]:.2f}" == "0.50"
        return np.sum(copy.copy(x) + copy.deepcopy(x))

    np.testing.assert_allclose(traced(check), 2.0)
    with pytest.raises(TypeError, match="unhashable"):
        traced(hash)


def test_iteration():
    np.testing.assert_allclose(
        grad(lambda x: sum(row[0] * row[1] for row in x))(X), [[-1.5, 0.5, 0], [0.25, 3.0, 0]]
    )
    for f in (len, list):
        with pytest.raises(TypeError):
            grad(lambda x, f=f: f(x))(1.0)


# ---- in place ------------------------------------------------------------------------------


def test_in_place_operators_act_on_every_name():
    def f(x):
        y = x * 1.0
        z = y
        y += 1.0
        y *= x
        y -= 2.0
        y /= 2.0
        y **= 2
        return np.sum(y * z)

    x = np.array([0.5, 2.0])
    plain = x.copy()
    np.testing.assert_allclose(value_and_grad(f)(x)[0], f(plain.copy()))
    e = 1e-6
    slopes = [(f(x + e * d) - f(x - e * d)) / (2 * e) for d in np.eye(2)]
    np.testing.assert_allclose(grad(f)(x), slopes, rtol=1e-7)
    np.testing.assert_array_equal(x, plain)


def test_in_place_after_an_outer_product_which_views_nothing():
    def f(x):
        y = x * 1.0
        z = np.outer(y, y)
        y += 1.0
        return np.sum(z) + np.sum(y)

    np.testing.assert_allclose(grad(f)(np.array([0.5, 2.0])), [6.0, 6.0])


@pytest.mark.parametrize("name", ["max", "sum", "var", "all", "argmax", "round"])
def test_methods_say_their_names(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'axes'"):
        grad(lambda x: getattr(x, name)(axes=0))(np.ones(2))


def test_in_place_on_an_argument_leaves_the_callers_array():
    def f(x):
        x += 1.0
        x *= x
        return np.sum(x)

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(grad(f)(x), [4.0, 6.0])
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(2),))[1], 10.0)
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_scalars_are_rebound():
    def f(x):
        y = x
        y += 1.0
        return x * y

    assert grad(f)(3.0) == 7.0
    assert grad(f)(np.float64(3.0)) == 7.0


def test_what_shares_memory_in_numpy():
    """In place, a change shows under every name, or it is refused."""
    for f in (lambda x: x.conj(), lambda x: x.real, lambda x: np.real(x), lambda x: x):
        plain = X.copy()
        y = f(plain)
        y += 1.0

        def run(x, f=f):
            x = x * 1.0
            y = f(x)
            y += 1.0
            return np.sum(x)

        assert value_and_grad(run)(X)[0] == np.sum(plain)


def test_flat_reads_like_an_array():
    np.testing.assert_array_equal(
        grad(lambda x: x.flat[4] + sum(x.flat[:2]) + len(x.flat))(X), [[1, 1, 0], [0, 1, 0]]
    )


def test_functional_updates():
    def f(x):
        return np.sum(fnp.index_update(x, (0, slice(None)), x[1] ** 2) * fnp.index_add(x, 0, 1.0))

    def plain(x):
        y, z = x.copy(), x.copy()
        y[0] = x[1] ** 2
        z[0] += 1.0
        return np.sum(y * z)

    assert f(X) == plain(X)
    e = 1e-6
    slopes = [(plain(X + e * d.reshape(2, 3)) - plain(X - e * d.reshape(2, 3))) / (2 * e) for d in np.eye(6)]
    np.testing.assert_allclose(grad(f)(X).ravel(), slopes, rtol=1e-7)
