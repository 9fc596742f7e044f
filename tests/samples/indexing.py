"""Rows for indexing of every sort."""

import numpy as np

import funcgrad.numpy as fnp
from samples.table import Sample

C = ("f4", "f8", "c16")
V = np.array([0.7, -1.3, 0.4, 2.1, -0.6])
M = np.array([[0.3, -1.2, 0.8, 1.9], [1.4, 0.5, -0.7, 0.2], [-0.9, 1.1, 0.6, -1.5]])
T = np.linspace(-1.7, 1.9, 24).reshape(2, 3, 4) ** 3 + 0.1
I2 = np.array([[0, 2], [2, 1]])
MASK = np.array([[True, False, True, False], [False, False, False, True], [True, True, False, True]])


def read(index, x, **options):
    """A row that reads `x` at an index and does something nonlinear with it."""
    shown = str(index).replace("slice(None, None, None)", ":").replace("\n", "").replace(" ", "")
    return Sample(f"x[{shown}]-{x.ndim}d", lambda x: np.sin(x[index]) * x[index], (x,), **options)


def in_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i - 1]
    return total


def loop_over_intermediate(x):
    y = np.sin(x)
    return y[0] * y[1] + np.sum(y[1:3] ** 2) * y[0]


BASIC = [
    read(0, V, dtypes=C),
    read(-2, V),
    read(np.int64(1), V),
    read((), V),
    read((), np.array(0.8)),
    read(Ellipsis, np.array(0.8)),
    read(None, np.array(0.8)),
    read(1, M),
    read((1, 2), M),
    read((slice(None), -1), M, dtypes=C),
    read(slice(1, None), M),
    read(slice(None, None, -1), V),
    read(slice(3, 0, -2), V),
    read(slice(np.int64(1), np.int32(3)), V),
    read(slice(2, 2), V),
    read((Ellipsis, 1), T),
    read((0, Ellipsis, slice(None, None, 2)), T),
    read((None, slice(None), None, 1), M),
    read((slice(None), None, slice(1, 3), slice(None, None, -1)), T),
    read(slice(None), np.zeros((0, 3))),
]

ARRAYS = [
    read([0, 2, 2, -1], V, dtypes=C),
    read(np.array([0, 2, 2, -1]), V),
    read(I2, V),
    read(([],), V),
    read(np.array(2), V),
    read(np.zeros((2, 0), int), V),
    read([1, 1, 0], M),
    read(([0, 2], [1, 1]), M),
    read((slice(None), [3, 0, 3]), M),
    read((I2, [1, 3]), M),
    read((1, [0, 0]), M),
    read(([0, 0], 1), M),
    read((slice(None), 1, [0, 2]), T),
    read((0, slice(None), [0, 2, 2]), T),
    read(([0, 1, 1], slice(None), [0, 2, 2]), T, dtypes=C),
    read(([0, 1], None, [0, 2]), M),
    read((None, [0, 1], [0, 2]), M),
    read((slice(None), [0, 2], slice(None, None, -2)), T),
    read((Ellipsis, [0, 3]), T),
    read((slice(1), I2, [[0, 1]]), T),
    read((I2[:1], I2[:, :1]), M),
    read(np.zeros(0, int), np.zeros((0, 3))),
    read((slice(None), [0, 0], None, 1), T),
]

MASKS = [
    read(MASK, M, dtypes=C),
    read(MASK[:, 0], M),
    read((slice(None), MASK[0]), M),
    read([True, False, True, True, False], V),
    read(np.zeros(5, bool), V),
    read((0, MASK), T),
    read((MASK[:2, 0], slice(None), MASK[0]), T),
    read((1, MASK[0]), M),
    read((MASK[:, 1], [0]), M),
    read(True, M),
    read(False, M),
    read((True, slice(1)), M),
    read(True, np.array(0.8)),
    Sample("own-mask", lambda x: x[x > 0.0] ** 2, (M,), batch=False, stage=False),
]

FUNCTIONS = [
    Sample("in-loop", in_loop, (V,), dtypes=C),
    Sample("loop-over-intermediate", loop_over_intermediate, (V,)),
    Sample("iterate", lambda x: sum(row @ row[::-1] for row in x), (M,)),
    Sample("x[argsort]", lambda x: x[np.argsort(x)] * np.arange(5.0), (V,)),
    Sample("x[argmax]", lambda x: x[np.argmax(x)] ** 2, (V,)),
    Sample("x[:,argmax]", lambda x: x[:, np.argmax(x[0])] ** 2, (M,)),
    Sample("x[argsort,:,argsort]", lambda x: x[np.argsort(x[:, 0, 0]), :, np.argsort(x[:, 1, 1])], (T,)),
    Sample("x[:,argsort]", lambda x: np.sin(x[:, np.argsort(x[0])]), (M,)),
    Sample("constant[argsort]", lambda x: x * fnp.take(np.arange(5.0) ** 2, np.argsort(x)), (V,)),
    Sample("take", lambda x: np.take(x, I2) ** 2, (M,), dtypes=C),
    Sample("take-axis=1", lambda x: np.take(x, I2, axis=1) ** 2, (M,)),
    Sample("take-axis=-1-scalar", lambda x: np.take(x, 2, axis=-1) ** 2, (T,)),
    Sample("take-wrap", lambda x: np.take(x, [5, -7, 2], axis=0, mode="wrap") ** 2, (M,)),
    Sample("take-clip", lambda x: np.take(x, [5, -7, 2], axis=0, mode="clip") ** 2, (M,)),
    Sample("take_along_axis", lambda x: np.take_along_axis(x, I2[[0, 1, 0]], 1) ** 2, (M,), dtypes=C),
    Sample("take_along_axis-0", lambda x: np.take_along_axis(x, I2[:1, [0, 1, 0, 0]], 0) ** 2, (M,)),
    Sample("take_along_axis-none", lambda x: np.take_along_axis(x, I2[0], None) ** 2, (M,)),
    Sample("take_along_axis-argsort", lambda x: np.take_along_axis(x, np.argsort(x), -1) ** 3, (M,)),
    Sample("compress", lambda x: np.compress([True, False, True], x, axis=1) ** 2, (M,)),
    Sample("compress-flat", lambda x: np.compress([True, False, True], x) ** 2, (M,)),
    Sample("extract", lambda x: np.extract(MASK, x) ** 2, (M,)),
    Sample("choose", lambda a, b: np.choose([[0, 1, 1, 0]], [a, b[None, :]]) ** 2, (M, M[0] + 1)),
    Sample("choose-clip", lambda a, b: np.choose([3, -1, 1], [a, b], mode="clip") ** 2, (V[:3], V[2:])),
    Sample("choose-wrap", lambda a, b: np.choose([3, -1, 2], [a, b], mode="wrap") ** 2, (V[:3], V[2:])),
    Sample("diagonal", lambda x: np.diagonal(x) ** 2, (M,), dtypes=C),
    Sample("diagonal-offset", lambda x: np.diagonal(x, -1, 1, 2) ** 2, (T,)),
    Sample("diagonal-axes", lambda x: np.diagonal(x, 1, 2, 0) ** 2, (T,)),
    Sample("diagonal-off-end", lambda x: np.diagonal(x, 9) ** 2, (M,)),
    Sample("linalg.diagonal", lambda x: np.linalg.diagonal(x, offset=1) ** 2, (T,)),
    Sample("diag-1d", lambda x: np.diag(x) ** 2, (V,), dtypes=C),
    Sample("diag-1d-k", lambda x: np.diag(x, -2) ** 2, (V,)),
    Sample("diag-2d", lambda x: np.diag(x, 1) ** 2, (M,)),
    Sample("diagflat", lambda x: np.diagflat(x, 1) ** 2, (M[:2, :2],)),
    Sample("tril", lambda x: np.tril(x) ** 2, (M,), dtypes=C),
    Sample("tril-stack", lambda x: np.tril(x, -1) ** 2, (T,)),
    Sample("tril-1d", lambda x: np.tril(x, -1) ** 2, (V,)),
    Sample("triu", lambda x: np.triu(x, 1) ** 2, (M,)),
    Sample("ix_", lambda x: x[np.ix_([0, 2], [True, False, True, True])] ** 2, (M,)),
    Sample("tril_indices_from", lambda x: x[np.tril_indices_from(x)] ** 2, (M,)),
    Sample("nonzero", lambda x: x[np.nonzero(x > 0)] ** 2, (M,), batch=False, stage=False),
    Sample("argwhere", lambda x: x[tuple(np.argwhere(x > 0)[1])] ** 2, (M,), batch=False, stage=False),
    Sample("flatnonzero", lambda x: np.ravel(x)[np.flatnonzero(x > 0)] ** 2, (M,), batch=False, stage=False),
    Sample("unravel_index", lambda x: x[np.unravel_index(np.argmax(x), x.shape)] ** 2, (M,)),
    Sample("unravel_index-F", lambda x: x[np.unravel_index(np.argmax(x), x.shape, "F")] ** 2, (M,)),
]

UPDATES = [
    Sample("update-int", lambda x, v: np.sin(fnp.index_update(x, 1, v)), (V, V[3]), dtypes=C),
    Sample("update-slice", lambda x, v: np.sin(fnp.index_update(x, slice(None, None, 2), v)), (V, V[:3] * 2)),
    Sample("update-scalar", lambda x, v: np.sin(fnp.index_update(x, slice(1, 3), v)), (M, V[0])),
    Sample("update-row", lambda x, v: np.sin(fnp.index_update(x, [0, 2], v)), (M, M[1] * 2)),
    Sample("update-mask", lambda x, v: np.sin(fnp.index_update(x, MASK, v)), (M, np.linspace(1, 2, 6))),
    Sample("update-twice", lambda x, v: np.sin(fnp.index_update(x, [1, 0, 1], v)), (V, V[2:])),
    Sample(
        "update-apart", lambda x, v: fnp.index_update(x, ([0, 1], slice(1), [1, 1]), v) ** 2, (T, M[:2, :1])
    ),
    Sample("update-argsort", lambda x, v: fnp.index_update(x, np.argsort(x), v) * x, (V, V**2)),
    Sample("update-by-v", lambda x, v: fnp.index_update(x, np.argsort(v) // 2, v) ** 2, (V, V**2)),
    Sample("update-constant", lambda v: fnp.index_update(np.ones(4), [1, 2], v) ** 2, (V[:2],)),
    Sample("update-values-constant", lambda x: fnp.index_update(x, (slice(None), 1), 0.5) ** 2, (M,)),
    Sample("add-int", lambda x, v: np.sin(fnp.index_add(x, 1, v)), (V, V[3]), dtypes=C),
    Sample("add-twice", lambda x, v: np.sin(fnp.index_add(x, [1, 0, 1], v)), (V, V[2:])),
    Sample("add-slices", lambda x, v: np.sin(fnp.index_add(x, (slice(1), slice(2)), v)), (M, V[:2])),
    Sample("add-apart", lambda x, v: fnp.index_add(x, ([0, 0], slice(1), [1, 1]), v) ** 2, (T, M[:2, :1])),
    Sample("add-argsort", lambda x, v: fnp.index_add(x, np.argsort(v), v) ** 2, (V, V**2)),
]

SAMPLES = BASIC + ARRAYS + MASKS + FUNCTIONS + UPDATES
