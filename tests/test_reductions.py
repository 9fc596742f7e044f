"""Reductions, scans and statistics at kinks and edges, and the arguments that are refused."""

import numpy as np
import pytest

from funcgrad import errors, grad, hessian, jacfwd, jacrev, jvp, make_jaxpr, value_and_grad, vjp, vmap


def both(f, x):
    """The gradient, which must be the same in both modes."""
    reverse, forward = grad(f)(x), jacfwd(f)(x)
    np.testing.assert_array_equal(reverse, forward)
    return reverse


class TestExtrema:
    def test_ties_share_equally(self):
        x = np.array([1.0, 3.0, 3.0, 2.0, 3.0])
        np.testing.assert_array_equal(both(np.max, x), np.array([0, 1, 1, 0, 1]) / 3)
        np.testing.assert_array_equal(both(np.amin, -x), np.array([0, 1, 1, 0, 1]) / 3)
        np.testing.assert_array_equal(both(np.maximum.reduce, x), np.array([0, 1, 1, 0, 1]) / 3)

    def test_ties_along_an_axis(self):
        x = np.array([[1.0, 2.0], [1.0, 0.0]])
        np.testing.assert_array_equal(jacrev(lambda x: np.max(x, 0))(x).sum(0), [[0.5, 1], [0.5, 0]])

    def test_initial_ties_as_an_entry_of_maximum(self):
        assert both(lambda x: np.max(x, initial=2.0), np.array([1.0, 2.0]))[1] == 0.5
        np.testing.assert_array_equal(both(lambda x: np.max(x, initial=5.0), np.array([1.0, 2.0])), [0, 0])

    def test_entries_left_out_by_where_get_nothing(self):
        where = np.array([True, False, True])
        f = lambda x: np.max(x, initial=-1.0, where=where)  # noqa: E731
        np.testing.assert_array_equal(both(f, np.array([1.0, 5.0, 0.0])), [1, 0, 0])

    def test_unselected_entries_are_structural_zeros(self):
        f = lambda x: np.max(np.sqrt(x))  # noqa: E731
        with np.errstate(divide="ignore"):
            x = np.array([0.0, 4.0, 1.0])
            np.testing.assert_array_equal(both(f, x), [0, 0.25, 0])
            np.testing.assert_array_equal(hessian(f)(x), np.diag([0, -1 / 32, 0]))
            assert jvp(f, (x,), (np.ones(3),))[1] == 0.25

    def test_nan_is_the_extremum_that_it_makes(self):
        x = np.array([1.0, np.nan, 2.0])
        np.testing.assert_array_equal(both(np.max, x), [0, 1, 0])
        np.testing.assert_array_equal(both(np.nanmax, x), [0, 0, 1])
        np.testing.assert_array_equal(both(np.nanmin, x), [1, 0, 0])

    def test_running_extrema(self):
        x = np.array([1.0, 0.0, 1.0, 3.0, 3.0])
        wanted = np.array([[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0.5, 0, 0.5, 0, 0]])
        for jacobian in (jacfwd, jacrev):
            j = jacobian(np.maximum.accumulate)(x)
            np.testing.assert_array_equal(j[:3], wanted)
            np.testing.assert_array_equal(j[3:], [[0, 0, 0, 1, 0], [0, 0, 0, 0.5, 0.5]])

    def test_ptp_of_equal_entries(self):
        np.testing.assert_array_equal(both(np.ptp, np.ones(4)), np.zeros(4))


class TestProducts:
    @pytest.mark.parametrize("x", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    def test_zeros_are_exact_at_every_order(self, x):
        a, b, c = x = np.array(x)
        np.testing.assert_array_equal(both(np.prod, x), [b * c, a * c, a * b])
        np.testing.assert_array_equal(hessian(np.prod)(x), [[0, c, b], [c, 0, a], [b, a, 0]])
        third = jacfwd(hessian(np.prod))(x)
        permutations = {(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)}
        for index in np.ndindex(3, 3, 3):
            assert third[index] == (index in permutations)

    def test_cumprod_with_zeros(self):
        a, b, c = x = np.array([2.0, 0.0, 3.0])
        for jacobian in (jacfwd, jacrev):
            wanted = [[1, 0, 0], [b, a, 0], [b * c, a * c, a * b]]
            np.testing.assert_array_equal(jacobian(np.cumprod)(x), wanted)
        second = hessian(lambda x: np.cumprod(x)[2])(x)
        np.testing.assert_array_equal(second, [[0, c, b], [c, 0, a], [b, a, 0]])

    def test_no_overflow_where_the_derivative_is_finite(self):
        x = np.array([1e300, 1e-300, 1e300])
        np.testing.assert_allclose(grad(np.prod)(x)[[0, 2]], 1.0)

    def test_long_products(self):
        x = np.linspace(0.9, 1.1, 1000)
        x[17] = 0.0
        wanted = np.zeros(1000)
        wanted[17] = np.prod(np.delete(x, 17))
        np.testing.assert_allclose(grad(np.prod)(x), wanted, rtol=1e-12)


class TestDeviations:
    @pytest.mark.parametrize("x", [np.full(3, 0.1), np.zeros(4), np.array([2.5])])
    def test_std_of_a_constant_has_derivative_zero(self, x):
        np.testing.assert_array_equal(both(np.std, x), np.zeros(x.size))
        np.testing.assert_array_equal(hessian(np.std)(x), np.zeros((x.size, x.size)))
        assert jvp(grad(np.std), (x,), (np.arange(x.size) + 1.0,))[1].tolist() == [0.0] * x.size

    def test_std_where_some_rows_are_constant(self):
        x = np.array([[1.0, 1.0], [0.0, 2.0]])
        np.testing.assert_array_equal(grad(lambda x: np.sum(np.std(x, 1)))(x), [[0, 0], [-0.5, 0.5]])
        masked = lambda x: np.std(x, where=[True, True, False])  # noqa: E731
        np.testing.assert_array_equal(grad(masked)(np.array([2.0, 2.0, 5.0])), np.zeros(3))

    def test_nanstd_of_a_constant(self):
        x = np.array([0.1, 0.1, np.nan, 0.1])
        np.testing.assert_array_equal(both(np.nanstd, x), np.zeros(4))
        np.testing.assert_array_equal(both(lambda x: np.std(x, mean=2.0), np.full(2, 2.0)), np.zeros(2))

    def test_var_is_one_equation(self):
        program = make_jaxpr(lambda x: np.var(x, axis=0))(np.ones((3, 2)))
        assert [eqn.primitive.name for eqn in program.eqns] == ["var"]
        assert len(make_jaxpr(np.mean)(np.ones(3)).eqns) == 2

    def test_var_far_from_zero(self):
        x = 1e8 + np.array([0.0, 1.0, 2.0])
        np.testing.assert_allclose(grad(np.var)(x), [-2 / 3, 0, 2 / 3], atol=1e-12)


class TestPrecision:
    def test_float16_sums_and_means(self):
        x = np.full(5000, 20.0, np.float16)
        g = grad(lambda x: np.mean(x))(x)
        assert g.dtype == np.float16 and np.all(g == np.float16(1 / 5000))
        assert np.isfinite(np.float64(vmap(np.mean)(x[None])[0]))

    def test_float32_stays(self):
        x = np.ones(3, np.float32)
        functions = [np.sum, np.prod, np.max, np.mean, np.var, np.std, np.median, np.ptp]
        for f in functions:
            assert grad(f)(x).dtype == np.float32, f

    def test_logaddexp_with_infinite_entries(self):
        x = np.array([-np.inf, 0.0, 0.0])
        np.testing.assert_allclose(both(lambda x: np.logaddexp.reduce(x), x), [0, 0.5, 0.5])
        x = np.array([1000.0, 0.0])
        np.testing.assert_array_equal(both(lambda x: np.logaddexp.reduce(x), x), [1, 0])
        x = np.full(3, -np.inf)
        assert np.all(np.isfinite(grad(lambda x: np.logaddexp.reduce(x))(x)))


class TestMasks:
    def test_where_keeps_singular_entries_out(self):
        x = np.array([0.0, 4.0])
        with np.errstate(divide="ignore", invalid="ignore"):
            for f in (np.sum, np.mean, np.nansum):
                g = grad(lambda x, f=f: f(np.sqrt(x), where=x > 0))(x)
                assert g[0] == 0 and np.isfinite(g[1])
            g = grad(lambda x: np.nansum(np.log(x - 1.0)))(np.array([0.0, 2.0]))
        np.testing.assert_array_equal(g, [0, 1])


class TestArguments:
    @pytest.mark.parametrize("f", [np.sum, np.prod, np.max, np.mean, np.var, np.median, np.cumsum, np.ptp])
    def test_axis_errors_are_numpys(self, f):
        with pytest.raises(np.exceptions.AxisError):
            grad(lambda x: np.sum(f(x, axis=3)))(np.ones((2, 2)))

    @pytest.mark.parametrize("f", [np.sum, np.prod, np.max, np.mean, np.var, np.cumsum, np.median, np.std])
    def test_out_is_refused(self, f):
        with pytest.raises(errors.InPlaceError, match="out="):
            grad(lambda x: f(x, out=np.zeros(())))(np.ones(2))

    def test_max_needs_initial_with_where(self):
        with pytest.raises(ValueError, match="identity"):
            grad(lambda x: np.max(x, where=x > 0))(np.ones(2))
        with pytest.raises(ValueError, match="identity"):
            grad(np.max)(np.ones(0))

    def test_quantiles_refuse_what_numpy_refuses(self):
        with pytest.raises(ValueError, match="range"):
            grad(lambda x: np.quantile(x, 1.5))(np.ones(3))
        with pytest.raises(ValueError, match="range"):
            grad(lambda q: np.quantile(np.ones(3), q))(1.5)
        with pytest.raises(ValueError, match="weights"):
            grad(lambda x: np.quantile(x, 0.5, weights=np.ones(3)))(np.ones(3))
        with pytest.raises((TypeError, ValueError), match="weights"):
            grad(lambda x: np.quantile(x, 0.5, weights=np.ones(2), method="inverted_cdf"))(np.ones(3))

    def test_a_quantile_at_an_entry_moves_to_the_right_and_at_the_last_to_the_left(self):
        x = np.array([4.0, 1.0, 2.0])
        slopes = [grad(lambda q: np.quantile(x, q))(q) for q in (0.0, 0.25, 0.5, 1.0)]
        np.testing.assert_allclose(slopes, [2.0, 2.0, 4.0, 4.0])
        assert grad(lambda q: np.quantile(x, q, method="nearest"), unused="zero")(0.4) == 0.0
        np.testing.assert_allclose(vmap(grad(lambda q: np.quantile(x, q)))(np.array([0.1, 0.7])), [2.0, 4.0])

    def test_average_of_no_weight(self):
        with pytest.raises(ZeroDivisionError):
            grad(lambda x: np.average(x, weights=x - 1.0))(np.ones(3))

    def test_duplicate_axes(self):
        with pytest.raises(ValueError, match="repeated|duplicate"):
            grad(lambda x: np.sum(x, axis=(0, 0)))(np.ones((2, 2)))


def test_interp_beyond_the_ends_and_at_knots():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 0.0])
    slopes = [grad(lambda x: np.interp(x, xp, fp))(x) for x in (-1.0, 0.0, 0.5, 1.0, 3.0, 4.0)]
    assert slopes == [0.0, 1.0, 1.0, -1.0, -1.0, 0.0]


def test_backward_of_sum_copies_nothing():
    """Its cotangent is one broadcast number, seen from everywhere."""
    program = make_jaxpr(grad(lambda x: np.sum(x * x)))(np.ones(3))
    assert [eqn.primitive.name for eqn in program.eqns].count("broadcast_to") <= 1


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum", "nanmax"])
def test_a_reduction_starts_from_a_number_of_its_own_dtype(name):
    f = getattr(np, name)
    x = np.float32([0.5, 2.0])
    for initial in (np.float64(0.1), 3, np.longdouble(7.0)):
        value, pull = vjp(lambda x, i: f(x, initial=i), x, np.float64(initial))
        assert value.dtype == np.float32 and value == f(x, initial=initial)
        assert [ct.dtype for ct in pull(value)] == [np.float32, np.float64]
    with pytest.raises(ValueError, match="a number"):
        grad(lambda x: np.sum(f(x, initial=np.ones(2))))(x)


def test_nothing_but_a_traced_start():
    assert grad(lambda i: np.sum(np.max(i * np.zeros((0, 3)), axis=0, initial=i)))(2.0) == 3.0


def test_deviations_without_degrees_of_freedom():
    x = np.float64([2.0])
    with np.errstate(invalid="ignore"):
        for f in (lambda x: np.nanstd(x, ddof=1), lambda x: np.std(x, where=[True], ddof=1)):
            assert np.isnan(value_and_grad(f)(x)[0])


SMALL = np.array([3, 1, 200], np.uint8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, k: np.einsum("i,j->j", k, x),
        lambda x, k: np.einsum("i,i,j->j", k, k, x),
        lambda x, k: np.einsum("i,j->j", k > 0, x),
        lambda x, k: np.gradient(x, k),
        lambda x, k: np.gradient(k, x[0]),
        lambda x, k: np.quantile(k, x / 5.0),
        lambda x, k: np.mean(x, where=k > 1),
    ],
)
def test_small_integers_beside_a_traced_value_do_not_overflow(f):
    x = np.array([1.0, 2.5, 3.0])
    value, pull = vjp(lambda x: f(x, SMALL), x)
    wide, pull_wide = vjp(lambda x: f(x, SMALL.astype(np.float64)), x)
    np.testing.assert_allclose(value, wide, rtol=1e-15)
    np.testing.assert_allclose(pull(value)[0], pull_wide(value)[0], rtol=1e-15)


def test_histograms_weigh_in_any_dtype_that_numpy_takes():
    x, w = np.array([0.1, 0.2, 0.9]), np.array([1.0, 2.0, 4.0], np.longdouble)
    value, pull = vjp(lambda w: np.histogram(x, 2, weights=w)[0], w)
    assert value.dtype == np.longdouble and pull(value)[0].tolist() == [3.0, 3.0, 4.0]
    with pytest.raises(TypeError, match="complex"):
        vjp(lambda w: np.histogram2d(x, x, 2, weights=w)[0], 1j * x)
    with pytest.raises(TypeError, match="weighted"):
        vjp(lambda w: np.histogram(x, "auto", weights=w)[0], x)
