"""`funcgrad.scipy.linalg`: functions of matrices at degenerate points, what a solver reads, refusals."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

from funcgrad import errors, grad, hessian, jacfwd, jacrev, jvp, make_jaxpr, vjp, vmap
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad.scipy import linalg as L

rng = np.random.default_rng(31)
A = rng.normal(size=(4, 4))
E, F = rng.normal(size=(2, 4, 4))
REFUSED = pytest.mark.filterwarnings("ignore:Matrix is singular:scipy.linalg.LinAlgWarning")


def definite(a):
    return a @ a.T + np.eye(len(a))


# ---- functions of matrices -----------------------------------------------------------------


def test_exponential_at_zero():
    """exp(t) = 1 + t + t^2 / 2 + ...: the derivatives are products of the directions."""
    zero = np.zeros((4, 4))
    first = lambda a: jvp(L.expm, (a,), (E,))[1]  # noqa: E731
    assert np.allclose(first(zero), E, atol=1e-14)
    assert np.allclose(jvp(first, (zero,), (F,))[1], (E @ F + F @ E) / 2, atol=1e-14)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e9])
def test_derivatives_of_any_size(size):
    """The block of which a derivative is read is scaled, so that no direction drowns."""
    found = jvp(L.expm, (A,), (size * E,))[1] / size
    assert np.allclose(found, scipy.linalg.expm_frechet(A, E, compute_expm=False), rtol=1e-12)


@pytest.mark.parametrize("f, derivative", [(L.sqrtm, 0.25), (L.logm, 0.25), (L.signm, 0.0)])
def test_multiples_of_the_identity(f, derivative):
    """All eigenvalues are equal; the derivative is that of the scalar function, of any direction."""
    assert np.allclose(jvp(f, (4 * np.eye(4),), (E,))[1], derivative * E, atol=1e-12)
    g = rng.normal(size=(4, 4))
    assert np.allclose(vjp(f, 4 * np.eye(4))[1](g)[0], derivative * g, atol=1e-12)


def test_functions_of_a_jordan_block():
    """Far from diagonalisable: compared with differences in 60 digits."""
    block = np.eye(3) + np.eye(3, k=1)
    direction = rng.normal(size=(3, 3))
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        move = mpmath.matrix(direction.tolist()) * h
        for ours, theirs in ((L.expm, mpmath.expm), (L.sqrtm, mpmath.sqrtm)):
            after, before = [theirs(mpmath.matrix(block.tolist()) + s * move) for s in (1, -1)]
            expected = np.array(((after - before) / (2 * h)).tolist(), complex)
            assert np.allclose(jvp(ours, (block,), (direction,))[1], expected, rtol=1e-10, atol=1e-10)


def test_inverse_functions():
    p = definite(A)
    assert np.allclose(jvp(lambda a: L.expm(L.logm(a)), (p,), (E,))[1], E, atol=1e-10)
    assert np.allclose(jvp(lambda a: L.sqrtm(a) @ L.sqrtm(a), (p,), (E,))[1], E, atol=1e-12)
    power = jvp(lambda a: L.fractional_matrix_power(a, 0.25), (p,), (E,))[1]
    assert np.allclose(power, jvp(lambda a: L.sqrtm(L.sqrtm(a)), (p,), (E,))[1], atol=1e-12)


def test_a_real_matrix_with_negative_eigenvalues():
    """Its root is complex, and on the branch cut; the gradient with respect to it is real."""
    a = np.diag([-1.0, 2.0, 3.0]) + np.triu(np.ones((3, 3)), 1)
    for f in (lambda a: np.sum(np.imag(L.sqrtm(a)) ** 2), lambda a: np.sum(np.real(L.logm(a)) * E[:3, :3])):
        found = grad(f)(a)
        assert found.dtype == np.float64
        h = 1e-6
        ahead, back = [f(a + s * h * F[:3, :3]) for s in (1, -1)]
        assert np.isclose(np.sum(found * F[:3, :3]), (ahead - back) / (2 * h), rtol=1e-6)


@REFUSED
@pytest.mark.parametrize("f", [L.sqrtm, L.logm, L.signm, lambda a: L.fractional_matrix_power(a, 0.5)])
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate", "ignore:The logm input matrix")
def test_singular_matrices_have_no_finite_derivative(f):
    assert np.all(np.isnan(jvp(f, (np.diag([0.0, 1.0]),), (np.eye(2),))[1]))


def test_powers_of_an_exponent():
    """What the refusal of a traced power says to write."""
    p = definite(A)
    with pytest.raises(errors.UnsupportedArgumentError, match=r"expm\(t \* logm\(A\)\)"):
        grad(lambda t: np.sum(L.fractional_matrix_power(p, t)))(0.5)
    found = grad(lambda t: np.sum(L.expm(t * L.logm(p))))(0.5)
    assert np.isclose(found, np.sum(scipy.linalg.logm(p) @ scipy.linalg.sqrtm(p)))


def test_branches_are_not_guessed_from_types():
    with pytest.raises(errors.UnknownValueError, match="complex if a real matrix has negative eigenvalues"):
        make_jaxpr(L.sqrtm)(ShapeDtypeStruct((3, 3), np.float64))
    program = make_jaxpr(L.sqrtm)(ShapeDtypeStruct((3, 3), np.complex128))
    assert program.eqns[0].outvars[0].aval.dtype == np.complex128


# ---- what a solver reads -------------------------------------------------------------------


@pytest.mark.parametrize("lower", [False, True])
def test_one_triangle_has_a_derivative(lower):
    p, b = definite(A), A[0]
    unread = np.triu(np.ones((4, 4), bool), 1) if lower else np.tril(np.ones((4, 4), bool), -1)
    for f in (
        lambda a: np.sum(L.solve(a, b, assume_a="pos", lower=lower)),
        lambda a: np.sum(L.cholesky(a, lower=lower)),
        lambda a: np.sum(L.eigvalsh(a, lower=lower) ** 3),
        lambda a: np.sum(L.solve_triangular(a, b, lower=lower)),
    ):
        found = grad(f)(p)
        assert np.all(found[unread] == 0) and np.all(found[~unread] != 0)


def test_a_solve_in_place_of_an_inverse():
    p, b = definite(A), A[0]
    factored = grad(lambda a: b @ L.cho_solve(L.cho_factor(a, lower=True), b))(p)
    direct = grad(lambda a: b @ L.solve(a, b))(p)
    assert np.allclose(factored + factored.T, direct + direct.T)
    again = grad(lambda a: b @ L.lu_solve(L.lu_factor(a), b))(p)
    assert np.allclose(again, direct)


def test_banded_systems_are_dense_ones():
    band = np.stack([A[0], A[1] + 5, A[2]])
    dense = np.diag(band[1]) + np.diag(band[0, 1:], 1) + np.diag(band[2, :-1], -1)
    found = jacrev(lambda band: L.solve_banded((1, 1), band, A[3]))(band)
    expected = jacrev(lambda a: np.linalg.solve(a, A[3]))(dense)
    assert np.allclose(found[:, 1], np.diagonal(expected, axis1=1, axis2=2))
    assert np.all(found[:, 0, 0] == 0) and np.all(found[:, 2, -1] == 0)  # corners that no solver reads


def test_large_banded_systems():
    """Linear in time and memory: no dense matrix of 80 GB is made."""
    n = 100_000
    band = np.stack([np.full(n, -1.0), np.full(n, 4.0), np.full(n, -1.0)])
    found = grad(lambda band: np.sum(L.solve_banded((1, 1), band, np.ones(n))))(band)
    assert np.isclose(found[1, n // 2], -0.25, rtol=1e-6)  # -x^2, and x = 1/2 in the middle


def test_a_singular_system_is_scipys_error():
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda a: np.sum(L.solve(a, np.ones(2))))(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda a: np.sum(L.solve(a, np.ones(2), assume_a="pos")))(-np.eye(2))


def test_not_finite():
    with pytest.raises(ValueError, match="infs or NaNs"):
        grad(lambda a: np.sum(L.inv(a)))(np.full((2, 2), np.nan))
    found = grad(lambda a: np.sum(L.svdvals(a, check_finite=True)))(np.eye(2))
    assert np.allclose(found, np.eye(2))


# ---- equations -----------------------------------------------------------------------------


def test_riccati_with_a_cross_term_solves_its_equation():
    """The reduction to the plain equation is exact, also where SciPy's balancing is not."""
    a, b, r = A, A[:, :2], definite(A[:2, :2])
    e, s = 2 * np.eye(4) + 0.1 * E, 0.1 * F[:, :2]

    def residual(q):
        x = L.solve_continuous_are(a, b, definite(q), r, e=e, s=s)
        k = np.linalg.solve(r, b.T @ x @ e + s.T)
        return a.T @ x @ e + e.T @ x @ a - (e.T @ x @ b + s) @ k + definite(q)

    value, change = jvp(residual, (E,), (F,))
    assert np.allclose(value, 0, atol=1e-9) and np.allclose(change, 0, atol=1e-9)


def test_lyapunov_of_large_matrices():
    a = 0.1 * rng.normal(size=(12, 12))  # the bilinear method, that SciPy takes from 10 on
    q = rng.normal(size=(12, 12))
    value, change = jvp(lambda a: a @ L.solve_discrete_lyapunov(a, q) @ a.T + q, (a,), (a,))
    x, dx = jvp(lambda a: L.solve_discrete_lyapunov(a, q), (a,), (a,))
    assert np.allclose(value, x) and np.allclose(change, dx)


# ---- spectra -------------------------------------------------------------------------------


def test_generalised_eigenvalues_by_rayleighs_quotient():
    """dw = v' (da - w db) v for vectors with v' b v = 1."""
    a, b = A + A.T, definite(E)
    w, v = scipy.linalg.eigh(a, b)
    da, db = E + E.T, F + F.T
    change = jvp(lambda a, b: L.eigvalsh(a, b), (a, b), (da, db))[1]
    assert np.allclose(change, np.einsum("ik,ij,jk->k", v, da, v) - w * np.einsum("ik,ij,jk->k", v, db, v))


def test_repeated_eigenvalues_in_the_polar_factor():
    """Orthogonal matrices have equal singular values: the factor changes by the skew part alone."""
    q, _ = np.linalg.qr(A)
    found = jvp(lambda a: L.polar(a)[0], (q,), (q @ E,))[1]
    assert np.allclose(found, q @ (E - E.T) / 2)


def test_subsets_are_the_right_ones():
    a = A + A.T
    w = scipy.linalg.eigvalsh(a)
    bounds = ((w[0] + w[1]) / 2, (w[2] + w[3]) / 2)
    by_value = jacfwd(lambda a: L.eigvalsh(a, subset_by_value=bounds))(a)
    by_index = jacfwd(lambda a: L.eigvalsh(a, subset_by_index=(1, 2)))(a)
    assert np.allclose(by_value, by_index) and np.allclose(by_index, jacfwd(L.eigvalsh)(a)[1:3])
    assert jacfwd(lambda a: L.eigvalsh(a, subset_by_value=(w[-1] + 1, np.inf)))(a).shape == (0, 4, 4)
    with pytest.raises(errors.UnknownValueError):
        vmap(lambda a: L.eigvalsh(a, subset_by_value=bounds))(np.stack([a, a]))


# ---- the namespace -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, cure",
    [
        (lambda a: L.schur(a)[0], "Take eig or eigh"),
        (lambda a: L.orth(np.outer(a[0], a[1])), "projector"),
        (lambda a: L.null_space(np.outer(a[0], a[1])), "projector"),
        (lambda a: L.orth(a, rcond=a[0, 0]), "plain number"),
        (lambda a: L.funm(a, np.exp), "expm, logm, sqrtm"),
        (lambda a: L.ldl(a)[0], "cholesky"),
        (lambda a: L.eig(a, a)[0], r"eig\(solve\(b, a\)\)"),
        (lambda a: L.eig(a, left=True)[1], r"inv\(v\).conj\(\).T"),
        (lambda a: L.eigvals(a, homogeneous_eigvals=True), "Leave it out"),
        (lambda a: L.qr(a, mode="raw")[0], "economic"),
        (lambda a: L.sqrtm(a, disp=False)[0], "Leave disp out"),
        (lambda a: L.solve_circulant(a[0] * 0, a[0], singular="lstsq"), "pinv"),
        (lambda a: L.pinv(a, atol=a[0, 0]), "rank"),
        (lambda a: L.lstsq(a, a, cond=a[0, 0])[0], "rank"),
        (lambda a: L.issymmetric(a, atol=a[0, 0]), "plain number"),
        (lambda a: L.qr_multiply(a[:, :2], a[:, 0], mode="left")[0], "row for each column"),
    ],
)
def test_refusals_say_what_to_write(f, cure):
    with pytest.raises(
        (errors.UnsupportedFunctionError, errors.UnsupportedArgumentError), match=cure
    ) as info:
        grad(lambda a: np.sum(np.real(f(a))))(A)
    assert "scipy.linalg." in str(info.value) and "test_scipy_linalg.py" in str(info.value)


def test_questions_are_answered():
    def f(a):
        assert L.issymmetric(a + a.T) and not L.issymmetric(a) and L.ishermitian(a + a.T)
        assert L.bandwidth(np.triu(a)) == (0, 3)
        return np.sum(a)

    grad(f)(A)
    with pytest.raises(errors.UnknownValueError, match="issymmetric"):
        vmap(L.issymmetric)(np.stack([A, A]))


def test_what_completes_a_basis_is_arbitrary():
    """The projector onto it is not, and has a derivative."""
    for f in (
        lambda a: L.qr(a[:, :2])[0][:, 2:],
        lambda a: L.rq(a[:2])[1][:2].T,
        lambda a: L.null_space(a[:2]),
    ):
        with pytest.raises(errors.ArbitraryBasisError):
            grad(lambda a, f=f: np.sum(f(a) ** 3))(A)
        project = lambda a, f=f: (lambda n: n @ n.T)(f(a))  # noqa: E731
        assert np.allclose(jacrev(project)(A), jacfwd(project)(A), atol=1e-10)
    with pytest.raises(errors.UnknownValueError, match="rank"):
        vmap(L.orth)(np.stack([A, A]))


def test_hessians_through_factorisations():
    """log det by Cholesky: its Hessian along x is -tr(p^-1 e p^-1 e)."""
    p, e = definite(A), E + E.T
    f = lambda t: 2 * np.sum(np.log(np.diagonal(L.cholesky(p + t * e, lower=True))))  # noqa: E731
    x = np.linalg.solve(p, e)
    assert np.isclose(hessian(f)(0.0), -np.trace(x @ x))
