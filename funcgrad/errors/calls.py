"""Errors about functions that the tape sees as one operation: checkpoints, custom rules, control flow."""

from funcgrad.errors.base import FuncgradError


class ImpureFunctionError(FuncgradError, RuntimeError):
    """A function that runs again in the backward pass did not do what it did before.

    `checkpoint` stores a function's inputs only and runs it again for its derivative. Random numbers, counters
    and data that is read once make it another function by then.

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
