"""`scipy.interpolate`, differentiable.

The interpolants are classes derived from SciPy's. Each is differentiable with respect to the points at which
it is evaluated and to the data that it is made of: values, knots, boundary conditions, fill values. At a
breakpoint the derivative is that of the piece to the right, as SciPy's own; of a linear `interp1d`, as SciPy
evaluates it, that of the piece to the left.

>>> import numpy as np
>>> from funcgrad import grad
>>> from funcgrad.scipy import interpolate
>>> x, y = np.arange(5.0), np.array([0.0, 1.0, 4.0, 9.0, 16.0])
>>> grad(interpolate.CubicSpline(x, y))(1.5).round(6)
np.float64(3.0)
>>> grad(lambda y: interpolate.CubicSpline(x, y)(1.5))(y).round(4)
array([-0.0469,  0.5   ,  0.6562, -0.125 ,  0.0156])
"""

import scipy.interpolate as _scipy_interpolate

from funcgrad.numpy.protocol import implements as _implements
from funcgrad.scipy._mirror import mirror as _mirror
from funcgrad.scipy.interpolate import _grids, _one, _pieces, _polynomials, _scattered, _splines

_SPLINE = (
    "Take make_interp_spline or CubicSpline; a least squares fit is np.linalg.lstsq of "
    "BSpline(t, np.eye(n), k)(x)."
)
_GRID = "Take RegularGridInterpolator, or RBFInterpolator of scattered data."
_FUNCTIONS = {
    "make_lsq_spline": _SPLINE,
    "make_smoothing_spline": _SPLINE,
    "make_splrep": _SPLINE,
    "make_splprep": _SPLINE,
    "splprep": _SPLINE,
    "generate_knots": "Choose knots for plain data: stop_gradient(x).",
    "spalde": "Take splev of each order.",
    "sproot": "Take the roots of the plain spline, and a step of Newton's method from there.",
    "insert": "The spline stays the same: evaluate this one.",
    "bisplrep": _GRID,
    "bisplev": _GRID,
    "griddata": _GRID,
    "lagrange": "Take BarycentricInterpolator, which is the same polynomial.",
    "approximate_taylor_polynomial": "Take grad of grad, divided by factorials.",
    "pade": "Solve its linear system by np.linalg.solve.",
}
_CALLING = {name: _FUNCTIONS[name] for name in ("approximate_taylor_polynomial",)}
_CLASSES = {
    "AAA": "Fit plain values, and write the rational function in its support points and weights.",
    "BPoly": "Take PPoly, or PPoly.from_bernstein_basis of a plain one.",
    "FloaterHormannInterpolator": "Take BarycentricInterpolator.",
    "Rbf": "Take RBFInterpolator.",
    **dict.fromkeys(("UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"), _SPLINE),
    **dict.fromkeys(
        (
            "BivariateSpline", "RectBivariateSpline", "RectSphereBivariateSpline", "SmoothBivariateSpline",
            "SmoothSphereBivariateSpline", "LSQBivariateSpline", "LSQSphereBivariateSpline", "NdBSpline",
            "NdPPoly", "CloughTocher2DInterpolator", "LinearNDInterpolator", "NearestNDInterpolator",
        ),
        _GRID,
    ),
}  # fmt: skip

globals().update(_mirror(_scipy_interpolate, _FUNCTIONS, _CALLING, _CLASSES))
for _module in (_pieces, _splines, _one, _grids, _scattered, _polynomials):
    for _name, _value in vars(_module).items():
        if isinstance(_value, type) and _value.__module__ == _module.__name__ and not _name.startswith("_"):
            globals()[_name] = _value
            _implements(getattr(_scipy_interpolate, _name))(_value)
for _name in ("make_interp_spline", "make_lsq_spline", "make_smoothing_spline", "make_splrep"):
    if hasattr(_scipy_interpolate, _name):
        globals()[_name] = _splines.giving_ours(globals()[_name])

pchip = _pieces.PchipInterpolator
__all__ = list(_scipy_interpolate.__all__)
