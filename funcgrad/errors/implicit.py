"""Errors about solutions of equations, which are differentiated by the equation and not by the solver."""

import numpy as np

from funcgrad.errors.base import FuncgradError


class NotConvergedError(FuncgradError, ArithmeticError):
    """A solver's result does not solve the equation that its derivatives are taken by.

    Derivatives of a solution follow from the equation, which must hold: at another point the same formulas
    give numbers that are the derivative of nothing. A step of Newton's method (or, of linear equations, the
    residual) tells how far the result is from a solution.

    >>> from funcgrad import grad
    >>> from funcgrad import custom_root
    >>> def solve(f, x):
    ...     return x  # not at all
    >>> grad(lambda a: custom_root(lambda x: x**2 - a, 1.0, solve))(4.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.NotConvergedError: custom_root: the solver's result is no solution: a step of ...
    ...

    Attributes: `function`; `measure`, what was looked at; `found`, its size; `allowed`.
    """

    def __init__(self, function, measure, found, allowed, cure, where):
        super().__init__(function, measure, found, allowed, cure, where)
        self.function, self.measure, self.where = function, measure, where
        self.found, self.allowed, self.cure = found, allowed, cure

    def __str__(self):
        return (
            f"{self.function}: the solver's result is no solution: {self.measure} is {self.found:.1e}, more "
            f"than the {self.allowed:.1e} allowed, at {self.where}\n"
            f"Derivatives follow from the equation, which must hold. {self.cure}"
        )


class SingularSystemError(FuncgradError, np.linalg.LinAlgError):
    """The linearised equation has no unique solution, so neither has the derivative.

    At a double root, at the bottom of a valley, at an optimum that a whole line of points shares, the
    solution does not move smoothly with the parameters.

    >>> from funcgrad import grad
    >>> from funcgrad import custom_root
    >>> grad(lambda a: custom_root(lambda x: x**3 - a, 0.0, lambda f, x: x))(0.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.SingularSystemError: custom_root: the derivative of f(x) in x is singular at the ...
    ...
    """

    def __init__(self, function, what, where):
        super().__init__(function, what, where)
        self.function, self.what, self.where = function, what, where

    def __str__(self):
        return (
            f"{self.function}: {self.what} is singular at the solution, at {self.where}\n"
            "There the solution is not unique or moves infinitely fast, and has no derivative. Change the "
            "equation so that it determines x (fix what is free, add a regularising term), or take the "
            "derivative elsewhere."
        )


class EquationError(FuncgradError, TypeError):
    """The function whose root is sought, or the solver, returned something of the wrong form.

    An equation for a tree x has as many numbers as x: f(x) has x's structure, and each leaf its shape. So has
    what the solver returns.

    >>> import numpy as np
    >>> from funcgrad import custom_root
    >>> custom_root(lambda x: x[:1], np.ones(2), lambda f, x: x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.EquationError: custom_root: f(x) is ...
    ...
    """

    def __init__(self, function, what, found, expected, where):
        super().__init__(function, what, found, expected, where)
        self.function, self.what, self.found, self.expected = function, what, found, expected
        self.where = where

    def __str__(self):
        return (
            f"{self.function}: {self.what} is {self.found} where {self.expected}, at {self.where}\n"
            "The unknown x, f(x) and the solver's result are trees of one structure, with leaves of the same "
            "shapes, real or complex alike. Return such a tree."
        )
