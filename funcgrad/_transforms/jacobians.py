"""Jacobians: all columns in one batched forward sweep, or all rows in one batched reverse sweep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._transforms.arguments import (
    Argnums,
    Chosen,
    differentiable_leaf,
    name_of,
    wraps,
    zeros,
)  # fmt: skip
from funcgrad._transforms.batching import batched_call
from funcgrad._transforms.pushing import Push
from funcgrad._transforms.recording import Run, check_holomorphic, plain, unshared


def _basis(leaves) -> tuple[list[np.ndarray], int]:
    """The unit vectors of the space of all leaves together: for each leaf its part of every one."""
    sizes = [math.prod(shape_of(x)) for x in leaves]
    total, start, parts = sum(sizes), 0, []
    for x, size in zip(leaves, sizes):
        part = np.zeros((total, size), dtype_of(x))
        part[range(start, start + size), range(size)] = 1
        parts.append(part.reshape(total, *shape_of(x)))
        start += size
    return parts, total


def _split(batch: Any, leaves, move_last: bool) -> list[Any]:
    """A batch over the unit vectors, as one array for each leaf with that leaf's shape in its place."""
    out, start = [], 0
    for x in leaves:
        shape = shape_of(x)
        size = math.prod(shape)
        part = batch[start : start + size]
        start += size
        if move_last:
            part = np.moveaxis(part, 0, -1)
            out.append(np.reshape(part, (*part.shape[:-1], *shape)))
        else:
            out.append(np.reshape(part, (*shape, *part.shape[1:])))
    return [plain(o) for o in out]


def jacrev(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable:
    """The Jacobian by reverse mode: one batched sweep for all outputs; for fewer outputs than inputs.

    Args:
        f, argnums, has_aux, holomorphic, allow_int: as for `grad`, but outputs may be any tree of arrays.

    Returns:
        A function that returns a tree like the output, whose leaves are trees like the argument, whose
        leaves have shape ``output.shape + input.shape``; with `has_aux` a pair of it and aux.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jacrev
    >>> jacrev(lambda x: x[:2] * x[2])(np.array([1.0, 2.0, 3.0]))
    array([[3., 0., 1.],
           [0., 3., 2.]])
    """

    @wraps(f, "jacrev")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, allow_int)
        jacobian = _pull_jacobian(recorded, f, holomorphic, "jacrev")
        return (jacobian, recorded.aux) if has_aux else jacobian

    return run


def _pull_jacobian(recorded: Run, f: Callable, holomorphic: bool, transform: str) -> Any:
    outs = recorded.outs
    dtypes = [dtype_of(o) for o in outs]
    check_holomorphic(recorded.leaves, dtypes, holomorphic, f, transform)
    if any(d.kind in "iub" for d in dtypes):
        raise errors.OutputTypeError(
            name_of(f), "an integer output", f"{transform} needs floating-point outputs."
        )
    if len(outs) == 1 and shape_of(outs[0]) == ():  # a gradient: no batch for one seed
        cts = recorded.pull([dtypes[0].type(1)], consume=True)
        return tree.unflatten(recorded.out_treedef, [recorded.finish(cts)])
    seeds, total = _basis(outs)
    differentiable = [i for i, slot in enumerate(recorded.slots) if slot is not None]

    def pull(seeds):
        cts = recorded.pull(seeds, consume=True)
        return [_finish_member(cts[i], recorded.leaves[i]) for i in differentiable]

    rows = unshared(batched_call(pull, seeds, total), seeds)
    by_output = [[None] * len(recorded.leaves) for _ in outs]
    for index, batch in zip(differentiable, rows):
        for o, part in enumerate(_split(batch, outs, move_last=False)):
            by_output[o][index] = part
    for o, out in enumerate(outs):
        for index, leaf in enumerate(recorded.leaves):
            if recorded.slots[index] is None:
                by_output[o][index] = np.zeros((*shape_of(out), *shape_of(leaf)), zeros(leaf).dtype)
    trees = [tree.unflatten(recorded.treedef, parts) for parts in by_output]
    return tree.unflatten(recorded.out_treedef, trees)


def _finish_member(ct: Any, like: Any) -> Any:
    if ct is None:
        return zeros(like)
    return ct if ct.dtype == dtype_of(like) else np.real(ct).astype(dtype_of(like))


def jacfwd(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """The Jacobian by forward mode: one batched sweep for all inputs; for fewer inputs than outputs.

    Args:
        f, argnums, has_aux, holomorphic: as for `grad`, but outputs may be any tree of arrays.

    Returns:
        As `jacrev`.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jacfwd
    >>> jacfwd(lambda x: np.stack([np.sin(x), np.cos(x)]))(0.0)
    array([ 1., -0.])
    """

    @wraps(f, "jacfwd")
    def run(*args, **kwargs):
        chosen = Chosen(f, argnums, args, kwargs)
        leaves, treedef = tree.flatten(chosen.tree)
        leaves = [differentiable_leaf(x, lambda i=i: chosen.path(i)) for i, x in enumerate(leaves)]
        if not holomorphic and any(dtype_of(x).kind == "c" for x in leaves):
            raise errors.InputTypeError(
                "an argument", "complex", "for which jacfwd has no real directions to choose",
                "Pass holomorphic=True for a complex-differentiable function, or differentiate with "
                "respect to real and imaginary parts.",
            )  # fmt: skip
        seeds, total = _basis(leaves)
        runs = []

        def push(seeds):
            runs.append(Push(chosen, treedef, leaves, seeds, f, has_aux))
            if holomorphic:
                check_holomorphic(leaves, [dtype_of(o) for o in runs[0].outs], True, f, "jacfwd")
            return runs[0].tangents

        columns = unshared(batched_call(push, seeds, total), seeds)
        trees = [tree.unflatten(treedef, _split(batch, leaves, move_last=True)) for batch in columns]
        jacobian = tree.unflatten(runs[0].out_treedef, trees)
        return (jacobian, runs[0].aux) if has_aux else jacobian

    return run


def jacobian(f: Callable, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Callable:
    """The Jacobian, by whichever mode is cheaper: reverse unless there are fewer inputs than outputs.

    Args:
        f, argnums, has_aux, holomorphic: as for `jacrev`.

    Returns:
        As `jacrev`.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jacobian
    >>> jacobian(lambda t: np.array([1.0, 2.0]) * t)(3.0)
    array([1., 2.])
    """
    forward = jacfwd(f, argnums, has_aux, holomorphic)

    @wraps(f, "jacobian")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, False)

        def size(leaves):
            return sum(math.prod(shape_of(x)) for x in leaves)

        if size(recorded.leaves) < size(recorded.outs):
            return forward(*args, **kwargs)
        rows = _pull_jacobian(recorded, f, holomorphic, "jacobian")
        return (rows, recorded.aux) if has_aux else rows

    return run
