"""Errors about derivatives of eigenvalues and eigenvectors that do not exist."""

from funcgrad.errors.base import FuncgradError


class RepeatedEigenvalueError(FuncgradError, ValueError):
    """The derivative does not exist, since equal eigenvalues (or singular values) are told apart.

    The eigenvectors of a repeated eigenvalue are any basis of a space, and equal eigenvalues have no order.
    A function that depends on neither (a matrix function ``U f(w) U'``, a projector onto the whole space, the
    sum of some function of all eigenvalues) has a derivative there, and gets it. One that picks a vector or
    one of the equal values has none.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda a: np.linalg.eigvalsh(a)[0])(np.eye(2))
    Traceback (most recent call last):
        ...
    funcgrad.errors.RepeatedEigenvalueError: eigh: the values 0, 1 are equal (1.0), but the function ...
    ...

    Attributes: `function`; `group`, the places of the equal values; `value`; `unknown`, whether the function
    may have this derivative, but it is a second one, for which there is no rule at equal values.
    """

    def __init__(self, function, group, value, unknown, where):
        super().__init__(function, group, value, unknown, where)
        self.function, self.group, self.value = function, group, value
        self.unknown, self.where = unknown, where

    def __str__(self):
        found = f"the values {', '.join(map(str, self.group))} are equal ({self.value})"
        if self.unknown:
            return (
                f"{self.function}: {found}, at {self.where}\nThere only first derivatives through "
                "eigenvectors are known (and second ones through eigenvalues alone). Take the derivative at "
                "distinct values, or write the function without the vectors."
            )
        return (
            f"{self.function}: {found}, but the function depends on which of their vectors or which of "
            f"them is meant, at {self.where}\nThat is arbitrary, so there is no derivative. Use functions "
            "of the whole group (its sum, its projector U @ U.T), or a matrix with distinct values."
        )


class ArbitraryBasisError(FuncgradError, ValueError):
    """The function depends on the further columns of ``svd(a, full_matrices=True)`` or ``qr(a, "complete")``.

    They are any orthonormal basis of what the singular vectors leave out. Only what they span has a
    derivative: with these columns N, the projector ``N @ N.T``.
    """

    def __init__(self, function, where):
        super().__init__(function, where)
        self.function, self.where = function, where

    def __str__(self):
        return (
            f"{self.function}: the function depends on which basis completes the vectors, at {self.where}\n"
            "Any orthonormal one does. Use the projector N @ N.T of these columns N, or leave them "
            "out: full_matrices=False, mode='reduced'."
        )


class EigenvectorPhaseError(FuncgradError, ValueError):
    """The function depends on the phase of complex eigenvectors, which is arbitrary.

    With u also ``exp(1j * t) * u`` is an eigenvector. Only what does not change with t has a derivative:
    ``abs(u)``, products ``u[i] * conj(u[j])`` of a vector's entries, projectors.
    """

    def __init__(self, function, where):
        super().__init__(function, where)
        self.function, self.where = function, where

    def __str__(self):
        return (
            f"{self.function}: the function depends on the phase of the complex vectors, at {self.where}\n"
            "A vector times exp(1j * t) is as good. Use what does not depend on t, such as abs(u) or the "
            "projector u[:, None] * conj(u), or fix the phase: u * conj(u[k]) / abs(u[k])."
        )
