"""Types: the shape and dtype of a value, and how they are found and printed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_PYTHON_SCALARS = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_PYTHON_SCALARS[complex] = np.dtype(np.complex128)


def _scalar_dtype(kind: type) -> np.dtype:
    """The dtype of a Python scalar's class, which may be a subclass, as an `IntEnum` is."""
    dtype = _PYTHON_SCALARS.get(kind)
    return next(d for k, d in _PYTHON_SCALARS.items() if issubclass(kind, k)) if dtype is None else dtype


#: The tangent type of integers and booleans: it has no values, only a shape (JAX's float0).
float0 = np.dtype([("float0", np.void, 0)])


class ShapeDtypeStruct:
    """The type of an array: its shape and dtype, without values.

    Args:
        shape: a tuple of ints (an int stands for a one-dimensional shape).
        dtype: anything that ``np.dtype`` takes.
        weak: whether the value is a Python scalar, whose dtype gives way to an array's (NEP 50).

    >>> ShapeDtypeStruct((3, 2), np.float32)
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    >>> str(ShapeDtypeStruct((3, 2), np.float32))
    'f32[3,2]'
    """

    __slots__ = ("shape", "dtype", "weak")

    def __init__(self, shape, dtype, weak: bool = False):
        self.shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self.weak = weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"

    def __str__(self) -> str:
        return f"{short_dtype(self.dtype)}[{','.join(map(str, self.shape))}]"


def short_dtype(dtype: np.dtype) -> str:
    """The short name of a dtype as it is printed in programs: ``f64``, ``i32``, ``bool``."""
    if dtype.kind == "b":
        return "bool"
    if dtype == float0:
        return "float0"
    if dtype.kind in "fiuc":
        return f"{dtype.kind}{8 * dtype.itemsize}"
    return str(dtype)


def type_of(value: Any) -> ShapeDtypeStruct:
    """The type of an array, a scalar or a tracer."""
    kind = type(value)
    if isinstance(value, ShapeDtypeStruct):
        return value
    if not hasattr(value, "dtype"):
        return ShapeDtypeStruct((), _scalar_dtype(kind), weak=True)
    weak = getattr(value, "weak", False)
    return ShapeDtypeStruct(value.shape, value.dtype, weak)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array, a tracer or a Python scalar (``np.shape`` is five times slower)."""
    try:
        return value.shape
    except AttributeError:
        return ()


def dtype_of(value: Any) -> np.dtype:
    """The dtype of an array, a tracer or a Python scalar."""
    try:
        return value.dtype
    except AttributeError:
        return _scalar_dtype(type(value))


def zeros_of(value: Any) -> np.ndarray:
    """Plain zeros of a value's type, also of a tracer's: `np.zeros_like` of that would be traced."""
    return np.zeros(shape_of(value), dtype_of(value))


def is_differentiable(dtype: np.dtype) -> bool:
    """Whether values of this dtype carry derivatives: floating-point and complex ones do."""
    return dtype.kind in "fc"


def is_unlike_array(value: Any) -> bool:
    """Whether this is of a class whose operations differ from an array's: a matrix, a masked array."""
    return (
        type(value) is not np.ndarray
        and isinstance(value, np.ndarray)
        and isinstance(value, (np.matrix, np.ma.MaskedArray))
    )
