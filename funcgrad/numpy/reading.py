"""What reads an array without computing with it: how it is printed, saved, and packed into bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives.kinds import constant
from funcgrad.numpy.arguments import negative_axis
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

# ---- in words ------------------------------------------------------------------------------


def _printed(function: Callable) -> None:
    """The values are printed as NumPy prints them; of a batch or a program there is only what it is."""

    @implements(function)
    def printed(a, *args, **kwargs):
        value = concrete(a)
        return repr(a) if isinstance(value, Tracer) else function(np.asarray(value), *args, **kwargs)

    printed.__name__ = function.__name__


for _function in (np.array_repr, np.array_str, np.array2string):
    _printed(_function)


# ---- in files ------------------------------------------------------------------------------


def _refuse(function: Callable) -> None:
    name = function.__name__

    @implements(function)
    def refused(*args, **kwargs):
        cure = f"Write np.{name}(file, stop_gradient(x)), or return the value and save it outside."
        raise errors.ConcretizationError(f"np.{name}(file, x)", cure, describe(*caller(2)))


for _function in (np.save, np.savez, np.savez_compressed, np.savetxt):
    _refuse(_function)


# ---- in bits -------------------------------------------------------------------------------


def _packed(x, *, axis, bitorder):
    return np.packbits(x, axis, bitorder)


def _unpacked(x, *, axis, count, bitorder):
    return np.unpackbits(x, axis, count, bitorder)


pack = constant(_packed, name="packbits")
unpack = constant(_unpacked, name="unpackbits")


def _along(a: Any, axis: Any) -> tuple[Any, int]:
    x = asarray(a)
    return (np.reshape(x, -1), -1) if axis is None else (x, negative_axis(axis, x.ndim))


@implements(np.packbits)
def packbits(a, /, axis=None, bitorder="big"):
    x, axis = _along(a, axis)
    return pack(x, axis=axis, bitorder=bitorder)


@implements(np.unpackbits)
def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    x, axis = _along(a, axis)
    return unpack(x, axis=axis, count=count, bitorder=bitorder)
