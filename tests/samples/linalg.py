"""Linear algebra over single matrices and stacks, real and complex."""

import numpy as np

from funcgrad._primitives.linalg import cofactor
from samples.table import Sample

L = np.linalg
_rng = np.random.default_rng(8)
A = _rng.normal(size=(3, 3)) + 2 * np.eye(3)
STACK = _rng.normal(size=(2, 3, 3)) + 2 * np.eye(3)
V = _rng.normal(size=3)
B = _rng.normal(size=(3, 2))
TALL, WIDE = _rng.normal(size=(4, 3)), _rng.normal(size=(3, 4))
CUBE = _rng.normal(size=(2, 3, 2))
BLOCK = _rng.normal(size=(6, 2, 3))
EMPTY = np.zeros((0, 0))
TURNING = np.array([[0.0, -3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # makes eigenvalues complex
REAL, ANY = ("f8",), ("f8", "c16")
BOTH = ("f4", "f8")
ONE = {"batch": False, "stage": False}  # what NumPy returns, or reads, depends on the values


def definite(a):
    return a @ np.conj(a.mT) + np.eye(a.shape[-1], dtype=a.dtype)


def symmetric(a):
    return a + np.conj(a.mT)


def recomposed(u, s, vh):
    return (u * s**2) @ vh


def projector(n):
    return n @ np.conj(n.mT)


def simple(a):
    """A matrix with real, distinct eigenvalues."""
    return a @ np.diag(np.array([1.0, 2.0, 3.0], a.real.dtype)) @ L.inv(a)


def norm(name, x, dtypes, **options):
    return Sample(name, lambda x: L.norm(x, keepdims=True, **options), (x,), dtypes=dtypes)


SAMPLES = [
    # ---- systems and inverses ----
    Sample("solve", L.solve, (A, B), dtypes=("f4", "f8", "c16")),
    Sample("solve-vector", L.solve, (A, V), dtypes=BOTH),
    Sample("solve-stack", L.solve, (STACK, B)),
    Sample("solve-stacks", L.solve, (STACK, CUBE)),
    Sample("solve-shared", L.solve, (A, CUBE)),
    Sample("solve-stack-vector", L.solve, (STACK, V)),
    Sample("solve-constant-matrix", lambda b: L.solve(A, b * b), (V,)),
    Sample("inv", L.inv, (A,), dtypes=("f4", "f8", "c16")),
    Sample("inv-stack", L.inv, (STACK,)),
    Sample("inv-empty", L.inv, (EMPTY,)),
    Sample("pinv", L.pinv, (TALL,), dtypes=ANY),
    Sample("pinv-wide", L.pinv, (WIDE,), dtypes=REAL),
    Sample("pinv-rank-1", lambda u, v: L.pinv(np.outer(u, v), rcond=1e-6), (V, V[:2]), dtypes=REAL),
    Sample("pinv-hermitian", lambda a: L.pinv(symmetric(a), hermitian=True), (A,), dtypes=REAL),
    Sample("lstsq", lambda a, b: L.lstsq(a, b)[0], (TALL, WIDE.T[:, :2]), dtypes=ANY),
    Sample("lstsq-residuals", lambda a, b: L.lstsq(a, b)[1], (TALL, np.array([1.0, -2.0, 0.5, 1.5])), ANY),
    Sample("lstsq-values", lambda a: L.lstsq(a, WIDE[0])[3], (TALL,), dtypes=REAL),
    Sample("lstsq-wide", lambda a, b: L.lstsq(a, b)[0], (WIDE, V), dtypes=REAL),
    Sample("tensorsolve", L.tensorsolve, (BLOCK.reshape(2, 3, 6), TALL[:2]), dtypes=REAL),
    Sample("tensorsolve-axes", lambda a, b: L.tensorsolve(a, b, axes=(0,)), (BLOCK, TALL[:2]), dtypes=REAL),
    Sample("tensorinv", lambda a: L.tensorinv(a, ind=1), (BLOCK,), dtypes=REAL),
    Sample("matrix_power-3", lambda a: L.matrix_power(a, 3), (A,), dtypes=ANY),
    Sample("matrix_power-minus-2", lambda a: L.matrix_power(a, -2), (STACK,), dtypes=REAL),
    # ---- determinants ----
    Sample("det", L.det, (A,), dtypes=("f4", "f8", "c16"), order=3),
    Sample("cofactor", cofactor, (A, STACK[0]), dtypes=ANY),
    Sample("cofactor-stack", cofactor, (A, STACK, A.T), dtypes=ANY, order=1),
    Sample("det-stack", L.det, (STACK,)),
    Sample("det-1x1", L.det, (A[:1, :1],)),
    Sample("det-singular", lambda u, v: L.det(u @ v), (A[:, :2], WIDE[:2, :3]), dtypes=ANY),
    Sample("slogdet", lambda a: L.slogdet(a)[1], (A,), dtypes=("f4", "f8", "c16")),
    Sample("slogdet-sign", lambda a: L.slogdet(a)[0] * 2, (A,), dtypes=("c16",), **ONE),
    Sample("slogdet-stack", lambda a: L.slogdet(a).logabsdet, (STACK,)),
    # ---- factorisations ----
    Sample("cholesky", lambda a: L.cholesky(definite(a)), (A,), dtypes=("f4", "f8", "c16")),
    Sample("cholesky-upper", lambda a: L.cholesky(definite(a), upper=True), (STACK,), dtypes=ANY),
    Sample("cholesky-triangle", lambda a: L.cholesky(np.tril(definite(a))), (A,), **ONE),
    Sample("qr", lambda a: tuple(L.qr(a)), (TALL,), dtypes=ANY),
    Sample("qr-square", lambda a: tuple(L.qr(a, "complete")), (STACK,), dtypes=REAL),
    Sample("qr-complete", lambda a: projector(L.qr(a, "complete")[0][:, 3:]), (TALL,), dtypes=ANY),
    Sample("qr-complete-r", lambda a: L.qr(a, "complete")[1], (TALL,), dtypes=ANY),
    Sample("qr-complete-q", lambda a: L.qr(a, "complete").Q[:, :3], (TALL,), dtypes=ANY),
    Sample("qr-wide", lambda a: tuple(L.qr(a)), (WIDE,), dtypes=ANY),
    Sample("qr-r", lambda a: L.qr(a, mode="r"), (TALL,), dtypes=REAL),
    Sample("eigh", lambda a: tuple(L.eigh(symmetric(a))), (A,), dtypes=REAL),
    Sample("eigh-stack", lambda a: tuple(L.eigh(symmetric(a), UPLO="U")), (STACK,), dtypes=REAL),
    Sample("eigh-complex", lambda a: np.abs(L.eigh(symmetric(a))[1]) ** 2, (A,), dtypes=("c16",)),
    Sample("eigh-triangle", lambda a: tuple(L.eigh(np.tril(a))), (A,), dtypes=REAL, **ONE),
    Sample("eigvalsh", lambda a: L.eigvalsh(symmetric(a)), (STACK,), dtypes=ANY),
    Sample("svd", lambda a: tuple(L.svd(a)), (A,), dtypes=REAL),
    Sample("svd-tall", lambda a: tuple(L.svd(a, full_matrices=False)), (TALL,), dtypes=REAL),
    Sample("svd-wide", lambda a: tuple(L.svd(a, full_matrices=False)), (WIDE,), dtypes=REAL),
    Sample("svd-stack", lambda a: tuple(L.svd(a, False)), (CUBE,), dtypes=REAL),
    Sample("svd-complex", lambda a: recomposed(*L.svd(a, False)), (TALL,), dtypes=("c16",)),
    Sample("svd-full", lambda a: L.svd(a)[0][:, :3] * L.svd(a)[1], (TALL,), dtypes=REAL),
    Sample("svd-full-projector", lambda a: projector(L.svd(a)[0][:, 3:]), (TALL,), dtypes=REAL),
    Sample("svd-hermitian", lambda a: L.svd(symmetric(a), hermitian=True)[2], (A,), dtypes=REAL),
    Sample("svdvals", L.svdvals, (STACK,), dtypes=ANY),
    Sample("eig", lambda a: tuple(L.eig(simple(a) + 0j)), (A,), dtypes=("c16",)),
    Sample("eig-real", lambda a: tuple(L.eig(simple(a))), (A,), dtypes=REAL, **ONE),
    Sample("eig-complex-pairs", lambda a: np.abs(L.eig(a + TURNING)[1]), (A,), dtypes=REAL),
    Sample("eigvals", lambda a: L.eigvals(a + TURNING), (A,), dtypes=REAL),
    Sample("matrix_rank", lambda a: a * L.matrix_rank(a)[..., None, None], (STACK,), dtypes=REAL),
    # ---- norms ----
    Sample("norm", L.norm, (CUBE,), dtypes=("f4", "f8", "g", "c16")),
    Sample("norm-vector", L.norm, (V,), dtypes=("f2", "f4", "f8", "c16")),
    Sample("norm-axis-keepdims", lambda x: x / L.norm(x, axis=1, keepdims=True), (CUBE,)),
    Sample("norm-axes", lambda x: L.norm(x, axis=(2, 0)), (CUBE,), dtypes=("f4", "f8", "c16")),
    *[norm(f"norm-{p}", CUBE, BOTH, ord=p, axis=1) for p in (np.inf, -np.inf, 0.5)],
    *[norm(f"norm-{p}", CUBE, (*BOTH, "c16"), ord=p, axis=1) for p in (1, 1.5, 2, 3, -1)],
    *[norm(f"matrix-norm-{p}", A, REAL, ord=p) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
    *[norm(f"matrix-norm-axes-{p}", CUBE, REAL, ord=p, axis=(2, 0)) for p in ("nuc", 1, 2, np.inf)],
    Sample("vector_norm", lambda x: L.vector_norm(x, ord=3, axis=(0, 2)), (CUBE,)),
    Sample("matrix_norm", lambda x: L.matrix_norm(x, keepdims=True), (CUBE,)),
    *[Sample(f"cond-{p}", lambda x, p=p: L.cond(x, p), (A,), dtypes=REAL) for p in (None, -2, "fro", 1)],
]  # fmt: skip
