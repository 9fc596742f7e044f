"""Distributions and statistics: values at every place, edges of supports, tails, refusals."""

import copy
import pickle
import warnings

import mpmath
import numpy as np
import pytest
from samples.scipy_stats import CONTINUOUS, DISCRETE
from scipy import stats as own

from funcgrad import errors, grad, hessian, jvp, make_jaxpr, vmap
from funcgrad.scipy import stats

DENSITIES = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
MASSES = ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf")

#: Shape parameters at limits, in tails and not valid, beside those of the samples.
SHAPES = {
    "t": [(np.inf,), (0.8,)],
    "genextreme": [(0.0,), (-0.4,), (1e-3,)],
    "genpareto": [(0.0,), (0.3,), (-1.5,)],
    "gamma": [(1.0,), (0.5,), (-1.0,), (200.0,)],
    "truncnorm": [(3.0, 9.0), (-40.0, -30.0), (-np.inf, 1.0), (2.0, 1.0)],
    "triang": [(0.0,), (1.0,), (1.5,)],
    "vonmises": [(0.0,)],
    "beta": [(1.0, 1.0), (0.5, 0.5), (200.0, 300.0), (2.0, -1.0)],
    "pareto": [(0.5,)],
    "f": [(2.0, 1.5)],
    "lognorm": [(3.0,)],
    "binom": [(5.0, 0.0), (5.0, 1.0), (400.0, 0.3)],
    "poisson": [(0.0,), (300.0,)],
    "geom": [(1.0,)],
}
POINTS = np.array([-300, -50, -9, -5, -2, -1, -0.3, 0, 0.1, 0.25, 0.5, 0.9, 1, 1.5, 2, 4, 7, 20, 90, np.nan])
PLACES = np.array([-5, -1, 0, 1, 2, 3, 4, 5, 6, 9, 2.5, np.nan])
SHARES = np.array([-0.1, 0, 1e-9, 0.01, 0.2, 0.5, 0.8, 0.99, 1, 1.1, np.nan])


def cases():
    for name, (_, shapes) in CONTINUOUS.items():
        for at in [shapes, *SHAPES.get(name, [])]:
            yield name, at, [(), (0.3, 1.7), (0.0, -1.0)]
    for name, (shapes, _) in DISCRETE.items():
        for at in [shapes, *SHAPES.get(name, [])]:
            yield name, at, [(), (2,)]


@pytest.mark.parametrize("name, shapes, places", list(cases()), ids=str)
def test_values_are_scipys(name, shapes, places):
    """At points inside, at the edge of and outside the support, with parameters valid and not.

    The traced computation neither warns nor differs, and its derivative is no NaN outside the support.
    """
    dist, reference = getattr(stats, name), getattr(own, name)
    discrete = name in DISCRETE
    methods = MASSES if discrete else (*DENSITIES, "ppf", "isf")
    for place in places:
        for method in (m for m in methods if m in dist._formulas):
            x = PLACES if discrete else SHARES if method in ("ppf", "isf") else POINTS
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = getattr(reference, method)(x, *shapes, *place)
            found = vmap(lambda x: getattr(dist, method)(x, *shapes, *place))(x)
            if method in ("logcdf", "logsf"):  # ours go on where SciPy's underflow
                found = np.where(np.isinf(expected), expected, found)
            rtol = 1e-6 if (name, method) == ("f", "isf") else 1e-9
            np.testing.assert_allclose(found, expected, rtol, 1e-13, err_msg=f"{method} {place}")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_outside_the_support_derivatives_are_structural_zeros(name):
    dist, (x, shapes) = getattr(stats, name), CONTINUOUS[name]
    low, high = getattr(own, name)(*shapes).support()
    outside = [e + s for e, s in ((low, -1.0), (high, 1.0)) if np.isfinite(e)]
    parameters = (*shapes, 0.0, 1.0)
    for at in outside:
        for method in ("pdf", "logpdf", "cdf", "sf"):
            if method not in dist._formulas:
                continue
            assert grad(getattr(dist, method))(at, *parameters) == 0.0
        slopes = grad(dist.logpdf, argnums=tuple(range(1, 3 + len(shapes))))(at, *parameters)
        assert all(s == 0.0 for s in slopes)
        mixed = np.array([at, x[1]])
        assert np.isfinite(grad(lambda x: np.sum(dist.pdf(x, *parameters)))(mixed)).all()
        assert np.isfinite(hessian(lambda x: np.sum(dist.pdf(x, *parameters)))(mixed)).all()


@pytest.mark.parametrize(
    "f, slope",
    [
        (lambda x: stats.gamma.pdf(x, 2.0), 1.0),
        (lambda x: stats.rayleigh.pdf(x), 1.0),
        (lambda x: stats.weibull_min.pdf(x, 2.0), 2.0),
        (lambda x: stats.beta.pdf(x, 2.0, 2.0), 6.0),
        (lambda x: stats.maxwell.pdf(x), 0.0),
        (lambda x: stats.laplace.cdf(x), 0.5),
    ],
)
def test_densities_have_derivatives_at_the_end_of_their_support(f, slope):
    assert grad(f)(0.0) == pytest.approx(slope)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_masses_at_certain_outcomes(k):
    """The mass is a polynomial in p, whose derivative at 0 is exact."""
    expected = {0: -3.0, 1: 3.0, 3: 0.0}[k]
    assert grad(lambda p: stats.binom.pmf(k, 3, p))(0.0) == pytest.approx(expected)
    assert grad(lambda mu: stats.poisson.pmf(k, mu))(0.0) == {0: -1.0, 1: 1.0, 3: 0.0}[k]


def test_parameters_that_are_not_valid_give_nan():
    for f in (lambda p: stats.binom.logcdf(PLACES, 5, p), lambda p: stats.geom.pmf(PLACES, p)):
        value, slope = jvp(f, (1.2,), (1.0,))
        assert np.isnan(value).all() and not slope.any()
    value, slope = jvp(lambda s: stats.norm.pdf(0.3, 0.0, s), (np.array([-1.0, 0.0, 2.0]),), (np.ones(3),))
    assert list(np.isnan(value)) == [True, True, False] and np.isfinite(slope).all()


def test_tails_are_exact():
    with mpmath.workdps(40):
        x = mpmath.mpf(35)
        tail = mpmath.erfc(x / mpmath.sqrt(2)) / 2
        hazard = mpmath.npdf(x) / tail
    assert stats.norm.logsf(35.0) == pytest.approx(float(mpmath.log(tail)), rel=1e-14)
    assert grad(stats.norm.logsf)(35.0) == pytest.approx(-float(hazard), rel=1e-13)
    assert grad(lambda x: stats.truncnorm.logcdf(x, -40.0, -30.0))(-31.0) > 30
    assert grad(stats.logistic.logcdf)(-800.0) == 1.0
    assert grad(stats.expon.logcdf)(1e-12) == pytest.approx(1e12)


def test_frozen_distributions():
    def loss(m, s):
        frozen = stats.norm(m, scale=s)
        return frozen.logpdf(0.3) + frozen.cdf(1.0) + frozen.mean() + frozen.std() + frozen.entropy()

    plain = own.norm(0.5, 2.0)
    expected = plain.logpdf(0.3) + plain.cdf(1.0) + plain.mean() + plain.std() + plain.entropy()
    assert loss(0.5, 2.0) == pytest.approx(expected)
    value, _ = jvp(loss, (0.5, 2.0), (1.0, 1.0))
    assert value == pytest.approx(expected)
    assert stats.norm(0.5, 2.0).interval(0.9) == plain.interval(0.9)
    assert stats.gamma(2.0).kwds == {} and stats.norm.numargs == 0
    assert stats.norm.rvs(size=3, random_state=1).shape == (3,)


def test_other_names_of_parameters():
    f = stats.gamma.logpdf
    assert grad(lambda a: f(1.5, a=a, scale=2.0))(2.0) == grad(lambda a: f(1.5, a, 0, 2.0))(2.0)
    with pytest.raises(TypeError):
        grad(lambda x: stats.gamma.logpdf(x))(1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.norm.rvs(loc=x),
        lambda x: stats.norm.fit(x * np.ones(3)),
        lambda x: stats.vonmises.cdf(x, 1.0),
        lambda x: stats.invgauss.ppf(x, 1.0),
        lambda x: stats.norm(x).rvs(),
        lambda x: stats.norm(x, 1.0).expect(),
        lambda x: stats.binom.ppf(x, 3, 0.4),
        lambda x: stats.kendalltau(x * np.arange(3), np.arange(3)),
        lambda x: stats.multivariate_normal.cdf(x * np.ones(2), np.zeros(2)),
        lambda x: stats.multivariate_normal(x * np.ones(2)).rvs(),
        lambda x: stats.gaussian_kde(x * np.arange(3)).integrate_box_1d(0, 1),
        lambda x: stats.levy_stable.pdf(x, 1.5, 0.5),
    ],
)
def test_what_has_no_derivative_is_refused(f):
    with pytest.raises((errors.UnsupportedFunctionError, errors.ConcretizationError)) as caught:
        grad(f)(0.4)
    assert "test_scipy_stats.py" in str(caught.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.norm.stats(x, moments="s"),
        lambda a: stats.gamma.cdf(1.0, a),
        lambda df: stats.t.cdf(1.0, df),
        lambda x: stats.zscore(x * np.arange(3), nan_policy="omit"),
        lambda x: stats.boxcox(x * np.arange(1, 4)),
        lambda x: stats.multivariate_normal.logpdf(x, 0.0, 1.0, allow_singular=True),
        lambda x: stats.spearmanr(x * np.ones((3, 2))),
        lambda x: stats.pearsonr(x * np.arange(3), np.arange(3), method=stats.PermutationMethod()),
        lambda x: stats.differential_entropy(x * np.arange(9.0), method="correa"),
        lambda x: stats.ttest_ind(x * np.arange(5.0), np.arange(4.0), trim=0.2),
    ],
)
def test_arguments_without_derivative_are_refused(f):
    with pytest.raises((errors.UnsupportedArgumentError, errors.MissingDerivativeError)):
        grad(f)(0.4)


def test_values_of_refused_functions_pass_without_tracing():
    assert stats.gamma.cdf(1.0, 2.0) == own.gamma.cdf(1.0, 2.0)
    assert stats.kendalltau([1, 2, 3], [1, 3, 2]).statistic == pytest.approx(1 / 3)
    assert stats.gaussian_kde([1.0, 2.0, 4.0])(1.5) == own.gaussian_kde([1.0, 2.0, 4.0])(1.5)
    assert isinstance(stats.gaussian_kde([1.0, 2.0]), own.gaussian_kde)


def test_counts_are_cut_with_a_warning():
    with pytest.warns(errors.DependenceCutWarning):
        assert grad(lambda k: stats.poisson.logpmf(k, 2.0))(3.0) == 0.0


def test_ranks_are_cut_with_a_warning():
    x = np.array([0.3, -1.0, 2.0, 0.7])
    with pytest.warns(errors.DependenceCutWarning):
        assert not grad(lambda x: stats.spearmanr(x, np.arange(4.0)).statistic)(x).any()


def test_programs_keep_the_support():
    """What is inside is not known when a program is written, so it selects."""
    program = make_jaxpr(lambda x: stats.expon.logpdf(x))(np.array([1.0, -1.0]))
    assert "where" in str(program)


def test_multivariate_shapes():
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    x = np.arange(12.0).reshape(3, 2, 2) / 7
    found = jvp(lambda x: stats.multivariate_normal([0.1, 0.2], cov).logpdf(x), (x,), (x,))[0]
    np.testing.assert_allclose(found, own.multivariate_normal([0.1, 0.2], cov).logpdf(x))
    found = jvp(
        lambda x: stats.dirichlet.logpdf(x, [1.0, 2.0, 3.0]), (np.full((2, 3), 0.3),), (np.ones((2, 3)),)
    )[0]
    np.testing.assert_allclose(found, own.dirichlet.logpdf(np.full((2, 3), 0.3), [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="simplex"):
        grad(lambda x: stats.dirichlet.logpdf(x * np.ones(3), [1.0, 2.0, 3.0]))(0.2)
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda c: stats.multivariate_normal.logpdf(np.ones(2), None, c * np.ones((2, 2))))(1.0)


def test_constant_samples():
    """As SciPy's, NaN; and the rest of the result is not."""
    x = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
    for f in (stats.skew, stats.kurtosis, stats.zscore):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = f(x, axis=1)
        np.testing.assert_allclose(jvp(lambda x: f(x, axis=1), (x,), (x,))[0], expected)


def test_welchs_p_value_is_refused_only_where_it_is_read():
    x, y = np.array([0.3, -1.0, 2.0, 0.7]), np.array([1.0, 1.5, 0.2])
    result = stats.ttest_ind(x, y, equal_var=False)
    assert jvp(lambda x: stats.ttest_ind(x, y, equal_var=False).statistic, (x,), (x,))[0] == result.statistic
    assert vmap(lambda x: stats.ttest_ind(x, y, equal_var=False).pvalue)(x[None]) == pytest.approx(
        result.pvalue
    )
    with pytest.raises(errors.MissingDerivativeError):
        grad(lambda x: stats.ttest_ind(x, y, equal_var=False).pvalue)(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda m, x: m.tmean(x, (-0.5, 1.0)),
        lambda m, x: m.tvar(x, (-0.5, 1.0), (False, True)),
        lambda m, x: m.tsem(x, (None, 1.0)),
        lambda m, x: m.circstd(x),
        lambda m, x: m.kstat(x, 4),
        lambda m, x: m.jarque_bera(x).pvalue,
        lambda m, x: m.power_divergence(x + 3, lambda_="neyman").pvalue,
        lambda m, x: m.wasserstein_distance(x, [0.0, 1.0], None, [0.3, 0.7]),
        lambda m, x: m.energy_distance(x, [0.0, 1.0]),
        lambda m, x: m.differential_entropy(x, method="vasicek"),
        lambda m, x: m.describe(x).minmax[1],
        lambda m, x: m.f_oneway(x, [1.0, 2.0]).pvalue,
    ],
)
def test_statistics_are_scipys(f):
    x = np.array([0.3, -1.0, 2.0, 0.7, -0.2])
    assert jvp(lambda x: f(stats, x), (x,), (x,))[0] == pytest.approx(f(own, x), rel=1e-12)


def test_distributions_are_copied_and_pickled():
    for dist in (stats.norm, stats.binom, stats.multivariate_normal, stats.levy_stable):
        assert pickle.loads(pickle.dumps(dist)) is dist and copy.deepcopy(dist) is dist
    frozen = pickle.loads(pickle.dumps(stats.gamma(2.0, scale=3.0)))
    assert frozen.logpdf(1.0) == own.gamma(2.0, scale=3.0).logpdf(1.0)
    assert copy.copy(stats.multivariate_normal([0.0, 1.0])).logpdf([0.3, 0.2]) == pytest.approx(
        own.multivariate_normal([0.0, 1.0]).logpdf([0.3, 0.2])
    )
