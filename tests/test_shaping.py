"""Shapes, joining, padding: NumPy's values for every argument, NumPy's errors, and exact derivatives."""

import itertools

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import errors, jacrev

V = np.array([0.5, -1.5, 2.0, 3.0])
M = np.arange(12.0).reshape(3, 4)
T = np.arange(24.0).reshape(2, 3, 4)


def as_numpy(f, *args):
    """The value under every tracer is NumPy's, to the bit, with its type, shape and dtype."""
    expected = f(*args)
    for found in (fg.vjp(f, *args)[0], fg.jvp(f, args, args)[0]):
        for a, b in zip(
            *[x if isinstance(x, (tuple, list)) else (x,) for x in (found, expected)], strict=True
        ):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_array_equal(a, b)


# ---- values --------------------------------------------------------------------------------

CALLS = [
    lambda x: np.reshape(x, (4, -1), order="F"),
    lambda x: np.reshape(x.T, -1, order="A"),
    lambda x: np.reshape(x, [2, 6]),
    lambda x: np.reshape(x, np.array([6, 2])),
    lambda x: x.reshape(2, 6),
    lambda x: x.reshape((2, -1), order="F"),
    lambda x: x.ravel("K"),
    lambda x: x.T.ravel("K"),
    lambda x: x[:, ::-1].ravel("A"),
    lambda x: x.T.flatten(),
    lambda x: x.T.flatten("F"),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((-1, -2)),
    lambda x: x.transpose(),
    lambda x: x.swapaxes(0, 1),
    lambda x: x[None].squeeze(0),
    lambda x: x.repeat([1, 2, 0], axis=0),
    lambda x: x.take([0, 2]),
    lambda x: np.take(x, [0.5, True]),
    lambda x: np.take(x, np.array([True, False])),
    lambda x: np.take(x, []),
    lambda x: x.diagonal(1),
    lambda x: x.T.copy(),
    lambda x: x.mT,
    lambda x: np.stack([x, x.astype(np.float32)], dtype=np.float64),
    lambda x: np.concatenate([x, np.ones((1, 4), np.float32)]),
    lambda x: np.concatenate((x, [[1, 2, 3, 4]])),
    lambda x: np.concatenate([x.astype(np.float32)] * 2, dtype=np.float64, axis=1),
    lambda x: np.concatenate([x, x], dtype=np.float32, casting="same_kind"),
    lambda x: np.hstack([x[0], 1.0, [2.0, 3.0]]),
    lambda x: np.vstack(list(x)),
    lambda x: fnp.stack([[x[0, 0], 1.0], [2.0, x[1, 1]]]),
    lambda x: fnp.concatenate([[x[0, 0], 1.0], x[0]]),
    lambda x: fnp.hstack([[x[0, 0], [1.0][0]], 2.0]),
    lambda x: np.block([[x, x[:, :1]], [np.zeros((1, 5))]]),
    lambda x: np.block([x[0], 1.0, 2.0]),
    lambda x: np.block(x),
    lambda x: np.block([[x[0, 0], 1.0], [2.0, x[1, 1]]]),
    lambda x: np.array_split(x, 5),
    lambda x: np.array_split(x, [1, 2, 7], axis=1),
    lambda x: np.split(x, [2, 1]),
    lambda x: np.split(x, np.array([1, -1]), axis=-1),
    lambda x: np.append(x, [[1.0, 2.0]]),
    lambda x: np.insert(x, 5, 7),
    lambda x: np.insert(x, [0, 5, 5], [7.0, 8.0, 9.0]),
    lambda x: np.insert(x, slice(0, 2), 1.0, axis=1),
    lambda x: np.insert(x, -1, [1.0, 2.0, 3.0, 4.0], axis=0),
    lambda x: np.insert(x, 2, np.ones((2, 3)), axis=1),
    lambda x: np.insert(x, np.array([True, False, True]), 5.0, axis=0),
    lambda x: np.insert(x, [2], [[1.0], [2.0], [3.0]], axis=1),
    lambda x: np.delete(x, [0, 2, 2], axis=1),
    lambda x: np.delete(x, slice(None, None, 2)),
    lambda x: np.delete(x, np.array([True, False, True]), axis=0),
    lambda x: np.delete(x, [], axis=0),
    lambda x: np.trim_zeros(x[0]),
    lambda x: np.trim_zeros(x[0], "f"),
    lambda x: np.trim_zeros(x[0], "b"),
    lambda x: np.trim_zeros(x[0] * 0.0),
    lambda x: np.repeat(x, np.array([2]), axis=1),
    lambda x: np.repeat(x, [0, 1] * 6),
    lambda x: np.tile(x, ()),
    lambda x: np.tile(x, (2, 0)),
    lambda x: np.resize(x, (0, 3)),
    lambda x: np.resize(x, (5, 5)),
    lambda x: np.roll(x, 13),
    lambda x: np.roll(x, (1, -1), axis=(0, 1)),
    lambda x: np.roll(x, 1, axis=(0, 1)),
    lambda x: np.roll(x, [1, 2], axis=1),
    lambda x: np.rollaxis(x[None], -1, 1),
    lambda x: np.rollaxis(x[None], 1, -1),
    lambda x: np.moveaxis(x[None], [0, 1], [-1, -2]),
    lambda x: np.broadcast_to(x[:, :1], [3, 2]),
    lambda x: np.atleast_3d(x, x[0], x[0, 0]),
    lambda x: np.meshgrid(x[0], x[1], x[:2, 0], indexing="ij"),
    lambda x: np.meshgrid(x[0], [1.0, 2.0], sparse=True),
    lambda x: np.rot90(x, 5, (1, 0)),
    lambda x: np.full_like(x, 7.0, shape=(2,)) * x[0, 0],
    lambda x: np.apply_along_axis(np.cumsum, 0, x),
    lambda x: np.apply_along_axis(lambda r: r[:, None] * r[:2], 1, x),
    lambda x: np.apply_over_axes(np.sum, x[None], (0, -1)),
    lambda x: np.diagflat(x[:2, :2], -1),
    lambda x: np.matrix_transpose(x[None]),
    lambda x: np.linalg.matrix_transpose(x),
]


@pytest.mark.parametrize("f", CALLS, ids=range(len(CALLS)))
def test_values_are_numpys(f):
    as_numpy(f, M)


PADDINGS = [
    *[
        {"mode": m}
        for m in ("edge", "wrap", "reflect", "symmetric", "linear_ramp", "mean", "maximum", "minimum")
    ],
    {"mode": "median"},
    {},
    {"constant_values": 2},
    {"constant_values": (1.0, 2.0)},
    {"constant_values": ((1.0, 2.0), (3.0, 4.0))},
    {"constant_values": ((1.0,), (3.0,))},
    {"mode": "linear_ramp", "end_values": (1.0, -2.0)},
    {"mode": "reflect", "reflect_type": "odd"},
    {"mode": "symmetric", "reflect_type": "odd"},
    {"mode": "mean", "stat_length": 2},
    {"mode": "minimum", "stat_length": ((1, 2), (3, 100))},
]
WIDTHS = [0, 1, (1, 2), ((0, 1), (2, 0)), ((5, 0), (1, 9)), [[3], [1]]]


@pytest.mark.parametrize("options", PADDINGS, ids=str)
@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_padding_is_numpys(options, width):
    for x in (M**2, M[:1], M[:, :1], M[:2, 1:3]):
        expected = np.pad(x, width, **options)
        found = fg.vjp(lambda x: np.pad(x, width, **options), x)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-15)
        assert found.dtype == expected.dtype


def test_padding_by_odd_reflection_leaves_infinities_alone():
    x = np.array([1.0, 2.0, np.inf])
    found = fg.vjp(lambda x: np.pad(x, (2, 0), "reflect", reflect_type="odd"), x[[0, 1, 1, 2]])[0]
    assert found.tolist() == [0.0, 0.0, 1.0, 2.0, 2.0, np.inf]


def test_arrays_like_a_traced_one():
    def f(x):
        for make in (np.zeros_like, np.ones_like, np.empty_like):
            assert isinstance(make(x), type(x)) and make(x).shape == x.shape and make(x).dtype == x.dtype
            assert type(make(x, dtype=np.int8)) is np.ndarray and make(x, dtype=np.int8).dtype == np.int8
            assert make(x, shape=(2, 2)).shape == (2, 2)
        assert isinstance(np.full_like(x, 2.0), type(x)) and np.full_like(x, 2.0).shape == x.shape
        assert (np.shape(x), np.ndim(x), np.size(x)) == (x.shape, x.ndim, x.size)
        assert np.size(x, 0) == x.shape[0]
        return np.sum(x) * np.sum(np.ones_like(x))

    fg.grad(f)(M.astype(np.float32))
    fg.vmap(f)(M)
    fg.make_jaxpr(f)(fg.ShapeDtypeStruct((2, 3), np.float32))


def test_which_arrays_share_memory():
    def f(x):
        assert np.may_share_memory(x, x[1:]) and np.shares_memory(x, x.T)
        assert not np.may_share_memory(x, np.copy(x)) and not np.shares_memory(x, np.sin(x))
        return np.sum(x)

    fg.grad(f)(M)


# ---- derivatives ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 3000])
def test_joining_many_arrays(n):
    x = np.linspace(0.0, 1.0, n)
    joined = fg.grad(lambda x: np.sum(np.concatenate([x[i : i + 1] * i for i in range(n)]) ** 2))(x)
    stacked = fg.grad(lambda x: np.sum(np.stack([x[i] * i for i in range(n)]) ** 2))(x)
    np.testing.assert_allclose(joined, 2 * x * np.arange(n) ** 2)
    np.testing.assert_allclose(stacked, joined)
    product = fg.hvp(lambda x: np.sum(fnp.array([x[i] * i for i in range(n)]) ** 2))(x, x)
    np.testing.assert_allclose(product, joined)
    twice = fg.grad(lambda x: fg.grad(lambda x: np.sum(np.stack([x[i] * i for i in range(n)]) ** 2))(x) @ x)
    np.testing.assert_allclose(twice(x), 2 * joined)


def test_columns_of_many_rows():
    x = np.linspace(0.0, 1.0, 200_000)
    g = fg.grad(lambda x: np.sum(np.column_stack([x, np.ones_like(x), x * x]) ** 2))(x)
    np.testing.assert_allclose(g, 2 * x + 4 * x**3)


def test_each_share_has_its_argument_dtype():
    def f(a, b, c):
        return np.sum(np.concatenate([a, b, np.stack([c, 1.0])]) ** 2)

    a, b, c = np.float32(V), V, np.float32(2.0)
    grads = fg.grad(f, argnums=(0, 1, 2))(a, b, c)
    assert [g.dtype for g in grads] == [np.float32, np.float64, np.float32]
    assert grads[2] == 4.0
    assert fg.grad(lambda a: np.sum(np.concatenate([a, [1j]]).imag) + np.sum(a))(V).dtype == np.float64


def test_joining_integers_and_traced_values():
    g = fg.grad(lambda x: np.sum(np.concatenate([np.arange(3), x]) ** 2))(V)
    np.testing.assert_array_equal(g, 2 * V)
    assert fg.jvp(lambda x: np.stack([np.array([1, 2, 3, 4]), x]), (V,), (V,))[1].tolist() == [
        [0.0] * 4,
        V.tolist(),
    ]


def test_padding_with_traced_constants():
    def f(x, c):
        return np.sum(fnp.pad(x, ((1, 2), (0, 1)), constant_values=c) ** 2)

    x, c = fg.grad(f, argnums=(0, 1))(M, 2.0)
    np.testing.assert_array_equal(x, 2 * M)
    assert c == 2 * 2.0 * (6 * 5 - 12)
    pairs = fg.grad(lambda c: np.sum(fnp.pad(V, 2, constant_values=c)))(np.array([1.0, 2.0]))
    assert pairs.tolist() == [2.0, 2.0]


def test_every_way_in_which_arguments_may_be_batched():
    """Joining, and rolling by a number that differs between members."""
    for axes in itertools.product([0, None], repeat=3):
        if axes == (None, None, None):
            continue
        args = [M if a == 0 else M[0] for a in axes]
        for f in (
            lambda a, b, c: np.concatenate([a, b, c]),
            lambda a, b, c: np.stack([a, b, c], 1),
            lambda a, b, c: np.vstack([a, b, c]),
            lambda a, b, c: np.block([[a], [b], [c]]),
            lambda a, b, c: np.insert(np.append(a, b), 1, c),
        ):
            found = fg.vmap(f, in_axes=axes)(*args)
            members = [[a[i] if axis == 0 else a for a, axis in zip(args, axes)] for i in range(3)]
            np.testing.assert_array_equal(found, [f(*m) for m in members])
    rolled = fg.vmap(lambda x, n: np.roll(x, n))(M, np.array([1, -1, 6]))
    np.testing.assert_array_equal(rolled, [np.roll(x, n) for x, n in zip(M, (1, -1, 6))])


# ---- errors --------------------------------------------------------------------------------

WRONG = [
    lambda x: np.reshape(x, (5, 2)),
    lambda x: np.reshape(x, (-1, -1)),
    lambda x: np.reshape(x, (-1, 5)),
    lambda x: np.reshape(x, (2, 6), order="X"),
    lambda x: np.reshape(x, 1.5),
    lambda x: np.reshape(x.T, 12, copy=False),
    lambda x: np.ravel(x, "X"),
    lambda x: np.transpose(x, (0,)),
    lambda x: np.transpose(x, (0, 0)),
    lambda x: np.transpose(x, (0, 2)),
    lambda x: np.swapaxes(x, 0, 2),
    lambda x: np.moveaxis(x, 0, (0, 1)),
    lambda x: np.moveaxis(x, 3, 0),
    lambda x: np.moveaxis(x, (0, 0), (0, 1)),
    lambda x: np.rollaxis(x, 0, 4),
    lambda x: np.expand_dims(x, 4),
    lambda x: np.expand_dims(x, (0, 0)),
    lambda x: np.squeeze(x, 0),
    lambda x: np.squeeze(x, 5),
    lambda x: np.matrix_transpose(x[0]),
    lambda x: np.broadcast_to(x, (3,)),
    lambda x: np.broadcast_to(x, (3, 5)),
    lambda x: np.broadcast_arrays(x, x[:, :2]),
    lambda x: np.concatenate([]),
    lambda x: np.concatenate([x, x[0]]),
    lambda x: np.concatenate([x, x[:, :2]]),
    lambda x: np.concatenate([x[0, 0], x[0, 0]]),
    lambda x: np.concatenate([x, x], axis=2),
    lambda x: np.concatenate([x, x], dtype=int),
    lambda x: np.stack([x, x[0]]),
    lambda x: np.stack([x, x], axis=4),
    lambda x: np.block([[x], x]),
    lambda x: np.block([[x], []]),
    lambda x: np.block((x, x)),
    lambda x: np.split(x, 2),
    lambda x: np.array_split(x, 0),
    lambda x: np.split(x, 3, axis=2),
    lambda x: np.vsplit(x[0], 2),
    lambda x: np.dsplit(x, 2),
    lambda x: np.hsplit(x[0, 0], 1),
    lambda x: np.repeat(x, -1),
    lambda x: np.repeat(x, [1, 2], axis=0),
    lambda x: np.resize(x, (-1, 2)),
    lambda x: np.roll(x, 1, axis=2),
    lambda x: np.rot90(x, axes=(0, 0)),
    lambda x: np.rot90(x, axes=(0, 2)),
    lambda x: np.fliplr(x[0]),
    lambda x: np.flip(x, 2),
    lambda x: np.flip(x, (0, 0)),
    lambda x: np.meshgrid(x[0], indexing="no"),
    lambda x: np.delete(x, 5, axis=0),
    lambda x: np.delete(x, [0, 7], axis=0),
    lambda x: np.insert(x, 9, 1.0, axis=0),
    lambda x: np.insert(x, 0, np.ones(3), axis=0),
    lambda x: np.append(x, x[0], axis=0),
    lambda x: np.pad(x, -1),
    lambda x: np.pad(x, 1.5),
    lambda x: np.pad(x, 1, "no"),
    lambda x: np.pad(x, 1, "edge", constant_values=0),
    lambda x: np.pad(x, ((1, 1),) * 3),
    lambda x: np.pad(x[:0], 1, "edge"),
    lambda x: np.pad(x, 1, "maximum", stat_length=0),
    lambda x: np.take(x, 12),
    lambda x: np.take(x, np.array([0.5])),
    lambda x: np.take(x, 0, mode="no"),
    lambda x: np.take(x, 0, axis=2),
    lambda x: np.take_along_axis(x, np.array([0]), 0),
    lambda x: np.take_along_axis(x, np.array([[0.0]]), 0),
    lambda x: np.compress([[True]], x),
    lambda x: np.diagonal(x[0]),
    lambda x: np.diagonal(x, 0, 0, 0),
    lambda x: np.diag(x[None]),
    lambda x: np.ix_(x),
    lambda x: np.nonzero(x[0, 0]),
]


@pytest.mark.parametrize("f", WRONG, ids=range(len(WRONG)))
def test_what_numpy_refuses_is_refused_alike(f):
    with pytest.raises(Exception) as numpys:
        f(M)
    with pytest.raises(numpys.type):
        fg.grad(lambda x: np.sum(f(x)))(M)
    if not isinstance(numpys.value, (IndexError, TypeError)):
        with pytest.raises(numpys.type):
            fg.vmap(f)(np.stack([M, M]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.concatenate([x, x], out=np.zeros((6, 4))),
        lambda x: np.stack([x, x], out=np.zeros((2, 3, 4))),
    ],
)
def test_out_is_refused(f):
    with pytest.raises(errors.InPlaceError):
        fg.grad(lambda x: np.sum(f(x)))(M)


def test_what_depends_on_traced_values_is_refused():
    with pytest.raises(errors.UnsupportedArgumentError, match="function as mode"):
        fg.grad(lambda x: np.sum(np.pad(x, 1, lambda *a: None)))(M)
    with pytest.raises(errors.BatchedMaskError, match=r"np\.where"):
        fg.vmap(np.trim_zeros)(M)
    abstract = fg.ShapeDtypeStruct((2, 3), float)
    with pytest.raises(errors.UnsupportedArgumentError, match="order"):
        fg.make_jaxpr(lambda x: np.ravel(x, "K"))(abstract)


def test_rolling_along_no_axis():
    for roll in (lambda x: np.roll(x, 1, ()), lambda x: np.fft.fftshift(x, ())):
        assert jacrev(roll)(np.ones((1, 2))).reshape(2, 2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
