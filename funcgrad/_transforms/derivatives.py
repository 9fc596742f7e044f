"""First derivatives: jvp, vjp, linearize, linear_transpose, grad, value_and_grad, stop_gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import errors, tree
from funcgrad._core.types import dtype_of, shape_of, zeros_of
from funcgrad._interpreters.forward import push_forward
from funcgrad._interpreters.linearity import nonlinearity
from funcgrad._primitives.control import stop_gradient_leaf
from funcgrad._transforms.arguments import (
    Argnums,
    Chosen,
    describe_type,
    differentiable_leaf,
    name_of,
    wraps,
    zeros,
)  # fmt: skip
from funcgrad._transforms.debugging import walk_check
from funcgrad._transforms.pushing import Push
from funcgrad._transforms.recording import Run, check_holomorphic, checked_leaves, plain, unshared, walk


def value_and_grad(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    unused: str = "warn",
) -> Callable:
    """A function that returns both the value and the gradient of `f`.

    Args:
        f: a function with a scalar output, written in plain NumPy.
        argnums: which arguments: a position (negative from the end), a parameter's name, or a tuple
            of either.
        has_aux: whether `f` returns a pair, of which the second part is passed through.
        holomorphic: for a complex-differentiable `f` of complex arguments: the derivative f'(z).
        allow_int: let integer leaves pass; their gradient is of dtype float0.
        unused: what happens if the output does not depend on an argument: ``"zero"``, ``"warn"``
            (only where the dependence was cut) or ``"error"``.

    Returns:
        A function of the same arguments that returns ``(value, gradient)``, or
        ``((value, aux), gradient)``. The gradient has the structure of the argument; of a tuple of
        positions a tuple, of a tuple of names a dict.

    Raises:
        NonScalarOutputError, InputTypeError, ArgnumsError, AuxError, OutputTypeError.

    >>> import numpy as np
    >>> from funcgrad import value_and_grad
    >>> value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    _check_unused(unused)

    @wraps(f, "value_and_grad")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, allow_int)
        gradient = _gradient(recorded, f, holomorphic, unused)
        value = recorded.outs[0]
        return ((value, recorded.aux) if has_aux else value), gradient

    return run


def _check_unused(unused: str) -> None:
    if unused not in ("zero", "warn", "error"):
        raise ValueError(f"unused must be 'zero', 'warn' or 'error', not {unused!r}")


def _gradient(recorded: Run, f: Callable, holomorphic: bool, unused: str) -> Any:
    cts = recorded.pull([_scalar_seed(recorded, f, holomorphic)], consume=True)
    recorded.report_unused(cts, unused, f)
    return recorded.finish(cts)


def _scalar_seed(recorded: Run, f: Callable, holomorphic: bool) -> Any:
    """The cotangent 1 for a scalar output, which is checked to be one."""
    if recorded.out_treedef is not tree.LEAF:
        raise errors.NonScalarOutputError(name_of(f), f"a container {recorded.out_treedef}")
    (out,) = recorded.outs
    if shape_of(out) != ():
        raise errors.NonScalarOutputError(name_of(f), describe_type(out))
    dtype = dtype_of(out)
    if dtype.kind == "f" and not holomorphic:  # nearly every call
        return dtype.type(1)
    check_holomorphic(recorded.leaves, [dtype], holomorphic, f, "grad")
    if dtype.kind in "iub":
        raise errors.OutputTypeError(
            name_of(f), describe_type(out), "grad needs a floating-point output: x.astype(float)."
        )
    return dtype.type(1)


def grad(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    unused: str = "warn",
) -> Callable:
    """The gradient of a scalar function.

    Args:
        f, argnums, has_aux, holomorphic, allow_int, unused: as for `value_and_grad`.

    Returns:
        A function of the same arguments that returns the gradient, or ``(gradient, aux)``. For a
        complex argument z = x + iy of a real function it is df/dx - i df/dy, JAX's convention;
        ``np.conj`` gives PyTorch's.

    Raises:
        NonScalarOutputError, InputTypeError, ArgnumsError, AuxError, OutputTypeError.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> grad(np.tanh)(0.5)
    np.float64(0.7864477329659274)
    >>> grad(lambda w, x: np.sum(w * x), argnums="w")(np.ones(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    _check_unused(unused)

    @wraps(f, "grad")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, allow_int)
        gradient = _gradient(recorded, f, holomorphic, unused)
        return (gradient, recorded.aux) if has_aux else gradient

    return run


def vjp(f: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of `f`, and the function that pulls cotangents back.

    Args:
        f: a function of positional arguments.
        *primals: the arguments, trees of arrays.
        has_aux: whether `f` returns a pair, of which the second part is passed through.

    Returns:
        ``(out, pull)`` or ``(out, pull, aux)``. ``pull(cotangent)`` takes a tree like `out` and returns
        a tuple with one tree for each primal (float0 for integers); it may be called any number of
        times.

    Raises:
        InputTypeError, OutputTypeError, AuxError; `pull`: CotangentError, ChangedResidualError.

    >>> import numpy as np
    >>> from funcgrad import vjp
    >>> out, pull = vjp(lambda x, y: x * y, 3.0, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 1.0]))
    (np.float64(3.0), array([3., 3.]))
    """
    recorded = Run(_all_of(f, primals), f, has_aux, allow_int=True, kept=True)

    def pull(cotangent):
        cts = recorded.checked_cotangents(cotangent)
        return recorded.finish(recorded.pull(cts, consume=False))

    return (recorded.out, pull, recorded.aux) if has_aux else (recorded.out, pull)


def _all_of(f: Callable, primals: tuple) -> Chosen:
    return Chosen(f, tuple(range(len(primals))), primals, {})


# ---- forward mode --------------------------------------------------------------------------


def jvp(f: Callable, primals: Sequence, tangents: Sequence, has_aux: bool = False) -> tuple:
    """The value of `f` and its derivative along a direction.

    Args:
        f: a function of positional arguments.
        primals: a tuple or list of its arguments, trees of arrays.
        tangents: the direction, of the same structure, shapes and dtypes (float0 for integers).
        has_aux: whether `f` returns a pair, of which the second part is passed through.

    Returns:
        ``(out, tangent_out)`` or ``(out, tangent_out, aux)``.

    Raises:
        TangentError, InputTypeError, OutputTypeError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jvp
    >>> jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise errors.TangentError("", "a tuple or list for each argument", describe_type(tangents))
    chosen = _all_of(f, tuple(primals))
    leaves, treedef = tree.flatten(chosen.tree)
    values = [
        differentiable_leaf(x, lambda i=i: chosen.path(i), allow_int=True) for i, x in enumerate(leaves)
    ]
    given = checked_leaves(tuple(tangents), treedef, leaves, errors.TangentError)
    ts = [None if value is None else t for value, t in zip(values, given)]
    values = [x if value is None else value for value, x in zip(values, leaves)]
    push = Push(chosen, treedef, values, ts, f, has_aux)
    values = [plain(o) for o in push.outs]
    out_ts = map(plain, unshared(push.tangents, ts))
    result = tree.unflatten(push.out_treedef, values), tree.unflatten(push.out_treedef, out_ts)
    return (*result, push.aux) if has_aux else result


def linearize(f: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The value of `f`, and its derivative there as a linear function.

    The function runs once; ``f_lin`` then only walks the tape. It pays over `jvp` from the second
    direction on.

    Args:
        f: a function of positional arguments.
        *primals: the arguments, trees of arrays.
        has_aux: whether `f` returns a pair, of which the second part is passed through.

    Returns:
        ``(out, f_lin)`` or ``(out, f_lin, aux)``; ``f_lin(*tangents)`` takes one tangent for each primal.

    Raises:
        InputTypeError, OutputTypeError, AuxError; `f_lin`: TangentError, ChangedResidualError.

    >>> import numpy as np
    >>> from funcgrad import linearize
    >>> out, f_lin = linearize(np.sin, 0.0)
    >>> f_lin(3.0)
    np.float64(3.0)
    """
    recorded = Run(_all_of(f, primals), f, has_aux, allow_int=True, push=True, kept=True)

    def f_lin(*tangents):
        ts = checked_leaves(tangents, recorded.treedef, recorded.leaves, errors.TangentError)
        inputs = [t for t, slot in zip(ts, recorded.slots) if slot is not None]
        reached = [r for r in recorded.rows if r is not None]
        types = [(o.shape, o.dtype) for o, r in zip(recorded.outs, recorded.rows) if r is not None]
        tape, check = recorded.record.tape, walk_check(recorded.record)
        pushed = walk(push_forward, tape, inputs, reached, types, check)
        if check is not None:
            check.require_finite(reached, pushed)
        pushed = iter(pushed)
        outs = [None if row is None else next(pushed) for row in recorded.rows]
        outs = [zeros(o) if t is None else t for t, o in zip(outs, recorded.outs)]
        return tree.unflatten(recorded.out_treedef, map(plain, unshared(outs, ts)))

    return (recorded.out, f_lin, recorded.aux) if has_aux else (recorded.out, f_lin)


def linear_transpose(f: Callable, *primals: Any) -> Callable:
    """The transpose of a linear function.

    Args:
        f: a linear function of positional arguments.
        *primals: arguments or their types (`ShapeDtypeStruct`): only shapes and dtypes count.

    Returns:
        A function that takes a cotangent like f's output and returns a tuple, one tree for each primal.

    Raises:
        NotLinearError: an operation's derivative depends on the arguments, or f(0) is not 0.

    >>> import numpy as np
    >>> from funcgrad import linear_transpose
    >>> linear_transpose(lambda x: 3.0 * x[::-1], np.zeros(2))(np.array([1.0, 10.0]))
    (array([30.,  3.]),)
    """
    at_zero = tree.map(zeros_of, primals)
    recorded = Run(_all_of(f, at_zero), f, False, allow_int=False, kept=True, linear=True)
    why = nonlinearity(recorded.record, recorded.outs)
    if why is not None:
        raise errors.NotLinearError(name_of(f), why)

    def transpose(cotangent):
        cts = recorded.checked_cotangents(cotangent)
        return recorded.finish(recorded.pull(cts, consume=False))

    return transpose


def stop_gradient(x: Any) -> Any:
    """The value of `x`, constant to every derivative at every level.

    Args:
        x: a tree of arrays; integers and None pass.

    Returns:
        The plain values: ``float(stop_gradient(x))`` works. Under `vmap` they stay batched.

    >>> from funcgrad import grad, stop_gradient
    >>> grad(lambda a: stop_gradient(a * a) * a)(3.0)
    np.float64(9.0)
    """
    return tree.map(stop_gradient_leaf, x)
