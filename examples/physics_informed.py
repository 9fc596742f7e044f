"""Solve a differential equation by training a network on its residual: second derivatives inside a loss.

    python examples/physics_informed.py

-u'' = f on [0, 1] with u(0) = u(1) = 0, for u(x) = sin(pi x) + sin(4 pi x) / 4. A network times x (1 - x)
meets the boundary conditions; its second derivative in x, by forward mode, enters the residual; the weights
are found by Gauss and Newton's method, whose Jacobian differentiates that residual once more (Lagaris,
Likas and Fotiadis, 1998; Raissi, Perdikaris and Karniadakis, 2019). Then the unknown rate of the logistic
equation y' = r y (1 - y) is found from a few noisy values of y together with y itself.
"""

import numpy as np

from funcgrad import jvp
from funcgrad.scipy.optimize import least_squares

rng = np.random.default_rng(0)
HIDDEN = 14


def network(w, x):
    """From points (n,) to values (n,)."""
    return np.tanh(x[:, None] * w["in"] + w["b"]) @ w["out"]


def new_weights(width):
    centres = rng.uniform(0.0, 1.0, HIDDEN)
    slopes = width * rng.choice([-1.0, 1.0], HIDDEN)
    return {"in": slopes, "b": -slopes * centres, "out": 0.1 * rng.normal(size=HIDDEN)}


def derivative(f):
    """Of a function of points that acts on each by itself."""
    return lambda x: jvp(f, (x,), (np.ones_like(x),))[1]


def exact(x):
    return np.sin(np.pi * x) + 0.25 * np.sin(4 * np.pi * x)


def force(x):
    return np.pi**2 * (np.sin(np.pi * x) + 4.0 * np.sin(4 * np.pi * x))


def poisson():
    points = np.linspace(0.0, 1.0, 60)

    def solution(w):
        return lambda x: x * (1.0 - x) * network(w, x)

    def residual(w):
        return derivative(derivative(solution(w)))(points) + force(points)

    found = least_squares(residual, new_weights(8.0), max_nfev=100)
    x = np.linspace(0.0, 1.0, 1001)
    error = np.max(np.abs(solution(found.x)(x) - exact(x)))
    print(f"-u'' = f: {found.nfev} steps, largest error of u {error:.1e}")
    assert error < 1e-3


def logistic(rate=1.7):
    def truth(t):
        return 1.0 / (1.0 + 9.0 * np.exp(-rate * t))

    times, points = np.linspace(0.0, 4.0, 9), np.linspace(0.0, 4.0, 40)
    data = truth(times) + 0.002 * rng.normal(size=9)

    def residual(p):
        def y(t):
            return network(p["w"], t / 4.0) + 0.5

        equation = derivative(y)(points) - p["rate"] * y(points) * (1.0 - y(points))
        return {"data": y(times) - data, "equation": equation}

    found = least_squares(residual, {"w": new_weights(3.0), "rate": 1.0}, max_nfev=300)
    print(f"y' = r y (1 - y): r = {found.x['rate']:.3f} from nine noisy values, in truth {rate}")
    assert abs(found.x["rate"] - rate) < 0.03


if __name__ == "__main__":
    poisson()
    logistic()
