"""The tracer's operators and what Python reads of it, attached from tables.

`NDArrayOperatorsMixin` would do the same, at 0.4 us an operator more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from funcgrad import errors
from funcgrad._core.primitive import NO_PARAMS
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, concrete
from funcgrad._core.types import dtype_of, is_differentiable, shape_of
from funcgrad._primitives.arithmetic import absolute, negative, positive, power, scalar_power, square
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.numpy import in_place, products, protocol
from funcgrad.numpy.conversions import refuse_array, refuse_number
from funcgrad.numpy.indexing import getitem
from funcgrad.numpy.protocol import PLAIN

# ---- arithmetic ----------------------------------------------------------------------------

_FAST = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide}
_BINARY = {
    "floordiv": np.floor_divide, "mod": np.remainder, "divmod": np.divmod,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
_COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip


def _straight(prim) -> Callable:
    """An operator that is one primitive: straight to the trace, past the search for it."""

    def operator(self, other):
        if type(other) in PLAIN or (isinstance(other, Tracer) and other._trace is self._trace):
            return self._trace.process(prim, (self, other), NO_PARAMS)
        return prim(self, _operand(other)) if _is_operand(other) else NotImplemented

    return operator


def _attach_fast(name: str, prim) -> None:
    """The four operators that most equations are."""

    def reflected(self, other):
        if type(other) in PLAIN:
            return self._trace.process(prim, (other, self), NO_PARAMS)
        return prim(_operand(other), self) if _is_operand(other) else NotImplemented

    setattr(Tracer, f"__{name}__", _straight(prim))
    setattr(Tracer, f"__r{name}__", reflected)


def _attach_binary(name: str, ufunc) -> None:
    def forward(self, other):
        return ufunc(self, other) if _is_operand(other) else NotImplemented

    def reflected(self, other):
        return ufunc(other, self) if _is_operand(other) else NotImplemented

    setattr(Tracer, f"__{name}__", forward)
    setattr(Tracer, f"__r{name}__", reflected)


def _is_operand(x) -> bool:
    """Whether NumPy's operators take it: numbers, arrays, and lists of them."""
    return isinstance(x, (np.ndarray, np.generic, int, float, complex, Tracer, list, tuple))


def _operand(x):
    """Lists as arrays, everything else as it is."""
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _attach_square(multiply: Callable) -> None:
    """``x * x`` has one argument: half the work of a product of two."""

    def forward(self, other):
        if other is self:
            return self._trace.process(square, (self,), NO_PARAMS)
        return multiply(self, other)

    Tracer.__mul__ = forward


for _name, _ufunc in _FAST.items():
    _attach_fast(_name, IMPLEMENTATIONS[_ufunc])
_attach_square(Tracer.__mul__)
for _name, _ufunc in _BINARY.items():
    _attach_binary(_name, _ufunc)
for _name, _ufunc in _COMPARISONS.items():
    setattr(Tracer, f"__{_name}__", _straight(IMPLEMENTATIONS[_ufunc]))


_DOUBLES = (np.dtype(np.float64), np.dtype(np.complex128))


def _exponent(x: Tracer, y) -> int | float | None:
    """A constant exponent as a Python number, if the power has the same dtype with it; None else."""
    if (type(y) is np.float64 or type(y) is np.int64) and x.dtype in _DOUBLES and not x.weak:
        y = y.item()
    if type(y) is float and y.is_integer() and abs(y) < 2**31:
        # 2.0 makes floats of integers, 2 does not
        return int(y) if is_differentiable(x.dtype) else None
    return y if type(y) is int or (type(y) is float and math.isfinite(y)) else None


def _pow(self, other, modulo=None):
    if modulo is not None:
        return NotImplemented
    exponent = _exponent(self, other)
    if exponent is not None:
        return self._trace.process(scalar_power, (self,), {"y": exponent})
    return power(self, _operand(other)) if _is_operand(other) else NotImplemented


@protocol.implements(np.power)
def _power(a, b):
    if isinstance(a, Tracer) and type(_exponent(a, b)) is int:
        return a**b
    return power(a, b)


def _rpow(self, other):
    return np.power(other, self) if _is_operand(other) else NotImplemented


# ---- in place ------------------------------------------------------------------------------


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip


Tracer.__matmul__ = products.matmul
Tracer.__rmatmul__ = lambda self, other: products.matmul(other, self)
Tracer.__pow__ = _pow
Tracer.__rpow__ = _rpow
for _name, _symbol in _SYMBOLS.items():
    setattr(Tracer, f"__i{_name}__", in_place.in_place_operator(getattr(Tracer, f"__{_name}__"), _symbol))
Tracer.__neg__ = lambda self: negative(self)
Tracer.__pos__ = lambda self: positive(self)
Tracer.__abs__ = lambda self: absolute(self)
Tracer.__invert__ = lambda self: np.invert(self)
Tracer.__array_ufunc__ = protocol.array_ufunc
Tracer.__array_function__ = protocol.array_function
Tracer.__array_priority__ = 1000.0
Tracer.__hash__ = None
Tracer.__getitem__ = getitem


Tracer.__setitem__ = in_place.write
Tracer._write_out = in_place.write_out
Tracer._write_at = in_place.write_at

# ---- what Python reads ---------------------------------------------------------------------


def _known(self, reading: str):
    """The value of a tracer, for Python to read: the derivative ends there."""
    value = self.known
    if isinstance(value, Tracer) or not isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        transform = value._trace.transform if isinstance(value, Tracer) else self._trace.transform
        raise errors.UnknownValueError(reading, transform, describe(*caller(3)))
    self._trace.note_cut((self.slot,) if hasattr(self, "slot") else (), caller(3))
    return value


def _bool(self):
    return bool(_known(self, "bool(x), or a branch on x,"))


def _int(self):
    return int(_known(self, "int(x)"))


def _round(self, ndigits=None):
    if self.shape:
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    return int(np.rint(self)) if ndigits is None else np.round(self, ndigits)


def _index(self):
    value = _known(self, "x as an index")
    if dtype_of(value).kind not in "iu" or shape_of(value):
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return int(value)


def _refuse(reading: str, cure: str):
    def read(self, *args, **kwargs):
        raise errors.ConcretizationError(reading, cure, describe(*caller(2)))

    return read


Tracer.__bool__ = _bool
Tracer.__int__ = _int
Tracer.__index__ = _index
Tracer.__round__ = _round
Tracer.__float__ = lambda self: refuse_number(self, "float(x)")
Tracer.__complex__ = lambda self: refuse_number(self, "complex(x)")


for _name in ("floor", "ceil", "trunc"):
    _cure = f"Write np.{_name}(x), int(np.{_name}(x)) for an index, or math.{_name}(stop_gradient(x))."
    setattr(Tracer, f"__{_name}__", _refuse(f"math.{_name}(x)", _cure))


def _array(self, *args, **kwargs):
    refuse_array(self)


Tracer.__array__ = _array


def _len(self):
    if not self.shape:
        raise TypeError("len() of unsized object")
    return self.shape[0]


def _iter(self):
    if not self.shape:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(self.shape[0]))


def _contains(self, value):
    return bool(np.any(self == value))


def _repr(self) -> str:
    value = concrete(self)
    value = getattr(value, "value", value) if isinstance(value, Tracer) else value
    return f"{type(self).__name__}({self.aval}) = {value}"


def _format(self, spec: str) -> str:
    value = concrete(self)
    return repr(self) if isinstance(value, Tracer) else format(value, spec)


def _copied(self, memo=None):
    return np.copy(self)


def _unpicklable(self, protocol):
    raise errors.ConcretizationError(
        "pickling x", "Store stop_gradient(x), or return the value with has_aux=True.", describe(*caller(2))
    )


Tracer.__len__ = _len
Tracer.__iter__ = _iter
Tracer.__contains__ = _contains
Tracer.__repr__ = _repr
Tracer.__str__ = _repr
Tracer.__format__ = _format
Tracer.__copy__ = _copied
Tracer.__deepcopy__ = _copied
Tracer.__reduce_ex__ = _unpicklable
