"""Functions of matrices: exponential, logarithm, powers, trigonometric and hyperbolic functions, sign."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import scipy.linalg

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.kinds import general
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import refuse_argument
from funcgrad.scipy.linalg._operands import array, matrices, over_stack

#: Those that are complex where a real matrix has an eigenvalue below 0.
_BRANCHED = ("sqrtm", "logm", "fractional_matrix_power")
_SINGULAR_AT_0 = (*_BRANCHED, "signm")

# ---- the primitive -------------------------------------------------------------------------


@general
def matrix_function(a, *directions, function, power):
    """A function of matrices, differentiated along each of the directions.

    The derivative L(a, e) of any of them stands in a function of a block matrix, whether or not `a` has equal
    eigenvalues or can be diagonalised::

        f([[a, e], [0, a]]) = [[f(a), L(a, e)], [0, f(a)]]

    (N. J. Higham, Functions of Matrices, SIAM 2008, section 3.2), and so do higher ones, of blocks of blocks
    (Higham and Relton, SIAM J. Matrix Anal. Appl. 35, 2014). A derivative is symmetric in its directions, and
    its transpose is the derivative at the transposed matrix: this one function is closed under both.
    """
    f = functools.partial(_FUNCTIONS[function], power=power)
    f.singular_at_0 = function in _SINGULAR_AT_0
    out = over_stack(functools.partial(_derivative, f), itertools.repeat(2), a, *directions)
    dtype = _dtype(function, power, a.dtype)  # of blocks SciPy's may be wider
    return out.astype(dtype if out.dtype.kind != "c" else np.result_type(dtype, np.complex64), copy=False)


_FUNCTIONS = {
    name: lambda a, power, name=name: getattr(scipy.linalg, name)(a)
    for name in ("expm", "logm", "sqrtm", "sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm", "signm")
}
_FUNCTIONS["fractional_matrix_power"] = lambda a, power: scipy.linalg.fractional_matrix_power(a, power)


def _derivative(f, a, *directions):
    if not directions:
        return f(a)
    for i, e in enumerate(directions):  # a real matrix stays real: it may be on the branch cut
        if e.dtype.kind == "c" and a.dtype.kind != "c":
            before, after = directions[:i], directions[i + 1 :]
            real, imag = [_derivative(f, a, *before, part, *after) for part in (e.real, e.imag)]
            return real + 1j * imag
    if f.singular_at_0 and _is_singular(a):  # what SciPy makes of the block there is no derivative
        return np.full_like(f(a), np.nan)
    size, scale = _norm(a) or 1.0, 1.0
    block = a
    for e in directions:
        norm = _norm(e)
        if norm == 0:
            return np.zeros_like(f(a))
        scale *= norm / size  # directions as large as the matrix, so that neither drowns
        corner = np.kron(np.eye(len(block) // len(a), dtype=a.dtype), e * (size / norm).astype(a.dtype))
        block = np.block([[block, corner], [np.zeros_like(block), block]])
    with warnings.catch_warnings():  # SciPy's estimates of errors are about the whole block
        warnings.simplefilter("ignore")
        out = f(block)
    return out[: len(a), -len(a) :] * out.real.dtype.type(scale)


def _is_singular(a):
    size = np.abs(np.linalg.eigvals(a))
    return np.min(size, initial=np.inf) <= 8 * len(a) * np.finfo(size.dtype).eps * _norm(a)


def _norm(x):
    return np.max(np.sum(np.abs(x), axis=0), initial=0.0)


@matrix_function.jvp("a")
def _jvp(t, a, directions, *, function, power):
    return matrix_function(a, *directions, t, function=function, power=power)


@matrix_function.vjp("a")
def _vjp(g, a, directions, a_shape, *, function, power):
    directions = [t.mT for t in directions]
    return fit(matrix_function(a.mT, *directions, g, function=function, power=power), a_shape, None)


@matrix_function.jvp("*directions")
def _direction_jvp(t, index, a, directions, *, function, power):
    directions = (*directions[: index - 1], t, *directions[index:])
    return matrix_function(a, *directions, function=function, power=power)


@matrix_function.vjp("*directions")
def _direction_vjp(g, index, a, directions, shapes, *, function, power):
    directions = [t.mT for t in directions[: index - 1]] + [g] + [t.mT for t in directions[index:]]
    return fit(matrix_function(a.mT, *directions, function=function, power=power), shapes[index], None)


matrix_function.batching(batch_leading(matrix_function, itertools.repeat(2)))


@matrix_function.typing
def _type(a, *directions, function, power):
    if function in _BRANCHED and a.dtype.kind != "c":
        reading = f"scipy.linalg.{function}, which is complex if a real matrix has negative eigenvalues,"
        raise errors.UnknownValueError(reading, "make_jaxpr", describe(*caller(2)))
    shape = np.broadcast_shapes(a.shape, *[t.shape for t in directions])
    dtype = _dtype(function, power, a.dtype)
    return ShapeDtypeStruct(shape, np.result_type(dtype, *[t.dtype for t in directions]))


@functools.cache
def _dtype(function, power, dtype):
    return _FUNCTIONS[function](np.eye(2, dtype=dtype), power).dtype


# ---- SciPy's functions ---------------------------------------------------------------------


def _declare(name):
    def implementation(A):
        return matrix_function(matrices(A), function=name, power=None)

    implementation.__name__ = name
    implements(getattr(scipy.linalg, name))(implementation)


for _name in ("sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm"):
    _declare(_name)


@implements(scipy.linalg.expm)
def expm(A):
    A = array(A)
    return matrix_function(np.reshape(A, (1, 1)) if A.ndim < 2 else matrices(A), function="expm", power=None)


def _without_disp(name):
    """Those whose `disp`, that SciPy deprecates, asks for an estimate of the error."""

    def implementation(A, disp=True, **options):
        if disp is False:
            refuse_argument(f"scipy.linalg.{name}", "disp=False", "Leave disp out.")
        if set(options) - {"blocksize"}:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
        return matrix_function(matrices(A), function=name, power=None)

    implementation.__name__ = name
    implements(getattr(scipy.linalg, name))(implementation)


for _name in ("logm", "sqrtm", "signm"):
    _without_disp(_name)


@implements(scipy.linalg.fractional_matrix_power)
def fractional_matrix_power(A, t):
    A = matrices(A)
    if isinstance(t, Tracer) or np.ndim(t):
        refuse_argument(
            "scipy.linalg.fractional_matrix_power",
            "a power t that is traced or an array",
            "Write expm(t * logm(A)), which is the same power; its derivative is known.",
        )
    if float(t).is_integer():
        return np.linalg.matrix_power(A, int(t))
    return matrix_function(A, function="fractional_matrix_power", power=float(t))


@implements(scipy.linalg.expm_frechet)
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}")
    A, E = matrices(A, check_finite), matrices(E, check_finite)
    if A.shape[-2:] != E.shape[-2:]:
        raise ValueError("expected A and E to be the same shape")
    A, E = [x.astype(np.result_type(x.dtype, np.float64)) for x in (A, E)]  # as SciPy computes it
    derivative = matrix_function(A, E, function="expm", power=None)
    return (matrix_function(A, function="expm", power=None), derivative) if compute_expm else derivative
