"""custom_root and its kin: values by any solver, derivatives by the equation that it solves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, settled
from funcgrad._core.types import dtype_of, shape_of, zeros_of
from funcgrad._interpreters.calls import bind, closed_over, differentiable
from funcgrad._interpreters.linearity import nonlinearity
from funcgrad._primitives.equations import (
    Equation,
    Operator,
    is_array,
    iterate,
    linear_equation,
    pull_residual,
    push_residual,
)
from funcgrad._primitives.implicit import Solve
from funcgrad._primitives.linear_solvers import solve_system
from funcgrad._transforms.arguments import describe_type, output_leaf
from funcgrad._transforms.derivatives import grad


def custom_root(
    f: Callable,
    initial_guess: Any,
    solve: Callable,
    tangent_solve: Callable | None = None,
    has_aux: bool = False,
    *,
    rtol: float | None = None,
    vmap_method: str | None = None,
) -> Any:
    """A root of f, differentiable in whatever f closes over, whichever solver finds it.

    The solver sees plain arrays (SciPy's will do) and is not differentiated: derivatives of every order and
    in every mode follow from ``f(x) = 0`` by the implicit function theorem.

    Args:
        f: a function of a tree x, which returns a tree of the same structure and shapes. It may close over
            traced values.
        initial_guess: where the solver starts; the root does not depend on it.
        solve: ``solve(f, initial_guess) -> x``.
        tangent_solve: ``tangent_solve(g, y)`` solves ``g(x) = y`` for x, where g is linear: the derivative of
            f at the root, or its transpose. By default the matrix is written out (up to 1000 unknowns), else
            GMRES is used.
        has_aux: whether `solve` returns a pair ``(x, aux)``. Diagnostics have no derivative.
        rtol: how far the solver's result may be from a root, as a step of Newton's method tells; by default
            1e-4 of it in double precision, 2e-2 in single. It is looked at where derivatives are taken.
        vmap_method: ``"sequential"`` runs batches in a loop. By default the solver is tried on whole batches
            first, and runs in a loop, with a warning, if it does not take them.

    Returns:
        The root; with `has_aux` a pair of it and aux.

    Raises:
        NotConvergedError: a derivative is taken of what is no root.
        SingularSystemError: f's derivative in x is singular there.
        EquationError: f or the solver returns something of another form than x's.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad import custom_root
    >>> def newton(f, x):
    ...     for _ in range(30):
    ...         x = x - f(x) / (f(x + 1e-6) - f(x)) * 1e-6
    ...     return x
    >>> cube_root = lambda a: custom_root(lambda x: x**3 - a, 1.0, newton)
    >>> grad(cube_root)(8.0), grad(grad(cube_root))(8.0)
    (np.float64(0.0833...), np.float64(-0.00694...))
    """
    problem = _Problem("custom_root", f, initial_guess, has_aux)
    return problem.solved(solve, tangent_solve, rtol, vmap_method)


def custom_fixed_point(
    f: Callable,
    initial_guess: Any,
    args: tuple = (),
    solve: Callable | None = None,
    tangent_solve: Callable | None = None,
    has_aux: bool = False,
    *,
    tol: float | None = None,
    max_steps: int = 1000,
    rtol: float | None = None,
    vmap_method: str | None = None,
) -> Any:
    """A solution of ``x = f(x, *args)``, differentiable in args and whatever f closes over.

    Args:
        f: a function of a tree x, which returns a tree like it.
        initial_guess: where the solver starts.
        args: further arguments of f.
        solve: ``solve(f, initial_guess) -> x``, where f is a function of x alone; by default f is applied
            until x stays.
        tangent_solve, has_aux, rtol, vmap_method: as for `custom_root`.
        tol: when the default solver stops: as soon as no entry moves by more than this, relative to the
            largest; by default 16 times the machine epsilon.
        max_steps: after how many steps the default solver gives up.

    Returns:
        As `custom_root`.

    Raises:
        NotConvergedError: x still moves after `max_steps`, or a derivative is taken of what is no solution.
        SingularSystemError, EquationError: as for `custom_root`.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> from funcgrad import custom_fixed_point
    >>> babylonian = lambda x, a: (x + a / x) / 2.0
    >>> float(grad(lambda a: custom_fixed_point(babylonian, 1.0, (a,)))(4.0))
    0.25
    """

    def moved(x):
        return tree.map(np.subtract, x, f(x, *args))

    def solver(_, x):
        if solve is None:
            return iterate(lambda x: f(x, *args), x, tol, max_steps)
        return solve(lambda x: f(x, *args), x)

    problem = _Problem("custom_fixed_point", moved, initial_guess, has_aux, [f, args])
    return problem.solved(solver, tangent_solve, rtol, "sequential" if solve is None else vmap_method)


def custom_minimizer(
    objective: Callable,
    initial_guess: Any,
    solve: Callable,
    args: tuple = (),
    tangent_solve: Callable | None = None,
    has_aux: bool = False,
    *,
    rtol: float | None = None,
    vmap_method: str | None = None,
) -> Any:
    """A point where a gradient is zero, differentiable in args and in whatever the objective closes over.

    Args:
        objective: ``objective(x, *args)``, a real number; x is a tree of real arrays.
        initial_guess: where the solver starts.
        solve: ``solve(objective, initial_guess) -> x``, where the objective is a function of x alone, on
            plain arrays; `scipy.optimize.minimize` will do.
        args: further arguments of the objective.
        tangent_solve: ``tangent_solve(hvp, y)`` solves a system with the Hessian.
        has_aux, rtol, vmap_method: as for `custom_root`.

    Returns:
        As `custom_root`.

    Raises:
        NotConvergedError, SingularSystemError, EquationError: as for `custom_root`.

    >>> import numpy as np
    >>> from scipy.optimize import minimize_scalar
    >>> from funcgrad import grad
    >>> from funcgrad import custom_minimizer
    >>> def lowest(a):
    ...     solve = lambda objective, x: minimize_scalar(objective, bracket=(x - 1, x)).x
    ...     return custom_minimizer(lambda x: np.cosh(x - a) + x, 0.0, solve)
    >>> print(f"{grad(lowest)(0.5):.6f}")
    1.000000
    """

    def optimality(x):
        return grad(objective)(x, *args)

    def solver(_, x):
        return solve(lambda x: objective(x, *args), x)

    problem = _Problem("custom_minimizer", optimality, initial_guess, has_aux, [objective, args])
    return problem.solved(solver, tangent_solve, rtol, vmap_method, symmetric=True)


def custom_linear_solve(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
    *,
    rtol: float | None = None,
    vmap_method: str | None = None,
) -> Any:
    """The solution x of ``matvec(x) = b``, differentiable in b and whatever matvec closes over.

    It is linear in b to every transform, so that rules of `custom_jvp` and `linear_transpose` may contain it.

    Args:
        matvec: a linear function of a tree, which returns a tree of the same structure and shapes.
        b: the right-hand side.
        solve: ``solve(matvec, b) -> x``, on plain arrays.
        transpose_solve: ``transpose_solve(vecmat, b) -> x``, where vecmat is the transpose (not conjugated),
            for reverse mode. By default the matrix is written out (up to 1000 unknowns), else GMRES is used.
        symmetric: whether matvec is its own transpose; `solve` serves both then.
        has_aux: whether the solvers return pairs ``(x, aux)``. Diagnostics have no derivative.
        rtol: how large the residual may be relative to b, where derivatives are taken; by default 1e-4 in
            double precision, 2e-2 in single.
        vmap_method: as for `custom_root`.

    Returns:
        The solution; with `has_aux` a pair of it and aux.

    Raises:
        NotConvergedError: a derivative is taken of what is no solution.
        SingularSystemError, EquationError: as for `custom_root`.

    >>> import numpy as np
    >>> from funcgrad import custom_linear_solve, grad
    >>> a = np.array([[2.0, 1.0], [0.0, 4.0]])
    >>> def total(scale):
    ...     matvec = lambda x: scale * (a @ x)
    ...     solve = lambda matvec, b: np.linalg.solve(a, b) / scale
    ...     return np.sum(custom_linear_solve(matvec, np.ones(2), solve))
    >>> total(1.0), grad(total)(1.0)
    (np.float64(0.625), np.float64(-0.625))
    """
    name, where = "custom_linear_solve", describe(*caller(2))
    leaves, treedef = tree.flatten(b)
    shapes = [shape_of(v) for v in leaves]
    structure: list[Any] = []

    def flat_matvec(x):
        return _leaves_like(
            matvec(tree.unflatten(treedef, x)), treedef, shapes, name, "matvec(x)", matvec, where
        )

    def flat_vecmat(x):
        if symmetric:
            return flat_matvec(x)
        zeros = list(map(zeros_of, x))
        return pull_residual(flat_matvec, zeros, x, check_linear)

    def check_linear(record, outs):
        refuse(nonlinearity(record, outs))

    def refuse(why):
        if why is not None:
            raise errors.EquationError(
                name, "matvec(x)", f"not linear ({why})", "a linear map is needed", where
            )

    def by(solver, map_, keeps_aux=False):
        def run(b):
            x = solver(lambda x: tree.unflatten(treedef, map_(tree.leaves(x))), tree.unflatten(treedef, b))
            x, aux = x if has_aux else (x, None)
            found = _leaves_like(x, treedef, shapes, name, "the solver's result", solver, where)
            if keeps_aux:
                aux, aux_treedef = tree.flatten(aux)
                structure[:] = [aux_treedef]
            return found + aux if keeps_aux else found

        return run

    solver = by(solve, flat_matvec)
    if symmetric or transpose_solve is not None:
        transposed = by(solve if symmetric else transpose_solve, flat_vecmat)
    else:

        def transposed(b):
            return solve_system(name, where, "the transpose of matvec", flat_vecmat, b)

    operator = Operator(flat_matvec, flat_vecmat, solver, transposed)
    equation = linear_equation(name, where, operator, len(leaves), rtol, _is_sequential(vmap_method), has_aux)
    equation.solve = by(solve, flat_matvec, keeps_aux=has_aux)
    zeros = list(map(zeros_of, leaves))
    at_zero = flat_matvec(zeros)
    for v in at_zero:
        if not isinstance(v, Tracer) and np.any(v != 0):
            refuse(f"matvec(0) is {v}")
    hints = [*closed_over([matvec]), *_traced(at_zero)]
    outs = bind(Solve(equation, hints), leaves)
    x = tree.unflatten(treedef, outs[: len(leaves)])
    return (x, tree.unflatten(structure[0], outs[len(leaves) :])) if has_aux else x


class _Problem:
    """A function of a tree that is to be zero, as an `Equation` of flat values."""

    def __init__(self, name: str, f: Callable, guess: Any, has_aux: bool, reads: Any = None):
        """`reads` are what f closes over, if not in plain sight."""
        self.name, self.f, self.has_aux = name, f, has_aux
        self.where = describe(*caller())
        self.guess, self.treedef = tree.flatten(guess)
        self.shapes = [shape_of(v) if is_array(v) else None for v in self.guess]
        self.aux_treedef: Any = None
        self.hints = closed_over(f if reads is None else reads)
        self.hints += _traced(self._flat(self.guess))  # also says at once whether f's result has x's form

    def solved(self, solve, tangent_solve, rtol, vmap_method, symmetric=False) -> Any:
        count = len(self.guess)

        def solver(guess):
            found = solve(self.f, tree.unflatten(self.treedef, guess))
            found, aux = found if self.has_aux else (found, None)
            x = _leaves_like(
                found, self.treedef, self.shapes, self.name, "the solver's result", solve, self.where
            )
            if not self.has_aux:
                return x
            aux, self.aux_treedef = tree.flatten(aux)
            return x + aux

        def operator(x):
            def matvec(v):
                return push_residual(self._flat, x, v)

            def vecmat(v):
                return matvec(v) if symmetric else pull_residual(self._flat, x, v)

            def by(map_):
                if tangent_solve is None:
                    return lambda b: solve_system(
                        self.name, self.where, "the derivative of f(x) in x", map_, b
                    )
                return lambda b: self._tangent_solved(tangent_solve, map_, x, b)

            return Operator(matvec, vecmat, by(matvec), by(vecmat))

        equation = Equation(
            self.name, self.where, solver, lambda x, _: self._flat(x), operator, count,
            aux=self.has_aux, rtol=rtol, sequential=_is_sequential(vmap_method),
        )  # fmt: skip
        outs = bind(Solve(equation, self.hints), self.guess)
        x = tree.unflatten(self.treedef, outs[:count])
        return (x, tree.unflatten(self.aux_treedef, outs[count:])) if self.has_aux else x

    def _flat(self, x: list) -> list[Any]:
        """f of flat values; None for an entry whose x has no derivative."""
        r = _leaves_like(
            self.f(tree.unflatten(self.treedef, x)),
            self.treedef,
            self.shapes,
            self.name,
            "f(x)",
            self.f,
            self.where,
        )
        for v, u in zip(r, x):
            if differentiable(u) and (dtype_of(v).kind == "c") != (dtype_of(u).kind == "c"):
                raise errors.EquationError(
                    self.name, "f(x)", describe_type(v), f"x is {describe_type(u)}", self.where
                )
        return [settled(v) if differentiable(u) else None for v, u in zip(r, x)]

    def _tangent_solved(self, tangent_solve, map_, x, b) -> list[Any]:
        """By the user's solver, to whom entries without derivative are zeros."""
        active = [i for i, v in enumerate(x) if differentiable(v)]

        def whole(values):
            given = dict(zip(active, values))
            zeros = [given[i] if i in given else 0 * v if is_array(v) else v for i, v in enumerate(x)]
            return tree.unflatten(self.treedef, zeros)

        def g(v):
            leaves = tree.leaves(v)
            return whole(map_([leaves[i] for i in active]))

        found = tangent_solve(g, whole(b))
        leaves = _leaves_like(
            found, self.treedef, self.shapes, self.name, "tangent_solve's result", tangent_solve, self.where
        )
        return [leaves[i] for i in active]


def _leaves_like(x: Any, treedef, shapes, name: str, what: str, f: Callable, where: str) -> list[Any]:
    """The leaves of a tree that must have a structure, and leaves of these shapes."""
    leaves, found = tree.flatten(x)
    if found != treedef:
        raise errors.EquationError(name, what, f"the tree {found}", f"x is the tree {treedef}", where)
    for leaf, shape in zip(leaves, shapes):
        if shape is not None and shape_of(output_leaf(leaf, f)) != shape:
            raise errors.EquationError(name, what, describe_type(leaf), f"x has shape {list(shape)}", where)
    return leaves


def _traced(values: list) -> list[Tracer]:
    return [v for v in values if isinstance(v, Tracer)]


def _is_sequential(vmap_method: str | None) -> bool | None:
    if vmap_method not in (None, "sequential"):
        raise ValueError(f"vmap_method must be None or 'sequential', not {vmap_method!r}")
    return True if vmap_method else None
