"""A batch inside a batch, each of another operand: members are paired with all, not with each other."""

import tracemalloc

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, vjp, vmap

TABLE = np.array([0.0, 1.0, 2.0])
TABLES = np.stack([TABLE, TABLE + 1])
POINTS = np.array([0.5, 1.5, 1.7])
X = np.array([1.0, 2.0, 3.0])
SPD = np.diag([1.0, 2.0, 4.0]) + 0.1


@pytest.mark.parametrize(
    "f",
    [np.searchsorted, lambda b, a: grad(lambda a: np.interp(a, b, TABLE**2))(a)],
    ids=["searchsorted", "interp"],
)
def test_tables_and_points(f):
    expected = [[f(b, a) for b in TABLES] for a in POINTS]
    inner = vmap(lambda a: vmap(lambda b: f(b, a))(TABLES))(POINTS)
    outer = vmap(lambda b: vmap(lambda a: f(b, a))(POINTS))(TABLES)
    np.testing.assert_array_equal(inner, expected)
    np.testing.assert_array_equal(outer.T, expected)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("product", [np.convolve, np.correlate])
def test_a_kernel_that_all_members_share(product, mode):
    f = lambda x: np.sum(product(x, x[:2], mode) ** 2)  # noqa: E731
    np.testing.assert_allclose(jacrev(jacfwd(f))(X), hessian(f)(X))
    rows = jacrev(lambda x: vmap(lambda t: product(t, x, mode))(np.eye(3)))(X)
    np.testing.assert_allclose(rows, jacfwd(lambda x: vmap(lambda t: product(t, x, mode))(np.eye(3)))(X))


@pytest.mark.parametrize(
    "f",
    [np.linalg.eigvalsh, lambda a: np.linalg.svd(a, compute_uv=False), lambda a: np.linalg.eigh(a)[1] ** 2],
    ids=["eigvalsh", "svdvals", "eigh"],
)
def test_jacobians_of_spectra_in_a_batch(f):
    stack = np.stack([SPD, 2 * SPD])
    np.testing.assert_allclose(vmap(jacrev(f))(stack), [jacrev(f)(a) for a in stack], atol=1e-14)
    np.testing.assert_allclose(vmap(jacrev(f))(stack), vmap(jacfwd(f))(stack), atol=1e-14)


STACKS = [(), (1,), (3,), (2, 1), (2, 3), (1, 3), (4, 2, 1), (4, 1, 3), (0,), (0, 3), (2, 0)]
PRODUCTS = {
    np.matmul: ("ij", "jk", "ik"),
    np.matvec: ("ij", "j", "i"),
    np.vecmat: ("i", "ij", "j"),
    np.vecdot: ("i", "i", ""),
}


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("sizes", [(2, 5, 4), (5, 1, 3), (1, 4, 1), (1, 1, 1), (0, 2, 3), (2, 0, 3)])
def test_products_of_stacks_of_which_one_is_shared(product, sizes):
    """Along any of the stack's axes, with its transposes, also where it is one or no matrix."""
    rng = np.random.default_rng(0)
    left, right, out = PRODUCTS[product]
    size = dict(zip("ijk", sizes))
    for stack_a in STACKS:
        for stack_b in STACKS:
            try:
                stack = np.broadcast_shapes(stack_a, stack_b)
            except ValueError:
                continue
            a = rng.normal(size=stack_a + tuple(size[i] for i in left))
            b = rng.normal(size=stack_b + tuple(size[i] for i in right))
            g = rng.normal(size=stack + tuple(size[i] for i in out))
            value, pull = vjp(product, a, b)
            np.testing.assert_allclose(value, np.einsum(f"...{left},...{right}->...{out}", a, b), atol=1e-13)
            shares = (
                np.einsum(f"...{out},...{right}->...{left}", g, b),
                np.einsum(f"...{left},...{out}->...{right}", a, g),
            )
            for found, share, x in zip(pull(g), shares, (a, b)):
                extra = share.ndim - x.ndim
                axes = [i for i, n in enumerate((1,) * extra + x.shape) if i < extra or n == 1]
                expected = np.reshape(np.sum(share, axis=tuple(axes)), x.shape)
                np.testing.assert_allclose(found, expected, atol=1e-12)


def test_weights_of_an_ensemble_get_their_gradients_without_a_stack_for_each_sample():
    rng = np.random.default_rng(1)
    weights, points = rng.normal(size=(3, 30, 20)), rng.normal(size=(500, 30))
    targets = rng.normal(size=(3, 500, 20))

    def outputs(ws):
        return vmap(lambda w: vmap(lambda x: x @ w)(points))(ws)

    _, pull = vjp(outputs, weights)
    tracemalloc.start()
    (found,) = pull(targets)
    assert tracemalloc.get_traced_memory()[1] < 50 * weights.nbytes
    tracemalloc.stop()
    np.testing.assert_allclose(found, points.T @ targets, rtol=1e-12, atol=1e-12)
