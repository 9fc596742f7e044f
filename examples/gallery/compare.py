"""What the programs of this gallery print: a derivative beside one found in another way."""

import numpy as np


def agree(what: str, found, expected, tolerance: float = 1e-10) -> None:
    """Prints the largest difference, relative to the largest entry, and fails if it is too large."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shapes {found.shape} and {expected.shape}"
    error = np.max(np.abs(found - expected)) / max(1e-300, np.max(np.abs(expected)))
    print(f"  {what:64}{error:9.1e}")
    assert error <= tolerance, f"{what}: off by {error:.1e}"  # a NaN fails, too


def complex_step(f, x: np.ndarray) -> np.ndarray:
    """The Jacobian of an analytic function, by Im f(x + ih) / h: no differences, so no cancellation.

    Source: Squire and Trapp, Using complex variables to estimate derivatives of real functions, 1998.
    """
    x = np.asarray(x, complex)
    columns = []
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += 1e-30j
        columns.append(np.imag(f(moved)) / 1e-30)
    return np.stack(columns, -1).reshape(*np.shape(columns[0]), *x.shape)
