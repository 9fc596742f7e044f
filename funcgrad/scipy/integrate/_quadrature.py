"""Integrals of functions: `quad`, `quad_vec`, `dblquad`, `tplquad`, `fixed_quad`.

QUADPACK is code that no tracer passes. But the derivative of an integral is an integral, and two values at
the limits (Leibniz' rule): the rules below hand it another integrand, made of the user's function by the
forward or the reverse interpreter, so that every derivative has its own error control.
"""

from __future__ import annotations

import contextvars
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate

from funcgrad import errors, tree
from funcgrad._core.source import describe, stacklevel
from funcgrad._core.tracer import Trace, Tracer
from funcgrad._core.tracer import _deriving as deriving
from funcgrad._core.types import ShapeDtypeStruct, shape_of
from funcgrad._interpreters.forward import Dual, Forward
from funcgrad._interpreters.record import Record, Recorded
from funcgrad._interpreters.reverse import fit, pull_back
from funcgrad._interpreters.split import without_part
from funcgrad._primitives.kinds import general
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse_argument

#: What to write where a function that SciPy calls closes over traced values.
PASS_BY_ARGS = "Hand them over: quad(lambda x, w: ..., a, b, args=(w,)). Arguments have derivatives."

# ---- integrands ----------------------------------------------------------------------------


class Integrand:
    """The user's function of x and of the traced leaves of its other arguments.

    Attributes:
        shape: of its result, if that is known: () for `quad`.
    """

    def __init__(self, function: Callable, args: tuple, shape: tuple[int, ...] | None):
        self.function = function
        self.leaves, self.treedef = tree.flatten(args)
        self.places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, Tracer)]
        self.shape = shape

    @property
    def traced(self) -> list[Any]:
        return [self.leaves[i] for i in self.places]

    def __call__(self, x: Any, *traced: Any) -> Any:
        leaves = list(self.leaves)
        for i, value in zip(self.places, traced):
            leaves[i] = value
        return self.function(x, *tree.unflatten(self.treedef, leaves))

    def out_shape(self, types: Sequence[ShapeDtypeStruct]) -> tuple[int, ...]:
        if self.shape is None:
            return shape_of(self(0.5, *[np.ones(t.shape, t.dtype)[()] for t in types]))
        return self.shape


class Push:
    """The derivative of an integrand along a tangent, its last argument, of one of the others."""

    def __init__(self, integrand: Any, index: int):
        self.integrand, self.index = integrand, index

    def __call__(self, x: Any, *args: Any) -> Any:
        *args, tangent = args
        forward = Forward()
        args[self.index] = forward.dual(args[self.index], tangent)
        out = _run(forward, self.integrand, x, args)
        if type(out) is Dual and out._trace is forward:
            return without_part(out.tangent)
        return np.zeros(shape_of(out))

    def out_shape(self, types: Sequence[ShapeDtypeStruct]) -> tuple[int, ...]:
        return self.integrand.out_shape(types[:-1])


class Pull:
    """The cotangent of one of an integrand's arguments, given that of its result as last argument."""

    def __init__(self, integrand: Any, index: int):
        self.integrand, self.index = integrand, index

    def __call__(self, x: Any, *args: Any) -> Any:
        *args, cotangent = args
        like = args[self.index]
        record = Record()
        args[self.index] = record.input(like)
        out = _run(record, self.integrand, x, args)
        if not (type(out) is Recorded and out._trace is record):
            return np.zeros(shape_of(like))
        (share,) = pull_back(record.tape, [out.slot], [fit(cotangent, None, out.dtype)], True)
        return np.zeros(shape_of(like)) if share is None else without_part(share)

    def out_shape(self, types: Sequence[ShapeDtypeStruct]) -> tuple[int, ...]:
        return types[self.index].shape


def _run(trace: Trace, integrand: Callable, x: Any, args: Sequence[Any]) -> Any:
    """An integrand on tracers of a trace. Where it jumps the derivative of the integral is another one."""
    context = contextvars.copy_context()
    context.run(deriving.set, False)  # this is no rule, but the user's function: cuts are noted
    try:
        out = context.run(integrand, x, *args)
    finally:
        trace.close()
    if trace.cuts and not (isinstance(out, Tracer) and out._trace is trace):
        place, _ = next(iter(trace.cuts.values()))
        warnings.warn(
            f"a function in an integral was cut at {describe(*place)}, where it may jump: the derivative of "
            "the integral does not see jumps that move. Split the integral there, with traced limits.",
            errors.DependenceCutWarning,
            stacklevel=stacklevel(),
        )
    return out


class Part:
    """The real or imaginary part of an integrand."""

    def __init__(self, function: Callable, part: Callable):
        self.function, self.part = function, part

    def __call__(self, *args: Any) -> Any:
        return self.part(asarray(self.function(*args)))


# ---- solvers -------------------------------------------------------------------------------


def _refuse_closures(function: str, value: Any) -> Any:
    if isinstance(value, Tracer):
        refuse_argument(
            f"scipy.integrate.{function}", "a function that closes over traced values", PASS_BY_ARGS
        )
    return value


class Quad(NamedTuple):
    """`scipy.integrate.quad`, of arrays entry by entry."""

    options: tuple

    def __call__(self, f: Callable, a: float, b: float) -> tuple[Any, Any]:
        values: dict[float, np.ndarray] = {}  # entries are integrated one by one, often at the same places

        def entry(x, i):
            if x not in values:
                values[x] = np.asarray(_refuse_closures("quad", f(x)))
            value = values[x].reshape(-1)
            return value[i] if value.dtype.kind != "c" else (value.real, value.imag)[i % 2][i // 2]

        results = [scipy.integrate.quad(entry, a, b, args=(0,), **dict(self.options))[:2]]
        if not values:  # between equal limits SciPy asks for no value
            entry(a, 0)
        like = next(iter(values.values()))
        count = like.size * (2 if like.dtype.kind == "c" else 1)
        for i in range(1, count):
            results.append(scipy.integrate.quad(entry, a, b, args=(i,), **dict(self.options))[:2])
        value = np.array([v for v, _ in results[:count]])
        if like.dtype.kind == "c":
            value = value[::2] + 1j * value[1::2]
        return value.reshape(like.shape)[()], np.float64(max(e for _, e in results))


class QuadVec(NamedTuple):
    """`scipy.integrate.quad_vec`."""

    options: tuple

    def __call__(self, f: Callable, a: float, b: float) -> tuple[Any, Any]:
        def checked(x):
            return np.asarray(_refuse_closures("quad_vec", f(x)))

        value, error = scipy.integrate.quad_vec(checked, a, b, **dict(self.options))[:2]
        return np.asarray(value)[()], np.float64(error)


# ---- the primitive -------------------------------------------------------------------------


@general(multiple=True)
def integral(a, b, *args, integrand, solver):
    """The integral from a to b, and the estimate of its error, which has no derivative."""
    return solver(lambda x: integrand(x, *args), float(a), float(b))


@integral.jvp("a")
def _jvp_a(t, a, args, *, integrand, solver):
    return -(integrand(a, *args) * t), None


@integral.vjp("a")
def _vjp_a(g, a, args, *, integrand, solver):
    return -np.sum(g[0] * integrand(a, *args)) if 0 in g else None


@integral.jvp("b")
def _jvp_b(t, b, args, *, integrand, solver):
    return integrand(b, *args) * t, None


@integral.vjp("b")
def _vjp_b(g, b, args, *, integrand, solver):
    return np.sum(g[0] * integrand(b, *args)) if 0 in g else None


@integral.jvp("*args")
def _jvp_args(t, index, a, b, args, *, integrand, solver):
    return integral(a, b, *args, t, integrand=Push(integrand, index - 2), solver=solver)[0], None


@integral.vjp("*args")
def _vjp_args(g, index, a, b, args, *, integrand, solver):
    if 0 not in g:
        return None
    return integral(a, b, *args, g[0], integrand=Pull(integrand, index - 2), solver=solver)[0]


@integral.batching
def _batch(values, batched, *, integrand, solver):
    size = next(shape_of(v)[0] for v, b in zip(values, batched) if b)
    members = [[v[i] if b else v for v, b in zip(values, batched)] for i in range(size)]
    results = [integral(*member, integrand=integrand, solver=solver) for member in members]
    return tuple([np.stack(part) for part in zip(*results)])


@integral.typing
def _type(a, b, *args, integrand, solver):
    return ShapeDtypeStruct(integrand.out_shape(args), np.float64), ShapeDtypeStruct((), np.float64)


# ---- SciPy's functions ---------------------------------------------------------------------


@implements(scipy.integrate.quad)
def quad(func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None,
         weight=None, wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False):  # fmt: skip
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points, "weight": weight,
               "wvar": wvar, "wopts": wopts, "maxp1": maxp1, "limlst": limlst}  # fmt: skip
    args = args if isinstance(args, tuple) else (args,)
    if full_output:
        refuse_argument("scipy.integrate.quad", "full_output=", "Leave it out: it is about one integral.")
    if has_tracer(options):
        which = next(name for name, value in options.items() if has_tracer(value))
        cure = "It steers the method: pass a plain value, and traced ones by args= or as limits."
        refuse_argument("scipy.integrate.quad", f"a traced {which}", cure)
    if weight is not None and has_tracer((a, b)):
        cure = "Write the weight into the function, whose value at the limit is the derivative."
        refuse_argument("scipy.integrate.quad", "traced limits with weight=", cure)
    if complex_func:
        parts = [quad(Part(func, part), a, b, args, **_given(options)) for part in (np.real, np.imag)]
        return parts[0][0] + 1j * parts[1][0], parts[0][1] + 1j * parts[1][1]
    integrand = Integrand(func, args, ())
    return integral(
        _limit(a), _limit(b), *integrand.traced, integrand=integrand, solver=Quad(_given(options, True))
    )


def _given(options, items=False):
    given = {name: value for name, value in options.items() if value is not None}
    return tuple(given.items()) if items else given


def _limit(x):
    if np.ndim(x):
        raise TypeError("the limits of an integral are numbers, not arrays; take vmap for many integrals")
    return x


@implements(scipy.integrate.quad_vec)
def quad_vec(f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, workers=1,
             points=None, quadrature=None, full_output=False, *, args=()):  # fmt: skip
    if full_output:
        refuse_argument("scipy.integrate.quad_vec", "full_output=", "Leave it out: it is about one integral.")
    if workers != 1:
        refuse_argument("scipy.integrate.quad_vec", "workers=", "Leave it out: tracers stay in one process.")
    options = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "cache_size": cache_size, "limit": limit,
               "points": points, "quadrature": quadrature}  # fmt: skip
    integrand = Integrand(f, args if isinstance(args, tuple) else (args,), None)
    solver = QuadVec(_given(options, True))
    return integral(_limit(a), _limit(b), *integrand.traced, integrand=integrand, solver=solver)


@implements(scipy.integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    tolerances = {"epsabs": epsabs, "epsrel": epsrel}

    def inner(y, gfun, hfun, args):
        return _quad(func, _at(gfun, y), _at(hfun, y), (y, *args), tolerances)

    return quad(inner, a, b, (gfun, hfun, tuple(args)), **tolerances)


@implements(scipy.integrate.tplquad)
def tplquad(func, a, b, gfun, hfun, qfun, rfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    tolerances = {"epsabs": epsabs, "epsrel": epsrel}

    def inner(y, x, qfun, rfun, args):
        return _quad(func, _at(qfun, x, y), _at(rfun, x, y), (y, x, *args), tolerances)

    def middle(x, gfun, hfun, qfun, rfun, args):
        return _quad(inner, _at(gfun, x), _at(hfun, x), (x, qfun, rfun, args), tolerances)

    return quad(middle, a, b, (gfun, hfun, qfun, rfun, tuple(args)), **tolerances)


def _quad(func, a, b, args, tolerances):
    """An integral within an integral, of which anything may be traced or nothing."""
    run = quad if has_tracer((a, b, args)) else scipy.integrate.quad
    return run(func, a, b, args=args, **tolerances)[0]


def _at(bound, *x):
    return bound(*x) if callable(bound) else bound


@implements(scipy.integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    x, w = np.polynomial.legendre.leggauss(n)
    y = (b - a) * (x + 1) * 0.5 + a
    return (b - a) * 0.5 * np.sum(w * func(y, *args), axis=-1), None
