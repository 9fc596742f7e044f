"""Rows for `scipy.fft`: Fourier transforms, and cosine and sine transforms of every type and scale."""

import numpy as np

from funcgrad.scipy import fft
from samples.table import Sample

X = np.array([[0.3, -1.2, 0.8, 1.9, 0.4], [1.4, 0.5, -0.7, 0.2, -1.1]])
T = np.linspace(-1.7, 1.9, 24).reshape(2, 3, 4) ** 3 + 0.1
C = ("f4", "f8", "c16")
REAL = ("f4", "f8")


def row(name, x, dtypes=REAL, **options):
    """The squared magnitudes of a transform's entries."""
    transform = getattr(fft, name)
    id = "-".join(["scipy", name, *(f"{k}={v}" for k, v in options.items())])
    return Sample(id, lambda x: np.abs(transform(x, **options)) ** 2, (x,), dtypes=dtypes)


SAMPLES = [
    *[row(name, X, C) for name in ("fft", "ifft", "irfft", "hfft")],
    *[row(name, X) for name in ("rfft", "ihfft")],
    *[row(f"{name}{kind}", T, C) for name in ("fft", "ifft", "irfft", "hfft") for kind in "2n"],
    *[row(f"{name}{kind}", T) for name in ("rfft", "ihfft") for kind in "2n"],
    row("fft", X, n=4, axis=0, norm="ortho", workers=1),
    row("hfftn", T, s=(4, 3), norm="forward"),
    *[row(name, X, C, type=type) for name in ("dct", "dst", "idct", "idst") for type in (1, 2, 3, 4)],
    *[
        row(name, X, n=3, axis=0, type=type, norm=norm, orthogonalize=orthogonal)
        for name, type, norm, orthogonal in (
            ("dct", 1, "ortho", None), ("dct", 2, "ortho", None), ("dct", 2, "forward", True),
            ("dct", 3, "ortho", False), ("dst", 2, "ortho", False), ("dst", 3, "backward", True),
            ("idct", 2, "ortho", None), ("idst", 3, "forward", None), ("idct", 1, "backward", True),
        )
    ],
    *[row(name, T, axes=(0, 2)) for name in ("dctn", "idctn", "dstn", "idstn")],
    row("dctn", T, type=3, s=(2, 5), norm="ortho"),
]  # fmt: skip
