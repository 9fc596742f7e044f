"""Errors about what is differentiated: arguments, outputs, tangents, rules."""

from funcgrad.errors.base import FuncgradError


class ArgnumsError(FuncgradError, TypeError):
    """`argnums` names an argument that the call did not give.

    Positions count the positional arguments of the call, negative ones from the end; names are those
    of the function's parameters.
    """

    def __init__(self, argnums, function, given, names=(), what="argnums"):
        super().__init__(argnums, function, given, names, what)
        self.argnums, self.function, self.given, self.names = argnums, function, given, names
        self.what = what

    def __str__(self):
        named = f" and the parameters {', '.join(self.names)}" if self.names else ""
        return (
            f"{self.what}={self.argnums!r}, but {self.function} was called with {self.given} positional "
            f"argument(s){named}\nPositions run from 0 and must be among the arguments of the call; "
            "name one that is passed, or pass it."
        )


class RepeatedArgumentError(FuncgradError, ValueError):
    """`argnums` names an argument twice, so its derivative would have two places in the result.

    A negative position and a name count too: of ``f(x, y)`` the positions 1 and -1 and the name ``"y"`` are
    the same argument. Name each once.
    """

    def __init__(self, argnums, function):
        super().__init__(argnums, function)
        self.argnums, self.function = argnums, function

    def __str__(self):
        return (
            f"argnums={self.argnums!r} names an argument of {self.function} twice\n"
            "Each has one place in the result. Name it once (-1 is the last positional argument)."
        )


class InputTypeError(FuncgradError, TypeError):
    """An argument to be differentiated holds something that carries no derivative.

    Integers and booleans have none, strings, objects, masked arrays and matrices are not numbers to
    NumPy's floating-point functions, and lists of numbers are containers of leaves, not arrays.

    >>> from funcgrad import grad
    >>> grad(lambda x: x * 2.0)(3)
    Traceback (most recent call last):
        ...
    funcgrad.errors.InputTypeError: arg[0] is of type int, which has no derivative
    Write 3.0, or allow_int=True for a float0 result.
    """

    def __init__(self, path, found, why, cure):
        super().__init__(path, found, why, cure)
        self.path, self.found, self.why, self.cure = path, found, why, cure

    def __str__(self):
        return f"{self.path} is {self.found}, {self.why}\n{self.cure}"


class NonScalarOutputError(FuncgradError, TypeError):
    """The function given to `grad` does not return a scalar.

    A gradient is the derivative of one number. For an array-valued function take the Jacobian, or make
    one number of it.
    """

    def __init__(self, function, found):
        super().__init__(function, found)
        self.function, self.found = function, found

    def __str__(self):
        return (
            f"grad needs a function with a scalar output, but {self.function} returned {self.found}\n"
            "A gradient is the derivative of one number. Use jacrev or jacfwd for all derivatives of "
            "an array, or reduce it first, for instance with np.sum(...). Values beside the loss are "
            "returned as (loss, aux), with has_aux=True."
        )


class OutputTypeError(FuncgradError, TypeError):
    """The function returned something that cannot be differentiated."""

    def __init__(self, function, found, cure):
        super().__init__(function, found, cure)
        self.function, self.found, self.cure = function, found, cure

    def __str__(self):
        return f"{self.function} returned {self.found}\n{self.cure}"


class AuxError(FuncgradError, TypeError):
    """With ``has_aux=True`` a function must return a pair: what is differentiated, and the rest."""

    def __init__(self, function, found):
        super().__init__(function, found)
        self.function, self.found = function, found

    def __str__(self):
        return (
            f"has_aux=True, but {self.function} returned {self.found} in place of a pair\n"
            "Return (output, aux), or leave has_aux out."
        )


class TangentError(FuncgradError, TypeError, ValueError):
    """Tangents do not match the primals: another structure, shape or dtype."""

    def __init__(self, path, expected, found):
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self):
        return (
            f"tangent{self.path}: expected {self.expected}, found {self.found}\n"
            "A tangent has the structure, shape and dtype of its primal (float0 for integers and "
            "booleans): np.zeros_like(x), x.astype(...), or np.ones_like(x) make one."
        )


class CotangentError(FuncgradError, ValueError, TypeError):
    """A cotangent does not match the function's output: another structure, shape or dtype."""

    def __init__(self, path, expected, found):
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self):
        return (
            f"cotangent{self.path}: expected {self.expected}, found {self.found}\n"
            "A cotangent has the structure, shape and dtype of the function's output; "
            "np.ones_like(out) makes one."
        )


class UnusedInputError(FuncgradError, ValueError):
    """With ``unused="error"``: the output does not depend on an argument."""

    def __init__(self, function, path, cut):
        super().__init__(function, path, cut)
        self.function, self.path, self.cut = function, path, cut

    def __str__(self):
        cut = f"; its dependence was last cut at {self.cut}" if self.cut else ""
        return (
            f"the output of {self.function} does not depend on {self.path}{cut}\n"
            "Use the argument, leave it out of argnums, or pass unused='zero'."
        )


class NotLinearError(FuncgradError, ValueError):
    """`linear_transpose` was given a function that is not linear."""

    def __init__(self, function, why):
        super().__init__(function, why)
        self.function, self.why = function, why

    def __str__(self):
        return (
            f"{self.function} is not linear: {self.why}\nlinear_transpose needs f(a x + b y) = a f(x) "
            "+ b f(y); for the transposed derivative of any function take vjp."
        )


class RuleError(FuncgradError, TypeError):
    """A primitive, or a rule of one, was declared wrongly."""

    def __init__(self, primitive, why):
        super().__init__(primitive, why)
        self.primitive, self.why = primitive, why

    def __str__(self):
        return f"primitive {self.primitive}: {self.why}\nSee docs/adding_a_primitive.md."
