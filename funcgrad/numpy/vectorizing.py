"""`vectorize`: a function of numbers as a function of arrays, traced ones too."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._core.types import dtype_of, is_differentiable
from funcgrad.numpy.creation import asarray, has_tracer
from funcgrad.numpy.shaping import reshape
from funcgrad.numpy.ufuncs import cast


class _TracedResult(Exception):
    """A call on plain numbers gave a traced value, of a variable that the function closes over."""


class vectorize:
    """A function of numbers as a function of arrays, which it is called on entry by entry.

    As `numpy.vectorize`, and on plain arrays that is what it is; traced arrays, and traced variables that the
    function closes over, have derivatives. It is a loop: a function that is written with NumPy's functions
    takes arrays as it is, and is faster.

    Args:
        pyfunc: the function; without it this is a decorator.
        otypes: the results' dtypes, as a string of characters or a list; the first results decide if None.
        doc: the docstring, if not the function's.
        excluded: positions and names of arguments that the function gets whole.
        cache: whether `pyfunc` is called once where NumPy would call it twice to see how many results it has.
        signature: such as ``"(n),(n)->()"``, for a function of vectors or matrices.

    Raises:
        ValueError: the arrays do not broadcast, or do not fit the signature.
        UnsupportedArgumentError: NumPy would cut results to integers, since the first one is an integer.

    >>> import funcgrad.numpy as np
    >>> from funcgrad import grad
    >>> def f(x): return x**2 if x > 0 else 0.0
    >>> grad(lambda x: np.sum(np.vectorize(f)(x)))(np.array([-1.0, 3.0]))
    array([0., 6.])
    """

    def __init__(
        self,
        pyfunc: Any = np._NoValue,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable | None = None,
        cache: bool = False,
        signature: str | None = None,
    ):
        self._options = {
            "otypes": otypes, "doc": doc, "excluded": excluded, "cache": cache, "signature": signature
        }  # fmt: skip
        self.excluded = set() if excluded is None else set(excluded)
        self.signature = signature
        self._core = None if signature is None else _parsed(signature)
        self.pyfunc = pyfunc
        if pyfunc is np._NoValue:
            np.vectorize(**self._options)  # NumPy's errors
        else:
            self._decorate(pyfunc)

    def _decorate(self, pyfunc: Callable) -> vectorize:
        def guarded(*args, **kwargs):
            out = pyfunc(*args, **kwargs)
            if has_tracer(out):
                raise _TracedResult
            return out

        self.pyfunc = pyfunc
        self._plain = np.vectorize(guarded, **self._options)
        functools.update_wrapper(self, pyfunc, updated=())
        self.__doc__ = self._options["doc"] or pyfunc.__doc__
        self.otypes = self._plain.otypes
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.pyfunc is np._NoValue:
            return self._decorate(*args, **kwargs)
        if not has_tracer((args, *kwargs.values())):
            try:
                return self._plain(*args, **kwargs)
            except _TracedResult:
                pass
        return self._on_tracers(args, kwargs)

    def _on_tracers(self, args: tuple, kwargs: dict) -> Any:
        keys = [k for k in (*range(len(args)), *kwargs) if k not in self.excluded]
        whole = dict(enumerate(args)) | kwargs
        arrays = [asarray(whole[k]) for k in keys]
        cores, out_cores = self._core or ([()] * len(arrays), None)
        if len(cores) != len(arrays):
            raise TypeError(f"wrong number of positional arguments: expected {len(cores)}, got {len(arrays)}")
        loop = _loop_shape(arrays, cores)
        arrays = [np.broadcast_to(x, loop + x.shape[x.ndim - len(core) :]) for x, core in zip(arrays, cores)]

        def at(index):
            given = whole | {k: x[index] for k, x in zip(keys, arrays)}
            out = self.pyfunc(*[given[i] for i in range(len(args))], **{k: given[k] for k in kwargs})
            return out if isinstance(out, tuple) else (out,)

        results = [at(index) for index in np.ndindex(loop)]
        if not results:
            if not self.otypes:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            outs = [np.empty(loop, kind) for kind in self.otypes]
        else:
            outs = [_joined(column, loop, kind) for column, kind in zip(zip(*results), self._kinds(results))]
        if out_cores is not None and len(out_cores) != len(outs):
            raise ValueError(f"wrong number of outputs: expected {len(out_cores)}, got {len(outs)}")
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _kinds(self, results: list[tuple]) -> list[np.dtype]:
        """The dtypes of the results: those asked for, or those of the first."""
        if self.otypes:
            return [np.dtype(kind) for kind in self.otypes]
        return [asarray(x).dtype for x in results[0]]


def _joined(column: tuple, loop: tuple[int, ...], kind: np.dtype) -> Any:
    """The results of all calls as one array."""
    arrays = [asarray(x) for x in column]
    if not is_differentiable(kind) and any(
        isinstance(x, Tracer) and is_differentiable(dtype_of(x)) for x in arrays
    ):
        cure = "NumPy takes the dtype of the first result. Write otypes=[float], or 0.0 in place of 0."
        what = f"results that are cut to {kind}"
        raise errors.UnsupportedArgumentError("vectorize", what, describe(*caller(4)), cure)
    out = np.stack([cast(x, kind) for x in arrays])
    return reshape(out, loop + out.shape[1:])


def _loop_shape(arrays: list, cores: list[tuple]) -> tuple[int, ...]:
    """The broadcast shape of all axes but those that a signature names, which must agree."""
    sizes: dict[str, int] = {}
    for x, core in zip(arrays, cores):
        if x.ndim < len(core):
            raise ValueError(
                f"{x.ndim}-dimensional argument does not have enough dimensions for all core dims"
            )
        for name, n in zip(core, x.shape[x.ndim - len(core) :]):
            if sizes.setdefault(name, n) != n:
                raise ValueError(f"inconsistent size for core dimension {name!r}: {n} vs {sizes[name]}")
    return np.broadcast_shapes(*[x.shape[: x.ndim - len(core)] for x, core in zip(arrays, cores)])


def _parsed(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The names of core axes of each argument and result."""
    np.vectorize(len, signature=signature)  # NumPy's error
    return tuple(
        [tuple(re.findall(r"\w+", core)) for core in re.findall(r"\(([^)]*)\)", side)]
        for side in signature.split("->")
    )
