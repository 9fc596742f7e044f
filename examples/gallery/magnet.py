"""A mean-field magnet: the free energy of Ising spins, its response to fields, and Newton's method on it.

Source: Opper and Saad, Advanced Mean Field Methods, 2001, chapter 2: F(m) = -m'Jm/2 - h'm - T S(m), with the
entropy S of independent spins. In closed form its gradient is -Jm - h + T artanh(m), and at its minimum the
susceptibility dm/dh is the inverse of the Hessian T diag(1 / (1 - m^2)) - J.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, hvp, jacfwd, vmap


def free_energy(m, couplings, field, temperature):
    up, down = (1 + m) / 2, (1 - m) / 2
    entropy = -np.sum(up * np.log(up) + down * np.log(down))
    return -0.5 * m @ couplings @ m - field @ m - temperature * entropy


def magnetisation(couplings, field, temperature):
    """By iterating m = tanh((Jm + h) / T), differentiated as it runs."""
    m = np.zeros(len(field))
    for _ in range(200):
        m = np.tanh((couplings @ m + field) / temperature)
    return m


def main():
    rng = np.random.default_rng(2)
    n, temperature = 12, 2.0
    couplings = np.roll(np.eye(n), 1, axis=1) * rng.uniform(0.5, 1.0, n)
    couplings = couplings + couplings.T  # neighbours on a ring
    field, m, v = 0.3 * rng.normal(size=n), np.tanh(rng.normal(size=n)), rng.normal(size=n)

    rest = (couplings, field, temperature)
    slope = -couplings @ m - field + temperature * np.arctanh(m)
    curvature = temperature * np.diag(1 / (1 - m**2)) - couplings
    agree("gradient: the equation of state", grad(free_energy)(m, *rest), slope)
    agree("Hessian", hessian(free_energy)(m, *rest), curvature)
    agree("Hessian times vector", hvp(free_energy)(m, *rest, v), curvature @ v)

    m = magnetisation(*rest)
    agree("the iteration ends where the gradient is 0 (plus 1)", 1 + grad(free_energy)(m, *rest), np.ones(n))
    response = np.linalg.inv(temperature * np.diag(1 / (1 - m**2)) - couplings)
    agree("susceptibility through 200 iterations", jacfwd(magnetisation, argnums=1)(*rest), response)

    temperatures = np.linspace(2.0, 5.0, 7)
    slopes = vmap(grad(lambda t: np.sum(magnetisation(couplings, field, t))))(temperatures)
    expected = []
    for t in temperatures:  # dm/dT from the equation of state
        m = magnetisation(couplings, field, t)
        force = -np.arctanh(m)
        expected.append(np.sum(np.linalg.solve(t * np.diag(1 / (1 - m**2)) - couplings, force)))
    agree("dM/dT at 7 temperatures, by vmap", slopes, expected)


if __name__ == "__main__":
    main()
