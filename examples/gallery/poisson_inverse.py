"""An inverse problem: the conductivity of a medium from what its potential is at some places.

Finite differences of -(k u')' = f on [0, 1] with u = 0 at both ends, and least squares with a penalty on
roughness. Source: the adjoint method, Plessix, Geophysical Journal International 167, 2006, by hand: one
solve with the transposed matrix gives the whole gradient.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hvp, jacrev

N = 40  # inner points


def stiffness(log_k):
    """The matrix of the difference scheme; conductivities sit on the N + 1 edges."""
    k = np.exp(log_k) * (N + 1) ** 2
    return np.diag(k[:-1] + k[1:]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)


def misfit(log_k, load, places, observed):
    u = np.linalg.solve(stiffness(log_k), load)
    roughness = np.sum(np.diff(log_k) ** 2)
    return 0.5 * np.sum((u[places] - observed) ** 2) + 1e-6 * roughness


def gradient_by_hand(log_k, load, places, observed):
    matrix = stiffness(log_k)
    u = np.linalg.solve(matrix, load)
    rest = np.zeros_like(u)
    rest[places] = u[places] - observed
    adjoint = np.linalg.solve(matrix.T, rest)
    ends = lambda w: np.concatenate([[0.0], w, [0.0]])  # noqa: E731
    data = -np.exp(log_k) * (N + 1) ** 2 * np.diff(ends(adjoint)) * np.diff(ends(u))
    steps = 2e-6 * np.diff(log_k)
    return data + np.concatenate([[0.0], steps]) - np.concatenate([steps, [0.0]])


def main():
    rng = np.random.default_rng(3)
    edges = np.linspace(0, 1, N + 1)
    true = 0.8 * np.sin(2 * np.pi * edges)
    load, places = np.ones(N), np.arange(1, N, 2)
    observed = np.linalg.solve(stiffness(true), load)[places] * (1 + 1e-3 * rng.normal(size=len(places)))

    log_k, v, rest = np.zeros(N + 1), rng.normal(size=N + 1), (load, places, observed)
    agree("gradient, by the adjoint method", grad(misfit)(log_k, *rest), gradient_by_hand(log_k, *rest))
    expected = complex_step(lambda s: gradient_by_hand(log_k + s * v, *rest), np.array(0.0))
    agree("Hessian times vector, by a complex step in the adjoint", hvp(misfit)(log_k, *rest, v), expected)

    def residuals(log_k):
        u = np.linalg.solve(stiffness(log_k), load)
        return np.concatenate([u[places] - observed, np.sqrt(2e-6) * np.diff(log_k)])

    start = misfit(log_k, *rest)
    for _ in range(15):  # Gauss and Newton
        log_k = log_k - np.linalg.lstsq(jacrev(residuals)(log_k), residuals(log_k))[0]
    print(
        f"  misfit {start:.1e} -> {misfit(log_k, *rest):.1e}, conductivity off by {np.std(log_k - true):.2f}"
    )
    agree("the true conductivity is found", log_k, true, 0.3)


if __name__ == "__main__":
    main()
