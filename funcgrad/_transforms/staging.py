"""Functions as programs that can be read, checked, evaluated and transformed: make_jaxpr, named_call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from funcgrad import tree
from funcgrad._core import checking
from funcgrad._core.jaxpr import Jaxpr
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.stage import Stage, Staged, nested, out_types
from funcgrad._primitives.control import call
from funcgrad._transforms.arguments import argument_paths, array_leaf, name_of, output_leaf, place_of, wraps


def make_jaxpr(f: Callable, static_argnums: int | Sequence[int] = (), return_shape: bool = False) -> Callable:
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
        d:f64[] = sum[axis=(-1,)] c
      in (d,) }
    """
    static = tuple(static_argnums) if isinstance(static_argnums, Sequence) else (static_argnums,)

    @wraps(f, "make_jaxpr")
    def run(*args, **kwargs):
        places = {place_of(n, len(args), static_argnums, f, "static_argnums") for n in static}
        dynamic = {i: a for i, a in enumerate(args) if i not in places}

        def on_dynamic(new, new_kwargs):
            return f(*[new.get(i, a) for i, a in enumerate(args)], **new_kwargs)

        program, out_treedef = stage(on_dynamic, (dynamic, kwargs), f)
        if not return_shape:
            return program
        types = [ShapeDtypeStruct(t.shape, t.dtype) for t in program.out_avals]
        return program, tree.unflatten(out_treedef, types)

    return run


def stage(run: Callable, args: tuple, f: Callable) -> tuple[Jaxpr, tree.TreeDef]:
    """The program of ``run(*args)``, whose inputs are the leaves of `args`, and its result's structure."""
    leaves, treedef = tree.flatten(args)
    for index, x in enumerate(leaves):
        if not isinstance(x, ShapeDtypeStruct):
            leaves[index] = array_leaf(x, lambda index=index: argument_paths(treedef)[index])
    trace = Stage()
    try:
        out = run(*tree.unflatten(treedef, [trace.input(x) for x in leaves]))
    finally:
        trace.close()
    outs, out_treedef = tree.flatten(out)
    return trace.program([output_leaf(o, f) for o in outs]), out_treedef


def named_call(f: Callable, *, name: str | None = None) -> Callable:
    """A function that is one equation with a nested program when it is staged.

    In every eager transform it is `f` itself. It may close over traced values.

    Args:
        f: a function of trees of arrays.
        name: what the equation is called; the function's name if None.

    Returns:
        A function of the same arguments.

    Raises:
        OutputTypeError: a result is no array.

    >>> import numpy as np
    >>> from funcgrad import make_jaxpr, named_call
    >>> print(make_jaxpr(named_call(lambda x: np.sin(x) + 1.0, name="wave"))(1.0))
    { lambda ; a:f64[]. let
        b:f64[] = call[jaxpr={ lambda ; c:f64[]. let
            d:f64[] = sin c
            e:f64[] = add d 1.0:f64[]
          in (e,) } name='wave'] a
      in (b,) }
    """

    @wraps(f, "named_call")
    def run(*args, **kwargs):
        leaves, treedef = tree.flatten((args, kwargs))
        tracers = [x for x in leaves if isinstance(x, Tracer)]
        newest = max(tracers, key=lambda x: x._trace.level, default=None)
        if not isinstance(newest, Staged):
            return f(*args, **kwargs)
        out_treedefs = []

        def flat(*leaves):
            a, k = tree.unflatten(treedef, leaves)
            outs, out_treedef = tree.flatten(f(*a, **k))
            out_treedefs.append(out_treedef)
            return [output_leaf(o, f) for o in outs]

        program, captured = nested(flat, leaves, newest._trace)
        outs = call(*captured, *leaves, jaxpr=program, name=name or name_of(f))
        return tree.unflatten(out_treedefs[0], outs)

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
