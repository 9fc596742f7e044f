"""Robust regression: Huber's loss and Student's t, on data with outliers.

Source: Huber and Ronchetti, Robust Statistics, 2009, chapter 7: the gradient is -X' psi(r) and the Hessian X'
diag(psi'(r)) X. Lange, Little and Taylor, Journal of the American Statistical Association 84, 1989, for the t
distribution. The data are Brownlee's stack losses.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, vmap

# Air flow, water temperature, acid concentration, and the loss of ammonia.
STACK = np.array([
    [80, 27, 89, 42], [80, 27, 88, 37], [75, 25, 90, 37], [62, 24, 87, 28], [62, 22, 87, 18],
    [62, 23, 87, 18], [62, 24, 93, 19], [62, 24, 93, 20], [58, 23, 87, 15], [58, 18, 80, 14],
    [58, 18, 89, 14], [58, 17, 88, 13], [58, 18, 82, 11], [58, 19, 93, 12], [50, 18, 89, 8],
    [50, 18, 86, 7], [50, 19, 72, 8], [50, 19, 79, 8], [50, 20, 80, 9], [56, 20, 82, 15],
    [70, 20, 91, 15],
], float)  # fmt: skip


def huber(beta, x, y, threshold):
    r = np.abs(y - x @ beta)
    return np.sum(np.where(r <= threshold, 0.5 * r**2, threshold * (r - 0.5 * threshold)))


def student(beta, x, y, freedom, scale):
    """Minus the logarithm of the likelihood, but for a constant."""
    r = (y - x @ beta) / scale
    return 0.5 * (freedom + 1) * np.sum(np.log1p(r**2 / freedom))


def main():
    x = np.column_stack([np.ones(21), (STACK[:, :3] - STACK[:, :3].mean(0)) / STACK[:, :3].std(0)])
    y = STACK[:, 3]
    beta = np.linalg.lstsq(x, y)[0] + 0.1

    c = 1.5
    r = y - x @ beta
    psi, slope = np.clip(r, -c, c), (np.abs(r) <= c).astype(float)
    agree("Huber: gradient", grad(huber)(beta, x, y, c), -x.T @ psi)
    agree("Huber: Hessian", hessian(huber)(beta, x, y, c), x.T @ (slope[:, None] * x))

    nu, s = 3.0, 1.7
    psi = (nu + 1) * r / (nu * s**2 + r**2)
    slope = (nu + 1) * (nu * s**2 - r**2) / (nu * s**2 + r**2) ** 2
    agree("Student: gradient", grad(student)(beta, x, y, nu, s), -x.T @ psi)
    agree("Student: Hessian", hessian(student)(beta, x, y, nu, s), x.T @ (slope[:, None] * x))
    by_scale = grad(student, argnums=4)(beta, x, y, nu, s)
    agree("Student: derivative by the scale", by_scale, -np.sum(psi * r) / s)

    thresholds = np.array([0.5, 1.0, 2.0, 4.0])
    slopes = vmap(grad(huber), in_axes=(None, None, None, 0))(beta, x, y, thresholds)
    agree("Huber: at 4 thresholds, by vmap", slopes, [-x.T @ np.clip(r, -t, t) for t in thresholds])

    for _ in range(400):  # Huber's own iteration: the curvature is at most X'X
        beta = beta - np.linalg.solve(x.T @ x, grad(huber)(beta, x, y, c))
    agree("Huber: the gradient at the minimum is 0 (plus 1)", 1 + grad(huber)(beta, x, y, c), np.ones(4))
    outliers = np.argsort(-np.abs(y - x @ beta))[:4] + 1
    print("  outliers, by their numbers:", np.sort(outliers))
    assert set(outliers) == {1, 3, 4, 21}, "those that the literature names"


if __name__ == "__main__":
    main()
