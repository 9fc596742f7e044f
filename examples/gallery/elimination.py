"""Gaussian elimination with partial pivoting, in place.

Source: Golub and Van Loan, Matrix Computations, 4th edition, algorithms 3.4.1 and 3.1.2: rows change places,
multipliers are kept where zeros would go, and each step updates in place what is left of the matrix; then
the right-hand side becomes the solution. Checked against the closed derivatives of determinant and solution.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, hvp, jacfwd, jacrev


def eliminate(a):
    """Overwrites a matrix by its factors, and columns behind it by what the first of these makes of them."""
    for k in range(len(a) - 1):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        a[[k, pivot]] = a[[pivot, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]


def log_determinant(a):
    a = a.copy()
    eliminate(a)
    return np.sum(np.log(np.abs(np.diag(a))))


def solve(a, b):
    a = np.column_stack([a, b])
    eliminate(a)
    x = a[:, -1]
    for i in reversed(range(len(x))):
        x[i] -= a[i, i + 1 : -1] @ x[i + 1 :]
        x[i] /= a[i, i]
    return x


def main():
    rng = np.random.default_rng(5)
    a, b, v = rng.normal(size=(6, 6)), rng.normal(size=6), rng.normal(size=(6, 6))
    inverse, x = np.linalg.inv(a), np.linalg.solve(a, b)

    agree("gradient of log |det A|: the inverse, transposed", grad(log_determinant)(a), inverse.T)
    second = -np.einsum("li,jk->ijkl", inverse, inverse)
    agree("its Hessian: products of the inverse's entries", hessian(log_determinant)(a), second)
    agree("its Hessian along a matrix", hvp(log_determinant)(a, v), -(inverse @ v @ inverse).T)
    agree("solution", solve(a, b), x)
    by_matrix = -np.einsum("ij,k->ijk", inverse, x)
    agree("solution by the matrix, in reverse mode", jacrev(solve)(a, b), by_matrix)
    agree("solution by the matrix, in forward mode", jacfwd(solve)(a, b), by_matrix)
    agree("solution by the right-hand side", jacrev(solve, 1)(a, b), inverse)
    agree("the same, by complex steps", complex_step(lambda b: solve(a, b), b), inverse)


if __name__ == "__main__":
    main()
