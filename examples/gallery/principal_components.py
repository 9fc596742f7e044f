"""Principal components: how variances and subspaces respond when the features are weighted.

Source: perturbation theory of symmetric matrices, Magnus and Neudecker, Matrix Differential Calculus, 2019,
chapter 8, and for subspaces Kato, Perturbation Theory for Linear Operators: dl = v'Av', d2l and dP are sums
over the other eigenvectors. The loss that rests on all of the subspace is differentiated through the SVD and
through eigh.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, jvp


def covariance(weights, data):
    scaled = data * weights
    centred = scaled - np.mean(scaled, axis=0)
    return centred.T @ centred / (len(data) - 1)


def explained(weights, data, k):
    """The variance along the first k components, from the eigenvalues."""
    return np.sum(np.linalg.eigvalsh(covariance(weights, data))[-k:])


def projector(weights, data, k):
    """Onto the first k components, by the singular value decomposition."""
    scaled = data * weights
    _, _, directions = np.linalg.svd(scaled - np.mean(scaled, axis=0), full_matrices=False)
    return directions[:k].T @ directions[:k]


def reconstruction_error(weights, data, target, k):
    """Of other points from their projections, by eigh."""
    _, vectors = np.linalg.eigh(covariance(weights, data))
    kept = target @ vectors[:, -k:] @ vectors[:, -k:].T
    return np.sum((target - kept) ** 2)


def main():
    rng = np.random.default_rng(5)
    data = rng.normal(size=(50, 6)) @ np.diag([3.0, 2.5, 1.5, 1.0, 0.7, 0.4]) @ rng.normal(size=(6, 6))
    target, weights, v, k = rng.normal(size=(10, 6)), rng.uniform(0.5, 2.0, 6), rng.normal(size=6), 2

    # The covariance is diag(w) C diag(w): its first and second derivatives are plain.
    plain = covariance(np.ones(6), data)
    matrix, eye = covariance(weights, data), np.eye(6)
    slopes = [np.outer(e, weights) * plain + np.outer(weights, e) * plain for e in eye]
    values, vectors = np.linalg.eigh(matrix)
    turned = np.array([vectors.T @ slope @ vectors for slope in slopes])

    agree(
        "gradient of the explained variance",
        grad(explained)(weights, data, k),
        np.einsum("wii->wi", turned)[:, -k:].sum(1),
    )

    gaps = values[:, None] - values[None, :]
    inverse = np.where(gaps == 0, 0.0, 1 / np.where(gaps == 0, 1.0, gaps))
    expected = np.zeros((6, 6))
    for i in range(6 - k, 6):
        u = vectors[:, i]
        expected += 2 * np.einsum("aj,bj,j->ab", turned[:, i], turned[:, i], inverse[i])
        expected += 2 * np.outer(u, u) * plain  # of the covariance's own second derivative
    agree("Hessian of the explained variance", hessian(explained)(weights, data, k), expected)

    first, others = vectors[:, -k:], vectors[:, :-k]
    moved = first.T @ np.tensordot(v, slopes, 1) @ others * inverse[-k:, :-k]
    moved = first @ moved @ others.T
    found = jvp(lambda w: projector(w, data, k), (weights,), (v,))[1]
    agree("derivative of the subspace's projector, through the SVD", found, moved + moved.T)

    slope = grad(reconstruction_error)(weights, data, target, k) @ v
    agree(
        "gradient of the reconstruction error, through eigh",
        slope,
        -np.sum((moved + moved.T) * (target.T @ target)),
    )


if __name__ == "__main__":
    main()
