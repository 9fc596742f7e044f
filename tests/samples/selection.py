"""Selections, clipping, and the constant kind beside something that has a derivative."""

import numpy as np

from samples.table import Sample

x = np.array([0.4, -1.3, 2.1])
a = np.array([[0.7, -1.2, 2.3], [1.9, 0.4, -0.8]])
b = np.array([1.6, -0.9, 0.5])
mask = np.array([True, False, True])
ALL = ("f4", "f8", "c16")

SAMPLES = [
    Sample("where", lambda a, b: np.where(mask, a, b), (a, b), dtypes=ALL),
    Sample("where-scalar", lambda x: np.where(x > 0, x * x, 0.0), (x,)),
    Sample("where-0d", lambda s: np.where(True, s, 2 * s), (np.array(0.4),), dtypes=ALL),
    Sample("where-condition-wider", lambda x: np.where(mask[:, None], x, -x), (x,), dtypes=ALL),
    Sample("select", lambda x: np.select([x > 1, x > 0], [x * x, 2 * x], 3 * x), (x,)),
    Sample("maximum", np.maximum, (a, b)),
    Sample("minimum", np.minimum, (a, b)),
    Sample("fmax", np.fmax, (a, b)),
    Sample("fmin", np.fmin, (a, b)),
    Sample("clip", lambda x: np.clip(x, -1.0, 1.0), (x,)),
    Sample("clip-traced", lambda x, lo, hi: np.clip(x, lo, hi), (x, np.array(-0.5), b + 2)),
    Sample("clip-one-sided", lambda x: np.clip(x, None, 1.0) + np.clip(x, 0.5, None), (x,)),
    Sample("heaviside", lambda a, b: np.heaviside(a, b) * a, (a, b)),
    Sample("nextafter", lambda x: np.nextafter(x, np.inf), (x,), dtypes=("f8",)),
    Sample("nan_to_num", np.nan_to_num, (x,)),
    Sample(
        "rounding",
        lambda x: x * (np.floor(x) + np.ceil(x) + np.trunc(x) + np.rint(x) + np.round(x, 1) + np.fix(x)),
        (x,),
    ),
    Sample("spacing", lambda x: x * np.spacing(np.ones(3)) + x * np.spacing(x), (x,), dtypes=("f8",)),
    Sample(
        "comparisons",
        lambda a, b: (
            np.where((a > b) | (a == b), a, b) + np.where((a < b) & (a != b), a * a, b) * (a >= b) * (a <= b)
        ),
        (a, b),
    ),
    Sample(
        "tests",
        lambda x: np.where(np.isfinite(x) & ~np.isnan(x) & ~np.isinf(x) ^ np.signbit(x), x, 2 * x),
        (x,),
    ),
    Sample(
        "logic",
        lambda x: np.where(
            np.logical_and(x, np.logical_not(x < 0)),
            x,
            np.where(np.logical_or(x, x) != np.logical_xor(x, 1), x, 3 * x),
        ),
        (x,),
    ),
    Sample("isclose", lambda x: np.where(np.isclose(x, 5.0), x * x, x), (x,)),
    Sample(
        "integers",
        lambda x: (
            x
            * (
                np.left_shift(x.astype(int), 2)
                | np.right_shift(np.gcd(4, x.astype(int)), 1) ^ np.lcm(x.astype(int), 3)
            )
        ),
        (x,),
    ),
    Sample("bitwise_count", lambda x: x * np.bitwise_count(x.astype(int)), (x,)),
    Sample(
        "piecewise",
        lambda x: np.piecewise(x, [x < -0.5, x > 1], [np.square, lambda v: np.sqrt(np.abs(v)), 0.3]) * x,
        (x,),
    ),
    Sample(
        "piecewise-2d",
        lambda a: np.piecewise(a, [a < 0], [lambda v, k: np.sin(v * k), lambda v, k: v**k], 3),
        (a,),
    ),
    Sample("piecewise-0d", lambda s: np.piecewise(s, [s < 0, s > 5], [np.square, np.sin, np.exp]), (b[0],)),
    Sample("piecewise-last-wins", lambda a: np.piecewise(a, [a > 0, a > 1], [np.sin, np.exp]), (a,)),
    Sample("piecewise-constants", lambda a: np.piecewise(a, [mask, ~mask], [np.sin, 2.0]), (a[0],)),
]
