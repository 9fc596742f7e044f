"""Derivatives of functions from research, of order one to six, beside their closed forms.

Each check below states a model in plain NumPy, differentiates it, and returns the result together
with the formula that a textbook gives for it. Run it with

    python examples/derivative_checks.py
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite import hermval

from funcgrad import grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp

Pair = tuple[np.ndarray, np.ndarray]  # what funcgrad computes, what the formula says
CHECKS: list[tuple[str, str, Callable[[], Pair]]] = []
TOLERANCE = 1e-10


def check(function: str, quantity: str):
    """Enters the decorated function in the table."""

    def enter(run: Callable[[], Pair]) -> Callable[[], Pair]:
        CHECKS.append((function, quantity, run))
        return run

    return enter


def derivatives(f: Callable, order: int) -> list[Callable]:
    """f, f', f'', ... up to the given order."""
    return [f] if order == 0 else [f, *derivatives(grad(f), order - 1)]


# ----------------------------------------------------------------- one variable, nested to order 6


@check("tanh(x) at 0.5", "f, f', f'', f''', f''''")
def tanh() -> Pair:
    t = np.tanh(0.5)
    u = 1 - t * t
    formula = [t, u, -2 * t * u, u * (6 * t * t - 2), t * u * (16 - 24 * t * t)]
    return np.array([f(0.5) for f in derivatives(np.tanh, 4)]), np.array(formula)


@check("exp(-x^2)", "Hermite polynomials 0 to 6")
def hermite() -> Pair:
    x = 0.8
    chain = derivatives(lambda x: np.exp(-x * x), 6)
    rodrigues = [(-1) ** n * np.exp(x * x) * f(x) for n, f in enumerate(chain)]
    return np.array(rodrigues), np.array([hermval(x, row) for row in np.eye(7)])


@check("Van der Waals gas", "p', p'', p''' at the critical point")
def critical_point() -> Pair:
    def pressure(v):  # in units of the critical point, on the critical isotherm
        return 8 / (3 * v - 1) - 3 / v**2

    return np.array([f(1.0) for f in derivatives(pressure, 3)[1:]]), np.array([0.0, 0.0, -9.0])


@check("Planck's law", "dB/dT over a spectrum")
def planck() -> Pair:
    x = np.linspace(0.1, 12.0, 50)  # frequency, with h = k = c = 1

    def radiance(temperature):
        return 2 * x**3 / np.expm1(x / temperature)

    _, slope = jvp(radiance, (1.5,), (1.0,))
    return slope, 2 * x**4 * np.exp(x / 1.5) / (1.5 * np.expm1(x / 1.5)) ** 2


@check("Kepler's equation", "E_M, E_e, E_MM, E_Me through a solver")
def kepler() -> Pair:
    def anomaly(mean, eccentricity):
        """E - e sin E = M by Newton's method, differentiated as it runs."""
        angle = mean
        for _ in range(8):
            rest = angle - eccentricity * np.sin(angle) - mean
            angle = angle - rest / (1 - eccentricity * np.cos(angle))
        return angle

    at = mean, e = 1.2, 0.4
    by_mean, by_e = grad(anomaly, argnums=(0, 1))(*at)
    twice, mixed = grad(grad(anomaly), argnums=(0, 1))(*at)
    angle = anomaly(mean, e)
    sin, cos, d = np.sin(angle), np.cos(angle), 1 - e * np.cos(angle)
    formula = [1 / d, sin / d, -e * sin / d**3, (cos - e) / d**3]
    return np.array([by_mean, by_e, twice, mixed]), np.array(formula)


# -------------------------------------------------------------------------- many variables


@check("Rosenbrock's valley", "Hessian in 6 dimensions")
def rosenbrock() -> Pair:
    def valley(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    x = np.linspace(-1.2, 1.4, 6)
    diagonal = np.full(6, 200.0)
    diagonal[0] = 0.0
    diagonal[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    beside = np.diag(-400 * x[:-1], 1)
    return hessian(valley)(x), np.diag(diagonal) + beside + beside.T


@check("log-sum-exp", "Hessian = diag(p) - p p'")
def logsumexp() -> Pair:
    x = np.array([0.3, -1.0, 2.0, 0.5])
    p = np.exp(x) / np.sum(np.exp(x))
    return hessian(lambda x: np.log(np.sum(np.exp(x))))(x), np.diag(p) - np.outer(p, p)


@check("Logistic regression", "Hessian times vector = X' D X v")
def logistic() -> Pair:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 30)), rng.integers(0, 2, size=200)
    w, v = 0.3 * rng.normal(size=(2, 30))

    def loss(w):
        return np.sum(np.logaddexp(0, x @ w) - y * (x @ w))

    p = 1 / (1 + np.exp(-x @ w))
    return hvp(loss)(w, v), x.T @ (p * (1 - p) * (x @ v))


@check("Gaussian sample", "observed information = diag(n, 2n) / s^2")
def information() -> Pair:
    sample = np.random.default_rng(1).normal(3.0, 2.0, size=50)

    def log_likelihood(theta):
        mean, deviation = theta
        return np.sum(-0.5 * ((sample - mean) / deviation) ** 2 - np.log(deviation))

    best = np.array([sample.mean(), sample.std()])
    return -hessian(log_likelihood)(best), np.diag([50.0, 100.0]) / sample.var()


# ------------------------------------------------------------------------------- mechanics


def lennard_jones(positions):
    """The energy of a cluster of atoms, in reduced units."""
    first, second = np.triu_indices(len(positions), 1)
    squares = np.sum((positions[first] - positions[second]) ** 2, axis=1)
    return np.sum(4 * (squares**-6 - squares**-3))


def cluster() -> np.ndarray:
    """Eight atoms near the corners of a cube."""
    corners = np.stack(np.meshgrid([0, 1.2], [0, 1.2], [0, 1.2]), axis=-1).reshape(8, 3)
    return corners + 0.05 * np.random.default_rng(2).normal(size=(8, 3))


def bonds(positions: np.ndarray) -> tuple[np.ndarray, ...]:
    """Distances and unit vectors between all atoms; an atom is infinitely far from itself."""
    gaps = positions[:, None] - positions
    r = np.sqrt(np.sum(gaps**2, axis=-1)) + np.diag(np.full(len(positions), np.inf))
    return r, gaps / r[..., None]


@check("Lennard-Jones cluster", "forces on 8 atoms")
def forces() -> Pair:
    positions = cluster()
    r, unit = bonds(positions)
    push = 48 * r**-13 - 24 * r**-7
    return -grad(lennard_jones)(positions), np.sum(push[..., None] * unit, axis=1)


@check("Lennard-Jones cluster", "Hessian, 24 x 24")
def stiffness() -> Pair:
    positions = cluster()
    r, unit = bonds(positions)
    pull = 24 * r**-7 - 48 * r**-13  # the pair potential's first derivative, and its second
    stretch = 624 * r**-14 - 168 * r**-8
    along = unit[..., :, None] * unit[..., None, :]
    across = np.eye(3) - along
    blocks = -(stretch[..., None, None] * along + (pull / r)[..., None, None] * across)
    blocks[np.arange(8), np.arange(8)] = -np.sum(blocks, axis=1)  # no force when all move alike
    return hessian(lennard_jones)(positions), blocks.transpose(0, 2, 1, 3)


@check("Kepler problem, Lagrangian", "accelerations in polar coordinates")
def orbit() -> Pair:
    def lagrangian(q, speed):
        r, r_speed, angle_speed = q[0], speed[0], speed[1]
        return 0.5 * (r_speed**2 + (r * angle_speed) ** 2) + 1 / r

    q, speed = np.array([1.3, 0.7]), np.array([0.2, 0.9])
    # Euler-Lagrange, d/dt L_speed = L_q, solved for the acceleration.
    mass = hessian(lagrangian, argnums=1)(q, speed)
    drift = jacfwd(grad(lagrangian, argnums=1))(q, speed) @ speed
    acceleration = np.linalg.solve(mass, grad(lagrangian)(q, speed) - drift)
    r, r_speed, angle_speed = q[0], *speed
    return acceleration, np.array([r * angle_speed**2 - r**-2, -2 * r_speed * angle_speed / r])


# --------------------------------------------------------------------------- maps and their pulls


def spherical(p):
    """From (r, theta, phi) to (x, y, z)."""
    r, theta, phi = p
    rho = r * np.sin(theta)
    return np.stack([rho * np.cos(phi), rho * np.sin(phi), r * np.cos(theta)])


@check("Spherical coordinates", "det J = r^2 sin(theta), both modes")
def volume() -> Pair:
    p = np.array([2.0, 0.6, -1.1])
    found = [np.linalg.det(jacobian(spherical)(p)) for jacobian in (jacfwd, jacrev)]
    return np.array(found), np.full(2, 4 * np.sin(0.6))


@check("Spherical coordinates", "pulled-back gradient of x^2 + y^2 + z^2")
def pullback() -> Pair:
    point, pull = vjp(spherical, np.array([2.0, 0.6, -1.1]))
    _, outer = value_and_grad(lambda x: np.sum(x * x))(point)
    (inner,) = pull(outer)
    return inner, np.array([4.0, 0.0, 0.0])


def main() -> None:
    print(f"{'function':28}{'derivative':42}{'error':>8}")
    print("-" * 78)
    failed = []
    for function, quantity, run in CHECKS:
        found, formula = run()
        assert np.shape(found) == np.shape(formula), (function, np.shape(found), np.shape(formula))
        error = np.max(np.abs(found - formula)) / max(1.0, np.max(np.abs(formula)))
        print(f"{function:28}{quantity:42}{error:8.0e}")
        if not error <= TOLERANCE:  # a NaN fails, too
            failed.append(f"{function}: {quantity}")
    assert not failed, f"off by more than {TOLERANCE:.0e}: {'; '.join(failed)}"
    print(f"\nAll {len(CHECKS)} agree within {TOLERANCE:.0e}, relative to the largest entry.")


if __name__ == "__main__":
    main()
