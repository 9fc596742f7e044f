"""Denoising an image by total variation, minimised by Newton's method with conjugate gradients.

Source: Rudin, Osher and Fatemi, Physica D 60, 1992; smoothed as in Vogel, Computational Methods for Inverse
Problems, 2002, chapter 8. The gradient is u - y - a div(grad u / |grad u|), in discrete form; the Hessian's
products are checked by complex steps in it.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hvp

WEIGHT, SMOOTHING = 0.15, 1e-2


def loss(u, noisy):
    down, right = np.diff(u, axis=0)[:, :-1], np.diff(u, axis=1)[:-1]
    variation = np.sum(np.sqrt(down**2 + right**2 + SMOOTHING**2))
    return 0.5 * np.sum((u - noisy) ** 2) + WEIGHT * variation


def gradient_by_hand(u, noisy):
    down, right = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    size = np.sqrt(down**2 + right**2 + SMOOTHING**2)
    slope = u - noisy
    slope[1:, :-1] += WEIGHT * down / size
    slope[:-1, 1:] += WEIGHT * right / size
    slope[:-1, :-1] -= WEIGHT * (down + right) / size
    return slope


def conjugate_gradients(product, target, steps):
    """Solves a positive definite system, given products with its matrix."""
    x, rest = np.zeros_like(target), target
    direction, square = rest, np.sum(rest * rest)
    for _ in range(steps):
        turned = product(direction)
        rate = square / np.sum(direction * turned)
        x, rest = x + rate * direction, rest - rate * turned
        square, before = np.sum(rest * rest), square
        direction = rest + square / before * direction
    return x


def main():
    rng = np.random.default_rng(10)
    y, x = np.mgrid[-1:1:24j, -1:1:24j]
    true = (x**2 + y**2 < 0.5).astype(float)
    noisy = true + 0.2 * rng.normal(size=true.shape)

    u, v = noisy + 0.1 * rng.normal(size=true.shape), rng.normal(size=true.shape)
    agree("gradient: the discrete divergence", grad(loss)(u, noisy), gradient_by_hand(u, noisy))
    expected = complex_step(lambda s: gradient_by_hand(u + s * v, noisy), np.array(0.0))
    agree("Hessian times image, by a complex step", hvp(loss)(u, noisy, v), expected)

    u = noisy
    for _ in range(25):
        slope = grad(loss)(u, noisy)
        step = conjugate_gradients(lambda v: hvp(loss)(u, noisy, v), slope, 20)
        rate = 1.0
        while loss(u - rate * step, noisy) > loss(u, noisy) - 1e-4 * rate * np.sum(slope * step):
            rate = rate / 2
        u = u - rate * step
    before, after = np.std(noisy - true), np.std(u - true)
    print(f"  noise {before:.3f} -> {after:.3f}; gradient {np.max(np.abs(grad(loss)(u, noisy))):.0e}")
    assert after < 0.5 * before


if __name__ == "__main__":
    main()
