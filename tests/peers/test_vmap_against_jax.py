"""vmap beside JAX's: which forms of in_axes and out_axes are taken, what comes out, what is refused."""

import collections

import numpy as np
import pytest

import funcgrad as fg

jax = pytest.importorskip("jax")
jnp = jax.numpy

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

A, B = np.arange(6.0).reshape(2, 3) + 0.5, np.arange(6.0).reshape(3, 2) - 1.0
V, W, T = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0]), np.arange(24.0).reshape(2, 3, 4)
Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def double(np, x):
    return x * 2


def times(np, x, y):
    return x * y


def product(np, d):
    return d["a"] * d["b"]


def both(np, x, y):
    return x, y


def alone(np, x, *others):
    return x


FORMS = {  # the function of a library's NumPy, vmap's options, the arguments
    "default": (double, {}, (A,)),
    "in 1": (double, {"in_axes": 1}, (A,)),
    "in -1": (double, {"in_axes": -1}, (A,)),
    "in -1, out -1": (double, {"in_axes": -1, "out_axes": -1}, (A,)),
    "out 1": (double, {"out_axes": 1}, (A,)),
    "out -2": (double, {"out_axes": -2}, (T,)),
    "shared": (times, {"in_axes": (0, None)}, (A, V)),
    "two axes": (times, {"in_axes": (0, 1)}, (A, B)),
    "a list": (times, {"in_axes": [0, 1]}, (A, B)),
    "a dict": (product, {"in_axes": ({"a": 0, "b": None},)}, ({"a": A, "b": V},)),
    "a prefix": (product, {"in_axes": (0,)}, ({"a": A, "b": W},)),
    "nested": (lambda np, d: d[0] * d[1][0], {"in_axes": ((0, (None, 0)),)}, ((A, (V, A)),)),
    "None as a prefix": (lambda np, d, x: d["a"] * x, {"in_axes": (None, 0)}, ({"a": V, "b": None}, A)),
    "None as an argument": (lambda np, d, x: x, {"in_axes": (0, 0)}, (None, A)),
    "out tuple": (lambda np, x: (x, x.sum(), x), {"out_axes": (0, 0, 1)}, (A,)),
    "out dict": (lambda np, x: {"a": x, "b": x}, {"out_axes": {"a": 0, "b": 1}}, (A,)),
    "out None": (both, {"in_axes": (0, None), "out_axes": (0, None)}, (A, V)),
    "constant": (lambda np, x: 1.0, {}, (A,)),
    "constant array": (lambda np, x: np.ones(2), {"out_axes": 1}, (A,)),
    "axis_size": (alone, {"in_axes": None, "axis_size": 3}, (V,)),
    "axis_size alone": (lambda np: 1.0, {"axis_size": 3}, ()),
    "axis_size again": (alone, {"axis_size": 2}, (A,)),
    "namedtuple": (
        lambda np, p: Pair(p.a + p.b, p.b),
        {"in_axes": (Pair(0, None),), "out_axes": Pair(0, None)},
        (Pair(A, V),),
    ),
    "integers": (double, {}, (np.arange(3),)),
    "booleans": (lambda np, x: ~x, {}, (np.array([True, False]),)),
    "list argument": (lambda np, x: x[0] + x[1], {"in_axes": ([0, None],)}, ([V, 1.0],)),
    "None in the result": (lambda np, x: (x, None), {}, (A,)),
    "a string that is shared": (alone, {"in_axes": (0, None)}, (A, "a")),
    "no leaves": (lambda np, x, y: y, {"in_axes": (0, 0)}, ((), A)),
    "none": (lambda np, x: x.sum(), {}, (np.zeros((0, 3)),)),
}

REFUSED = {
    "out None of a batch": (alone, {"out_axes": None}, (A,)),
    "another axis_size": (alone, {"axis_size": 3}, (A,)),
    "nothing batched": (alone, {"in_axes": None}, (A,)),
    "a number": (alone, {}, (1.0,)),
    "no such axis": (alone, {"in_axes": 2}, (A,)),
    "no such axis of the result": (alone, {"out_axes": 2}, (A,)),
    "a float": (alone, {"in_axes": 0.5}, (A,)),
    "a bool": (alone, {"in_axes": True}, (A,)),
    "a string": (alone, {"in_axes": "a"}, (A,)),
    "too few": (both, {"in_axes": (0,)}, (A, A)),
    "sizes": (both, {}, (A, V)),
    "keys": (lambda np, x: x["a"], {"in_axes": ({"b": 0},)}, ({"a": A},)),
    "too few results": (lambda np, x: (x, x), {"out_axes": (0,)}, (A,)),
    "a float for the result": (alone, {"out_axes": 0.5}, (A,)),
    "a string argument": (alone, {}, ("a",)),
    "a string result": (lambda np, x: "a", {}, (A,)),
    "no leaf at all": (lambda np, x: 1.0, {}, ((),)),
}


def run(library, numpy, form):
    f, options, args = form
    return library.vmap(lambda *args: f(numpy, *args), **options)(*args)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms(form):
    found, expected = run(fg, np, form), run(jax, jnp, form)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert a.shape == b.shape and str(a.dtype) == str(b.dtype)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(form):
    with pytest.raises((TypeError, ValueError)) as theirs:
        run(jax, jnp, form)
    with pytest.raises(theirs.type):
        run(fg, np, form)
