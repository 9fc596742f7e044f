"""make_jaxpr: a function as a program that can be read, checked, evaluated and transformed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad import tree
from funcgrad._core import checking
from funcgrad._core.jaxpr import Jaxpr
from funcgrad._core.types import ShapeDtypeStruct, type_of
from funcgrad._interpreters.stage import Stage, out_types
from funcgrad._transforms.arguments import output_leaf, wraps


def make_jaxpr(
    f: Callable, static_argnums: int | Sequence[int] = (), return_shape: bool = False
) -> Callable:
    """A function that returns the program of `f`.

    With values, Python control flow works and the program is of the path that was taken; with types
    (`ShapeDtypeStruct`) a branch on a value is an error.

    Args:
        f: a function of trees of arrays.
        static_argnums: positions of arguments that are passed as they are, and are no inputs.
        return_shape: also return the tree of the result's types.

    Returns:
        A function of arguments or of their types that returns a `Jaxpr`, or the pair of it and types.

    Raises:
        OutputTypeError: a result is no array.

    >>> import numpy as np
    >>> from funcgrad import make_jaxpr
    >>> print(make_jaxpr(lambda x: np.sum(np.sin(x) * 2.0))(np.ones(3)))
    { lambda ; a:f64[3]. let
        b:f64[3] = sin a
        c:f64[3] = multiply b 2.0:f64[]
        d:f64[] = sum[axis=(-1,) keepdims=False] c
      in (d,) }
    """
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @wraps(f, "make_jaxpr")
    def run(*args, **kwargs):
        places = {n % len(args) for n in static} if args else set()
        dynamic = {i: a for i, a in enumerate(args) if i not in places}
        leaves, treedef = tree.flatten((dynamic, kwargs))
        trace = Stage()
        tracers = [trace.input(x) for x in leaves]
        try:
            new, new_kwargs = tree.unflatten(treedef, tracers)
            out = f(*[new.get(i, a) for i, a in enumerate(args)], **new_kwargs)
        finally:
            trace.close()
        outs, out_treedef = tree.flatten(out)
        program = trace.program([output_leaf(o, f) for o in outs])
        if not return_shape:
            return program
        types = [ShapeDtypeStruct(t.shape, t.dtype) for t in map(type_of, outs)]
        return program, tree.unflatten(out_treedef, types)

    return run


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Check a program, and the programs nested in it.

    Args:
        jaxpr: the program.

    Raises:
        ProgramError: it reads a variable that is not bound, binds one twice, holds a constant of
            another type, or states a type that the primitive does not give.

    >>> from funcgrad import check_jaxpr, make_jaxpr
    >>> check_jaxpr(make_jaxpr(lambda x: x * 2.0)(1.0))
    """
    checking.check_jaxpr(jaxpr, out_types)
