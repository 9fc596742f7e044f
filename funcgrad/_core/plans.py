"""Plans: what recording a primitive keeps, and how its row of the tape is walked.

A rule names its residuals by its parameter names. For each pattern of traced arguments those names are
resolved once, into a plan; recording an operation then is one look-up, one read and a few appends.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import itemgetter

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.types import dtype_of, shape_of

_float64 = np.dtype(np.float64)


class Plan:
    """How one pattern of traced arguments of a primitive is recorded and walked.

    Attributes:
        prim: the primitive.
        positions: the traced arguments that have a rule.
        read: ``read(values)`` -> the residuals to keep; `values` are the arguments, then the output.
        constants: the positions of untraced arguments whose values are kept, for the user owns these
            arrays; a slice if it may be any from there on.
        partial: whether some traced argument has no rule: it only steers, as a condition does.
        pull: ``pull(g, residuals, params)`` -> a share for each position.
        pull_one: of an elementwise primitive whose rules read nothing, as a difference's, for each position
            ``(g, residuals, params)`` -> its share. Such rules may come after the sum over broadcast axes.
        push: ``push(tangents, residuals, params)`` -> the output's tangent; every tangent is there.
        lives: ``lives(None, residuals, params)`` -> for each position None or the mask of the entries
            that are live; None if there are no such masks.
        accumulate: the primitive's `Accumulator`, or None.
        note: ``note(tape, row, parents, values)`` notes what the walk must know about the arguments
            beside residuals; None if a share always has its argument's shape and dtype.
    """

    __slots__ = (
        "prim", "positions", "partial", "read", "constants", "pull", "pull_one", "push", "lives",
        "accumulate", "note", "names",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"Plan({self.prim.name}, traced={self.positions}, keeps={self.names})"


def make_plan(prim, traced: tuple[int, ...], push: bool) -> Plan:
    for i in traced:
        rule = prim.rule(i)
        if rule is not None and rule.missing is not None:
            raise errors.MissingDerivativeError(prim.name, prim.args[i], rule.missing, describe(*caller()))
    plan = Plan()
    plan.prim = prim
    plan.positions = tuple(i for i in traced if prim.rule(i) is not None)
    plan.partial = plan.positions != traced
    rules = [prim.rule(i) for i in plan.positions]
    reads = [rule.push_reads if push else rule.pull_reads for rule in rules]
    lives = [prim.live[i] if prim.live else None for i in plan.positions]
    outer_reads = () if prim.outer is None else prim.outer.push_reads if push else prim.outer.pull_reads
    names = plan.names = tuple(
        dict.fromkeys(
            name
            for read in [*reads, outer_reads, *(live[1] for live in lives if live and not push)]
            for name in read
            if name != "index"
        )
    )
    getters = [_getter(prim, name, plan.positions) for name in names]
    plan.read = _reader(getters)
    plan.constants = tuple(
        sorted(g for g in set(getters) if isinstance(g, int) and g >= 0 and g not in traced)
    )
    if any(name in (prim.reads or ()) for name in names):
        plan.constants = slice(0, None)
    elif any("*" + name in prim.args for name in names):
        plan.constants = slice(min([*plan.constants, len(prim.args) - 1]), None)
    plan.accumulate = prim.accumulate
    plan.note = _note_pushed(prim, plan.positions) if push else _note(prim, plan.positions)

    calls = [
        _Call(rule.push if push else rule.pull, read, names, i)
        for rule, read, i in zip(rules, reads, plan.positions)
    ]
    outer = None
    if prim.outer is not None:
        outer = _Call(prim.outer.push if push else prim.outer.pull, outer_reads, names, None)
    plan.pull = plan.pull_one = plan.push = plan.lives = None
    if push:
        plan.push = _push_multiple(calls) if prim.multiple else _compile_push(calls, outer)
    elif prim.accumulate is None:
        plan.pull = _compile_pull(calls, outer)
        if prim.elementwise and not names and not prim.outer:
            plan.pull_one = [_compile("g, r, p", call.source(0, "g"), [call]) for call in calls]
    if any(lives) and not push:
        masks = [live and _Call(live[0], live[1], names, i) for live, i in zip(lives, plan.positions)]
        plan.lives = _compile_pull(masks)
    return plan


class _Call:
    """A rule's call with its residuals picked from a plan's: its source, and the names it uses."""

    def __init__(self, rule, read, names, index):
        self.rule = rule
        picked = ["index" if name == "index" else f"r[{names.index(name)}]" for name in read]
        code = getattr(rule, "__code__", None)
        takes_params = code is None or code.co_kwonlyargcount or code.co_flags & inspect.CO_VARKEYWORDS
        self.arguments = ", ".join(picked + ["**p"] * bool(takes_params))
        self.index = index

    def source(self, number: int, g: str) -> str:
        return f"rule{number}({g}, {self.arguments.replace('index', f'index{number}')})"


def _compile(parameters: str, expression: str, calls) -> Callable:
    # Unrolled source costs half of a loop over rules with their picks, for every operation walked.
    names = {f"rule{n}": call.rule for n, call in enumerate(calls) if call}
    names |= {f"index{n}": call.index for n, call in enumerate(calls) if call}
    # the file's name makes it a frame of this library, as `source.caller` needs
    return eval(compile(f"lambda {parameters}: {expression}", __file__, "eval"), names)


def _compile_pull(calls, outer=None) -> Callable:
    shares = "".join(f"{c.source(n, 'g') if c else None}, " for n, c in enumerate(calls))
    if outer is None:
        return _compile("g, r, p", f"({shares})", calls)
    through = f"(lambda g: ({shares}))({outer.source(len(calls), 'g')})"
    return _compile("g, r, p", through, [*calls, outer])


def _compile_push(calls, outer=None) -> Callable:
    shares = " + ".join(c.source(n, f"t[{n}]") for n, c in enumerate(calls))
    if outer is None:
        return _compile("t, r, p", shares or "None", calls)
    return _compile("t, r, p", outer.source(len(calls), f"({shares})"), [*calls, outer])


def _push_multiple(calls) -> Callable:
    pushes = [_compile("t, r, p", c.source(0, "t"), [c]) for c in calls]

    def push(tangents, residuals, params):
        total = None
        for t, one in zip(tangents, pushes):
            share = one(t, residuals, params)
            total = share if total is None else tuple(map(add_tangents, total, share))
        return total

    return push


def _getter(prim, name: str, positions) -> int | Callable:
    """Where a residual comes from: an index into the values, or a function of them."""
    if prim.reads and name in prim.reads:
        return lambda values: prim.reads[name](values, positions)
    if name == "y":
        return -1
    if name in prim.args:
        return prim.args.index(name)
    if "*" + name in prim.args:
        start = prim.args.index("*" + name)
        return lambda values: tuple(values[start:-1])
    for ending, of in (("_shape", shape_of), ("_dtype", dtype_of)):
        arg = name.removesuffix(ending)
        if arg != name and arg in prim.args:
            index = prim.args.index(arg)
            return lambda values, of=of, index=index: of(values[index])
    if name == "shapes":
        return lambda values: [shape_of(v) for v in values[:-1]]
    raise errors.RuleError(prim.name, f"the rule reads {name!r}, which is no argument of it")


def _reader(getters) -> Callable:
    if not getters:
        return lambda values: ()
    if all(isinstance(g, int) for g in getters):
        if len(getters) == 1:
            (only,) = getters
            return lambda values: (values[only],)
        return itemgetter(*getters)
    return lambda values: tuple([values[g] if isinstance(g, int) else g(values) for g in getters])


class _Fitting:
    """Notes what shares must be fitted to, to undo broadcasting and promotion.

    `tape.fits` gets for each parent (shape, dtype), or None where nothing is to do; a shape of None where
    the rule sees to it, a dtype of None for a Python scalar, which takes any.
    """

    def __init__(self, positions: tuple[int, ...], broadcasts: bool):
        self.positions = positions
        self.broadcasts = broadcasts

    def note(self, tape, row: int, parents, values: list) -> None:
        out = values[-1]
        try:  # nearly always all is the same, and found to be so at a third of the cost
            shape, dtype = out.shape, out.dtype
            for position in self.positions:
                value = values[position]
                if value.dtype is not dtype or (self.broadcasts and value.shape != shape):
                    break
            else:
                return
        except AttributeError:  # Python scalars
            pass
        shape, dtype = shape_of(out), dtype_of(out)
        fits: list[tuple | None] = []
        for position in self.positions:
            value = values[position]
            own = shape_of(value) if self.broadcasts else None
            own_dtype = getattr(value, "dtype", None)
            if own_dtype is None and dtype.kind == "c" and not isinstance(value, complex):
                own_dtype = _float64  # a real Python scalar takes any precision, but no imaginary part
            same = (own_dtype is None or own_dtype == dtype) and (own is None or own == shape)
            fits.append(None if same else (own, own_dtype))
        if any(fits):
            tape.fits[row] = fits


def _note_types(positions: tuple[int, ...]) -> Callable:
    """Of a primitive with several outputs: each share is fitted to its argument's type."""

    def note(tape, row: int, parents, values: list) -> None:
        tape.fits[row] = [(shape_of(values[p]), dtype_of(values[p])) for p in positions]

    return note


def _note_buffer(tape, row: int, parents, values: list) -> None:
    """Of a primitive that accumulates: the type of the cotangent that its shares are added into."""
    (parent,) = parents
    if parent not in tape.types:
        tape.types[parent] = (values[0].shape, values[0].dtype)


def _note(prim, positions: tuple[int, ...]) -> Callable | None:
    if prim.accumulate is not None:
        return _note_buffer
    if prim.multiple:
        return _note_types(positions)
    if prim.elementwise and len(prim.args) == 1:
        return None
    return _Fitting(positions, prim.elementwise).note


def _note_pushed(prim, positions: tuple[int, ...]) -> Callable | None:
    """What the forward walk must give a tangent, where it is not like the tangents that it is made of."""
    if prim.multiple:  # each output is a row of its own, which says its type
        return None

    def note(tape, row: int, parents, values: list) -> None:
        out = values[-1]
        shape, dtype = shape_of(out), dtype_of(out)
        for position in positions:
            value = values[position]
            if getattr(value, "dtype", None) is not dtype or value.shape != shape:
                tape.types[row] = (shape, dtype)
                return

    return note


def make_joint_plan(prim) -> Plan:
    """The plan of a primitive that is linear in all arguments together, whichever are traced.

    Its residuals are the positions of the traced arguments and the shapes of all.
    """
    plan = Plan()
    plan.prim = prim
    plan.positions = plan.names = plan.constants = ()
    plan.partial = False
    plan.read = plan.lives = plan.accumulate = plan.note = plan.pull_one = None
    plan.pull = lambda g, residuals, params: prim.joint(g, *residuals, **params)
    plan.push = lambda tangents, residuals, params: push_joint(prim, tangents, *residuals, params)
    return plan


def push_joint(prim, tangents, positions, shapes, params):
    """The tangent of a primitive that is linear in all arguments together: itself, on the tangents."""
    dtype = np.result_type(*{dtype_of(t) for t in tangents})
    zeros = {shape: np.zeros(shape, dtype) for shape in set(shapes)}
    parts = [zeros[shape] for shape in shapes]
    for position, t in zip(positions, tangents):
        parts[position] = t
    return prim(*parts, **params)


def add_tangents(a, b):
    """The sum of two tangents of which either may be absent."""
    if a is None:
        return b
    if b is None:
        return a
    return a + b
