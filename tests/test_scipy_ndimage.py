"""Images: values with SciPy's arguments and modes, adjoints, derivatives at edges, what is refused."""

import warnings

import numpy as np
import pytest
from scipy import ndimage as own

from funcgrad import errors, grad, jvp, vjp, vmap
from funcgrad.scipy import ndimage
from funcgrad.scipy.ndimage._interpolation import spline_coefficients

_rng = np.random.default_rng(31)
X = _rng.normal(size=(7, 9))
KINDS = {"f8": X, "c16": X + 1j * X[::-1], "f4": X.astype("f4")}
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
CROSS = np.array([[1, 0, 1], [0, 1, 1]])
LABELS = _rng.integers(0, 4, (7, 9))

ON_MODES = pytest.mark.parametrize("mode", MODES)
ON_KINDS = pytest.mark.parametrize("kind", KINDS)


def check(name, x, *args, **given):
    """A traced call has SciPy's result, in value, shape and dtype."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(own, name)(x, *args, **given)
        found = jvp(lambda x: getattr(ndimage, name)(x, *args, **given), (x,), (np.ones_like(x),))[0]
    if not isinstance(expected, (tuple, list)):
        expected, found = [expected], [found]
    for a, b in zip(found, expected, strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        tolerance = 1e-5 if np.asarray(b).dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(a, b, tolerance, tolerance * (1 + np.max(np.abs(b), initial=0.0)))


@ON_MODES
@ON_KINDS
def test_weighted_sums(mode, kind):
    x = KINDS[kind]
    for weights in (
        _rng.normal(size=3),
        _rng.normal(size=4),
        _rng.normal(size=25),
        np.array([1.0, 2.0j, 0.5]),
    ):
        for origin in (-1, 0, 1):
            check("correlate1d", x, weights, 0, mode=mode, cval=1.5, origin=origin)
            check("convolve1d", x, weights, 0, mode=mode, cval=1.5, origin=origin)
    for origin in (0, -1, (1, -1)):
        check("correlate", x, _rng.normal(size=(3, 4)), mode=mode, cval=0.5, origin=origin)
        check("convolve", x, _rng.normal(size=(3, 4)), mode=mode, cval=0.5, origin=origin)
    check("uniform_filter", x, (3, 4), mode=mode)
    check("uniform_filter1d", x, 4, 0, mode=mode, origin=1)
    for order in (0, 1, (2, 0), 3):
        check("gaussian_filter", x, (0.8, 1.2), order, mode=mode, cval=0.3)
    check("gaussian_filter", x, 0.7, mode=mode, radius=2)
    check("gaussian_filter1d", x, 1.3, 0, mode=mode, truncate=2.0)
    for name in ("laplace", "sobel", "prewitt"):
        check(name, x, mode=mode, cval=0.2)


@ON_MODES
@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_selections(mode, kind):
    x = KINDS[kind]
    for name in ("maximum_filter", "minimum_filter", "median_filter"):
        check(name, x, (3, 4), mode=mode, cval=0.1)
        check(name, x, footprint=CROSS, mode=mode, cval=0.1, origin=(-1, 1))
    check("maximum_filter1d", x, 3, 0, mode=mode, origin=1)
    check("minimum_filter1d", x, 4, mode=mode)
    check("rank_filter", x, -2, footprint=CROSS, mode=mode)
    check("percentile_filter", x, 30, size=3, mode=mode)
    check("gaussian_laplace", x, 1.0, mode=mode)
    check("gaussian_gradient_magnitude", x, (1.0, 0.8), mode=mode)


@ON_MODES
@pytest.mark.parametrize("order", range(6))
def test_interpolation(mode, order):
    inside = np.stack([_rng.uniform(0, 6, 30), _rng.uniform(0, 8, 30)])
    beyond = np.stack([_rng.uniform(-9, 16, 60), _rng.uniform(-12, 21, 60)]).reshape(2, 5, 12)
    matrix = np.array([[1.1, 0.2], [-0.3, 0.8]])
    for kind, x in KINDS.items():
        for prefilter in (True, False):
            given = {"order": order, "mode": mode, "cval": 1.3, "prefilter": prefilter}
            for at in (inside, beyond, np.round(beyond)):
                check("map_coordinates", x, at, **given)
            for by in ((0.3, -1.7), 1.5, (20.3, 0)):
                check("shift", x, by, **given)
            check("affine_transform", x, matrix, (0.5, -1), **given)
            check("affine_transform", x, np.array([0.7, 1.3]), 0.4, (5, 6), **given)
            check("affine_transform", x, np.column_stack([matrix, [0.5, -1]]), **given)
            check("zoom", x, (1.6, 0.7), **given)
            check("zoom", x, 1, **given)
            check("rotate", x, 33.0, **given)
            check("rotate", x, -110.0, reshape=False, **given)
            check("rotate", x, 90, **given)
            if kind != "c16":
                check("zoom", x, 2, grid_mode=True, **given)


def test_interpolation_of_other_ranks():
    x = _rng.normal(size=(4, 5, 6))
    check("map_coordinates", x, _rng.uniform(0, 3, (3, 7)), mode="mirror")
    check("zoom", x, 1.5)
    check("rotate", x, 20.0, axes=(0, 2))
    check("rotate", x, 20.0, axes=(2, 1), order=1, mode="nearest")
    check("map_coordinates", x[0, :1], _rng.uniform(0, 3, (2, 7)), mode="reflect")
    check("map_coordinates", x[0, 0], _rng.uniform(0, 5, (1, 2, 3)))


@ON_MODES
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_spline_filters_have_exact_adjoints(mode, order):
    for n in (1, 2, 3, 7, 30, 65, 200):
        x, g = _rng.normal(size=(2, n))
        out, pull = vjp(lambda x: spline_coefficients(x, order=order, mode=mode), x)
        assert np.sum(g * out) == pytest.approx(np.sum(pull(g)[0] * x), rel=1e-9)
    for x in KINDS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check("spline_filter1d", x, order, 0, mode=mode)
            check("spline_filter", x, order, mode=mode)


def test_filters_have_exact_adjoints():
    weights, g = _rng.normal(size=(3, 4)), _rng.normal(size=X.shape)
    for mode in MODES:
        out, pull = vjp(lambda x: ndimage.correlate(x, weights, mode=mode), X)
        assert np.sum(g * out) == pytest.approx(np.sum(pull(g)[0] * X), rel=1e-10)


@ON_MODES
@pytest.mark.parametrize(
    "name",
    ["grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "morphological_gradient",
     "morphological_laplace", "white_tophat", "black_tophat"],
)  # fmt: skip
def test_morphology(name, mode):
    structure = _rng.normal(size=(3, 4))
    for origin in (0, (-1, 0)):
        for given in ({"size": (3, 4)}, {"footprint": CROSS}, {"structure": structure}):
            check(name, X, mode=mode, cval=0.3, origin=origin, **given)
        check(name, X, footprint=CROSS, structure=structure[:2, :3], mode=mode, origin=origin)


def test_integers_are_cut_and_rounded_as_scipys():
    x = (X * 10).astype(int)
    stack = np.stack([x, x + 3])
    for f in (
        lambda m, x: m.gaussian_filter(x, 1.0),
        lambda m, x: m.uniform_filter(x, 3),
        lambda m, x: m.correlate1d(x, [0.3, 0.4, 0.5]),
        lambda m, x: m.shift(x, 0.3, order=1),
        lambda m, x: m.maximum_filter(x, 3),
    ):
        found = vmap(lambda x: f(ndimage, x))(stack)
        assert found.dtype == x.dtype
        assert (found == np.stack([f(own, part) for part in stack])).all()


def test_outputs_of_another_dtype():
    check("gaussian_filter", X, 1.0, output=np.float32)
    check("shift", X, 0.3, np.float32, order=1)
    with pytest.raises(errors.InPlaceError):
        grad(lambda x: np.sum(ndimage.sobel(x, output=np.zeros((7, 9)))))(X)


@pytest.mark.parametrize("parameter", [1.2, 3.0])
def test_spectra_times_constants(parameter):
    spectrum = np.fft.fft2(X)
    for name in ("fourier_gaussian", "fourier_uniform", "fourier_ellipsoid", "fourier_shift"):
        check(name, spectrum, parameter)
        check(name, X, parameter)
        check(name, spectrum, parameter, n=9)


@pytest.mark.parametrize(
    "name", ["sum_labels", "sum", "mean", "variance", "standard_deviation", "maximum", "minimum", "median"]
)
def test_statistics_of_regions(name):
    for args in (
        (),
        (LABELS,),
        (LABELS, 2),
        (LABELS, [1, 3]),
        (LABELS, [3, 1, 1]),
        (LABELS, np.array([[0, 1], [2, 3]])),
    ):
        check(name, X, *args)


def test_centres_of_regions():
    check("center_of_mass", X)
    check("center_of_mass", X, LABELS, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = jvp(lambda x: ndimage.center_of_mass(x, LABELS, [1, 3]), (X,), (X,))[0]
    np.testing.assert_allclose(found, own.center_of_mass(X, LABELS, [1, 3]))


def test_flat_images_have_no_gradient_magnitude_and_derivative_0():
    x = np.zeros((5, 5))
    assert not grad(lambda x: np.sum(ndimage.gaussian_gradient_magnitude(x, 1.0)))(x).any()
    assert grad(lambda x: ndimage.standard_deviation(x))(x).any() == 0


def test_the_radius_follows_a_traced_sigma():
    slope = grad(lambda s: np.sum(ndimage.gaussian_filter(X, s) ** 2))(1.1)
    step = 1e-6
    ends = [np.sum(own.gaussian_filter(X, 1.1 + s, radius=4) ** 2) for s in (step, -step)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)
    with pytest.raises(errors.UnknownValueError):
        vmap(lambda s: ndimage.gaussian_filter(X, s))(np.ones(2))


def test_order_0_is_cut_with_a_warning():
    with pytest.warns(errors.DependenceCutWarning):
        assert grad(lambda s: np.sum(ndimage.shift(X, s, order=0)))(0.3) == 0.0


def test_labels_are_constant():
    def f(x):
        regions, count = ndimage.label(x)
        assert count == 2
        return np.sum(ndimage.mean(x, regions, np.arange(1, count + 1)))

    assert list(grad(f)(np.array([1.0, 3.0, 0.0, 2.0]))) == [0.5, 0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.zoom(X, x),
        lambda x: ndimage.zoom(x * (X + 1j), 2, grid_mode=True),
        lambda x: ndimage.percentile_filter(X, x, 3),
        lambda x: ndimage.fourier_gaussian(X, x),
        lambda x: ndimage.mean(X, LABELS, x),
    ],
)
def test_arguments_without_derivative_are_refused(f):
    with pytest.raises(errors.UnsupportedArgumentError) as caught:
        grad(lambda x: np.sum(np.real(f(x))))(2.0)
    assert "test_scipy_ndimage.py" in str(caught.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.geometric_transform(x, lambda at: at),
        lambda x: ndimage.generic_filter(x, np.mean, 3),
        lambda x: ndimage.distance_transform_edt(x),
        lambda x: ndimage.binary_erosion(x),
    ],
)
def test_functions_without_derivative_are_refused(f):
    with pytest.raises(errors.UnsupportedFunctionError):
        grad(lambda x: np.sum(f(x)))(X)


def test_errors_are_scipys():
    for f, kind in (
        (lambda x: ndimage.correlate1d(x, np.ones(3), mode="none"), RuntimeError),
        (lambda x: ndimage.correlate1d(x, np.ones(3), origin=2), ValueError),
        (lambda x: ndimage.correlate(x, np.ones(3)), RuntimeError),
        (lambda x: ndimage.shift(x, 1, order=6), RuntimeError),
        (lambda x: ndimage.map_coordinates(x, np.ones((3, 2))), RuntimeError),
        (lambda x: ndimage.rank_filter(x, 9, 3), RuntimeError),
        (lambda x: ndimage.maximum_filter(x), RuntimeError),
        (lambda x: ndimage.mean(x, None, [1]), ValueError),
    ):
        with pytest.raises(kind):
            grad(lambda x: np.sum(f(x)))(X)
