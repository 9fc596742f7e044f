"""A hidden Markov model: the likelihood by the forward algorithm.

Source: Rabiner, Proceedings of the IEEE 77, 1989. The gradient by the logarithms of the probabilities is how
often each is expected to have been used (the statistics of Baum and Welch). It is checked by summing over all
paths, and the Hessian is the covariance of these counts over the paths.
"""

import itertools

import numpy as np
from compare import agree

from funcgrad import grad, hessian, vmap


def log_sum_exp(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(x - top), axis=axis))


def log_likelihood(model, observed):
    log_start, log_moves, log_emissions = model
    forward = log_start + log_emissions[:, observed[0]]
    for symbol in observed[1:]:
        forward = log_sum_exp(forward[:, None] + log_moves, axis=0) + log_emissions[:, symbol]
    return log_sum_exp(forward, axis=0)


def counts_by_hand(model, observed):
    """For every path its posterior probability, and how often it uses each probability."""
    log_start, log_moves, log_emissions = model
    logs, counts = [], []
    for path in itertools.product(range(len(log_start)), repeat=len(observed)):
        used = [np.zeros_like(part) for part in model]
        np.add.at(used[0], path[0], 1)
        np.add.at(used[1], (path[:-1], path[1:]), 1)
        np.add.at(used[2], (path, observed), 1)
        logs.append(sum(np.sum(u * part) for u, part in zip(used, model)))
        counts.append(np.concatenate([u.ravel() for u in used]))
    weights = np.exp(logs - np.max(logs))
    return weights / weights.sum(), np.array(counts)


def main():
    rng = np.random.default_rng(9)
    states, symbols = 3, 4
    model = tuple(
        np.log(rng.dirichlet(np.ones(shape[-1]), size=shape[:-1]))
        for shape in ((states,), (states, states), (states, symbols))
    )
    observed = rng.integers(symbols, size=7)

    weights, counts = counts_by_hand(model, observed)
    mean = weights @ counts
    found = np.concatenate([g.ravel() for g in grad(log_likelihood)(model, observed)])
    agree("expected counts, by summing over 2187 paths", found, mean)

    spread = (counts - mean).T @ (weights[:, None] * (counts - mean))
    blocks = hessian(log_likelihood)(model, observed)
    sizes = [part.size for part in model]
    found = np.block([[np.reshape(b, (m, n)) for b, n in zip(row, sizes)] for row, m in zip(blocks, sizes)])
    agree("Hessian: the covariance of the counts", found, spread)

    sequences = rng.integers(symbols, size=(20, 7))
    moves = vmap(grad(log_likelihood), in_axes=(None, 0))(model, sequences)[1]
    agree("every sequence has 6 expected moves, by vmap", np.sum(moves, axis=(1, 2)), np.full(20, 6.0))


if __name__ == "__main__":
    main()
