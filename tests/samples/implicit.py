"""Solutions of equations, by solvers that are no NumPy or are some."""

import numpy as np

from funcgrad._transforms.implicit import custom_fixed_point, custom_linear_solve, custom_root
from samples.table import Sample

A = np.array([[3.0, 0.4, -0.2], [0.1, 2.0, 0.3], [-0.5, 0.2, 4.0]])
B = np.array([0.7, -1.2, 2.0])
C = np.array([0.5, 1.3, 2.2])
DTYPES = ("f4", "f8", "c16")


def newton(f, x):
    for _ in range(9):  # cubic: as many steps as any member of a batch needs
        x = x - f(x) / (3.0 * x**2 + 1.0)
    return x


def cubic(a):
    return custom_root(lambda x: x**3 + x - a, np.ones(3), newton)


def solve(a, b):
    return custom_linear_solve(
        lambda x: a @ x, b, lambda _, b: np.linalg.solve(a, b), lambda _, b: np.linalg.solve(a.T, b)
    )


def halved(a):
    return custom_fixed_point(lambda x, a: 0.3 * np.tanh(x) + a, np.zeros(3), (a,))


SAMPLES = [
    Sample("custom_root", cubic, (C,)),
    Sample("custom_linear_solve", solve, (A, B), dtypes=DTYPES),
    Sample("custom_fixed_point", halved, (B,), batch=False),  # its solver compares: it runs in a loop
]
