"""A function recorded at its arguments: what vjp, grad, linearize and the Jacobians share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.boxes import leaving
from funcgrad._core.source import describe, stacklevel
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer, deriving_context
from funcgrad._core.types import dtype_of, float0, is_unlike_array, shape_of
from funcgrad._interpreters.forward import Dual
from funcgrad._interpreters.record import Recorded
from funcgrad._interpreters.reverse import fit, pull_back
from funcgrad._transforms.arguments import (
    Chosen,
    describe_type,
    differentiable_leaf,
    name_of,
    output_leaf,
    split_aux,
    tell_cause,
    warn_of_refusal,
    zeros,
)  # fmt: skip
from funcgrad._transforms.debugging import new_record, require_finite, walk_check


class Run:
    """A function recorded at its arguments: the tape, the inputs, and the output.

    Attributes:
        leaves: the chosen arguments' leaves; `slots` their rows, None for integers.
        outs: the output's leaves without this trace; `rows` theirs, None where the output does not
            depend on the inputs.
        aux: the auxiliary data without this trace; `aux_rows` the rows and values of its traced leaves.
    """

    __slots__ = (
        "record", "chosen", "leaves", "treedef", "slots", "outs", "rows", "out_treedef", "aux", "aux_rows",
    )  # fmt: skip

    def __init__(
        self,
        chosen: Chosen,
        f: Callable,
        has_aux: bool,
        allow_int: bool,
        push: bool = False,
        kept: bool = False,
        linear: bool = False,
    ):
        """`push` records for the forward walk; `kept` says that the tape is walked after this call, `linear`
        that the function must be linear."""
        self.record = record = new_record(push, kept)
        record.linear = linear
        if not kept:  # else every entry of every array counts
            record.tape.outside = chosen.arrays
        self.chosen = chosen
        self.leaves, self.treedef = tree.flatten(chosen.tree)
        tracers, self.slots = [], []
        for index, leaf in enumerate(self.leaves):
            value = differentiable_leaf(leaf, lambda index=index: chosen.path(index), allow_int)
            if value is None:
                tracers.append(leaf)
                self.slots.append(None)
            else:
                tracer = record.input(value)
                tracers.append(tracer)
                self.slots.append(tracer.slot)
        try:
            out = chosen.call(tree.unflatten(self.treedef, tracers))
        except Exception as error:
            tell_cause(error, record)
            raise
        finally:
            record.close()
        warn_of_refusal(record, f)
        out, self.aux = split_aux(out, has_aux, f)
        self.aux_rows: list[tuple[int, Any]] = []
        if has_aux:
            self.aux = tree.map(self._strip_aux, self.aux)
        outs, self.out_treedef = tree.flatten(out)
        require_finite(record, outs)
        self.rows, self.outs = [], []
        for o in outs:
            self.rows.append(self._row(o))
            self.outs.append(plain(self._strip(output_leaf(o, f))))
        if kept:
            self.watch_outputs()
        if record.cuts and None in self.rows:
            self._pass_on(self._cuts_of({slot for slot in self.slots if slot is not None}))

    def _row(self, x: Any) -> int | None:
        return x.slot if type(x) is Recorded and x._trace is self.record else None

    def _strip(self, x: Any) -> Any:
        return leaving(x.value if type(x) is Recorded and x._trace is self.record else x)

    def _strip_aux(self, x: Any) -> Any:
        if not isinstance(x, Tracer):
            return x
        row, value = self._row(x), plain(self._strip(x))
        if row is not None:
            self.aux_rows.append((row, value))
        return value

    @property
    def out(self) -> Any:
        return tree.unflatten(self.out_treedef, self.outs)

    def pull(self, cotangents: Sequence[Any], consume: bool) -> list[Any]:
        """A cotangent for each leaf of the inputs; None where the output does not depend on it."""
        pairs = [(r, ct) for r, ct in zip(self.rows, cotangents) if r is not None]
        rows, seeds = [r for r, _ in pairs], [ct for _, ct in pairs]
        check = walk_check(self.record)
        cts = walk(pull_back, self.record.tape, rows, seeds, consume, check)
        if check is not None:
            check.require_finite(range(len(cts)), cts)
        return [None if slot is None else cts[slot] for slot in self.slots]

    def watch_outputs(self) -> None:
        """The caller gets outputs and aux before the walk, and a residual may be one of them."""
        for row, out in [*zip(self.rows, self.outs), *self.aux_rows]:
            if row is not None and type(out) is np.ndarray:
                self.record.tape.watch(out)

    def checked_cotangents(self, cotangent: Any) -> list[Any]:
        """The leaves of a cotangent, which must be like the output."""
        return checked_leaves(cotangent, self.out_treedef, self.outs, errors.CotangentError)

    def finish(self, cts: Sequence[Any]) -> Any:
        """Cotangents as a tree like the inputs, of their shapes and dtypes."""
        return tree.unflatten(self.treedef, [finish(ct, x) for ct, x in zip(cts, self.leaves)])

    def report_unused(self, cts: Sequence[Any], unused: str, f: Callable) -> None:
        """Say so where the output does not depend on an input."""
        missing = [i for i, ct in enumerate(cts) if ct is None and self.slots[i] is not None]
        if not missing or unused == "zero":
            return
        cuts = self._cuts_of({self.slots[i] for i in missing})
        if unused == "error":
            where = describe(*cuts[self.slots[missing[0]]]) if self.slots[missing[0]] in cuts else None
            raise errors.UnusedInputError(name_of(f), self.chosen.path(missing[0]), where)
        if not cuts or self._pass_on(cuts):
            return
        first = next(i for i in missing if self.slots[i] in cuts)
        warnings.warn(
            f"the gradient of {name_of(f)} with respect to {self.chosen.path(first)} is zero: the dependence "
            f"on it was cut at {describe(*cuts[self.slots[first]])} by an operation without derivative (a "
            "comparison, a rounding, an integer or boolean read). grad(..., unused='zero') keeps quiet, "
            "unused='error' raises.",
            errors.DependenceCutWarning,
            stacklevel=stacklevel(),
        )

    def _cuts_of(self, slots: set[int]) -> dict[int, tuple]:
        """For inputs, where the dependence on them was cut."""
        places = {}
        for place, rows in self.record.cuts.values():
            for slot in sorted(slots & self.record.tape.inputs_of(rows)):
                places.setdefault(slot, place)
        return places

    def _pass_on(self, cuts: dict[int, tuple]) -> bool:
        """Tell the transform around this one, which reports it if it matters there; is there one?"""
        found = False
        for leaf, slot in zip(self.leaves, self.slots):
            if slot in cuts:
                found |= pass_on_cut(leaf, cuts[slot])
        return found


def walk(walker: Callable, *args: Any) -> list[Any]:
    """Walk a tape. An error of a rule is told which operation it belongs to.

    Floating-point warnings are off: an infinite derivative is a result; `debug_nans` finds its cause.
    """
    try:
        return deriving_context().run(walker, *args)
    except Exception as error:
        traceback = error.__traceback__
        while traceback is not None:
            known = traceback.tb_frame.f_locals
            if isinstance(known.get("tape"), Tape) and "row" in known:
                tape, row = known["tape"], known["row"]
                if tape.plans[row] is not None:
                    name = tape.plans[row].prim.name
                    error.add_note(f"in the derivative of {name}, which was called at {tape.where(row)}")
                break
            traceback = traceback.tb_next
        raise


def pass_on_cut(value: Any, place: tuple) -> bool:
    """Note in the transform that a value comes from, if any, that its derivative ends at a place."""
    while isinstance(value, Tracer) and not isinstance(value, (Recorded, Dual)):
        value = getattr(value, "value", None)  # a batch of traced values
    if not isinstance(value, Tracer):
        return False
    value._trace.note_cut((value.slot,) if isinstance(value, Recorded) else (), place)
    return True


def finish(ct: Any, like: Any) -> Any:
    """A cotangent in the shape and dtype of what it belongs to."""
    if ct is None:
        return zeros(like)
    dtype = dtype_of(like)
    if ct.dtype is not dtype or ct.shape != shape_of(like):
        ct = fit(ct, shape_of(like), dtype)
    return plain(ct)


def plain(x: Any) -> Any:
    """A result as NumPy gives it: a scalar in place of an array without axes or a Python number."""
    if type(x) is np.ndarray:
        return x[()] if x.ndim == 0 and x.dtype != float0 else x
    if type(x) in (float, int, complex, bool):
        return np.asarray(x)[()]
    return leaving(x)


def unshared(results: Sequence[Any], given: Sequence[Any] = ()) -> list[Any]:
    """Results that can be written to, and share memory neither with each other nor with what was given."""
    taken, fresh = {id(g) for g in given}, []
    for x in results:
        if type(x) is np.ndarray:
            if not x.flags.writeable or x.base is not None or id(x) in taken:
                x = np.array(x)
            taken.add(id(x))
        fresh.append(x)
    return fresh


def plain_aux(aux: Any, strip: Callable) -> Any:
    """Auxiliary data without a transform's tracers; what was none is passed as it is."""
    return tree.map(lambda x: plain(strip(x)) if isinstance(x, Tracer) else x, aux)


def checked_leaves(given: Any, treedef: tree.TreeDef, like: Sequence[Any], error: type) -> list[Any]:
    """The leaves of tangents or cotangents, which must have a structure and the types of `like`."""
    leaves, found = tree.flatten(given)
    if found != treedef:
        try:
            parts = tree.flatten_up_to(treedef, given)
        except errors.TreeStructureError as first:
            raise error(first.path, first.expected, first.found) from None
        for path, part in zip(tree.leaf_paths(treedef), parts):
            if tree.structure(part) is not tree.LEAF:
                raise error(path, "an array or number", tree.structure(part))
    return [
        checked(t, x, error, lambda i=i: tree.leaf_paths(treedef)[i])
        for i, (t, x) in enumerate(zip(leaves, like))
    ]


def checked(t: Any, like: Any, error: type, path: Callable[[], str]) -> Any:
    """A tangent or cotangent that has the type of its value; a Python scalar takes any dtype."""
    shape, dtype = shape_of(like), dtype_of(like)
    if dtype.kind in "iub":
        dtype = float0
    if not isinstance(t, (np.ndarray, np.generic, Tracer, float, complex, int)) or is_unlike_array(t):
        found = type(t).__name__ if is_unlike_array(t) else describe_type(t)
        raise error(path(), _typed(dtype, shape), found)
    if isinstance(t, Tracer) and t._trace.ended:
        t._trace.refuse("a derivative")
    own = dtype_of(t)
    weak = type(t) in (int, float) or (type(t) is complex and dtype.kind == "c")
    if weak and dtype != float0:
        t = dtype.type(t)
        own = dtype
    if shape_of(t) != shape or own != dtype:
        raise error(path(), _typed(dtype, shape), _typed(own, shape_of(t)))
    return t


def _typed(dtype: np.dtype, shape: tuple[int, ...]) -> str:
    return f"{'float0' if dtype == float0 else dtype}{list(shape)}"


def check_holomorphic(leaves, out_dtypes, holomorphic: bool, f: Callable, transform: str) -> None:
    complex_out = [d.kind == "c" for d in out_dtypes]
    if not holomorphic:
        if any(complex_out):
            raise errors.OutputTypeError(
                name_of(f), "a complex output",
                f"{transform} needs a real output (np.real(y), np.abs(y)**2), or holomorphic=True if "
                "the function is complex-differentiable.",
            )  # fmt: skip
        return
    if any(dtype_of(x).kind != "c" for x in leaves):
        raise errors.InputTypeError(
            "an argument", "real", "but holomorphic=True is for functions of complex arguments",
            "Pass complex numbers: x.astype(complex) or 1.0 + 0j; or leave holomorphic out.",
        )  # fmt: skip
    if not all(complex_out):
        raise errors.OutputTypeError(
            name_of(f), "a real output", "With holomorphic=True the output must be complex."
        )
