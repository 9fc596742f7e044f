"""What is differentiated: each function once, as ``objective(np, x, ...)``, and its derivative by hand.

A library is given its own `np`. The derivatives by hand are the limit for a library that calls NumPy:
they compute what is needed, keep what is needed, and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Work:
    """One function at one size.

    Attributes:
        name, size: how the tables call it.
        kind: "gradient", "product" (of the Hessian with a vector), "hessian", "training" (a gradient
            and a step along it), "gradients" (of each row of `x`) or "samples" (of each row of two more
            inputs, with respect to the parameters that they share).
        objective: ``objective(np, x, *constants)``, a scalar.
        hand: the same derivative by hand; a product's takes the vector behind `x`.
        inputs: makes ``(x, *constants)``; a product's vector, and the samples, are behind `x`.
        count: operations or reads, where the time of one is of interest.
        quick: whether a quick run includes it.
    """

    name: str
    size: str
    kind: str
    objective: Callable[..., Any]
    hand: Callable[..., Any]
    inputs: Callable[[], tuple]
    count: int = 0
    quick: bool = True


# ---- many small operations -------------------------------------------------------------------


def chain(np, x, a, count):
    y = x
    for _ in range(count // 4):
        y = np.tanh(np.sin(y) * a + x)
    return np.sum(y)


def chain_gradient(x, a, count):
    states = [x]
    for _ in range(count // 4):
        states.append(np.tanh(np.sin(states[-1]) * a + x))
    total = np.zeros_like(x)
    g = np.ones_like(x)
    while len(states) > 1:
        y = states.pop()
        g = g * (1.0 - y * y)
        total += g
        g = g * a * np.cos(states[-1])
    return total + g


def chain_product(x, v, a, count):
    states = [(x, v)]
    for _ in range(count // 4):
        y, dy = states[-1]
        t = np.tanh(np.sin(y) * a + x)
        states.append((t, (1.0 - t * t) * (np.cos(y) * dy * a + v)))
    total = np.zeros_like(x)
    g, dg = np.ones_like(x), np.zeros_like(x)
    while len(states) > 1:
        t, dt = states.pop()
        y, dy = states[-1]
        s = 1.0 - t * t
        dg = dg * s - 2.0 * g * t * dt
        g = g * s
        total += dg
        c = a * np.cos(y)
        dg = dg * c - g * a * np.sin(y) * dy
        g = g * c
    return total + dg


def chain_inputs(count, product=False):
    x, v, a = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, -1.0, 0.5, 2.0]), np.array([0.9, 1.0, 1.1, 0.8])
    return (x, v, a, count) if product else (x, a, count)


def scalar(np, x):
    y = np.sin(x) * x
    z = np.exp(-y) + y
    w = np.tanh(z) * z
    return np.sqrt(w * w + 1.0)


def scalar_gradient(x):
    s = np.sin(x)
    y = s * x
    e = np.exp(-y)
    z = e + y
    t = np.tanh(z)
    w = t * z
    gw = w / np.sqrt(w * w + 1.0)
    gz = gw * (t + z * (1.0 - t * t))
    return gz * (1.0 - e) * (s + x * np.cos(x))


def reading(np, x, count):
    total, before = 0.0, x[0]
    for i in range(1, count):
        now = x[i]
        total = total + now * before
        before = now
    return total


def reading_gradient(x, count):
    total, values = 0.0, [x[0]]
    for i in range(1, count):
        values.append(x[i])
        total = total + values[i] * values[i - 1]
    g = np.zeros_like(x)
    for i in range(count - 1, 0, -1):
        g[i] += values[i - 1]
        g[i - 1] += values[i]
    return g


def reading_inputs(count):
    return np.linspace(0.0, 1.0, count), count


def stencil(np, x, steps):
    u = x * 1.0
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def stencil_gradient(x, steps):
    u = x.copy()
    for _ in range(steps):
        u[1:-1] += 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    g = 2.0 * u
    for _ in range(steps):
        inner = 0.2 * g[1:-1]
        g[1:-1] -= 2.0 * inner
        g[2:] += inner
        g[:-2] += inner
    return g


def stencil_inputs(n, steps=50):
    return np.sin(np.arange(n)), steps


def slope(q, v, mu):
    """Van der Pol's oscillator, several at once."""
    return v, mu * (1.0 - q * q) * v - q


def orbit(np, mu, steps, h=0.02):
    """The energy of oscillators after some steps of the classical Runge-Kutta method."""
    q, v = 0.5 * mu, 0.1 * mu
    for _ in range(steps):
        q1, v1 = slope(q, v, mu)
        q2, v2 = slope(q + h / 2 * q1, v + h / 2 * v1, mu)
        q3, v3 = slope(q + h / 2 * q2, v + h / 2 * v2, mu)
        q4, v4 = slope(q + h * q3, v + h * v3, mu)
        q = q + h / 6 * (q1 + 2.0 * (q2 + q3) + q4)
        v = v + h / 6 * (v1 + 2.0 * (v2 + v3) + v4)
    return np.sum(q * q + v * v)


def orbit_gradient(mu, steps, h=0.02):
    q, v = 0.5 * mu, 0.1 * mu
    states = []
    for _ in range(steps):
        q1, v1 = slope(q, v, mu)
        a, b = q + h / 2 * q1, v + h / 2 * v1
        q2, v2 = slope(a, b, mu)
        c, d = q + h / 2 * q2, v + h / 2 * v2
        q3, v3 = slope(c, d, mu)
        e, f = q + h * q3, v + h * v3
        q4, v4 = slope(e, f, mu)
        states.append((q, v, a, b, c, d, e, f))
        q = q + h / 6 * (q1 + 2.0 * (q2 + q3) + q4)
        v = v + h / 6 * (v1 + 2.0 * (v2 + v3) + v4)

    total = np.zeros_like(mu)

    def back(q, v, gq, gv):
        nonlocal total
        u = 1.0 - q * q
        total += gv * u * v
        return -gv * (2.0 * mu * q * v + 1.0), gq + gv * mu * u

    gq, gv = 2.0 * q, 2.0 * v
    for q, v, a, b, c, d, e, f in reversed(states):
        q4, v4 = back(e, f, h / 6 * gq, h / 6 * gv)
        q3, v3 = back(c, d, h / 3 * gq + h * q4, h / 3 * gv + h * v4)
        q2, v2 = back(a, b, h / 3 * gq + h / 2 * q3, h / 3 * gv + h / 2 * v3)
        q1, v1 = back(q, v, h / 6 * gq + h / 2 * q2, h / 6 * gv + h / 2 * v2)
        gq = gq + q1 + q2 + q3 + q4
        gv = gv + v1 + v2 + v3 + v4
    return total + 0.5 * gq + 0.1 * gv


def orbit_inputs(steps):
    return np.array([0.5, 1.0, 1.5]), steps


# ---- large arrays ----------------------------------------------------------------------------


def elementwise(np, x):
    return np.sum(x * np.exp(-x * x) + np.sin(x) * np.tanh(x))


def elementwise_gradient(x):
    e, t = np.exp(-x * x), np.tanh(x)
    return e * (1.0 - 2.0 * x * x) + np.cos(x) * t + np.sin(x) * (1.0 - t * t)


def elementwise_inputs(n=1_000_000):
    return (np.linspace(-2.0, 2.0, n),)


def network(np, params, images, labels):
    """The mean cross-entropy of a network with two hidden layers."""
    w1, b1, w2, b2, w3, b3 = params
    h = np.tanh(images @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    z = h @ w3 + b3
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(z * labels, axis=1))


def network_step(params, images, labels):
    w1, b1, w2, b2, w3, b3 = params
    h1 = np.tanh(images @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    e = np.exp(h2 @ w3 + b3)
    g3 = (e / np.sum(e, axis=1, keepdims=True) - labels) / len(images)
    g2 = (g3 @ w3.T) * (1.0 - h2 * h2)
    g1 = (g2 @ w2.T) * (1.0 - h1 * h1)
    gradient = [images.T @ g1, g1.sum(axis=0), h1.T @ g2, g2.sum(axis=0), h2.T @ g3, g3.sum(axis=0)]
    return [w - 0.01 * g for w, g in zip(params, gradient)]


def network_inputs(batch, dtype):
    rng = np.random.default_rng(0)
    sizes = [784, 128, 64, 10]
    params = []
    for n, m in zip(sizes, sizes[1:]):
        params += [rng.normal(0, n**-0.5, (n, m)).astype(dtype), np.zeros(m, dtype)]
    images = rng.uniform(size=(batch, 784)).astype(dtype)
    return params, images, np.eye(10, dtype=dtype)[rng.integers(10, size=batch)]


def logistic(np, w, data, signs):
    return np.mean(np.log1p(np.exp(-signs * (data @ w)))) + 0.005 * np.sum(w * w)


def logistic_product(w, v, data, signs):
    p = 1.0 / (1.0 + np.exp(-signs * (data @ w)))
    return data.T @ (p * (1.0 - p) * (data @ v)) / len(data) + 0.01 * v


def logistic_inputs(n=100_000, d=50):
    rng = np.random.default_rng(0)
    return rng.normal(size=d), rng.normal(size=d), rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)


def dense(np, x, a):
    r = np.sum(x * x)
    return np.sum(np.log1p(np.exp(a @ x))) + 0.25 * r * r


def dense_hessian(x, a):
    p = 1.0 / (1.0 + np.exp(-(a @ x)))
    return (a.T * (p * (1.0 - p))) @ a + 2.0 * np.outer(x, x) + np.sum(x * x) * np.eye(len(x))


def dense_inputs(n=200):
    rng = np.random.default_rng(0)
    return rng.normal(size=n) / n, rng.normal(size=(n, n)) / n


def layers(np, x, count):
    """A deep chain, which must keep one array for each layer."""
    y = x
    for _ in range(count):
        y = np.tanh(1.1 * y + x)
    return np.sum(y)


def layers_gradient(x, count):
    states, y = [], x
    for _ in range(count):
        y = np.tanh(1.1 * y + x)
        states.append(y)
    total, g = np.zeros_like(x), np.ones_like(x)
    while states:
        y = states.pop()
        g = g * (1.0 - y * y)
        total += g
        g = 1.1 * g
    return total + g


# ---- batches ---------------------------------------------------------------------------------


def rosenbrock(np, x):
    return np.sum(100.0 * (x[1:] - x[:-1] * x[:-1]) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_gradients(x):
    """Of all rows at once."""
    r = x[:, 1:] - x[:, :-1] * x[:, :-1]
    g = np.zeros_like(x)
    g[:, 1:] = 200.0 * r
    g[:, :-1] -= 400.0 * r * x[:, :-1] + 2.0 * (1.0 - x[:, :-1])
    return g


def rosenbrock_inputs(count):
    return (np.random.default_rng(0).normal(size=(count, 10)),)


def sample(np, params, image, label):
    """The cross-entropy of one image, by a network with one hidden layer."""
    w1, b1, w2, b2 = params
    z = np.tanh(image @ w1 + b1) @ w2 + b2
    return np.log(np.sum(np.exp(z))) - np.sum(z * label)


def sample_gradients(params, images, labels):
    w1, b1, w2, b2 = params
    h = np.tanh(images @ w1 + b1)
    e = np.exp(h @ w2 + b2)
    g2 = e / np.sum(e, axis=1, keepdims=True) - labels
    g1 = (g2 @ w2.T) * (1.0 - h * h)
    return [images[:, :, None] * g1[:, None, :], g1, h[:, :, None] * g2[:, None, :], g2]


def sample_inputs(batch):
    rng = np.random.default_rng(0)
    params = [rng.normal(0, 0.125, (64, 256)), np.zeros(256), rng.normal(0, 0.06, (256, 10)), np.zeros(10)]
    return params, rng.uniform(size=(batch, 64)), np.eye(10)[rng.integers(10, size=batch)]


WORKS = [
    *[Work("chain", f"k={k:,}", "gradient", chain, chain_gradient, partial(chain_inputs, k), k, k <= 10_000)
      for k in (100, 10_000, 100_000, 1_000_000)],
    Work("scalar", "0-d array", "gradient", scalar, scalar_gradient, lambda: (np.array(0.7),)),
    Work("scalar", "Python float", "gradient", scalar, scalar_gradient, lambda: (0.7,)),
    *[Work("chain HVP", f"k={k:,}", "product", chain, chain_product, partial(chain_inputs, k, True), k,
           k < 1_000)
      for k in (100, 10_000)],
    *[Work("reading x[i]", f"n={n:,}", "gradient", reading, reading_gradient, partial(reading_inputs, n), n)
      for n in (1_000, 10_000)],
    *[Work("stencil", f"n={n:,}", "gradient", stencil, stencil_gradient, partial(stencil_inputs, n))
      for n in (100, 10_000)],
    *[Work("orbit", f"{n:,} steps", "gradient", orbit, orbit_gradient, partial(orbit_inputs, n), 0, n < 100)
      for n in (50, 1_000)],
    Work("elementwise", "n=1,000,000", "gradient", elementwise, elementwise_gradient, elementwise_inputs),
    *[Work("network", f"{n} images, {t}", "training", network, network_step, partial(network_inputs, n, t), 0,
           n < 100)
      for n in (64, 256) for t in ("float32", "float64")],
    Work("logistic HVP", "100,000 x 50", "product", logistic, logistic_product, logistic_inputs),
    Work("Hessian", "n=200", "hessian", dense, dense_hessian, dense_inputs),
    Work("gradients", "1,000 x 10", "gradients", rosenbrock, rosenbrock_gradients,
         partial(rosenbrock_inputs, 1_000)),
    *[Work("sample gradients", f"{n} images", "samples", sample, sample_gradients,
           partial(sample_inputs, n), 0, n < 100)
      for n in (32, 256)],
]  # fmt: skip
