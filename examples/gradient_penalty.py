"""Keep a critic's slope at 1: a loss that holds the norm of a gradient, and is differentiated itself.

    python examples/gradient_penalty.py

The critic of a Wasserstein GAN estimates the distance between two distributions as the largest difference
of the means of a function whose slope is nowhere more than 1. The penalty (|grad f| - 1)^2 on lines between
samples sees to that (Gulrajani et al., "Improved training of Wasserstein GANs", 2017). Here the two are the
same cloud, moved: then the distance is how far, and the best critic is known: it is linear, and its slope
points along the shift.
"""

import numpy as np

from funcgrad import grad, tree, value_and_grad, vmap

rng = np.random.default_rng(0)
HIDDEN, SAMPLES, STEPS, WEIGHT = 16, 128, 600, 10.0
SHIFT = np.array([1.5, 2.0])  # of length 2.5


def critic(w, x):
    """From a point (2,) to a number."""
    h = np.tanh(w["in"] @ x + w["b1"])
    h = np.tanh(w["middle"] @ h + w["b2"])
    return w["out"] @ h


def penalty(w, points):
    slopes = vmap(grad(critic, argnums=1), in_axes=(None, 0))(w, points)
    return np.mean((np.linalg.norm(slopes, axis=1) - 1.0) ** 2)


def estimate(w, real, fake):
    values = vmap(critic, in_axes=(None, 0))
    return np.mean(values(w, fake)) - np.mean(values(w, real))


def loss(w, real, fake, between):
    return -estimate(w, real, fake) + WEIGHT * penalty(w, between)


def batch(count=SAMPLES):
    real, fake = rng.normal(size=(2, count, 2))
    fake = fake + SHIFT
    share = rng.uniform(size=(count, 1))
    return real, fake, share * real + (1.0 - share) * fake


def check(w):
    """The loss's gradient, beside differences along a random direction."""
    data, direction = batch(), tree.map(lambda p: rng.normal(size=p.shape), w)

    def along(t):
        return loss(tree.map(lambda p, d: p + t * d, w, direction), *data)

    slope, differences = grad(along)(0.0), (along(1e-5) - along(-1e-5)) / 2e-5
    print(f"slope of the loss: {slope:.6f}, by differences {differences:.6f}")
    assert abs(slope - differences) < 1e-5 * max(1.0, abs(differences))


def main():
    w = {
        "in": rng.normal(size=(HIDDEN, 2)), "b1": rng.normal(size=HIDDEN),
        "middle": rng.normal(size=(HIDDEN, HIDDEN)) / np.sqrt(HIDDEN), "b2": np.zeros(HIDDEN),
        "out": rng.normal(size=HIDDEN) / np.sqrt(HIDDEN),
    }  # fmt: skip
    check(w)
    first, second = tree.map(np.zeros_like, w), tree.map(np.zeros_like, w)
    for step in range(1, STEPS + 1):  # Adam
        _, g = value_and_grad(loss)(w, *batch())
        first = tree.map(lambda m, g: 0.5 * m + 0.5 * g, first, g)
        second = tree.map(lambda v, g: 0.9 * v + 0.1 * g**2, second, g)
        rate = 1e-2 * (1.0 - step / (STEPS + 1))
        w = tree.map(lambda p, m, v, rate=rate: p - rate * m / (np.sqrt(v) + 1e-8), w, first, second)
    real, fake, between = batch(4000)
    slopes = vmap(grad(critic, argnums=1), in_axes=(None, 0))(w, between)
    found, length = estimate(w, real, fake), np.linalg.norm(SHIFT)
    slope, along = np.mean(np.linalg.norm(slopes, axis=1)), np.mean(slopes @ SHIFT) / length
    best = 1.0 + length / (
        2.0 * WEIGHT
    )  # of linear critics: the most of slope * length - WEIGHT * (slope - 1)**2
    print(f"slope {slope:.3f}, along the shift {along:.3f}; the best under the penalty {best:.3f}")
    print(f"distance {found / slope:.3f}, in truth {length:.3f}")
    assert abs(slope - best) < 0.03 and abs(along - best) < 0.03 and abs(found / slope - length) < 0.1


if __name__ == "__main__":
    main()
