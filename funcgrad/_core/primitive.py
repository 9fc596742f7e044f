"""Primitives: the operations that programs are made of, and how one argument's derivative flows.

A primitive is one record. Everything that is known about it (implementation, type, derivatives,
batching) hangs on that record and is declared in one block of `funcgrad._primitives`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import link
from funcgrad._core.plans import Plan, make_plan
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import is_unlike_array

#: Classes of operands that need no look; of the others `is_unlike_array` may refuse one.
_USUAL = frozenset((np.ndarray, float, int, bool, complex, np.float64, np.float32, np.int64, np.bool))

#: The static parameters of a primitive that has none: shared, and never changed.
NO_PARAMS: dict[str, Any] = {}


class Rule:
    """How the derivative with respect to one argument flows.

    Attributes:
        push: tangent of the argument -> its share of the output's tangent.
        pull: cotangent of the output -> its share of the argument's cotangent; None: transpose `push`.
        push_reads, pull_reads: the names of the residuals that they take after the (co)tangent:
            an argument's name for its value, ``y`` for the output, ``<argument>_shape`` and
            ``<argument>_dtype``; in variadic primitives ``index`` and ``shapes``.
        missing: None; or, of an argument that has a derivative of which no closed form is known, why:
            such an argument is refused where it is traced.
    """

    __slots__ = ("push", "pull", "push_reads", "pull_reads", "missing")

    def __init__(self, push=None, pull=None, push_reads=(), pull_reads=(), missing=None):
        self.push = push
        self.pull = pull
        self.push_reads = push_reads
        self.pull_reads = pull_reads
        self.missing = missing


class Accumulator(NamedTuple):
    """How shares that touch few entries of a large cotangent are added up in linear time.

    Attributes:
        add: ``add(buffer, g, residuals, params, fresh)`` adds the share of `g` to an array in place;
            `fresh` if the array is still all zero.
        mark: ``mark(mask, live, residuals, params)`` sets the entries of a boolean array that the share
            touches where `live`, the mask of `g` or None, is true.
        total: ``total(shares, shape)``, the sum of shares ``(g, residuals, params)`` in primitives,
            where they are being traced and nothing may happen in place.
    """

    add: Callable
    mark: Callable
    total: Callable


class Primitive:
    """One operation: ``primitive(*arrays, **static_parameters)``.

    Attributes:
        name: as printed in programs.
        impl: the NumPy implementation.
        args: the arguments' names; the last may be ``*name``, for any number of them.
        rules: a `Rule` for each argument (one shared in variadic primitives); None for an argument
            without derivative, for instance an index. None as a whole: `joint`, or the constant kind.
        outer: None, or a `Rule` that is the last step of every argument's: the tangent is its push of the
            shares' sum, and the arguments' pulls get its pull of the cotangent.
        elementwise: whether cotangents must be summed back over broadcast axes.
        structural: whether the transpose only moves and adds entries, so that structural zeros of
            a cotangent stay recognisable through it.
        live: for each argument None or a function of the residuals named in its signature that says
            which entries of the output depend on it at all (see `where`).
        multiple: whether the result is a tuple.
        joint: of a primitive that is linear in all arguments together, as `concatenate` is:
            ``joint(g, positions, shapes, **params)``, the shares of the arguments at these positions;
            None else. It has no `rules`, and its tangent is itself on tangents.
        batch: ``batch(args, batched, **params)``: the primitive on arguments whose axis 0 is a batch
            axis where `batched` says so; the result has the batch axis in front. None: a loop.
        typed: ``typed(*types, **params)``: the output's type, where it can't be found by running
            the implementation on stand-ins.
        guided: whether the tangents are further arguments where a result has equal eigenvalues, for they
            choose between the eigenvectors (see `Split`).
        limit: ``limit(args, parts, **params)``: the result and its part in eps, given the arguments' or
            None, if it does not follow from the rules (see `Split`).
        view: whether NumPy's result shares memory with its argument; `may_copy` if only where entries lie
            right for it.
        reorders: ``reorders(params)``: whether it may leave entries in another order than C's; None: never.
        put: ``put(x, part, **params)``: the argument `x` of which `part` is the view, so that a write into
            that reaches it; None if NumPy's view is read-only.
        tags: whether it does nothing but give its argument a name, its parameter of that name.
        accumulate: an `Accumulator`, where adding the transpose's result to an array in place is
            cheaper than making it.
        pull_plans, push_plans: the plans made so far.
        reads: residuals under names of the primitive's own: name -> function of (values, positions).
    """

    __slots__ = (
        "name", "impl", "args", "rules", "elementwise", "structural", "live", "multiple",
        "outer", "joint", "joint_plan", "batch", "typed", "guided", "limit", "view", "may_copy",
        "reorders", "put", "tags", "accumulate",
        "reads", "pull_plans", "push_plans",
    )  # fmt: skip

    def __init__(self, name: str, impl: Callable, args: tuple[str, ...], rules=None):
        self.name = name
        self.impl = impl
        self.args = args
        self.rules = rules
        self.outer = None
        self.elementwise = False
        self.structural = False
        self.live = None
        self.multiple = False
        self.joint = None
        self.joint_plan = None
        self.batch = None
        self.typed = None
        self.guided = False
        self.limit = None
        self.view = False
        self.may_copy = False
        self.reorders = None
        self.put = None
        self.tags = False
        self.accumulate = None
        self.reads = None
        self.pull_plans: dict[int, Plan] = {}
        self.push_plans: dict[int, Plan] = {}

    def __call__(self, *args, **params):
        top = None
        for a in args:
            if isinstance(a, Tracer):
                if top is None or a._trace.level > top.level:
                    top = a._trace
            elif type(a) not in _USUAL and is_unlike_array(a):
                raise errors.OperandTypeError(self.name, type(a).__name__, describe(*caller()))
        if top is None:
            return self.impl(*args, **params)
        if not self.view:
            return top.process(self, args, params)
        result = top.process(self, args, params)
        link(args[0], result, self, params)
        return result

    def read(self, x: Tracer, params: dict[str, Any]) -> Tracer:
        """The view that this makes of a box, without a link."""
        return x._trace.process(self, (x,), params)

    def of(self, x: Any, params: dict[str, Any]) -> Any:
        """``self(x, **params)`` of one array: straight to its trace, which saves 0.4 us."""
        if not isinstance(x, Tracer):
            return self(x, **params)
        result = x._trace.process(self, (x,), params)
        if self.view:
            link(x, result, self, params)
        return result

    def __repr__(self) -> str:
        return f"Primitive({self.name})"

    @property
    def variadic(self) -> bool:
        return self.args[-1].startswith("*")

    def rule(self, index: int) -> Rule | None:
        """The rule of an argument; those under a ``*name`` share one."""
        return self.rules[min(index, len(self.rules) - 1)]

    def plan(self, traced: int, push: bool) -> Plan:
        """What recording keeps when the arguments whose bits are set in `traced` are traced."""
        plans = self.push_plans if push else self.pull_plans
        plan = plans.get(traced)
        if plan is None:
            positions = tuple(i for i in range(traced.bit_length()) if traced >> i & 1)
            plan = make_plan(self, positions, push)
            if traced < 256:  # a variadic primitive may see any number of patterns
                plans[traced] = plan
        return plan


def check_dtype(prim: Primitive, out: Any) -> None:
    """Refuse objects, which may hold anything, as the result of a primitive on traced values."""
    if out.dtype.kind not in "fciub":
        raise errors.OperandTypeError(prim.name, f"values of dtype {out.dtype}", describe(*caller()))
