"""Variational inference: the evidence lower bound of a Bayesian regression, by the reparameterisation trick.

Source: Kingma and Welling, 2014, and Murphy, Probabilistic Machine Learning: Advanced Topics, 2023, chapter
10. Where the model is linear and Gaussian the bound has a closed form, whose derivatives are written out;
Gauss-Hermite points in place of random ones make the expectation exact. Its maximum is the posterior, and its
value there the evidence.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, vmap

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(3)
GRID = np.stack([a.ravel() for a in np.meshgrid(NODES, NODES)], -1)  # points of the standard normal plane
GRID_WEIGHTS = np.outer(WEIGHTS, WEIGHTS).ravel() / (2 * np.pi)


def factor(q):
    """The Cholesky factor of the approximation's covariance."""
    return np.diag(np.exp(q["log_diagonal"])) + q["below"] * np.eye(2, k=-1)


def log_joint(w, x, y, noise):
    rest = (y - x @ w) / noise
    return -0.5 * np.sum(rest**2 + np.log(2 * np.pi * noise**2)) - 0.5 * np.sum(w**2 + np.log(2 * np.pi))


def bound(q, points, weights, x, y, noise):
    """The evidence lower bound."""
    values = vmap(lambda e: log_joint(q["mean"] + factor(q) @ e, x, y, noise))(points)
    entropy = np.sum(q["log_diagonal"]) + np.log(2 * np.pi) + 1
    return weights @ values + entropy


def gradient_by_hand(q, x, y, noise):
    """From E log p = log p(mean) - tr(P L L') / 2, with the posterior's precision P."""
    precision = x.T @ x / noise**2 + np.eye(2)
    inner = -precision @ factor(q)
    diagonal = np.exp(q["log_diagonal"])
    return {
        "mean": x.T @ y / noise**2 - precision @ q["mean"],
        "log_diagonal": np.diag(inner) * diagonal + 1,
        "below": inner[1, 0],
    }


def main():
    rng = np.random.default_rng(11)
    x, noise = rng.normal(size=(30, 2)), 0.7
    y = x @ [1.0, -0.5] + noise * rng.normal(size=30)
    q = {"mean": np.array([0.3, 0.1]), "log_diagonal": np.array([-1.0, -1.5]), "below": 0.2}

    exact = (GRID, GRID_WEIGHTS, x, y, noise)
    slopes, expected = grad(bound)(q, *exact), gradient_by_hand(q, x, y, noise)
    for name in q:
        agree(f"gradient by {name}", slopes[name], expected[name])
    curvature = hessian(bound)(q, *exact)["mean"]["mean"]
    agree(
        "Hessian by the mean: minus the posterior's precision", curvature, -(x.T @ x / noise**2 + np.eye(2))
    )

    draws = rng.normal(size=(4000, 2))
    sampled = grad(bound)(q, draws, np.full(4000, 1 / 4000), x, y, noise)["mean"]
    agree("gradient by 4000 random draws", sampled, expected["mean"], 0.02)

    for _ in range(400):
        slopes = grad(bound)(q, *exact)
        q = {name: q[name] + 0.01 * slopes[name] for name in q}
    covariance = np.linalg.inv(x.T @ x / noise**2 + np.eye(2))
    agree("at the maximum: the posterior's mean", q["mean"], covariance @ x.T @ y / noise**2, 1e-6)
    agree("and its covariance", factor(q) @ factor(q).T, covariance, 1e-3)
    spread = x @ x.T + noise**2 * np.eye(30)
    evidence = -0.5 * (y @ np.linalg.solve(spread, y) + np.linalg.slogdet(2 * np.pi * spread)[1])
    agree("and the evidence", bound(q, *exact), evidence, 1e-6)


if __name__ == "__main__":
    main()
