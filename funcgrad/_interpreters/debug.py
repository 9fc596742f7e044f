"""Interpreters that look at every value, for `debug_nans`: the first non-finite one is an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer, closeable, concrete
from funcgrad._interpreters.forward import Dual, Forward
from funcgrad._interpreters.record import Record


def _finite(value: Any) -> bool:
    value = concrete(value)
    return isinstance(value, Tracer) or bool(np.all(np.isfinite(value)))


def _first(value: Any) -> tuple[tuple[int, ...], Any]:
    """The first non-finite entry's index, and what it is."""
    value = np.asarray(concrete(value))
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
    return index, value[index]


def _shown(args, names, index) -> str:
    """The operands at an entry, as far as they have it."""
    parts = []
    for name, a in zip(names, args):
        a = concrete(a)
        if isinstance(a, (Tracer, tuple, list)):
            continue
        a = np.asarray(a)
        if a.ndim <= len(index):
            entry = tuple(i if n > 1 else 0 for i, n in zip(index[len(index) - a.ndim :], a.shape))
            try:
                parts.append(f"{name} = {a[entry]}")
            except IndexError:
                continue
    return ", ".join(parts) or "its operands are finite"


@closeable
class CheckedRecord(Record):
    """Record, with a look at every value."""

    __slots__ = ()

    def process(self, prim, args, params):
        out = super().process(prim, args, params)
        check_output(self, prim, args, out)
        return out


@closeable
class CheckedForward(Forward):
    """Forward, with a look at every value and tangent."""

    __slots__ = ()

    def process(self, prim, args, params):
        out = super().process(prim, args, params)
        check_output(self, prim, args, out)
        tangents = [a.tangent for a in args if type(a) is Dual and a._trace is self]
        for o in out if isinstance(out, tuple) else (out,):
            if type(o) is Dual and not _finite(o.tangent) and all(map(_finite, tangents)):
                index, found = _first(o.tangent)
                shown = _shown([a.value for a in args if type(a) is Dual], prim.args, index)
                raise errors.NonFiniteError(
                    prim.name, _place(), "forward", index, f"the tangent {found}", f"there {shown}"
                )
        return out


def check_output(trace, prim, args, out) -> None:
    for o in out if isinstance(out, tuple) else (out,):
        if not _finite(o) and all(map(_finite, args)):
            index, found = _first(o)
            shown = _shown(args, prim.args, index)
            raise errors.NonFiniteError(prim.name, _place(), "forward", index, found, f"there {shown}")


def _place() -> str:
    return describe(*caller(3))


def check_shares(tape: Tape, row: int, g: Any, residuals: Any, shares: Any) -> None:
    """After a row of the reverse walk: a share that is not finite though `g` is names the factor."""
    if not all(map(_finite, g.values() if isinstance(g, dict) else (g,))):
        return
    plan = tape.plans[row]
    for share in shares:
        if share is None or _finite(share):
            continue
        index, found = _first(share)
        shown = _shown(residuals, plan.names, index)
        factor = f"the derivative of {plan.prim.name} is not finite there ({shown})"
        raise errors.NonFiniteError(plan.prim.name, tape.where(row), "backward", index, found, factor)
