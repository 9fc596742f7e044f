"""Sorting at ties, at second order, and the places that it gives."""

import itertools

import numpy as np
import pytest

from funcgrad import errors, grad, hessian, jacfwd, jacrev, vmap

TIED = np.array([2.0, 1.0, 2.0, 1.0])


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
@pytest.mark.parametrize("kind", [None, "quicksort", "stable", "heapsort", "mergesort"])
def test_ties_keep_their_order(jacobian, kind):
    wanted = np.eye(4)[[1, 3, 0, 2]]
    np.testing.assert_array_equal(jacobian(lambda x: np.sort(x, kind=kind))(TIED), wanted)


def test_ties_of_many_entries():
    x = np.random.default_rng(0).integers(0, 5, size=1000).astype(float)
    w = np.arange(1000.0)
    wanted = np.empty(1000)
    wanted[np.argsort(x, stable=True)] = w
    np.testing.assert_array_equal(grad(lambda x: np.sum(w * np.sort(x)))(x), wanted)


def test_hessian_through_sort():
    x, w = np.array([0.3, -1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(hessian(lambda x: np.sum(w * np.sort(x) ** 2))(x), np.diag([4.0, 2.0, 6.0]))


@pytest.mark.parametrize("f", [np.median, lambda x: np.quantile(x, 0.5), np.nanmedian], ids=range(3))
def test_median_of_an_even_count(f):
    np.testing.assert_array_equal(grad(f)(np.array([4.0, 1.0, 3.0, 2.0])), [0, 0, 0.5, 0.5])
    np.testing.assert_array_equal(grad(f)(np.array([3.0, 1.0, 2.0])), [0, 0, 1])


def test_median_at_ties_is_that_of_the_stable_order():
    np.testing.assert_array_equal(grad(np.median)(np.array([2.0, 2.0, 1.0, 2.0, 3.0])), [0, 1, 0, 0, 0])


def test_median_of_infinite_entries():
    assert np.median(np.array([np.inf, np.inf])) == np.inf
    value = vmap(np.median)(np.array([[np.inf, np.inf], [1.0, np.inf], [-np.inf, 2.0]]))
    np.testing.assert_array_equal(value, [np.inf, np.inf, -np.inf])


def test_nan_in_quantiles():
    x = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 4.0]])
    np.testing.assert_array_equal(vmap(np.median)(x), [np.nan, 2])
    np.testing.assert_array_equal(vmap(lambda x: np.quantile(x, 0.25))(x), [np.nan, 1.5])
    g = jacrev(lambda x: np.nanmedian(x, axis=1))(x)
    np.testing.assert_array_equal(g, [[[0.5, 0, 0.5], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]])


def test_orders_are_plain_numbers():
    def f(x):
        order = np.argsort(x)
        assert type(order) is np.ndarray
        assert type(np.lexsort((x, x > 0))) is np.ndarray
        assert type(np.searchsorted(np.sort(x), 0.5)) is np.intp
        return np.sum(x[order] * np.arange(4.0))

    np.testing.assert_array_equal(grad(f)(np.array([3.0, 1.0, 2.0, 0.0])), [3, 1, 2, 0])


def test_unique_gathers():
    x = np.array([2.0, 1.0, 2.0, 3.0])

    def f(x):
        values, first, inverse, counts = np.unique(x, True, True, True)
        assert type(counts) is np.ndarray and inverse.tolist() == [1, 0, 1, 2] and first.tolist() == [1, 0, 3]
        return np.sum(values * counts)

    np.testing.assert_array_equal(grad(f)(x), [2, 1, 0, 1])
    assert grad(lambda x: np.sum(np.unique_counts(x).values ** 2))(x).tolist() == [4, 2, 0, 6]


def test_unique_is_refused_in_a_batch():
    with pytest.raises(errors.UnsupportedFunctionError, match="np.sort"):
        vmap(np.unique)(np.ones((2, 3)))


def test_errors_are_numpys():
    with pytest.raises(np.exceptions.AxisError):
        grad(lambda x: np.sum(np.sort(x, axis=1)))(np.ones(3))
    with pytest.raises(ValueError, match="fields"):
        grad(lambda x: np.sum(np.sort(x, order="a")))(np.ones(3))


def test_places_in_short_arrays_that_differ_between_members():
    """They are counted; NaN comes after all numbers, and among integers there is none."""
    rng = np.random.default_rng(0)
    for n, m, kinds in itertools.product((0, 1, 5), (0, 1, 4), (("f8", "f8"), ("f4", "i8"), ("i8", "f8"))):
        a, v = (rng.integers(0, 5, (4, k)).astype(kind) for k, kind in zip((n, m), kinds))
        for x in (a, v):
            if x.dtype.kind == "f":
                x[rng.random(x.shape) < 0.3] = np.nan
        a = np.sort(a, axis=-1)
        for side in ("left", "right"):
            expected = np.stack([np.searchsorted(x, y, side) for x, y in zip(a, v)])
            found = vmap(lambda a, v: np.searchsorted(a, v, side))(a, v)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype


def test_quantiles_of_no_entries_have_the_shape_of_q():
    q = np.array([0.2, 0.5])
    assert jacfwd(lambda x: np.quantile(x, q, axis=0))(np.ones((2, 0))).shape == (2, 0, 2, 0)
    assert grad(lambda q: np.sum(np.quantile(np.ones((2, 0)), q, axis=0)))(q).tolist() == [0.0, 0.0]
