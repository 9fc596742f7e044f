"""What tests compare results with: trees of NumPy values, to structure, type, dtype, shape and value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from funcgrad import tree


def same(found: Any, expected: Any, rtol: float = 1e-13) -> None:
    """`found` is `expected`: containers, leaves' classes, dtypes, shapes and values.

    A Python number in `expected` stands for the NumPy scalar that it would become: results never are
    Python numbers.
    """
    assert tree.structure(found) == tree.structure(expected)
    paths = tree.leaf_paths(tree.structure(expected))
    for path, a, b in zip(paths, tree.leaves(found), tree.leaves(expected)):
        b = np.asarray(b)[()] if isinstance(b, (float, int, complex)) else b
        assert type(a) is type(b), f"{path}: {a!r} is no {type(b).__name__}"
        assert (a.dtype, a.shape) == (b.dtype, b.shape), path
        if a.dtype.kind == "V":  # float0 has no values
            continue
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol, err_msg=path)


def here(back: int = 0) -> str:
    """``file:line`` of the caller's line, or of one before it: what a message must name."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno - back}"


def line_of(f: Callable, text: str) -> str:
    """``file:line`` of the line of a function's source that holds `text`."""
    lines, start = inspect.getsourcelines(f)
    (offset,) = [i for i, line in enumerate(lines) if text in line]
    return f"{inspect.getsourcefile(f)}:{start + offset}"


def in_threads(work: Callable, count: int) -> list[Any]:
    """What `work` returns in each of some threads that run at once."""
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(work) for _ in range(count)]]
