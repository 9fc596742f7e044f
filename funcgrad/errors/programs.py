"""Errors about programs, batches and non-finite values; warnings."""

from funcgrad.errors.base import FuncgradError


class ProgramArgumentsError(FuncgradError, TypeError):
    """A program was evaluated with the wrong number of values.

    It takes its constants as one sequence, then the leaves of its inputs one by one, flat:

    >>> from funcgrad import eval_jaxpr, make_jaxpr, tree
    >>> program = make_jaxpr(lambda p: p["a"] * p["b"])({"a": 2.0, "b": 3.0})
    >>> eval_jaxpr(program, program.consts, {"a": 2.0, "b": 3.0})
    Traceback (most recent call last):
        ...
    funcgrad.errors.ProgramArgumentsError: the program takes 0 constants and 2 inputs, but was given 0 and 1
    ...
    >>> eval_jaxpr(program, program.consts, *tree.leaves({"a": 2.0, "b": 3.0}))
    [6.0]
    """

    def __init__(self, constants, inputs, given_constants, given_inputs):
        super().__init__(constants, inputs, given_constants, given_inputs)
        self.wanted, self.given = (constants, inputs), (given_constants, given_inputs)

    def __str__(self):
        return (
            f"the program takes {self.wanted[0]} constants and {self.wanted[1]} inputs, but was given "
            f"{self.given[0]} and {self.given[1]}\nCall eval_jaxpr(program, program.consts, *leaves) "
            "with one leaf for each input variable."
        )


class ProgramError(FuncgradError, ValueError):
    """A program is malformed: what the checker found, with the equations around it.

    Programs of `make_jaxpr` are well formed; one that was put together or changed by hand may read a variable
    before it is bound, bind one twice, or state a type that its primitive does not give. Types are part of
    variables, so an equation whose primitive is replaced needs a new variable for its result.

    >>> from funcgrad import check_jaxpr, make_jaxpr
    >>> program = make_jaxpr(lambda x: 2.0 * x + 1.0)(1.0)
    >>> program.eqns.reverse()
    >>> check_jaxpr(program)
    Traceback (most recent call last):
        ...
    funcgrad.errors.ProgramError: a variable is read before it is bound, in the equation from ...
    ...
    >>> program.eqns.reverse()
    >>> check_jaxpr(program)
    """

    def __init__(self, what, where, excerpt):
        super().__init__(what, where, excerpt)
        self.what, self.where, self.excerpt = what, where, excerpt

    def __str__(self):
        return f"{self.what}, in the equation from {self.where}:\n{self.excerpt}"


class BatchAxisError(FuncgradError, ValueError, TypeError):
    """The arguments or results of `vmap` do not agree on a batch axis.

    All batched arguments have one size along their axes; at least one is batched, or `axis_size` is given; a
    result that depends on them has a place for the axis. ``in_axes=None`` is for what all members share:

    >>> import numpy as np
    >>> from funcgrad import vmap
    >>> vmap(np.add)(np.ones(3), np.ones(2))
    Traceback (most recent call last):
        ...
    funcgrad.errors.BatchAxisError: vmap(add): the batch axes have different sizes (arg[0]: 3, arg[1]: 2)
    ...
    >>> vmap(np.add, in_axes=(0, None))(np.ones(3), np.ones(2)).shape
    (3, 2)
    """

    def __init__(self, what, cure):
        super().__init__(what, cure)
        self.what, self.cure = what, cure

    def __str__(self):
        return f"{self.what}\n{self.cure}"


class BatchedMaskError(FuncgradError, IndexError, TypeError):
    """A result's length would depend on a boolean mask whose values are not known.

    Under `vmap` each member of the batch has a mask of its own, and the results would differ in length;
    in a program that is staged on types alone there are no values at all.

    >>> import numpy as np
    >>> from funcgrad import vmap
    >>> vmap(lambda x: np.sum(x[x > 0.0]))(np.array([[1.0, -1.0], [2.0, 3.0]]))
    Traceback (most recent call last):
        ...
    funcgrad.errors.BatchedMaskError: the length of ... depends on a mask ...

    Keep the length, and put in place of what is not selected a value that does no harm:

    >>> vmap(lambda x: np.sum(np.where(x > 0.0, x, 0.0)))(np.array([[1.0, -1.0], [2.0, 3.0]]))
    array([1., 5.])
    """

    def __init__(self, what, where):
        super().__init__(what, where)
        self.what, self.where = what, where

    def __str__(self):
        return (
            f"the length of {self.what} depends on a mask whose values are not known, at {self.where}\n"
            "Under vmap each member has its own, and lengths would differ. Select with np.where(mask, x, "
            "0.0), which keeps the shape, or compute the mask outside of vmap."
        )


class NonFiniteError(FuncgradError, FloatingPointError):
    """Under `debug_nans`: a result is not finite, though all that it came from was.

    The message names the operation where the NaN or infinity arose, in the forward or the backward pass, the
    line, the entry and the factor. Keep the argument away from the singular point, or select:

    >>> import numpy as np
    >>> from funcgrad import debug_nans, grad
    >>> x = np.array([0.0, 4.0])
    >>> with debug_nans():
    ...     grad(lambda x: np.sum(np.sqrt(x)))(x)
    Traceback (most recent call last):
        ...
    funcgrad.errors.NonFiniteError: sqrt made inf from finite values in the backward pass, at entry (0,); ...
    ...
    >>> with debug_nans():
    ...     grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x)
    array([0.  , 0.25])
    """

    def __init__(self, operation, where, sweep, entry, found, factor):
        super().__init__(operation, where, sweep, entry, found, factor)
        self.operation, self.where, self.sweep = operation, where, sweep
        self.entry, self.found, self.factor = entry, found, factor

    def __str__(self):
        return (
            f"{self.operation} made {self.found} from finite values in the {self.sweep} pass, at entry "
            f"{self.entry}; {self.factor}\nThe operation was called at {self.where}. Keep its argument "
            "away from the singular point, or select with np.where, whose dead entries stay zero."
        )


class DependenceCutWarning(UserWarning):
    """A gradient is zero since the dependence was cut by an operation without derivative.

    Comparisons, rounding, `argmax`, conversions to integers and reads by Python (``if x``, ``int(x)``) have
    no derivative. If no other way leads from an argument to the output, its gradient is zero, which may be
    meant, and often is a mistake. The warning names the line; ``grad(..., unused="zero")`` says that it is
    meant, ``unused="error"`` makes it an error. Where a derivative is wanted write a smooth stand-in, for
    instance ``np.tanh`` for ``np.sign``.
    """


class RefusalCaughtWarning(UserWarning):
    """A function caught the error that refused it a traced value as a plain one, and went on.

    What ``try: float(x)`` falls back to may not depend on x any more, or only in part, and nothing else would
    tell. The warning names the line. Where a plain value is meant write ``float(stop_gradient(x))``.
    """


class BatchLoopWarning(UserWarning):
    """A primitive without batching rule runs in a loop over the batch.

    The result is right, but slow. All of funcgrad's own primitives have a rule; declare one for yours:
    ``@primitive.batching``, or ``core=`` for the number of axes that do not broadcast (see
    `docs/adding_a_primitive.md`).
    """
