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
from funcgrad._transforms.chunks import MAX_BYTES, Chunks, Progress, Workers, recorded_bytes
from funcgrad._transforms.pushing import Push
from funcgrad._transforms.recording import Run, check_holomorphic, plain


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
    *,
    chunk_size: int | None = None,
    max_bytes: int | None = MAX_BYTES,
    progress: Progress = None,
    workers: Workers = None,
) -> Callable:
    """The Jacobian by reverse mode: one batched sweep for all outputs; for fewer outputs than inputs.

    Args:
        f, argnums, has_aux, holomorphic, allow_int: as for `grad`, but outputs may be any tree of arrays.
        chunk_size: how many directions (here: entries of the output) are in a batch; None: all, or as
            many as `max_bytes` allows.
        max_bytes: about how much a batch may compute, in bytes: directions times what one of them takes.
            None: any number. The default is 1 GiB.
        progress: True writes a line to stderr; a function is called as ``progress(done, total)``, counted
            in directions, after each batch.
        workers: how many threads run batches, or a `concurrent.futures.Executor` of threads. NumPy lets
            threads run side by side in operations on large arrays. Inside of another transform, whose
            traced values belong to one thread, batches run one after another.

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

    chunks = Chunks("jacrev", chunk_size, max_bytes, progress, workers)

    @wraps(f, "jacrev")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, allow_int)
        jacobian = _pull_jacobian(recorded, f, holomorphic, chunks)
        return (jacobian, recorded.aux) if has_aux else jacobian

    return run


def _pull_jacobian(recorded: Run, f: Callable, holomorphic: bool, chunks: Chunks) -> Any:
    outs, transform = recorded.outs, chunks.transform
    dtypes = [dtype_of(o) for o in outs]
    check_holomorphic(recorded.leaves, dtypes, holomorphic, f, transform)
    if any(d.kind in "iub" for d in dtypes):
        raise errors.OutputTypeError(
            name_of(f), "an integer output", f"{transform} needs floating-point outputs."
        )
    if len(outs) == 1 and shape_of(outs[0]) == ():  # a gradient: no batch for one seed
        cts = recorded.pull([dtypes[0].type(1)], consume=True)
        return tree.unflatten(recorded.out_treedef, [recorded.finish(cts)])
    differentiable = [i for i, slot in enumerate(recorded.slots) if slot is not None]

    def pull(seeds, last):
        cts = recorded.pull(seeds, consume=last)
        return [_finish_member(cts[i], recorded.leaves[i]) for i in differentiable], outs

    tape = recorded.record.tape
    rows = chunks.run(pull, outs, f, lambda: recorded_bytes(tape, [*outs, *recorded.leaves]))
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


def jacfwd(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    chunk_size: int | None = None,
    max_bytes: int | None = MAX_BYTES,
    progress: Progress = None,
    workers: Workers = None,
) -> Callable:
    """The Jacobian by forward mode: one batched sweep for all inputs; for fewer inputs than outputs.

    Args:
        f, argnums, has_aux, holomorphic: as for `grad`, but outputs may be any tree of arrays.
        chunk_size, max_bytes, progress, workers: as for `jacrev`; directions are entries of the input. The
            function runs once for each batch, and again if one took more than `max_bytes`.

    Returns:
        As `jacrev`.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jacfwd
    >>> jacfwd(lambda x: np.stack([np.sin(x), np.cos(x)]))(0.0)
    array([ 1., -0.])
    """

    chunks = Chunks("jacfwd", chunk_size, max_bytes, progress, workers)
    return push_jacobian(f, argnums, has_aux, holomorphic, chunks)


def push_jacobian(
    f: Callable, argnums: Argnums, has_aux: bool, holomorphic: bool, chunks: Chunks
) -> Callable:
    """`jacfwd` in chunks that are given; for other transforms made of it."""

    @wraps(f, chunks.transform)
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
        first = []

        def push(seeds, last):
            pushed = Push(chosen, treedef, leaves, seeds, f, has_aux)
            if holomorphic:
                check_holomorphic(leaves, [dtype_of(o) for o in pushed.outs], True, f, chunks.transform)
            if not first:
                first.append((pushed.out_treedef, pushed.aux))
            return pushed.tangents, [*pushed.outs, *tree.leaves(pushed.aux)]

        columns = chunks.run(push, leaves, f)
        out_treedef, aux = first[0]
        trees = [tree.unflatten(treedef, _split(batch, leaves, move_last=True)) for batch in columns]
        jacobian = tree.unflatten(out_treedef, trees)
        return (jacobian, aux) if has_aux else jacobian

    return run


def jacobian(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    chunk_size: int | None = None,
    max_bytes: int | None = MAX_BYTES,
    progress: Progress = None,
    workers: Workers = None,
) -> Callable:
    """The Jacobian, by whichever mode is cheaper: reverse unless there are fewer inputs than outputs.

    Args:
        f, argnums, has_aux, holomorphic, chunk_size, max_bytes, progress, workers: as for `jacrev`.

    Returns:
        As `jacrev`.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import jacobian
    >>> jacobian(lambda t: np.array([1.0, 2.0]) * t)(3.0)
    array([1., 2.])
    """
    chunks = Chunks("jacobian", chunk_size, max_bytes, progress, workers)
    forward = push_jacobian(f, argnums, has_aux, holomorphic, chunks)

    @wraps(f, "jacobian")
    def run(*args, **kwargs):
        recorded = Run(Chosen(f, argnums, args, kwargs), f, has_aux, False)

        def size(leaves):
            return sum(math.prod(shape_of(x)) for x in leaves)

        if size(recorded.leaves) < size(recorded.outs):
            return forward(*args, **kwargs)
        rows = _pull_jacobian(recorded, f, holomorphic, chunks)
        return (rows, recorded.aux) if has_aux else rows

    return run
