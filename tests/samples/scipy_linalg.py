"""`scipy.linalg`: structured systems, functions of matrices, matrix equations, factorisations, spectra."""

import numpy as np

from funcgrad.scipy import linalg as L
from samples.table import Sample

_rng = np.random.default_rng(21)
A = _rng.normal(size=(4, 4)) + 3 * np.eye(4)
C = _rng.normal(size=(4, 4))
SMALL = _rng.normal(size=(3, 3)) * 0.5
B, V = _rng.normal(size=(4, 2)), _rng.normal(size=4)
STACK, COLUMNS = _rng.normal(size=(2, 4, 4)) + 3 * np.eye(4), _rng.normal(size=(2, 4, 2))
TALL, WIDE = _rng.normal(size=(5, 3)), _rng.normal(size=(3, 5))
R = _rng.normal(size=(2, 2))
UPPER_BAND = np.stack([C[0] * 0.1, C[1] * 0.1, np.abs(C[2]) + 4])
BAND = np.stack([C[0], C[1], C[2] + 4, C[3]])
DIAGONALS = V + np.array([5.0, 0, 0, 0])
# With a pair of complex eigenvalues.
TURNING = np.array([[0, -3.0, 0, 0], [3, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 7]])
REAL, DOUBLE, ANY = ("f8",), ("f8", "c16"), ("f4", "f8", "c16")
BOTH = ("f4", "f8")
ONE = {"batch": False, "stage": False}  # what SciPy returns depends on the values


def definite(a):
    return a @ np.conj(a.mT) + np.eye(a.shape[-1], dtype=a.dtype)


def symmetric(a):
    return a + np.conj(a.mT)


def projector(n):
    return n @ np.conj(n.mT)


def completed(q, r):
    """Of a basis that was completed by any vectors the projector onto these."""
    return q[:, :3], r, projector(q[:, 3:])


def sizes(pair):
    """Eigenvalues, and of the vectors, whose phase may jump, the sizes of the components."""
    return pair[0], np.abs(pair[1]) ** 2


def solves():
    for assume in (None, "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular"):
        f = lambda a, b, s=assume: L.solve(a, b, assume_a=s)  # noqa: E731
        yield Sample(f"scipy.solve-{assume}", f, (A, B), DOUBLE)
    for assume, lower in (("sym", False), ("her", False), ("her", True), ("sym", True)):
        f = lambda a, b, s=assume, w=lower: L.solve(a, b, assume_a=s, lower=w)  # noqa: E731
        yield Sample(f"scipy.solve-{assume}-{lower}", f, (A + 3 * np.eye(4), V), ANY)
    for lower in (False, True):
        f = lambda a, b, w=lower: L.solve(definite(a), b, assume_a="pos", lower=w)  # noqa: E731
        yield Sample(f"scipy.solve-pos-{lower}", f, (A, B), DOUBLE)
        f = lambda c, b, w=lower: L.cho_solve((c, w), b)  # noqa: E731
        yield Sample(f"scipy.cho_solve-{lower}", f, (A, B), ANY)
        f = lambda c, b, w=lower: L.cho_solve_banded((c, w), b)  # noqa: E731
        factor = UPPER_BAND[1:][:: -1 if lower else 1]
        yield Sample(f"scipy.cho_solve_banded-{lower}", f, (factor, B), DOUBLE)
        f = lambda c, b, w=lower: L.solveh_banded(c, b, lower=w)  # noqa: E731
        yield Sample(f"scipy.solveh_banded-{lower}", f, (UPPER_BAND[:: -1 if lower else 1], B), BOTH)
        for trans in (0, 1, "C"):
            for unit in (False, True):
                options = {"trans": trans, "lower": lower, "unit_diagonal": unit}
                f = lambda a, b, o=options: L.solve_triangular(a, b, **o)  # noqa: E731
                yield Sample(f"scipy.solve_triangular-{trans}-{lower}-{unit}", f, (A, B), DOUBLE)


def functions():
    for name in ("expm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm"):
        yield Sample(f"scipy.{name}", getattr(L, name), (SMALL,), ANY)
    yield Sample("scipy.signm", L.signm, (SMALL + 2 * np.eye(3),), DOUBLE)
    for name in ("logm", "sqrtm"):
        f = getattr(L, name)
        yield Sample(f"scipy.{name}", lambda a, f=f: f(definite(a)), (SMALL,), DOUBLE, stage=False)
        yield Sample(f"scipy.{name}-negative", f, (SMALL @ np.diag([-3.0, 2, 2]),), REAL, **ONE)
        yield Sample(f"scipy.{name}-equal", f, (2 * np.eye(3),), REAL, stage=False)
        yield Sample(f"scipy.{name}-jordan", f, (np.eye(3) + np.eye(3, k=1),), REAL, stage=False)


def spectra():
    for lower in (False, True):
        f = lambda a, w=lower: sizes(L.eigh(a, lower=w))  # noqa: E731
        yield Sample(f"scipy.eigh-{lower}", f, (C,), DOUBLE)
        for kind in (1, 2, 3):
            f = lambda a, b, w=lower, k=kind: L.eigh(symmetric(a), definite(b), lower=w, type=k)  # noqa: E731
            yield Sample(f"scipy.eigh-type={kind}-{lower}", f, (C, C[::-1]), REAL)
        f = lambda c, w=lower: sizes(L.eig_banded(c, lower=w))  # noqa: E731
        yield Sample(f"scipy.eig_banded-{lower}", f, (C[:3],), BOTH)
        f = lambda c, w=lower: L.eigvals_banded(c, w, select="i", select_range=(1, 2))  # noqa: E731
        yield Sample(f"scipy.eigvals_banded-{lower}", f, (C[:3],), DOUBLE)
        f = lambda c, w=lower: sizes(L.eig_banded(c, w, select="i", select_range=(1, 2)))  # noqa: E731
        yield Sample(f"scipy.eig_banded-some-{lower}", f, (C[:3],), REAL)
    for driver in ("auto", "stemr", "stev", "stevd"):
        f = lambda d, e, o=driver: sizes(L.eigh_tridiagonal(d, e, lapack_driver=o))  # noqa: E731
        yield Sample(f"scipy.eigh_tridiagonal-{driver}", f, (V, V[:3]), REAL)


SAMPLES = [
    # ---- systems ----
    *solves(),
    Sample("scipy.solve-vector", L.solve, (A, V), ANY),
    Sample("scipy.solve-stack", L.solve, (STACK, B), REAL),
    Sample("scipy.solve-stacks", L.solve, (STACK, COLUMNS), REAL),
    Sample("scipy.solve-transposed", lambda a, b: L.solve(a, b, transposed=True), (A, B), REAL),
    Sample(
        "scipy.solve-transposed-upper",
        lambda a, b: L.solve(a, b, transposed=True, assume_a="upper triangular"),
        (A, B),
        REAL,
    ),
    Sample("scipy.solve_triangular-stack", L.solve_triangular, (STACK, COLUMNS), REAL),
    Sample("scipy.solve_triangular-stack-vector", L.solve_triangular, (STACK, V), BOTH),
    Sample("scipy.solve_banded", lambda a, b: L.solve_banded((1, 2), a, b), (BAND, B), ANY),
    Sample("scipy.solve_banded-diagonal", lambda a, b: L.solve_banded((0, 0), a, b), (BAND[2:3], V), REAL),
    Sample(
        "scipy.solve_banded-stack", lambda a, b: L.solve_banded((1, 1), a[:, 1:] + 0, b), (STACK, V), REAL
    ),
    Sample("scipy.solve_toeplitz", L.solve_toeplitz, (DIAGONALS, B), REAL),
    Sample(
        "scipy.solve_toeplitz-row", lambda c, r, b: L.solve_toeplitz((c, r), b), (DIAGONALS, V, V), DOUBLE
    ),
    Sample("scipy.solve_circulant", L.solve_circulant, (DIAGONALS, B), DOUBLE),
    Sample(
        "scipy.solve_circulant-axes",
        lambda c, b: L.solve_circulant(c, b, caxis=0, baxis=-1, outaxis=-1),
        (DIAGONALS, B.T),
        REAL,
    ),
    Sample(
        "scipy.matmul_toeplitz", lambda c, r, x: L.matmul_toeplitz((c, r), x), (V, B[:3, 0], B[:3]), DOUBLE
    ),
    Sample("scipy.matmul_toeplitz-column", L.matmul_toeplitz, (V, V), DOUBLE),
    Sample("scipy.inv", L.inv, (A,), ANY),
    *[
        Sample(f"scipy.inv-{s}", lambda a, s=s: L.inv(a, assume_a=s), (A + 3 * np.eye(4),), DOUBLE)
        for s in ("upper triangular", "lower triangular", "sym", "her")
    ],
    Sample("scipy.inv-diagonal", lambda a: L.inv(np.diag(a), assume_a="diagonal"), (V,), REAL),
    Sample("scipy.inv-pos", lambda a: L.inv(definite(a), assume_a="pos", lower=True), (A,), DOUBLE),
    Sample("scipy.lstsq", lambda a, b: L.lstsq(a, b)[:2], (TALL, WIDE.T[:, :2]), ANY),
    Sample("scipy.lstsq-vector", lambda a, b: L.lstsq(a, b)[:2], (TALL, WIDE[0]), REAL),
    Sample("scipy.lstsq-wide", lambda a, b: L.lstsq(a, b, lapack_driver="gelsy")[0], (WIDE, V[:3]), REAL),
    Sample("scipy.lstsq-values", lambda a: L.lstsq(a, WIDE[0])[3], (TALL,), REAL),
    Sample("scipy.pinv", lambda a: L.pinv(a, rtol=1e-4), (TALL,), DOUBLE),
    Sample("scipy.pinv-atol", lambda a: L.pinv(a, atol=1e-4, return_rank=True)[0], (TALL,), REAL, **ONE),
    Sample("scipy.pinvh", L.pinvh, (C,), DOUBLE),
    Sample("scipy.pinvh-upper", lambda a: L.pinvh(a, lower=False), (C,), REAL),
    # ---- functions of matrices ----
    *functions(),
    Sample("scipy.expm-stack", L.expm, (STACK * 0.3,), REAL),
    Sample("scipy.expm-scalar", L.expm, (np.array(0.5),), REAL),
    Sample("scipy.expm_frechet", L.expm_frechet, (SMALL, SMALL[::-1]), DOUBLE),
    Sample(
        "scipy.expm_frechet-only",
        lambda a, e: L.expm_frechet(a, e, compute_expm=False),
        (SMALL, SMALL.T),
        REAL,
    ),
    Sample(
        "scipy.fractional_matrix_power",
        lambda a: L.fractional_matrix_power(definite(a), -0.3),
        (SMALL,),
        REAL,
        stage=False,
    ),
    Sample("scipy.fractional_matrix_power-3", lambda a: L.fractional_matrix_power(a, 3), (SMALL,), DOUBLE),
    # ---- equations ----
    Sample("scipy.solve_sylvester", L.solve_sylvester, (A, R + 5 * np.eye(2), B), ANY),
    Sample("scipy.solve_sylvester-stack", L.solve_sylvester, (STACK, R + 5 * np.eye(2), B), REAL),
    Sample("scipy.solve_continuous_lyapunov", L.solve_continuous_lyapunov, (A, C), DOUBLE),
    Sample("scipy.solve_discrete_lyapunov", L.solve_discrete_lyapunov, (A * 0.2, C), ANY),
    Sample(
        "scipy.solve_discrete_lyapunov-bilinear",
        lambda a, q: L.solve_discrete_lyapunov(a, q, method="bilinear"),
        (A * 0.2, C),
        DOUBLE,
    ),
    *[
        Sample(
            f"scipy.{f.__name__}",
            lambda a, b, q, r, f=f: f(a, b, definite(q), definite(r)),
            (A * 0.3, B, C, R),
            ANY,
        )
        for f in (L.solve_continuous_are, L.solve_discrete_are)
    ],
    *[
        Sample(
            f"scipy.{f.__name__}-e-s",
            lambda a, b, q, r, e, s, f=f: f(a, b, definite(q), definite(r), e, s, balanced=False),
            (A * 0.1, B, C * 0.3, R, C * 0.1 + 2 * np.eye(4), B[::-1] * 0.1),
            DOUBLE,
            batch=False,
        )
        for f in (L.solve_continuous_are, L.solve_discrete_are)
    ],
    # ---- factorisations ----
    Sample("scipy.cholesky", lambda a: L.cholesky(definite(a)), (A,), ANY),
    Sample("scipy.cholesky-lower", lambda a: L.cholesky(np.tril(definite(a)), lower=True), (A,), DOUBLE),
    Sample("scipy.cho_factor", lambda a: L.cho_factor(definite(a))[0], (A,), ANY),
    Sample("scipy.cho_factor-lower", lambda a: L.cho_factor(definite(a), lower=True)[0], (A,), DOUBLE),
    Sample("scipy.cholesky_banded", L.cholesky_banded, (UPPER_BAND,), BOTH),
    Sample(
        "scipy.cholesky_banded-lower", lambda c: L.cholesky_banded(c, lower=True), (UPPER_BAND[::-1],), REAL
    ),
    Sample("scipy.lu", lambda a: L.lu(a)[0] @ L.lu(a)[1], (C,), ANY),
    Sample("scipy.lu-tall", lambda a: L.lu(a, permute_l=True), (TALL,), ANY),
    Sample("scipy.lu-wide", lambda a: L.lu(a, p_indices=True)[1:], (WIDE,), ANY),
    Sample("scipy.lu-indices", lambda a: a * L.lu(a, p_indices=True)[0], (C,), REAL),
    Sample("scipy.lu-stack", lambda a: tuple(L.lu(a)[1:]), (STACK[:, :3],), REAL),
    *[
        Sample(
            f"scipy.lu_solve-{t}", lambda a, b, t=t: L.lu_solve(L.lu_factor(a), b, trans=t), (C, B), DOUBLE
        )
        for t in (0, 1, 2)
    ],
    Sample("scipy.lu_factor-tall", lambda a: L.lu_factor(a)[0], (TALL,), ANY),
    Sample("scipy.lu_factor-wide", lambda a: L.lu_factor(a)[0], (WIDE,), REAL),
    Sample("scipy.lu_factor-pivots", lambda a: a * L.lu_factor(a)[1], (C,), REAL),
    Sample("scipy.qr", lambda a: L.qr(a, mode="economic"), (TALL,), ANY),
    Sample("scipy.qr-wide", L.qr, (WIDE,), DOUBLE),
    Sample("scipy.qr-full", lambda a: completed(*L.qr(a)), (TALL,), DOUBLE),
    Sample(
        "scipy.rq-full", lambda a: completed(*[np.conj(x[::-1].mT) for x in L.rq(a)[::-1]]), (WIDE,), DOUBLE
    ),
    Sample("scipy.orth", L.orth, (TALL,), BOTH, **ONE),
    Sample("scipy.null_space", lambda a: projector(L.null_space(a)), (WIDE,), DOUBLE, **ONE),
    Sample("scipy.qr-r", lambda a: L.qr(a, mode="r")[0], (TALL,), BOTH),
    Sample("scipy.qr-pivoting", lambda a: L.qr(a, mode="economic", pivoting=True)[:2], (TALL,), DOUBLE),
    Sample("scipy.rq", L.rq, (A,), DOUBLE),
    Sample("scipy.rq-tall", L.rq, (TALL,), ANY),
    Sample("scipy.rq-wide", lambda a: L.rq(a, mode="economic"), (WIDE,), ANY),
    Sample("scipy.rq-r", lambda a: L.rq(a, mode="r"), (WIDE,), REAL),
    Sample("scipy.qr_multiply", L.qr_multiply, (TALL, WIDE[:2]), DOUBLE),
    Sample("scipy.qr_multiply-left", lambda a, c: L.qr_multiply(a, c, mode="left"), (TALL, B[:3]), DOUBLE),
    Sample(
        "scipy.qr_multiply-conjugate",
        lambda a, c: L.qr_multiply(a, c, conjugate=True),
        (TALL, WIDE[0]),
        DOUBLE,
    ),
    Sample("scipy.polar", L.polar, (TALL,), ANY),
    Sample("scipy.polar-left", lambda a: L.polar(a, side="left"), (TALL,), DOUBLE),
    Sample("scipy.orthogonal_procrustes", L.orthogonal_procrustes, (TALL, WIDE.T), DOUBLE, batch=False),
    # ---- spectra ----
    *spectra(),
    *[
        Sample(f"scipy.eigh-{d}", lambda a, d=d: L.eigh(symmetric(a), driver=d), (C,), REAL)
        for d in ("ev", "evd", "evx")
    ],
    Sample("scipy.eigh-stack", lambda a: sizes(L.eigh(symmetric(a))), (STACK,), REAL),
    Sample("scipy.eigh-some", lambda a: sizes(L.eigh(symmetric(a), subset_by_index=(1, 2))), (C,), DOUBLE),
    Sample(
        "scipy.eigh-within", lambda a: sizes(L.eigh(symmetric(a), subset_by_value=(0, 20))), (C,), REAL, **ONE
    ),
    Sample(
        "scipy.eigh-type=1-some",
        lambda a, b: sizes(L.eigh(symmetric(a), definite(b), subset_by_index=(0, 2))),
        (C, C[::-1]),
        REAL,
    ),
    Sample("scipy.eigvalsh", lambda a, b: L.eigvalsh(symmetric(a), definite(b)), (C, C[::-1]), DOUBLE),
    Sample(
        "scipy.eigh_tridiagonal-some",
        lambda d, e: sizes(L.eigh_tridiagonal(d, e, select="i", select_range=(0, 1))),
        (V, V[:3]),
        REAL,
    ),
    Sample("scipy.eigvalsh_tridiagonal", L.eigvalsh_tridiagonal, (V, V[:3]), BOTH),
    Sample("scipy.eig", lambda a: L.eig(symmetric(a)), (C,), REAL, **ONE),
    Sample(
        "scipy.eig-complex-pairs", lambda a: np.abs(L.eig(a * 0.1 + TURNING)[1]) ** 2, (C,), REAL, stage=False
    ),
    Sample("scipy.eigvals", lambda a: L.eigvals(a * 0.1 + TURNING), (C,), DOUBLE),
    Sample("scipy.svd", lambda a: L.svd(a, full_matrices=False), (TALL,), REAL),
    Sample("scipy.svd-gesvd", lambda a: L.svd(a, False, lapack_driver="gesvd"), (TALL,), BOTH),
    Sample("scipy.svdvals", L.svdvals, (TALL,), ANY),
    # ---- made of vectors, and numbers ----
    Sample("scipy.toeplitz", L.toeplitz, (V, V[:3]), ANY),
    Sample("scipy.toeplitz-column", L.toeplitz, (B.T,), DOUBLE),
    Sample("scipy.hankel", L.hankel, (V, V[:3]), ANY),
    Sample("scipy.hankel-column", L.hankel, (V,), REAL),
    Sample("scipy.circulant", L.circulant, (B.T,), ANY),
    *[
        Sample(
            f"scipy.convolution_matrix-{m}-{n}", lambda a, n=n, m=m: L.convolution_matrix(a, n, m), (V,), BOTH
        )
        for m in ("full", "same", "valid")
        for n in (3, 6)
    ],
    Sample("scipy.companion", L.companion, (DIAGONALS,), ANY),
    Sample("scipy.companion-stack", L.companion, (B.T + 2,), REAL),
    Sample("scipy.companion-of-two", L.companion, (DIAGONALS[:2],), ANY),
    Sample("scipy.leslie", L.leslie, (V, V[:3]), ANY),
    Sample("scipy.fiedler", L.fiedler, (V,), BOTH),
    Sample("scipy.block_diag", L.block_diag, (A, V, B), ANY),
    Sample("scipy.block_diag-stack", L.block_diag, (STACK, COLUMNS), REAL),
    Sample("scipy.khatri_rao", L.khatri_rao, (TALL, A[:, :3]), ANY),
    Sample("scipy.diagsvd-wide", lambda s: L.diagsvd(s, 4, 6), (V,), DOUBLE),
    Sample("scipy.diagsvd-tall", lambda s: L.diagsvd(s, 6, 4), (B.T,), REAL),
    Sample("scipy.det", L.det, (STACK,), DOUBLE),
    Sample("scipy.norm", L.norm, (V,), DOUBLE),
    Sample("scipy.norm-1", lambda a: L.norm(a, 1, axis=(0, 1), keepdims=True), (A,), REAL),
]
