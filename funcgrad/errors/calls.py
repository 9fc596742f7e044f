"""Errors about functions that the tape sees as one operation: checkpoints, custom rules, control flow."""

from funcgrad.errors.base import FuncgradError


class ImpureFunctionError(FuncgradError, RuntimeError):
    """A function that runs again in the backward pass did not do what it did before.

    `checkpoint` stores a function's inputs only and runs it again for its derivative. Random numbers,
    counters and data that is read once make it another function by then.

    >>> import numpy as np
    >>> from funcgrad import checkpoint, grad
    >>> random = np.random.default_rng(0)
    >>> noisy = checkpoint(lambda x: x * random.normal(size=3))
    >>> grad(lambda x: np.sum(noisy(x)))(np.ones(3))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.ImpureFunctionError: the function under checkpoint gave another result ...
    """

    def __init__(self, transform, what):
        super().__init__(transform, what)
        self.transform, self.what = transform, what

    def __str__(self):
        return (
            f"the function under {self.transform} {self.what} when it ran again in the backward pass\nIts "
            "derivative would be of another function. Pass random numbers and whatever else changes between "
            "two calls as arguments."
        )


class CheckpointBudgetError(FuncgradError, ValueError):
    """A checkpointed loop was given no room for a single state.

    >>> import numpy as np
    >>> from funcgrad import checkpointed_loop
    >>> checkpointed_loop(np.sin, np.ones(9), length=5, max_bytes=8)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.CheckpointBudgetError: max_bytes=8 is too little for a checkpointed loop ...
    """

    def __init__(self, given, why):
        super().__init__(given, why)
        self.given, self.why = given, why

    def __str__(self):
        return (
            f"{self.given} is too little for a checkpointed loop: {self.why}\nGive it room for one state at "
            'least; with few, steps run again more often. spill="disk" keeps states in files.'
        )


class CustomRuleError(FuncgradError, TypeError):
    """A custom rule returned something of another form than its function's arguments and results ask for.

    >>> from funcgrad import custom_vjp, grad
    >>> f = custom_vjp(lambda x, y: x * y)
    >>> f.defvjp(lambda x, y: (x * y, (x, y)), lambda residuals, g: g)
    >>> grad(f)(2.0, 3.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.CustomRuleError: the bwd rule of <lambda> returned a float64 ...
    """

    def __init__(self, function, rule, found, expected):
        super().__init__(function, rule, found, expected)
        self.function, self.rule, self.found, self.expected = function, rule, found, expected

    def __str__(self):
        return f"the {self.rule} rule of {self.function} returned {self.found}\nReturn {self.expected}."


class MissingRuleError(FuncgradError, AttributeError):
    """A function was made with `custom_jvp` or `custom_vjp`, and called before it was given its rule.

    >>> from funcgrad import custom_jvp
    >>> custom_jvp(lambda x: x)(1.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.MissingRuleError: <lambda> has no derivative rule yet
    Call <lambda>.defjvp(rule), .defjvps(...) or .defvjp(fwd, bwd) before the function is used.
    """

    def __init__(self, function):
        super().__init__(function)
        self.function = function

    def __str__(self):
        return (
            f"{self.function} has no derivative rule yet\nCall {self.function}.defjvp(rule), .defjvps(...) "
            "or .defvjp(fwd, bwd) before the function is used."
        )


class NotLinearRuleError(FuncgradError, TypeError):
    """A custom rule is not linear in what flows, so that the other mode cannot be derived from it.

    What a jvp rule does to tangents is transposed for reverse mode, and what bwd does to cotangents for
    forward mode. Both must be linear in them, which every true derivative is.

    >>> import numpy as np
    >>> from funcgrad import custom_vjp, jvp
    >>> f = custom_vjp(np.sin)
    >>> f.defvjp(lambda x: (np.sin(x), x), lambda x, g: (np.clip(g * np.cos(x), -1, 1),))
    >>> jvp(f, (0.5,), (1.0,))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.NotLinearRuleError: the rule of sin is not linear in its cotangents ...
    """

    def __init__(self, function, flows, why):
        super().__init__(function, flows, why)
        self.function, self.flows, self.why = function, flows, why

    def __str__(self):
        cure = "defjvp(rule)" if self.flows == "cotangents" else "defvjp(fwd, bwd)"
        return (
            f"the rule of {self.function} is not linear in its {self.flows}, so the other mode cannot be "
            f"derived from it: {self.why}\nGive the other rule too: {self.function}.{cure}."
        )


class ComplexStepError(FuncgradError, NotImplementedError):
    """A derivative by complex steps was asked for at complex arguments.

    A step along the imaginary axis tells a derivative only from real arguments; a second derivative would
    take it at complex ones.

    >>> import numpy as np
    >>> from funcgrad import custom_jvp, grad
    >>> f = custom_jvp(np.sin, numeric="complex-step")
    >>> grad(f)(0.0)
    np.float64(1.0)
    >>> grad(grad(f))(0.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.ComplexStepError: the derivative of sin by complex steps is for real arguments ...
    """

    def __init__(self, function):
        super().__init__(function)
        self.function = function

    def __str__(self):
        return (
            f"the derivative of {self.function} by complex steps is for real arguments and of first order\n"
            "Use numeric='central', which gives second derivatives to about four digits, or write the rule: "
            "defjvp(rule)."
        )


class CarryTypeError(FuncgradError, TypeError):
    """The state of a loop has another shape or dtype after a step than before it.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.scan(lambda c, x: (c * x, None), np.float64(1.0), np.ones((3, 2)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.CarryTypeError: leaf 0 of the loop's state was f64[] and is f64[2] after a step, at ...
    """

    def __init__(self, index, before, after, where):
        super().__init__(index, before, after, where)
        self.index, self.before, self.after, self.where = index, before, after, where

    def __str__(self):
        leaf = "" if self.index == "" else f"leaf {self.index} of "
        return (
            f"{leaf}the loop's state was {self.before} and is {self.after} after a step, at {self.where}\nA "
            "loop's state keeps its structure, shapes and dtypes. Give the first state the shape and dtype "
            "that steps return, or return y of another shape beside the state."
        )


class BranchTypeError(FuncgradError, TypeError):
    """The branches of a choice return different structures, shapes or dtypes.

    >>> from funcgrad import ShapeDtypeStruct, lax, make_jaxpr
    >>> choose = lambda x: lax.cond(x > 0, lambda x: x, lambda x: (x, x), x)
    >>> make_jaxpr(choose)(ShapeDtypeStruct((), float))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.BranchTypeError: branch 0 returns (*, *), branch 1 *, at ...
    """

    def __init__(self, number, found, first, where):
        super().__init__(number, found, first, where)
        self.number, self.found, self.first, self.where = number, found, first, where

    def __str__(self):
        return (
            f"branch 0 returns {self.first}, branch {self.number} {self.found}, at {self.where}\nWhich one "
            "runs is decided later, so all must return the same structure, shapes and dtypes. Return arrays "
            "of the same types from each, for instance np.zeros_like(x) in place of 0."
        )


class StagedDerivativeError(FuncgradError, NotImplementedError):
    """A derivative that needs values was asked for while a program of types is written.

    Reverse mode walks a loop's steps back, so their number must be known when it is written down. With values
    it is.

    >>> from funcgrad import ShapeDtypeStruct, grad, lax, make_jaxpr
    >>> def f(x):
    ...     return lax.while_loop(lambda x: x < 9.0, lambda x: x * x, x)
    >>> grad(f)(2.0)
    np.float64(32.0)
    >>> make_jaxpr(grad(f))(ShapeDtypeStruct((), float))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.StagedDerivativeError: reverse mode through while_loop, at ...
    """

    def __init__(self, what, where):
        super().__init__(what, where)
        self.what, self.where = what, where

    def __str__(self):
        return (
            f"{self.what}, at {self.where}, while a program is written\nUse lax.scan or "
            "lax.fori_loop with bounds that are known, forward mode (jvp), or take the derivative of the "
            "function itself, not inside make_jaxpr."
        )


class PredicateError(FuncgradError, TypeError):
    """What decides a branch or a loop is no scalar.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.cond(np.array([True, False]), abs, abs, 1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.PredicateError: cond's pred is of shape (2,), at ...
    """

    def __init__(self, what, found, where):
        super().__init__(what, found, where)
        self.what, self.found, self.where = what, found, where

    def __str__(self):
        return (
            f"{self.what} is {self.found}, at {self.where}\nOne value decides for all. Use np.where to "
            "choose entry by entry, vmap to decide for each member of a batch, or np.any and np.all."
        )


class ScanOutputError(FuncgradError, TypeError):
    """The function under `scan` did not return a pair.

    >>> from funcgrad import lax
    >>> lax.scan(lambda c, x: c, 0.0, length=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.ScanOutputError: <lambda> returned a float under scan, at ...
    """

    def __init__(self, function, found, where):
        super().__init__(function, found, where)
        self.function, self.found, self.where = function, found, where

    def __str__(self):
        return (
            f"{self.function} returned a {self.found} under scan, at {self.where}\nReturn the pair (carry, "
            "y); y may be None."
        )
