"""Learn weights from which one gradient step learns a new task: MAML on sine waves.

    python examples/meta_learning.py

A task is a sine of random amplitude and phase, seen at ten points. The outer loss is what the network does
after a gradient step on these, so its gradient goes through a gradient: second derivatives, unless they are
dropped (Finn, Abbeel and Levine, "Model-agnostic meta-learning", 2017, section 5.1). A batch of tasks is
one vmap.
"""

import numpy as np

from funcgrad import grad, tree, value_and_grad, vmap

rng = np.random.default_rng(0)
HIDDEN, POINTS, TASKS, STEPS, INNER_RATE = 32, 10, 16, 500, 0.05


def network(w, x):
    """From points (n,) to values (n,)."""
    h = np.tanh(x[:, None] * w["in"] + w["b1"])
    h = np.tanh(h @ w["middle"] + w["b2"])
    return h @ w["out"] + w["b3"]


def loss(w, x, y):
    return np.mean((network(w, x) - y) ** 2)


def adapted(w, x, y):
    """The weights after one gradient step on a task."""
    return tree.map(lambda p, g: p - INNER_RATE * g, w, grad(loss)(w, x, y))


def outer_loss(w, tasks):
    """The mean loss on unseen points of each task, after a step on its seen ones."""

    def one(x, y, x_new, y_new):
        return loss(adapted(w, x, y), x_new, y_new)

    return np.mean(vmap(one)(*tasks))


def sines(count):
    amplitude, phase = rng.uniform(0.5, 2.0, (count, 1)), rng.uniform(0.0, np.pi, (count, 1))
    x, x_new = rng.uniform(-3.0, 3.0, (2, count, POINTS))
    return x, amplitude * np.sin(x + phase), x_new, amplitude * np.sin(x_new + phase)


def adam(gradient, w, steps, rate=3e-3):
    moments = tree.map(lambda p: np.zeros((2, *np.shape(p))), w)
    for n in range(1, steps + 1):
        g = gradient(w)
        moments = tree.map(
            lambda m, g: np.stack([0.9 * m[0] + 0.1 * g, 0.999 * m[1] + 0.001 * g**2]), moments, g
        )
        w = tree.map(
            lambda p, m, n=n: p - rate * m[0] / (1 - 0.9**n) / (np.sqrt(m[1] / (1 - 0.999**n)) + 1e-8),
            w,
            moments,
        )
    return w


def check_second_derivatives(w):
    """The outer gradient along a random direction, beside differences of the outer loss."""
    tasks, direction = sines(4), tree.map(lambda p: rng.normal(size=np.shape(p)), w)

    def along(t):
        return outer_loss(tree.map(lambda p, d: p + t * d, w, direction), tasks)

    differences = (along(1e-5) - along(-1e-5)) / 2e-5
    slope = grad(along)(0.0)
    print(f"outer slope: {slope:.6f} through the gradient step, {differences:.6f} by differences")
    assert abs(slope - differences) < 1e-5 * max(1.0, abs(differences))


def main():
    w = {
        "in": rng.normal(size=HIDDEN), "b1": rng.normal(size=HIDDEN),
        "middle": rng.normal(size=(HIDDEN, HIDDEN)) / np.sqrt(HIDDEN), "b2": np.zeros(HIDDEN),
        "out": rng.normal(size=HIDDEN) / np.sqrt(HIDDEN), "b3": 0.0,
    }  # fmt: skip
    check_second_derivatives(w)
    test = sines(200)
    before = outer_loss(w, test)
    learned = adam(lambda w: value_and_grad(outer_loss)(w, sines(TASKS))[1], w, STEPS)
    after = outer_loss(learned, test)
    unadapted = np.mean(vmap(lambda x, y: loss(learned, x, y))(*test[2:]))
    print(f"loss on new points of new sines after one step: {before:.3f} before, {after:.3f} after learning")
    print(f"(without the step {unadapted:.3f}: it is the step that learns the task)")
    assert after < 0.5 * before and after < 0.6 * unadapted


if __name__ == "__main__":
    main()
