"""Sequences between traced ends, windows, sets, `emath`, histograms of several axes."""

import numpy as np

import funcgrad.numpy as fnp
from samples.table import Sample

C = ("f4", "f8", "c16")
A, B = np.array(0.4), np.array(2.3)
V, W = np.array([0.4, 1.2, 0.7]), np.array([2.0, 3.1, 2.6])
M = np.array([[0.3, -1.2, 0.8, 1.9], [1.4, 0.5, -0.7, 0.2], [-0.9, 1.1, 0.6, -1.5]])
T = np.linspace(-1.7, 1.9, 24).reshape(2, 3, 4) ** 3 + 0.1
P = np.array([[-0.3, 0.2], [0.5, 1.4], [1.1, -0.6], [0.1, 0.9], [-0.8, 0.3]])
WEIGHTS = np.array([1.0, 0.5, 2.0, 1.5, 0.7])
VALUES = {"batch": False, "stage": False}  # what is returned depends on values
TYPES = {"stage": False}  # its dtype does
windows = np.lib.stride_tricks.sliding_window_view

SEQUENCES = [
    Sample("linspace", lambda a, b: np.linspace(a, b, 5) ** 2, (A, B), dtypes=("f2", *C)),
    Sample("linspace-open", lambda a, b: np.linspace(a, b, 4, endpoint=False) ** 2, (A, B)),
    Sample("linspace-step", lambda a, b: np.linspace(a, b, 4, retstep=True), (A, B)),
    Sample("linspace-arrays", lambda a, b: np.linspace(a, b, 4) ** 2, (V, W)),
    Sample("linspace-axis", lambda a, b: np.linspace(a, b, 4, axis=-1) ** 2, (V, W[:1])),
    Sample("linspace-one", lambda a: np.linspace(a, 2.0, 1) ** 2, (A,)),
    Sample("linspace-none", lambda a: np.linspace(a, 2.0, 0) ** 2, (A,)),
    Sample("linspace-dtype", lambda a: np.linspace(a, 2, 3, dtype="f8") ** 2, (A,)),
    Sample("linspace-integers", lambda a: a * np.linspace(a, 7.0, 4, dtype=int), (A,)),
    Sample("linspace-plain-end", lambda b: np.linspace(1, b, 4) ** 2, (B,)),
    Sample("logspace", lambda a, b: np.logspace(a, b, 4), (A, B), dtypes=C),
    Sample("logspace-base", lambda a, b, c: np.logspace(a, b, 4, base=c), (A, B, W)),
    Sample("logspace-axis", lambda a, b: np.logspace(a, b, 3, base=2.0, axis=1, dtype="f8"), (V, W)),
    Sample("geomspace", lambda a, b: np.geomspace(a, b, 4), (A, B), dtypes=("f4", "f8")),
    Sample("geomspace-negative", lambda a, b: np.geomspace(-a, -b, 5, endpoint=False), (A, B)),
    Sample("geomspace-axis", lambda a, b: np.geomspace(a, b, 4, axis=-1), (V, W)),
    Sample("geomspace-one", lambda a, b: np.geomspace(a, b, 1), (A, B)),
    Sample("geomspace-complex", lambda a, b: np.geomspace(a, b, 4), (A, B), dtypes=("c16",)),
    Sample("arange", lambda a, b: fnp.arange(a, 3.1, b * 0.2) ** 2, (A, B), **VALUES),
    Sample("arange-stop", lambda b: fnp.arange(b) * b, (B,), **VALUES),
]

WINDOWS = [
    Sample("windows", lambda x: windows(x, 2) ** 2, (V,), dtypes=C),
    Sample("windows-2d", lambda x: windows(x, (2, 3)) ** 2, (M,)),
    Sample("windows-axis", lambda x: windows(x, 3, axis=1) ** 2, (M,)),
    Sample("windows-axes", lambda x: windows(x, (2, 2), axis=(2, 0)) ** 2, (T,)),
    Sample("windows-same-axis", lambda x: windows(x, (2, 2), axis=(1, 1)) ** 2, (M,)),
    Sample("windows-mean", lambda x: np.mean(windows(x, 3, axis=-1), axis=-1) ** 2, (M,)),
]

SETS = [
    Sample("isin", lambda x, y: x * np.isin(np.rint(x), np.rint(y)), (V, W)),
    Sample("isin-constants", lambda x: x * np.isin(np.rint(x), [[1.0]], invert=True), (V,)),
    Sample("isin-members", lambda y: y * np.isin(3.0, np.rint(y)), (W,)),
    Sample("union1d", lambda x, y: np.union1d(x, y) ** 2, (M, V), **VALUES),
    Sample("setdiff1d", lambda x: np.setdiff1d(x, [0.0, 7.0]) ** 2, (V,), **VALUES),
    Sample("setdiff1d-unique", lambda x, y: np.setdiff1d(x, y, assume_unique=True) ** 2, (V, W), **VALUES),
    Sample("setxor1d", lambda x, y: np.setxor1d(x, y) ** 2, (V, W), **VALUES),
    Sample("intersect1d", lambda x: np.intersect1d(x, 2 * x / 2) ** 2, (M,), **VALUES),
    Sample("intersect1d-indices", lambda x: x[np.intersect1d(x, x, True, True)[1]] ** 2, (V,), **VALUES),
]

BITS = [
    Sample("packbits", lambda x: np.packbits(x > 0, axis=1)[:, 0] * x[:, 0], (M,)),
    Sample("packbits-flat", lambda x: np.packbits(x > 0) * x[0, :2], (M,)),
    Sample("unpackbits", lambda x: x * np.unpackbits(np.packbits(x > 0, -1), -1, count=4), (M,)),
]

EMATH = [
    Sample("emath.sqrt", lambda x: np.emath.sqrt(x), (M,), dtypes=C, **TYPES),
    Sample("emath.sqrt-real", lambda x: np.emath.sqrt(x), (V,), **TYPES),
    Sample("emath.log", lambda x: np.emath.log(x) * np.emath.log2(x) + np.emath.log10(x), (M,), **TYPES),
    Sample("emath.logn", lambda n, x: np.emath.logn(n, x), (W, V - 1.0), **TYPES),
    Sample("emath.power", lambda x, p: np.emath.power(x, p), (V - 1.0, W), **TYPES),
    Sample("emath.power-integers", lambda x: np.emath.power(x, [-1, 2, 3]), (V - 1.0,), **TYPES),
    *[
        Sample(f"emath.{name}", lambda x, f=f: f(x), (V * 1.2,), **TYPES)
        for name, f in vars(np.emath).items()
        if name in ("arcsin", "arccos", "arctanh")
    ],
    Sample("real_if_close", lambda x: np.real_if_close(x + 0j) ** 2, (V,), **TYPES),
    Sample("real_if_close-not", lambda x: np.real_if_close(x + 1j) ** 2, (V,), **TYPES),
]

HISTOGRAMS = [
    Sample("histogram2d", lambda x, w: np.histogram2d(x, x**2, 3, weights=w)[0] ** 2, (P[:, 0], WEIGHTS)),
    Sample("histogram2d-edges", lambda x: np.histogram2d(x, x**2, [2, 3])[2] ** 2, (P[:, 0],)),
    Sample(
        "histogram2d-given",
        lambda w: np.histogram2d(P[:, 0], P[:, 1], [[-1.0, 0.0, 1.1], [0.0, 0.5, 2.0]], weights=w)[0] ** 2,
        (WEIGHTS,),
    ),
    Sample("histogramdd", lambda p, w: np.histogramdd(p, (2, 3), weights=w)[0] ** 2, (P, WEIGHTS)),
    Sample("histogramdd-density", lambda p: np.histogramdd(p, 2, density=True)[0], (P,)),
    Sample("histogramdd-vector", lambda p: np.histogramdd(p, 3)[1][0] ** 2, (P[:, 0],)),
    Sample("histogramdd-range", lambda p: p * np.histogramdd(p, 2, range=[(-1, 1), (0, 1)])[0][0, 1], (P,)),
]

SAMPLES = SEQUENCES + WINDOWS + SETS + BITS + EMATH + HISTOGRAMS
