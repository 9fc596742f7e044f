"""Times the workloads, all libraries in this one process, and writes one line of JSON for each.

`run.py` starts it, with one thread for each library's arithmetic.
"""

import argparse
import gc
import json
import math
import time
from collections.abc import Callable

import numpy as np
from libraries import KINDS, load
from workloads import WORKS, Work

BATCH = 0.002  # seconds that one turn of a library lasts at least


def take_turns(calls: dict[str, Callable], budget: float) -> dict[str, list[float]]:
    """The seconds of one call, for each library a list with one entry for each round.

    In a round each library has one turn, of as many calls as fill it; the order rotates. The clock is
    the process's CPU time: other jobs on the machine do not count.
    """
    clock = time.process_time
    repeats, once = {}, {}
    for name, call in calls.items():
        began = clock()
        call()
        once[name] = clock() - began
        repeats[name] = max(1, math.ceil(BATCH / max(once[name], 1e-7)))
    rounds = int(min(25, max(5, budget / sum(max(BATCH, t) for t in once.values()))))
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    gc.collect()
    gc.freeze()  # what is loaded by now is nobody's garbage
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            call, count = calls[name], repeats[name]
            gc.collect()
            began = clock()
            for _ in range(count):
                call()
            times[name].append((clock() - began) / count)
    gc.unfreeze()
    return times


def calls_of(work: Work, libraries) -> dict[str, Callable]:
    """The derivative by hand, and each library's, as calls without arguments."""
    x, *constants = work.inputs()
    calls = {"by hand": lambda: work.hand(x, *constants)}
    behind = {"product": 1, "samples": 2}.get(work.kind, 0)
    for name, library in libraries.items():
        arrays = [c if isinstance(c, int) else library.array(c) for c in constants]
        vectors, own = arrays[:behind], arrays[behind:]
        f = lambda x, *member, np=library.np, own=own: work.objective(np, x, *member, *own)  # noqa: E731
        calls[name] = getattr(library, work.kind)(f, library.array(x), *vectors)
    return calls


def flat(result) -> np.ndarray:
    parts = result if isinstance(result, (list, tuple)) else [result]
    return np.concatenate([np.ravel(np.asarray(p)) for p in parts])


def measure(work: Work, libraries, budget: float, limit: float, slow: set) -> dict:
    calls, notes = calls_of(work, libraries), {}
    expected = flat(calls["by hand"]())
    tolerance = 1e-3 if expected.dtype == np.float32 else 1e-9
    for name in list(libraries):
        if (work.name, name) in slow:
            notes[name] = "too slow"
            del calls[name]
            continue
        try:
            found = flat(calls[name]())
        except Exception as error:
            notes[name] = f"{type(error).__name__}: {error}".splitlines()[0]
            del calls[name]
            continue
        if not np.allclose(found, expected, tolerance, tolerance):
            notes[name] = "another result than by hand"
            del calls[name]
    times = take_turns(calls, budget)
    slow |= {(work.name, name) for name in libraries if name in times and min(times[name]) > limit}
    return {"name": work.name, "size": work.size, "count": work.count, "times": times, "notes": notes}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--libs", nargs="*", default=list(KINDS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--budget", type=float, default=10.0)
    args = parser.parse_args()
    libraries, _ = load(args.libs)
    slow: set[tuple[str, str]] = set()
    for work in WORKS:
        if (work.quick or not args.quick) and (not args.only or work.name in args.only):
            print(json.dumps(measure(work, libraries, args.budget, 0.8, slow)), flush=True)


if __name__ == "__main__":
    main()
