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
