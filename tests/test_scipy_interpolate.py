"""`funcgrad.scipy.interpolate`: SciPy's classes, derivatives at breakpoints, what is refused."""

import pickle

import numpy as np
import pytest
import scipy.interpolate

from funcgrad import errors, grad, hessian, jacfwd, jacrev, jvp, vmap
from funcgrad.scipy import interpolate as P

rng = np.random.default_rng(41)
X = np.cumsum(0.3 + rng.random(7))
Y = rng.normal(size=7)
SITES, HEIGHTS = rng.normal(size=(7, 2)), rng.normal(size=7)
GRID = (np.arange(3.0), np.arange(4.0))
FIELD = rng.normal(size=(3, 4))
PLAIN = {
    "PPoly": lambda: P.PPoly(rng.normal(size=(4, 6)), X),
    "CubicSpline": lambda: P.CubicSpline(X, Y),
    "CubicHermiteSpline": lambda: P.CubicHermiteSpline(X, Y, Y),
    "PchipInterpolator": lambda: P.PchipInterpolator(X, Y),
    "Akima1DInterpolator": lambda: P.Akima1DInterpolator(X, Y),
    "BSpline": lambda: P.make_interp_spline(X, Y),
    "interp1d": lambda: P.interp1d(X, Y),
    "BarycentricInterpolator": lambda: P.BarycentricInterpolator(X, Y),
    "KroghInterpolator": lambda: P.KroghInterpolator(X, Y),
}


@pytest.mark.parametrize("name", PLAIN)
def test_objects_of_plain_data_are_scipys(name):
    ours = PLAIN[name]()
    assert isinstance(ours, getattr(P, name)) and isinstance(ours, getattr(scipy.interpolate, name))
    assert np.array_equal(pickle.loads(pickle.dumps(ours))(X), ours(X), equal_nan=True)


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_interpolant_at_a_traced_point(name):
    """Made outside of the function, as most are."""
    ours, at = PLAIN[name](), X[2] + 0.1
    value, slope = jvp(ours, (at,), (1.0,))
    assert np.isclose(value, ours(at), rtol=1e-12)
    assert np.isclose(slope, (ours(at + 1e-6) - ours(at - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["PPoly", "CubicSpline", "BSpline"])
def test_at_a_breakpoint_the_right_piece_counts(name):
    """As SciPy's own derivatives do."""
    if name == "BSpline":
        ours = P.BSpline(np.arange(9.0), rng.normal(size=7), 1)
        breakpoints = np.arange(2.0, 7.0)
    else:
        ours, breakpoints = P.PPoly(rng.normal(size=(3, 6)), X), X
    f = ours
    for order in range(1, 4):
        f = grad(f, unused="zero")
        expected = ours(breakpoints, order) if name != "BSpline" or order <= ours.k else 0 * breakpoints
        assert np.allclose([f(x) for x in breakpoints], expected)


def test_splines_do_not_depend_on_distant_values_alone():
    """The Jacobian of a spline with respect to its values is its cardinal functions; rows sum to 1."""
    at = rng.uniform(X[0], X[-1], 5)
    for f in (P.CubicSpline, P.make_interp_spline, P.BarycentricInterpolator):
        found = jacrev(lambda y, f=f: f(X, y)(at))(Y)
        expected = np.stack([f(X, e)(at) for e in np.eye(7)], axis=-1)
        assert np.allclose(found, expected, atol=1e-12) and np.allclose(found.sum(-1), 1)


def test_the_derivative_with_respect_to_knots_of_a_translated_spline():
    """Moving all knots and the point leaves the value; so the derivatives add up to 0."""
    for f in (P.CubicSpline, P.PchipInterpolator, P.Akima1DInterpolator, P.make_interp_spline, P.interp1d):
        total = jvp(lambda x, a, f=f: f(x, Y)(a), (X, X[3] + 0.1), (np.ones(7), 1.0))[1]
        assert abs(total) < 1e-10


def test_large_splines():
    """The system of the slopes is tridiagonal: 20,000 knots take no time."""
    x = np.linspace(0, 100, 20_000)
    found = grad(lambda y: P.CubicSpline(x, y).integrate(0.0, 100.0))(np.sin(x))
    assert np.isclose(found.sum(), 100.0)


def test_curvature_of_an_interpolant():
    cs = P.CubicSpline(X, Y)
    assert np.isclose(hessian(cs)(X[2] + 0.1), cs(X[2] + 0.1, 2))
    assert np.allclose(vmap(grad(grad(cs)))(X[:4] + 0.1), cs(X[:4] + 0.1, 2))


def test_beyond_the_ends():
    f = P.CubicSpline(X, Y, extrapolate=False)
    assert np.isnan(jvp(f, (X[0] - 1.0,), (1.0,))[0])
    clamped = P.Akima1DInterpolator(X, Y)
    assert np.isnan(jvp(clamped, (X[-1] + 1.0,), (1.0,))[0])
    with pytest.raises(ValueError, match="below"):
        grad(P.interp1d(X, Y))(X[0] - 1.0)
    with pytest.raises(ValueError, match="out of bounds in dimension 1"):
        grad(lambda a: P.RegularGridInterpolator(GRID, FIELD)((1.0 + 0 * a, a + 9.0)).sum())(np.ones(1))


def test_stepwise_interpolation_has_no_derivative_and_says_so():
    with pytest.warns(errors.DependenceCutWarning):
        assert grad(P.interp1d(X, Y, "nearest"))(X[2] + 0.05) == 0.0


def test_thin_plates_at_their_sites():
    """r^2 log r has slope 0 at 0, and no second derivative: that is seen, not hidden."""
    f = P.RBFInterpolator(SITES, HEIGHTS)
    slope = jacfwd(lambda x: f(x[None])[0])(SITES[0])
    h = 1e-6 * np.eye(2)
    expected = [(f((SITES[0] + s)[None])[0] - f((SITES[0] - s)[None])[0]) / 2e-6 for s in h]
    assert np.allclose(slope, expected, rtol=1e-4)
    assert not np.all(np.isfinite(hessian(lambda x: f(x[None])[0])(SITES[0])))


def test_values_and_sites_of_radial_functions():
    """The interpolant passes through its data, whatever they are."""
    f = lambda y, d: P.RBFInterpolator(y, d)(y)  # noqa: E731
    value, change = jvp(f, (SITES, HEIGHTS), (rng.normal(size=(7, 2)), Y))
    assert np.allclose(value, HEIGHTS) and np.allclose(change, Y)


def test_many_points_of_a_polynomial():
    """Lagrange's form is stable at Chebyshev's points."""
    x = np.cos(np.pi * (np.arange(50) + 0.5) / 50)
    f = P.BarycentricInterpolator(x, np.exp(x))
    at = np.append(rng.uniform(-1, 1, 5), x[:3])
    assert np.allclose(vmap(grad(f))(at), np.exp(at), rtol=1e-9)


ROWS = [
    (lambda y: P.UnivariateSpline(X, y)(1.0), "make_interp_spline"),
    (lambda y: P.UnivariateSpline(X, np.sin(X))(y), "make_interp_spline"),
    (lambda y: P.LinearNDInterpolator(SITES, y)(SITES), "RBFInterpolator"),
    (lambda y: P.LinearNDInterpolator(SITES, HEIGHTS)(y[:2]), "RBFInterpolator"),
    (lambda y: P.RectBivariateSpline(*GRID, y[0] * FIELD, kx=1, ky=1)(0, 0), "RegularGridInterpolator"),
    (lambda y: P.griddata(SITES, y, SITES), "RBFInterpolator"),
    (lambda y: P.make_lsq_spline(X, y, X), "lstsq"),
    (lambda y: P.lagrange(X, y)(1.0), "BarycentricInterpolator"),
    (lambda y: P.RegularGridInterpolator((X,), y, method="cubic")([1.0]), "one axis after the other"),
    (lambda y: P.RegularGridInterpolator((X,), y)([X[:1]], method="pchip"), "one axis after the other"),
    (lambda y: P.interpn((X, X), np.outer(y, y), X[:2], method="splinef2d"), "one axis after the other"),
    (lambda y: P.BSpline.design_matrix(y, X, 1), r"np.eye\(n\)"),
    (lambda y: P.BSpline(X, y, 1).insert_knot(1.0), "stays the same"),
    (lambda y: P.CubicSpline(X, y).roots(), "Newton"),
    (lambda y: P.CubicSpline(X, Y).solve(y[0]), "Newton"),
    (lambda y: P.PPoly(y[None, 1:], X).extend(y[None, :1], X[-1:] + 1), "concatenate"),
    (lambda y: P.PPoly.from_spline((X, y, 1)), "BSpline itself"),
    (lambda y: P.BarycentricInterpolator(X, y).derivative(1.0), "jvp or grad"),
    (lambda y: P.BarycentricInterpolator(X, y).add_xi(X[-1:] + 1, Y[:1]), "concatenate"),
    (lambda y: P.KroghInterpolator(X, y).derivatives(1.0), "jvp or grad"),
    (lambda y: P.KroghInterpolator(np.append(X[:6], X[0]), y)(1.0), "CubicHermiteSpline"),
    (lambda y: P.barycentric_interpolate(X, y, 1.0, der=1), "jvp or grad"),
    (lambda y: P.make_interp_spline(X, y, bc_type="periodic")(1.0), "CubicSpline"),
    (lambda y: P.RBFInterpolator(SITES, y, neighbors=3)(SITES), "all sites count"),
    (lambda y: P.splrep(X, y, s=1.0)[1], "least squares"),
]


@pytest.mark.parametrize("f, cure", ROWS)
def test_refusals_say_what_to_write(f, cure):
    refused = (errors.UnsupportedArgumentError, errors.UnsupportedFunctionError)
    with pytest.raises(refused, match=cure) as info:
        grad(lambda y: np.sum(f(y)))(Y)
    assert "scipy.interpolate." in str(info.value) and "test_scipy_interpolate.py" in str(info.value)


def test_wrong_data_are_scipys_errors():
    for f in (
        lambda y: P.CubicSpline(X[::-1], y),
        lambda y: P.CubicSpline(X, y[:3]),
        lambda y: P.CubicSpline(X, y, bc_type="periodic"),
        lambda y: P.CubicSpline(X, y, bc_type="wrong"),
        lambda y: P.CubicSpline(X, y, bc_type=((3, 0.0), (1, 0.0))),
        lambda y: P.PchipInterpolator(X, 1j * y),
        lambda y: P.PPoly(y, X),
        lambda y: P.BSpline(X, y, 7),
        lambda y: P.BSpline(X[::-1], y, 1),
        lambda y: P.BSpline(X, y, 1).derivative(2),
        lambda y: P.make_interp_spline(X, y, bc_type=([(1, 0.0)], None)),
        lambda y: P.RegularGridInterpolator((X, X), y),
        lambda y: P.RegularGridInterpolator((X,), y, method="wrong"),
        lambda y: P.RBFInterpolator(SITES, y, kernel="gaussian"),
        lambda y: P.RBFInterpolator(SITES, y, degree=5),
        lambda y: P.interp1d(X, y[:3]),
        lambda y: P.splev(1.0, (X, y, 1), der=2),
    ):
        with pytest.raises(ValueError):
            grad(lambda y: (f(y), np.sum(y))[1])(Y)
