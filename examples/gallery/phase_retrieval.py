"""Phase retrieval: an image from the magnitudes of its Fourier transforms behind known masks.

Source: Candes, Li and Soltanolkotabi, Phase retrieval via Wirtinger flow, IEEE Transactions on Information
Theory 61, 2015: f(z) = mean (|F D z|^2 - y)^2 / 2, whose Wirtinger derivative is checked here. The gradient
that funcgrad gives is df/dx - i df/dy; a step downhill is along its conjugate.
"""

import numpy as np
from compare import agree

from funcgrad import grad, jvp


def loss(z, masks, intensities):
    return 0.5 * np.mean((np.abs(np.fft.fft2(masks * z)) ** 2 - intensities) ** 2)


def gradient_by_hand(z, masks, intensities):
    """Twice the derivative with respect to z at fixed conj(z)."""
    waves = np.fft.fft2(masks * z)
    weights = (np.abs(waves) ** 2 - intensities) * np.conj(waves)
    return 2 * np.sum(masks * np.fft.fft2(weights), axis=0) / weights.size


def curvature_by_hand(z, v, masks, intensities):
    """Of that gradient along v."""
    waves, moved = np.fft.fft2(masks * z), np.fft.fft2(masks * v)
    weights = (np.abs(waves) ** 2 - intensities) * np.conj(moved)
    weights = weights + 2 * np.real(np.conj(waves) * moved) * np.conj(waves)
    return 2 * np.sum(masks * np.fft.fft2(weights), axis=0) / weights.size


def main():
    rng = np.random.default_rng(4)
    true = rng.normal(size=(8, 8)) + 1j * rng.normal(size=(8, 8))
    masks = rng.choice([1, -1, 1j, -1j], size=(12, 8, 8))
    intensities = np.abs(np.fft.fft2(masks * true)) ** 2

    z = rng.normal(size=(8, 8)) + 1j * rng.normal(size=(8, 8))
    v = rng.normal(size=(8, 8)) + 1j * rng.normal(size=(8, 8))
    rest = (masks, intensities)
    agree("gradient, by Wirtinger calculus", grad(loss)(z, *rest), gradient_by_hand(z, *rest))
    found = jvp(lambda z: grad(loss)(z, *rest), (z,), (v,))[1]
    agree("Hessian times vector, by Wirtinger calculus", found, curvature_by_hand(z, v, *rest))

    for _ in range(1500):
        z = z - 0.1 / 64 * np.conj(grad(loss)(z, *rest))
    z = z * np.exp(1j * np.angle(np.vdot(z, true)))  # no intensity tells the global phase
    agree("the image is found, but for its phase", z, true, 1e-3)


if __name__ == "__main__":
    main()
