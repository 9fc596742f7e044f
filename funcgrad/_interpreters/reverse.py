"""Reverse: walk a tape backwards, carrying cotangents from the outputs to the inputs.

The walk never recurses, gives each cotangent up once it is used, adds in place into buffers that it
owns, and undoes broadcasting and promotion in one place (`fit`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad._core.plans import Plan
from funcgrad._core.primitive import NO_PARAMS, Accumulator, Rule
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer, is_eager, known_finite
from funcgrad._core.types import dtype_of, shape_of, zeros_of
from funcgrad._interpreters.record import Record, Recorded

_ndarray = np.ndarray
_float64 = np.float64
_float32 = np.float32  # in which masks are moved and summed: only whether a sum is 0 matters
_PLAIN = frozenset((np.ndarray, np.float64, np.float32, np.complex128))


def pull_back(
    tape: Tape,
    slots: Sequence[int],
    cotangents: Sequence[Any],
    consume: bool = False,
    check: Any = None,
) -> list[Any]:
    """The inputs' cotangents, given those of the rows `slots`; None where nothing flows.

    Args:
        consume: drop each residual once it is used; the tape cannot be walked again.
        check: for `debug_nans` the `WalkCheck` that looks at each row's shares.
    """
    tape.verify()
    visible = tape.eager and all(map(is_eager, cotangents))
    if check is None and visible and selects(tape):
        results = _try_without_masks(tape, slots, cotangents)
        if results is not None:
            return results
    return walk_back(tape, slots, cotangents, consume, check, masks=True)


def pull_back_masked(
    tape: Tape, slots: Sequence[int], cotangents: Sequence[Any], lives: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """As `pull_back`, given the masks of structural zeros of the cotangents, and returning the inputs'.

    Each cotangent has a mask then: whether it has one must not depend on what values are known.
    """
    tape.verify()
    walk = _Walk(tape, True, 0)
    results = _walk(walk, slots, cotangents, lives, False, None)
    masks = [
        np.ones(ct.shape, bool) if ct is not None and slot not in walk.lives else walk.lives.get(slot)
        for slot, ct in enumerate(results)
    ]
    return results, masks


def selects(tape: Tape) -> bool:
    """Whether any row makes structural zeros."""
    return any(map(_selects, set(tape.plans)))


def _try_without_masks(tape: Tape, slots: Sequence[int], cotangents: Sequence[Any]) -> list[Any] | None:
    """The cotangents by a walk without masks, which take a third of the time; None if masks count.

    What masks prevent, 0 times infinity, is NaN in the result; or on its way there it meets a rule that looks
    at its cotangent, as those of repeated eigenvalues do, and refuses it.
    """
    try:
        results = walk_back(tape, slots, cotangents, False, None, masks=False)
    except Exception:  # what is no consequence of NaN is raised again by the walk with masks
        return None
    return results if all(ct is None or known_finite(ct) for ct in results) else None


def _selects(plan: Plan | None) -> bool:
    """Whether a row of this plan makes structural zeros."""
    return plan is not None and (plan.lives is not None or plan.accumulate is not None)


def walk_back(
    tape: Tape, slots: Sequence[int], cotangents: Sequence[Any], consume: bool, check: Any, masks: bool
) -> list[Any]:
    """Walk once; `masks` tells structural zeros from others."""
    walk = _Walk(tape, masks, tape.inputs)
    return _walk(walk, slots, cotangents, [None] * len(slots), consume, check)


def _walk(walk: _Walk, slots, cotangents, seed_lives, consume: bool, check: Any) -> list[Any]:
    tape, masks = walk.tape, walk.masks
    for slot, ct, live in zip(slots, cotangents, seed_lives):
        walk.add(slot, ct, live)
    cts, lives, owned = walk.cts, walk.lives, walk.owned
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
            g = walk.gather_shares(row, g)
        if plan is None:
            walk.gather_output(row, all_parents[row][0], residuals[0], g)
            continue
        params = params_of(row, NO_PARAMS)
        parents = all_parents[row]
        if plan.accumulate is not None:
            (slot,) = parents
            if slot in owned and slot < walk.masked_from and not residuals and type(g) in _PLAIN:
                buffer = cts[slot]
                if type(buffer) is _ndarray and g.dtype is buffer.dtype:  # an input is read in a loop
                    plan.accumulate.add(buffer, g, residuals, params, False)
                    continue
            walk.accumulate(row, plan.accumulate, g, residuals, params)
            continue
        fitting = fits_of(row)
        if fitting is not None and plan.pull_one is not None and check is None and row not in lives:
            shares = [one(fit(g, *f) if f else g, (), params) for one, f in zip(plan.pull_one, fitting)]
        else:
            shares = plan.pull(g, residuals, params)
            # the masks of a selection from inputs alone would be read by nobody
            selects = masks and plan.lives is not None and max(parents) >= walk.masked_from
            if selects or (lives and row in lives):
                shares, shares_live = walk.masked(row, shares, residuals)
                if check is not None:
                    check.pulled(row, g, residuals, shares)
                for slot, ct, live in zip(parents, shares, shares_live):
                    walk.add(slot, ct, live)
                continue
            if check is not None:
                check.pulled(row, g, residuals, shares)
            if fitting is not None:
                shares = [s if f is None else fit(s, *f) for s, f in zip(shares, fitting)]
        for slot, ct in zip(parents, shares):
            old = cts[slot]
            if old is None:
                cts[slot] = ct
            elif type(old) is _float64 and type(ct) is _float64 and not lives:
                cts[slot] = old + ct
            else:
                walk.add(slot, ct, None)
    return walk.results(cotangents)


class _Shares:
    """Shares of one cotangent that are being traced and touch few entries each: summed when read.

    Attributes:
        dense: the sum of the other shares, or None.
        parts: for each share what flows, its mask or None, residuals and parameters.
    """

    __slots__ = ("accumulator", "dense", "parts", "shape")

    def __init__(self, accumulator: Accumulator, dense: Any, shape: tuple[int, ...]):
        self.accumulator = accumulator
        self.dense = dense
        self.parts: list[tuple] = []
        self.shape = shape

    def total(self) -> Any:
        parts = [(g, *where) for g, _, *where in self.parts]
        sparse = self.accumulator.total(parts, self.shape)
        return sparse if self.dense is None else self.dense + sparse

    def live(self) -> Any:
        """Which entries the shares touch."""
        parts = [
            (np.ones(g.shape, _float32) if live is None else live.astype(_float32), *where)
            for g, live, *where in self.parts
        ]
        return self.accumulator.total(parts, self.shape) != 0


class Outputs(dict):
    """The cotangents of a row's several outputs, by their numbers.

    Attributes:
        masks: whether structural zeros are told from others.
        lives: the masks of structural zeros, by the outputs' numbers.
    """

    __slots__ = ("masks", "lives")

    def __init__(self, masks: bool):
        self.masks = masks
        self.lives: dict[int, Any] = {}


class _Walk:
    """The state of one backward walk.

    Attributes:
        masks: whether structural zeros are told from others.
        masked_from: the first row whose mask anybody reads.
        cts: the cotangent of each row so far.
        owned: rows whose cotangent is a buffer of the walk's own, so that adding may be in place.
        lives: rows of whose cotangent some entries are structural zeros -> the mask of the others.
        marked: rows whose mask is an array of the walk's own.
    """

    __slots__ = ("tape", "masks", "masked_from", "cts", "owned", "lives", "marked")

    def __init__(self, tape: Tape, masks: bool, masked_from: int):
        self.tape = tape
        self.masks = masks
        self.masked_from = masked_from
        self.cts: list[Any] = [None] * len(tape)
        self.owned: set[int] = set()
        self.lives: dict[int, Any] = {}
        self.marked: set[int] = set()

    def add(self, slot: int, ct: Any, live: Any) -> None:
        """Add a share to a row's cotangent."""
        if ct is None:
            return
        old = self.cts[slot]
        if old is None or (type(old) is _Shares and old.dense is None):
            if old is None:
                self.cts[slot] = ct
            else:
                old.dense = ct
            if live is not None and slot >= self.masked_from:
                self.lives[slot] = live
            return
        if self.lives:
            before = self.lives.pop(slot, None)
            if before is not None and live is not None:
                self.lives[slot] = before | live
        if type(old) is _Shares:
            old.dense = old.dense + ct
        elif slot in self.owned and type(old) is type(ct) is _ndarray and ct.dtype == old.dtype:
            np.add(old, ct, old)
        else:
            self.cts[slot] = total = old + ct
            if type(total) is _ndarray:
                self.owned.add(slot)
            else:  # a scalar in place of a buffer without axes: nothing can be added to it in place
                self.owned.discard(slot)

    def masked(self, row: int, shares, residuals) -> tuple[list, list]:
        """A row's shares and their masks, where structural zeros are about.

        A structural zero stays zero, against an infinite derivative too; shares come back fitted.
        """
        plan, fitting = self.tape.plans[row], self.tape.fits.get(row)
        params = self.tape.params.get(row, NO_PARAMS)
        count = len(shares)
        dtype = next((ct.dtype for ct in shares if ct is not None), None)
        live = self.lives.pop(row, None)
        if type(live) is _ndarray and live.all():
            live = None
        own = plan.lives(shares, residuals, params) if plan.lives else [None] * count
        incoming = [None] * count
        if live is not None and plan.prim.elementwise:
            incoming = [live] * count
        elif live is not None and plan.prim.structural and max(self.tape.parents[row]) >= self.masked_from:
            moved = plan.pull(live.astype(dtype), residuals, params)
            incoming = [None if m is None else m != 0 for m in moved]
        cts, masks = [], []
        for index, ct in enumerate(shares):
            mask = None if ct is None else _both(incoming[index], own[index])
            if mask is not None:
                if mask.shape != ct.shape:
                    mask = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, ct.shape))
                # a share of 0 is 0 times something: only against something infinite is it not
                if (plan.prim.elementwise or own[index] is not None) and not known_finite(ct):
                    ct = np.where(mask, ct, np.zeros((), ct.dtype))
            if fitting and fitting[index] is not None:
                ct = fit(ct, *fitting[index])
                if mask is not None and mask.shape != ct.shape:
                    mask = fit(mask.astype(dtype), ct.shape, None) != 0
            cts.append(ct)
            masks.append(mask)
        return cts, masks

    def gather_output(self, row: int, slot: int, index: int, g: Any) -> None:
        """Collect the cotangents of a row's several outputs."""
        outs = self.cts[slot]
        if outs is None:
            outs = self.cts[slot] = Outputs(self.masks)
        outs[index] = g
        if self.lives and (live := self.lives.pop(row, None)) is not None:
            outs.lives[index] = live

    def accumulate(self, row: int, accumulator: Accumulator, g: Any, residuals, params) -> None:
        """Add a share that touches few entries: in place, or put by until the total is read."""
        tape = self.tape
        (slot,) = tape.parents[row]
        old = self.cts[slot]
        shape, dtype = tape.types[slot]
        live = self.lives.pop(row, None)
        steered = any(isinstance(r, Tracer) for arrays in residuals for r in arrays)
        if steered or isinstance(g, Tracer) or isinstance(old, (Tracer, _Shares)):
            if type(old) is not _Shares:
                old = self.cts[slot] = _Shares(accumulator, old, shape)
            old.parts.append((fit(g, None, dtype), live, residuals, params))
            return
        fresh = old is None
        if fresh:
            old = np.zeros(shape, dtype)
        elif slot not in self.owned:
            old = np.array(old, order="C")
        self.cts[slot] = old
        self.owned.add(slot)
        accumulator.add(old, fit(g, None, dtype), residuals, params, fresh)
        if self.masks and slot >= self.masked_from:
            mask = np.zeros(shape, bool) if fresh else self.lives.get(slot)
            if mask is not None:
                if slot not in self.marked:
                    mask = np.array(mask)
                    self.marked.add(slot)
                accumulator.mark(mask, live, residuals, params)
                self.lives[slot] = mask

    def gather_shares(self, row: int, shares: _Shares) -> Any:
        """The sum of shares that were put by; entries that none of them touches are structural zeros."""
        before = self.lives.pop(row, None)
        if shares.dense is None and self.masks:
            self.lives[row] = shares.live()
        elif before is not None:
            self.lives[row] = before | shares.live()
        return shares.total()

    def results(self, seeds: Sequence[Any]) -> list[Any]:
        """The inputs' cotangents, as arrays that nothing else shares."""
        taken, results = {id(seed) for seed in seeds}, []
        for slot, ct in enumerate(self.cts[: self.tape.inputs]):
            if type(ct) is _Shares:
                ct = ct.total() if slot < self.masked_from else self.gather_shares(slot, ct)
            elif type(ct) is _ndarray:
                if ct.ndim == 0:
                    ct = ct[()]
                elif not (ct.flags.owndata and ct.flags.writeable) or id(ct) in taken:
                    ct = np.array(ct)
                taken.add(id(ct))
            results.append(ct)
        return results


def fit(ct: Any, shape: tuple[int, ...] | None, dtype: np.dtype | None) -> Any:
    """Undo broadcasting and promotion: sum a cotangent to a shape and cast it to a dtype.

    None leaves the shape, or the dtype, as it is.
    """
    if ct is None:
        return None
    if shape is not None and ct.shape != shape:
        axes, whole = _broadcast_axes(ct.shape, shape)
        ct = np.add.reduce(ct, axis=axes)
        if not whole:  # axes of size 1 are lost
            ct = ct.reshape(shape)
    if dtype is not None and ct.dtype != dtype:
        if ct.dtype.kind == "c" and dtype.kind != "c":
            ct = np.real(ct)
        ct = ct.astype(dtype)
    return ct


@functools.lru_cache(maxsize=1024)
def _broadcast_axes(own: tuple[int, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """The axes along which an array was broadcast, and whether the sum over them has its shape of before."""
    extra = len(own) - len(shape)
    axes = tuple([i for i, n in enumerate(own) if i < extra or (shape[i - extra] == 1 and n != 1)])
    return axes, len(own) - len(axes) == len(shape)


def fitted(ct: Any, like: Any) -> Any:
    """The share of a value as its cotangent: of its type, and zeros where there is none."""
    return zeros_of(like) if ct is None else fit(ct, shape_of(like), dtype_of(like))


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
            if type(results[i]) is Recorded and results[i]._trace is record
        ]
        (ct,) = pull_back(record.tape, [s for s, _ in reached], [c for _, c in reached], True)
        return ct

    reads = (f"{arg}_shape", f"{arg}_dtype", *rule.push_reads)
    return Rule(rule.push, pull, rule.push_reads, reads)
