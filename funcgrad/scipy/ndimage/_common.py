"""What the functions on images share: modes, axes, windows, and the dtype of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad.numpy.arguments import negative_axis
from funcgrad.numpy.creation import asarray
from funcgrad.scipy._convolution import padded

#: SciPy's names of extensions -> NumPy's.
MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
    "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap",
}  # fmt: skip


def numpy_mode(mode: str) -> str:
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    return MODES[mode]


def floats(x: Any) -> Any:
    x = asarray(x)
    return x if x.dtype.kind in "fc" and x.dtype != np.float16 else x.astype(np.float64)


def target(function: str, input: Any, output: Any) -> np.dtype:
    """The dtype of a filter's passes: that of the input, or that which was asked for."""
    _refuse_array(function, output)
    return asarray(input).dtype if output is None else np.dtype(output)


def _refuse_array(function: str, output: Any) -> None:
    if isinstance(output, (np.ndarray, Tracer)):
        cure = "Leave it out, or give a dtype: the function returns its result."
        raise errors.InPlaceError(f"scipy.ndimage.{function}(..., output=array)", describe(*caller(3)), cure)


def finished(function: str, out: Any, dtype: np.dtype, output: Any) -> Any:
    """A result in the dtype of the input, or in that which was asked for."""
    _refuse_array(function, output)
    if output is not None:
        dtype = np.dtype(output)
    elif out.dtype.kind == "c" and dtype.kind != "c":
        dtype = np.result_type(dtype, np.complex64)
    return out if out.dtype == dtype else out.astype(dtype)


def per_axis(value: Any, count: int) -> list:
    """One value for each axis."""
    if isinstance(value, (str, bytes)) or np.ndim(value) == 0:
        return [value] * count
    if len(value) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return [value[i] for i in range(count)]


def chosen_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a filter, counted from the end, in the order given."""
    if axes is None:
        return tuple(range(-ndim, 0))
    out = tuple([negative_axis(a, ndim) for a in (axes if np.iterable(axes) else [axes])])
    if len(set(out)) != len(out):
        raise ValueError("axes must be unique")
    return out


def reach(size: int, origin: int) -> tuple[int, int]:
    """How far a window reaches to the left and to the right."""
    left = size // 2 + origin
    if not 0 <= left < size:
        raise ValueError("invalid origin: the window has to contain the sample that it is for")
    return left, size - 1 - left


def extended(x: Any, widths: list, mode: Any, cval: Any, axes: tuple[int, ...]) -> Any:
    """An image with what lies beyond its edges along some axes."""
    for (before, after), axis, how in zip(widths, axes, per_axis(mode, len(axes))):
        x = padded(x, before, after, numpy_mode(how), cval, axis)
    return x
