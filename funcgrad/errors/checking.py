"""Errors of funcgrad.testing: derivatives that disagree."""

from funcgrad.errors.base import FuncgradError


class DerivativeMismatchError(FuncgradError, AssertionError):
    """`check_grads` found a derivative that is not the numerical one.

    It names the word of modes (``fwd-over-rev`` is the jvp of a vjp), and the first entry that is wrong:
    of the function's result for words of forward mode only, of its arguments for the others.
    """

    def __init__(self, function, word, path, entry, found, expected, tolerance):
        super().__init__(function, word, path, entry, found, expected, tolerance)
        self.function, self.word, self.path, self.entry = function, word, path, entry
        self.found, self.expected, self.tolerance = found, expected, tolerance

    def __str__(self):
        entry = f"[{', '.join(map(str, self.entry))}]" if self.entry else ""
        return (
            f"the {self.word} derivative of {self.function} is wrong at {self.path}{entry}: found "
            f"{self.found}, numerically {self.expected} (tolerance {self.tolerance:.2g})\n"
            "If a lower order or the other mode passes, the fault is in the rule that only this word uses. "
            "If the digits agree as far as the dtype can, pass rtol and atol."
        )


class NotSmoothError(DerivativeMismatchError):
    """`check_grads` was called at a point where there is no derivative to compare with.

    A kink (`abs` at 0), a jump, the edge of the domain, a derivative that grows without bound. What
    funcgrad returns there is stated in the table of singular points in the documentation; numerically
    there is nothing to check.
    """

    def __init__(self, function, path, entry, why):
        Exception.__init__(self, function, path, entry, why)
        self.function, self.path, self.entry, self.why = function, path, entry, why

    def __str__(self):
        entry = f"[{', '.join(map(str, self.entry))}]" if self.entry else ""
        return (
            f"{self.function} cannot be differentiated numerically at this point: of {self.path}{entry}, "
            f"{self.why}\nDerivatives are compared at points where the function is smooth. Move the point "
            "a little, or compare with the value that you expect there."
        )


class NothingToCheckError(FuncgradError, ValueError):
    """`check_grads` was given a function without floating-point arguments or results.

    Only those have derivatives. Pass floating-point numbers:

    >>> from funcgrad.testing import check_grads
    >>> check_grads(lambda x: x * x, (3,))
    Traceback (most recent call last):
        ...
    funcgrad.errors.NothingToCheckError: <lambda> has no floating-point or complex arguments, so no ...
    ...
    >>> check_grads(lambda x: x * x, (3.0,))
    """

    def __init__(self, function, what):
        super().__init__(function, what)
        self.function, self.what = function, what

    def __str__(self):
        return (
            f"{self.function} has no floating-point or complex {self.what}, so no derivative either\n"
            "Pass numbers such as 3.0 or x.astype(float), and return some."
        )


class LawError(FuncgradError, AssertionError):
    """A law that holds of every function was found broken: in a batch, a program, a type, a dtype.

    Every transform of a function gives what the function gives. If one does not, a rule of a primitive
    (its batching, its type, a value that its derivative makes up) is wrong.
    """

    def __init__(self, function, law, path, found, expected):
        super().__init__(function, law, path, found, expected)
        self.function, self.law, self.path = function, law, path
        self.found, self.expected = found, expected

    def __str__(self):
        return (
            f"{self.function}, {self.law}: found {self.found}{self.path and f' at {self.path}'}, expected "
            f"{self.expected}\nA transform gives what the function itself gives. Look at the batching rule, "
            "the typing rule and the derivatives of the primitives that it uses."
        )
