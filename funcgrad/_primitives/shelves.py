"""Where the states of a loop are kept: in memory, or in files."""

from __future__ import annotations

import itertools
import os
import weakref
from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, shape_of

_SMALL = 1024  # bytes up to which an array stays in memory: its file would take as much


class Memory:
    """States stay as they are."""

    def put(self, state: list[Any]) -> list[Any]:
        return list(state)

    def get(self, state: list[Any]) -> list[Any]:
        return state


class Disk:
    """Arrays are written to files of a directory that is removed with the last state, and at exit at last."""

    def __init__(self, within: str | None = None):
        """`within` is the directory that it is made in; None: that for temporary files."""
        import shutil  # they bring a dozen modules, which a quarter of `import funcgrad` would go into
        import tempfile

        self.path = tempfile.mkdtemp(prefix="funcgrad-", dir=within)
        self.names = itertools.count()
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def put(self, state: list[Any]) -> list[Any]:
        return [self._write(x) for x in state]

    def get(self, state: list[Any]) -> list[Any]:
        return [_read(x) for x in state]

    def _write(self, x: Any) -> Any:
        if isinstance(x, Tracer) and hasattr(x._trace, "whole"):
            return _Parts(x._trace, [self._write(part) for part in x._trace.parts(x)[1]])
        if type(x) is not np.ndarray or x.nbytes <= _SMALL or x.dtype.hasobject:
            return x
        return _File(self, x)


def _read(x: Any) -> Any:
    if type(x) is _Parts:
        return x.trace.whole(*map(_read, x.parts))
    return x.read() if type(x) is _File else x


class _Parts:
    """A value with a tangent, or a batch."""

    __slots__ = ("trace", "parts")

    def __init__(self, trace: Any, parts: list[Any]):
        self.trace, self.parts = trace, parts


class _File:
    """An array in a file, which goes with it. The shelf lives as long as one of them."""

    __slots__ = ("__weakref__", "shelf", "path", "shape", "dtype")

    def __init__(self, shelf: Disk, array: np.ndarray):
        self.shelf, self.shape, self.dtype = shelf, array.shape, array.dtype
        self.path = os.path.join(shelf.path, str(next(shelf.names)))
        file = np.memmap(self.path, array.dtype, "w+", shape=array.shape)
        file[...] = array
        weakref.finalize(self, _unlink, self.path).atexit = False

    def read(self) -> np.ndarray:
        return np.fromfile(self.path, self.dtype).reshape(self.shape)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # the directory has gone before
        pass


def nbytes(x: Any) -> int:
    """The memory of a value, with that of its tangents."""
    if isinstance(x, Tracer):
        return sum(map(nbytes, x._trace.parts(x)[1]))
    return int(np.prod(shape_of(x))) * dtype_of(x).itemsize
