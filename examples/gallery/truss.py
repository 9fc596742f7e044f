"""A truss: how stiff it is, how that depends on its bars and joints, and a better one of the same weight.

Source: Christensen and Klarbring, An Introduction to Structural Optimization, 2009, chapters 2 and 5. The
compliance is c = F'u with K(a) u = F; by hand dc/da_e = -u' K_e u, and the second derivatives are 2 u' K_e
K^-1 K_f u.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, hvp

NODES = np.array([[i, j] for i in range(4) for j in range(3)], float)
BARS = np.array([(a, b) for a in range(12) for b in range(a) if 0 < np.sum((NODES[a] - NODES[b]) ** 2) < 2.1])
FREE = np.arange(6, 24)  # the left side, three joints, is fixed to the wall
LOAD = np.zeros(18)
LOAD[-3] = -1.0  # on the middle of the right side


def unit_stiffness(nodes):
    """The matrix of each bar with unit cross-section, on the free displacements."""
    gaps = nodes[BARS[:, 0]] - nodes[BARS[:, 1]]
    lengths = np.sqrt(np.sum(gaps**2, axis=1))
    pull = gaps / lengths[:, None]
    places = np.eye(12)[BARS[:, 0]] - np.eye(12)[BARS[:, 1]]
    stretch = np.reshape(places[:, :, None] * pull[:, None, :], (len(BARS), 24))[:, FREE]
    return stretch[:, :, None] * stretch[:, None, :] / lengths[:, None, None], lengths


def compliance(areas, nodes):
    stiffness = np.tensordot(areas, unit_stiffness(nodes)[0], 1)
    return LOAD @ np.linalg.solve(stiffness, LOAD)


def main():
    rng = np.random.default_rng(14)
    areas = rng.uniform(0.5, 1.5, len(BARS))
    parts, lengths = unit_stiffness(NODES)
    matrix = np.tensordot(areas, parts, 1)
    u = np.linalg.solve(matrix, LOAD)
    forces = parts @ u

    agree("compliance by the areas: gradient", grad(compliance)(areas, NODES), -forces @ u)
    second = 2 * forces @ np.linalg.solve(matrix, forces.T)
    agree("Hessian", hessian(compliance)(areas, NODES), second)
    v = rng.normal(size=len(BARS))
    agree("Hessian times vector", hvp(compliance)(areas, NODES, v), second @ v)
    by_nodes = complex_step(lambda nodes: compliance(areas, nodes), NODES)
    agree("compliance by the joints' places, by complex steps", grad(compliance, 1)(areas, NODES), by_nodes)

    # The optimality criterion: a bar gains where it saves more compliance per weight than the mean.
    weight = areas @ lengths
    before = compliance(areas, NODES)
    for _ in range(500):
        areas = areas * np.sqrt(-grad(compliance)(areas, NODES) / lengths)
        areas = np.maximum(areas * weight / (areas @ lengths), 1e-6)
    stress = np.sqrt(-grad(compliance)(areas, NODES) / lengths)
    after, left = compliance(areas, NODES), areas > 1e-2
    print(f"  compliance {before:.2f} -> {after:.2f}, with {np.sum(left)} of {len(BARS)} bars")
    agree("the bars that are left are strained alike", stress[left], np.full(left.sum(), stress.max()), 1e-2)


if __name__ == "__main__":
    main()
