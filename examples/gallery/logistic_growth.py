"""Logistic growth fitted to the census: an initial value problem by Runge-Kutta steps, in a loss.

Source: Verhulst's equation p' = r p (1 - p / k); the counts are the United States' census of 1790 to 1940, in
millions, after Pearl and Reed, 1920. The gradient is checked by integrating the sensitivity equations with
the same steps, which is exact, and by the closed solution, which the steps approximate.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, jacfwd, jacrev

YEARS = np.arange(16.0)  # decades since 1790
COUNTS = np.array([3.929, 5.308, 7.240, 9.638, 12.866, 17.069, 23.192, 31.443, 38.558, 50.156, 62.948, 75.995,
                   91.972, 105.711, 122.775, 131.669])  # fmt: skip


def runge_kutta(slope, state, step):
    """One classical step of fourth order."""
    k1 = slope(state)
    k2 = slope(state + step / 2 * k1)
    k3 = slope(state + step / 2 * k2)
    k4 = slope(state + step * k3)
    return state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def trajectory(theta, substeps=5):
    """The population in every decade, for (initial population, rate, capacity)."""
    population, rate, capacity = theta
    states = [population]
    for _ in YEARS[1:]:
        for _ in range(substeps):
            growth = lambda p: rate * p * (1 - p / capacity)  # noqa: E731
            population = runge_kutta(growth, population, 1 / substeps)
        states.append(population)
    return np.stack(states)


def loss(theta):
    return np.sum((trajectory(theta) - COUNTS) ** 2)


def sensitivities(theta, substeps=5):
    """The trajectory's derivatives, integrated beside it: (p, dp/dp0, dp/dr, dp/dk)."""
    start, rate, capacity = theta

    def slope(state):
        p, s = state[0], state[1:]
        explicit = np.array([0.0, p * (1 - p / capacity), rate * p * p / capacity**2])
        return np.concatenate([[rate * p * (1 - p / capacity)], rate * (1 - 2 * p / capacity) * s + explicit])

    state = np.array([start, 1.0, 0.0, 0.0])
    states = [state]
    for _ in YEARS[1:]:
        for _ in range(substeps):
            state = runge_kutta(slope, state, 1 / substeps)
        states.append(state)
    return np.array(states)


def solution(theta):
    start, rate, capacity = theta
    return capacity / (1 + (capacity / start - 1) * np.exp(-rate * YEARS))


def main():
    theta = np.array([3.9, 0.31, 197.0])
    states = sensitivities(theta)
    expected = 2 * (states[:, 0] - COUNTS) @ states[:, 1:]
    agree("gradient, by the sensitivity equations", grad(loss)(theta), expected)
    agree("Jacobian of the trajectory, forward mode", jacfwd(trajectory)(theta), states[:, 1:])
    agree("Jacobian of the trajectory, reverse mode", jacrev(trajectory)(theta), states[:, 1:])
    exact = complex_step(solution, theta)
    agree(
        "the same of the closed solution, to the order of the steps", jacrev(trajectory)(theta), exact, 1e-6
    )

    scale = np.array([1.0, 0.1, 100.0])  # of the parameters
    for _ in range(8):  # Gauss and Newton
        jacobian, rest = jacfwd(trajectory)(theta) * scale, trajectory(theta) - COUNTS
        theta = theta - scale * np.linalg.lstsq(jacobian, rest)[0]
    print("  fitted (initial population, rate, capacity):", theta.round(3))
    assert np.all(np.linalg.eigvalsh(scale[:, None] * hessian(loss)(theta) * scale) > 0), "no minimum"
    agree(
        "gradient at the minimum is 0 (plus 1)", 1 + scale * grad(loss)(theta) / loss(theta), np.ones(3), 1e-6
    )


if __name__ == "__main__":
    main()
