"""Polynomials by coefficients: values, roots, arithmetic, fits."""

import numpy as np

import funcgrad.numpy as fnp
from samples.table import Sample

C = ("f4", "f8", "c16")
P = np.array([1.3, -2.0, 0.5, 0.7])
Q = np.array([0.8, 1.1, -0.4])
X = np.array([[0.3, -1.2], [2.0, 0.9]])
S = np.array(0.8)
ROOTS = np.array([0.4, -1.3, 2.1])
M = np.array([[1.0, 0.3, -0.2], [0.1, 2.0, 0.4], [-0.3, 0.2, 3.5]])
TURN = np.array([[0.0, -3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
PLACES = np.array([0.1, 0.5, 0.9, 1.4, 2.0, 2.2])
HEIGHTS = np.array([1.0, 0.2, -0.4, 0.3, 1.1, 2.0])
PAIRS = np.stack([HEIGHTS, HEIGHTS[::-1] ** 2], axis=1)
W = np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.2])
PAIRED = np.array([0.3 + 1j, 0.3 - 1j, 1.0])
ONE = {"batch": False, "stage": False}  # what NumPy returns depends on the values


def fit(id, options, args=(PLACES, HEIGHTS), part=lambda out: out, **row):
    return Sample(f"polyfit-{id}", lambda x, y: part(np.polyfit(x, y, 2, **options)), args, **row)


SAMPLES = [
    Sample("polyval", np.polyval, (P, X), dtypes=C),
    Sample("polyval-0d", np.polyval, (P, S)),
    Sample("polyval-integers", lambda x: np.polyval([1, 0, -2], x) + np.polyval(x[0], [[1], [2]]), (X,)),
    Sample("polyval-none", lambda x: np.polyval([], x) + x, (X,)),
    Sample("polyval-poly1d", lambda p: np.polyval(p, np.poly1d([1.0, 2.0])).coeffs, (P,), **ONE),
    Sample("poly1d-of-values", lambda x: np.poly1d([1.0, -2.0, 0.5])(x), (X,)),
    Sample("poly1d-traced", lambda p, x: np.poly1d(p)(x), (P, X), **ONE),
    Sample(
        "poly1d-arithmetic",
        lambda p, q: ((np.poly1d(p) * np.poly1d(q) - 2.0 * np.poly1d(q)).deriv() + 1.0).integ(k=0.5).coeffs,
        (P, Q),
        **ONE,
    ),
    Sample("vander", lambda x: np.sin(np.vander(x)), (ROOTS,), dtypes=("f8", "c16")),
    Sample("vander-increasing", lambda x: np.vander(x, 5, increasing=True) ** 2, (ROOTS,), dtypes=C),
    Sample("vander-zero", lambda x: np.vander(x, 4) ** 2, (np.array([0.0, 1.0]),)),
    *[Sample(f"vander-{n}", lambda x, n=n: np.vander(x, n) * x[:, None], (ROOTS,)) for n in (0, 1)],
    Sample("poly", np.poly, (ROOTS,), dtypes=C),
    Sample("poly-matrix", np.poly, (M,), dtypes=("f8", "c16")),
    Sample("poly-pairs", lambda a: np.poly(a * PAIRED), (S,), dtypes=("f8",), **ONE),
    Sample("poly-matrix-pairs", lambda m: np.poly(m + TURN), (M,), dtypes=("f8",), **ONE),
    Sample("roots", lambda p: np.roots(p), (P,), dtypes=("f8",)),
    Sample("roots-complex", np.roots, (P,), dtypes=("f8", "c16"), order=3),
    Sample("roots-real", lambda r: np.roots(np.poly(r)) ** 2, (ROOTS,), dtypes=("f4", "f8"), **ONE),
    Sample("roots-line", lambda p: np.roots(p) ** 2, (Q[:2],), **ONE),
    Sample("roots-zero", lambda p: np.roots(p * np.array([1.0, 1.0, 1.0, 0.0])), (P,), dtypes=("f8",), **ONE),
    Sample("polyadd", lambda p, q: np.polyadd(p, q) ** 2, (P, Q), dtypes=C),
    Sample("polysub", lambda p, q: np.polysub(q, p) ** 2, (P, Q)),
    Sample("polymul", np.polymul, (P, Q), dtypes=C),
    Sample("polydiv", lambda p, q: np.polydiv(p, q), (P, Q), dtypes=("f8", "c16"), **ONE),
    Sample("polydiv-short", lambda p, q: np.polydiv(q, p)[1] ** 2, (P, Q), **ONE),
    Sample("polydiv-exact", lambda p, q: np.polydiv(np.polymul(p, q), q)[0], (P, Q), dtypes=("f8",), **ONE),
    Sample("polyder", lambda p: np.polyder(p) ** 2, (P,), dtypes=("f8", "c16")),
    Sample("polyder-2", lambda p: np.polyder(p, 2) ** 2, (P,)),
    Sample("polyint", lambda p: np.polyint(p) ** 2, (P,), dtypes=("f8", "c16")),
    Sample("polyint-2", lambda p, k: fnp.polyint(p, 2, k) ** 2, (P, Q[:2])),
    Sample("polyint-one-constant", lambda p, k: fnp.polyint(p, 2, k) ** 2, (P, S)),
    fit("plain", {}, dtypes=("f8", "c16")),
    fit("f4", {}, dtypes=("f4",)),
    fit("weights", {"w": W}),
    Sample("polyfit-traced-weights", lambda y, w: np.polyfit(PLACES, y, 1, w=w), (HEIGHTS, W)),
    fit("columns", {}, (PLACES, PAIRS)),
    fit("full", {"full": True}, part=lambda out: (out[0], out[1], out[3]), dtypes=("f8",)),
    fit("cov", {"cov": True}, dtypes=("f8",), part=tuple),
    fit("cov-unscaled", {"cov": "unscaled", "w": W}, dtypes=("f8",)),
    fit("cov-columns", {"cov": True}, (PLACES, PAIRS), dtypes=("f8",)),
    Sample("polymul-zero", lambda p, q: np.polymul(p * np.array([0.0, 1, 1, 0]), q), (P, Q), stage=False),
    fit("rcond", {"rcond": 1e-10}),
]
