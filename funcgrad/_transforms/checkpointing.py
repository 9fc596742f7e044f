"""checkpoint: recompute in the backward sweep instead of storing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from funcgrad import tree
from funcgrad._interpreters.calls import bind, closed_over
from funcgrad._primitives.checkpoints import Checkpoint
from funcgrad._transforms.arguments import output_leaf, place_of, wraps


def checkpoint(f: Callable, static_argnums: int | Sequence[int] = ()) -> Callable:
    """A function that stores its inputs only, and runs again in the backward sweep.

    Values and derivatives are those of `f`; memory is traded for one more evaluation. It may close over
    traced values, branch on values, nest, and stand under and over every other transform.

    Args:
        f: a pure function of trees of arrays.
        static_argnums: positions of arguments that are passed as they are.

    Returns:
        A function of the same arguments.

    Raises:
        ImpureFunctionError: when it runs again it gives another result, for instance with random numbers.

    >>> import numpy as np
    >>> from funcgrad import checkpoint, grad
    >>> layer = checkpoint(lambda x: np.tanh(3.0 * x))
    >>> grad(lambda x: layer(layer(x)))(0.0)
    np.float64(9.0)
    """
    static = tuple(static_argnums) if isinstance(static_argnums, Sequence) else (static_argnums,)

    @wraps(f, "checkpoint")
    def run(*args, **kwargs):
        places = {place_of(n, len(args), static_argnums, f, "static_argnums") for n in static}
        dynamic = {i: a for i, a in enumerate(args) if i not in places}
        leaves, treedef = tree.flatten((dynamic, kwargs))
        out_treedef: list[tree.TreeDef] = []

        def flat(*leaves):
            new, new_kwargs = tree.unflatten(treedef, leaves)
            outs, structure = tree.flatten(f(*[new.get(i, a) for i, a in enumerate(args)], **new_kwargs))
            out_treedef[:] = [structure]
            return [output_leaf(o, f) for o in outs]

        outs = bind(Checkpoint(flat, closed_over(f)), leaves)
        return tree.unflatten(out_treedef[0], outs)

    return run
