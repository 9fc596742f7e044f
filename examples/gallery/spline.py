"""A natural cubic spline, as numerical textbooks write it, fitted to data and differentiated in all it
depends on.

Source: Stoer and Bulirsch, Introduction to Numerical Analysis, section 2.4, by moments. A spline is linear in
its values: the derivative with respect to each is the spline of a unit vector. Both are checked by SciPy's
own splines.
"""

import numpy as np
from compare import agree
from scipy.interpolate import CubicSpline

from funcgrad import grad, hessian, jacfwd, jacrev


def moments(knots, values):
    """The second derivatives at the knots; 0 at both ends."""
    h = np.diff(knots)
    inner = np.diag(2 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
    bends = np.linalg.solve(inner, 6 * np.diff(np.diff(values) / h))
    return np.concatenate([np.zeros(1), bends, np.zeros(1)])


def spline(x, knots, values):
    bends = moments(knots, values)
    i = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
    h = knots[i + 1] - knots[i]
    left, right = (knots[i + 1] - x) / h, (x - knots[i]) / h
    cubic = (left**3 - left) * bends[i] + (right**3 - right) * bends[i + 1]
    return left * values[i] + right * values[i + 1] + h**2 / 6 * cubic


def fit_loss(values, x, y, knots, smoothness):
    """Least squares with a penalty on the moments."""
    return np.sum((spline(x, knots, values) - y) ** 2) + smoothness * np.sum(moments(knots, values) ** 2)


def differences(f, x, step=1e-4):
    """Central differences of fourth order: eight evaluations an entry."""
    columns = []
    for e in step * np.eye(len(x)):
        columns.append((8 * (f(x + e) - f(x - e)) - f(x + 2 * e) + f(x - 2 * e)) / (12 * step))
    return np.stack(columns, -1)


def main():
    rng = np.random.default_rng(6)
    knots = np.sort(rng.uniform(0, 1, 9)) + np.arange(9)
    values, x = rng.normal(size=9), np.sort(rng.uniform(knots[0], knots[-1], 60))
    scipys = CubicSpline(knots, values, bc_type="natural")
    cardinal = CubicSpline(knots, np.eye(9), bc_type="natural")

    agree("values, beside SciPy's", spline(x, knots, values), scipys(x))
    agree(
        "slope along x: SciPy's derivative", grad(lambda x: np.sum(spline(x, knots, values)))(x), scipys(x, 1)
    )
    agree(
        "derivative by the values: the splines of unit vectors",
        jacfwd(spline, 2)(x, knots, values),
        cardinal(x),
    )
    by_differences = differences(lambda t: CubicSpline(t, values, bc_type="natural")(x), knots)
    agree(
        "derivative by the knots, by differences in SciPy's",
        jacrev(spline, 1)(x, knots, values),
        by_differences,
        1e-8,
    )

    y, smoothness = np.sin(x) + 0.1 * rng.normal(size=60), 0.02
    basis = cardinal(x)
    bends = CubicSpline(knots, np.eye(9), bc_type="natural")(knots, 2)
    normal = 2 * (basis.T @ basis + smoothness * bends.T @ bends)
    agree(
        "Hessian of the fit: the normal equations", hessian(fit_loss)(values, x, y, knots, smoothness), normal
    )
    values = values - np.linalg.solve(normal, grad(fit_loss)(values, x, y, knots, smoothness))
    agree("one Newton step fits", values, np.linalg.solve(normal, 2 * basis.T @ y))


if __name__ == "__main__":
    main()
