"""What holds of each public callable: from the samples, else from a reason, else from a probe."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

from samples import SAMPLES
from samples.table import Sample

from surface import probe, record
from surface.arguments import ENOUGH, GENERIC
from surface.arguments import SPECIAL as NUMPY
from surface.names import Entry, entries
from surface.probe import CONSTANT, DIFFERENTIABLE, REFUSED, UNKNOWN, WRONG
from surface.reasons import REASONS
from surface.scipy_arguments import SPECIAL as SCIPY
from surface.scipy_arguments import of_distribution

SPECIAL = NUMPY | SCIPY

#: It computes nothing with arrays of numbers: `note` says what it does.
NO_ARRAYS = "no array function"


@dataclass(frozen=True)
class Verdict:
    """What holds of a callable.

    Attributes:
        entry: the callable.
        status: differentiable, constant, refused, or no array function; wrong or unknown, which fail.
        note: the error that it raises, the reason, or what is wrong.
        samples: the rows of the samples table in which its derivative is verified.
    """

    entry: Entry
    status: str
    note: str = ""
    samples: tuple[Sample, ...] = ()


def verdicts() -> list[Verdict]:
    """Of every public callable."""
    found = entries()
    uses = record.uses(SAMPLES, found)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:  # should one write a file
        os.chdir(directory)
        try:
            return [verdict(entry, uses.get(entry.value, ())) for entry in found]
        finally:
            os.chdir(before)


def verdict(entry: Entry, uses: Iterable[record.Use]) -> Verdict:
    """Of one: a sample that differentiates it says most, but a probe that finds it wrong is the last word."""
    verified = tuple(use.sample for use in uses if use.traced)
    if entry.key in REASONS and not verified:
        return Verdict(entry, NO_ARRAYS, REASONS[entry.key])
    outcomes, suited = probed(entry)
    by_kind = {
        kind: [o for o in outcomes if o.kind == kind] for kind in (WRONG, DIFFERENTIABLE, CONSTANT, REFUSED)
    }
    if by_kind[WRONG]:
        return Verdict(entry, WRONG, by_kind[WRONG][0].note, verified)
    if verified:
        return Verdict(entry, DIFFERENTIABLE, "", verified)
    for kind in (DIFFERENTIABLE, CONSTANT, REFUSED):
        if by_kind[kind]:
            return Verdict(entry, kind, by_kind[kind][0].note)
    if uses:  # in samples, where what it gives back has no derivative
        return Verdict(entry, CONSTANT)
    if outcomes:
        return Verdict(entry, UNKNOWN, outcomes[0].note)
    if suited:
        return Verdict(entry, NO_ARRAYS, "of whole numbers alone")
    return Verdict(entry, UNKNOWN, "none of the arguments in tests/surface/arguments.py suits it")


def probed(entry: Entry) -> tuple[list[probe.Outcome], int]:
    """The outcomes of calls with each traced argument, of as many calls as are enough, and how many."""
    found, suited = [], 0
    for call in calls(entry):
        try:
            found += probe.probe(entry.call, call).values()
        except probe.NotSuitable:
            continue
        suited += 1
        if suited == ENOUGH:
            break
    return found, suited


def calls(entry: Entry) -> list[probe.Call]:
    """The arguments to probe a callable with."""
    if entry.space == "scipy.stats distributions":
        return of_distribution(entry.name)
    return SPECIAL.get(entry.key) or SPECIAL.get(entry.key.removeprefix("funcgrad.")) or GENERIC
