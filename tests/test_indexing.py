"""Indexing: every index against NumPy's own reading, exact values at edges, errors."""

import copy
import pickle

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import errors

X = np.array([0.5, -1.5, 2.0, 3.0])
M = np.arange(12.0).reshape(3, 4)

# ---- random indices ------------------------------------------------------------------------


def random_part(rng, n):
    """One part of an index for an axis of length n."""
    bounds = [None if rng.random() < 0.3 else int(b) for b in rng.integers(-n - 1, n + 2, 2)]
    return [
        lambda: int(rng.integers(-n, n)),
        lambda: np.int64(rng.integers(-n, n)),
        lambda: slice(*bounds, rng.choice([None, 1, 2, -1, -2])),
        lambda: slice(None),
        lambda: rng.integers(-n, n, [(), (1,), (2,), (3, 2), (1, 2), (0,)][rng.integers(6)]),
        lambda: rng.random(n) < 0.5,
        lambda: None,
        lambda: Ellipsis,
    ][rng.integers(8)]()


def random_index(rng, shape):
    while True:
        index, axis = [], 0
        for _ in range(rng.integers(1, 5)):
            part = random_part(rng, shape[axis] if axis < len(shape) else 1)
            if part is Ellipsis and any(p is Ellipsis for p in index):
                continue
            axis += part is not None and part is not Ellipsis
            if axis > len(shape):
                break
            index.append(part)
        try:
            np.zeros(shape)[tuple(index)]
            return tuple(index)
        except IndexError:  # index arrays that do not broadcast
            continue


def scattered(shape, index, g):
    out = np.zeros(shape)
    np.add.at(out, index, g)
    return out


@pytest.mark.parametrize("seed", range(120))
def test_any_index_reads_and_scatters_as_numpys(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 4)))
    index = random_index(rng, shape)
    x, xs = rng.normal(size=shape), rng.normal(size=(3, *shape))
    out, pull = fg.vjp(lambda x: x[index], x)
    np.testing.assert_array_equal(out, x[index])
    g, gs = rng.normal(size=out.shape)[()], rng.normal(size=(3, *out.shape))
    np.testing.assert_allclose(pull(g)[0], scattered(shape, index, g))
    np.testing.assert_array_equal(fg.vmap(lambda x: x[index])(xs), [x[index] for x in xs])
    pulled = fg.vmap(lambda x, g: fg.vjp(lambda x: x[index], x)[1](g)[0])(xs, gs)
    np.testing.assert_allclose(pulled, [scattered(shape, index, g) for g in gs])
    values = rng.normal(size=out.shape)
    expected = x.copy()
    expected[index] = values
    np.testing.assert_array_equal(fnp.index_update(x, index, values), expected)
    expected = x + scattered(shape, index, values)
    np.testing.assert_allclose(fnp.index_add(x, index, values), expected)


@pytest.mark.parametrize("seed", range(120))
def test_any_batched_index_is_a_loop(seed):
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 4)))
    while True:
        index = random_index(rng, shape)
        places = [i for i, p in enumerate(index) if isinstance(p, np.ndarray) and p.dtype != bool]
        if places:
            break
    arrays = [
        np.stack([rng.permutation(index[i].ravel()).reshape(index[i].shape) for _ in "123"]) for i in places
    ]

    def at(*parts):
        parts = dict(zip(places, parts))
        return tuple(parts.get(i, part) for i, part in enumerate(index))

    xs = rng.normal(size=(3, *shape))
    reads = fg.vmap(lambda x, *parts: x[at(*parts)])(xs, *arrays)
    np.testing.assert_array_equal(reads, [x[at(*parts)] for x, *parts in zip(xs, *arrays)])
    total = fg.grad(lambda x: np.sum(np.sin(fg.vmap(lambda *parts: x[at(*parts)])(*arrays))))(xs[0])
    expected = [scattered(shape, at(*parts), np.cos(xs[0][at(*parts)])) for parts in zip(*arrays)]
    np.testing.assert_allclose(total, np.sum(expected, 0))
    gs = rng.normal(size=reads.shape)
    pulled = fg.vmap(lambda x, g, *parts: fg.vjp(lambda x: x[at(*parts)], x)[1](g)[0])(xs, gs, *arrays)
    np.testing.assert_allclose(pulled, [scattered(shape, at(*p), g) for g, *p in zip(gs, *arrays)])


# ---- reading in loops ----------------------------------------------------------------------


def squares(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


def test_a_long_loop_of_reads():
    x = np.linspace(-1.0, 1.0, 20_000)
    np.testing.assert_array_equal(fg.grad(squares)(x), 2 * x)
    np.testing.assert_array_equal(fg.hvp(squares)(x, x), 2 * x)
    np.testing.assert_array_equal(fg.grad(lambda x: fg.grad(squares)(x) @ x)(x[:300]), 4 * x[:300])
    np.testing.assert_array_equal(fg.vmap(fg.grad(squares))(x.reshape(20, 1000)), 2 * x.reshape(20, 1000))


def test_reads_of_a_scalar_mix_with_other_uses():
    """The buffer of its cotangent has no axes, and becomes a scalar where something else is added."""

    def f(x):
        y = x[1]
        return np.sum(y[..., None]) + 2.0 * y + 3.0 * np.sum(y[None]) + y * y + np.sum(y[()])

    x = np.array([1.0, 5.0])
    np.testing.assert_array_equal(fg.grad(f)(x), [0.0, 17.0])
    np.testing.assert_array_equal(fg.hessian(f)(x), [[0.0, 0.0], [0.0, 2.0]])
    assert fg.grad(lambda y: f(np.stack([y, y])))(np.array(5.0)) == 17.0


def test_reads_and_whole_uses_mix_in_any_order():
    def f(x):
        y = x * 3.0
        total = y[0] * y[1] + np.sum(y * y) + y[0]
        return total + np.sum(y[[0, 0, 2]] * 2.0) + np.sum(y[1:] ** 2) + np.sum(y)

    y = 3 * X
    expected = 2 * y + 1.0
    expected[:2] += y[1::-1]
    expected += [1 + 4, 0, 2, 0]
    expected[1:] += 2 * y[1:]
    np.testing.assert_allclose(fg.grad(f)(X), 3 * expected)
    np.testing.assert_allclose(fg.jacfwd(f)(X), 3 * expected)
    np.testing.assert_allclose(fg.vmap(fg.grad(f))(np.stack([X, 2 * X]))[0], 3 * expected)
    np.testing.assert_allclose(fg.jacrev(fg.grad(f))(X), fg.jacfwd(fg.grad(f))(X))


def test_cotangents_keep_the_dtype():
    x = X.astype(np.float32)
    for f in (lambda x: x[0] * x[1], lambda x: np.sum(x[[0, 0]] ** 2), lambda x: np.sum(x[x > 0])):
        assert fg.grad(f)(x).dtype == np.float32
    assert fg.grad(lambda x: np.sum(fnp.index_add(x, [0, 0], np.ones(2)) ** 2))(x).dtype == np.float32


def test_an_argument_is_not_written_to():
    before = X.copy()
    fg.grad(lambda x: np.sum(fnp.index_update(x, 0, x[1]) ** 2))(X)
    out, pull = fg.vjp(lambda x: x[1:], X)
    pull(np.ones(3))
    np.testing.assert_array_equal(X, before)


# ---- structural zeros ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (lambda x: np.sum(np.log1p(x)[x > -1.0]), [-1.0, 1.0], [0.0, 0.5]),
        (lambda x: np.sum(np.sqrt(x)[1:]), [0.0, 4.0], [0.0, 0.25]),
        (lambda x: np.sum(np.sqrt(x)[[1, 1]]), [0.0, 4.0], [0.0, 0.5]),
        (lambda x: np.sqrt(x)[1] + np.sqrt(x)[-1], [0.0, 4.0], [0.0, 0.5]),
        (lambda x: np.sum(np.sqrt(x).reshape(2, 2)[:, 1]), [0.0, 4.0, 0.0, 4.0], [0.0, 0.25, 0.0, 0.25]),
        (lambda x: np.sum(np.sqrt(x).reshape(2, 2).T[1][::-1]), [0.0, 4.0, 0.0, 4.0], [0.0, 0.25, 0.0, 0.25]),
        (lambda x: np.sum(np.split(np.sqrt(x), 2)[1]), [0.0, 4.0], [0.0, 0.25]),
        (
            lambda x: np.sum(np.tril(np.sqrt(x).reshape(2, 2), -1)),
            [0.0, 0.0, 4.0, 0.0],
            [0.0, 0.0, 0.25, 0.0],
        ),
        (lambda x: np.trace(np.sqrt(x).reshape(2, 2)), [4.0, 0.0, 0.0, 4.0], [0.25, 0.0, 0.0, 0.25]),
        (lambda x: np.sum(np.roll(np.sqrt(x), 1)[:1]), [0.0, 4.0], [0.0, 0.25]),
        (lambda x: np.sum(fnp.index_update(np.sqrt(x), 0, 1.0)), [0.0, 4.0], [0.0, 0.25]),
        (lambda x: np.sum(np.concatenate([np.sqrt(x), x])[1:2]), [0.0, 4.0], [0.0, 0.25]),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log1p")  # NumPy's own, of the value
def test_what_is_not_read_is_a_structural_zero(f, x, expected):
    x = np.array(x)
    np.testing.assert_array_equal(fg.grad(f)(x), expected)
    if x[0] >= 0.0:  # the mask of the first cannot be batched
        np.testing.assert_array_equal(fg.vmap(fg.grad(f))(np.stack([x, x]))[1], expected)
    second = fg.hvp(f)(x, np.ones_like(x))
    assert np.all(np.isfinite(second))
    np.testing.assert_array_equal(second[np.array(expected) == 0.0], 0.0)
    np.testing.assert_allclose(fg.grad(lambda x: np.sum(fg.grad(f)(x)))(x), second)


def test_a_true_singularity_stays_visible():
    assert fg.grad(lambda x: np.sum(np.sqrt(x)[:1]))(np.array([0.0, 4.0])).tolist() == [np.inf, 0.0]
    both = fg.grad(lambda x: np.sum(np.sqrt(x)[1:]) + np.sum(np.sqrt(x)))(np.array([0.0, 4.0]))
    assert both.tolist() == [np.inf, 0.5]


# ---- updates -------------------------------------------------------------------------------


def test_of_two_values_for_one_entry_the_last_counts():
    def f(v):
        return fnp.index_update(np.zeros(3), [1, 0, 1], v)

    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(f(v), [2.0, 3.0, 0.0])
    np.testing.assert_array_equal(fg.jacrev(f)(v), [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(fg.jacfwd(f)(v), fg.jacrev(f)(v))


def test_values_broadcast_and_take_the_dtype_of_the_array():
    out = fg.vjp(lambda v: fnp.index_update(np.zeros((2, 3), np.float32), 1, v), 2.0)[0]
    assert out.dtype == np.float32
    assert fg.grad(lambda v: np.sum(fnp.index_update(M, (slice(None), 1), v)))(2.0) == 3.0
    assert fg.grad(lambda v: np.sum(fnp.index_add(M, (slice(None), [1, 1]), v)))(2.0) == 6.0
    with pytest.raises(TypeError, match="same_kind"):
        fg.grad(lambda v: np.sum(fnp.index_update(np.zeros(3, int), 0, v)))(2.0)
    with pytest.raises(ValueError):
        fnp.index_update(X, slice(2), np.ones(3))


def test_plain_arrays_stay_plain():
    assert type(fnp.index_update(X, 0, 1.0)) is np.ndarray
    np.testing.assert_array_equal(fnp.index_update(X, X > 0, 0.0), [0.0, -1.5, 0.0, 0.0])


# ---- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index, message",
    [
        (4, "out of bounds"),
        (-5, "out of bounds"),
        ([0, 4], "out of bounds"),
        (1.0, "only integers"),
        ("a", "only integers"),
        (np.array([1.0]), "integer .or boolean. type"),
        ([1.0], "integer .or boolean. type"),
        ((0, 0), "too many indices"),
        (([0], 0), "too many indices"),
        (np.ones(3, bool), "boolean index did not match"),
        (np.ones((4, 1), bool), "too many indices"),
        ((Ellipsis, Ellipsis), "single ellipsis"),
        ((Ellipsis, [0], Ellipsis), "single ellipsis"),
        (([0, 1], [0, 1, 2]), "too many indices"),
    ],
)
@pytest.mark.parametrize("wrap", [fg.grad, lambda f: lambda x: fg.jvp(f, (x,), (x,)), fg.make_jaxpr])
def test_wrong_indices_give_numpys_errors(wrap, index, message):
    with pytest.raises(IndexError):
        X[index]
    with pytest.raises(IndexError, match=message):
        wrap(lambda x: np.sum(x[index]))(X)


def test_arrays_that_do_not_broadcast():
    with pytest.raises(IndexError, match="could not be broadcast"):
        fg.grad(lambda x: np.sum(x[[0, 1], [0, 1, 2]]))(M)


def test_a_traced_float_is_no_index():
    with pytest.raises(IndexError, match="integer"):
        fg.grad(lambda x: x[x[0]])(X)


def test_a_batched_mask_is_refused_with_the_cure():
    for f in (lambda x: x[x > 0], np.nonzero, np.flatnonzero, np.argwhere, lambda x: np.extract(x > 0, x)):
        with pytest.raises(errors.BatchedMaskError, match=r"np\.where"):
            fg.vmap(f)(M)
    with pytest.raises(errors.BatchedMaskError, match=r"np\.where"):
        fg.make_jaxpr(lambda x: x[x > 0])(fg.ShapeDtypeStruct((3,), float))


@pytest.mark.parametrize(
    "f", [lambda x: np.copyto(np.zeros(4), x), lambda x: np.take(x, [0], out=np.zeros(1))]
)
def test_what_writes_into_plain_arrays_is_refused(f):
    with pytest.raises(errors.InPlaceError):
        fg.grad(lambda x: np.sum(f(x)))(X)


def test_the_mark_of_an_array_in_a_template_is_one():
    (eqn,) = fg.make_jaxpr(lambda x: x[[0, 1]])(X).eqns
    assert copy.deepcopy(eqn.params) == pickle.loads(pickle.dumps(eqn.params)) == eqn.params


# ---- functions -----------------------------------------------------------------------------


def test_indices_are_constants():
    assert (
        fg.grad(lambda x: np.sum(x * np.unravel_index(3, x.shape)[0]), unused="zero")(X).tolist() == [3.0] * 4
    )
    assert fg.vmap(lambda x: np.ravel_multi_index((np.argmax(x), 1), (4, 2)))(M).tolist() == [7, 7, 7]


def test_take_of_a_plain_array_at_batched_indices():
    table = np.arange(10.0) ** 2
    picked = fg.vmap(lambda x: fnp.take(table, np.argmax(x)) * x[0])(M)
    np.testing.assert_array_equal(picked, 9.0 * M[:, 0])


def test_choose_refuses_what_numpy_refuses():
    with pytest.raises(ValueError, match="invalid entry"):
        fg.grad(lambda x: np.sum(np.choose([2], [x, x])))(X)


def test_of_a_nonfinite_matrix_the_triangle_is_finite():
    x = np.array([[1.0, np.inf], [2.0, 3.0]])
    out, pull = fg.vjp(np.tril, x)
    assert out.tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert pull(np.ones((2, 2)))[0].tolist() == [[1.0, 0.0], [1.0, 1.0]]


def test_a_plain_array_at_batched_indices_names_the_way():
    with pytest.raises(errors.ConcretizationError, match=r"funcgrad\.numpy\.take"):
        fg.vmap(lambda i: X[i])(np.arange(3))
