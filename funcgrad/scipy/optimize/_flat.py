"""Functions of trees as SciPy's optimisers want them: of one flat array of float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.calls import closed_over
from funcgrad._transforms.derivatives import grad, value_and_grad
from funcgrad._transforms.hessians import hessian, hvp
from funcgrad._transforms.jacobians import jacobian
from funcgrad.scipy._mirror import has_tracer


class FlatProblem:
    """A function of a tree, as a function of a flat array: what `flat_problem` returns.

    Attributes:
        x0: the starting point, flat.
    """

    def __init__(self, f: Callable, x0: Any, args: tuple = ()):
        self._f, self._args = f, args
        leaves, self._treedef = tree.flatten(_as_tree(x0))
        self._shapes = [shape_of(v) for v in leaves]
        self._dtypes = [dtype_of(v) for v in leaves]
        if not leaves or any(d.kind not in "fiub" for d in self._dtypes):
            raise errors.InputTypeError(
                "x0", "not made of real numbers", f"which an optimiser needs ({describe(*caller(2))})",
                "Pass a tree of real arrays; take real and imaginary parts apart.",
            )  # fmt: skip
        self.x0 = self.flatten(tree.unflatten(self._treedef, leaves))

    def unflatten(self, v: Any) -> Any:
        """The tree that a flat array stands for."""
        parts, start = [], 0
        for shape, dtype in zip(self._shapes, self._dtypes):
            size = math.prod(shape)
            part = np.reshape(v[start : start + size], shape) if shape else v[start]
            parts.append(part.astype(dtype) if dtype.kind == "f" and dtype != part.dtype else part)
            start += size
        return tree.unflatten(self._treedef, parts)

    def flatten(self, x: Any) -> Any:
        """The flat array of a tree like x0."""
        parts = [np.reshape(v, (-1,)) for v in tree.flatten_up_to(self._treedef, x)]
        return parts[0].astype(float) if len(parts) == 1 else np.concatenate(parts).astype(float)

    def fun(self, v: Any) -> Any:
        """The function's value."""
        out = self._f(self.unflatten(v), *self._args)
        return np.reshape(out, ()) if np.ndim(out) and np.size(out) == 1 and self.scalar else out

    scalar = True  # whether SciPy takes an array of one entry for a number

    def value_and_grad(self, v: Any) -> tuple[Any, Any]:
        """The value and the gradient, from one run: for ``jac=True``."""
        return value_and_grad(self.fun)(v)

    def grad(self, v: Any) -> Any:
        """The gradient."""
        return grad(self.fun)(v)

    def jac(self, v: Any) -> Any:
        """The gradient of a number, the Jacobian of an array."""
        return jacobian(self.fun)(v)

    def hess(self, v: Any) -> Any:
        """The Hessian."""
        return hessian(self.fun)(v)

    def hessp(self, v: Any, p: Any) -> Any:
        """The Hessian times a vector, without the Hessian."""
        return hvp(self.fun)(v, np.reshape(p, np.shape(v)).astype(float))

    @property
    def traced(self) -> bool:
        """Whether the solution depends on traced values: the function may close over them anywhere."""
        return has_tracer([self._args, self.x0, closed_over([self._f])]) or has_tracer(self.fun(self.x0))


class FlatSystem(FlatProblem):
    """The same of a function whose value is an array: of residuals, of an equation's sides."""

    scalar = False

    def fun(self, v: Any) -> Any:
        out = super().fun(v)
        if isinstance(out, (Tracer, np.ndarray)):
            return np.reshape(out, (-1,))
        return np.concatenate([np.reshape(part, (-1,)) for part in tree.leaves(out)])


def flat_problem(f: Callable, x0: Any, *args: Any) -> FlatProblem:
    """A function of a tree as SciPy's optimisers want it: of a flat array, with its derivatives.

    Args:
        f: ``f(x, *args)``, of a tree x of real arrays; a number.
        x0: a tree like x. A list or tuple of numbers is an array, as to SciPy.
        *args: further arguments, which stay as they are.

    Returns:
        An object with the flat array `x0`, the functions `fun`, `jac`, `hess`, `hessp` and `value_and_grad`
        of such arrays, and `flatten` and `unflatten` between them and trees.

    Raises:
        InputTypeError: x0 holds anything but real numbers.

    >>> import numpy as np
    >>> import scipy.optimize
    >>> from funcgrad.scipy.optimize import flat_problem
    >>> def loss(x):
    ...     return np.sum((x["w"] - 1.0) ** 2) + (x["b"] - 3.0) ** 2
    >>> p = flat_problem(loss, {"w": np.zeros(2), "b": 0.0})
    >>> found = scipy.optimize.minimize(p.value_and_grad, p.x0, jac=True, method="BFGS")
    >>> {name: value.round(6).tolist() for name, value in p.unflatten(found.x).items()}
    {'b': 3.0, 'w': [1.0, 1.0]}
    """
    return FlatProblem(f, x0, args)


def _as_tree(x0: Any) -> Any:
    """A starting point as a tree: a number or a list of numbers is an array of one axis, as to SciPy."""
    if isinstance(x0, (list, tuple)) and all(np.ndim(v) == 0 for v in tree.leaves(x0)):
        flat = tree.leaves(x0)
        return np.stack(flat) if has_tracer(flat) else np.asarray(flat, float)
    if isinstance(x0, (int, float, np.generic)) or (
        isinstance(x0, (np.ndarray, Tracer)) and np.ndim(x0) == 0
    ):
        return np.reshape(x0, (1,))
    return x0


def diagnostics(runs: list[Any]) -> dict[str, Any]:
    """How a method fared, of SciPy's results; of several (a batch) that of one which failed, if any did."""
    if not runs:  # in a program, before its values are known
        return {}
    last = min(runs, key=lambda result: result["success"])
    return {key: last[key] for key in _KEPT if key in last}


_KEPT = ("success", "status", "message", "nfev", "njev", "nhev", "nit", "optimality")


def tuple_of(args: Any) -> tuple:
    return args if isinstance(args, tuple) else (args,)
