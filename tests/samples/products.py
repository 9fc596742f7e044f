"""Products: `@` and its kin over vectors, matrices and stacks, tensordot, einsum in all its forms."""

import numpy as np

from samples.table import Sample

_rng = np.random.default_rng(6)
V3, V4 = _rng.normal(size=3), _rng.normal(size=4)
M33, M34, M43 = _rng.normal(size=(3, 3)), _rng.normal(size=(3, 4)), _rng.normal(size=(4, 3))
S33, S34 = _rng.normal(size=(2, 3, 3)), _rng.normal(size=(2, 3, 4))
T23 = _rng.normal(size=(2, 3))
DEEP = _rng.normal(size=(2, 1, 3, 3))
SCALAR = np.array(0.7)
BLOCK = _rng.normal(size=(4, 3, 2))
EMPTY = np.zeros((0, 3))
ALL = ("f2", "f4", "f8", "g", "c16")
COMPLEX = ("f4", "f8", "c16")


def einsum(subscripts, *arrays, dtypes=("f4", "f8"), **options):
    def f(*arrays):
        return np.einsum(subscripts, *arrays, **options)

    return Sample(f"einsum-{subscripts}{''.join(options)}", f, arrays, dtypes=dtypes)


SAMPLES = [
    # ---- vectors and matrices ----
    Sample("vector@vector", lambda a, b: a @ b, (V3, V3 + 1), dtypes=ALL),
    Sample("matrix@vector", lambda a, x: a @ x, (M34, V4), dtypes=ALL),
    Sample("vector@matrix", lambda x, a: x @ a, (V3, M34), dtypes=ALL),
    Sample("matrix@matrix", lambda a, b: a @ b, (M34, M43), dtypes=ALL),
    Sample("matrix@itself", lambda a: a @ a @ a, (M33,), dtypes=COMPLEX),
    Sample("constant@vector", lambda x: M34 @ (x * x), (V4,)),
    Sample("vector@constant", lambda x: np.tanh(x) @ M34, (V3,)),
    Sample("stack@vector", lambda a, x: a @ x, (S34, V4)),
    Sample("vector@stack", lambda x, a: x @ a, (V3, S34)),
    Sample("stack@matrix", lambda a, b: a @ b, (S34, M43)),
    Sample("matrix@stack", lambda a, b: a @ b, (M33, S34)),
    Sample("stack@stack", lambda a, b: a @ b, (S33, S34)),
    Sample("deep@stack", lambda a, b: a @ b, (DEEP, S34)),
    Sample("one@stack", lambda a, b: a @ b, (S33[:1], S34)),
    Sample("empty@matrix", lambda a, b: a @ b, (EMPTY, M34)),
    Sample("matrix@empty", lambda a, b: a @ b, (EMPTY.T, EMPTY)),
    Sample("size-1@size-1", lambda a, b: a @ b, (V3[:1], M34[:1])),
    Sample("matmul-axes", lambda a, b: np.matmul(a, b, axes=[(1, 0), (0, 1), (1, 0)]), (M34, M34)),
    Sample("linalg.matmul", np.linalg.matmul, (M34, M43)),
    Sample("dot-vectors", np.dot, (V3, V3 - 1), dtypes=COMPLEX),
    Sample("dot-scalars", np.dot, (SCALAR, M34)),
    Sample("dot-stacks", np.dot, (S34, _rng.normal(size=(2, 4, 2)))),
    Sample("dot-stack-vector", np.dot, (S34, V4)),
    Sample("dot-vector-stack", np.dot, (V3, S34)),
    Sample("ndarray.dot", lambda a: (a * 2).dot(V4), (M34,)),
    Sample("vdot", np.vdot, (M34, M34 + 1), dtypes=COMPLEX),
    Sample("inner-vectors", np.inner, (V3, V3 + 1), dtypes=COMPLEX),
    Sample("inner", np.inner, (S34, M34)),
    Sample("inner-scalar", np.inner, (SCALAR, V3)),
    Sample("np.outer", np.outer, (V3, M34), dtypes=COMPLEX),
    Sample("outer-0d", np.outer, (SCALAR, V3)),
    Sample("linalg.outer", np.linalg.outer, (V3, V4)),
    Sample("vecdot", np.vecdot, (T23, T23 + 1), dtypes=COMPLEX),
    Sample("vecdot-shared", np.vecdot, (S33, V3)),
    Sample("vecdot-shared-first", np.vecdot, (V3, T23)),
    Sample("vecdot-axis", lambda a, b: np.vecdot(a, b, axis=0, keepdims=True), (M34, M34 + 1)),
    Sample("linalg.vecdot", lambda a, b: np.linalg.vecdot(a, b, axis=0), (M34, M34 + 1)),
    Sample("multi_dot", lambda *a: np.linalg.multi_dot(a), (V3, M34, M43, M33)),
    Sample("multi_dot-vector-last", lambda *a: np.linalg.multi_dot(a), (M43, M34, V4)),
    # ---- over chosen axes ----
    Sample("tensordot", np.tensordot, (S34, _rng.normal(size=(3, 4, 2))), dtypes=COMPLEX),
    Sample("tensordot-0", lambda a, b: np.tensordot(a, b, 0), (M34, V3)),
    Sample("tensordot-axes", lambda a, b: np.tensordot(a, b, ([2, 0], [0, -1])), (S34, BLOCK)),
    Sample("tensordot-one-axis", lambda a, b: np.tensordot(a, b, (0, 1)), (M34, T23)),
    Sample("tensordot-vectors", lambda a, b: np.tensordot(a, b, 1), (V3, V3 + 1)),
    Sample("linalg.tensordot", lambda a, b: np.linalg.tensordot(a, b, axes=1), (M34, M43)),
    Sample("kron", np.kron, (T23, M34), dtypes=COMPLEX),
    Sample("kron-ranks", np.kron, (V3, S34)),
    Sample("kron-scalar", np.kron, (SCALAR, T23)),
    Sample("cross", np.cross, (T23, T23[::-1] + 1), dtypes=COMPLEX),
    Sample("cross-broadcast", np.cross, (V3, S33)),
    Sample("cross-axis", lambda a, b: np.cross(a, b, axis=0), (M34, M34[::-1] * 2)),
    Sample("cross-axes", lambda a, b: np.cross(a, b, 0, 1, 0), (M34, M43 + 1)),
    Sample("linalg.cross", np.linalg.cross, (T23, V3)),
    # ---- traces ----
    Sample("trace", np.trace, (M34,), dtypes=COMPLEX),
    Sample("trace-offset-axes", lambda x: np.trace(x, -1, 2, 1), (S34,)),
    Sample("linalg.trace", lambda x: np.linalg.trace(x * x, offset=1), (S33,)),
    Sample("linalg.diagonal-below", lambda x: np.linalg.diagonal(x * x, offset=-1), (S33,)),
    # ---- einsum ----
    einsum("ij,jk->ik", M34, M43, dtypes=COMPLEX),
    einsum("ij,jk", M34, M43),
    einsum("ba", M34),
    einsum("ii", M33, dtypes=COMPLEX),
    einsum("ii->i", M33),
    einsum("ij->", M34),
    einsum("ij->j", M34),
    einsum("jii->ij", S33),
    einsum("iijj->ji", _rng.normal(size=(2, 2, 3, 3))),
    einsum("ij,jj->i", T23, M33, dtypes=COMPLEX),
    einsum("...ij,...jk->...ik", S33, M34),
    einsum("i...->...", S34),
    einsum("...,...", S34, M34),
    einsum("i,i,i->i", V3, V3 + 1, V3 * 2),
    einsum("i,j,k->kji", V3, V4, T23[:, 0]),
    einsum("ij,jk,kl->il", M34, M43, M33, dtypes=COMPLEX),
    einsum("ij,jk,kl->il", M34, M43, M33, optimize="optimal"),
    einsum("ab,bc,ca,b->", M33, M33 + 1, M33 - 1, V3, optimize=True),
    einsum("ij,ij->i", M34, M34 + 1),
    einsum("bij,bkj->bki", S33, S34[..., :3]),
    einsum("ijk,kj->i", S33, M33),
    einsum("ij,kl->ikjl", T23, M34),
    einsum(",ij->ji", SCALAR, M34),
    einsum("im,mk->ik", M34[:, :1], M43),
    einsum("ij,kj->ik", EMPTY, M33),
    einsum("ab,cb,b->ac", M34, M34[:, :1], V4),
    Sample("einsum-sublists", lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]), (M34, M43)),
    Sample("einsum-sublists-ellipsis", lambda a, b: np.einsum(a, [..., 0, 1], b, [1]), (S34, V4)),
    Sample("einsum-same-operand-twice", lambda a: np.einsum("ij,jk->ik", a, a), (M33,)),
    Sample("einsum-path", lambda a: np.einsum("ij,kj", a, a, optimize=["einsum_path", (0, 1)]), (M34,)),
]  # fmt: skip

if hasattr(np, "matvec"):  # NumPy 2.2
    SAMPLES += [
        Sample("matvec", np.matvec, (S34, V4), dtypes=COMPLEX),
        Sample("matvec-stacks", np.matvec, (S34, _rng.normal(size=(2, 4)))),
        Sample("matvec-shared-matrix", np.matvec, (M34, _rng.normal(size=(2, 4)))),
        Sample("vecmat", np.vecmat, (T23, M34), dtypes=COMPLEX),
        Sample("vecmat-stacks", np.vecmat, (T23, S34)),
    ]
