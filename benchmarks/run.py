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
from pathlib import Path

from libraries import KINDS, ONE_THREAD
from report import report

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, **ONE_THREAD}
VERSION = "import {0} as m; from importlib.metadata import version as v; "
VERSION += "print(getattr(m, '__version__', None) or v('{0}'))"
IMPORT = "import time, numpy; b = time.process_time(); import {}; print(time.process_time() - b)"
FRESH = ("memory", "tape", "import")  # measured in fresh processes


def python(*arguments: str) -> str:
    """What a fresh process prints; empty if it fails."""
    done = subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, capture_output=True, text=True)
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


def in_fresh_processes(what: str, names, quick: bool) -> dict[str, list]:
    """Memory of a gradient or of a tape, or time of the import: for each library (median, count)."""
    names = names if what == "import" else ["by hand", *names]
    count = {"memory": 20 if quick else 100, "tape": 10_000 if quick else 100_000}.get(what)
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(10 if what == "import" else 3):
        for name in names:
            if what == "import":
                printed = python("-c", IMPORT.format(name))
            else:
                printed = python(str(HERE / "fresh.py"), what, name, str(count))
            found[name] += [float(printed)] if printed else []
    print("measured", what, file=sys.stderr)
    return {name: [statistics.median(xs), count] for name, xs in found.items() if xs}


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
    for what in FRESH:
        if not args.only or what in args.only:
            results[what] = in_fresh_processes(what, names, args.quick)
    return results


def arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    option = parser.add_argument
    option("--only", nargs="+", metavar="NAME", help=f"workloads such as chain; {', '.join(FRESH)}")
    option("--libs", nargs="+", default=list(KINDS), choices=KINDS, metavar="LIB", help=", ".join(KINDS))
    option("--quick", action="store_true", help="smaller sizes, shorter runs")
    option("--budget", type=float, metavar="S", help="seconds for each size; default 10, quick 2")
    option("--out", type=Path, metavar="FILE", help="write the times of every round, as JSON")
    option("--read", type=Path, metavar="FILE", help="report on such a file and measure nothing")
    option("--markdown", type=Path, metavar="FILE", help="put the report below '## Figures' of a page")
    args = parser.parse_args()
    args.budget = args.budget or (2.0 if args.quick else 10.0)
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
