"""Errors about what is differentiated: arguments, outputs, tangents, rules."""

from funcgrad.errors.base import FuncgradError


class ArgnumsError(FuncgradError, TypeError):
    """`argnums` names an argument that the call did not give.

    Positions count the positional arguments of the call, negative ones from the end; names are those of the
    function's parameters. An argument that is left at its default is no argument of the call. Pass it:

    >>> from funcgrad import grad
    >>> area = lambda width, height=2.0: width * height
    >>> grad(area, argnums=1)(3.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.ArgnumsError: argnums=1, but <lambda> was called with 1 positional argument(s)
    ...
    >>> grad(area, argnums=1)(3.0, 2.0), grad(area, argnums="height")(3.0, height=2.0)
    (np.float64(3.0), np.float64(3.0))
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
    the same argument. Name each once:

    >>> from funcgrad import grad
    >>> grad(lambda x, y: x * y, argnums=(1, -1))(2.0, 3.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.RepeatedArgumentError: argnums=(1, -1) names an argument of <lambda> twice
    ...
    >>> grad(lambda x, y: x * y, argnums=(0, -1))(2.0, 3.0)
    (np.float64(3.0), np.float64(2.0))
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

    A gradient is the derivative of one number. An array of shape (1,) is no scalar either. Take the Jacobian
    of a function of several results, or make one number of them:

    >>> import numpy as np
    >>> from funcgrad import grad, jacrev
    >>> x = np.array([1.0, 2.0])
    >>> grad(lambda x: x * x)(x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.NonScalarOutputError: grad needs a function with a scalar output, but ...
    ...
    >>> grad(lambda x: np.sum(x * x))(x)
    array([2., 4.])
    >>> jacrev(lambda x: x * x)(x)
    array([[2., 0.],
           [0., 4.]])
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
    """The function returned something that cannot be differentiated.

    Outputs are floating-point numbers, arrays, and containers of them; for `grad` also no complex numbers,
    unless the function is complex-differentiable and ``holomorphic=True`` says so. Whatever else a function
    has to tell goes beside its output:

    >>> from funcgrad import grad
    >>> grad(lambda x: f"{x:.1f}")(2.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.OutputTypeError: <lambda> returned '2.0'
    ...
    >>> grad(lambda x: (x * x, f"{x:.1f}"), has_aux=True)(2.0)
    (np.float64(4.0), '2.0')
    """

    def __init__(self, function, found, cure):
        super().__init__(function, found, cure)
        self.function, self.found, self.cure = function, found, cure

    def __str__(self):
        return f"{self.function} returned {self.found}\n{self.cure}"


class AuxError(FuncgradError, TypeError):
    """With ``has_aux=True`` a function must return a pair: what is differentiated, and the rest.

    The second part passes through as it is, without tracers. Return two things, the second of any structure:

    >>> from funcgrad import grad
    >>> grad(lambda x: x * x, has_aux=True)(3.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.AuxError: has_aux=True, but <lambda> returned a Recorded in place of a pair
    ...
    >>> grad(lambda x: (x * x, {"twice": 2.0 * x}), has_aux=True)(3.0)
    (np.float64(6.0), {'twice': np.float64(6.0)})
    """

    def __init__(self, function, found):
        super().__init__(function, found)
        self.function, self.found = function, found

    def __str__(self):
        return (
            f"has_aux=True, but {self.function} returned {self.found} in place of a pair\n"
            "Return (output, aux), or leave has_aux out."
        )


class TangentError(FuncgradError, TypeError, ValueError):
    """Tangents do not match the primals: another structure, shape or dtype.

    A tangent is a direction in the space of its primal, so it is like it; that of an integer or boolean has
    no values, and the dtype `float0`. A Python number stands for a scalar of any dtype. The message names
    the leaf: ``tangent[0]['w']`` belongs to the first argument.

    >>> import numpy as np
    >>> from funcgrad import jvp
    >>> x = np.ones(3, np.float32)
    >>> jvp(np.sin, (x,), (np.ones(3),))
    Traceback (most recent call last):
        ...
    funcgrad.errors.TangentError: tangent[0]: expected float32[3], found float64[3]
    ...
    >>> jvp(np.negative, (x,), (np.ones_like(x),))[1]
    array([-1., -1., -1.], dtype=float32)
    """

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
    """A cotangent does not match the function's output: another structure, shape or dtype.

    A cotangent says how much each entry of the output counts, so it is like the output. The message names the
    leaf. Make it from the output:

    >>> import numpy as np
    >>> from funcgrad import vjp
    >>> out, pull = vjp(lambda x: {"y": 2.0 * x}, np.ones(2))
    >>> pull(np.ones(2))
    Traceback (most recent call last):
        ...
    funcgrad.errors.CotangentError: cotangent: expected {'y': *}, found a leaf ...
    ...
    >>> pull({"y": np.ones_like(out["y"])})
    (array([2., 2.]),)
    """

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
    """With ``unused="error"``: the output does not depend on an argument.

    Its gradient would be zero, whatever the argument is. If the dependence was cut, by a comparison, a
    rounding or an integer read, the message names that line. Use the argument, or leave it out:

    >>> from funcgrad import grad
    >>> grad(lambda x, y: x * x, argnums=(0, 1), unused="error")(3.0, 2.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.UnusedInputError: the output of <lambda> does not depend on arg[1]
    ...
    >>> grad(lambda x, y: x * x, unused="error")(3.0, 2.0)
    np.float64(6.0)
    """

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
    """`linear_transpose` was given a function that is not linear.

    An operation's derivative depends on the argument, a comparison with it chooses a branch, or f(0) is not
    0. The derivative of any function is linear: `vjp` gives its transpose.

    >>> import numpy as np
    >>> from funcgrad import linear_transpose, vjp
    >>> x = np.array([1.0, 2.0])
    >>> linear_transpose(lambda x: x * x, x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.NotLinearError: <lambda> is not linear: the derivative of square, at ...
    ...
    >>> linear_transpose(lambda x: x * np.array([3.0, 4.0]), x)(np.ones(2))
    (array([3., 4.]),)
    >>> vjp(lambda x: x * x, x)[1](np.ones(2))
    (array([2., 4.]),)
    """

    def __init__(self, function, why):
        super().__init__(function, why)
        self.function, self.why = function, why

    def __str__(self):
        return (
            f"{self.function} is not linear: {self.why}\nlinear_transpose needs f(a x + b y) = a f(x) "
            "+ b f(y); for the transposed derivative of any function take vjp."
        )


class RuleError(FuncgradError, TypeError):
    """A primitive, or a rule of one, was declared wrongly.

    Names of primitives are unique; a rule's parameters after `g` are names of its arguments, ``y``, or
    ``<argument>_shape`` and the like; rules and batches return what they should. The message says which.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad.extend import elementwise
    >>> cube = elementwise(lambda x: x * x * x, lambda g, z: 3.0 * g * z * z, name="wrong_cube")
    >>> grad(cube)(2.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.RuleError: primitive wrong_cube: the rule reads 'z', which is no argument of it
    ...
    >>> cube = elementwise(lambda x: x * x * x, lambda g, x: 3.0 * g * x * x, name="right_cube")
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """

    def __init__(self, primitive, why):
        super().__init__(primitive, why)
        self.primitive, self.why = primitive, why

    def __str__(self):
        return f"primitive {self.primitive}: {self.why}\nSee docs/adding_a_primitive.md."


class MissingDerivativeError(FuncgradError, NotImplementedError, TypeError):
    """A function depends on a traced argument in a way whose derivative has no closed form.

    The order of a Bessel function is one, the degrees of freedom of Student's distribution another. The
    function's other arguments have their derivatives. Cut the derivative if the argument is a constant of
    the problem; else put differences in place of a rule, or declare a primitive with a rule of your own:

    >>> import numpy as np
    >>> from scipy import special
    >>> from funcgrad import custom_jvp, grad, stop_gradient
    >>> grad(lambda v: special.jv(v, 2.0))(0.5)
    Traceback (most recent call last):
        ...
    funcgrad.errors.MissingDerivativeError: jv has no derivative here with respect to its argument v, ...
    ...
    >>> round(float(grad(lambda x: special.jv(stop_gradient(0.5 * x), x))(1.0)), 6)
    0.095401
    >>> jv = custom_jvp(special.jv, numeric="central")
    >>> round(float(grad(lambda v: jv(v, 2.0))(0.5)), 6)
    0.340475
    """

    def __init__(self, operation, argument, why, where):
        super().__init__(operation, argument, why, where)
        self.operation, self.argument, self.why, self.where = operation, argument, why, where

    def __str__(self):
        return (
            f"{self.operation} has no derivative here with respect to its argument {self.argument}, at "
            f"{self.where}\n{self.why}. Write stop_gradient({self.argument}) if it is a constant of the "
            "problem; or put differences in place of a rule: funcgrad.custom_jvp(f, numeric='central') of "
            "the function f that calls it."
        )
