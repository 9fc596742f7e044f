"""Errors about programs, batches and non-finite values; warnings."""

from funcgrad.errors.base import FuncgradError


class ProgramArgumentsError(FuncgradError, TypeError):
    """A program was evaluated with the wrong number of values."""

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
    """A program is malformed: what the checker found, with the equations around it."""

    def __init__(self, what, where, excerpt):
        super().__init__(what, where, excerpt)
        self.what, self.where, self.excerpt = what, where, excerpt

    def __str__(self):
        return f"{self.what}, in the equation from {self.where}:\n{self.excerpt}"


class BatchAxisError(FuncgradError, ValueError):
    """The arguments of `vmap` do not agree on a batch axis."""

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
    """Under `debug_nans`: the first non-finite value that arose from finite ones."""

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
    """A gradient is zero because the dependence on the input was cut by an operation without derivative."""


class BatchLoopWarning(UserWarning):
    """A primitive without batching rule runs in a loop over the batch."""
