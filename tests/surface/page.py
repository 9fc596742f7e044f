"""Writes docs/coverage.md from the verdicts."""

from __future__ import annotations

import importlib.metadata
import platform
from collections import defaultdict
from collections.abc import Iterable, Iterator

from surface.probe import CONSTANT, DIFFERENTIABLE, REFUSED
from surface.verdicts import NO_ARRAYS, Verdict

HEAD = """# What has derivatives

Every public callable of NumPy, and of SciPy's modules that `funcgrad.scipy` lays derivatives over, called
with traced arguments. This page is generated, from the samples that the tests run and from probes of all the
rest:

```bash
python docs/make_coverage.py
```

Measured with {versions}. With these versions a test compares the page with what is measured; with any, it
fails for a callable that does not have one of four outcomes, so that nothing drops a derivative silently.

- **Differentiable.** *Verified* names how, in at least one sample: value, forward mode and reverse mode,
  against central differences and against each other; at order 2 the four pairings of forward and reverse;
  `vmap` against a loop; programs staged from values and from types; and the dtypes of arguments, derivatives
  included (f2 to g are NumPy's codes: half precision to `longdouble`; c16 is complex). *Probed* are the
  others: forward mode against central differences, and reverse mode against forward mode.
- **Constant.** The result is a plain value: whole numbers, booleans, shapes, or a number that does not change
  with the argument.
- **Refused.** An error of `funcgrad.errors` that names the line and says what to write
  ([semantics](semantics.md#errors)).
- **No array function.** It computes nothing with arrays of numbers, for the reason given.
"""


def page(verdicts: Iterable[Verdict]) -> str:
    """The whole page."""
    spaces: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        spaces[verdict.entry.space].append(verdict)
    parts = [HEAD.format(versions=", ".join(versions())), _totals(spaces)]
    ours = {row.entry.key for rows in spaces.values() for row in rows if row.status == DIFFERENTIABLE}
    for space, rows in spaces.items():
        parts.append(f"\n## {space}\n")
        parts.extend(_sections(space, rows, ours))
    return "\n".join(parts) + "\n"


def versions() -> list[str]:
    """What the page holds for."""
    machine = f"{platform.system()} on {platform.machine()}"  # which has float128, for instance
    return [*(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy")), machine]


def _totals(spaces: dict[str, list[Verdict]]) -> str:
    kinds = (DIFFERENTIABLE, CONSTANT, REFUSED, NO_ARRAYS)
    lines = [
        "| | differentiable | of these verified | constant | refused | no array function |",
        "|---|---|---|---|---|---|",
    ]
    table = []
    for space, rows in spaces.items():
        counts = [sum(row.status == kind for row in rows) for kind in kinds]
        counts.insert(1, sum(bool(row.samples) for row in rows))
        table.append(counts)
        lines.append(_line(f"[{space}](#{space.replace('.', '').replace(' ', '-')})", *counts))
    lines.append(_line("all", *map(sum, zip(*table))))
    return "\n".join(lines)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _sections(space: str, rows: list[Verdict], ours: set[str]) -> Iterator[str]:
    of = {
        kind: [row for row in rows if row.status == kind]
        for kind in (DIFFERENTIABLE, CONSTANT, REFUSED, NO_ARRAYS)
    }
    verified = [row for row in of[DIFFERENTIABLE] if row.samples]
    if verified:
        yield "| verified | order | vmap | staged | dtypes |\n|---|---|---|---|---|"
        for modes, group in _grouped(verified, _modes):
            yield _line(_names(group), *modes)
        yield ""
    probed = [row for row in of[DIFFERENTIABLE] if not row.samples]
    if probed:
        yield f"Probed: {_names(probed)}.\n"
    if of[CONSTANT]:
        yield f"Constant: {_names(of[CONSTANT])}.\n"
    for title, kind in (("Refused", REFUSED), ("No array functions", NO_ARRAYS)):
        if of[kind]:
            yield f"{title}:\n"
            for note, group in _grouped(of[kind], lambda row: _note(row, ours)):
                yield f"- {_names(group)}: {note}"
            yield ""


def _grouped(rows: list[Verdict], key) -> Iterator[tuple]:
    """Rows with the same key together, in the order in which the keys come first."""
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return iter(groups.items())


def _modes(row: Verdict) -> tuple:
    """What the samples of a row verify."""
    samples = row.samples
    codes = ("f2", "f4", "f8", "g", "c8", "c16")
    taken = {d for sample in samples for d in sample.dtypes}
    return (
        max(sample.order for sample in samples),
        "yes" if any(sample.batch for sample in samples) else "",
        "yes" if any(sample.stage for sample in samples) else "",
        " ".join(code for code in codes if code in taken),
    )


def _names(rows: list[Verdict]) -> str:
    """Names of a group; methods by their names."""
    by_method = defaultdict(list)
    for row in rows:
        owner, _, method = row.entry.name.rpartition(".")
        by_method[owner and method].append(f"`{owner or method}`")
    parts = [
        f"`{method}` of {', '.join(names)}" if method else ", ".join(names)
        for method, names in by_method.items()
    ]
    return "; ".join(parts)


def _note(row: Verdict, ours: set[str]) -> str:
    """What an error says to write instead, without the place and without particulars."""
    name, _, message = row.note.partition(": ")
    if not name.endswith("Error"):
        return row.note
    if f"funcgrad.{row.entry.key}" in ours:
        return f"`{name}`. Write `funcgrad.{row.entry.space}` in place of `{row.entry.space}`."
    what, _, cure = message.partition("\n")
    sentence = (cure or what).splitlines()[0].partition(". ")[0].rstrip(".")
    return f"`{name}`. {sentence}."
