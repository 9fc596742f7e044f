"""The report of a run: budgets, times and memory as tables that read as text and as Markdown."""

import platform
from datetime import date
from pathlib import Path
from statistics import median

PEERS = ("autograd", "advect", "torch", "jax")


def report(results: dict) -> str:
    found = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    parts = [f"{date.today()}, {processor()}. Versions: {found}. `{results['command']}`"]
    rows = budgets(results)
    if rows:
        parts.append(table(["budget", "at most", "found"], rows))
    if results["timings"]:
        parts.append(
            "Time by hand, and as multiples of it; at the end funcgrad's as a multiple of the best peer's."
        )
        parts.append(times(results["timings"]))
        notes = [
            f"- {entry['name']}, {entry['size']}: {library} is left out ({why})."
            for entry in results["timings"]
            for library, why in entry["notes"].items()
        ]
        parts += ["\n".join(notes)] * bool(notes)
    if fresh := outside(results):
        parts += ["Memory, and the import after NumPy's, in fresh processes.", fresh]
    return "\n\n".join(parts) + "\n"


def processor() -> str:
    names = [platform.processor() or platform.machine()]
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.partition(": ")[2] for line in lines if line.startswith("model name")] or names
    return f"{names[0]}, {platform.system()}"


def ratio(entry: dict, a: str, b: str) -> float:
    """How much longer `a` takes than `b`: the median over the rounds."""
    return median(x / y for x, y in zip(entry["times"][a], entry["times"][b]))


def best_peer(entry: dict) -> str | None:
    peers = [name for name in PEERS if name in entry["times"]]
    return min(peers, key=lambda name: median(entry["times"][name]), default=None)


def times(entries: list[dict]) -> str:
    libraries = [n for n in ("funcgrad", *PEERS) if any(n in entry["times"] for entry in entries)]
    rows = []
    for entry in entries:
        row = [entry["name"], entry["size"], seconds(median(entry["times"]["by hand"]))]
        row += [short(ratio(entry, n, "by hand")) if n in entry["times"] else "" for n in libraries]
        peer = best_peer(entry)
        shown = peer and "funcgrad" in entry["times"]
        row.append(f"{short(ratio(entry, 'funcgrad', peer))} ({peer})" if shown else "")
        rows.append(row)
    return table(["workload", "size", "by hand", *libraries, "to the best peer"], rows)


def outside(results: dict) -> str:
    """The table of what fresh processes measured."""
    libraries = ["by hand", "funcgrad", *PEERS]
    figures = {}
    if "memory" in results:
        figures["peak of a gradient, MiB"] = {n: x / 2**20 for n, (x, _) in results["memory"].items()}
    if "tape" in results:
        figures["tape beside arrays, bytes an operation"] = tape_bytes(results["tape"])
    if "import" in results:
        figures["import, ms"] = {n: 1e3 * x for n, x in results["import"].items()}
    rows = [[what] + [f"{xs[n]:.0f}" if n in xs else "" for n in libraries] for what, xs in figures.items()]
    return table(["", *libraries], rows) if rows else ""


def tape_bytes(tape: dict) -> dict[str, float]:
    """What a tape takes an operation, beside the arrays that the derivative by hand keeps too."""
    hand, count = tape["by hand"]
    return {name: (total - hand) / count for name, (total, _) in tape.items() if name != "by hand"}


def budgets(results: dict) -> list[list[str]]:
    """What the design allows, and what was found."""
    entries = {(e["name"], e["size"]): e for e in results["timings"] if "funcgrad" in e["times"]}
    rows = []
    reads = {}
    for (name, size), entry in entries.items():
        micro = median(entry["times"]["funcgrad"]) / (entry["count"] or 1) * 1e6
        if name == "chain":
            rows.append([f"an operation of a gradient, {size}", "3.5 us", f"{micro:.2f} us"])
            if "torch" in entry["times"]:
                found = ratio(entry, "funcgrad", "torch")
                rows.append([f"the same to PyTorch, {size}", "0.83", f"{found:.2f}"])
        elif name == "scalar":
            rows.append([f"a gradient of ten scalar operations, {size}", "25 us", f"{micro:.1f} us"])
            if "torch" in entry["times"]:
                found = ratio(entry, "funcgrad", "torch")
                rows.append([f"the same to PyTorch, {size}", "0.44", f"{found:.2f}"])
        elif name == "chain HVP" and "autograd" in entry["times"]:
            found = ratio(entry, "funcgrad", "autograd")
            rows.append([f"HVP of the chain to autograd, {size}", "0.5", f"{found:.2f}"])
        elif name == "reading x[i]":
            reads[size] = micro
    if len(reads) == 2:
        small, large = reads.values()
        rows.append(
            [f"a turn of a loop that reads x[i], {' to '.join(reads)}", "1.2", f"{large / small:.2f}"]
        )
    if {"by hand", "funcgrad"} <= results.get("memory", {}).keys():
        found = results["memory"]["funcgrad"][0] / results["memory"]["by hand"][0]
        rows.append(["peak memory of a gradient, to by hand", "1.05", f"{found:.2f}"])
    if {"by hand", "funcgrad"} <= results.get("tape", {}).keys():
        found = tape_bytes(results["tape"])["funcgrad"]
        rows.append(["tape beside the arrays, an operation", "600 bytes", f"{found:.0f} bytes"])
    if "funcgrad" in results.get("import", {}):
        rows.append(["import after NumPy", "30 ms", f"{1e3 * results['import']['funcgrad']:.0f} ms"])
    return rows


def short(x: float) -> str:
    return f"{x:.2f}" if x < 10 else f"{x:.1f}" if x < 100 else f"{x:,.0f}"


def seconds(t: float) -> str:
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if t < 1000 * scale:
            return f"{t / scale:.3g} {unit}"
    return f"{t:.3g} s"


def table(head: list[str], rows: list[list[str]]) -> str:
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)
