"""Products: one equation each, no outer product that nobody asked for, NumPy's errors, einsum's forms."""

import tracemalloc

import numpy as np
import pytest

from funcgrad import ShapeDtypeStruct, errors, grad, hvp, jvp, make_jaxpr, value_and_grad, vjp, vmap

A = np.array([[1.0, 2.0], [3.0, -1.0]])
X = np.array([0.5, -2.0])


def primitives(f, *args):
    return [eqn.primitive.name for eqn in make_jaxpr(f)(*args).eqns]


class TestMatrixProducts:
    @pytest.mark.parametrize(
        "f, args, name",
        [
            (lambda a, x: a @ x, (A, X), "matvec"),
            (lambda x, a: x @ a, (X, A), "vecmat"),
            (lambda a, b: a @ b, (A, A), "matmul"),
            (lambda a, b: a @ b, (X, X), "dot"),
            (np.dot, (A, X), "matvec"),
            (np.vdot, (X, X), "dot"),
            (np.inner, (X, X), "dot"),
            (np.outer, (X, X), "outer"),
            (np.tensordot, (A, A), "contract"),
            (lambda a, b: np.einsum("ij,jk->ik", a, b), (A, A), "contract"),
            (lambda x: A @ x, (X,), "matvec"),
            (lambda a: a @ X, (A,), "matvec"),
        ],
    )
    def test_is_one_equation(self, f, args, name):
        assert primitives(f, *args)[-1] == name
        assert len(primitives(f, *args)) == 1 or f in (np.vdot, np.outer)

    def test_gradients_of_a_linear_layer(self):
        rng = np.random.default_rng(0)
        x, w, b, dz = (
            rng.normal(size=(5, 3)),
            rng.normal(size=(3, 2)),
            rng.normal(size=2),
            rng.normal(size=(5, 2)),
        )
        dx, dw, db = grad(lambda x, w, b: np.sum(dz * (x @ w + b)), (0, 1, 2))(x, w, b)
        np.testing.assert_allclose(dx, dz @ w.T, rtol=1e-14)
        np.testing.assert_allclose(dw, x.T @ dz, rtol=1e-14)
        np.testing.assert_allclose(db, dz.sum(0), rtol=1e-14)

    def test_no_outer_product_where_only_the_vector_is_traced(self):
        data, w = np.ones((20_000, 50)), np.ones(50)
        _, pull = vjp(lambda w: data @ w, w)
        g = np.ones(20_000)
        tracemalloc.start()
        (share,) = pull(g)
        assert tracemalloc.get_traced_memory()[1] < data.nbytes / 4
        tracemalloc.stop()
        np.testing.assert_array_equal(share, np.full(50, 20_000.0))

    def test_a_shared_matrix_gets_the_sum_over_the_stack_without_a_stack_of_products(self):
        rng = np.random.default_rng(1)
        stack, w = rng.normal(size=(200, 4, 30)), rng.normal(size=(30, 20))
        _, pull = vjp(lambda w: stack @ w, w)
        g = rng.normal(size=(200, 4, 20))
        tracemalloc.start()
        (share,) = pull(g)
        assert tracemalloc.get_traced_memory()[1] < 200 * w.nbytes / 4
        tracemalloc.stop()
        np.testing.assert_allclose(share, np.einsum("bij,bik->jk", stack, g), rtol=1e-12)

    def test_a_batch_of_vectors_under_one_matrix_is_one_product(self):
        xs = np.arange(6.0).reshape(3, 2)
        np.testing.assert_array_equal(vmap(lambda x: A @ x)(xs), xs @ A.T)
        assert primitives(vmap(lambda x: A @ x), xs) == ["matvec"]
        np.testing.assert_allclose(vmap(grad(lambda x: x @ A @ x))(xs), xs @ (A + A.T))

    def test_hvp_of_a_matrix_argument(self):
        x = np.array([[1.0, 2.0, 0.5], [-1.0, 0.3, 2.0]])
        v = np.array([[0.2, -1.0, 1.0], [0.7, 0.0, -0.4]])
        found = hvp(lambda x: np.sum(np.dot(x, x.T) ** 2) / 4)(x, v)
        np.testing.assert_allclose(found, v @ x.T @ x + x @ v.T @ x + x @ x.T @ v, rtol=1e-12)

    def test_integers_promote_and_get_nothing(self):
        counts = np.array([[1, 2], [0, 3]])
        np.testing.assert_array_equal(grad(lambda x: np.sum(counts @ x))(X), [1.0, 5.0])

    def test_float32_stays(self):
        a, x = A.astype("f4"), X.astype("f4")
        value, (da, dx) = value_and_grad(lambda a, x: np.sum(a @ x), (0, 1))(a, x)
        assert value.dtype == da.dtype == dx.dtype == np.float32

    def test_complex_products_do_not_conjugate(self):
        z = np.array([1 + 2j, 3 - 1j])
        g = grad(lambda z: np.real(z @ z))(z)
        np.testing.assert_allclose(g, 2 * z)
        g = grad(lambda z: np.real(np.vdot(z, z)))(z)
        np.testing.assert_allclose(g, 2 * np.conj(z))

    def test_a_real_factor_of_a_complex_product_has_a_real_gradient(self):
        c = np.array([1 + 2j, 3 + 1j])
        g = grad(lambda x: np.abs(np.tensordot(x, c, axes=([0], [0]))) ** 2)(np.array([1.0, 2.0]))
        assert g.dtype == np.float64
        np.testing.assert_allclose(g, [30.0, 50.0])

    def test_numpys_errors(self):
        with pytest.raises(ValueError, match="does not have enough dimensions"):
            grad(lambda x: np.sum(A @ x))(1.0)
        with pytest.raises(ValueError, match="not aligned"):
            grad(lambda x: np.sum(A @ x))(np.ones(3))
        with pytest.raises(ValueError, match="not aligned"):
            make_jaxpr(lambda x: A @ x)(ShapeDtypeStruct(3, float))
        with pytest.raises(ValueError, match="shape-mismatch"):
            grad(lambda x: np.sum(np.tensordot(x, A, 1)))(np.ones(3))
        with pytest.raises(ValueError, match="one-dimensional"):
            grad(lambda x: np.sum(np.linalg.outer(x, x)))(A)
        with pytest.raises(ValueError, match="three"):
            grad(lambda x: np.sum(np.cross(x, x)))(np.ones(4))

    @pytest.mark.parametrize(
        "f",
        [
            lambda x, out: np.dot(x, x, out=out),
            lambda x, out: np.outer(x, x, out=out),
            lambda x, out: np.matmul(x, x, out=out),
            lambda x, out: np.trace(x[:, None] * x, out=out),
            lambda x, out: np.einsum("i,i", x, x, out=out),
            lambda x, out: np.linalg.multi_dot([x, A, x], out=out),
        ],
    )
    def test_out_is_refused(self, f):
        with pytest.raises(errors.InPlaceError, match="out="):
            grad(lambda x: np.sum(f(x, np.zeros(()))))(X)


class TestOtherProducts:
    def test_multi_dot_takes_the_cheap_order(self):
        wide, tall = np.ones((2, 1000)), np.ones((1000, 2))
        program = make_jaxpr(lambda a: np.linalg.multi_dot([a, tall, a, tall]))(wide)
        assert max(v.aval.size for eqn in program.eqns for v in eqn.outvars) == 4

    def test_cross_of_vectors_in_the_plane(self):
        found = grad(lambda a: np.cross(a, np.array([3.0, 5.0])))(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(found, [5.0, -3.0])
        found = grad(lambda a: np.cross(a, np.array([3.0, 5.0, 1.0]))[1])(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(found, [-1.0, 0.0])

    def test_trace_dtype(self):
        a = A.astype("f4")
        assert make_jaxpr(lambda a: np.trace(a, dtype=np.float64))(a).out_avals[0].dtype == np.float64


class TestEinsum:
    def test_an_operand_with_a_repeated_index(self):
        x, w, c = np.arange(6.0).reshape(2, 3) - 2, np.arange(9.0).reshape(3, 3) + 1, np.array([1.0, -3.0])
        dx, dw = grad(lambda x, w: np.sum(c * np.einsum("ij,jj->i", x, w)), (0, 1))(x, w)
        np.testing.assert_array_equal(dx, np.outer(c, np.diag(w)))
        np.testing.assert_array_equal(dw, np.diag(c @ x))

    def test_the_same_operand_twice(self):
        w = np.array([[1.0, 0.5], [-2.0, 4.0]])
        found = grad(lambda m: np.sum(w * np.einsum("ij,jk->ik", m, m)))(A)
        np.testing.assert_allclose(found, w @ A.T + A.T @ w)

    def test_many_operands_are_products_of_two(self):
        x = np.arange(1.0, 4.0)
        f = lambda x: np.einsum("i,i,i,i->", x, x, x, x)  # noqa: E731
        np.testing.assert_allclose(grad(f)(x), 4 * x**3)
        np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], np.sum(4 * x**3))
        assert primitives(f, x).count("contract") == 3

    def test_no_operand_is_copied_for_a_plain_product(self):
        a, b = np.ones((300, 200)), np.ones((200, 300))
        tracemalloc.start()
        value_and_grad(lambda a: np.sum(np.einsum("ij,jk->ik", a, b)))(a)
        assert tracemalloc.get_traced_memory()[1] < 4.5 * 8 * 300 * 300
        tracemalloc.stop()

    @pytest.mark.parametrize(
        "subscripts, shapes",
        [
            ("ij,jk->ik", [(2, 3), (4, 5)]),
            ("ij->ii", [(2, 3)]),
            ("ij->ik", [(2, 3)]),
            ("ijk", [(2, 3)]),
            ("i,j", [(2,)]),
            ("...i->i", [(2, 3)]),
            ("ii->i", [(1, 3)]),
        ],
    )
    def test_numpys_errors(self, subscripts, shapes):
        with pytest.raises(ValueError):
            np.einsum(subscripts, *map(np.ones, shapes))
        with pytest.raises(ValueError):
            grad(lambda *a: np.sum(np.einsum(subscripts, *a)))(*map(np.ones, shapes))

    def test_dtype(self):
        a = A.astype("f4")
        found = make_jaxpr(lambda a: np.einsum("ij,jk", a, a, dtype=np.float64))(a)
        assert found.out_avals[0].dtype == np.float64

    def test_writing_into_a_view_is_refused(self):
        def f(a):
            diagonal = np.einsum("ii->i", a)
            diagonal += 1.0
            return np.sum(a)

        with pytest.raises(errors.InPlaceError):
            grad(f)(A)

        def g(a):
            rows = np.einsum("ij->i", a)
            rows += 1.0
            return np.sum(rows)

        np.testing.assert_array_equal(grad(g)(A), np.ones((2, 2)))

    def test_path(self):
        found = []
        grad(lambda a: found.append(np.einsum_path("ij,jk,kl", a, A, A)[0]) or np.sum(a))(A)
        assert found[0] == np.einsum_path("ij,jk,kl", A, A, A)[0]


@pytest.mark.parametrize(
    "product",
    [
        np.dot,
        np.inner,
        lambda s, x: np.einsum(",i->i", s, x),
        lambda s, x: np.tensordot(s, x, 0),
        np.outer,
        np.kron,
    ],
)
def test_python_scalars_are_arrays_to_products(product):
    """Unlike to operators: NumPy makes an array of it, whose dtype does not give way."""
    x = np.ones(3, np.float32)
    out, tangent = jvp(lambda s: product(s, x), (2.0,), (1.0,))
    assert out.dtype == tangent.dtype == product(2.0, x).dtype == np.float64
