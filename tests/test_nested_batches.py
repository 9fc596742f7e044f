"""A batch inside a batch, each of another operand: members are paired with all, not with each other."""

import numpy as np
import pytest

from funcgrad import grad, hessian, jacfwd, jacrev, vmap

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
