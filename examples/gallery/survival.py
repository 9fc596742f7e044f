"""Survival times, of which some are censored: the Weibull likelihood with covariates, fitted by Newton's
method.

Source: Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 2002, chapter 3. With z =
(log t - x'b) / s the logarithm of the likelihood is the sum of d (z - log s) - exp(z), where d = 1 if the
event was seen. Its gradient and Hessian are written out below. The times are the remissions of Freireich's
leukaemia trial of 1963, in weeks, with treatment and without.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, vmap

TREATED = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
SEEN = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]


def log_likelihood(theta, times, seen, x):
    """Of coefficients and, last, the logarithm of the scale."""
    coefficients, log_scale = theta[:-1], theta[-1]
    z = (np.log(times) - x @ coefficients) / np.exp(log_scale)
    return np.sum(np.where(seen, z - log_scale - np.log(times), 0.0) - np.exp(z))


def derivatives_by_hand(theta, times, seen, x):
    """The score and the Hessian."""
    scale = np.exp(theta[-1])
    z = (np.log(times) - x @ theta[:-1]) / scale
    dz = np.column_stack([-x / scale, -z])  # of z by each parameter
    score = dz.T @ (seen - np.exp(z)) - np.r_[np.zeros(x.shape[1]), seen.sum()]
    curvature = -(dz.T * np.exp(z)) @ dz
    d2z = np.zeros((len(theta), len(theta)))  # sum of (d - exp z) times the second derivatives of z
    d2z[-1] = d2z[:, -1] = np.r_[(x / scale).T @ (seen - np.exp(z)), z @ (seen - np.exp(z))]
    return score, curvature + d2z


def main():
    times = np.array(TREATED + PLACEBO, float)
    seen = np.array(SEEN + [1] * 21)
    x = np.column_stack([np.ones(42), np.repeat([1.0, 0.0], 21)])
    theta = np.array([2.0, 1.0, 0.1])

    score, curvature = derivatives_by_hand(theta, times, seen, x)
    agree("score", grad(log_likelihood)(theta, times, seen, x), score)
    agree("Hessian", hessian(log_likelihood)(theta, times, seen, x), curvature)
    each = vmap(grad(log_likelihood), in_axes=(None, 0, 0, 0))(
        theta, times[:, None], seen[:, None], x[:, None]
    )
    agree("each patient's score, by vmap", np.sum(each, axis=0), score)

    for _ in range(10):
        step = np.linalg.solve(
            hessian(log_likelihood)(theta, times, seen, x), grad(log_likelihood)(theta, times, seen, x)
        )
        theta = theta - step
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian(log_likelihood)(theta, times, seen, x))))
    print(f"  effect of the treatment on log time: {theta[1]:.3f} +- {errors[1]:.3f}")
    agree("the estimate that textbooks print", theta[1], 1.267, 1e-3)


if __name__ == "__main__":
    main()
