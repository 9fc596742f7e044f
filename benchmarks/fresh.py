"""One measurement that needs a process of its own; prints a number. `run.py` starts it.

python fresh.py memory torch 100     bytes by which a gradient of 100 layers raises the peak of memory
python fresh.py tape jax 100000      bytes of memory that the tape of 100,000 operations takes
"""

import sys
from pathlib import Path

import numpy as np
from libraries import KINDS
from workloads import chain, chain_inputs, layers, layers_gradient


def status(field: str) -> int:
    """A figure of the operating system about this process, in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(field + ":")]
    return int(line.split()[1]) * 1024


def peak(name: str, count: int) -> int:
    """The rise of the peak of resident memory, by a gradient through layers of 2 MiB."""

    def call(x):
        if name == "by hand":
            return layers_gradient(x, count)
        return library.gradient(lambda x: layers(library.np, x, count), library.array(x))()

    library = None if name == "by hand" else KINDS[name](name)
    call(np.ones((4, 4)))
    x = np.full((512, 512), 0.1)
    before = status("VmHWM")
    call(x)
    return status("VmHWM") - before


def tape(name: str, count: int) -> int:
    """The rise of resident memory by the tape of a chain; by hand, by the arrays that it must keep."""
    x, a, count = chain_inputs(count)
    if name == "by hand":
        before, kept = status("VmRSS"), [x]
        for _ in range(count // 4):
            kept.append(np.tanh(np.sin(kept[-1]) * a + x))
        return status("VmRSS") - before
    library = KINDS[name](name)
    x, a = library.array(x), library.array(a)
    library.tape(lambda x: chain(library.np, x, a, 100), x)
    before = status("VmRSS")
    held = library.tape(lambda x: chain(library.np, x, a, count), x)
    return status("VmRSS") - before if held is not None else 0


if __name__ == "__main__":
    what, name, count = sys.argv[1:]
    print({"memory": peak, "tape": tape}[what](name, int(count)))
