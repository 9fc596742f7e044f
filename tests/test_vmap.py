"""vmap is a loop: every row of the table, every way of giving the batch, and what has no batch at all."""

import collections
import functools
import itertools

import numpy as np
import pytest
from samples import SAMPLES, SCIPY_ROWS, each

import funcgrad.numpy as fnp
from funcgrad import (
    errors,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    tree,
    value_and_hvp,
    vjp,
    vmap,
)
from funcgrad._testing import laws

ROWS = each([row for row in SAMPLES if row.batch])

M = np.array([[0.3, -1.2, 0.8, 1.9], [1.4, 0.5, -0.7, 0.2], [-0.9, 1.1, 0.6, -1.5]])
V = np.array([0.7, -1.3, 0.4, 2.1])
Pair = collections.namedtuple("Pair", "a b")


def members(x, shape, batched):
    """Arguments for the members of a (nested) batch; alike along the axes that are not `batched`."""
    x = np.asarray(x)
    out = np.empty(shape + x.shape, x.dtype)
    for place in np.ndindex(shape):
        own = tuple([i if b else 0 for i, b in zip(place, batched)])
        random = np.random.default_rng(own)
        noise = 1 + 0.01 * random.uniform(-1, 1, x.shape) * any(own)
        out[place] = x * noise if x.dtype.kind in "fc" else x
    return out


def stacked(results, axis=0):
    return tree.map(lambda *parts: np.stack(parts, axis), *results)


def axes_of(batched, axis=0):
    return tuple([axis if b else None for b in batched])


def has_type_by_values(row):
    """Whether values decide about shapes or complex dtypes: of eigenvalues, polynomials, in `np.emath`."""
    types = [laws.type_of(x) for x in tree.leaves(row.f(*row.args))]
    none = vmap(row.f)(*[np.asarray(x)[None][:0] for x in row.args])
    return types != [laws.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in tree.leaves(none)]


# ---- every row of the table ----------------------------------------------------------------


@ROWS
@pytest.mark.parametrize("size", [0, 1])
def test_empty_batches_and_batches_of_one(row, size):
    if size == 0 and row.id in SCIPY_ROWS:
        pytest.skip("not all of SciPy's functions take a stack of none")
    if size == 0 and has_type_by_values(row):
        pytest.skip("as in NumPy, results that are real have a real dtype, and so have none")
    derivatives, directions, seeds = laws.derivatives_at(row.f, row.args)
    for batched in laws._subsets(len(row.args)):
        args = tuple(np.repeat(np.asarray(x)[None], size, 0) if b else x for x, b in zip(row.args, batched))
        values = vmap(row.f, in_axes=axes_of(batched))(*args)
        both = vmap(derivatives, in_axes=(axes_of(batched), None, None))(args, directions, seeds)
        expected = row.f(*row.args), derivatives(row.args, directions, seeds)
        expected = tree.map(lambda x: np.repeat(np.asarray(x)[None], size, 0), expected)
        laws._compare(row.f, f"vmap of {size} members", (values, both), expected)


@ROWS
def test_a_batch_axis_that_is_the_last(row):
    for batched in laws._subsets(len(row.args)):
        args = [np.moveaxis(members(x, (2,), (b,)), 0, -1) for x, b in zip(row.args, batched)]
        args = [x if b else x[..., 0] for x, b in zip(args, batched)]
        rows = [[x[..., i] if b else x for x, b in zip(args, batched)] for i in range(2)]
        found = vmap(row.f, in_axes=axes_of(batched, -1), out_axes=-1)(*args)
        laws._compare(row.f, "vmap along the last axis", found, stacked([row.f(*r) for r in rows], -1))


@ROWS
def test_a_batch_inside_a_batch(row):
    """Each argument in both, in one of them, or in none."""
    f, args = row.f, row.args
    derivatives, directions, seeds = laws.derivatives_at(f, args)

    def both(*args):
        return f(*args), derivatives(args, directions, seeds)

    @functools.cache
    def expected(places):
        return both(*[members(x, (2, 3), (1, 1))[place] for x, place in zip(args, places)])

    count = len(args)
    choices = {(True,) * count, *[tuple([i == k for i in range(count)]) for k in range(count)]}
    for outer, inner in itertools.product(choices, choices):
        rows = [
            stacked([expected(tuple([(i * o, j * n) for o, n in zip(outer, inner)])) for j in range(3)])
            for i in range(2)
        ]
        given = [members(x, (2, 3), (o, n)) for x, o, n in zip(args, outer, inner)]
        given = [x if n else x[:, 0] for x, n in zip(given, inner)]
        given = [x if o else x[0] for x, o in zip(given, outer)]
        found = vmap(vmap(both, in_axes=axes_of(inner)), in_axes=axes_of(outer))(*given)
        laws._compare(f, f"vmap of {outer} of vmap of {inner}", found, stacked(rows))


# ---- how the batch is given ----------------------------------------------------------------


def test_axes_of_trees():
    d = {"a": M, "b": V, "c": None}
    out = vmap(lambda d, s: {"x": d["a"] * d["b"], "y": s}, in_axes=({"a": 0, "b": None, "c": 0}, None))(
        d, 2.0
    )
    np.testing.assert_array_equal(out["x"], M * V)
    np.testing.assert_array_equal(out["y"], [2.0, 2.0, 2.0])
    out = vmap(lambda p: Pair(p.a + p.b, p.b), in_axes=(Pair(1, None),), out_axes=Pair(1, None))(Pair(M.T, V))
    np.testing.assert_array_equal(out.a, (M + V).T)
    assert out.b is V
    np.testing.assert_array_equal(vmap(lambda xs: xs[0] * xs[1][0], in_axes=[[0, (None,)]])([M, (V,)]), M * V)
    np.testing.assert_array_equal(vmap(lambda x, *, y: x * y, in_axes=-2)(M, y=M), M * M)


def test_a_batch_of_nothing_that_has_it():
    np.testing.assert_array_equal(vmap(lambda: V, axis_size=2)(), [V, V])
    np.testing.assert_array_equal(
        vmap(lambda x: 2 * x, None, out_axes=1, axis_size=2)(V), (2 * np.array([V, V])).T
    )
    assert vmap(lambda x: x, axis_size=3)(M).shape == (3, 4)


def test_integers_and_booleans():
    assert vmap(lambda i: 2 * i)(np.arange(3)).dtype == np.int64
    np.testing.assert_array_equal(vmap(lambda b: ~b)(np.array([True, False])), [False, True])


WRONG = {
    "sizes": (lambda: vmap(np.add)(M, V), r"different sizes \(arg\[0\]: 3, arg\[1\]: 4\)"),
    "axis_size": (lambda: vmap(np.sin, axis_size=4)(M), r"different sizes .*axis_size=4"),
    "nothing": (lambda: vmap(np.sin, in_axes=None)(M), "no argument is batched"),
    "number": (lambda: vmap(np.sin)(1.0), r"in_axes=0 for arg\[0\], of shape \(\)"),
    "range": (lambda: vmap(np.sin, in_axes=2)(M), r"in_axes=2 for arg\[0\]"),
    "float": (lambda: vmap(np.sin, in_axes=0.5)(M), r"in_axes=0.5"),
    "bool": (lambda: vmap(np.sin, in_axes=True)(M), r"in_axes=True"),
    "structure": (lambda: vmap(np.add, in_axes=(0,))(M, M), r"in_axes: .*it lacks \[1\]"),
    "keys": (lambda: vmap(np.sin, in_axes=({"a": 0},))({"b": M}), r"in_axes\[0\]: .*\['b'\]"),
    "out range": (lambda: vmap(np.sin, out_axes=2)(M), r"out_axes=2 for the result, which has 2 axes"),
    "out float": (lambda: vmap(np.sin, out_axes=0.5)(M), r"out_axes=0.5 for the result"),
    "out constant": (lambda: vmap(lambda x: V, out_axes=2)(M), r"out_axes=2 for the result"),
    "out None": (
        lambda: vmap(lambda x: {"a": x}, out_axes=None)(M),
        r"out_axes is None for \['a'\], which depends",
    ),
    "out structure": (lambda: vmap(lambda x: (x, x), out_axes=(0,))(M), r"out_axes: .*it lacks \[1\]"),
}


@pytest.mark.parametrize("call, message", WRONG.values(), ids=WRONG)
def test_wrong_axes(call, message):
    with pytest.raises((errors.BatchAxisError, errors.TreeStructureError), match=message):
        call()


# ---- values that differ between members ----------------------------------------------------

READING = {
    "argmax": np.argmax,
    "argsort": np.argsort,
    "argpartition": lambda x: np.argpartition(x, 2),
    "partition": lambda x: np.partition(x, 2),
    "searchsorted": lambda x: np.searchsorted([-1.0, 0.0, 1.0], x),
    "searchsorted in x": lambda x: np.sort(x).searchsorted(0.5),
    "digitize": lambda x: np.digitize(x, [-1.0, 0.0, 1.0]),
    "x[argmax]": lambda x: x[np.argmax(x)],
    "x[argsort]": lambda x: x[np.argsort(x)],
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(-x), 0),
    "take of a table": lambda x: fnp.take(np.arange(4.0), np.argmax(x)),
    "logic": lambda x: (x > 0) & ~(x > 1) | (x < -1),
    "any, all": lambda x: np.any(x > 1) ^ np.all(x > -1),
    "count_nonzero": lambda x: np.count_nonzero(x > 0),
    "isclose": lambda x: np.isclose(x, 0.3),
    "where": lambda x: np.where(x > 0, x, 2 * x),
    "select": lambda x: np.select([x > 1, x > 0], [x, 2 * x], -x),
    "choose": lambda x: np.choose((x > 0).astype(int), [x, 2 * x]),
    "round, floor, mod": lambda x: np.round(x, 1) + np.floor(x) + x % 0.7,
    "percentile": lambda x: np.percentile(x, [20, 55]),
    "median": np.median,
    "histogram": lambda x: np.histogram(x, [-2.0, -1.0, 0.0, 1.0, 2.0])[0],
    "interp": lambda x: np.interp(x, [-2.0, 0.0, 2.0], [0.0, 1.0, 3.0]),
    "lexsort": lambda x: np.lexsort((x, x > 0)),
    "roll": lambda x: np.roll(x, np.argmax(x)),
    "index_update": lambda x: fnp.index_update(x, np.argmax(x), 0.0),
    "index_add": lambda x: fnp.index_add(x, [0, 0, 1], x[:3]),
    "running maximum": np.maximum.accumulate,
    "nanmax": lambda x: np.nanmax(np.where(x > 1, np.nan, x)),
}


@pytest.mark.parametrize("f", READING.values(), ids=READING)
def test_what_values_decide_entry_by_entry(f):
    expected = np.stack([f(x) for x in M])
    np.testing.assert_array_equal(vmap(f)(M), expected)
    np.testing.assert_array_equal(vmap(f, in_axes=1)(M.T), expected)
    np.testing.assert_array_equal(vmap(vmap(f))(M[None]), expected[None])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[x > 0],
        np.nonzero,
        np.flatnonzero,
        np.argwhere,
        np.unique,
        lambda x: np.extract(x > 0, x),
        lambda x: np.compress(x > 0, x),
        lambda x: fnp.index_update(x, x > 0, 0.0),
        np.trim_zeros,
    ],
)
def test_results_whose_length_would_differ_are_refused(f):
    for g in (f, vmap(f)):
        with pytest.raises(
            (errors.BatchedMaskError, errors.UnsupportedFunctionError), match=r"np\.(where|sort)"
        ):
            vmap(g)(M[None] if g is not f else M)


@pytest.mark.parametrize(
    "f, cure",
    [
        (lambda x: x if x[0] > 0 else -x, r"np\.where"),
        (lambda x: x[0] if x[0] in (0.3, 1.4) else -x, r"np\.where"),
        (lambda x: sum(x[0] for _ in range(np.argmax(x))), "index"),
        (lambda x: x[int(np.argmax(x))], r"take\(a, i, axis=0\)"),
        (lambda x: x[: np.argmax(x)], r"np\.where\(np\.arange"),
        (lambda x: np.arange(4.0)[np.argmax(x)], r"funcgrad\.numpy\.take"),
        (lambda x: float(x[0]), r"np\.sin"),
    ],
)
def test_reading_a_value_that_differs_names_a_way(f, cure):
    with pytest.raises((errors.UnknownValueError, errors.ConcretizationError), match=cure) as error:
        vmap(f)(M)
    assert "test_vmap.py" in str(error.value)


# ---- under and over the other transforms ---------------------------------------------------


def f(x):
    return np.sum(np.sin(x) * x[::-1] ** 2) + np.max(x)


H = np.stack([hessian(f)(x) for x in M])


def test_products_with_many_vectors():
    vectors = np.stack([np.eye(4)[i] + 0.5 for i in range(4)])
    products = vmap(lambda v: hvp(f)(V, v))(vectors)
    np.testing.assert_allclose(products, vectors @ hessian(f)(V), rtol=1e-12)
    products = vmap(hvp(f))(M, vectors[:3])
    np.testing.assert_allclose(products, np.einsum("nij,nj->ni", H, vectors[:3]), rtol=1e-12)
    value, gradient, products = vmap(value_and_hvp(f), in_axes=(0, None))(M, V)
    np.testing.assert_allclose(value, [f(x) for x in M], rtol=1e-14)
    np.testing.assert_allclose(gradient, vmap(grad(f))(M), rtol=1e-14)
    np.testing.assert_allclose(products, H @ V, rtol=1e-12)


def test_the_value_is_not_batched_by_batched_vectors():
    value, _, _ = vmap(value_and_hvp(f), in_axes=(None, 0), out_axes=(None, 0, 0))(V, np.eye(4))
    assert value == f(V)


def test_jvp_inside_and_outside():
    ts = np.cos(M)
    inside = vmap(lambda x, t: jvp(f, (x,), (t,)))(M, ts)
    outside = jvp(vmap(f), (M,), (ts,))
    expected = [jvp(f, (x,), (t,)) for x, t in zip(M, ts)]
    for found in (inside, outside):
        np.testing.assert_allclose(np.transpose(found), expected, rtol=1e-13)
    slopes = vmap(lambda t: jvp(f, (V,), (t,))[1])(np.eye(4))
    np.testing.assert_allclose(slopes, grad(f)(V), rtol=1e-13)


def test_vjp_inside_and_outside():
    g = np.arange(1.0, 13.0).reshape(3, 4)
    rule = lambda x, g: vjp(np.tanh, x)[1](g)[0]  # noqa: E731
    np.testing.assert_allclose(vmap(rule)(M, g), vjp(vmap(np.tanh), M)[1](g)[0], rtol=1e-14)
    pull = vjp(lambda x: np.cumsum(x * x), V)[1]
    rows = vmap(lambda g: pull(g)[0])(np.eye(4))  # recorded outside, pulled inside
    np.testing.assert_allclose(rows, jacrev(lambda x: np.cumsum(x * x))(V), rtol=1e-14)


def test_jacobians_and_hessians_of_a_batch():
    np.testing.assert_allclose(vmap(hessian(f))(M), H, rtol=1e-13)
    np.testing.assert_allclose(vmap(jacfwd(jacfwd(f)))(M), H, rtol=1e-13, atol=1e-14)
    whole = jacrev(vmap(f))(M)
    np.testing.assert_allclose(whole, np.eye(3)[:, :, None] * vmap(grad(f))(M), rtol=1e-13)
    np.testing.assert_allclose(jacfwd(vmap(f))(M), whole, rtol=1e-13)


def test_the_gradient_of_a_batch_of_gradients():
    penalty = lambda X: np.sum(vmap(grad(f))(X) ** 2)  # noqa: E731
    expected = [2 * h @ grad(f)(x) for h, x in zip(H, M)]
    np.testing.assert_allclose(grad(penalty)(M), expected, rtol=1e-13)


def test_functions_that_close_over_traced_and_batched_values():
    found = grad(lambda w: np.sum(vmap(lambda x: vmap(lambda t: w * x @ x * t)(V))(M)))(2.0)
    np.testing.assert_allclose(found, np.sum(M * M) * np.sum(V), rtol=1e-14)


def test_in_place_operators_act_on_the_functions_own_value():
    def g(x):
        y = x * 1.0
        y += x
        y *= y
        return np.sum(y)

    before = M.copy()
    np.testing.assert_allclose(vmap(g)(M), 4 * np.sum(M * M, axis=1), rtol=1e-14)
    np.testing.assert_allclose(vmap(grad(g))(M), 8 * M, rtol=1e-14)
    np.testing.assert_array_equal(M, before)


def test_members_share_what_is_not_batched():
    """A result that no argument's batch reaches is computed once."""
    calls = []

    def g(x, w):
        calls.append(np.tanh(w))
        return x * calls[-1]

    vmap(g, in_axes=(0, None))(M, V)
    assert type(calls[0]) is np.ndarray and calls[0].shape == (4,)
