"""Check a function's derivatives: every word of modes, against each other and numerical ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.types import dtype_of, is_differentiable, shape_of
from funcgrad._testing import differences
from funcgrad._transforms.arguments import name_of
from funcgrad._transforms.derivatives import jvp, vjp

_LOCATED = 512  # input entries up to which a wrong reverse derivative is searched for the wrong entry


def check_grads(
    f: Callable,
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of a function, in each way in which they can be taken.

    With two modes and order 2 these are forward, reverse, and the four words of two: ``fwd-over-rev``
    is `jvp` of `vjp`. All are taken along the same random directions (the same in every run), and
    compared with numerical derivatives in extended precision where the function can be evaluated so,
    in float64 where it cannot. The reverse ones are also compared with each other, entry by entry.

    Args:
        f: a function of trees of arrays. Integer leaves are passed on, and complex ones moved in both
            their parts.
        args: its arguments, at a point where it is smooth.
        order: the highest order of derivative, 1 or more.
        modes: the modes of which words are made.
        atol, rtol: an entry may differ from the numerical one by ``atol + rtol * abs(numerical)``. By
            default they follow from the narrowest dtype and the size of values: 1e-7 relative in
            float64, 1e-3 in float32.
        eps: the first step of the numerical derivatives, default 1/8; it shrinks by factors of 4 until
            they agree with each other.

    Raises:
        DerivativeMismatchError: a derivative is wrong; it names the word and the first entry.
        NotSmoothError: the function has a kink or jump at the point, so that it cannot be checked there.

    >>> import numpy as np
    >>> from funcgrad.testing import check_grads
    >>> check_grads(lambda w, x: np.tanh(x @ w["w"]), ({"w": np.ones(2)}, np.eye(2)), order=3)
    >>> check_grads(np.abs, (0.0,))
    Traceback (most recent call last):
        ...
    funcgrad.errors.NotSmoothError: absolute cannot be differentiated numerically at this point: of \
out, its slope jumps there from -1... to 1...
    ...
    """
    check = _Check(f, tuple(args), atol, rtol, eps)
    for n in range(1, order + 1):
        check.words(n, tuple(modes))


def numerical_jvp(f: Callable, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of a function along a direction, from its values alone.

    Central differences, extrapolated, with steps chosen for each entry, in extended precision where the
    function can be evaluated so: nearly all digits of float64 there, about ten elsewhere.

    Args:
        f: a function of trees of arrays.
        primals: a tuple of its arguments.
        tangents: the direction, of the same structure. Leaves beside integers are ignored.

    Returns:
        A tree like the function's result, of zeros beside integers.

    >>> import numpy as np
    >>> from funcgrad.testing import numerical_jvp
    >>> numerical_jvp(np.exp, (np.array([0.0, 1.0]),), (np.array([1.0, 2.0]),))
    array([1.        , 5.43656366])
    """
    problem = _Problem(f, tuple(primals))
    leaves = tree.flatten_up_to(problem.treedef, tuple(tangents), "tangents")
    direction = [leaves[i] for i in problem.places]
    flat = differences.Flat(problem.run, problem.leaves)
    tangent = differences.derivative(flat, [direction], lambda values: 1e-14 * np.abs(values)).values
    outs, treedef = tree.flatten(f(*primals))
    parts = iter(_split(tangent, [o for o in outs if is_differentiable(dtype_of(o))]))
    zero_or_part = [next(parts) if is_differentiable(dtype_of(o)) else np.zeros(shape_of(o)) for o in outs]
    return tree.unflatten(treedef, [p[()] for p in zero_or_part])


class _Problem:
    """A function of its floating-point leaves alone, to those of its result.

    Attributes:
        leaves: the arguments' leaves that carry derivatives; `places` where they are among all.
        in_paths, out_paths: what they are called.
        outs: the result's leaves that carry derivatives.
    """

    def __init__(self, f: Callable, args: tuple):
        self.f = f
        self.all_leaves, self.treedef = tree.flatten(args)
        self.places = [i for i, x in enumerate(self.all_leaves) if is_differentiable(dtype_of(x))]
        self.leaves = [self.all_leaves[i] for i in self.places]
        paths = tree.leaf_paths(self.treedef)
        self.in_paths = [f"arg{paths[i]}" for i in self.places]
        outs, out_treedef = tree.flatten(f(*args))
        pairs = [(p, o) for p, o in zip(tree.leaf_paths(out_treedef), outs) if is_differentiable(dtype_of(o))]
        self.out_paths = [f"out{path}" for path, _ in pairs]
        self.outs = [o for _, o in pairs]
        if not self.leaves or not self.outs:
            what = "arguments" if not self.leaves else "results"
            raise errors.NothingToCheckError(name_of(f), what)

    def run(self, *floats):
        leaves = list(self.all_leaves)
        for place, x in zip(self.places, floats):
            leaves[place] = x
        outs = tree.leaves(self.f(*tree.unflatten(self.treedef, leaves)))
        return tuple(o for o in outs if is_differentiable(dtype_of(o)))


class _Check:
    """One call of `check_grads`: the random directions, and the tolerances."""

    def __init__(self, f: Callable, args: tuple, atol, rtol, step):
        self.name = name_of(f)
        self.problem = problem = _Problem(f, args)
        self.flat = differences.Flat(problem.run, problem.leaves)
        self.step = step
        self.random = np.random.default_rng(20261130)
        self.weights = tuple(self.draw(o) for o in problem.outs)
        self.directions: list[tuple] = []
        dtypes = [dtype_of(x) for x in [*problem.leaves, *problem.outs]]
        self.rtol = max(float(np.finfo(d).eps) for d in dtypes) ** 0.45 if rtol is None else rtol
        self.atol = atol

    def draw(self, like: Any, size: float = 1.0) -> Any:
        """A random value of the shape and dtype of another."""
        shape, dtype = shape_of(like), dtype_of(like)
        x = self.random.normal(size=shape)
        if dtype.kind == "c":
            x = x + 1j * self.random.normal(size=shape)
        return np.asarray(x * size).astype(dtype)[()]

    def direction(self) -> tuple:
        """A random direction, in each leaf of the size of its values, if that is not tiny."""
        sizes = [
            np.sqrt(np.mean(np.abs(np.asarray(x)) ** 2)) if np.size(x) else 0.0 for x in self.problem.leaves
        ]
        return tuple(self.draw(x, float(s) if s > 1e-2 else 1.0) for x, s in zip(self.problem.leaves, sizes))

    def tolerance(self, values: np.ndarray, scale: Any = None) -> np.ndarray:
        """How far each of these values may be off."""
        atol = self.atol
        if atol is None:
            largest = max(np.max(np.abs(v), initial=1e-2) for v in (values, self.flat.value))
            atol = 0.1 * self.rtol * largest
        return atol + self.rtol * np.abs(values if scale is None else scale)

    def words(self, order: int, modes: tuple[str, ...]) -> None:
        """Check all words of this length."""
        while len(self.directions) < order:
            self.directions.append(self.direction())
        reference = self.reference(self.directions[:order])
        first = None
        for word in itertools.product(modes, repeat=order):
            found = _derivative(self.problem.run, word, self.weights, self.directions)(*self.problem.leaves)
            if "rev" not in word:
                self.compare(word, found, reference)
                continue
            self.compare_paired(word, found, reference)
            if first is None:
                first = found
            elif np.any(_off(found, first) > self.tolerance(differences.vector(first))):
                self.locate(word, found)

    def reference(self, directions: Sequence[tuple]) -> differences.Estimate:
        """The numerical derivative, or the error that there is none."""
        estimate = differences.derivative(
            self.flat, directions, lambda values: 0.01 * self.tolerance(values), self.step
        )
        unsettled = ~(estimate.errors <= 30 * self.tolerance(estimate.values))
        if np.any(unsettled):
            index = int(np.argmax(unsettled))
            why = differences.kink(self.flat, directions[0], len(directions), index)
            leaf, entry = self.entry(index, self.problem.outs)
            why = why or "differences of all sizes disagree with each other, as if it were noisy"
            raise errors.NotSmoothError(self.name, self.problem.out_paths[leaf], entry, why)
        return estimate

    def compare(self, word: tuple[str, ...], found: Sequence[Any], reference: differences.Estimate) -> None:
        """Compare a derivative along directions, an entry of it for each of the results."""
        wrong = ~(_off(found, reference.values) <= self.tolerance(reference.values) + 2 * reference.errors)
        if np.any(wrong):
            index = int(np.argmax(wrong))
            why = differences.kink(self.flat, self.directions[0], len(word), index)
            leaf, entry = self.entry(index, self.problem.outs)
            path = self.problem.out_paths[leaf]
            if why is not None:
                raise errors.NotSmoothError(self.name, path, entry, why)
            self.fail(word, path, entry, differences.vector(found), reference.values, index)

    def compare_paired(self, word, found: Sequence[Any], reference: differences.Estimate) -> None:
        """Compare a reverse derivative by what it says of the last direction."""
        weights = differences.vector(self.weights)
        last = differences.vector(self.directions[len(word) - 1])
        terms = np.real(differences.vector(found) * last)
        expected = np.sum(np.real(weights * reference.values))
        allowed = self.tolerance(expected, np.sum(np.abs(terms))) + 2 * np.sum(
            np.abs(weights) * reference.errors
        )
        if not abs(np.sum(terms) - expected) <= allowed:
            self.locate(word, found)
            for index in range(len(self.flat.value)):
                why = differences.kink(self.flat, self.directions[0], len(word), index)
                if why is not None:
                    leaf, entry = self.entry(index, self.problem.outs)
                    raise errors.NotSmoothError(self.name, self.problem.out_paths[leaf], entry, why)
            raise errors.DerivativeMismatchError(
                self.name, "-over-".join(word), "the sum over a random direction", (),
                np.sum(terms), expected, float(allowed),
            )  # fmt: skip

    def locate(self, word: tuple[str, ...], found: Sequence[Any]) -> None:
        """Find the entry of a reverse derivative that is wrong, by one numerical derivative for each."""
        fixed = self.directions[: len(word) - 1]
        values = differences.vector(found)
        for index in range(min(len(values), _LOCATED)):
            leaf, entry = self.entry(index, self.problem.leaves)
            expected, error = self.entry_reference(fixed, leaf, entry)
            if not abs(values[index] - expected) <= self.tolerance(np.asarray(expected)) + 2 * error:
                self.fail(word, self.problem.in_paths[leaf], entry, values, expected, index)

    def entry_reference(self, fixed: Sequence[tuple], leaf: int, entry: tuple) -> tuple[Any, float]:
        """One entry of the gradient of the weighted sum of the results, numerically."""
        weights = differences.vector(self.weights)
        total, bound = 0.0, 0.0
        for unit in (1.0, 1j) if dtype_of(self.problem.leaves[leaf]).kind == "c" else (1.0,):
            direction = [np.zeros(shape_of(x), dtype_of(x)) for x in self.problem.leaves]
            direction[leaf][entry] = unit
            estimate = self.reference([*fixed, tuple(direction)])
            # Re(gradient * unit) is the derivative along the unit
            total = total + np.conj(unit) * np.sum(np.real(weights * estimate.values))
            bound += float(np.sum(np.abs(weights) * estimate.errors))
        return total, bound

    def entry(self, index: int, leaves: Sequence[Any]) -> tuple[int, tuple[int, ...]]:
        """Which leaf, and which entry of it, a vector's entry is."""
        for number, leaf in enumerate(leaves):
            if index < np.size(leaf):
                return number, tuple(int(i) for i in np.unravel_index(index, np.shape(leaf)))
            index -= np.size(leaf)
        raise IndexError(index)

    def fail(self, word, path, entry, found, expected, index) -> None:
        expected = np.broadcast_to(expected, found.shape)[index]
        allowed = float(np.max(self.tolerance(np.asarray(expected))))
        raise errors.DerivativeMismatchError(
            self.name, "-over-".join(word), path, entry, found[index], expected, allowed
        )


def _derivative(f: Callable, word: Sequence[str], weights: tuple, directions: Sequence[tuple]) -> Callable:
    """The derivative of `f` by a word of modes, the outermost first.

    The first reverse mode takes the weights of the results, which gives a gradient; all others take the
    next direction, be it as tangent or as cotangent, for derivatives of a gradient are symmetric.
    """
    directions = iter(directions)
    weighted = False
    for mode in reversed(word):
        if mode == "fwd":
            f = _pushed(f, next(directions))
        elif mode == "rev":
            f = _pulled(f, next(directions) if weighted else weights)
            weighted = True
        else:
            raise ValueError(f"modes are 'fwd' and 'rev', not {mode!r}")
    return f


def _pushed(f: Callable, direction: tuple) -> Callable:
    return lambda *leaves: jvp(f, leaves, direction)[1]


def _pulled(f: Callable, cotangents: tuple) -> Callable:
    return lambda *leaves: vjp(f, *leaves)[1](cotangents)


def _off(found: Sequence[Any], expected: Any) -> np.ndarray:
    expected = expected if isinstance(expected, np.ndarray) else differences.vector(expected)
    with np.errstate(all="ignore"):
        return np.abs(differences.vector(found) - expected)


def _split(values: np.ndarray, like: Sequence[Any]) -> list[np.ndarray]:
    """A vector as leaves of the shapes and dtypes of others."""
    ends = np.cumsum([np.size(x) for x in like])
    return [
        np.reshape(part if dtype_of(x).kind == "c" else np.real(part), np.shape(x)).astype(dtype_of(x))
        for part, x in zip(np.split(values, ends[:-1]), like)
    ]
