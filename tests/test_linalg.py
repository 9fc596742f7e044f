"""Linear algebra at singular matrices and repeated eigenvalues, in all modes; conventions; NumPy's errors."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import expm, expm_frechet

from funcgrad import (
    ShapeDtypeStruct,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    tree,
    value_and_grad,
    vjp,
    vmap,
)  # fmt: skip
from funcgrad._core.tracer import Tracer

L = np.linalg
RNG = np.random.default_rng(3)
W = RNG.normal(size=(4, 4))
V = RNG.normal(size=(4, 4))
V = V + V.T
U = RNG.normal(size=(4, 4))
U = U + U.T
Q, Q2 = L.qr(RNG.normal(size=(4, 4)))[0], L.qr(RNG.normal(size=(4, 4)))[0]
SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])
S3 = np.array([[0.3, -0.7, 0.5], [-0.7, 0.2, 0.4], [0.5, 0.4, -0.6]])

#: Symmetric matrices with repeated eigenvalues, and their stacks.
REPEATED = {
    "diagonal": np.diag([1.0, 1.0, 0.0, 0.0]),
    "rotated": (lambda a: (a + a.T) / 2)((Q * [1.0, 1.0, 1.0, 0.3]) @ Q.T),
    "identity": np.eye(4),
    "zero": np.zeros((4, 4)),
    "distinct": np.diag([1.0, 2.0, 3.0, 4.0]),
}
AT_REPEATED = pytest.mark.parametrize("a", REPEATED.values(), ids=REPEATED.keys())


def central(f, x, v, h=1e-5):
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def every_second_order(f, a, u, v):
    """The second derivative along u and v by each pairing of modes."""
    yield jvp(lambda a: jvp(f, (a,), (v,))[1], (a,), (u,))[1]
    yield np.sum(jvp(grad(f), (a,), (u,))[1] * v)
    yield np.sum(grad(lambda a: jvp(f, (a,), (v,))[1], unused="zero")(a) * u)
    yield np.sum(grad(lambda a: np.sum(grad(f)(a) * v), unused="zero")(a) * u)


class TestSystems:
    def test_a_singular_system_is_numpys_error(self):
        singular = np.ones((2, 2))
        with pytest.raises(L.LinAlgError, match="Singular"):
            grad(lambda b: np.sum(L.solve(singular, b)))(np.ones(2))
        with pytest.raises(L.LinAlgError, match="Singular"):
            grad(lambda a: np.sum(L.inv(a)))(singular)

    def test_shapes_are_checked_as_numpy_does(self):
        for f in (L.inv, L.det, L.cholesky, L.eigh, L.slogdet, lambda a: L.solve(a, a)):
            for shape in ((3,), (2, 3)):
                with pytest.raises(L.LinAlgError):
                    f(np.ones(shape))
                with pytest.raises(L.LinAlgError):
                    jvp(f, (np.ones(shape),), (np.ones(shape),))

    def test_staging_from_types_solves_nothing(self):
        matrix = ShapeDtypeStruct((3, 3), np.float32)
        for f in (L.inv, L.cholesky, L.det, L.pinv, lambda a: L.solve(a, a), lambda a: L.eigh(a)[1]):
            (out,) = make_jaxpr(f)(matrix).out_avals
            assert out.dtype == np.float32

    def test_one_factorisation_serves_both_arguments(self):
        program = make_jaxpr(grad(lambda a, b: np.sum(L.solve(a, b)), (0, 1)))(SPD, np.ones(3))
        assert [e.primitive.name for e in program.eqns].count("solve") == 2

    def test_lstsq(self):
        a, b = RNG.normal(size=(5, 3)), RNG.normal(size=5)
        kept = []
        grad(lambda a: kept.append(L.lstsq(a, b)) or np.sum(a))(a)
        x, residual, rank, s = kept[0]
        assert rank == 3 and residual.shape == (1,) and s.shape == (3,)
        low = np.outer(b, b[:3])
        grad(lambda a: kept.append(L.lstsq(a, b)) or np.sum(a))(low)
        assert kept[1][2] == 1 and kept[1][1].shape == (0,)

    def test_arguments_that_decide_on_the_rank_must_be_known(self):
        with pytest.raises(errors.UnsupportedArgumentError, match="rcond"):
            grad(lambda r: np.sum(L.pinv(SPD * r, rcond=r)))(0.1)
        with pytest.raises(errors.UnsupportedArgumentError, match="mode='raw'"):
            grad(lambda a: np.sum(L.qr(a, mode="raw")[0]))(SPD)
        with pytest.raises(errors.ArbitraryBasisError, match="qr"):
            grad(lambda a: np.sum(L.qr(a, mode="complete")[0]))(SPD[:, :1])


class TestDeterminants:
    def cofactors(self, m):
        rows = [[Fraction(float(x)) for x in row] for row in m]
        out = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                (a, b), (c, d) = [
                    [x for k, x in enumerate(r) if k != j] for n, r in enumerate(rows) if n != i
                ]
                out[i, j] = float((-1) ** (i + j) * (a * d - b * c))
        return out

    @pytest.mark.parametrize(
        "m",
        [
            np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]]),
            np.outer([1.0, 2, 3], [1.0, 0, 2]),
            np.zeros((3, 3)),
            np.diag([1.0, 1.0, 1e-13]),
            SPD,
        ],
    )
    def test_gradient_is_the_cofactors_at_singular_matrices_too(self, m):
        np.testing.assert_allclose(grad(L.det)(m), self.cofactors(m), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(jacfwd(L.det)(m), self.cofactors(m), rtol=1e-13, atol=1e-13)

    @pytest.mark.parametrize("rank", [0, 1, 2, 3])
    def test_second_derivatives_at_every_rank(self, rank):
        m = RNG.normal(size=(3, rank)) @ RNG.normal(size=(rank, 3))
        u, v = RNG.normal(size=(2, 3, 3))
        # det(m + s u + t v) is a polynomial: the coefficient of s t by four values
        mixed = (L.det(m + u + v) - L.det(m + u - v) - L.det(m - u + v) + L.det(m - u - v)) / 4
        for found in every_second_order(L.det, m, u, v):
            np.testing.assert_allclose(found, mixed, rtol=1e-12, atol=1e-12)

    def test_third_derivative_is_the_same_everywhere(self):
        u = RNG.normal(size=(3, 3))
        third = lambda m: jvp(lambda m: hvp(L.det)(m, u), (m,), (u,))[1]  # noqa: E731
        for m in (np.zeros((3, 3)), np.ones((3, 3)), SPD):
            np.testing.assert_allclose(np.sum(third(m) * u), 6 * L.det(u), rtol=1e-11)

    def test_a_stack_with_one_singular_matrix(self):
        stack = np.stack([SPD, np.ones((3, 3)), np.zeros((3, 3))])
        found = vmap(grad(L.det))(stack)
        for g, m in zip(found, stack):
            np.testing.assert_allclose(g, self.cofactors(m), atol=1e-12)

    def test_slogdet_in_every_pairing(self):
        u, v = RNG.normal(size=(2, 3, 3))
        x, y = L.solve(SPD, u), L.solve(SPD, v)
        for found in every_second_order(lambda a: L.slogdet(a)[1], SPD, u, v):
            np.testing.assert_allclose(found, -np.trace(x @ y), rtol=1e-12)

    def test_the_sign_is_constant(self):
        np.testing.assert_array_equal(grad(lambda a: L.slogdet(a)[0], unused="zero")(SPD), np.zeros((3, 3)))
        assert grad(lambda a: L.slogdet(a)[0] * L.slogdet(a)[1])(-SPD).shape == (3, 3)


class TestTriangles:
    """LAPACK reads one triangle of a Hermitian matrix; the derivative treats both alike."""

    logdet = staticmethod(lambda a: 2 * np.sum(np.log(np.diag(L.cholesky(a)))))

    def test_the_log_determinant_through_cholesky(self):
        np.testing.assert_allclose(grad(self.logdet)(SPD), L.inv(SPD), rtol=1e-13)
        along = grad(lambda t: self.logdet(SPD + t * S3))(0.0)
        np.testing.assert_allclose(along, np.trace(L.solve(SPD, S3)), rtol=1e-13)

    def test_upper(self):
        f = lambda a: 2 * np.sum(np.log(np.diag(L.cholesky(a, upper=True))))  # noqa: E731
        np.testing.assert_allclose(grad(f)(SPD), L.inv(SPD), rtol=1e-13)

    @pytest.mark.parametrize("f", [logdet, lambda a: np.sum(L.eigvalsh(a) ** 3)])
    def test_an_empty_triangle_gets_nothing(self, f):
        lower = np.tril(SPD)
        expected = np.tril(2 * grad(f)(SPD)) - np.diag(np.diag(grad(f)(SPD)))
        np.testing.assert_allclose(grad(f)(lower), expected, rtol=1e-12)
        np.testing.assert_allclose(
            grad(f)(lower)[1, 0], central(f, lower, np.eye(3)[1][:, None] * np.eye(3)[0]), 1e-6
        )

    def test_second_order_by_every_pairing(self):
        x, y = L.solve(SPD, S3), L.solve(SPD, V[:3, :3])
        for found in every_second_order(self.logdet, SPD, S3, V[:3, :3]):
            np.testing.assert_allclose(found, -np.trace(x @ y), rtol=1e-12)

    def test_what_is_not_positive_definite_is_numpys_error(self):
        with pytest.raises(L.LinAlgError, match="positive definite"):
            grad(self.logdet)(-SPD)


def matrix_exponential(a):
    w, u = L.eigh(a)
    return (u * np.exp(w)) @ u.T


def sum_of_exponentials(a):
    return np.sum(np.exp(L.eigvalsh(a)))


class TestRepeatedEigenvalues:
    """A function that does not depend on the choice of eigenvectors has a derivative, and gets it."""

    @AT_REPEATED
    def test_a_matrix_function_in_reverse_mode(self, a):
        f = lambda a: np.sum(W * matrix_exponential(a))  # noqa: E731
        expected = expm_frechet(a, (W + W.T) / 2, compute_expm=False)
        value, found = value_and_grad(f)(a)
        assert value == f(a)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        found = grad(lambda t: f(a + t * V))(0.0)
        np.testing.assert_allclose(found, np.sum(expected * V), rtol=1e-12)
        np.testing.assert_allclose(
            jacrev(matrix_exponential)(a)[0, 1], grad(lambda a: matrix_exponential(a)[0, 1])(a)
        )

    @AT_REPEATED
    def test_a_matrix_function_in_forward_mode(self, a):
        expected = expm_frechet(a, V, compute_expm=False)
        np.testing.assert_allclose(jvp(matrix_exponential, (a,), (V,))[1], expected, rtol=1e-11, atol=1e-11)
        found = np.einsum("ijkl,kl->ij", jacfwd(matrix_exponential)(a), V)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)

    @AT_REPEATED
    def test_a_sum_over_eigenvalues_in_every_mode(self, a):
        np.testing.assert_allclose(grad(sum_of_exponentials)(a), expm(a), rtol=1e-12, atol=1e-12)
        slope = np.sum(expm(a) * V)
        np.testing.assert_allclose(jvp(sum_of_exponentials, (a,), (V,))[1], slope, rtol=1e-12)
        np.testing.assert_allclose(linearize(sum_of_exponentials, a)[1](V), slope, rtol=1e-12)
        curvature = expm_frechet(a, V, compute_expm=False)
        np.testing.assert_allclose(hvp(sum_of_exponentials)(a, V), curvature, rtol=1e-10, atol=1e-10)
        found = np.einsum("ijkl,kl->ij", hessian(sum_of_exponentials)(a), V)
        np.testing.assert_allclose(found, curvature, rtol=1e-10, atol=1e-10)
        for found in every_second_order(sum_of_exponentials, a, U, V):
            np.testing.assert_allclose(found, np.sum(curvature * U), rtol=1e-10)

    def test_batches(self):
        stack = np.stack(list(REPEATED.values()))
        f = lambda a: np.sum(W * matrix_exponential(a))  # noqa: E731
        for found, a in zip(vmap(grad(f))(stack), stack):
            np.testing.assert_allclose(found, grad(f)(a), atol=1e-12)
        found = grad(lambda stack: np.sum(vmap(f)(stack)))(stack)
        np.testing.assert_allclose(found, vmap(grad(f))(stack), atol=1e-12)

    def test_a_program_of_a_gradient_finds_the_limit_when_it_is_evaluated(self):
        f = lambda a: np.sum(W * matrix_exponential(a))  # noqa: E731
        program = make_jaxpr(grad(f))(REPEATED["distinct"])
        (found,) = eval_jaxpr(program, program.consts, np.eye(4))
        np.testing.assert_allclose(found, np.e * (W + W.T) / 2, rtol=1e-12)

    def test_nearly_equal_ones(self):
        """The quotient would lose as many digits as the gap has."""
        for gap in (1e-15, 1e-13, 1e-11, 1e-9):
            a = np.diag([1.0, 1.0 + gap, 0.0, 3.0])
            found = grad(lambda a: np.sum(W * matrix_exponential(a)))(a)
            expected = expm_frechet(a, (W + W.T) / 2, compute_expm=False)
            np.testing.assert_allclose(found, expected, rtol=1e-7)

    def test_hermitian(self):
        c = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
        q, v = L.qr(c)[0], c + c.conj().T
        a = (q * [1.0, 1.0, 2.0]) @ q.conj().T

        def f(a):
            w, u = L.eigh(a)
            return np.real(np.sum(c * ((u * np.exp(w)) @ np.conj(u).T)))

        expected = np.real(np.sum(c * expm_frechet(a, v, compute_expm=False)))
        np.testing.assert_allclose(grad(lambda t: f(a + t * v))(0.0), expected, rtol=1e-12)
        np.testing.assert_allclose(jvp(f, (a,), (v,))[1], expected, rtol=1e-12)

    def test_any_square_matrix(self):
        p = W + 3 * np.eye(4)
        a = p @ np.diag([1.0, 1.0, 2.0, 3.0]) @ L.inv(p)

        def f(a):
            w, v = L.eig(a)
            return np.real((v * np.exp(w)) @ L.inv(v))

        expected = expm_frechet(a, V, compute_expm=False)
        found = grad(lambda t: np.sum(W * f(a + t * V)))(0.0)
        np.testing.assert_allclose(found, np.sum(W * expected), rtol=1e-8)
        np.testing.assert_allclose(jvp(f, (a,), (V,))[1], expected, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize(
        "f, group",
        [
            (lambda a: L.eigvalsh(a)[0], (0, 1)),
            (lambda a: np.sum(L.eigh(a)[1][:, 0]), (0, 1)),
            (lambda a: np.sum(L.svd(a)[0][:, 1]), (1, 2)),
            (lambda a: L.svdvals(a)[1], (1, 2)),
            (lambda a: np.real(L.eigvals(a)[np.argmin(np.abs(L.eigvals(a)))]), None),
        ],
    )
    def test_what_depends_on_the_choice_is_an_error_that_names_the_group(self, f, group):
        turn = L.qr(RNG.normal(size=(3, 3)))[0]
        a = (turn * [1.0, 1.0, 2.0]) @ turn.T
        with pytest.raises(errors.RepeatedEigenvalueError, match="are equal") as caught:
            grad(f)((a + a.T) / 2)
        assert group in (None, caught.value.group) and not caught.value.unknown
        np.testing.assert_allclose(caught.value.value, 1.0)

    def test_second_derivatives_through_equal_vectors_are_an_error_that_says_so(self):
        f = lambda a: np.sum(W * matrix_exponential(a))  # noqa: E731
        for second in (lambda a: hvp(f)(a, V), grad(lambda a: np.sum(grad(f)(a) * V))):
            with pytest.raises(errors.RepeatedEigenvalueError, match="only first derivatives"):
                second(np.eye(4))
        assert np.isnan(jvp(lambda a: jvp(f, (a,), (V,))[1], (np.eye(4),), (U,))[1])

    def test_a_phase_or_a_completing_basis_is_arbitrary(self):
        c = RNG.normal(size=(4, 3)) + 1j * RNG.normal(size=(4, 3))
        with pytest.raises(errors.EigenvectorPhaseError):
            grad(lambda a: np.real(L.eigh(a @ np.conj(a).T)[1][2, 0]))(c)
        with pytest.raises(errors.EigenvectorPhaseError):
            grad(lambda a: np.real(L.svd(a, False)[0][0, 0]))(c)
        with pytest.raises(errors.ArbitraryBasisError):
            grad(lambda a: L.svd(a)[0][0, 3])(W[:, :2])

    def test_nothing_of_the_split_leaves_a_transform(self):
        one, up = np.eye(3), np.ones((3, 3))
        f = lambda a: np.sum(L.eigvalsh(a) ** 2)  # noqa: E731
        program = make_jaxpr(L.eigvalsh)(one)
        results = [
            value_and_grad(f)(one),
            grad(lambda a: (f(a), L.eigvalsh(a)), has_aux=True)(one),
            vjp(L.eigvalsh, one)[0],
            vjp(f, one)[1](1.0),
            jvp(L.eigvalsh, (one,), (up,)),
            jvp(lambda a: (f(a), L.eigvalsh(a)), (one,), (up,), has_aux=True),
            linearize(L.eigvalsh, one)[0],
            vmap(L.eigvalsh)(np.stack([one, up])),
            jacfwd(lambda a: L.svdvals(a))(one),
            hessian(f)(one),
            eval_jaxpr(program, program.consts, one),
        ]
        assert not [x for x in tree.leaves(results) if isinstance(x, Tracer)]


def odd_function(a):
    u, s, vh = L.svd(a, full_matrices=False)
    return (u * (s**3 + s)) @ vh


class TestRepeatedSingularValues:
    @pytest.mark.parametrize("s", [[2.0, 2, 1, 1], [1.0, 1, 1, 1], [2.0, 2, 1, 0], [2.0, 1, 0, 0], [0.0] * 4])
    @pytest.mark.parametrize("shape", ["square", "tall", "wide"])
    def test_an_odd_function_in_both_modes(self, s, shape):
        a, v = (Q * s) @ Q2, W
        if shape != "square":
            a, v = np.concatenate([a, np.zeros((2, 4))]), np.concatenate([W, W[:2] + 1])
        if shape == "wide":
            a, v = a.T, v.T
        weights = np.cos(np.arange(a.size)).reshape(a.shape)
        expected = v + v @ a.T @ a + a @ v.T @ a + a @ a.T @ v  # of a + a a' a
        np.testing.assert_allclose(jvp(odd_function, (a,), (v,))[1], expected, rtol=1e-11, atol=1e-11)
        found = grad(lambda t: np.sum(weights * odd_function(a + t * v)))(0.0)
        np.testing.assert_allclose(found, np.sum(weights * expected), rtol=1e-11)

    def test_their_sum(self):
        turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
        b = np.array([[1.0, 2.0], [-0.5, 3.0]])
        found = grad(lambda t: np.sum(L.svd(3 * turn + t * b, compute_uv=False)))(0.0)
        np.testing.assert_allclose(found, np.sum(turn * b), rtol=1e-13)

    def test_the_polar_factor(self):
        def polar(a):
            u, _, vh = L.svd(a)
            return u @ vh

        for s in ([2.0, 2, 2, 2], [2.0, 2, 1, 1]):
            a = (Q * s) @ Q2
            expected = central(polar, a, W)
            np.testing.assert_allclose(jvp(polar, (a,), (W,))[1], expected, atol=1e-8)
            np.testing.assert_allclose(
                np.sum(grad(lambda a: np.sum(V * polar(a)))(a) * W), np.sum(V * expected), 1e-7
            )


class TestNorms:
    @pytest.mark.parametrize("f", [
        L.norm,
        lambda x: L.norm(x) ** 2,
        lambda x: L.norm(x, 3),
        lambda x: L.norm(x, 1.5),
        lambda x: L.norm(x, 1),
        lambda x: L.norm(x, axis=0),
        lambda x: L.norm(np.outer(x, x)),
        lambda x: L.norm(np.outer(x, x), "nuc"),
        lambda x: L.norm(np.outer(x, x), 2),
        lambda x: L.vector_norm(x, keepdims=True)[0],
    ])  # fmt: skip
    def test_the_derivative_at_zero_is_zero_in_all_modes(self, f):
        x, v = np.zeros(3), np.array([1.0, 2.0, -1.0])
        np.testing.assert_array_equal(grad(f)(x), x)
        assert jvp(f, (x,), (v,))[1] == 0
        np.testing.assert_array_equal(hvp(f)(x, v), x)
        assert all(found == 0 for found in every_second_order(f, x, v, v))

    def test_rows_of_zeros_among_others(self):
        x = np.array([[3.0, 4.0], [0.0, 0.0]])
        found = grad(lambda x: np.sum(L.norm(x, axis=1)))(x)
        np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0]], rtol=1e-15)
        found = grad(lambda x: np.sum(L.norm(x, 3, axis=1)))(np.array([[3.0, 0.0], [0.0, 0.0]]))
        np.testing.assert_allclose(found, [[1, 0], [0, 0]], rtol=1e-15)

    def test_ties_share(self):
        np.testing.assert_allclose(grad(lambda a: L.norm(a, 2))(np.eye(3)), np.eye(3) / 3)
        np.testing.assert_array_equal(grad(lambda x: L.norm(x, np.inf))(np.array([1.0, -1.0])), [0.5, -0.5])
        np.testing.assert_allclose(grad(L.cond)(np.eye(3)), np.zeros((3, 3)), atol=1e-15)

    def test_counting_and_orders_that_numpy_refuses(self):
        np.testing.assert_array_equal(grad(lambda x: L.norm(x, 0), unused="zero")(np.ones(3)), np.zeros(3))
        for f in (
            lambda x: L.norm(x, "fro"),
            lambda x: L.norm(x[:, None] * x, 3),
            lambda x: L.norm(x[:, None], axis=(0, 0)),
        ):
            with pytest.raises(ValueError):
                f(np.ones(3))
            with pytest.raises(ValueError):
                grad(f)(np.ones(3))

    def test_float32_stays(self):
        x = np.array([1.0, 2.0], np.float32)
        for p in (None, 1, 2, 3, np.inf):
            value, g = value_and_grad(lambda x, p=p: L.norm(x, p))(x)
            assert value.dtype == g.dtype == np.float32


class TestConventions:
    def test_eigenvectors_of_a_general_matrix_are_numpys(self):
        """Of length 1, with a real largest component: their derivative is that of these very numbers."""
        a = np.array([[1.0, 2.0, 0.3], [-2.0, 1.5, 0.1], [0.2, 0.4, 3.0]])
        v = RNG.normal(size=(3, 3))
        f = lambda a: L.eig(a)[1]  # noqa: E731
        assert np.iscomplexobj(f(a))
        np.testing.assert_allclose(jvp(f, (a,), (v,))[1], central(f, a, v), atol=1e-9)

    def test_results_have_numpys_names(self):
        kept = []

        def f(a):
            kept.extend([L.eigh(a), L.eig(a), L.svd(a), L.qr(a), L.slogdet(a)])
            return np.sum(a)

        grad(f)(SPD)
        assert [type(r) for r in kept] == [type(g(SPD)) for g in (L.eigh, L.eig, L.svd, L.qr, L.slogdet)]
        assert kept[0].eigenvectors.shape == (3, 3) and kept[4].logabsdet.shape == ()

    def test_real_eigenvalues_are_real_numbers(self):
        kept = []
        grad(lambda a: kept.extend([L.eigvals(a), L.eigvals(a - 5 * np.tri(3, k=-1))]) or np.sum(a))(SPD)
        assert [k.dtype.kind for k in kept] == ["f", "c"]
