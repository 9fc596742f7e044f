"""Predators and prey: how a whole orbit depends on the rates, in forward and in reverse mode.

Source: the sensitivity and the adjoint equations of Lotka and Volterra's system, Hairer, Norsett and Wanner,
Solving Ordinary Differential Equations I, 1993, section I.14. The Heun steps are differentiated as they run,
and by hand in both directions.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hvp, jacfwd, jvp, vjp

STEP, STEPS = 0.04, 150


def slope(state, rates):
    prey, predators = state
    birth, hunted, death, fed = rates
    return np.stack([birth * prey - hunted * prey * predators, -death * predators + fed * prey * predators])


def orbit(rates, start):
    states = [start]
    for _ in range(STEPS):
        state = states[-1]
        k1 = slope(state, rates)
        k2 = slope(state + STEP * k1, rates)
        states.append(state + STEP / 2 * (k1 + k2))
    return np.stack(states)


def slope_matrices(state, rates):
    """Of the slope by the state and by the rates."""
    (prey, predators), (birth, hunted, death, fed) = state, rates
    by_state = np.array([[birth - hunted * predators, -hunted * prey], [fed * predators, fed * prey - death]])
    by_rates = np.array([[prey, -prey * predators, 0, 0], [0, 0, -predators, prey * predators]])
    return by_state, by_rates


def step_matrices(state, rates):
    """Of one step of Heun's method, by the chain rule."""
    a1, b1 = slope_matrices(state, rates)
    a2, b2 = slope_matrices(state + STEP * slope(state, rates), rates)
    by_state = np.eye(2) + STEP / 2 * (a1 + a2 @ (np.eye(2) + STEP * a1))
    return by_state, STEP / 2 * (b1 + b2 + STEP * a2 @ b1)


def sensitivities_by_hand(rates, start):
    states, found = orbit(rates, start), [np.zeros((2, 4))]
    for state in states[:-1]:
        by_state, by_rates = step_matrices(state, rates)
        found.append(by_state @ found[-1] + by_rates)
    return np.stack(found)


def adjoint_by_hand(rates, start, weights):
    """The gradient of sum(weights * orbit): one sweep backwards."""
    states, gradient = orbit(rates, start), np.zeros(4)
    adjoint = weights[-1]
    for state, weight in zip(states[-2::-1], weights[-2::-1]):
        by_state, by_rates = step_matrices(state, rates)
        gradient = gradient + adjoint @ by_rates
        adjoint = adjoint @ by_state + weight
    return gradient, adjoint


def main():
    rng = np.random.default_rng(12)
    rates, start = np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 5.0])
    weights, v = rng.normal(size=(STEPS + 1, 2)), rng.normal(size=4)

    expected = sensitivities_by_hand(rates, start)
    agree("sensitivities of the orbit, forward mode", jacfwd(orbit)(rates, start), expected)
    agree("along a direction", jvp(lambda r: orbit(r, start), (rates,), (v,))[1], expected @ v)

    by_rates, by_start = vjp(orbit, rates, start)[1](weights)
    gradient, adjoint = adjoint_by_hand(rates, start, weights)
    agree("gradient by the rates: the adjoint equations", by_rates, gradient)
    agree("gradient by the start", by_start, adjoint)

    def loss(rates):
        return np.sum((orbit(rates, start) - 3.0) ** 2)

    h = 1e-5
    ahead, back = (
        adjoint_by_hand(r, start, 2 * (orbit(r, start) - 3.0))[0] for r in (rates + h * v, rates - h * v)
    )
    agree(
        "Hessian times vector, by differences of the adjoint",
        hvp(loss)(rates, v),
        (ahead - back) / (2 * h),
        1e-7,
    )
    agree("its gradient", grad(loss)(rates), 2 * np.tensordot(orbit(rates, start) - 3.0, expected, 2))


if __name__ == "__main__":
    main()
