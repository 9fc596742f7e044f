"""A Kalman filter: the likelihood of a local level with noise, by prediction errors.

Source: Durbin and Koopman, Time Series Analysis by State Space Methods, 2012, chapter 2. The derivatives are
checked without the filter: the observations are jointly Gaussian, their covariance is known entry by entry,
and the gradient and the expected information of a Gaussian likelihood are traces (its section 7.3).
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, vmap


def log_likelihood(theta, y):
    """Of the logarithms of the variances: of observations, of the level's steps, and of the first level."""
    noise, step, start = np.exp(theta)
    mean, variance, total = 0.0, start, 0.0
    for observed in y:
        error, spread = observed - mean, variance + noise
        total = total - 0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
        gain = variance / spread
        mean = mean + gain * error
        variance = variance * (1 - gain) + step
    return total


def covariance_parts(n):
    """The derivatives of the observations' covariance with respect to the three variances."""
    steps = np.arange(n)
    return np.stack([np.eye(n), np.minimum(steps[:, None], steps[None, :]), np.ones((n, n))])


def gradient_by_hand(theta, y):
    parts = np.exp(theta)[:, None, None] * covariance_parts(len(y))
    inverse = np.linalg.inv(np.sum(parts, axis=0))
    alpha = inverse @ y
    return 0.5 * np.array([alpha @ part @ alpha - np.trace(inverse @ part) for part in parts])


def main():
    rng = np.random.default_rng(1)
    level = np.cumsum(0.5 * rng.normal(size=60))
    y = level + 0.8 * rng.normal(size=60)
    theta = np.log([0.5, 0.3, 2.0])

    agree("gradient, by the joint covariance", grad(log_likelihood)(theta, y), gradient_by_hand(theta, y))
    by_steps = complex_step(lambda theta: log_likelihood(theta, y), theta)
    agree("gradient, by complex steps in the filter", grad(log_likelihood)(theta, y), by_steps)
    expected = complex_step(lambda theta: gradient_by_hand(theta, y), theta)
    agree(
        "Hessian, by complex steps in the covariance's gradient", hessian(log_likelihood)(theta, y), expected
    )

    # In the mean over series from the model the Hessian is minus the expected information.
    parts = np.exp(theta)[:, None, None] * covariance_parts(20)
    root = np.linalg.cholesky(np.sum(parts, axis=0))
    whitened = np.linalg.solve(root, np.linalg.solve(root, parts).transpose(0, 2, 1))
    information = 0.5 * np.einsum("aij,bij->ab", whitened, whitened)
    series = rng.normal(size=(4000, 20)) @ root.T
    sampled = -np.mean(vmap(hessian(log_likelihood), in_axes=(None, 0))(theta, series), axis=0)
    agree("mean Hessian of 4000 series by vmap: the expected information", sampled, information, 0.05)


if __name__ == "__main__":
    main()
