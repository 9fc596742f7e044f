"""custom_jvp, custom_vjp: functions whose derivatives their authors give."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.types import dtype_of, float0, shape_of, zeros_of
from funcgrad._interpreters.calls import bind, closed_over, differentiable
from funcgrad._primitives.custom import CustomCall, Rules
from funcgrad._transforms.arguments import describe_type, name_of, output_leaf, place_of
from funcgrad._transforms.numeric import numeric_rules


class _CustomFunction:
    """A function with derivative rules: what `custom_jvp` and `custom_vjp` share."""

    def __init__(
        self,
        f: Callable,
        nondiff_argnums: int | Sequence[int] = (),
        *,
        numeric: str | None = None,
        vmap_method: str | None = None,
    ):
        functools.update_wrapper(self, f, updated=())
        if numeric not in (None, "central", "complex-step"):
            raise ValueError(f"numeric must be 'central' or 'complex-step', not {numeric!r}")
        if vmap_method not in (None, "sequential"):
            raise ValueError(f"vmap_method must be None or 'sequential', not {vmap_method!r}")
        self.fun = f
        self.nondiff_argnums = (
            (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        )
        self.numeric, self.sequential = numeric, vmap_method == "sequential"
        self.proved: set[tuple[int, ...]] = set()  # see `Rules`
        self.jvp: Callable | None = None
        self.fwd: Callable | None = None
        self.bwd: Callable | None = None
        try:
            self._signature = inspect.signature(f)
        except (TypeError, ValueError):  # a builtin: positional arguments only
            self._signature = None

    def __get__(self, instance: Any, owner: type | None = None) -> Callable:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({name_of(self.fun)})"

    def defjvp(self, jvp: Callable) -> Callable:
        """Give the rule for tangents (decorator).

        Args:
            jvp: ``jvp(primals, tangents) -> (out, tangent_out)`` with tuples of arguments and their
                tangents, after the arguments of `nondiff_argnums`. Tangents of integer arrays are of dtype
                float0, those of what is no array are None.
        """
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Give a rule for each argument: ``rule(tangent, out, *primals)``, its share of the tangent.

        Args:
            *jvps: one for each argument; None for an argument without derivative.
        """
        if self.nondiff_argnums:
            raise ValueError("defjvps is for functions without nondiff_argnums: use defjvp")

        def jvp(primals, tangents):
            out = self(*primals)
            shares = [
                rule(t, out, *primals)
                for rule, t in zip(jvps, tangents, strict=True)
                if rule is not None and not _is_zero(t)
            ]
            zeros = tree.map(_zero_tangent, out)
            return out, functools.reduce(lambda a, b: tree.map(_add, a, b), shares, zeros)

        self.jvp = jvp

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """Give the rule for cotangents.

        Args:
            fwd: ``fwd(*args) -> (out, residuals)``, of the same arguments as the function.
            bwd: ``bwd(*nondiff, residuals, cotangent) -> cotangents``: a tuple with one entry for each
                argument that is not in `nondiff_argnums`, of its structure; None for zero.
        """
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None and self.fwd is None and self.numeric is None:
            raise errors.MissingRuleError(name_of(self.fun))
        if kwargs:
            args, kwargs = self._positional(args, kwargs)
        places = {place_of(n, len(args), n, self.fun, "nondiff_argnums") for n in self.nondiff_argnums}
        leaves, treedef = tree.flatten(tuple(a for i, a in enumerate(args) if i not in places))
        call = _Arguments(self, treedef, [args[i] for i in sorted(places)], sorted(places), kwargs)
        outs = bind(CustomCall(call.fun, call.rules(), closed_over([self.fun, call.steering])), leaves)
        return tree.unflatten(call.out_treedef, outs)

    def _positional(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        if self._signature is None:
            return args, kwargs
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, bound.kwargs


class _Arguments:
    """A function and its rules as functions of the flat leaves of one call's arguments.

    It holds none of the leaves: the tape keeps it, and is to hold no tracer, so that memory goes at once.
    """

    def __init__(self, custom: _CustomFunction, treedef, steering: list, places: list[int], kwargs: dict):
        self.custom, self.treedef, self.kwargs = custom, treedef, kwargs
        self.steering, self.places = steering, places
        self.count = len(treedef.children) + len(places)
        self.out_treedef: Any = None
        self.out_shapes: list[tuple[int, ...]] = []

    def fun(self, *leaves):
        return self._flat_out(self.custom.fun(*self._args(leaves), **self.kwargs))

    def rules(self) -> Rules:
        custom, name = self.custom, name_of(self.custom.fun)
        if custom.jvp is None and custom.fwd is None:
            return numeric_rules(self.fun, name, custom.numeric, closed_over(custom.fun))
        return Rules(
            name, custom.jvp and self.jvp, custom.fwd and self.fwd, custom.bwd and self.bwd,
            custom.sequential,
            proved=custom.proved,
        )  # fmt: skip

    def jvp(self, primals, tangents):
        tangents = [_float0_like(x) if t is None else t for t, x in zip(tangents, primals)]
        result = self.custom.jvp(*self.steering, self._tree(primals), self._tree(tangents))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise self._error("jvp", describe_type(result), "a pair (out, tangent_out)")
        out, tangent = result
        outs = self._flat_out(out)
        return outs, self._like(self.out_treedef, tangent, "jvp", "a tangent of out's structure")

    def fwd(self, args):
        result = self.custom.fwd(*self._args(args), **self.kwargs)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise self._error("fwd", describe_type(result), "a pair (out, residuals)")
        out, residuals = result
        return self._flat_out(out), (residuals, closed_over(self.steering))  # which are not to change, either

    def bwd(self, residuals, cts):
        cts = [np.zeros(n, float0) if ct is None else ct for ct, n in zip(cts, self.out_shapes)]
        shares = self.custom.bwd(*self.steering, residuals[0], tree.unflatten(self.out_treedef, cts))
        expected = f"a tuple of {self.count - len(self.places)} cotangents, one for each argument"
        if isinstance(shares, list):
            shares = tuple(shares)
        if not isinstance(shares, tuple):
            raise self._error("bwd", describe_type(shares), expected)
        if len(shares) != self.count - len(self.places):
            raise self._error("bwd", f"a tuple of {len(shares)}", expected)
        return self._like(self.treedef, shares, "bwd", "cotangents of the arguments' structure")

    def _tree(self, leaves) -> tuple:
        return tree.unflatten(self.treedef, leaves)

    def _args(self, leaves) -> list[Any]:
        given, steering = iter(self._tree(leaves)), iter(self.steering)
        return [next(steering if i in self.places else given) for i in range(self.count)]

    def _flat_out(self, out: Any) -> list[Any]:
        outs, self.out_treedef = tree.flatten(out)
        outs = [output_leaf(o, self.custom.fun) for o in outs]
        self.out_shapes = [shape_of(o) for o in outs]
        return outs

    def _like(self, treedef, given: Any, rule: str, expected: str) -> list[Any]:
        """The leaves of what a rule returned, in which None stands for zeros of any structure."""
        try:
            leaves = tree.broadcast_prefix(given, treedef, name="it")
        except errors.TreeStructureError as error:
            raise self._error(rule, f"{error.found} at {error.path}", expected) from None
        if sum(x is not None for x in leaves) != len(tree.leaves(given)):
            raise self._error(rule, f"the structure {tree.structure(given)}", expected)
        return leaves

    def _error(self, rule: str, found: str, expected: str) -> errors.CustomRuleError:
        return errors.CustomRuleError(name_of(self.custom.fun), rule, found, expected)


def _float0_like(x: Any) -> Any:
    """The tangent of a leaf that has none."""
    return np.zeros(shape_of(x), float0) if hasattr(x, "dtype") and dtype_of(x).kind in "iub" else None


def _is_zero(t: Any) -> bool:
    return t is None or (hasattr(t, "dtype") and t.dtype == float0)


def _zero_tangent(x: Any) -> Any:
    return zeros_of(x)[()] if differentiable(x) else np.zeros(shape_of(x), float0)


def _add(a: Any, b: Any) -> Any:
    return a if _is_zero(b) else a + b


class custom_jvp(_CustomFunction):
    """A function whose derivative its author gives as a rule for tangents (decorator).

    The rule serves both modes and every order: reverse mode transposes what it does to tangents, and whatever
    it calls is differentiated in its turn, other custom functions by their rules. The function and its rule
    get plain arrays wherever no older transform traces those too, so they may call SciPy or C. They may close
    over traced values: in these the function itself is differentiated.

    Args:
        f: a function of trees of arrays; arguments may also be sizes, index arrays, sparse matrices.
        nondiff_argnums: positions of arguments that come first in the rules, and have no derivative.
        numeric: differences in place of a rule: ``"central"`` for any function, ``"complex-step"`` for one
            that is analytic and takes complex numbers. For opaque code: a gradient costs two evaluations
            for each entry of the arguments.
        vmap_method: ``"sequential"`` runs batches in a loop, for functions that are no NumPy.

    Rules are given by `defjvp`, `defjvps`, and `defvjp` for reverse mode on its own.

    Raises:
        MissingRuleError, CustomRuleError, NotLinearRuleError, ComplexStepError: when it is called.

    >>> import numpy as np
    >>> from funcgrad import custom_jvp, grad
    >>> @custom_jvp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), t * (1 - 1 / (1 + np.exp(x)))
    >>> grad(log1pexp)(100.0)
    np.float64(1.0)
    """


class custom_vjp(_CustomFunction):
    """A function whose derivative its author gives as a rule for cotangents (decorator).

    As `custom_jvp`, but the rule is ``f.defvjp(fwd, bwd)``. Forward mode transposes what `bwd` does to
    cotangents, unless `defjvp` gives a rule of its own.

    Args:
        f, nondiff_argnums, numeric, vmap_method: as for `custom_jvp`.

    Raises:
        MissingRuleError, CustomRuleError, NotLinearRuleError, ComplexStepError: when it is called.

    >>> import numpy as np
    >>> from funcgrad import custom_vjp, grad
    >>> @custom_vjp
    ... def clip_gradient(low, high, x):
    ...     return x
    >>> def fwd(low, high, x):
    ...     return x, (low, high)
    >>> def bwd(residuals, g):
    ...     low, high = residuals
    ...     return None, None, np.clip(g, low, high)
    >>> clip_gradient.defvjp(fwd, bwd)
    >>> grad(lambda x: 10.0 * clip_gradient(-1.0, 1.0, x))(2.0)
    np.float64(1.0)
    """
