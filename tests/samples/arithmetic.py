"""Sums, products, quotients, powers, complex parts."""

import numpy as np

from samples.table import Sample

x = np.array([0.4, -1.3, 2.1])
a = np.array([[0.7, -1.2, 2.3], [1.9, 0.4, -0.8]])
b = np.array([1.6, -0.9, 0.5])
positive = np.array([0.4, 1.3, 2.1])
s = np.array(0.8)
empty = np.zeros((0, 3))
ALL = ("f4", "f8", "c16")

SAMPLES = [
    *[
        Sample(f"{name}-{shape}", f, args, dtypes=ALL)
        for name, f in {
            "add": lambda a, b: a + b,
            "subtract": lambda a, b: a - b,
            "multiply": lambda a, b: a * b,
            "divide": lambda a, b: a / b,
        }.items()
        for shape, args in {
            "broadcast": (a, b),
            "columns": (a[:, :1], b),
            "0d": (s, np.array(1.4)),
            "0d-array": (s, a),
            "empty": (empty, b),
            "size1": (np.array([[0.3]]), b),
        }.items()
    ],
    Sample("same-operand-twice", lambda x: x * x / (x + 3.0) - x, (x,), dtypes=ALL),
    Sample("python-scalars", lambda x: 2 - 3 * x / 4 + (1 / (x + 5)), (x,), dtypes=ALL),
    Sample("negative", lambda x: -x, (x,), dtypes=ALL),
    Sample("positive", lambda x: +x * 2, (x,), dtypes=ALL),
    Sample("reciprocal", np.reciprocal, (x,), dtypes=ALL),
    Sample("square", np.square, (x,), dtypes=ALL),
    Sample("power", lambda a, b: a**b, (positive, b), dtypes=ALL),
    Sample("power-broadcast", lambda a, b: np.power(a, b), (np.abs(a), np.array(1.7))),
    Sample("power-integers", lambda a: np.power(a, np.array([3, 2, 1])), (x,)),
    Sample("scalar-power", lambda x: x**3 + x**-1 + x**0 + x**1, (x,), dtypes=ALL),
    Sample("scalar-power-half", lambda x: x**0.5 + x**1.5, (positive,), dtypes=ALL),
    Sample(
        "scalar-power-many",
        lambda x: x**-2 + np.power(x, 4) + x ** np.int64(2) + x ** np.float64(0.5),
        (positive,),
    ),
    Sample("power-of-number", lambda x: 2.0**x, (x,), dtypes=ALL),
    Sample("float_power", lambda x: np.float_power(x, 1.5), (positive,), dtypes=("f8",)),
    Sample("remainder", lambda a, b: np.remainder(a, b), (a, b)),
    Sample("fmod", lambda a, b: np.fmod(a, b), (a, b)),
    Sample("floor_divide", lambda a, b: a // b + a * b, (a, b)),
    Sample("divmod", lambda a, b: divmod(a, b)[1] * divmod(a, b)[0], (a, b)),
    Sample("modf", lambda x: np.modf(x)[0] * np.modf(x)[1], (x,)),
    Sample("frexp", lambda x: np.frexp(x)[0], (x,)),
    Sample("ldexp", lambda x: np.ldexp(x, np.array([1, -2, 3])), (x,)),
    Sample("copysign", lambda a, b: np.copysign(a, b), (a, b)),
    Sample("hypot", np.hypot, (a, b)),
    Sample("hypot-python", lambda x: np.hypot(x, 2.0) + np.hypot(1, x), (x,)),
    Sample("arctan2", np.arctan2, (a, b)),
    Sample("logaddexp", np.logaddexp, (a, b)),
    Sample("logaddexp2", np.logaddexp2, (a, b)),
    Sample("abs", np.abs, (x,), dtypes=ALL),
    Sample("fabs", np.fabs, (x,)),
    Sample("sign", lambda x: np.sign(x) * x, (x,), dtypes=ALL),
    Sample("real-imag", lambda x: np.real(x) * np.imag(x * (1 + 2j)), (x,), dtypes=("f8", "c16")),
    Sample("conj", lambda x: np.conj(x) * x * x, (x,), dtypes=ALL),
    Sample("angle", lambda x: np.angle(x * (1 + 0.5j)), (x,), dtypes=("c16",)),
    Sample("astype", lambda x: x.astype(complex) ** 2, (x,), dtypes=("f8",)),
    Sample("astype-float", lambda x: x.astype(np.float32) * x, (x,), dtypes=("f4",)),
    Sample("copy-method", lambda x: np.copy(x) * x.copy(), (x,), dtypes=ALL),
    Sample("degrees", lambda x: np.degrees(x) + np.radians(x) + np.deg2rad(x) + np.rad2deg(x), (x,)),
    Sample("matrix-of-differences", lambda x: (x[:, None] - x) ** 2, (x,), dtypes=ALL),
    Sample("outer", lambda a, b: np.multiply.outer(a, b) + np.subtract.outer(b, a).T, (x, x[::-1].copy())),
    Sample("ufunc-dtype", lambda x: np.multiply(x, x, dtype=np.float64), (x,)),
]
