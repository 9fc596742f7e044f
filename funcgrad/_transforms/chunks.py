"""The directions of a Jacobian in batches: how large these are, which threads run them, and who is told.

All directions at once are one batch, which is fastest, but takes memory in proportion to them.
"""

from __future__ import annotations

import contextvars
import importlib
import itertools
import math
import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad._core.source import caller, started_at
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer, closeable
from funcgrad._core.types import dtype_of, shape_of
from funcgrad._interpreters.batch import Batch
from funcgrad._interpreters.calls import closed_over
from funcgrad._transforms.batching import batched_call
from funcgrad._transforms.recording import unshared

Progress = bool | Callable[[int, int], Any] | None
Workers = Any  # an int, a `concurrent.futures.Executor` or None

#: What a batch may compute in all, in bytes, unless `max_bytes` says otherwise.
MAX_BYTES = 2**30


class Exceeded(BaseException):
    """A batch computes more than it may: no `Exception`, which the function might catch."""

    def __init__(self, trace: Metered):
        super().__init__()
        self.trace = trace


@closeable
class Metered(Batch):
    """A batch that ends, by `Exceeded`, when its results together take more than a number of bytes."""

    __slots__ = ("left",)

    def __init__(self, size: int, left: int):
        super().__init__(size)
        self.left = left

    def process(self, prim, args: tuple, params: dict) -> Any:
        out = Batch.process(self, prim, args, params)
        for part in out if type(out) is tuple else (out,):
            value = part.value
            if type(value) is np.ndarray:
                self.left -= value.nbytes
        if self.left < 0:
            raise Exceeded(self)
        return out


class Chunks:
    """The options of a Jacobian about its batches.

    Args:
        transform: its name, for the text of `progress`.
        chunk_size: how many directions are in a batch; None: as many as `max_bytes` allows.
        max_bytes: what a batch may compute in all, in bytes; None: any number.
        progress: True for a line of text on stderr, or ``progress(done, total)``, called after each batch.
        workers: how many threads, or a `concurrent.futures.Executor` of threads.
    """

    __slots__ = ("transform", "chunk_size", "max_bytes", "progress", "workers")

    def __init__(self, transform: str, chunk_size, max_bytes, progress, workers):
        self.transform = transform
        self.chunk_size = None if chunk_size is None else _positive("chunk_size", chunk_size)
        self.max_bytes = None if max_bytes is None else _positive("max_bytes", max_bytes)
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress must be a bool or a function of (done, total), not {progress!r}")
        self.progress = self._print if progress is True else progress or None
        if not (workers is None or _is_executor(workers)):
            workers = _positive("workers", workers)
        self.workers = None if workers == 1 else workers

    def run(
        self, call: Callable, leaves: Sequence[Any], f: Callable, bytes_each: Callable[[], int] | None = None
    ) -> list[Any]:
        """``call(seeds, last)`` on a batch of all unit vectors of the space of all leaves together.

        Args:
            call: gets for each leaf its part of the vectors, and whether they are the last; returns results,
                and other values by which it shows whether it holds traced ones.
            f: the user's function, which may close over traced values.
            bytes_each: tells about how much one direction takes; None: it is counted, and a batch that takes
                more than it may starts again as a smaller one.

        Returns:
            Its results, with the axis of all the vectors in front.
        """
        total = sum(math.prod(shape_of(x)) for x in leaves)
        size, counted = self._size(total, bytes_each), bytes_each is None and self.chunk_size is None
        while True:
            stop = min(size, total)
            limit = self._limit() if counted and size > 1 else None
            trace = Batch(stop) if limit is None else Metered(stop, limit)
            try:
                first, values = self._call(call, leaves, 0, stop, stop == total, trace)
                break
            except Exceeded as exceeded:
                if exceeded.trace is not trace:
                    raise
                size = -(-size // 4)
        results = _Results(total, first, stop)
        self._tell(stop, total)
        bounds = [(start, min(start + size, total)) for start in range(stop, total, size)]
        # the tape of an enclosing transform takes rows of one thread
        alone = self.workers is None or any(isinstance(x, Tracer) for x in [*first, *values, *leaves])
        if alone or closed_over(f):
            for start, stop in bounds:
                results.put(start, self._call(call, leaves, start, stop, stop == total)[0])
                self._tell(stop, total)
        elif bounds:
            futures = importlib.import_module("concurrent.futures")  # which takes 10 ms
            if _is_executor(self.workers):
                self._spread(self.workers, futures.as_completed, call, leaves, bounds, results)
            else:
                with futures.ThreadPoolExecutor(min(self.workers, len(bounds))) as executor:
                    self._spread(executor, futures.as_completed, call, leaves, bounds, results)
        return results.arrays

    def _call(self, call, leaves, start: int, stop: int, last: bool, trace: Batch | None = None) -> tuple:
        seeds, values = basis(leaves, start, stop), []

        def results(seeds):
            out, others = call(seeds, last)
            values.extend(others)
            return out

        return unshared(batched_call(results, seeds, trace or Batch(stop - start)), seeds), values

    def _spread(self, executor, as_completed, call, leaves, bounds, results: _Results) -> None:
        """Run batches in threads, each in a copy of this context (`debug_nans`, `np.errstate`)."""
        done, total = bounds[0][0], results.total
        place, futures = caller(), {}
        try:
            for start, stop in bounds:
                context = contextvars.copy_context()
                context.run(started_at.set, place)
                future = executor.submit(context.run, self._call, call, leaves, start, stop, False)
                futures[future] = start, stop
            for future in as_completed(futures):
                start, stop = futures.pop(future)
                results.put(start, future.result()[0])
                done += stop - start
                self._tell(done, total)
        finally:  # after an error
            for future in futures:
                future.cancel()

    def _size(self, total: int, bytes_each: Callable[[], int] | None) -> int:
        """How many directions to try in one batch."""
        size = total if self.chunk_size is None else self.chunk_size
        if self.chunk_size is None and self.workers is not None:  # several for each, for some are slower
            size = -(-total // (4 * self._threads()))
        if self.chunk_size is None and bytes_each and self.max_bytes is not None:
            size = min(size, self._limit() // max(bytes_each(), 1))
        return max(size, 1)

    def _limit(self) -> int | None:
        return None if self.max_bytes is None else self.max_bytes // self._threads()

    def _threads(self) -> int:
        if _is_executor(self.workers):
            return getattr(self.workers, "_max_workers", None) or os.cpu_count() or 1
        return self.workers or 1

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

    def _print(self, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\r{self.transform}: {done} of {total} directions", end=end, file=sys.stderr, flush=True)


class _Results:
    """Arrays that are put together batch by batch: in place, where they are not traced."""

    def __init__(self, total: int, first: list[Any], stop: int):
        self.total = total
        self.parts: dict[int, list[Any]] = {0: first}
        self.whole: list[Any] | None = None
        if stop < total and all(type(x) is np.ndarray for x in first):
            self.whole = [np.empty((total, *x.shape[1:]), x.dtype) for x in first]
            self.put(0, first)

    def put(self, start: int, arrays: list[Any]) -> None:
        if self.whole is None:
            self.parts[start] = arrays
        else:
            for whole, part in zip(self.whole, arrays):
                whole[start : start + len(part)] = part

    @property
    def arrays(self) -> list[Any]:
        if self.whole is not None:
            return self.whole
        if len(self.parts) == 1:
            return self.parts[0]
        return [np.concatenate(x) for x in zip(*[self.parts[start] for start in sorted(self.parts)])]


def basis(leaves: Sequence[Any], start: int, stop: int) -> list[np.ndarray]:
    """Some of the unit vectors of the space of all leaves together: for each leaf its part of them."""
    parts, first = [], 0
    for x in leaves:
        size = math.prod(shape_of(x))
        part = np.zeros((stop - start, size), dtype_of(x))
        own = range(max(start, first), min(stop, first + size))
        part[[i - start for i in own], [i - first for i in own]] = 1
        parts.append(part.reshape(stop - start, *shape_of(x)))
        first += size
    return parts


def recorded_bytes(tape: Tape, outs: Sequence[Any]) -> int:
    """About how much one walk over a tape computes: as much as was kept for it, and its results."""
    seen = {id(x): x for residuals in tape.residuals for x in _arrays(residuals)}
    return sum(_bytes(x) for x in itertools.chain(seen.values(), outs))


def _arrays(residuals: Any):
    if isinstance(residuals, (tuple, list)):
        for r in residuals:
            yield from _arrays(r)
    elif isinstance(residuals, (np.ndarray, Tracer)):
        yield residuals


def _bytes(x: Any) -> int:
    if isinstance(x, Tracer):
        return sum(_bytes(getattr(x, part, None)) for part in ("value", "tangent"))
    return getattr(x, "nbytes", 0)


def _is_executor(workers: Any) -> bool:
    return hasattr(workers, "submit")


def _positive(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1 or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive integer or None, not {value!r}")
    return number
