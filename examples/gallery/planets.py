"""Bodies that attract each other: forces from the energy, and the flow of a symplectic integrator.

Source: Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, chapters I and VI. The forces and
their Jacobian are written out by hand; the tangent map of leapfrog is integrated beside it, and its Jacobian
M satisfies M'JM = J, whatever the step.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, jacfwd, jacrev, jvp

MASSES = np.array([1.0, 0.3, 0.5, 0.2])
SOFTENING = 0.1


def energy(positions):
    first, second = np.triu_indices(len(MASSES), 1)
    squares = np.sum((positions[first] - positions[second]) ** 2, axis=-1) + SOFTENING**2
    return -np.sum(MASSES[first] * MASSES[second] / np.sqrt(squares))


def leapfrog(state, steps, step):
    """Kick, drift, kick."""
    positions, momenta = state
    for _ in range(steps):
        momenta = momenta - step / 2 * grad(energy)(positions)
        positions = positions + step * momenta / MASSES[:, None]
        momenta = momenta - step / 2 * grad(energy)(positions)
    return np.stack([positions, momenta])


def forces_by_hand(positions):
    gaps = positions[:, None] - positions[None, :]
    cubes = (np.sum(gaps**2, axis=-1) + SOFTENING**2) ** 1.5
    return -np.sum((MASSES[:, None] * MASSES[None, :] / cubes)[..., None] * gaps, axis=1)


def stiffness_by_hand(positions, v):
    """The derivative of minus the forces along v."""
    gaps, moves = positions[:, None] - positions[None, :], v[:, None] - v[None, :]
    squares = np.sum(gaps**2, axis=-1, keepdims=True) + SOFTENING**2
    pull = moves / squares**1.5 - 3 * np.sum(gaps * moves, axis=-1, keepdims=True) * gaps / squares**2.5
    return np.sum((MASSES[:, None] * MASSES[None, :])[..., None] * pull, axis=1)


def tangent_by_hand(state, moved, steps, step):
    """Leapfrog with its linearisation beside it."""
    (q, p), (dq, dp) = state, moved
    for _ in range(steps):
        p, dp = p + step / 2 * forces_by_hand(q), dp - step / 2 * stiffness_by_hand(q, dq)
        q, dq = q + step * p / MASSES[:, None], dq + step * dp / MASSES[:, None]
        p, dp = p + step / 2 * forces_by_hand(q), dp - step / 2 * stiffness_by_hand(q, dq)
    return np.stack([dq, dp])


def main():
    rng = np.random.default_rng(8)
    state, v = rng.normal(size=(2, 4, 2)), rng.normal(size=(2, 4, 2))

    agree("forces", -grad(energy)(state[0]), forces_by_hand(state[0]))
    found = np.tensordot(hessian(energy)(state[0]), v[0], 2)
    agree("stiffness along a direction", found, stiffness_by_hand(state[0], v[0]))

    steps, step = 40, 0.05
    moved = jvp(lambda s: leapfrog(s, steps, step), (state,), (v,))[1]
    agree(
        "tangent of the flow, whose steps take gradients themselves",
        moved,
        tangent_by_hand(state, v, steps, step),
    )

    flow = lambda s: leapfrog(s, steps, step)  # noqa: E731
    columns, rows = jacfwd(flow)(state).reshape(16, 16), jacrev(flow)(state).reshape(16, 16)
    symplectic = np.block([[np.zeros((8, 8)), np.eye(8)], [-np.eye(8), np.zeros((8, 8))]])
    agree("the flow is symplectic, by columns", columns.T @ symplectic @ columns, symplectic)
    agree("the flow is symplectic, by rows", rows.T @ symplectic @ rows, symplectic)


if __name__ == "__main__":
    main()
