"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

import numpy as np

from samples.table import Sample

x = np.array([[0.3, -0.6, 0.8]])
above = np.array([0.4, 1.3, 2.1])
ALL = ("f4", "f8", "c16")
REAL = ("f4", "f8")

EVERYWHERE = {
    np.exp: ALL, np.exp2: ALL, np.expm1: ALL, np.sin: ALL, np.cos: ALL, np.tan: ALL, np.sinh: ALL,
    np.cosh: ALL, np.tanh: ALL, np.arcsin: ALL, np.arccos: ALL, np.arctan: ALL, np.arcsinh: ALL,
    np.arctanh: ALL, np.sinc: REAL, np.cbrt: REAL,
}  # fmt: skip
POSITIVE = {np.log: ALL, np.log2: ALL, np.log10: ALL, np.log1p: ALL, np.sqrt: ALL}

SAMPLES = [
    *[Sample(f.__name__, f, (x,), dtypes=dtypes) for f, dtypes in EVERYWHERE.items()],
    *[Sample(f.__name__, f, (above,), dtypes=dtypes) for f, dtypes in POSITIVE.items()],
    Sample("arccosh", np.arccosh, (1 + above,), dtypes=ALL),
    Sample("tanh-0d", np.tanh, (np.array(0.5),), dtypes=ALL),
    Sample("tanh-empty", np.tanh, (np.zeros((2, 0)),), dtypes=ALL),
    Sample("tanh-size1", np.tanh, (np.array([[[0.5]]]),), dtypes=ALL),
    Sample("tanh-far", np.tanh, (np.array([-30.0, 25.0]),)),
    Sample("sinc-far", np.sinc, (np.array([1.5, -3.2, 7.7]),)),
    Sample("sinc-at-0", np.sinc, (np.array([0.0, 1e-9]),)),
    Sample("i0", np.i0, (np.array([0.0, 0.3, -2.0, 11.0]),)),
]
