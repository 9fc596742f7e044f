"""Errors about traced values: what would cut a derivative, or has none here."""

from funcgrad.errors.base import FuncgradError


class EscapedTracerError(FuncgradError, RuntimeError, TypeError):
    """A traced value was used after the transform that made it had ended.

    It was kept in a global, an attribute, a default argument or a generator. Its value was part of one
    run of one transform; return what you need from the function instead:

    >>> from funcgrad import grad
    >>> log = []
    >>> grad(lambda x: log.append(x) or x * x)(3.0)
    np.float64(6.0)
    >>> log[0] + 1.0
    Traceback (most recent call last):
        ...
    funcgrad.errors.EscapedTracerError: add was given a traced value that leaked from a reverse-mode ...
    ...
    >>> grad(lambda x: (x * x, [x]), has_aux=True)(3.0)
    (np.float64(6.0), [np.float64(3.0)])
    """

    def __init__(self, operation, transform, where):
        super().__init__(operation, transform, where)
        self.operation, self.transform, self.where = operation, transform, where

    def __str__(self):
        return (
            f"{self.operation} was given a traced value that leaked from {self.transform}, started at "
            f"{self.where} and ended since\nThe function stored it somewhere outside (a global, an "
            "attribute, a list). Return it instead, with has_aux=True, or store stop_gradient(x)."
        )


class ConcretizationError(FuncgradError, TypeError):
    """Something asked for the plain value of a traced one, which would cut the derivative silently.

    `float(x)`, `math.sin(x)`, `np.asarray(x)`, `x.item()` and putting it into a plain array all do.

    >>> import math
    >>> from funcgrad import grad
    >>> grad(lambda x: math.sin(x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.ConcretizationError: float(x) on a traced value, at ...
    """

    def __init__(self, reading, cure, where):
        super().__init__(reading, cure, where)
        self.reading, self.cure, self.where = reading, cure, where

    def __str__(self):
        return (
            f"{self.reading} on a traced value, at {self.where}: it would cut the derivative without a "
            f"trace\n{self.cure}"
        )


class UnknownValueError(FuncgradError, TypeError):
    """A branch, an integer or an index was read from a value that is not known.

    Under `vmap` a value differs from member to member, and in a program staged from types alone there is
    none. Compute both sides and select:

    >>> import numpy as np
    >>> from funcgrad import vmap
    >>> vmap(lambda x: x if x > 0 else 2.0 * x)(np.array([-1.0, 1.0]))
    Traceback (most recent call last):
        ...
    funcgrad.errors.UnknownValueError: bool(x), or a branch on x, needs a value, which vmap does not ...
    ...
    >>> vmap(lambda x: np.where(x > 0, x, 2.0 * x))(np.array([-1.0, 1.0]))
    array([-2.,  1.])
    """

    def __init__(self, reading, transform, where):
        super().__init__(reading, transform, where)
        self.reading, self.transform, self.where = reading, transform, where

    def __str__(self):
        if "bool" in self.reading:
            cure = (
                "Select with np.where(condition, a, b), which computes both sides, or branch with "
                "funcgrad.lax.cond(condition, f, g, *args)"
            )
        else:
            cure = (
                "Read one entry with x[i] or funcgrad.numpy.take(a, i, axis=0); in place of a length i take "
                "all, and np.where(np.arange(n) < i, x, 0.0)"
            )
        return (
            f"{self.reading} needs a value, which {self.transform} does not have, at {self.where}\n"
            f"{cure}; or pass values in place of types to make_jaxpr."
        )


class OperandTypeError(FuncgradError, TypeError):
    """An operation on traced values has an operand that is no plain array of numbers.

    A `numpy.matrix` multiplies in another way, a masked array leaves entries out, and an array of objects
    computes with methods of Python objects: the rules of derivatives do not hold for them. Convert it:

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> scores = np.array([1, 2], dtype=object)
    >>> grad(lambda x: np.sum(x * scores))(np.ones(2))
    Traceback (most recent call last):
        ...
    funcgrad.errors.OperandTypeError: multiply was given a traced value and values of dtype object, at ...
    ...
    >>> grad(lambda x: np.sum(x * scores.astype(float)))(np.ones(2))
    array([1., 2.])
    """

    def __init__(self, operation, found, where):
        super().__init__(operation, found, where)
        self.operation, self.found, self.where = operation, found, where

    def __str__(self):
        return (
            f"{self.operation} was given a traced value and {self.found}, at {self.where}\nIts operations "
            "differ from those of an array of numbers. Convert it before: np.asarray(m), "
            "m.filled(0.0), or objects.astype(float)."
        )


def _in_full(function: str) -> str:
    """A function's name with its library: NumPy's go without."""
    others = function.startswith("scipy.") or function.endswith("(vectorized)")
    return function if others else f"np.{function}"


class UnsupportedFunctionError(FuncgradError, NotImplementedError, TypeError):
    """A function that has no implementation for traced values.

    It may be called on plain values as ever. Write what it computes with supported functions, cut the
    derivative if it is not wanted, or add it: `docs/adding_a_primitive.md` takes one page.

    >>> import numpy as np
    >>> import funcgrad.numpy as fnp
    >>> from funcgrad import grad
    >>> x = np.array([1.0, -3.0, 2.0])
    >>> def cube(x): return x**3
    >>> grad(lambda x: np.sum(np.frompyfunc(cube, 1, 1)(x)))(x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.UnsupportedFunctionError: cube (vectorized) is not supported on traced values, at ...
    ...
    >>> grad(lambda x: np.sum(fnp.vectorize(cube)(x)))(x)
    array([ 3., 27., 12.])

    Attributes:
        name: of a function of NumPy's in its namespace (``linalg.solve``), of others in full.
        where: the place of the call.
        instead: what to write in its place, or None.
    """

    def __init__(self, name, where, instead=None):
        super().__init__(name, where, instead)
        self.name, self.where, self.instead = name, where, instead

    def __str__(self):
        cure = self.instead or (
            "Write it with supported functions, or apply it to stop_gradient(x) if its derivative is "
            "not wanted. docs/adding_a_primitive.md shows how to add it."
        )
        return f"{_in_full(self.name)} is not supported on traced values, at {self.where}\n{cure}"


class UnsupportedArgumentError(FuncgradError, NotImplementedError, TypeError):
    """A NumPy function is supported on traced values, but not with this argument.

    The message says what to write in its place, most often another function after or before it:

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> x = np.array([0.0, 1.0])
    >>> grad(lambda x: np.sum(np.exp(x, where=x > 0)))(x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.UnsupportedArgumentError: np.exp does not support where=, at ...
    ...
    >>> grad(lambda x: np.sum(np.where(x > 0, np.exp(x), 0.0)))(x)
    array([0.        , 2.71828183])
    """

    def __init__(self, function, argument, where, cure):
        super().__init__(function, argument, where, cure)
        self.function, self.argument, self.where, self.cure = function, argument, where, cure

    def __str__(self):
        return f"{_in_full(self.function)} does not support {self.argument}, at {self.where}\n{self.cure}"


class InPlaceError(FuncgradError, TypeError):
    """An operation would write into an array where the derivative cannot follow.

    Traced arrays can be written to, but a plain one can hold no traced value. Make it like a traced one:

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> def f(x):
    ...     out = np.zeros(2)
    ...     np.copyto(out, x * x)
    ...     return np.sum(out)
    >>> grad(f)(np.array([1.0, 3.0]))
    Traceback (most recent call last):
        ...
    funcgrad.errors.InPlaceError: np.copyto writes in place into or from a traced value, at ...
    ...
    >>> def f(x):
    ...     out = np.zeros_like(x)
    ...     out[0] = x[0] * x[1]
    ...     return np.sum(out)
    >>> grad(f)(np.array([1.0, 3.0]))
    array([3., 1.])
    """

    def __init__(self, what, where, instead=None):
        super().__init__(what, where, instead)
        self.what, self.where, self.instead = what, where, instead

    def __str__(self):
        cure = self.instead or (
            "A plain array holds no traced value: make it with np.zeros_like(v), np.zeros(shape, like=v) or "
            "np.array(x, like=v). Or write it without: x = x + v, np.where(mask, v, x), np.stack or "
            "np.concatenate of the parts."
        )
        return f"{self.what} writes in place into or from a traced value, at {self.where}\n{cure}"


class ChangedResidualError(FuncgradError, RuntimeError):
    """An array that the derivative depends on was changed in place after it was used.

    The backward pass reads the values of the forward pass: the operands or the result of the operation that
    the message names. Work on a copy, or make a new array. (PyTorch raises in this case too.)

    >>> import numpy as np
    >>> from funcgrad import vjp
    >>> x = np.array([1.0, 2.0])
    >>> out, pull = vjp(lambda x: np.sin(x), x)
    >>> x[0] = 5.0
    >>> pull(np.ones(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    funcgrad.errors.ChangedResidualError: an array that the derivative of sin needs was changed in place ...
    """

    def __init__(self, operation, where, shape, dtype):
        super().__init__(operation, where, shape, dtype)
        self.operation, self.where, self.shape, self.dtype = operation, where, shape, dtype

    def __str__(self):
        return (
            f"an array that the derivative of {self.operation} needs was changed in place (shape "
            f"{self.shape}, dtype {self.dtype})\n{self.operation} was called at {self.where}, and the "
            "backward pass reads the values of the forward pass. Work on a copy (x = x.copy()), or make a "
            "new array in place of changing this one."
        )
