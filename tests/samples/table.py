"""The form of a row: a program and a point at which every rule in it is tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sample:
    """One row; `tests/test_rules.py` runs it through every rule and transform.

    Attributes:
        id: a readable name, unique in the whole table: ``"sum-axis=1-keepdims"``.
        f: a function in plain NumPy of positional arrays, with an array or a flat tuple of arrays as result.
        args: float64 arrays at a generic point; every one is differentiated.
        dtypes: the dtypes to which the arguments are cast, one test each; add "c16" where complex
            numbers apply, "f2" or "g" where those do.
        order: up to which order derivatives are tested.
        batch: whether the row is run in batches.
        stage: whether the row is staged to a program.
    """

    id: str
    f: Callable
    args: tuple[Any, ...]
    dtypes: tuple[str, ...] = ("f4", "f8")
    order: int = 2
    batch: bool = True
    stage: bool = True
