"""Fourier transforms: real and complex, odd and even lengths, truncated and padded, over several axes."""

import numpy as np

from samples.table import Sample

_rng = np.random.default_rng(7)
EVEN, ODD = _rng.normal(size=(2, 6)), _rng.normal(size=(2, 5))
CUBE = _rng.normal(size=(2, 3, 4))
REAL, ANY = ("f4", "f8"), ("f4", "f8", "c16")


def along_one_axis(name, dtypes):
    f = getattr(np.fft, name)
    yield Sample(f"{name}-even", f, (EVEN,), dtypes=dtypes)
    yield Sample(f"{name}-odd", f, (ODD,), dtypes=dtypes)
    yield Sample(f"{name}-truncated", lambda x: f(x, 4, norm="ortho"), (ODD,), dtypes=dtypes)
    yield Sample(f"{name}-padded", lambda x: f(x, 9, norm="forward"), (EVEN,), dtypes=dtypes)
    yield Sample(f"{name}-axis", lambda x: f(x * x, axis=1), (CUBE,), dtypes=dtypes)
    yield Sample(f"{name}-vector", lambda x: f(x[0]), (EVEN,), dtypes=dtypes)


def along_several(name, dtypes):
    f = getattr(np.fft, name)
    yield Sample(f"{name}", f, (CUBE,), dtypes=dtypes)
    yield Sample(f"{name}-axes", lambda x: f(x, axes=(2, 0), norm="ortho"), (CUBE,), dtypes=dtypes)
    yield Sample(f"{name}-s", lambda x: f(x, s=(4, 3), axes=(1, 2)), (CUBE,), dtypes=dtypes)


SAMPLES = [
    *along_one_axis("fft", ANY),
    *along_one_axis("ifft", ANY),
    *along_one_axis("rfft", REAL),
    *along_one_axis("irfft", ANY),
    *along_one_axis("hfft", ANY),
    *along_one_axis("ihfft", REAL),
    *along_several("fft2", ANY),
    *along_several("ifft2", ANY),
    *along_several("rfft2", REAL),
    *along_several("irfft2", ANY),
    *along_several("fftn", ANY),
    *along_several("ifftn", ANY),
    *along_several("rfftn", REAL),
    *along_several("irfftn", ANY),
    Sample("fftn-axis-twice", lambda x: np.fft.fftn(x, axes=(0, 0)), (CUBE,)),
    Sample("fftshift", lambda x: np.fft.fftshift(x * x), (CUBE,), dtypes=ANY),
    Sample("fftshift-axes", lambda x: np.fft.fftshift(x * x, axes=(0, 2)), (CUBE,)),
    Sample("ifftshift", lambda x: np.fft.ifftshift(x * x, axes=1), (CUBE,)),
    Sample("power-spectrum", lambda x: np.abs(np.fft.rfft(x)) ** 2, (ODD,)),
]
