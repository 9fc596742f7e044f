"""checkpoint, checkpointed_loop: recompute in the backward sweep instead of storing; tag: names of values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import errors, tree
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._interpreters.calls import bind, closed_over
from funcgrad._primitives.checkpointed_loops import checkpointed
from funcgrad._primitives.checkpoints import Checkpoint
from funcgrad._primitives.control import tag_leaf
from funcgrad._transforms.arguments import (
    array_leaf,
    name_of,
    output_leaf,
    parameter_names,
    place_of,
    wraps,
)
from funcgrad._transforms.policies import checked


def checkpoint(
    f: Callable,
    policy: Callable | None = None,
    static_argnums: int | str | Sequence[int | str] = (),
) -> Callable:
    """A function that stores its inputs only, and runs again in the backward sweep.

    Values and derivatives are those of `f`; memory is traded for one more evaluation. It may close over
    traced values, branch on values, nest, and stand under and over every other transform.

    Args:
        f: a pure function of trees of arrays.
        policy: which results of operations within `f` are stored too, so that they need not be computed
            again: one of `funcgrad.checkpoint_policies`, or any function of an `Operation` to a bool.
        static_argnums: positions or names of arguments that are passed as they are.

    Returns:
        A function of the same arguments.

    Raises:
        ImpureFunctionError: when it runs again it gives another result, for instance with random numbers.
        ChangedResidualError: an array that it was given or closes over was changed in place in between.

    >>> import numpy as np
    >>> from funcgrad import checkpoint, grad
    >>> layer = checkpoint(lambda x: np.tanh(3.0 * x))
    >>> grad(lambda x: layer(layer(x)))(0.0)
    np.float64(9.0)
    """
    static = (static_argnums,) if isinstance(static_argnums, (int, str)) else tuple(static_argnums)
    policy = checked(policy)

    @wraps(f, "checkpoint")
    def run(*args, **kwargs):
        places = {_place(n, args, kwargs, static_argnums, f) for n in static}
        dynamic = {i: a for i, a in enumerate(args) if i not in places}
        kept, count = {i: a for i, a in enumerate(args) if i in places}, len(args)
        fixed = {name: a for name, a in kwargs.items() if name in places}
        leaves, treedef = tree.flatten((dynamic, {n: a for n, a in kwargs.items() if n not in places}))
        out_treedef: list[tree.TreeDef] = []

        def flat(*leaves):  # which the tape keeps: it holds no tracer, so that memory goes at once
            new, new_kwargs = tree.unflatten(treedef, leaves)
            out = f(*[kept[i] if i in kept else new[i] for i in range(count)], **new_kwargs, **fixed)
            outs, structure = tree.flatten(out)
            out_treedef[:] = [structure]
            return [output_leaf(o, f) for o in outs]

        outs = bind(Checkpoint(flat, closed_over(f), policy), leaves)
        return tree.unflatten(out_treedef[0], outs)

    return run


def _place(n: int | str, args: tuple, kwargs: dict, static: Any, f: Callable) -> int | str:
    """Where a static argument stands in a call: its position, or its keyword."""
    if not isinstance(n, str):
        return place_of(n, len(args), static, f, "static_argnums")
    if n in kwargs:
        return n
    names = parameter_names(f)
    if n in names[: len(args)]:
        return names.index(n)
    if n in inspect.signature(f).parameters:  # left to its default
        return n
    raise errors.ArgnumsError(static, name_of(f), len(args), names, what="static_argnums")


def tag(x: Any, name: str) -> Any:
    """The value itself, under a name: for policies of `checkpoint`, and in printed programs.

    Args:
        x: a tree of arrays.
        name: the name.

    Returns:
        The same values.

    Raises:
        TypeError: the name is no string.

    >>> import numpy as np
    >>> from funcgrad import make_jaxpr, tag
    >>> make_jaxpr(lambda x: tag(np.sin(x), "wave"))(1.0)
    { lambda ; a:f64[]. let
        b:f64[] = sin a
        c:f64[] = name[name='wave'] b
      in (c,) }
    """
    if not isinstance(name, str):
        raise TypeError(f"tag needs a name: a str, not {name!r}")
    return tree.map(lambda leaf: tag_leaf(leaf, name=name) if isinstance(leaf, Tracer) else leaf, x)


checkpoint_name = tag  # JAX's name for it


def checkpointed_loop(
    step: Callable,
    state: Any,
    *,
    length: int | None = None,
    until: Callable | None = None,
    slots: int | None = None,
    max_bytes: float | None = None,
    spill: str | None = None,
) -> Any:
    """The state after many steps, of which the backward sweep needs few in memory.

    The loop keeps `slots` states, and the backward sweep finds the others again by running steps once more.
    For n steps with s slots no step is advanced more than r times, where r is the least number with
    C(s + r, r) >= n: 64 slots do for 47,905 steps with r = 3, for 814,385 with r = 4. Each step is then
    recorded once, alone. Where `until` decides how long it runs, r is one more at worst.

    The step may close over traced values, which are differentiated as well, and every transform applies, in
    any order. Under another reverse-mode transform memory grows with the logarithm of the length. In programs
    it is an equation `scan` or `while`, of which the first keeps every state.

    Args:
        step: a pure function ``step(state)``, or ``step(state, i)`` with the number of the step, from 0, that
            returns the next state, of the same structure, shapes and dtypes.
        state: the first state, a tree of arrays.
        length: the number of steps; with `until` the largest.
        until: a function of the state; the loop ends before a step when it is true. Members of a batch that
            are done keep their state.
        slots: how many states are kept; the default is enough for r = 2, and 64 with `until`.
        max_bytes: as many slots as fit into so much memory.
        spill: ``"disk"``, or a directory, to keep the states in temporary files.

    Returns:
        The last state.

    Raises:
        CarryTypeError: a step changes the state's structure, shapes or dtypes. CheckpointBudgetError: there
        is no room for one state. ImpureFunctionError: a step that runs again gives another result.
        StagedDerivativeError: reverse mode with `until` while a program of types is written.

    Source: Griewank and Walther, "Algorithm 799: revolve", ACM TOMS 26(1), 2000.

    >>> import numpy as np
    >>> from funcgrad import checkpointed_loop, grad
    >>> def decayed(rate):
    ...     return checkpointed_loop(lambda y: y - 0.001 * rate * y, 1.0, length=1000, slots=10)
    >>> decayed(2.0), grad(decayed)(2.0)
    (0.13506452244668363, np.float64(-0.13533519283234768))
    """
    if length is None and until is None:
        raise ValueError("checkpointed_loop needs a length, or until=")
    if length is not None and int(length) < 0:
        raise ValueError(f"checkpointed_loop: length={length} is negative")
    leaves, treedef = tree.flatten(state)
    leaves = [array_leaf(x, lambda i=i: tree.leaf_paths(treedef)[i]) for i, x in enumerate(leaves)]
    counts = _takes_two(step)

    def run(count, *leaves):
        state = tree.unflatten(treedef, leaves)
        outs, found = tree.flatten(step(state, count) if counts else step(state))
        if found != treedef:
            raise errors.CarryTypeError("", str(treedef), str(found), describe(*caller()))
        return [count + 1, *[output_leaf(o, step) for o in outs]]

    def ended(_, *leaves):
        return until(tree.unflatten(treedef, leaves))

    outs = checkpointed(
        run,
        [0, *leaves],
        length=None if length is None else int(length),
        until=None if until is None else ended,
        slots=slots,
        max_bytes=max_bytes,
        spill=spill,
        hints=closed_over([step, until]),
    )
    return tree.unflatten(treedef, outs[1:])


def _takes_two(step: Callable) -> bool:
    """Whether a step takes the number of the step, too."""
    try:
        parameters = inspect.signature(step).parameters.values()
    except (TypeError, ValueError):  # a ufunc
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is p.empty for p in parameters) == 2
