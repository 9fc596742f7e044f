"""Rows for shapes and axes, for joining and taking apart, and for padding."""

import numpy as np

import funcgrad.numpy as fnp
from funcgrad._primitives.lifting import lifted
from samples.table import Sample

C = ("f4", "f8", "c16")
S = np.array(0.8)
V = np.array([0.7, -1.3, 0.4, 2.1])
M = np.array([[0.3, -1.2, 0.8, 1.9], [1.4, 0.5, -0.7, 0.2], [-0.9, 1.1, 0.6, -1.5]])
T = np.linspace(-1.7, 1.9, 24).reshape(2, 3, 4) ** 3 + 0.1
E = np.zeros((0, 3))


def shaped(id, f, x, **options):
    """A row that does something nonlinear with the array in its new form."""
    return Sample(
        id, lambda x: np.sin(f(x)) * np.arange(1.0, 1.0 + f(x).size).reshape(f(x).shape), (x,), **options
    )


SHAPES = [
    shaped("reshape", lambda x: np.reshape(x, (2, 6)), M, dtypes=C),
    shaped("reshape--1", lambda x: np.reshape(x, (-1, 2)), M),
    shaped("reshape-int", lambda x: np.reshape(x, 12), M),
    shaped("reshape-F", lambda x: np.reshape(x, (2, 6), order="F"), M),
    shaped("reshape-A", lambda x: np.reshape(x.T, (2, 6), order="A"), M, stage=False),
    shaped("reshape-copy", lambda x: np.reshape(x, (2, 6), copy=True), M),
    shaped("reshape-0d", lambda x: np.reshape(x, (1, 1)), S),
    shaped("reshape-to-0d", lambda x: np.reshape(x, ()), S[None]),
    shaped("reshape-empty", lambda x: np.reshape(x, (3, 0, 2)), E),
    shaped("ravel", np.ravel, M),
    shaped("ravel-F", lambda x: np.ravel(x, "F"), M),
    shaped("ravel-K", lambda x: np.ravel(x.T, "K"), M, stage=False),
    shaped("ravel-0d", np.ravel, S),
    shaped("expand_dims", lambda x: np.expand_dims(x, 1), M),
    shaped("expand_dims-tuple", lambda x: np.expand_dims(x, (0, -1)), M),
    shaped("squeeze", lambda x: np.squeeze(x), M[None, :, None]),
    shaped("squeeze-axis", lambda x: np.squeeze(x, axis=(0,)), M[None, :, None]),
    shaped("squeeze-nothing", lambda x: np.squeeze(x), M),
    shaped("atleast_1d", np.atleast_1d, S),
    shaped("atleast_2d", np.atleast_2d, V),
    shaped("atleast_3d", np.atleast_3d, V),
    shaped("atleast_3d-2d", np.atleast_3d, M),
    Sample("atleast_1d-two", lambda x, y: np.multiply(*np.atleast_1d(x, y)), (S, V)),
]

AXES = [
    shaped("transpose", np.transpose, M, dtypes=C),
    shaped("transpose-axes", lambda x: np.transpose(x, (1, -1, 0)), T),
    shaped("transpose-0d", np.transpose, S),
    shaped("transpose-1d", np.transpose, V),
    shaped("matrix_transpose", np.matrix_transpose, T),
    shaped("swapaxes", lambda x: np.swapaxes(x, 0, -1), T),
    shaped("moveaxis", lambda x: np.moveaxis(x, 0, -1), T),
    shaped("moveaxis-two", lambda x: np.moveaxis(x, (0, 1), (2, 0)), T),
    shaped("rollaxis", lambda x: np.rollaxis(x, 2), T),
    shaped("rollaxis-start", lambda x: np.rollaxis(x, 0, 3), T),
    shaped("flip", np.flip, M, dtypes=C),
    shaped("flip-axis", lambda x: np.flip(x, 1), T),
    shaped("flip-axes", lambda x: np.flip(x, (0, -1)), T),
    shaped("flip-0d", np.flip, S),
    shaped("fliplr", np.fliplr, M),
    shaped("flipud", np.flipud, M),
    *[shaped(f"rot90-{k}", lambda x, k=k: np.rot90(x, k), M) for k in (0, 1, 2, 3, -1)],
    shaped("rot90-axes", lambda x: np.rot90(x, axes=(2, 0)), T),
    shaped("roll", lambda x: np.roll(x, 2), M, dtypes=C),
    shaped("roll-axis", lambda x: np.roll(x, -1, axis=1), M),
    shaped("roll-axes", lambda x: np.roll(x, (1, 2), axis=(0, -1)), T),
    shaped("roll-twice", lambda x: np.roll(x, 1, axis=(0, 0)), M),
    shaped("roll-argmax", lambda x: np.roll(x, np.argmax(x)), V),
]

BROADCASTING = [
    shaped("broadcast_to", lambda x: np.broadcast_to(x, (2, 3, 4)), M[:, :1], dtypes=C),
    shaped("broadcast_to-rank", lambda x: np.broadcast_to(x, (2, 3, 4)), V),
    shaped("broadcast_to-0d", lambda x: np.broadcast_to(x, (2, 2)), S),
    shaped("broadcast_to-int", lambda x: np.broadcast_to(x, 3), S),
    shaped("broadcast_to-empty", lambda x: np.broadcast_to(x, (0, 4)), V),
    Sample("broadcast_arrays", lambda x, y: np.multiply(*np.broadcast_arrays(x, y)), (M[:, :1], V)),
    Sample("meshgrid", lambda x, y: np.multiply(*np.meshgrid(x, y)), (V, V[:3])),
    Sample("meshgrid-ij", lambda x, y: np.multiply(*np.meshgrid(x, y, indexing="ij")), (V, V[:3])),
    Sample(
        "meshgrid-sparse", lambda x, y: np.multiply(*np.meshgrid(x, y, sparse=True, copy=False)), (V, V[:3])
    ),
    Sample("meshgrid-one", lambda x: np.meshgrid(x)[0] ** 2, (V,)),
    Sample("meshgrid-three", lambda x, y: np.meshgrid(x, y, [1.0, 2.0])[1] ** 2, (V, V[:3])),
    shaped("repeat", lambda x: np.repeat(x, 2), M, dtypes=C),
    shaped("repeat-axis", lambda x: np.repeat(x, 3, axis=0), M),
    shaped("repeat-counts", lambda x: np.repeat(x, [2, 0, 1, 1], axis=-1), M),
    shaped("repeat-0d", lambda x: np.repeat(x, 2), S),
    shaped("repeat-none", lambda x: np.repeat(x, 0), V),
    shaped("tile", lambda x: np.tile(x, 2), M, dtypes=C),
    shaped("tile-2d", lambda x: np.tile(x, (2, 3)), V),
    shaped("tile-3d", lambda x: np.tile(x, (2, 1, 1)), M),
    shaped("tile-once", lambda x: np.tile(x, 1), M),
    shaped("resize", lambda x: np.resize(x, (3, 5)), M),
    shaped("resize-less", lambda x: np.resize(x, 5), M),
    shaped("copy", np.copy, M),
    shaped("lifted", lambda x: lifted(x), M),
    Sample("full_like", lambda x: np.full_like(x, x[0, 1]) * x, (M,)),
    Sample("ones_like", lambda x: np.ones_like(x) * x**2 + np.zeros_like(x, shape=(4,)), (M,)),
    Sample("empty_like", lambda x: 0.0 * np.empty_like(x, dtype=bool) + x**2, (M,)),
]

JOINING = [
    Sample("concatenate", lambda x, y: np.concatenate([x, y, x]) ** 2, (M, M[:1] + 1), dtypes=C),
    Sample("concatenate-axis", lambda x, y: np.concatenate([x, y], axis=-1) ** 2, (M, M[:, :2] + 1)),
    Sample("concatenate-none", lambda x, y: np.concatenate([x, y], axis=None) ** 2, (M, S)),
    Sample("concatenate-plain", lambda x: np.concatenate([[1.0, 2.0], x, [3]]) ** 2, (V,), dtypes=("f8",)),
    Sample("concatenate-dtype", lambda x: np.concatenate([x, x], dtype=np.float64) ** 2, (V,)),
    Sample("concatenate-own-rows", lambda x: np.concatenate(x) ** 2, (M,)),
    Sample("concatenate-empty", lambda x, y: np.concatenate([x, y]) ** 2, (E, M[:, :3])),
    Sample("stack", lambda x, y: np.stack([x, y]) ** 2, (V, V[::-1]), dtypes=C),
    Sample(
        "stack-axis", lambda x, y: np.stack([x, y, np.ones(4)], axis=1) ** 2, (V, V[::-1]), dtypes=("f8",)
    ),
    Sample("stack-last", lambda x: np.stack([x, x * x], axis=-1) ** 2, (M,)),
    Sample("stack-scalars", lambda x: np.stack([x[0] * x[1], x[2], x[0]]) ** 2, (V,)),
    Sample("hstack", lambda x, y: np.hstack([x, y]) ** 2, (V, S)),
    Sample("hstack-2d", lambda x, y: np.hstack([x, y]) ** 2, (M, M[:, :1])),
    Sample("vstack", lambda x, y: np.vstack([x, y]) ** 2, (V, V[::-1])),
    Sample("vstack-mixed", lambda x, y: np.vstack([x, y]) ** 2, (V, M)),
    Sample("dstack", lambda x, y: np.dstack([x, y]) ** 2, (M, M[::-1])),
    Sample("dstack-1d", lambda x, y: np.dstack([x, y]) ** 2, (V, V[::-1])),
    Sample("column_stack", lambda x, y: np.column_stack([x, y]) ** 2, (V, V[::-1])),
    Sample("column_stack-mixed", lambda x, y: np.column_stack([x, y]) ** 2, (V[:3], M)),
    Sample(
        "block", lambda x, y: np.block([[x, y], [y.T, np.ones((1, 1), x.dtype)]]) ** 2, (M[:, :3], M[:, 3:])
    ),
    Sample("block-flat", lambda x, y: np.block([x, y]) ** 2, (V, S)),
    Sample("append", lambda x, y: np.append(x, y) ** 2, (M, V)),
    Sample("append-axis", lambda x, y: np.append(x, y, axis=0) ** 2, (M, M[:1])),
]

PARTS = [
    Sample("split", lambda x: np.multiply(*np.split(x, 2)) * x[:2], (V,), dtypes=C),
    Sample("split-at", lambda x: np.split(x, [1, 3], axis=1)[1] ** 2, (M,)),
    Sample("split-all", lambda x: np.concatenate(np.split(np.sin(x), [1, 3])[::-1]) ** 2, (V,)),
    Sample("array_split", lambda x: np.array_split(x, 3)[0] * np.array_split(x, 3)[2], (V[:3],)),
    Sample("hsplit", lambda x: np.multiply(*np.hsplit(x, 2)), (M,)),
    Sample("vsplit", lambda x: np.vsplit(x, [1])[1] ** 2, (M,)),
    Sample("dsplit", lambda x: np.multiply(*np.dsplit(x, 2)), (T,)),
    Sample("unpack", lambda x: (lambda a, b, c: a * b + c)(*x), (M,)),
    Sample("delete", lambda x: np.delete(x, 1) ** 2, (V,)),
    Sample("delete-axis", lambda x: np.delete(x, [0, -1], axis=1) ** 2, (M,)),
    Sample("delete-slice", lambda x: np.delete(x, slice(None, None, 2)) ** 2, (M,)),
    Sample("insert", lambda x, y: np.insert(x, 1, y) ** 2, (V, S)),
    Sample("insert-several", lambda x, y: np.insert(x, [0, 2, 2], y) ** 2, (V, V[:3] + 1)),
    Sample("insert-axis", lambda x, y: np.insert(x, 1, y, axis=1) ** 2, (M, V[:3])),
    Sample("insert-rows", lambda x, y: np.insert(x, [1], y, axis=0) ** 2, (M, M[:2] + 1)),
    Sample("insert-constant", lambda x: np.insert(x, -1, 3.0) ** 2, (V,)),
    Sample("apply_along_axis", lambda x: np.apply_along_axis(lambda r: r * r[0], 1, x), (M,)),
    Sample("apply_along_axis-scalar", lambda x: np.apply_along_axis(lambda r: r[0] * r[1], 0, x), (T,)),
    Sample(
        "apply_along_axis-matrix",
        lambda x: np.apply_along_axis(lambda r: np.outer(r, r), 1, x),
        (T[:, :2, :2],),
    ),
    Sample("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x**2, [0, 2]), (T,)),
]


def padded(mode, width, x=M, id="", **options):
    return Sample(f"pad-{mode}-{width}{id}", lambda x: np.pad(x, width, mode, **options) ** 2, (x,))


WIDE = ((1, 5), (3, 7))
PADDING = [
    padded("constant", 2),
    padded("constant", ((0, 1), (2, 0)), constant_values=3.0),
    padded("constant", 1, id="-values", constant_values=((1.0, 2.0), (3.0, 4.0))),
    Sample("pad-constant-traced", lambda x, c: fnp.pad(x, (1, 2), constant_values=c) ** 2, (M, S)),
    padded("constant", 0),
    padded("empty", 0),
    padded("edge", ((0, 2), (1, 0))),
    padded("wrap", WIDE),
    padded("reflect", 1),
    padded("reflect", WIDE),
    padded("reflect", 1, M[:, :1], id="-one"),
    padded("reflect", 2, id="-odd", reflect_type="odd"),
    padded("reflect", WIDE, id="-odd", reflect_type="odd"),
    padded("symmetric", 2),
    padded("symmetric", WIDE),
    padded("symmetric", WIDE, id="-odd", reflect_type="odd"),
    padded("linear_ramp", (2, 3)),
    padded("linear_ramp", (2, 0), id="-end", end_values=(5.0, 1.0)),
    padded("mean", 2),
    padded("mean", (1, 2), id="-length", stat_length=2),
    padded("maximum", (1, 2)),
    padded("minimum", (1, 2), id="-length", stat_length=((2, 1), (3, 2))),
    padded("median", 1),
    Sample("pad-3d", lambda x: np.pad(x, ((0, 0), (1, 1), (2, 0))) ** 2, (T,), dtypes=C),
    Sample("pad-dict", lambda x: np.pad(x, {0: (1, 0), -1: 2}) ** 2, (T,)),
]

SAMPLES = SHAPES + AXES + BROADCASTING + JOINING + PARTS + PADDING
