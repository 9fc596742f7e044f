"""Calls: functions whose run is one operation to every trace (checkpoint, custom rules, staged loops).

A function may close over traced values, which are inputs of the call as much as its arguments are. To find
them no function is taken apart: the trace in charge is suspended while the function runs, so that its
tracers are read as the values that they stand for, and notes which were read. What the function computes
is then of the trace below, which treats the call in its turn. When a part of the function runs once more,
in the backward sweep, the trace has ended; a successor stands in for it.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import errors, tree
from funcgrad._core.boxes import fixed, own_box
from funcgrad._core.fingerprints import fingerprint
from funcgrad._core.plans import Plan
from funcgrad._core.primitive import Primitive
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Reading, Trace, Tracer, continuing, settled, standing_in
from funcgrad._core.types import dtype_of, is_differentiable, shape_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.forward import Forward
from funcgrad._interpreters.record import Record
from funcgrad._interpreters.stage import Stage

_LOOKED_THROUGH = 64  # entries of a container that a function closes over


class Call:
    """A function of flat values, and what each kind of trace makes of a call of it.

    Attributes:
        fun: the function; it takes arrays and returns a sequence of arrays.
        closed_over: tracers and arrays that it is known to close over; other tracers are found when it runs.
    """

    __slots__ = ("fun", "closed_over")

    def __init__(self, fun: Callable, closed_over: Sequence[Tracer] = ()):
        self.fun = fun
        self.closed_over = closed_over

    def run(self, args: Sequence[Any]) -> list[Any]:
        """Without any trace."""
        return list(self.fun(*args))

    def record(self, trace: Record, args: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def forward(self, trace: Forward, args: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def batch(self, trace: Batch, args: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def stage(self, trace: Stage, args: Sequence[Any]) -> list[Any]:
        raise NotImplementedError


def bind(call: Call, args: Sequence[Any], below: Trace | None = None) -> list[Any]:
    """The results of a call, which the newest trace that it depends on processes.

    If a result turns out to be of a newer trace yet, the function closed over a tracer of it: that trace
    takes charge, and the function runs again.

    Args:
        below: the trace that is processing the call and asks what those beneath it make of it.
    """
    args = [fixed(settled(a)) for a in args]
    trace = _newest([*args, *reachable(call.closed_over)])
    while True:
        try:
            outs = [settled(o) for o in _process(call, trace, args, below)]
        except _ClosedOverNewer as found:
            newer = found.trace
        else:
            newer = _newest(outs)
            if newer is None or (trace is not None and newer.level <= trace.level):
                return outs
        if below is not None and newer.level > below.level:
            raise _ClosedOverNewer(newer)
        trace = newer


class _ClosedOverNewer(Exception):
    """A function closes over a tracer of a trace that is newer than the one in charge."""

    def __init__(self, trace: Trace):
        self.trace = trace


def bind_members(call: Call, trace: Batch, args: Sequence[Any], name: str) -> list[tuple]:
    """The results of a call in a loop over the members of a batch: for each result those of all members.

    What the function closes over is read as the member's, too.

    Args:
        name: what errors call the function.
    """
    members = []
    for index in range(trace.size):
        with standing_in(trace, Reading(trace, lambda x, index=index: x.value[index])):
            members.append(bind(call, args, below=trace))
    if not members:
        raise errors.BatchAxisError(
            f"{name} runs in a loop over its batch, which is empty",
            "Give it a batch of one member at least: the results' shapes are not known otherwise.",
        )
    return list(zip(*members))


def unchanged(run: Callable, args: Sequence[Any]) -> Any:
    """``run(args)``, where a function may change its arguments in place, but not the caller's arrays.

    A copy would cost memory that few functions ask for: they get it when they try to write. What they return
    of their arguments is as it would be if they had been given the caller's arrays.
    """
    lent = [_read_only(a) if type(a) is np.ndarray else own_box(a) for a in args]
    held = [fingerprint(a, False) if _has_numbers(a) else None for a in args]
    try:
        results = run(lent)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
    else:
        if not _restore(args, held):
            owners = {id(v.base) for v, a in zip(lent, args) if type(a) is np.ndarray and a.flags.writeable}
            return tree.map(lambda x: _given_back(x, owners), results)
    return run([np.array(a) if type(a) is np.ndarray else own_box(a) for a in args])


def _has_numbers(x: Any) -> bool:
    return type(x) is np.ndarray and not x.dtype.hasobject


def _restore(args: Sequence[Any], held: Sequence[bytes | None]) -> bool:
    """Whether arrays were written to though they are read-only, as NumPy lets `ufunc.at` do: not any more.

    Raises:
        InPlaceError: of a large array it is not known what it held.
    """
    written = [(a, h) for a, h in zip(args, held) if h is not None and fingerprint(a, False) != h]
    for array, before in written:
        if len(before) != array.nbytes or not array.flags.writeable:
            what = "np.ufunc.at, which NumPy lets write into a read-only array, on an argument"
            raise errors.InPlaceError(what, describe(*caller()), "Write into a copy: x = x.copy() first.")
        array[...] = np.frombuffer(before, array.dtype).reshape(array.shape)
    return bool(written)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def _given_back(x: Any, owners: set[int]) -> Any:
    """A result; it can be written to if it is a view of an array that could, and repeats no entry."""
    if type(x) is np.ndarray and not x.flags.writeable and id(x.base) in owners:
        x.flags.writeable = not any(step == 0 and n > 1 for step, n in zip(x.strides, x.shape))
    return x


def not_newer(outs: Sequence[Any], trace: Trace) -> None:
    """Let a newer trace take charge if any of these values is a tracer of it."""
    newer = _newest(outs)
    if newer is not None and newer.level > trace.level:
        raise _ClosedOverNewer(newer)


def _process(call: Call, trace: Trace | None, args: list[Any], below: Trace | None) -> list[Any]:
    if trace is None:
        return unchanged(call.run, args)
    if isinstance(trace, Record):
        return call.record(trace, args)
    if isinstance(trace, Forward):
        return call.forward(trace, args)
    if isinstance(trace, Batch):
        return call.batch(trace, args)
    with writing_nothing(call.closed_over, "a function that becomes part of a program"):
        return call.stage(trace, args)


@contextlib.contextmanager
def writing_nothing(closed_over: Sequence[Any], who: str) -> Iterator[None]:
    """Refuse what writes into plain arrays from outside, where it does not run once, as it was meant to.

    Args:
        closed_over: such arrays, among others.
        who: how errors call what writes.
    """
    arrays = [x for x in closed_over if _has_numbers(x)]
    held = [fingerprint(x, False) for x in arrays]
    yield
    if held != [fingerprint(x, False) for x in arrays]:
        what = f"a write into a plain array from outside of {who}"
        raise errors.InPlaceError(what, describe(*caller()), "Return the new array instead.")


def _newest(values: Iterable[Any]) -> Trace | None:
    """The newest trace that any of these values belongs to."""
    traces = [x._trace for x in map(settled, values) if isinstance(x, Tracer)]
    return max((t for t in traces if not (t.infinitesimal or t.ended)), key=lambda t: t.level, default=None)


class _Every:
    """As many `True` as anybody asks for."""

    def __getitem__(self, index: int) -> bool:
        return True


_EVERY = _Every()


class CallPlan(Plan):
    """How the row of a call is walked, by the one thing that the row keeps.

    Attributes:
        dependence: ``dependence(residuals, moving)``: why the call is not linear in those of its parents
            that are `moving`, or None, and for each result whether it depends on them.
    """

    def __init__(
        self,
        prim: Primitive,
        pull: Callable,
        push: Callable | None = None,
        *,
        dependence: Callable | None = None,
        linear: bool = False,
        masks: bool = False,
    ):
        """
        Args:
            prim: what errors and programs call it.
            pull: ``pull(kept, g)``, the shares of its parents, given `Outputs`; `Shares` if `masks`.
            push: ``push(kept, tangents)``, the results' tangents.
            dependence: ``dependence(kept, moving)``, if it is to be found out.
            linear: whether the results are linear in the parents, if not.
            masks: whether the shares have masks of structural zeros.
        """
        self.prim = prim
        self.pull = lambda g, residuals, params: pull(residuals[0][0], g)
        self.push = push and (lambda tangents, residuals, params: push(residuals[0][0], tangents))
        self.lives = (lambda shares, residuals, params: shares.lives) if masks else None
        why = None if linear else f"{prim.name} may read its arguments"
        dependence = dependence or (lambda kept, moving: (why, _EVERY))
        self.dependence = lambda residuals, moving: dependence(residuals[0][0], moving)
        self.positions, self.names, self.constants, self.partial = (), (), (), False
        self.read = self.accumulate = self.note = self.pull_one = None


def record_call(
    trace: Record,
    plan: CallPlan,
    parents: Sequence[tuple[int, Any]],
    outs: Sequence[Any],
    residual: Any,
    watched: Sequence[Any] = (),
) -> list[Any]:
    """Write a call on the tape.

    Args:
        parents: the rows that it reads, with their values.
        watched: values of which arrays, and boxes of older traces, are not to change before the tape is
            walked, for they are read again.
    """
    tape, place = trace.tape, caller()
    row = tape.append(plan, tuple(slot for slot, _ in parents), ((residual,),), place)
    tape.fits[row] = [(shape_of(value), dtype_of(value)) for _, value in parents]
    for array in watched:
        if type(array) is np.ndarray or (isinstance(array, Tracer) and array._trace is not trace):
            tape.watch(array, row)
    for _, value in parents:
        if isinstance(value, Tracer):
            trace.meet(value)
    return [trace.pick(row, index, out, place) for index, out in enumerate(outs)]


def differentiable(x: Any) -> bool:
    """Whether a leaf carries derivatives; it may be anything, a sparse matrix for instance."""
    return isinstance(x, (Tracer, np.ndarray, np.generic, float, complex)) and is_differentiable(dtype_of(x))


class Shares(list):
    """The shares of a call's inputs, with their masks of structural zeros."""

    __slots__ = ("lives",)

    def __init__(self, shares: Iterable[Any], lives: Iterable[Any]):
        super().__init__(shares)
        self.lives = list(lives)


class Parts:
    """A function that runs with a `Forward` or `Batch` trace, as a function of what values are made of there.

    Called on the parts of the arguments it returns the parts of the results, which `whole` puts together.
    """

    def __init__(self, trace: Forward | Batch, fun: Callable, args: Sequence[Any]):
        self.trace, self.fun = trace, fun
        self.given = [trace.parts(a) for a in args]
        self.traced: list[bool] = []  # which results have parts

    @property
    def args(self) -> list[Any]:
        return [part for _, parts in self.given for part in parts]

    def __call__(self, *flat: Any) -> list[Any]:
        rest = iter(flat)
        with continuing(self.trace):
            args = []
            for traced, parts in self.given:
                values = [next(rest) for _ in parts]
                args.append(self.trace.whole(*values) if traced else values[0])
            results = [self.trace.parts(o) for o in self.fun(*args)]
        self.traced = [traced for traced, _ in results]
        return [part for _, parts in results for part in parts]

    def whole(self, flat: Sequence[Any]) -> list[Any]:
        rest, width = iter(flat), 2 if isinstance(self.trace, Forward) else 1
        return [
            self.trace.whole(*[next(rest) for _ in range(width)]) if traced else next(rest)
            for traced in self.traced
        ]


def hints_below(trace: Trace | None, hints: Sequence[Tracer]) -> list[Any]:
    """What tracers that a function is known to close over are made of, for the traces below."""
    below = []
    for x in reachable(hints):
        if trace is None or trace.own(x) is None:
            below.append(x)
        else:
            below += trace.parts(x)[1]
    return below


def reachable(hints: Sequence[Any]) -> list[Any]:
    """Hints as they are to be used now; where a part of a function runs again, those that it read before."""
    found = []
    for x in hints:
        with contextlib.suppress(errors.ImpureFunctionError):
            found.append(settled(x))
    return found


def closed_over(fun: Any) -> list[Any]:
    """The tracers and arrays that a function holds in plain sight: in its closure, defaults, bound arguments.

    Only hints. Tracers among them save running it twice: what is hidden deeper is found when it runs. Arrays,
    which may be global too, can be watched, for they should be the same when it runs again.
    """
    found: list[Any] = []
    seen: set[int] = set()
    todo = [fun]
    while todo:
        x = todo.pop()
        if isinstance(x, Tracer) or type(x) is np.ndarray:
            found.append(x)
            continue
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, types.FunctionType):
            for cell in x.__closure__ or ():
                with contextlib.suppress(ValueError):  # an empty cell has none
                    todo.append(cell.cell_contents)
            todo += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
            named = map(x.__globals__.get, x.__code__.co_names)
            todo += [value for value in named if type(value) is np.ndarray]
        elif isinstance(x, types.MethodType):
            todo += [x.__func__, x.__self__]
        elif isinstance(x, functools.partial):
            todo += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, (tuple, list, dict)) and len(x) <= _LOOKED_THROUGH:
            todo += x.values() if isinstance(x, dict) else x
    return found
