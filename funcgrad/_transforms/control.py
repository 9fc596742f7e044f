"""Control flow with JAX's signatures. Where values are known, and not staged, it is Python's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.batch import is_batched
from funcgrad._interpreters.calls import closed_over, unchanged
from funcgrad._interpreters.stage import is_staged
from funcgrad._primitives.branches import Branches
from funcgrad._primitives.checkpointed_loops import checkpointed
from funcgrad._primitives.loops import While, apply
from funcgrad._primitives.scanning import Scan
from funcgrad._transforms.arguments import argument_paths, array_leaf, name_of, output_leaf
from funcgrad._transforms.batching import vmap


class _Flat:
    """A function of trees as one of flat values; what it returns keeps its structure.

    Attributes:
        out_treedef: the structure that it returned first, and must return always.
    """

    def __init__(self, f: Callable, treedef: tree.TreeDef, out_treedef: tree.TreeDef | None = None):
        self.f, self.treedef, self.out_treedef = f, treedef, out_treedef

    def __call__(self, *leaves: Any) -> list[Any]:
        outs, found = tree.flatten(self.f(*tree.unflatten(self.treedef, leaves)))
        if self.out_treedef is None:
            self.out_treedef = found
        elif found != self.out_treedef:
            self.mismatch(found)
        return [output_leaf(o, self.f) for o in outs]

    def mismatch(self, found: tree.TreeDef) -> None:
        raise errors.CarryTypeError("", _outline(self.out_treedef), _outline(found), describe(*caller()))


def _outline(treedef: tree.TreeDef) -> str:
    return repr(treedef).removeprefix("TreeDef(").removesuffix(")")


def _array_leaves(leaves: Sequence[Any], treedef: tree.TreeDef) -> list[Any]:
    return [array_leaf(x, lambda i=i: argument_paths(treedef)[i]) for i, x in enumerate(leaves)]


def _scalar(x: Any, name: str, kinds: str = "biuf") -> Any:
    if not isinstance(x, (Tracer, np.ndarray, np.generic, bool, int, float)):
        found = f"of type {type(x).__name__}"
    elif dtype_of(x).kind not in kinds:
        found = f"of dtype {dtype_of(x)}"
    elif shape_of(x) != ():
        found = f"of shape {shape_of(x)}"
    else:
        return x
    raise errors.PredicateError(name, found, describe(*caller()))


# ---- choices -------------------------------------------------------------------------------------


def cond(pred: Any, true_fun: Callable, false_fun: Callable, *operands: Any) -> Any:
    """Apply one of two functions, as a value says.

    With a known value it calls that function. In a batch whose members differ it calls both, and selects for
    each member; in a program it is one equation.

    Args:
        pred: a boolean or number, of shape ().
        true_fun, false_fun: functions of the operands that return the same structure, shapes and dtypes.
        *operands: trees of arrays; the functions may also close over traced values.

    Returns:
        What the function that was chosen returns.

    Raises:
        PredicateError: `pred` is no scalar. BranchTypeError: the branches differ in what they return.

    >>> from funcgrad import grad, lax, vmap
    >>> import numpy as np
    >>> f = lambda x: lax.cond(x > 0, np.sqrt, lambda x: -x, x)
    >>> f(4.0)
    np.float64(2.0)
    >>> vmap(grad(f))(np.array([4.0, -1.0]))
    array([ 0.25, -1.  ])
    """
    _scalar(pred, "cond's pred")
    index = np.not_equal(pred, 0) if isinstance(pred, Tracer) else bool(pred)
    return _choose(index, (false_fun, true_fun), operands)


def switch(index: Any, branches: Sequence[Callable], *operands: Any) -> Any:
    """Apply one of several functions, by its number.

    Args:
        index: an integer of shape (); it is brought into range.
        branches: functions of the operands that return the same structure, shapes and dtypes.
        *operands: trees of arrays.

    Returns:
        What the function that was chosen returns.

    Raises:
        PredicateError, BranchTypeError: as `cond`. ValueError: there are no branches.

    >>> from funcgrad import lax
    >>> lax.switch(2, [lambda x: x, lambda x: 2 * x, lambda x: x * x], 5.0)
    25.0
    """
    _scalar(index, "switch's index", "iu")
    if not branches:
        raise ValueError("switch needs one branch at least")
    return _choose(np.minimum(np.maximum(index, 0), len(branches) - 1), tuple(branches), operands)


def _choose(index: Any, branches: Sequence[Callable], operands: tuple) -> Any:
    if not is_staged(index) and not is_batched(index):
        branch = branches[int(concrete(index))]
        leaves, treedef = tree.flatten(operands)
        return unchanged(lambda leaves: branch(*tree.unflatten(treedef, leaves)), leaves)
    leaves, treedef = tree.flatten(operands)
    first = _Branch(branches[0], treedef)

    def agreeing(number):
        flat = _Branch(branches[number], treedef, number=number)

        def run(*leaves):
            flat.out_treedef = first.out_treedef
            return flat(*leaves)

        return run

    flat = [first, *[agreeing(number) for number in range(1, len(branches))]]
    outs = apply(Branches(flat, closed_over(list(branches))), [index, *leaves])
    return tree.unflatten(first.out_treedef, outs)


class _Branch(_Flat):
    def __init__(self, f: Callable, treedef: tree.TreeDef, number: int = 0):
        super().__init__(f, treedef)
        self.number = number

    def mismatch(self, found):
        shown = _outline(found), _outline(self.out_treedef)
        raise errors.BranchTypeError(self.number, *shown, describe(*caller()))


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Choose between two arrays, entry by entry.

    Args:
        pred: a boolean, or an array of booleans of the arrays' shape.
        on_true, on_false: arrays of one shape and dtype.

    Returns:
        An array of that shape and dtype.

    Raises:
        ValueError: shapes differ. TypeError: dtypes differ.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.select(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 4.])
    """
    shapes = shape_of(on_true), shape_of(on_false)
    if shapes[0] != shapes[1] or shape_of(pred) not in ((), shapes[0]):
        raise ValueError(f"select needs arrays of one shape, not {shape_of(pred)}, {shapes[0]}, {shapes[1]}")
    if dtype_of(on_true) != dtype_of(on_false):
        raise TypeError(f"select needs arrays of one dtype, not {dtype_of(on_true)} and {dtype_of(on_false)}")
    return np.where(pred, on_true, on_false)


# ---- loops ---------------------------------------------------------------------------------------


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """Apply a function to a state as long as a condition holds.

    With known values it is Python's loop, and reverse mode works, since its steps are recorded. In a batch it
    goes on until the condition holds for no member; those that are done keep their state. In a program it is
    one equation.

    Args:
        cond_fun: a function of the state that returns a boolean of shape ().
        body_fun: a function of the state that returns the next one, of the same structure, shapes and dtypes.
        init_val: the first state, a tree of arrays.

    Returns:
        The last state.

    Raises:
        PredicateError: the condition is no scalar. CarryTypeError: a step changes the state's types.
        StagedDerivativeError: reverse mode while a program of types is written.

    >>> from funcgrad import grad, lax
    >>> double = lambda x: lax.while_loop(lambda x: x < 10.0, lambda x: 2 * x, x)
    >>> double(3.0), grad(double)(3.0)
    (12.0, np.float64(4.0))
    """
    leaves, treedef = tree.flatten(init_val)
    leaves = _array_leaves(leaves, treedef)
    body = _Flat(body_fun, tree.structure((init_val,)), treedef)

    def test(*leaves):
        return _scalar(cond_fun(tree.unflatten(treedef, leaves)), "while_loop's condition")

    return tree.unflatten(treedef, apply(While(test, body, closed_over([cond_fun, body_fun])), leaves))


def scan(
    f: Callable,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoint: int | Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Carry a state along the first axis of arrays.

    With known values it is Python's loop. In a program it is one equation, and so is its derivative.

    Args:
        f: ``f(carry, x) -> (carry, y)``; the carry keeps its structure, shapes and dtypes.
        init: the first carry, a tree of arrays.
        xs: a tree of arrays with the same first axis, of which each step gets one entry; None: x is None.
        length: the number of steps, if no array tells it.
        reverse: whether the last step comes first; ys keep the order of xs.
        unroll: accepted for JAX's sake; a loop in Python has nothing to unroll.
        checkpoint: how many carries reverse mode may keep; it finds the others again in the fewest steps. Or
            a dict of ``slots``, ``max_bytes`` and ``spill``, as for `checkpointed_loop`.

    Returns:
        The last carry, and the tree of all y along a new first axis.

    Raises:
        CarryTypeError: a step changes the carry's types. ValueError: lengths differ, or none is known.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    carry, carry_def = tree.flatten(init)
    x_leaves, x_def = tree.flatten(xs)
    leaves = _array_leaves([*carry, *x_leaves], tree.structure((init, xs)))
    steps = _length(leaves[len(carry) :], length, f)
    y_def: list[tree.TreeDef] = []

    def flat(*leaves):
        c, y = _pair(
            f, tree.unflatten(carry_def, leaves[: len(carry)]), tree.unflatten(x_def, leaves[len(carry) :])
        )
        outs, found = tree.flatten(c)
        if found != carry_def:
            raise errors.CarryTypeError("", _outline(carry_def), _outline(found), describe(*caller()))
        ys, structure = tree.flatten(y)
        y_def[:] = [structure]
        return [output_leaf(o, f) for o in (*outs, *ys)]

    if checkpoint is None:
        outs = apply(Scan(flat, len(carry), steps, bool(reverse), closed_over(f)), leaves)
    else:
        budget = checkpoint if isinstance(checkpoint, Mapping) else {"slots": checkpoint}
        init, xs = leaves[: len(carry)], leaves[len(carry) :]
        outs = checkpointed(
            flat, init, xs, length=steps, reverse=bool(reverse), hints=closed_over(f), **budget
        )
    return tree.unflatten(carry_def, outs[: len(carry)]), tree.unflatten(y_def[0], outs[len(carry) :])


def _pair(f: Callable, carry: Any, x: Any) -> tuple[Any, Any]:
    out = f(carry, x)
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise errors.ScanOutputError(name_of(f), type(out).__name__, describe(*caller()))
    return out[0], out[1]


def _length(xs: Sequence[Any], length: int | None, f: Callable) -> int:
    lengths = {shape_of(x)[0] if shape_of(x) else None for x in xs}
    if None in lengths:
        raise ValueError(
            f"scan({name_of(f)}): xs has a leaf without axes; each step gets one entry of its first"
        )
    lengths |= set() if length is None else {int(length)}
    if len(lengths) != 1:
        found = f"lengths {sorted(lengths)}" if lengths else "no array in xs, and no length"
        raise ValueError(f"scan({name_of(f)}): {found}. Give arrays of one first axis, or length=")
    return lengths.pop()


def fori_loop(lower: Any, upper: Any, body_fun: Callable, init_val: Any, *, unroll: Any = None) -> Any:
    """Apply a function for each number from `lower` up to `upper`, which is left out.

    Args:
        lower, upper: integers.
        body_fun: ``body_fun(i, val) -> val``, of the same structure, shapes and dtypes.
        init_val: a tree of arrays.
        unroll: as for `scan`.

    Returns:
        The last value.

    Raises:
        PredicateError: a bound is no integer. CarryTypeError: a step changes the value's types.

    >>> from funcgrad import grad, lax
    >>> grad(lambda x: lax.fori_loop(0, 3, lambda i, v: v * x, 1.0))(2.0)
    np.float64(12.0)
    """
    known = [concrete(_scalar(n, "a bound of fori_loop", "iu")) for n in (lower, upper)]
    if not any(isinstance(n, Tracer) for n in known):
        first, last = (int(n) for n in known)
        # the number is a Python int, as it is in Python's loop: it makes no float64 of float32
        count = max(last - first, 0)
        return scan(lambda s, _: ((s[0] + 1, body_fun(*s)), None), (first, init_val), length=count)[0][1]

    def step(state):
        i, end, val = state
        return i + 1, end, body_fun(i, val)

    return while_loop(lambda state: state[0] < state[1], step, (lower, upper, init_val))[2]


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each entry along the first axis of arrays, one after the other.

    Args:
        f: a function of one entry, a tree like `xs` without the first axis.
        xs: a tree of arrays with the same first axis.
        batch_size: how many entries are taken at once, by `vmap`; memory is bounded, and it is faster.

    Returns:
        The tree of all results along a new first axis.

    Raises:
        ValueError: as `scan`.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.map(lambda x: np.sum(x**2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    """
    if batch_size is None:
        return scan(lambda _, x: (None, f(x)), None, xs)[1]
    size = _length(tree.leaves(xs), None, f)
    starts = range(0, size, batch_size) if size else [0]
    parts = [vmap(f)(tree.map(lambda x, s=start: x[s : s + batch_size], xs)) for start in starts]
    return tree.map(lambda *chunks: np.concatenate(chunks), *parts)


def associative_scan(fn: Callable, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All running totals under an associative function, in about 2 log2(n) calls on whole arrays.

    Args:
        fn: ``fn(a, b)`` of two trees like `elems`, elementwise along `axis`: ``fn(fn(a, b), c)`` is
            ``fn(a, fn(b, c))``.
        elems: a tree of arrays.
        reverse: whether totals run from the end.
        axis: the axis along which they run.

    Returns:
        A tree like `elems`: entry i is the total of entries 0 to i.

    Raises:
        ValueError: lengths along `axis` differ.

    Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990.

    >>> import numpy as np
    >>> from funcgrad import lax
    >>> lax.associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  2.,  6., 24.])
    """
    leaves, treedef = tree.flatten(elems)
    leaves = [np.moveaxis(x, axis, 0) for x in leaves]
    _length(leaves, None, fn)

    def combine(a, b):
        pair = (tree.unflatten(treedef, [np.moveaxis(x, 0, axis) for x in side]) for side in (a, b))
        return [np.moveaxis(x, axis, 0) for x in tree.leaves(fn(*pair))]

    if reverse:
        leaves = [x[::-1] for x in leaves]
    totals = _running(combine, leaves)
    if reverse:
        totals = [x[::-1] for x in totals]
    return tree.unflatten(treedef, [np.moveaxis(x, 0, axis) for x in totals])


def _running(combine: Callable, leaves: list[Any]) -> list[Any]:
    """Running totals along the first axis: those of neighbouring pairs are every second one."""
    count = shape_of(leaves[0])[0]
    if count < 2:
        return leaves
    pairs = combine([x[0 : count - 1 : 2] for x in leaves], [x[1::2] for x in leaves])
    odd = _running(combine, pairs)
    tail = [x[2::2] for x in leaves]
    before = [x[: shape_of(t)[0]] for x, t in zip(odd, tail)]
    even = combine(before, tail) if shape_of(tail[0])[0] else tail
    even = [np.concatenate([x[:1], e]) for x, e in zip(leaves, even)]
    return [_alternate(e, o) for e, o in zip(even, odd)]


def _alternate(even: Any, odd: Any) -> Any:
    """Entries of two arrays in turn; the first has as many as the second, or one more."""
    count = shape_of(odd)[0]
    woven = np.reshape(np.stack([even[:count], odd], axis=1), (2 * count, *shape_of(odd)[1:]))
    return np.concatenate([woven, even[count:]])
