"""`np.pad`, mode by mode, one axis after the other: later axes fill the corners."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._primitives.indexing import scatter
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

#: mode -> its keyword argument, and what that is if it is not given
_OPTIONS = {
    "constant": ("constant_values", 0),
    "linear_ramp": ("end_values", 0),
    "maximum": ("stat_length", None),
    "mean": ("stat_length", None),
    "median": ("stat_length", None),
    "minimum": ("stat_length", None),
    "reflect": ("reflect_type", "even"),
    "symmetric": ("reflect_type", "even"),
    "edge": (None, None),
    "wrap": (None, None),
    "empty": (None, None),
}

_STATISTICS = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}


@implements(np.pad)
def pad(array, pad_width, mode="constant", **kwargs):
    x = asarray(array)
    widths = _widths(pad_width, x.ndim)
    if callable(mode):
        raise errors.UnsupportedArgumentError(
            "pad", "a function as mode", describe(*caller(2)),
            "It would write into the padded array. Join the parts with np.concatenate.",
        )  # fmt: skip
    if mode not in _OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    name, default = _OPTIONS[mode]
    if set(kwargs) - {name}:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - {name}}")
    option = kwargs.get(name, default)
    if mode == "empty" or (mode == "constant" and type(option) in (int, float) and option == 0):
        return _among_zeros(x, widths)
    if mode != "constant":
        for axis, (n, width) in enumerate(zip(x.shape, widths)):
            if n == 0 and any(width):
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
    if mode in ("constant", "linear_ramp"):
        options = _pairs(option, x.ndim)
    elif mode in _STATISTICS:
        options = [(None, None)] * x.ndim if option is None else _pairs(option, x.ndim)
    else:
        options = [option] * x.ndim
    extend = _EXTEND[mode]
    for axis, (width, option) in enumerate(zip(widths, options)):
        if any(width):
            x = extend(x, axis - x.ndim, width, option, mode)
    return x


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            before, after = (width, width) if np.ndim(width) == 0 else width
            widths[axis] = operator.index(before), operator.index(after)
        return widths
    width = np.asarray(pad_width)
    if width.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if np.any(width < 0):
        raise ValueError("index can't contain negative values")
    return [(int(a), int(b)) for a, b in _pairs(width, ndim)]


def _pairs(values: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A value for each side of each axis, of whatever broadcasts to that."""
    values = asarray(values)
    if values.size == 1:
        (value,) = values.reshape((1,))
        return [(value, value)] * ndim
    if values.size == 2 and values.shape != (2, 1):
        return [tuple(values.reshape((2,)))] * ndim
    return [tuple(pair) for pair in np.broadcast_to(values, (ndim, 2))]


def _among_zeros(x: Any, widths: list[tuple[int, int]]) -> Any:
    template = tuple([slice(a, a + n) for n, (a, _) in zip(x.shape, widths)])
    shape = tuple([a + n + b for n, (a, b) in zip(x.shape, widths)])
    return scatter(x, template=template, shape=shape, unique=True)


def _join(x: Any, axis: int, before: Any, after: Any) -> Any:
    parts = [part for part in (before, x, after) if part is not None]
    return np.concatenate([part if part.dtype == x.dtype else part.astype(x.dtype) for part in parts], axis)


def _constant(x, axis, width, values, mode):
    def filled(n, value):
        shape = (*x.shape[:axis], n, *(x.shape[axis + 1 :] if axis < -1 else ()))
        return np.broadcast_to(asarray(value), shape)

    return _join(x, axis, filled(width[0], values[0]), filled(width[1], values[1]))


def _linear_ramp(x, axis, width, values, mode):
    def ramp(n, edge, value):
        steps = np.arange(n, dtype=np.result_type(x.dtype, np.float16)).reshape((n,) + (1,) * (-1 - axis))
        return value + steps * ((edge - value) / n)

    before = after = None
    if width[0]:
        before = ramp(width[0], _part(x, axis, slice(0, 1)), values[0])
    if width[1]:
        after = np.flip(ramp(width[1], _part(x, axis, slice(-1, None)), values[1]), axis)
    return _join(x, axis, before, after)


def _statistic(x, axis, width, lengths, mode):
    def value(n, length, first):
        length = min(x.shape[axis] if length is None else int(length), x.shape[axis])
        if length == 0 and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        start = 0 if first else x.shape[axis] - length
        found = _STATISTICS[mode](_part(x, axis, slice(start, start + length)), axis=axis, keepdims=True)
        shape = (*x.shape[:axis], n, *(x.shape[axis + 1 :] if axis < -1 else ()))
        return np.broadcast_to(found, shape)

    return _join(x, axis, value(width[0], lengths[0], True), value(width[1], lengths[1], False))


def _repeated(x, axis, width, kind, mode):
    """Edges, reflections and periods: which entry goes where is what NumPy does to their numbers."""
    if kind not in (None, "even", "odd"):
        raise ValueError(f"reflect_type must be 'even' or 'odd', not {kind!r}")
    n = x.shape[axis]
    mode = "edge" if n == 1 and mode in ("reflect", "symmetric") else mode
    out = np.take(x, np.pad(np.arange(n), width, mode), axis)
    if kind != "odd" or mode == "edge":
        return out
    # An odd reflection is an entry by 1 or -1, and multiples of the first and the last one. What NumPy makes
    # of arrays that are 1 in one of these two places tells the multiples; all coefficients sum to 1.
    column = (-1,) + (1,) * (-1 - axis)
    units = np.arange(n) == 0, np.arange(n) == n - 1
    ends = [np.pad(unit.astype(int), width, mode, reflect_type="odd").reshape(column) for unit in units]
    terms = [(1 - ends[0] - ends[1], out)]
    terms += [(ends[0], _part(x, axis, slice(0, 1))), (ends[1], _part(x, axis, slice(-1, None)))]
    zero = np.zeros((), x.dtype)
    first, *rest = [k.astype(x.dtype) * np.where(k == 0, zero, part) for k, part in terms]
    for term in rest:
        first = first + term
    return first


def _part(x: Any, axis: int, part: slice) -> Any:
    return x[(..., part, *[slice(None)] * (-1 - axis))]


_EXTEND = {
    "constant": _constant,
    "linear_ramp": _linear_ramp,
    **dict.fromkeys(_STATISTICS, _statistic),
    **dict.fromkeys(("edge", "wrap", "reflect", "symmetric"), _repeated),
}
