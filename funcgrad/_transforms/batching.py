"""vmap: a function of one member, applied to a whole batch at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.tracer import Tracer, without_part
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
        count = tree.structure(args).num_leaves
        axes = tree.broadcast_prefix(in_axes, tree.structure(args), name="in_axes")
        axes += [0] * (len(leaves) - count)
        paths = argument_paths(treedef)
        leaves = [
            x if axis is None else array_leaf(x, lambda path=path: path)
            for x, axis, path in zip(leaves, axes, paths)
        ]
        size = _batch_size(leaves, axes, axis_size, paths, f)
        trace = Batch(size)
        inputs = [
            x if axis is None else trace.batched(np.moveaxis(as_array(x), axis, 0) if axis else as_array(x))
            for x, axis in zip(leaves, axes)
        ]
        try:
            new_args, new_kwargs = tree.unflatten(treedef, inputs)
            out = f(*new_args, **new_kwargs)
        finally:
            trace.close()
        outs, out_treedef = tree.flatten(out)
        out_axis = tree.broadcast_prefix(out_axes, out_treedef, name="out_axes")
        results = [unbatch(trace, output_leaf(o, f), axis) for o, axis in zip(outs, out_axis)]
        return tree.unflatten(out_treedef, results)

    return run


def as_array(x: Any) -> Any:
    return x if isinstance(x, Tracer) else np.asarray(x)


def unbatch(trace: Batch, out: Any, axis: int | None) -> Any:
    """A result as a plain array with the batch axis at its place."""
    if type(out) is Batched and out._trace is trace:
        if axis is None:
            raise errors.BatchAxisError(
                "out_axes is None for a result that depends on the batched arguments",
                "Give the axis where its batch goes, or reduce it over the batch afterwards.",
            )
        ndim = len(shape_of(out.value))
        if not -ndim <= axis < ndim:
            raise errors.BatchAxisError(
                f"out_axes={axis}, but the batched result has {ndim} axes",
                f"Choose an axis from {-ndim} to {ndim - 1}.",
            )
        value = without_part(out.value)
        return np.moveaxis(value, 0, axis) if axis else value
    out = without_part(out)
    if axis is None:
        return out
    value = as_array(out)
    shape = (trace.size, *shape_of(value))
    whole = np.broadcast_to(value, shape)
    whole = whole if isinstance(whole, Tracer) else np.array(whole)
    return np.moveaxis(whole, 0, axis) if axis else whole


def _batch_size(leaves, axes, axis_size: int | None, paths, f: Callable) -> int:
    sizes = {}
    for x, axis, path in zip(leaves, axes, paths):
        if axis is None:
            continue
        shape = np.shape(x) if not isinstance(x, Tracer) else x.shape
        if not isinstance(axis, (int, np.integer)) or not -len(shape) <= axis < len(shape):
            raise errors.BatchAxisError(
                f"vmap({name_of(f)}): in_axes={axis!r} for {path}, of shape {shape}",
                "Give an axis that the argument has, or None if all members share it.",
            )
        sizes[path] = shape[axis]
    found = set(sizes.values()) | ({axis_size} if axis_size is not None else set())
    if len(found) == 1:
        return found.pop()
    if not found:
        raise errors.BatchAxisError(
            f"vmap({name_of(f)}): no argument is batched",
            "Give at least one an axis in in_axes, or pass axis_size.",
        )
    listed = ", ".join(f"{path}: {n}" for path, n in sizes.items())
    raise errors.BatchAxisError(
        f"vmap({name_of(f)}): the batch axes have different sizes ({listed})"
        + (f", axis_size={axis_size}" if axis_size is not None else ""),
        "All batched arguments need the same size; use in_axes to choose the axis or None to share.",
    )


def batched_call(f: Callable, seeds: Sequence[Any], size: int) -> list[Any]:
    """`f` on leaves with a batch axis in front; its results' leaves likewise."""
    trace = Batch(size)
    try:
        outs = f([trace.batched(s) for s in seeds])
    finally:
        trace.close()
    return [unbatch(trace, o, 0) for o in outs]
