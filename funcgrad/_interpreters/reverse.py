"""Reverse: walk a tape backwards, carrying cotangents from the outputs to the inputs.

The walk never recurses, gives each cotangent up once it is used, adds in place into buffers that it
owns, and undoes broadcasting and promotion in one place (`fit`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._core.primitive import NO_PARAMS, Rule
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import shape_of
from funcgrad._interpreters.record import Record, Recorded

_ndarray = np.ndarray


def pull_back(
    tape: Tape,
    slots: Sequence[int],
    cotangents: Sequence[Any],
    consume: bool = False,
    check: Callable | None = None,
) -> list[Any]:
    """The inputs' cotangents, given those of the rows `slots`; None where nothing flows.

    Args:
        consume: drop each residual once it is used; the tape cannot be walked again.
        check: called with each row's results, for `debug_nans`.
    """
    tape.verify()
    walk = _Walk(tape)
    for slot, ct in zip(slots, cotangents):
        walk.add(slot, ct, None)
    cts, lives = walk.cts, walk.lives
    plans, all_parents, all_residuals = tape.plans, tape.parents, tape.residuals
    params_of, fits_of = tape.params.get, tape.fits.get
    for row in range(max(slots, default=-1), tape.inputs - 1, -1):
        g = cts[row]
        if g is None:
            continue
        cts[row] = None
        plan = plans[row]
        residuals = all_residuals[row]
        if consume:
            all_residuals[row] = None
        if type(g) is _Shares:
            g = g.total()
        if plan is None:
            walk.gather_output(all_parents[row][0], residuals[0], g)
            continue
        params = params_of(row, NO_PARAMS)
        if plan.prim.accumulate is not None:
            walk.accumulate(row, g, residuals)
            continue
        shares = plan.pull(g, residuals, params)
        if lives or plan.special:
            shares, masks = walk.masked(row, shares, residuals)
        else:
            masks = None
        if check is not None:
            check(tape, row, g, residuals, shares)
        if masks is not None:
            for slot, ct, mask in zip(all_parents[row], shares, masks):
                walk.add(slot, ct, mask)
            continue
        fitting = fits_of(row)
        if fitting is not None:
            shares = [s if f is None else fit(s, *f) for s, f in zip(shares, fitting)]
        for slot, ct in zip(all_parents[row], shares):
            if cts[slot] is None:
                cts[slot] = ct
            else:
                walk.add(slot, ct, None)
    return [walk.result(slot, cotangents) for slot in range(tape.inputs)]


class _Shares:
    """Shares of one cotangent that are being traced and touch few entries each: summed when read."""

    __slots__ = ("accumulator", "dense", "parts", "shape", "dtype")

    def __init__(self, accumulator, dense, shape, dtype):
        self.accumulator = accumulator
        self.dense = dense
        self.parts = []
        self.shape = shape
        self.dtype = dtype

    def total(self) -> Any:
        sparse = self.accumulator.total(self.parts, self.shape, self.dtype)
        return sparse if self.dense is None else self.dense + sparse


class _Walk:
    """The state of one backward walk.

    Attributes:
        cts: the cotangent of each row so far.
        owned: rows whose cotangent is a buffer of the walk's own, so that adding may be in place.
        lives: rows of whose cotangent some entries are structural zeros -> the mask of the others.
    """

    __slots__ = ("tape", "cts", "owned", "lives")

    def __init__(self, tape: Tape):
        self.tape = tape
        self.cts: list[Any] = [None] * len(tape)
        self.owned: set[int] = set()
        self.lives: dict[int, Any] = {}

    def add(self, slot: int, ct: Any, live: Any) -> None:
        """Add a share to a row's cotangent."""
        if ct is None:
            return
        old = self.cts[slot]
        if old is None:
            self.cts[slot] = ct
            if live is not None and slot >= self.tape.inputs:  # nobody reads an input's mask
                self.lives[slot] = live
            return
        if self.lives:
            before = self.lives.pop(slot, None)
            if before is not None and live is not None:
                self.lives[slot] = before | live
        if type(old) is _Shares:
            old.dense = ct if old.dense is None else old.dense + ct
        elif slot in self.owned and type(ct) is _ndarray and ct.dtype == old.dtype:
            np.add(old, ct, old)
        else:
            self.cts[slot] = total = old + ct
            if type(total) is _ndarray:
                self.owned.add(slot)

    def masked(self, row: int, shares, residuals) -> tuple[list, list]:
        """A row's shares and their masks, where structural zeros are about.

        A structural zero stays zero, against an infinite derivative too; shares come back fitted.
        """
        plan, fitting = self.tape.plans[row], self.tape.fits.get(row)
        params = self.tape.params.get(row, NO_PARAMS)
        count = len(plan.positions)
        live = self.lives.pop(row, None)
        own = plan.lives(None, residuals, params) if plan.lives else [None] * count
        incoming = [None] * count
        if live is not None and plan.prim.elementwise:
            incoming = [live] * count
        elif live is not None and plan.prim.structural:
            moved = plan.pull(live.astype(np.float64), residuals, params)
            incoming = [None if m is None else m != 0 for m in moved]
        cts, masks = [], []
        for index, ct in enumerate(shares):
            mask = None if ct is None else _both(incoming[index], own[index])
            if mask is not None:
                mask = np.broadcast_to(mask, np.broadcast_shapes(shape_of(mask), ct.shape))
                if plan.prim.elementwise or own[index] is not None:
                    ct = np.where(mask, ct, np.zeros((), ct.dtype))
            if fitting and fitting[index] is not None:
                ct = fit(ct, *fitting[index])
                if mask is not None and mask.shape != ct.shape:
                    mask = fit(mask.astype(np.float64), ct.shape, None) != 0
            cts.append(ct)
            masks.append(mask)
        return cts, masks

    def gather_output(self, slot: int, index: int, g: Any) -> None:
        """Collect the cotangents of a row's several outputs."""
        outs = self.cts[slot]
        if outs is None:
            outs = self.cts[slot] = {}
        outs[index] = g

    def accumulate(self, row: int, g: Any, residuals) -> None:
        """Add a share that touches few entries: in place, or put by until the total is read."""
        tape = self.tape
        (slot,), ((shape, dtype),) = tape.parents[row], tape.fits[row]
        accumulator, params = tape.plans[row].prim.accumulate, tape.params.get(row, NO_PARAMS)
        old, live = self.cts[slot], self.lives.pop(row, None)
        steered = any(isinstance(r, Tracer) for r in residuals)  # batched indices
        if steered or isinstance(g, Tracer) or isinstance(old, (Tracer, _Shares)):
            if type(old) is not _Shares:
                self.cts[slot] = _Shares(accumulator, old, shape, dtype)
            self.cts[slot].parts.append((g, residuals, params))
        else:
            if old is None:
                self.cts[slot] = np.zeros(shape, dtype)
            elif slot not in self.owned:
                self.cts[slot] = np.array(old)
            self.owned.add(slot)
            accumulator.into(self.cts[slot], fit(g, None, dtype), residuals, **params)
        if slot < tape.inputs:  # nobody reads an input's mask
            return
        if old is None and not steered:
            self.lives[slot] = np.zeros(shape, bool)
        mask = self.lives.get(slot)
        if steered:
            self.lives.pop(slot, None)
        elif mask is not None:
            accumulator.into(mask, np.True_ if live is None else live, residuals, **params)

    def result(self, slot: int, seeds: Sequence[Any]) -> Any:
        """An input's cotangent, as an array that nothing else shares."""
        ct = self.cts[slot]
        if type(ct) is _Shares:
            ct = ct.total()
        if type(ct) is not _ndarray:
            return ct
        if ct.ndim == 0:
            return ct[()]
        shared = not (ct.flags.owndata and ct.flags.writeable) or any(ct is s for s in seeds)
        if shared or any(ct is other for other in self.cts[:slot]):
            return np.array(ct)
        return ct


def fit(ct: Any, shape: tuple[int, ...] | None, dtype: np.dtype | None) -> Any:
    """Undo broadcasting and promotion: sum a cotangent to a shape and cast it to a dtype.

    None leaves the shape, or the dtype, as it is.
    """
    if ct is None:
        return None
    own = ct.shape
    if shape is not None and own != shape:
        extra = len(own) - len(shape)
        axes = [i for i, n in enumerate(own) if i < extra or (shape[i - extra] == 1 and n != 1)]
        ct = np.reshape(np.add.reduce(ct, axis=tuple(axes)), shape)
    if dtype is not None and ct.dtype != dtype:
        if ct.dtype.kind == "c" and dtype.kind != "c":
            ct = np.real(ct)
        ct = ct.astype(dtype)
    return ct


def _both(a: Any, b: Any) -> Any:
    """The entries that are live in both masks; None is live everywhere."""
    if a is None:
        return b
    return a if b is None else a & b


def transposed(rule: Rule, arg: str) -> Rule:
    """Complete a rule by the transpose of its `push`: record it, for it is linear, and walk back."""

    def pull(g, shape, dtype, *residuals, **params):
        record = Record()
        tangent = record.input(np.zeros(shape, dtype))
        with np.errstate(all="ignore"):  # the tangent's values are made up, only its path counts
            out = rule.push(tangent, *residuals, **params)
        record.close()
        outs = g if isinstance(g, dict) else {0: g}
        results = out if isinstance(out, tuple) else (out,)
        reached = [
            (results[i].slot, ct)
            for i, ct in outs.items()
            if type(results[i]) is Recorded and results[i].trace is record
        ]
        (ct,) = pull_back(record.tape, [s for s, _ in reached], [c for _, c in reached], True)
        return ct

    reads = (f"{arg}_shape", f"{arg}_dtype", *rule.push_reads)
    return Rule(rule.push, pull, rule.push_reads, reads)
