"""Gaussian-process regression: the marginal likelihood of its hyperparameters, and a Newton step on them.

Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006: algorithm 2.1 for the
likelihood, equation 5.9 for its gradient, which is checked here. The Hessian is checked by complex steps in
that equation.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, hvp, value_and_grad, vmap


def kernel(x, theta):
    amplitude, length, noise = np.exp(theta)
    squares = (x[:, None] - x[None, :]) ** 2
    return amplitude**2 * np.exp(-0.5 * squares / length**2) + noise**2 * np.eye(len(x))


def log_likelihood(theta, x, y):
    chol = np.linalg.cholesky(kernel(x, theta))
    alpha = np.linalg.solve(chol.T, np.linalg.solve(chol, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(chol))) - 0.5 * len(x) * np.log(2 * np.pi)


def gradient_by_hand(theta, x, y):
    """Equation 5.9: half the trace of (alpha alpha' - K^-1) dK."""
    amplitude, length, noise = np.exp(theta)
    squares = (x[:, None] - x[None, :]) ** 2
    smooth = amplitude**2 * np.exp(-0.5 * squares / length**2)
    inverse = np.linalg.inv(smooth + noise**2 * np.eye(len(x)))
    alpha = inverse @ y
    weights = np.outer(alpha, alpha) - inverse
    slopes = [2 * smooth, smooth * squares / length**2, 2 * noise**2 * np.eye(len(x))]
    return np.array([0.5 * np.sum(weights * slope) for slope in slopes])


def main():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, 40))
    y = np.sin(2 * x) + 0.2 * rng.normal(size=40)
    theta = np.log([1.0, 0.7, 0.3])

    value, slope = value_and_grad(log_likelihood)(theta, x, y)
    expected = complex_step(lambda t: gradient_by_hand(t, x, y), theta)
    v = np.array([1.0, -2.0, 0.5])
    agree("gradient, by equation 5.9", slope, gradient_by_hand(theta, x, y))
    agree("Hessian, by complex steps in equation 5.9", hessian(log_likelihood)(theta, x, y), expected)
    agree("Hessian times vector", hvp(log_likelihood)(theta, x, y, v), expected @ v)

    starts = theta + 0.3 * rng.normal(size=(5, 3))
    slopes = vmap(grad(log_likelihood), in_axes=(0, None, None))(starts, x, y)
    agree("gradients at 5 starts, by vmap", slopes, [gradient_by_hand(t, x, y) for t in starts])

    for _ in range(8):  # Newton's method
        step = np.linalg.solve(hessian(log_likelihood)(theta, x, y), grad(log_likelihood)(theta, x, y))
        theta = theta - step
    agree("the last Newton step is none (plus 1)", 1 + step, np.ones(3))
    print(f"  maximum {log_likelihood(theta, x, y):.3f}, from {value:.3f}, at", np.exp(theta).round(3))


if __name__ == "__main__":
    main()
