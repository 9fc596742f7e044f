"""The six bases of `numpy.polynomial`: every function of each, of traced coefficients and arguments."""

import numpy as np

from funcgrad.numpy import polynomial
from samples.table import Sample

NAMES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm", "hermite_e": "herme",
    "laguerre": "lag",
}  # fmt: skip
ALL, BOTH = ("f4", "f8", "c16"), ("f8", "c16")
VALUES = {"batch": False, "stage": False}  # what is returned depends on values

C = np.array([0.7, -1.3, 0.4, 2.1])
D = np.array([0.6, 1.1, -0.8])
C2 = np.array([[0.3, -1.2, 0.8], [1.4, 0.5, -0.7]])
C3 = np.linspace(-1.0, 1.3, 12).reshape(2, 3, 2) ** 3
X = np.array([[0.3, -0.6], [0.5, 0.9]])
Y = np.array([[0.1, 0.8], [-0.4, 0.2]])
V = np.array([0.2, 0.5, -0.3])
S = np.array(0.4)
ROOTS = np.array([0.4, -1.3, 0.9])
PLACES = np.array([-0.9, -0.5, 0.0, 0.4, 0.7, 0.95])
HEIGHTS = np.array([1.0, 0.2, -0.4, 0.3, 1.1, 2.0])
PAIRS = np.stack([HEIGHTS, HEIGHTS[::-1] ** 2], axis=1)
W = np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.2])


def of(name):
    module, prefix = getattr(polynomial, name), NAMES[name]
    wide = ALL if name in ("polynomial", "legendre") else ("f8",)

    def row(id, f, args, **options):
        return Sample(f"{name}-{id}", f, args, **{"dtypes": wide, **options})

    def call(suffix):
        return getattr(module, prefix + suffix)

    cls = next(value for value in vars(module).values() if isinstance(value, type))
    change = [] if name == "polynomial" else [
        row("2poly", lambda c: getattr(module, f"{prefix}2poly")(c) ** 2, (C,)),
        row("poly2", lambda c: getattr(module, f"poly2{prefix}")(c) ** 2, (C,)),
        row("weight", lambda x: call("weight")(x) * x, (X,), dtypes=("f8",)),
    ]  # fmt: skip
    return [
        row("val", call("val"), (X, C)),
        row("val-0d", call("val"), (S, C)),
        row("val-one", call("val"), (X, C[:1])),
        row("val-two", call("val"), (X, C[:2])),
        row("val-columns", call("val"), (V, C2), dtypes=("f8",)),
        row("val-tensor", lambda x, c: call("val")(x, c, tensor=False), (V, C2), dtypes=("f8",)),
        row("val-lists", lambda c: call("val")([0.5, 1], c), (C,), dtypes=("f8",)),
        row("val-integers", lambda x: call("val")(x, [1, 0, 2]), (X,), dtypes=("f8",)),
        row("val2d", call("val2d"), (X, Y, C2)),
        row("val3d", call("val3d"), (X, Y, X + Y, C3), dtypes=("f8",)),
        row("grid2d", call("grid2d"), (V, Y[0], C2), dtypes=("f8",)),
        row("grid3d", call("grid3d"), (V, Y[0], X[0], C3), dtypes=("f8",)),
        row("vander", lambda x: call("vander")(x, 4), (X,)),
        row("vander-0", lambda x: call("vander")(x, 0) * x[..., None], (X,)),
        row("vander2d", lambda x, y: call("vander2d")(x, y, [1, 2]), (X, Y), dtypes=("f8",)),
        row("vander3d", lambda x, y: call("vander3d")(x, y, x, [1, 0, 2]), (X, Y), dtypes=("f8",)),
        row("der", lambda c: call("der")(c) ** 2, (C,)),
        row("der-2-scl", lambda c, s: call("der")(c, 2, s) ** 2, (C, S), dtypes=("f8",)),
        row("der-axis", lambda c: call("der")(c, axis=1) ** 2, (C3,), dtypes=("f8",)),
        row("der-all", lambda c: call("der")(c, 5) + c[:1], (C,), dtypes=("f8",)),
        row("int", lambda c: call("int")(c) ** 2, (C,)),
        row("int-2", lambda c, k, s: call("int")(c, 2, k, s, s + 1) ** 2, (C, V[:2], S), dtypes=("f8",)),
        row("int-axis", lambda c: call("int")(c, k=[0.5], lbnd=-1, axis=1) ** 2, (C3,), dtypes=("f8",)),
        row("add", lambda c, d: call("add")(c, d) ** 2, (C, D)),
        row("sub", lambda c, d: call("sub")(d, c) ** 2, (C, D)),
        row("mulx", lambda c: call("mulx")(c) ** 2, (C,)),
        row("mul", call("mul"), (C, D)),
        row("mul-number", call("mul"), (C, D[:1]), dtypes=("f8",)),
        row("div", call("div"), (C, D), dtypes=("f8",), **VALUES),
        row("div-short", lambda c, d: call("div")(d, c)[1] ** 2, (C, D), dtypes=("f8",), **VALUES),
        row("div-number", lambda c, d: call("div")(c, d)[0], (C, D[:1]), dtypes=("f8",)),
        row("pow", lambda c: call("pow")(c, 3), (D,), dtypes=("f8",)),
        row("pow-0", lambda c: call("pow")(c, 0) * c, (D,), dtypes=("f8",)),
        row("line", lambda a, b: call("line")(a, b) ** 2, (S, V[1]), dtypes=("f8",)),
        row("fromroots", call("fromroots"), (ROOTS,), dtypes=BOTH),
        row("companion", lambda c: call("companion")(c) ** 2, (C,), dtypes=("f8",)),
        row("companion-line", lambda c: call("companion")(c) ** 2, (C[:2],), dtypes=("f8",)),
        row("roots", lambda c: call("roots")(c * np.array([1, 1j, 1, 1 + 0.5j])), (C,), dtypes=("f8",)),
        row("roots-real", lambda r: call("roots")(call("fromroots")(r)) ** 2, (ROOTS,), dtypes=("f8",),
            **VALUES),
        row("trim", lambda c: call("trim")(c, 0.1) ** 2, (C,), dtypes=("f8",), **VALUES),
        row("fit", lambda x, y: call("fit")(x, y, 2), (PLACES, HEIGHTS), dtypes=("f8",)),
        row("fit-weights", lambda y, w: call("fit")(PLACES, y, 1, w=w), (HEIGHTS, W), dtypes=("f8",)),
        row("fit-degrees", lambda x, y: call("fit")(x, y, [0, 3]), (PLACES, PAIRS), dtypes=("f8",)),
        row("fit-full", lambda y: call("fit")(PLACES, y, 2, full=True)[1][0], (HEIGHTS,), dtypes=("f8",)),
        row("class", lambda x, c: cls(c)(x), (X, C), dtypes=("f8",)),
        row("class-domain", lambda x, c, d: cls(c, domain=d)(x), (X, C, V[:2]), dtypes=("f8",)),
        row("class-of-values", lambda x: cls([1.0, 2.0, 3.0])(x), (X,), dtypes=("f8",)),
        row(
            "class-arithmetic",
            lambda c, d: ((cls(c) * cls(d) - cls(c) / 2.0 + d[0]).deriv() ** 2).integ(2, k=[c[0], 0.5]).coef,
            (C, D),
            dtypes=("f8",),
        ),
        row("class-roots", lambda c: cls(c, [0.0, 3.0]).roots(), (C,), dtypes=("f8",), **VALUES),
        row("class-division", lambda c, d: (cls(c) // cls(d) + cls(c) % cls(d)).coef, (C, D), dtypes=("f8",),
            **VALUES),
        row("class-fit", lambda x, y: cls.fit(x, y, 2, w=W).coef, (PLACES, HEIGHTS), dtypes=("f8",)),
        row("class-fromroots", lambda r: cls.fromroots(r).coef, (ROOTS,), dtypes=("f8",)),
        row("class-convert", lambda c: cls(c).convert(kind=polynomial.Legendre).coef, (C,), dtypes=("f8",)),
        *change,
    ]  # fmt: skip


SAMPLES = [
    *[row for name in NAMES for row in of(name)],
    Sample("polyvalfromroots", polynomial.polynomial.polyvalfromroots, (X, ROOTS), dtypes=ALL),
    Sample(
        "polyvalfromroots-tensor",
        lambda x, r: polynomial.polynomial.polyvalfromroots(x, r, tensor=False),
        (V, C2[:, :3]),
    ),
    Sample(
        "chebinterpolate",
        lambda a: polynomial.chebyshev.chebinterpolate(lambda x, p: np.sin(a * x) * p, 4, (2.0,)),
        (S,),
    ),
    Sample(
        "Chebyshev.interpolate",
        lambda a, d: polynomial.Chebyshev.interpolate(lambda x: np.sin(a * x), 5, domain=d).coef,
        (S, V[:2]),
        dtypes=("f8",),
    ),
    Sample("polyutils.getdomain", lambda x: polynomial.polyutils.getdomain(x) ** 2, (PLACES,)),
    Sample(
        "polyutils.mapdomain",
        lambda x, d: polynomial.polyutils.mapdomain(x, d, [0.0, 1.0]),
        (PLACES, V[:2]),
    ),
]
