"""Handwritten digits, read twice: by a small neural network, and by a convex model solved exactly.

1. A two-layer network, trained on minibatches with Adam. The parameters are a plain list of
   dictionaries; ``funcgrad.value_and_grad`` returns gradients of the same shape, and
   ``funcgrad.tree.map`` walks the two together.
2. Multinomial logistic regression by Newton's method. The Hessian is never formed: conjugate
   gradients ask only for its product with a vector, which is ``funcgrad.hvp``. The optimum is
   unique, so it is compared with scikit-learn's, digit by digit.

The data are the 1,797 scanned digits that ship with scikit-learn. Run it with

    python examples/digits.py
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from tqdm import trange

import funcgrad as fg

Tree = dict | list | np.ndarray  # parameters, and whatever has their structure


class Digits(NamedTuple):
    images: np.ndarray  # (n, 64), grey values from 0 to 1
    labels: np.ndarray  # (n,), 0 to 9


def load(rng: np.random.Generator, held_out: int = 360) -> tuple[Digits, Digits]:
    """The digits in random order, cut into a part to train on and a part held out."""
    raw = load_digits()
    order = rng.permutation(len(raw.target))
    parts = order[held_out:], order[:held_out]
    train, test = (Digits(raw.data[part] / 16, raw.target[part]) for part in parts)
    return train, test


# ------------------------------------------------------------------------------ shared by both


def read(params: Tree, images: np.ndarray) -> np.ndarray:
    """The logits. Without hidden layers the network is logistic regression."""
    *hidden, last = params
    x = images
    for layer in hidden:
        x = np.maximum(x @ layer["w"] + layer["b"], 0)
    return x @ last["w"] + last["b"]


def misfit(params: Tree, data: Digits) -> np.ndarray:
    """The cross-entropy: the mean of -log p(label), where p is the softmax of the logits."""
    logits = read(params, data.images)
    # A shift keeps exp in range. Softmax ignores it, so its derivative need not be followed.
    logits = logits - np.max(fg.stop_gradient(logits), axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(logits), axis=1))
    return np.mean(log_total - logits[np.arange(len(data.labels)), data.labels])


# --------------------------------------------------------------------- 1. a network, with Adam


def network(rng: np.random.Generator, sizes: list[int]) -> Tree:
    """Layers of the given sizes, scaled so that a signal neither grows nor fades on its way."""
    return [
        {"w": rng.normal(size=(n, m)) * np.sqrt(2 / n), "b": np.zeros(m)}
        for n, m in zip(sizes[:-1], sizes[1:], strict=True)
    ]


class Moments(NamedTuple):
    step: int
    mean: Tree  # the running mean of the gradient
    square: Tree  # and of its square


def adam(params: Tree, gradient: Tree, state: Moments, rate: float) -> tuple[Tree, Moments]:
    """One step of Adam (Kingma and Ba, 2015)."""
    step = state.step + 1
    mean = fg.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mean, gradient)
    square = fg.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, state.square, gradient)
    # Both averages start at zero; dividing by these weights undoes that bias.
    seen_mean, seen_square = 1 - 0.9**step, 1 - 0.999**step

    def move(p, m, s):
        return p - rate * (m / seen_mean) / (np.sqrt(s / seen_square) + 1e-8)

    return fg.tree.map(move, params, mean, square), Moments(step, mean, square)


def minibatches(data: Digits, size: int, rng: np.random.Generator) -> Iterator[Digits]:
    """All the data once, shuffled, under fresh noise: no pixel is worth learning by heart."""
    order = rng.permutation(len(data.labels))
    noisy = data.images + rng.normal(scale=0.2, size=data.images.shape)
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        yield Digits(noisy[chosen], data.labels[chosen])


def train_network(train: Digits, test: Digits, epochs: int, rng: np.random.Generator):
    """The trained network, and its loss on both parts of the data after each epoch."""
    params = network(rng, [64, 256, 10])
    zeros = fg.tree.map(np.zeros_like, params)
    state = Moments(0, zeros, zeros)
    value_and_gradient = fg.value_and_grad(misfit)
    history = []
    for epoch in (bar := trange(epochs, desc="Adam", unit="epoch")):
        rate = 2e-3 * (1 + np.cos(np.pi * epoch / epochs)) / 2
        losses = []
        for batch in minibatches(train, 64, rng):
            loss, gradient = value_and_gradient(params, batch)
            params, state = adam(params, gradient, state, rate)
            losses.append(loss)
        history.append((np.mean(losses), misfit(params, test)))
        bar.set_postfix(loss=f"{history[-1][0]:.4f}", held_out=f"{history[-1][1]:.4f}")
    return params, np.array(history)


# --------------------------------------------------- 2. logistic regression, by Newton's method


def dot(a: Tree, b: Tree) -> float:
    return sum(np.vdot(x, y) for x, y in zip(fg.tree.leaves(a), fg.tree.leaves(b), strict=True))


def along(a: Tree, t: float, b: Tree) -> Tree:
    """a + t b"""
    return fg.tree.map(lambda x, y: x + t * y, a, b)


def conjugate_gradients(product: Callable[[Tree], Tree], target: Tree, tolerance: float) -> Tree:
    """Solves product(x) = target for a symmetric product, to a residual of the given norm."""
    x = fg.tree.map(np.zeros_like, target)
    residual = direction = target
    size = dot(residual, residual)
    while size > tolerance**2:
        image = product(direction)
        t = size / dot(direction, image)
        x, residual = along(x, t, direction), along(residual, -t, image)
        size, previous = dot(residual, residual), size
        direction = along(residual, size / previous, direction)
    return x


def newton_cg(loss: Callable[[Tree], np.ndarray], x: Tree, tolerance: float = 1e-12):
    """Minimises a convex loss; also returns the norm of the gradient at each step."""
    value_and_gradient, product = fg.value_and_grad(loss), fg.hvp(loss)
    norms = []
    for _ in range(100):
        value, gradient = value_and_gradient(x)
        norms.append(np.sqrt(dot(gradient, gradient)))
        if norms[-1] <= tolerance:
            return x, norms
        # Far away a rough direction will do; the closer, the more digits of it count. This
        # forcing term makes the method converge faster than linearly (Dembo et al., 1982).
        rough = min(0.5, np.sqrt(norms[-1]))
        descent = conjugate_gradients(partial(product, x), gradient, rough * norms[-1])
        slope = dot(gradient, descent)
        t = 1.0
        # Near the optimum a step gains less than the rounding of the loss: that much is forgiven.
        while loss(along(x, -t, descent)) > value - 1e-4 * t * slope + 1e-14 * abs(value):
            t /= 2
        x = along(x, -t, descent)
    raise RuntimeError(f"no convergence: the gradient's norm is still {norms[-1]:.1e}")


def centred(params: Tree) -> Tree:
    """The same model with intercepts of mean 0: softmax leaves their common shift open."""
    return {"w": params["w"], "b": params["b"] - np.mean(params["b"])}


def fit_logistic(train: Digits, C: float = 1.0) -> tuple[Tree, list[float], float]:
    """The optimum, the gradient's norms on the way, and the distance to scikit-learn's optimum.

    scikit-learn minimises C * (sum of cross-entropies) + |w|^2 / 2, with free intercepts. Divided
    by C n that is the loss below.
    """

    def loss(params: Tree) -> np.ndarray:
        penalty = np.sum(params["w"] ** 2) / (2 * C * len(train.labels))
        return misfit([params], train) + penalty

    ours, norms = newton_cg(loss, {"w": np.zeros((64, 10)), "b": np.zeros(10)})
    peer = LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=1000)
    peer.fit(train.images, train.labels)
    theirs = {"w": peer.coef_.T, "b": peer.intercept_}

    gaps = fg.tree.map(lambda x, y: np.max(np.abs(x - y)), centred(ours), centred(theirs))
    return ours, norms, max(abs(loss(ours) - loss(theirs)), *fg.tree.leaves(gaps))


# --------------------------------------------------------------------------------- the picture


def draw(path: Path, history: np.ndarray, norms: list[float], test: Digits, guess: np.ndarray):
    figure = Figure(figsize=(10, 6), layout="constrained")
    curves, gallery = figure.subfigures(2, 1, height_ratios=[3, 2])
    left, right = curves.subplots(1, 2)
    left.semilogy(1 + np.arange(len(history)), history, label=["training, with noise", "held out"])
    left.set(title="Network with Adam", xlabel="epoch", ylabel="loss")
    left.legend()
    right.semilogy(norms, "o-")
    right.set(title="Logistic regression with Newton-CG", xlabel="step", ylabel="|gradient|")

    misread = np.flatnonzero(guess != test.labels)
    gallery.suptitle(f"The network misreads {len(misread)} of {len(guess)} held-out digits")
    for place, i in enumerate(misread[:8], start=1):
        panel = gallery.add_subplot(1, 8, place)
        panel.imshow(test.images[i].reshape(8, 8), cmap="gray_r")
        panel.set_title(f"{test.labels[i]}, read as {guess[i]}", fontsize=9)
        panel.axis("off")
    figure.savefig(path, dpi=120)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path("digits.png"), help="where to draw")
    options.add_argument("--quick", action="store_true", help="few epochs: a smoke test")
    args = options.parse_args()

    rng = np.random.default_rng(0)
    train, test = load(rng)

    start = time.perf_counter()
    params, history = train_network(train, test, 5 if args.quick else 60, rng)
    seconds = time.perf_counter() - start
    guess = np.argmax(read(params, test.images), axis=1)
    accuracy = np.mean(guess == test.labels)
    print(f"network   reads {accuracy:.2%} of {len(guess)} held-out digits; {seconds:.1f} s")

    start = time.perf_counter()
    model, norms, gap = fit_logistic(train)
    seconds = time.perf_counter() - start
    correct = np.mean(np.argmax(read([model], test.images), axis=1) == test.labels)
    print(f"logistic  reads {correct:.2%}, after {len(norms) - 1} Newton steps; {seconds:.1f} s")
    print(f"          its optimum is within {gap:.1e} of scikit-learn's")

    draw(args.out, history, norms, test, guess)
    print(f"picture   {args.out}")

    assert accuracy >= (0.90 if args.quick else 0.97), f"the network reads only {accuracy:.2%}"
    assert gap < 1e-6, f"the optimum is {gap:.1e} away from scikit-learn's"


if __name__ == "__main__":
    main()
