"""The methods of ufuncs; `vectorize`; what is built in brackets."""

import numpy as np

import funcgrad.numpy as fnp
from samples.table import Sample

V = np.array([0.4, 1.2, 0.7, 2.1, 0.9])
M = np.array([[0.31, 1.22, 0.83, 1.94], [1.43, 0.52, 0.74, 0.21], [0.91, 1.13, 0.62, 1.51]])
T = np.linspace(0.2, 1.9, 24).reshape(2, 3, 4) ** 3 + 0.1
S = np.array(0.8)
MASK = np.array([[True, False, True, True], [True] * 4, [False, True, False, True]])
FOLDED = ("subtract", "divide", "power", "hypot", "arctan2", "logaddexp2", "fmod", "remainder", "copysign")
RUNNING = (*FOLDED, "fmax", "fmin", "logaddexp")
AT = (*RUNNING, "multiply", "maximum", "minimum")


def method(name, kind, *args, id="", x=M, **options):
    ufunc = getattr(np, name)
    return Sample(
        f"{name}.{kind}{id}", lambda x: getattr(ufunc, kind)(x, *args, **options) ** 2, (x,), dtypes=("f8",)
    )


METHODS = [
    *[method(name, "reduce") for name in FOLDED],
    *[method(name, "accumulate", axis=1) for name in RUNNING],
    *[method(name, "reduceat", [0, 2, 1, 3], axis=-1) for name in AT],
    method("hypot", "reduce", id="-axes", axis=(0, 2), keepdims=True, x=T),
    method("hypot", "reduce", id="-where", axis=1, where=MASK),
    method("subtract", "reduce", id="-initial", axis=1, initial=2.0, where=MASK, keepdims=True),
    method("divide", "reduce", id="-0d", x=S),
    method("subtract", "reduce", id="-no-axis", axis=()),
    method("hypot", "reduce", id="-empty", axis=1, x=np.zeros((2, 0))),
    method("subtract", "accumulate", id="-empty", axis=1, x=np.zeros((2, 0))),
    Sample("subtract.reduce-dtypes", np.subtract.reduce, (V,), dtypes=("f2", "f4", "g", "c16")),
    Sample("hypot.reduce-wider", lambda x: np.hypot.reduce(x, dtype="f8"), (V,), dtypes=("f4",)),
    Sample("subtract.outer-dtype", lambda x: np.subtract.outer(x, V, dtype="f8") ** 2, (V,)),
    Sample("logic-reduce", lambda x: x * np.logical_xor.reduce(x > 0.5, axis=1, keepdims=True), (M,)),
    Sample("logic-where", lambda x: x * np.logical_or.reduce(x > 0.5, where=MASK, initial=False), (M,)),
    method("floor_divide", "accumulate", axis=1, x=3 * M),  # the first entry is the array's own
    method("floor_divide", "reduceat", [0, 2, 1], axis=1, x=3 * M),
    Sample("logic-accumulate", lambda x: x * np.logical_and.accumulate(x > 0.5, axis=1), (M,)),
    Sample("logic-reduceat", lambda x: x * np.logical_or.reduceat(x > 1, [0, 2, 1, 3], axis=1), (M,)),
]

VECTORIZED = [
    Sample("vectorize", lambda x, y: fnp.vectorize(lambda a, b: a * np.sin(b))(x, y), (M, M[0])),
    Sample(
        "vectorize-branches",
        lambda x: fnp.vectorize(lambda a: a * a if a > 1 else 0.5)(x),
        (M,),
        dtypes=("f8",),
        batch=False,
        stage=False,
    ),
    Sample("vectorize-excluded", lambda x, p: fnp.vectorize(np.polyval, excluded=[0])(p, x), (M, V[:3])),
    Sample("vectorize-keywords", lambda x, q: fnp.vectorize(lambda a, *, b: a**b)(x, b=q), (M, M[0])),
    Sample("vectorize-two", lambda x: fnp.vectorize(lambda a: (a * a, np.sin(a)))(x), (M,)),
    Sample("vectorize-otypes", lambda x: fnp.vectorize(lambda a: a * a, otypes="d")(x), (M,), dtypes=("f8",)),
    Sample("vectorize-closure", lambda s: fnp.vectorize(lambda a: a * s)(V[:3]), (S,), dtypes=("f8",)),
    Sample("vectorize-0d", lambda s: fnp.vectorize(lambda a: a * a)(s), (S,)),
    Sample(
        "vectorize-signature",
        lambda x, y: fnp.vectorize(lambda a, b: (a @ b, a * b), signature="(n),(n)->(),(n)")(x, y),
        (T, M[0]),
    ),
    Sample(
        "vectorize-matrices",
        lambda x: fnp.vectorize(lambda a: a @ a.T, signature="(m,n)->(m,m)")(x),
        (T,),
    ),
]

BRACKETS = [
    Sample("r_", lambda x, s: fnp.r_[x, s, 0:3, [1.0, s], x[::-1]] ** 2, (V, S), dtypes=("f8", "c16")),
    Sample("r_-linspace", lambda s: fnp.r_[0:s:4j, s, -1:1:3j] ** 2, (S,)),
    Sample("r_-axes", lambda x: fnp.r_["1,2,0", x, [1.0, 2.0, 3.0, 4.0, 5.0]] ** 2, (V,), dtypes=("f8",)),
    Sample("r_-rows", lambda x: fnp.r_["0,2", x, x[0]] ** 2, (M,)),
    Sample("c_", lambda x, m: fnp.c_[m, x[:3], m * 2] ** 2, (V, M)),
    Sample("c_-sequence", lambda x: fnp.c_[x, 0.0:1.0:5j] ** 2, (V,), dtypes=("f8",)),
    Sample("mgrid", lambda s: fnp.mgrid[0:s:3j, -1:1:2j] ** 2, (S,), dtypes=("f8",)),
    Sample("mgrid-one", lambda s: fnp.mgrid[s:2:3j] ** 2, (S,), dtypes=("f8",)),
    Sample("ogrid", lambda s: np.multiply(*fnp.ogrid[0:s:3j, s:2:2j]), (S,), dtypes=("f8",)),
    Sample("fromiter", lambda s: fnp.fromiter((s**k for k in range(4)), "f8"), (S,)),
    Sample("array-nested", lambda x, s: fnp.array([[x[0], s], [1.0, x[1]]]) ** 2, (V, S), dtypes=("f8",)),
    Sample(
        "asfortranarray", lambda x: fnp.asfortranarray(x) * fnp.require(x) * fnp.asarray_chkfinite(x), (M,)
    ),
    Sample("interp-ends-traced", lambda s: fnp.interp(V, V[:2], V[:2], left=s, right=s * s), (S,)),
    Sample("nan_to_num-traced", lambda s: fnp.nan_to_num(np.array([np.nan, 1.0]), nan=s) ** 2, (S,)),
]


SAMPLES = METHODS + VECTORIZED + BRACKETS
