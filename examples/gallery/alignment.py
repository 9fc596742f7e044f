"""Aligning two series by soft dynamic time warping.

Source: Cuturi and Blondel, Soft-DTW: a differentiable loss function for time-series, ICML 2017: the
recursion, and in algorithm 2 its derivative by hand, backwards through the same table. The gradient by the
costs says how much each pair of moments belongs together; it is checked by summing over all alignments, too.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, vmap

SOFTNESS = 0.7


def soft_minimum(*values):
    values = np.stack(values)
    low = np.min(values, axis=0)
    return low - SOFTNESS * np.log(np.sum(np.exp((low - values) / SOFTNESS), axis=0))


def discrepancy(costs):
    """The soft minimum of the costs of all alignments."""
    m, n = costs.shape
    above = [0.0] + [np.inf] * n
    for i in range(m):
        row = [np.inf]
        for j in range(n):
            row.append(costs[i, j] + soft_minimum(above[j], above[j + 1], row[j]))
        above = row
    return above[n]


def soft_dtw(x, y):
    return discrepancy(np.sum((x[:, None] - y[None, :]) ** 2, axis=-1))


def gradient_by_hand(costs):
    """Algorithm 2: the table forwards, then its derivative backwards."""
    m, n = costs.shape
    table = np.full((m + 2, n + 2), np.inf)
    table[0, 0] = 0.0
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            table[i, j] = costs[i - 1, j - 1] + soft_minimum(
                table[i - 1, j - 1], table[i - 1, j], table[i, j - 1]
            )
    table[m + 1, :], table[:, n + 1] = -np.inf, -np.inf
    table[m + 1, n + 1] = table[m, n]
    padded = np.zeros((m + 2, n + 2))
    padded[1:-1, 1:-1] = costs
    use = np.zeros((m + 2, n + 2))
    use[m + 1, n + 1] = 1.0
    for j in range(n, 0, -1):
        for i in range(m, 0, -1):
            for k, h in ((i + 1, j), (i, j + 1), (i + 1, j + 1)):
                use[i, j] += use[k, h] * np.exp((table[k, h] - table[i, j] - padded[k, h]) / SOFTNESS)
    return use[1:-1, 1:-1]


def alignments(m, n):
    """Every way through the table, as 0 and 1."""
    if (m, n) == (1, 1):
        yield [(0, 0)]
        return
    for a, b in ((m - 1, n), (m, n - 1), (m - 1, n - 1)):
        if a and b:
            for path in alignments(a, b):
                yield [*path, (m - 1, n - 1)]


def main():
    rng = np.random.default_rng(13)
    costs = rng.uniform(0, 2, size=(4, 5))
    paths = np.zeros((sum(1 for _ in alignments(4, 5)), 4, 5))
    for path, table in zip(alignments(4, 5), paths):
        table[tuple(np.transpose(path))] = 1.0
    totals = np.sum(paths * costs, axis=(1, 2))
    weights = np.exp(-totals / SOFTNESS) / np.sum(np.exp(-totals / SOFTNESS))

    mean = np.tensordot(weights, paths, 1)
    agree(
        "value, by summing over 129 alignments",
        discrepancy(costs),
        -SOFTNESS * np.log(np.sum(np.exp(-totals / SOFTNESS))),
    )
    agree("gradient: the expected alignment", grad(discrepancy)(costs), mean)
    agree("gradient, by algorithm 2", grad(discrepancy)(costs), gradient_by_hand(costs))
    spread = np.einsum("p,pij,pkl->ijkl", weights, paths - mean, paths - mean)
    agree("Hessian: minus the alignments' covariance", hessian(discrepancy)(costs), -spread / SOFTNESS)

    x, series = rng.normal(size=(12, 2)), rng.normal(size=(3, 15, 2))
    expected = []
    for y in series:
        use = gradient_by_hand(np.sum((x[:, None] - y[None, :]) ** 2, axis=-1))
        expected.append(2 * (use.sum(1)[:, None] * x - use @ y))
    agree(
        "gradients of 3 series' discrepancies, by vmap", vmap(grad(soft_dtw), (None, 0))(x, series), expected
    )


if __name__ == "__main__":
    main()
