"""The functions of one basis, from its recurrence: `polyval`, `chebval`, ... are all the same but for it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._primitives import polynomials as prims
from funcgrad._primitives.polynomials import Basis
from funcgrad.numpy.arguments import numbers_of
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.polynomial.polyutils import floats, series, without_zeros
from funcgrad.numpy.polynomials import real_if_all_are, warn_of_rank, weighted_fit

# ---- values --------------------------------------------------------------------------------


def val(basis: Basis, x, c, tensor=True):
    """By Clenshaw's recurrence (Abramowitz and Stegun, Handbook of Mathematical Functions, 22.18.1)."""
    c = floats(c)
    x = asarray(x) if isinstance(x, (list, tuple)) else x
    if tensor and isinstance(x, (np.ndarray, Tracer)):
        c = np.reshape(c, c.shape + (1,) * x.ndim)
    count = c.shape[0]
    if count == 1:
        return c[0] + x * 0
    total, before = c[count - 1], None
    for k in range(count - 2, -1, -1):
        a, b, _ = basis.step(k)
        following = basis.step(k + 1)[2]
        step = total * (a * x + b if b else a * x if a != 1 else x)
        now = c[k] + step if before is None or not following else c[k] - following * before + step
        total, before = now, total
    return total


def _val_at(basis: Basis, c, *points):
    points = [asarray(x) for x in points]
    if any(x.shape != points[0].shape for x in points):
        raise ValueError("x, y, z are incompatible" if len(points) > 2 else "x, y are incompatible")
    for i, x in enumerate(points):
        c = val(basis, x, c, tensor=not i)
    return c


def val2d(basis: Basis, x, y, c):
    return _val_at(basis, c, x, y)


def val3d(basis: Basis, x, y, z, c):
    return _val_at(basis, c, x, y, z)


def grid2d(basis: Basis, x, y, c):
    return val(basis, y, val(basis, x, c))


def grid3d(basis: Basis, x, y, z, c):
    return val(basis, z, grid2d(basis, x, y, c))


def vander(basis: Basis, x, deg):
    deg = operator.index(deg)
    if deg < 0:
        raise ValueError("deg must be non-negative")
    return np.stack(prims.values(np.atleast_1d(asarray(x)) + 0.0, deg + 1, basis.name), -1)


def _vander_at(basis: Basis, degrees, *points):
    if len(degrees) != len(points):
        raise ValueError(f"Expected {len(points)} dimensions of sample points, got {len(degrees)}")
    points = np.broadcast_arrays(*[np.atleast_1d(asarray(x)) + 0.0 for x in points])
    shape = points[0].shape
    out = None
    for x, degree in zip(points, degrees):
        one = np.reshape(vander(basis, x, degree), (*shape, degree + 1))
        if out is None:
            out = one
        else:
            out = np.reshape(out[..., :, None] * one[..., None, :], (*shape, out.shape[-1] * (degree + 1)))
    return out


def vander2d(basis: Basis, x, y, deg):
    return _vander_at(basis, deg, x, y)


def vander3d(basis: Basis, x, y, z, deg):
    return _vander_at(basis, deg, x, y, z)


# ---- derivatives and integrals -------------------------------------------------------------


def _real(c: Any) -> np.dtype:
    return np.zeros((), c.dtype).real.dtype


def _applied(matrix: np.ndarray, c: Any) -> Any:
    """The product along the first axis of c; what is 0 in the matrix stays 0, be a coefficient infinite."""
    known = numbers_of(c)
    if known is None or np.all(np.isfinite(known)):
        return np.tensordot(matrix, c, 1)
    matrix = np.reshape(matrix, matrix.shape + (1,) * (c.ndim - 1))
    return np.sum(np.where(matrix == 0, np.zeros((), c.dtype), matrix * c), axis=-c.ndim)


def der(basis: Basis, c, m=1, scl=1, axis=0):
    c = floats(c)
    matrix = basis.function("der")(np.eye(c.shape[axis], dtype=_real(c)), m)
    out = np.moveaxis(_applied(matrix, np.moveaxis(c, axis, 0)), 0, axis)
    return out if isinstance(scl, int) and scl == 1 else out * scl**m


def int_(basis: Basis, c, m=1, k=(), lbnd=0, scl=1, axis=0):
    c = floats(c)
    constants = list(k) if np.iterable(k) else [k]
    basis.function("int")(np.zeros(c.shape), m, [0] * len(constants), np.zeros(np.shape(lbnd)), 1, axis)
    c = np.moveaxis(c, axis, 0)
    constants += [0] * (m - len(constants))
    for constant in constants[:m]:
        c = c * scl
        known = numbers_of(c)
        if c.shape[0] == 1 and known is not None and not np.any(known):
            c = c + constant  # NumPy's zero stays of degree 0
            continue
        matrix = basis.function("int")(np.eye(c.shape[0], dtype=_real(c)))
        c = _applied(matrix, c)
        first = c[:1] + (constant - val(basis, lbnd, c))
        c = np.concatenate([first, c[1:]])
    return np.moveaxis(c, 0, axis)


# ---- arithmetic ----------------------------------------------------------------------------


def _padded(c: Any, size: int) -> Any:
    missing = size - c.shape[0]
    return c if not missing else np.concatenate([c, np.zeros(missing, c.dtype)])


def _sum(c1: Any, c2: Any, combine: Any) -> Any:
    c1, c2 = series(c1, c2)
    size = max(c1.shape[0], c2.shape[0])
    return without_zeros(combine(_padded(c1, size), _padded(c2, size)))


def add(basis: Basis, c1, c2):
    return _sum(c1, c2, np.add)


def sub(basis: Basis, c1, c2):
    return _sum(c1, c2, np.subtract)


def mulx(basis: Basis, c):
    (c,) = series(c)
    known = numbers_of(c)
    if c.shape[0] == 1 and known is not None and not np.any(known):
        return c
    return _applied(_times_x(basis, c.shape[0], _real(c)), c)


def _times_x(basis: Basis, count: int, dtype) -> np.ndarray:
    """The matrix that multiplies a series by x: x P[k] = (P[k + 1] - b P[k] + c P[k - 1]) / a."""
    matrix = np.zeros((count + 1, count), dtype)
    for k in range(count):
        a, b, c = basis.step(k)
        matrix[k + 1, k], matrix[k, k] = 1 / a, -b / a
        if k:
            matrix[k - 1, k] = c / a
    return matrix


def mul(basis: Basis, c1, c2):
    """Clenshaw's recurrence for one series, with multiples of the other in place of numbers."""
    c1, c2 = series(c1, c2)
    if basis.name == "polynomial":
        return without_zeros(np.convolve(c1, c2))
    size = c1.shape[0] + c2.shape[0] - 1
    x = _times_x(basis, size, _real(c1))[:size]
    factor = _padded(c2, size)
    total, before = c1[c1.shape[0] - 1] * factor, None
    for k in range(c1.shape[0] - 2, -1, -1):
        a, b, _ = basis.step(k)
        now = c1[k] * factor + a * _applied(x, total) + b * total
        if before is not None:
            now = now - basis.step(k + 1)[2] * before
        total, before = now, total
    return without_zeros(total)


def div(basis: Basis, c1, c2):
    c1, c2 = series(c1, c2)
    known = numbers_of(c2)
    if known is not None and np.any(known[..., -1] == 0):
        raise ZeroDivisionError
    if c1.shape[0] < c2.shape[0]:
        return c1[:1] * 0, c1
    if c2.shape[0] == 1:
        return c1 / c2[-1], c1[:1] * 0
    quotient, rest = [], c1
    for i in range(c1.shape[0] - c2.shape[0], -1, -1):
        unit = np.zeros(i + 1, c1.dtype)
        unit[i] = 1
        multiple = mul(basis, unit, c2)
        q = rest[-1] / multiple[-1]
        rest = rest[:-1] - q * multiple[:-1]
        quotient.insert(0, q)
    return np.stack(quotient), without_zeros(rest)


def pow_(basis: Basis, c, pow, maxpower=16):
    (c,) = series(c)
    basis.function("pow")([1.0], pow, maxpower)  # NumPy's errors
    out = np.ones(1, c.dtype)
    for _ in range(int(pow)):
        out = mul(basis, out, c)
    return out


def line(basis: Basis, off, scl):
    a, b, _ = basis.step(0)
    known = numbers_of(asarray(scl))
    if known is not None and not np.any(known):
        return np.reshape(asarray(off), 1)
    off, scl = asarray(off), asarray(scl)
    return np.stack([off - scl * (b / a) if b else off + 0 * scl, scl / a])


def fromroots(basis: Basis, roots):
    if len(roots) == 0:
        return np.ones(1)
    (roots,) = series(roots, trim=False)
    lines = [line(basis, -r, 1) for r in roots]
    while len(lines) > 1:
        half, odd = divmod(len(lines), 2)
        pairs = [mul(basis, lines[i], lines[i + half]) for i in range(half)]
        lines = [mul(basis, pairs[0], lines[-1]), *pairs[1:]] if odd else pairs
    return lines[0]


# ---- roots, bases, fits --------------------------------------------------------------------


def companion(basis: Basis, c):
    """NumPy's matrix depends linearly on the other coefficients, divided by the last one."""
    (c,) = series(c)
    if c.shape[0] < 2:
        basis.function("companion")(np.ones(1))  # NumPy's error
    units = np.eye(c.shape[0] - 1, c.shape[0], dtype=_real(c))
    constant = basis.function("companion")(np.eye(1, c.shape[0], c.shape[0] - 1, dtype=_real(c))[0])
    units[:, -1] = 1
    slopes = np.stack([basis.function("companion")(unit) - constant for unit in units], -1)
    return _applied(slopes, c[:-1] / c[-1]) + constant


def roots(basis: Basis, c):
    (c,) = series(c)
    return real_if_all_are(prims.roots(c, basis=basis.name), c)


def from_polynomial(basis: Basis, pol):
    return _change(
        pol, lambda unit: getattr(np.polynomial, basis.name).__dict__[f"poly2{basis.prefix}"](unit)
    )


def to_polynomial(basis: Basis, c):
    return _change(c, basis.function("2poly"))


def _change(c: Any, change: Any) -> Any:
    """The coefficients in another basis: `change` gives those of each function of this one."""
    (c,) = series(c)
    size = c.shape[0]
    columns = [change(unit) for unit in np.eye(size, dtype=_real(c))]
    matrix = np.stack([np.pad(column, (0, size - len(column))) for column in columns], -1)
    return _applied(matrix, c)


def trim(basis: Basis, c, tol=0):
    if tol < 0:
        raise ValueError("tol must be non-negative")
    return without_zeros(series(c, trim=False)[0], tol)


def fit(basis: Basis, x, y, deg, rcond=None, full=False, w=None):
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    w = None if w is None else asarray(w) + 0.0
    plain = [np.ones(a.shape) for a in (x, y)]
    if x.ndim == 1 and x.size and x.shape == y.shape[:1] and y.ndim in (1, 2):
        plain = [np.linspace(0.0, 1.0, 2), np.ones(2)]  # of these NumPy checks no more than the degrees
    basis.function("fit")(*plain, deg, full=True, w=None if w is None else np.ones(w.shape)[: len(plain[0])])
    degrees = np.arange(int(deg) + 1) if np.ndim(deg) == 0 else np.sort(np.asarray(deg))
    columns = vander(basis, x, degrees[-1])[:, degrees]
    rcond = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    c, residuals, rank, values, _ = weighted_fit(columns, y, w, rcond, guarded=True)
    if len(degrees) <= degrees[-1]:
        place = np.zeros((degrees[-1] + 1, len(degrees)), _real(c))
        place[degrees, np.arange(len(degrees))] = 1
        c = place @ c
    if full:
        return c, [residuals, rank, values, rcond]
    warn_of_rank(rank, len(degrees), np.exceptions.RankWarning)
    return c


def valfromroots(basis: Basis, x, r, tensor=True):
    r = floats(r)
    x = asarray(x) if isinstance(x, (list, tuple)) else x
    if isinstance(x, (np.ndarray, Tracer)):
        if tensor:
            r = np.reshape(r, r.shape + (1,) * x.ndim)
        elif x.ndim >= r.ndim:
            raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(x - r, axis=0)


def interpolate(basis: Basis, func, deg, args=()):
    """The series that agrees with a function at Chebyshev's points of the first kind."""
    order = deg + 1
    values = func(basis.function("pts1")(order), *args)
    weights = np.full(order, 2.0 / order)
    weights[0] = 1.0 / order
    return weights * (basis.function("vander")(basis.function("pts1")(order), deg).T @ asarray(values))


#: The weights under which the functions of a basis are orthogonal, in NumPy's normalisation.
WEIGHTS = {
    "chebyshev": lambda x: 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x)),
    "legendre": lambda x: x * 0.0 + 1.0,
    "hermite": lambda x: np.exp(-(x**2)),
    "hermite_e": lambda x: np.exp(-0.5 * x**2),
    "laguerre": lambda x: np.exp(-x),
}


def weight(basis: Basis, x):
    return WEIGHTS[basis.name](asarray(x))


#: The names that NumPy gives after the basis' prefix, and what carries them out.
FUNCTIONS = {
    "val": val, "val2d": val2d, "val3d": val3d, "grid2d": grid2d, "grid3d": grid3d, "vander": vander,
    "vander2d": vander2d, "vander3d": vander3d, "der": der, "int": int_, "add": add, "sub": sub,
    "mulx": mulx, "mul": mul, "div": div, "pow": pow_, "line": line, "fromroots": fromroots,
    "companion": companion, "roots": roots, "2poly": to_polynomial, "trim": trim, "fit": fit,
    "valfromroots": valfromroots, "interpolate": interpolate, "weight": weight,
}  # fmt: skip
