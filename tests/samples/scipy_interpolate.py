"""`scipy.interpolate`: interpolants of traced data, at traced points."""

import numpy as np

from funcgrad.scipy import interpolate as P
from samples.table import Sample

_rng = np.random.default_rng(23)
X = np.cumsum(0.3 + _rng.random(7))
Y, STACK, SLOPES = _rng.normal(size=7), _rng.normal(size=(2, 7, 3)), _rng.normal(size=7)
AT = np.array([X[0] + 0.1, X[2] + 0.05, X[1] + 0.02, X[4] + 0.1, X[6] - 0.13])
BEYOND = np.array([X[0] - 0.4, X[1] + 0.1, X[6] + 0.3])
GRID = AT[:4].reshape(2, 2)
PIECES = _rng.normal(size=(4, 6, 2))
KNOTS = np.concatenate([X[0] - [1.2, 0.8, 0.3], X[:5], X[4] + [0.2, 0.5, 0.9]])  # of 7 cubic B-splines
CLAMPED = np.concatenate([[X[0]] * 4, X[2:5], [X[6]] * 4])
INNER = np.array([X[0] + 0.1, X[1] + 0.05, X[3] + 0.1])
A, B, ONE = np.array(X[0] + 0.1), np.array(X[3] + 0.1), np.array(0.3)
GX, GY = np.cumsum(0.3 + _rng.random(4)), np.cumsum(0.3 + _rng.random(5))
FIELD, FIELDS = _rng.normal(size=(4, 5)), _rng.normal(size=(4, 5, 2))
POINTS = np.stack([GX[[0, 1, 2]] + 0.1, GY[[3, 0, 2]] + 0.07], axis=-1)
SITES, HEIGHTS, PLACES = _rng.normal(size=(8, 2)), _rng.normal(size=8), _rng.normal(size=(3, 2))
REAL, BOTH, COMPLEX = ("f8",), ("f4", "f8"), ("c16",)
ONE_BY_ONE = {"batch": False, "stage": False}  # SciPy compares the limits of an integral


def closed(y):
    return np.concatenate([y, y[:1]])


def polynomials():
    for nu in range(5):
        f = lambda c, x, a, n=nu: P.PPoly(c, x)(a, n)  # noqa: E731
        yield Sample(f"scipy.PPoly-{nu}", f, (PIECES, X, AT), REAL)
    for name, nu in (("derivative", 1), ("derivative", 5), ("antiderivative", 1), ("antiderivative", 2)):
        f = lambda c, x, a, m=name, n=nu: getattr(P.PPoly(c, x), m)(n)(a) + 0 * c[0, 0]  # noqa: E731
        yield Sample(f"scipy.PPoly-{name}-{nu}", f, (PIECES, X, AT), REAL)
    for extrapolate in (True, "periodic"):
        f = lambda c, x, a, b, e=extrapolate: P.PPoly(c, x).integrate(a, b, e)  # noqa: E731
        yield Sample(f"scipy.PPoly-integrate-{extrapolate}", f, (PIECES, X, A, B + 9), REAL, **ONE_BY_ONE)
        f = lambda t, c, a, b, e=extrapolate: P.BSpline(t, c, 3).integrate(a, b, e)  # noqa: E731
        shift = 9 * (extrapolate == "periodic")
        yield Sample(
            f"scipy.BSpline-integrate-{extrapolate}", f, (KNOTS, Y, A, B + shift), REAL, **ONE_BY_ONE
        )


def cubic_splines():
    conditions = {
        "not-a-knot": "not-a-knot",
        "natural": "natural",
        "clamped": "clamped",
        "mixed": ("natural", "not-a-knot"),
        "values": ((1, 0.3), (2, 0.4)),
        "other values": ((2, 0.3), (1, 0.4)),
    }
    for name, bc in conditions.items():
        f = lambda x, y, a, b=bc: P.CubicSpline(x, y, bc_type=b)(a)  # noqa: E731
        yield Sample(f"scipy.CubicSpline-{name}", f, (X, Y, AT), REAL)
    for n in (2, 3, 4):
        for name in ("not-a-knot", "natural"):
            f = lambda x, y, a, n=n, b=name: P.CubicSpline(x[:n], y[:n], bc_type=b)(a)  # noqa: E731
            yield Sample(f"scipy.CubicSpline-{n}-{name}", f, (X, Y, AT), REAL)
        f = lambda x, y, a, n=n: P.CubicSpline(x[: n + 1], closed(y[:n]), bc_type="periodic")(a)  # noqa: E731
        yield Sample(f"scipy.CubicSpline-{n}-periodic", f, (X, Y, AT), REAL)


def b_splines():
    for nu in range(5):
        f = lambda t, c, a, n=nu: P.BSpline(t, c, 3)(a, n) + 0 * c[0]  # noqa: E731
        yield Sample(f"scipy.BSpline-{nu}", f, (KNOTS, Y, INNER), REAL)
    for k in (0, 1, 2, 3, 4, 5):
        f = lambda x, y, a, k=k: P.make_interp_spline(x, y, k)(a) * a  # noqa: E731
        yield Sample(f"scipy.make_interp_spline-{k}", f, (X, Y, AT), REAL)
    for name in ("natural", "clamped"):
        f = lambda x, y, a, b=name: P.make_interp_spline(x, y, bc_type=b)(a)  # noqa: E731
        yield Sample(f"scipy.make_interp_spline-{name}", f, (X, Y, AT), REAL)


def of_one_variable():
    for kind in ("linear", "slinear", "quadratic", "cubic", 5):
        f = lambda x, y, a, k=kind: P.interp1d(x, y, k, axis=1)(a)  # noqa: E731
        yield Sample(f"scipy.interp1d-{kind}", f, (X, STACK, GRID), BOTH if kind == "linear" else REAL)
    for kind in ("nearest", "nearest-up", "previous", "next", "zero"):
        f = lambda x, y, a, k=kind: P.interp1d(x, y, k)(a) * a  # noqa: E731
        yield Sample(f"scipy.interp1d-{kind}", f, (X, Y, AT), REAL)
    for kind in ("BarycentricInterpolator", "KroghInterpolator"):
        f = lambda x, y, a, k=kind: getattr(P, k)(x, y, axis=1)(a)  # noqa: E731
        yield Sample(f"scipy.{kind}", f, (X[:5], STACK[:, :5], GRID), REAL)
        f = lambda a, k=kind: getattr(P, k)(X[:5], STACK[:, :5], axis=1)(a)  # noqa: E731
        yield Sample(f"scipy.{kind}-at-data", f, (X[1:4],), REAL)
        yield Sample(f"scipy.{kind}-complex", lambda y, k=kind: getattr(P, k)(X, y)(AT), (Y,), COMPLEX)


def scattered():
    for kernel in ("linear", "thin_plate_spline", "cubic", "quintic"):
        f = lambda y, d, x, k=kernel: P.RBFInterpolator(y, d, kernel=k)(x)  # noqa: E731
        yield Sample(f"scipy.RBFInterpolator-{kernel}", f, (SITES, HEIGHTS, PLACES), REAL)
    for kernel in ("multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"):
        f = lambda y, d, x, e, k=kernel: P.RBFInterpolator(y, d, kernel=k, epsilon=e)(x)  # noqa: E731
        args = (SITES, HEIGHTS, PLACES, np.array(0.8))
        yield Sample(f"scipy.RBFInterpolator-{kernel}", f, args, REAL, batch=False)


SAMPLES = [
    # ---- pieces ----
    *polynomials(),
    Sample("scipy.PPoly-float32", lambda c, x, a: P.PPoly(c, x)(a), (PIECES, X, AT), ("f4",)),
    Sample("scipy.PPoly-complex", lambda c: P.PPoly(c, X)(AT), (PIECES,), COMPLEX),
    Sample(
        "scipy.PPoly-axis",
        lambda c, a: P.PPoly(c, X, axis=1)(a),
        (np.moveaxis(PIECES, 2, 0)[..., None], GRID),
        REAL,
    ),
    Sample(
        "scipy.PPoly-periodic",
        lambda c, x, a: P.PPoly(c, x, extrapolate="periodic")(a),
        (PIECES, X, AT + 3),
        REAL,
    ),
    Sample(
        "scipy.PPoly-falling", lambda c, x, a: P.PPoly(c, x)(a), (PIECES, X[::-1], AT), REAL, **ONE_BY_ONE
    ),
    Sample("scipy.PPoly-plain", lambda a: P.PPoly(PIECES, X)(a), (AT,), REAL),
    Sample(
        "scipy.CubicHermiteSpline",
        lambda x, y, s, a: P.CubicHermiteSpline(x, y, s)(a),
        (X, Y, SLOPES, AT),
        REAL,
    ),
    Sample(
        "scipy.PchipInterpolator", lambda x, y, a: P.PchipInterpolator(x, y, axis=1)(a), (X, STACK, AT), BOTH
    ),
    Sample("scipy.PchipInterpolator-2", lambda x, y, a: P.pchip(x[:2], y[:2])(a), (X, Y, AT), REAL),
    Sample("scipy.pchip_interpolate", lambda x, y, a: P.pchip_interpolate(x, y, a, der=1), (X, Y, AT), REAL),
    *[
        Sample(
            f"scipy.Akima1DInterpolator-{m}",
            lambda x, y, a, m=m: P.Akima1DInterpolator(x, y, axis=1, method=m)(a),
            (X, STACK, AT),
            REAL,
        )
        for m in ("akima", "makima")
    ],
    *cubic_splines(),
    Sample("scipy.CubicSpline-complex", lambda y: P.CubicSpline(X, y)(AT), (Y,), COMPLEX),
    Sample(
        "scipy.CubicSpline-axis", lambda x, y, a: P.CubicSpline(x, y, axis=1)(a, 1), (X, STACK, GRID), BOTH
    ),
    Sample("scipy.CubicSpline-plain", lambda a: P.CubicSpline(X, Y)(a), (AT,), REAL),
    Sample(
        "scipy.CubicSpline-end-values",
        lambda y, v: P.CubicSpline(X, y, bc_type=((1, v), (2, 2 * v)))(AT),
        (Y, ONE),
        REAL,
    ),
    Sample("scipy.CubicSpline-integrate", lambda y: P.CubicSpline(X, y).integrate(X[0], X[3]), (Y,), REAL),
    # ---- B-splines ----
    *b_splines(),
    Sample("scipy.BSpline-axis", lambda t, c, a: P.BSpline(t, c, 3, axis=1)(a), (KNOTS, STACK, INNER), BOTH),
    Sample("scipy.BSpline-complex", lambda c: P.BSpline(KNOTS, c, 3)(INNER), (Y,), COMPLEX),
    Sample(
        "scipy.BSpline-periodic",
        lambda t, c, a: P.BSpline(t, c, 3, extrapolate="periodic")(a),
        (KNOTS, Y, INNER + 5),
        REAL,
    ),
    Sample("scipy.BSpline-clamped", lambda c, a: P.BSpline(CLAMPED, c, 3).derivative(2)(a), (Y, AT), REAL),
    Sample(
        "scipy.BSpline-primitive",
        lambda t, c, a: P.BSpline(t, c, 3).antiderivative(2)(a),
        (KNOTS, Y, INNER),
        REAL,
    ),
    Sample(
        "scipy.BSpline-integrate-inside",
        lambda c, a, b: P.BSpline(KNOTS, c, 3).integrate(a, b, False),
        (Y, A - 0.5, B),
        REAL,
        **ONE_BY_ONE,
    ),
    Sample(
        "scipy.make_interp_spline-axis",
        lambda x, y, a: P.make_interp_spline(x, y, axis=1)(a),
        (X, STACK, AT),
        BOTH,
    ),
    Sample(
        "scipy.make_interp_spline-ends",
        lambda x, y, v: P.make_interp_spline(x, y, 5, bc_type=([(1, v), (2, 0.1)], [(1, 0.2), (2, v)]))(AT),
        (X, Y, ONE),
        REAL,
    ),
    Sample("scipy.make_interp_spline-knots", lambda y: P.make_interp_spline(X, y, t=CLAMPED)(AT), (Y,), REAL),
    Sample("scipy.make_interp_spline-plain", lambda a: P.make_interp_spline(X, Y)(a), (AT,), REAL),
    Sample("scipy.splev", lambda x, y, a: P.splev(a, P.splrep(x, y), 1), (X, Y, AT), REAL),
    *[
        Sample(f"scipy.splev-ext={e}", lambda y, a, e=e: P.splev(a, P.splrep(X, y), 0, e), (Y, BEYOND), REAL)
        for e in (0, 1, 3)
    ],
    Sample("scipy.splint", lambda y, a, b: P.splint(a, b, P.splrep(X, y)), (Y, A, B), REAL, **ONE_BY_ONE),
    Sample("scipy.splder", lambda y, a: P.splev(a, P.splder(P.splrep(X, y))), (Y, AT), REAL),
    Sample("scipy.splantider", lambda y, a: P.splev(a, P.splantider(P.splrep(X, y))), (Y, AT), REAL),
    # ---- of one variable ----
    *of_one_variable(),
    Sample("scipy.interp1d-unsorted", lambda x, y, a: P.interp1d(x, y)(a), (X[::-1], Y, AT), REAL),
    Sample("scipy.interp1d-plain", lambda a: P.interp1d(X, Y, "cubic")(a), (AT,), REAL),
    Sample(
        "scipy.interp1d-extrapolate",
        lambda x, y, a: P.interp1d(x, y, fill_value="extrapolate")(a),
        (X, Y, BEYOND),
        REAL,
    ),
    Sample(
        "scipy.interp1d-fill",
        lambda x, y, a, v: P.interp1d(x, y, fill_value=(v, 2 * v), bounds_error=False)(a),
        (X, Y, BEYOND, ONE),
        REAL,
    ),
    Sample("scipy.barycentric_interpolate", P.barycentric_interpolate, (X, Y, AT), REAL),
    Sample("scipy.krogh_interpolate", P.krogh_interpolate, (X, Y, AT), REAL),
    # ---- of several variables ----
    Sample(
        "scipy.RegularGridInterpolator",
        lambda x, y, v, p: P.RegularGridInterpolator((x, y), v)(p),
        (GX, GY, FIELDS, POINTS),
        REAL,
    ),
    Sample(
        "scipy.RegularGridInterpolator-nearest",
        lambda v, p: P.RegularGridInterpolator((GX, GY), v, method="nearest")(p) * p[..., 0],
        (FIELD, POINTS),
        REAL,
    ),
    Sample(
        "scipy.RegularGridInterpolator-complex",
        lambda v: P.RegularGridInterpolator((GX, GY), v)(POINTS),
        (FIELD,),
        COMPLEX,
    ),
    Sample(
        "scipy.RegularGridInterpolator-falling",
        lambda v, p: P.RegularGridInterpolator((GX[::-1], GY), v)(p),
        (FIELD, POINTS[0]),
        REAL,
    ),
    Sample(
        "scipy.RegularGridInterpolator-coordinates",
        lambda a, b: P.RegularGridInterpolator((GX, GY), FIELD)((a, b)),
        (POINTS[:, 0], POINTS[:, 1]),
        REAL,
    ),
    Sample(
        "scipy.RegularGridInterpolator-fill",
        lambda v, p, f: P.RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=f)(p),
        (FIELD, POINTS - np.array([0.5, 0]), ONE),
        REAL,
    ),
    Sample(
        "scipy.RegularGridInterpolator-extrapolate",
        lambda v, p: P.RegularGridInterpolator((GX, GY), v, bounds_error=False, fill_value=None)(p),
        (FIELD, POINTS - np.array([0.5, 0])),
        REAL,
    ),
    Sample("scipy.interpn", lambda v, p: P.interpn((GX, GY), v, p), (FIELD, POINTS), REAL),
    *scattered(),
    Sample(
        "scipy.RBFInterpolator-smoothing",
        lambda d, s: P.RBFInterpolator(SITES, d, smoothing=s)(PLACES),
        (HEIGHTS, np.abs(HEIGHTS) * 0.1),
        REAL,
    ),
    Sample(
        "scipy.RBFInterpolator-plain",
        lambda x: P.RBFInterpolator(SITES, np.stack([HEIGHTS, HEIGHTS**2 + 1j], -1))(x),
        (PLACES,),
        REAL,
    ),
]
