"""Measures funcgrad beside derivatives by hand and beside its peers, in one interleaved run.

    python benchmarks/run.py                            everything, about ten minutes
    python benchmarks/run.py --quick --only chain       one workload, its smaller sizes
    python benchmarks/run.py --out times.json --markdown benchmarks/README.md

funcgrad must be importable; peers that are not installed are left out, and said to be.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from libraries import KINDS, ONE_THREAD
from report import report

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, **ONE_THREAD}
VERSION = "import {0} as m; from importlib.metadata import version as v; "
VERSION += "print(getattr(m, '__version__', None) or v('{0}'))"
IMPORT = "import time, numpy; b = time.process_time(); import {}; print(time.process_time() - b)"
FRESH = ("memory", "tape", "import")  # measured in fresh processes


def python(*arguments: str, **variables: str) -> str:
    """What a fresh process prints; empty if it fails."""
    environment = {**ENVIRONMENT, **variables}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def versions(names) -> dict[str, str]:
    found = {name: python("-c", VERSION.format(name)) for name in ("numpy", *names)}
    return {"python": sys.version.split()[0]} | {name: v or "not installed" for name, v in found.items()}


def timings(names, args: argparse.Namespace) -> list[dict]:
    """Each workload's times, as they come from one process."""
    command = [sys.executable, str(HERE / "timing.py"), "--libs", *names, "--budget", str(args.budget)]
    command += ["--quick"] * args.quick + (["--only", *args.only] if args.only else [])
    results = []
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            results.append(json.loads(line))
            print("measured", results[-1]["name"], results[-1]["size"], file=sys.stderr)
    if child.returncode:
        sys.exit(f"timing.py failed with status {child.returncode}")
    return results


def memory(what: str, names, count: int) -> dict[str, list]:
    """Memory of a gradient or of a tape, each in fresh processes: for each library (median, count)."""
    found: dict[str, list[float]] = {name: [] for name in ("by hand", *names)}
    for _ in range(3):
        for name, values in found.items():
            printed = python(str(HERE / "fresh.py"), what, name, str(count))
            values += [float(printed)] if printed else []
    return {name: [statistics.median(values), count] for name, values in found.items() if values}


def imports(names) -> dict[str, float]:
    """The seconds that each library's import takes after NumPy's: medians of ten fresh processes."""
    found: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as cache:  # of compiled modules, wherever they may not be written
        for turn in range(11):
            for name, values in found.items():
                printed = python(
                    "-c", IMPORT.format(name), PYTHONPYCACHEPREFIX=cache, PYTHONDONTWRITEBYTECODE=""
                )
                values += [float(printed)] * (turn > 0)
    return {name: statistics.median(values) for name, values in found.items()}


def measure(args: argparse.Namespace) -> dict:
    found = versions(args.libs)
    names = [name for name in args.libs if found[name] != "not installed"]
    if "funcgrad" not in names:
        sys.exit("funcgrad is not importable: pip install -e . first")
    results = {
        "versions": found,
        "command": shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]]),
        "timings": timings(names, args) if not args.only or set(args.only) - set(FRESH) else [],
    }
    fresh = {
        "memory": lambda: memory("memory", names, 20 if args.quick else 100),
        "tape": lambda: memory("tape", names, 10_000 if args.quick else 100_000),
        "import": lambda: imports(names),
    }
    for what, figures in fresh.items():
        if not args.only or what in args.only:
            results[what] = figures()
            print("measured", what, file=sys.stderr)
    return results


def arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    option = parser.add_argument
    option("--only", nargs="+", metavar="NAME", help=f"workloads such as chain; {', '.join(FRESH)}")
    option("--libs", nargs="+", default=list(KINDS), choices=KINDS, metavar="LIB", help=", ".join(KINDS))
    option("--quick", action="store_true", help="smaller sizes, shorter runs")
    option("--budget", type=float, metavar="S", help="seconds for each size; default 4, quick 2")
    option("--out", type=Path, metavar="FILE", help="write the times of every round, as JSON")
    option("--read", type=Path, metavar="FILE", help="report on such a file and measure nothing")
    option("--markdown", type=Path, metavar="FILE", help="put the report below '## Figures' of a page")
    args = parser.parse_args()
    args.budget = args.budget or (2.0 if args.quick else 4.0)
    return args


def main() -> None:
    args = arguments()
    results = json.loads(args.read.read_text(encoding="utf-8")) if args.read else measure(args)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
    text = report(results)
    print(text)
    if args.markdown:
        page = args.markdown.read_text(encoding="utf-8")
        before = page.partition("\n## Figures\n")[0].rstrip()
        args.markdown.write_text(f"{before}\n\n## Figures\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
