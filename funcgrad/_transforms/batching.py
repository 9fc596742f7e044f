"""vmap: a function of one member, applied to a whole batch at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.boxes import fixed, leaving, lies_apart
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import shape_of
from funcgrad._interpreters.batch import Batch, Batched
from funcgrad._transforms.arguments import argument_paths, array_leaf, name_of, output_leaf, wraps


def vmap(f: Callable, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> Callable:
    """Apply a function of one member to a whole batch, with array operations in place of a loop.

    Args:
        f: a function of arrays without the batch axis.
        in_axes: the batch axis of each positional argument: an int, None for one that all members
            share, or a tree that is a prefix of the arguments. Keyword arguments are batched along
            their axis 0.
        out_axes: where the batch axis goes in the results; None for results that do not depend on it.
        axis_size: the batch's size, if no argument has it.

    Returns:
        A function of the batched arguments.

    Raises:
        BatchAxisError: sizes differ, an axis is out of range, or no argument is batched.

    >>> import numpy as np
    >>> from funcgrad import grad, vmap
    >>> vmap(grad(lambda x: x**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes

    @wraps(f, "vmap")
    def run(*args, **kwargs):
        leaves, treedef = tree.flatten((args, kwargs))
        args_treedef = treedef.children[0]
        axes = tree.broadcast_prefix(in_axes, args_treedef, name="in_axes")
        axes += [0] * (len(leaves) - len(axes))

        def path(i):
            return argument_paths(treedef)[i]

        arrays = [
            x if axis is None else as_array(array_leaf(x, lambda i=i: path(i)))
            for i, (x, axis) in enumerate(zip(leaves, axes))
        ]
        size = _batch_size(arrays, axes, axis_size, path, f)
        trace = Batch(size)
        trace.reordered = any(axis or lies_apart(x) for x, axis in zip(arrays, axes) if axis is not None)
        inputs = [
            x if axis is None else trace.batched(np.moveaxis(x, axis, 0) if axis else fixed(x))
            for x, axis in zip(arrays, axes)
        ]
        try:
            new_args, new_kwargs = tree.unflatten(treedef, inputs)
            out = f(*new_args, **new_kwargs)
        finally:
            trace.close()
        outs, out_treedef = tree.flatten(out)
        out_axis = tree.broadcast_prefix(out_axes, out_treedef, name="out_axes")
        results = [
            unbatch(
                trace, output_leaf(o, f), axis, lambda i=i: tree.leaf_paths(out_treedef)[i] or "the result"
            )
            for i, (o, axis) in enumerate(zip(outs, out_axis))
        ]
        return tree.unflatten(out_treedef, results)

    return run


def as_array(x: Any) -> Any:
    return x if isinstance(x, Tracer) else np.asarray(x)


def unbatch(trace: Batch, out: Any, axis: int | None, path: Callable[[], str]) -> Any:
    """A result as a plain array with the batch axis at its place."""
    batched = type(out) is Batched and out._trace is trace
    if axis is None:
        if batched:
            raise errors.BatchAxisError(
                f"out_axes is None for {path()}, which depends on the batched arguments",
                "Give the axis where its batch goes, or reduce it over the batch afterwards.",
            )
        return leaving(out)
    if batched:
        value = leaving(out.value)
    else:
        value = as_array(leaving(out))
        value = np.broadcast_to(value, (trace.size, *shape_of(value)))
    if type(value) is np.ndarray and not value.flags.writeable:  # one value for all members
        value = np.array(value)
    ndim = len(shape_of(value))
    if not _is_axis(axis, ndim):
        raise errors.BatchAxisError(
            f"out_axes={axis!r} for {path()}, which has {ndim} axes with that of the batch",
            f"Choose an axis from {-ndim} to {ndim - 1}.",
        )
    return np.moveaxis(value, 0, axis) if axis else value


def _is_axis(axis: Any, ndim: int) -> bool:
    number = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)
    return number and -ndim <= axis < ndim


def _batch_size(arrays, axes, axis_size: int | None, path: Callable[[int], str], f: Callable) -> int:
    sizes = {}
    for i, (x, axis) in enumerate(zip(arrays, axes)):
        if axis is None:
            continue
        shape = x.shape
        if not _is_axis(axis, len(shape)):
            raise errors.BatchAxisError(
                f"vmap({name_of(f)}): in_axes={axis!r} for {path(i)}, of shape {shape}",
                "Give an axis that the argument has, or None if all members share it.",
            )
        sizes[i] = shape[axis]
    found = set(sizes.values()) | ({axis_size} if axis_size is not None else set())
    if len(found) == 1:
        return found.pop()
    if not found:
        raise errors.BatchAxisError(
            f"vmap({name_of(f)}): no argument is batched",
            "Give at least one an axis in in_axes, or pass axis_size.",
        )
    listed = ", ".join(f"{path(i)}: {n}" for i, n in sizes.items())
    raise errors.BatchAxisError(
        f"vmap({name_of(f)}): the batch axes have different sizes ({listed})"
        + (f", axis_size={axis_size}" if axis_size is not None else ""),
        "All batched arguments need the same size; use in_axes to choose the axis or None to share.",
    )


def batched_call(f: Callable, seeds: Sequence[Any], trace: Batch) -> list[Any]:
    """`f` on leaves with a batch axis in front; its results' leaves likewise."""
    try:
        outs = f([trace.batched(s) for s in seeds])
    finally:
        trace.close()
    return [unbatch(trace, o, 0, str) for o in outs]
