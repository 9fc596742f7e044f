"""Laws that hold of every function under every transform; the checks of primitives and the tests use them.

A traced value is the plain value; a batch is a loop; a staged program is the function; and no rule
computes in a wider dtype than the function does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.evaluation import eval_jaxpr
from funcgrad._core.jaxpr import Eqn, Jaxpr
from funcgrad._core.types import ShapeDtypeStruct, dtype_of, float0, is_differentiable, shape_of, type_of
from funcgrad._transforms.arguments import name_of
from funcgrad._transforms.batching import vmap
from funcgrad._transforms.derivatives import jvp, vjp
from funcgrad._transforms.staging import check_jaxpr, make_jaxpr

_ALL_SUBSETS = 3  # arguments up to which every choice of batched ones is tried


def check_values(f: Callable, args: Sequence[Any]) -> None:
    """The results of traced calls are those of a plain call, in value, shape and dtype."""
    expected = f(*args)
    directions = tuple(_wave(x) for x in args)
    _compare(f, "the value under jvp", jvp(f, args, directions)[0], expected)
    _compare(f, "the value under vjp", vjp(f, *args)[0], expected)


def check_batching(f: Callable, args: Sequence[Any]) -> None:
    """`vmap` of a function, and of its derivatives, is a loop; whichever arguments are batched."""
    random = np.random.default_rng(7)
    taken = {n for x in args for n in shape_of(x)}
    size = next((n for n in (3, 2, 4, 5, 6) if n not in taken), 7)  # no other axis is mistaken for the batch
    members = [[_nearby(x, i, random) for i in range(size)] for x in args]
    derivatives, directions, seeds = derivatives_at(f, args)
    vectors = [tree.map(lambda t, s=s: _scaled(t, s), (directions, seeds)) for s in range(1, size + 1)]
    for batched in _subsets(len(args)):
        axes = tuple(0 if b else None for b in batched)
        stacked = tuple(np.stack(m) if b else m[0] for m, b in zip(members, batched))
        rows = [tuple(m[i] if b else m[0] for m, b in zip(members, batched)) for i in range(size)]
        which = f"with arguments {[i for i, b in enumerate(batched) if b]} batched"
        expected = _stack([f(*row) for row in rows])
        _compare(f, f"vmap {which}", vmap(f, in_axes=axes)(*stacked), expected)
        expected = _stack([derivatives(row, directions, seeds) for row in rows])
        found = vmap(derivatives, in_axes=(axes, None, None))(stacked, directions, seeds)
        _compare(f, f"vmap of jvp and vjp {which}", found, expected)
        expected = _stack([derivatives(row, *vector) for row, vector in zip(rows, vectors)])
        found = vmap(derivatives, in_axes=(axes, 0, 0))(stacked, *_stack(vectors))
        _compare(f, f"vmap of jvp and vjp {which}, and vectors", found, expected)
    # of the last choice, in which everything is batched
    found = derivatives_at(vmap(f), stacked)[0](stacked, *_stack(vectors))
    _compare(f, "jvp and vjp of vmap", found, expected)


def check_staging(f: Callable, args: Sequence[Any]) -> None:
    """The programs of a function and of its derivatives, from values and from types, are the function."""
    types = [ShapeDtypeStruct(shape_of(x), dtype_of(x)) for x in args]
    derivatives, directions, seeds = derivatives_at(f, args)
    both = derivatives(args, directions, seeds)

    def at_vectors(*xs):
        return derivatives(xs, directions, seeds)

    for g, what, out in (
        (f, "the program", f(*args)),
        (at_vectors, "the program of jvp and vjp", both),
    ):
        for inputs, source in ((args, "values"), (types, "types")):
            program = make_jaxpr(g)(*inputs)
            check_jaxpr(program)
            str(program)
            found = eval_jaxpr(program, program.consts, *args)
            _compare(f, f"{what}, staged from {source}", found, tree.leaves(out))
    program = make_jaxpr(f)(*args)

    def evaluated(*xs):
        return tuple(eval_jaxpr(program, program.consts, *xs))

    found = derivatives_at(evaluated, args)[0](args, directions, tuple(tree.leaves(seeds)))
    _compare(f, "jvp and vjp of the evaluated program", tree.leaves(found), tree.leaves(both))


def check_precision(f: Callable, args: Sequence[Any]) -> None:
    """Derivatives compute in no wider dtype than the function: read off their programs' types.

    Only what is wider than float32 counts: masks are moved in it.
    """
    program = make_jaxpr(f)(*args)
    types = [v.aval for v in program.invars] + [v.aval for eqn in equations(program) for v in eqn.outvars]
    widest = max(_width(t.dtype) for t in [*types, ShapeDtypeStruct((), np.float32)])
    derivatives, directions, seeds = derivatives_at(f, args)
    for eqn in equations(make_jaxpr(derivatives)(args, directions, seeds)):
        for var in eqn.outvars:
            if _width(var.aval.dtype) > widest:
                found = f"{var.aval} from {eqn.primitive.name}, at {eqn.where}"
                raise errors.LawError(name_of(f), "the dtypes in its jvp and vjp", "", found, "none so wide")


def equations(program: Jaxpr) -> Iterator[Eqn]:
    """The equations of a program and of those nested in it."""
    for eqn in program.eqns:
        yield eqn
        for value in eqn.params.values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Jaxpr):
                    yield from equations(part)


def _width(dtype: np.dtype) -> int:
    """The digits of a floating-point dtype; 0 of others."""
    return np.finfo(dtype).nmant if dtype.kind in "fc" else 0


def derivatives_at(f: Callable, args: Sequence[Any]) -> tuple[Callable, tuple, Any]:
    """``derivatives(args, directions, seeds)`` -> tangents and cotangents; and vectors to call it with."""
    places = [i for i, x in enumerate(args) if is_differentiable(dtype_of(x))]

    def derivatives(xs, directions, seeds):
        def on_floats(*floats):
            whole = list(xs)
            for place, x in zip(places, floats):
                whole[place] = x
            return f(*whole)

        floats = tuple(xs[i] for i in places)
        return jvp(on_floats, floats, directions)[1], vjp(on_floats, *floats)[1](seeds)

    directions = tuple(_wave(args[i]) for i in places)
    return derivatives, directions, tree.map(_wave, f(*args))


def _wave(like: Any) -> Any:
    """Numbers without pattern, from 0.5 to 1.5, of the type of another value; float0 of integers."""
    shape, dtype = shape_of(like), dtype_of(like)
    if not is_differentiable(dtype):
        return np.zeros(shape, float0)
    numbers = 1 + 0.5 * np.sin(1 + 3 * np.arange(np.prod(shape, dtype=int)))
    return numbers.reshape(shape).astype(dtype)[()]


def _scaled(t: Any, factor: int) -> Any:
    return t if t.dtype == float0 else t * t.dtype.type(factor)


def _nearby(x: Any, i: int, random: np.random.Generator) -> Any:
    """Another value near one, so that members of a batch differ."""
    x = np.asarray(x)
    if not i or not is_differentiable(x.dtype):
        return x
    return (x * (1 + 0.01 * random.uniform(-1, 1, x.shape))).astype(x.dtype)


def _subsets(count: int) -> list[tuple[bool, ...]]:
    """Which arguments to batch: every choice of few, else each alone and all."""
    if count <= _ALL_SUBSETS:
        return [s for s in itertools.product((False, True), repeat=count) if any(s)]
    return [tuple(i == j for j in range(count)) for i in range(count)] + [(True,) * count]


def _stack(results: Sequence[Any]) -> Any:
    treedef = tree.structure(results[0])
    columns = zip(*map(tree.leaves, results))
    return tree.unflatten(treedef, [np.stack(column) for column in columns])


def _compare(f: Callable, law: str, found: Any, expected: Any) -> None:
    """Raise unless two trees are equal but for rounding."""
    found_leaves, treedef = tree.flatten(found)
    expected_leaves = tree.leaves(expected)
    if len(found_leaves) != len(expected_leaves):
        raise errors.LawError(name_of(f), law, "", f"{len(found_leaves)} results", f"{len(expected_leaves)}")
    for path, a, b in zip(tree.leaf_paths(treedef), found_leaves, expected_leaves):
        if type_of(a) != type_of(b):
            raise errors.LawError(name_of(f), law, path, f"{type_of(a)}", f"{type_of(b)}")
        a, b = np.asarray(a), np.asarray(b)
        if not is_differentiable(a.dtype):
            wrong = np.atleast_1d(a != b) if a.dtype.kind in "iub" else np.zeros(1, bool)
        else:
            scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
            rtol = 1e3 * np.finfo(a.dtype).eps
            close = np.isclose(a, b, rtol=rtol, atol=0.1 * rtol * scale, equal_nan=True)
            wrong = ~np.atleast_1d(close)
        if np.any(wrong):
            entry = np.unravel_index(int(np.argmax(wrong)), wrong.shape)[: a.ndim]
            shown = f"[{', '.join(map(str, entry))}]" if entry else ""
            raise errors.LawError(name_of(f), law, path + shown, f"{a[entry]}", f"{b[entry]}")
