"""The tracer's methods and attributes: each is NumPy's function of the same name.

They call what carries that out on tracers: to have NumPy's dispatcher find it costs 1.0 us more.
"""

from __future__ import annotations

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad.numpy import (
    creation,
    in_place,
    indexing,
    products,
    reductions,
    scans,
    shaping,
    sorting,
    statistics,
    ufuncs,
)
from funcgrad.numpy.arguments import refuse_out
from funcgrad.numpy.protocol import implements

#: Methods that are the functions of these modules.
METHODS = {
    indexing: ("diagonal", "nonzero"),
    products: ("dot", "trace"),
    reductions: ("all", "any", "argmax", "argmin", "max", "min", "prod", "ptp", "sum"),
    scans: ("cumprod", "cumsum"),
    shaping: ("ravel", "squeeze", "swapaxes"),
    sorting: ("argsort",),
    statistics: ("mean", "std", "var"),
    ufuncs: ("round",),
}

#: Methods whose further arrays NumPy's dispatcher is to see: it refuses some by their class.
DISPATCHED = ("argpartition", "repeat", "searchsorted", "take")

#: Methods that write in place in ways that traced arrays cannot, and what to write instead.
IN_PLACE = {
    "itemset": "Write x[index] = v.",
    "resize": "Write np.resize(x, shape).",
    "setfield": "Write x[...] = v.",
    "setflags": "A traced array has no flags to set.",
    "byteswap": "Bytes carry no derivative.",
}

#: Methods and attributes that would give the plain values away, or have no meaning while tracing.
READS = (
    "base", "ctypes", "data", "dump", "dumps", "flags", "getfield", "item", "newbyteorder",
    "tobytes", "tofile", "tolist", "to_device",
)  # fmt: skip


def _dispatch(name: str):
    function = getattr(np, name)

    def method(self, *args, **kwargs):
        return function(self, *args, **kwargs)

    method.__name__ = name
    return method


def _refuse_in_place(name: str, cure: str):
    def method(self, *args, **kwargs):
        raise errors.InPlaceError(f"x.{name}(...)", describe(*caller(2)), cure)

    return method


def _refuse_read(name: str):
    def method(self, *args, **kwargs):
        raise errors.ConcretizationError(
            f"x.{name}()", f"Write stop_gradient(x).{name}() if a constant is meant.", describe(*caller(2))
        )

    return method


def _with_out(function, name: str):
    def method(self, *args, out=None, **kwargs):
        if out is None:
            return function(self, *args, **kwargs)
        if not isinstance(out, Tracer):
            return function(self, *args, out=out, **kwargs)  # which is refused
        return out._write_out(function(self, *args, **kwargs), f"x.{name}(..., out=y)")

    return method


for _module, _names in METHODS.items():
    for _name in _names:
        _method = getattr(_module, _name)
        _method.__qualname__ = _name  # which Python's errors about arguments say
        writes = "out" in _method.__code__.co_varnames[: _method.__code__.co_argcount]
        setattr(Tracer, _name, _with_out(_method, _name) if writes else _method)
for _name in DISPATCHED:
    setattr(Tracer, _name, _dispatch(_name))
for _name, _cure in IN_PLACE.items():
    setattr(Tracer, _name, _refuse_in_place(_name, _cure))
for _name in READS:
    setattr(Tracer, _name, _refuse_read(_name))
for _name in ("base", "ctypes", "data", "flags"):
    setattr(Tracer, _name, property(_refuse_read(_name)))


def _shape_arguments(shape: tuple):
    """``x.reshape(2, 3)`` is ``x.reshape((2, 3))``."""
    return shape[0] if len(shape) == 1 else shape


def _reshape(self, *shape, order="C", copy=None):
    return shaping.reshape(self, _shape_arguments(shape), order)


def _transpose(self, *axes):
    return shaping.transpose(self, _shape_arguments(axes) if axes else None)


def _clip(self, min=None, max=None, out=None, **kwargs):
    return np.clip(self, min, max, out=out, **kwargs)


def _conjugate(self, out=None):
    refuse_out("conjugate", out)
    return np.conjugate(self) if self.dtype.kind == "c" else self


def _compress(self, condition, axis=None, out=None):
    return np.compress(condition, self, axis=axis, out=out)


def _choose(self, choices, out=None, mode="raise"):
    if self.dtype.kind not in "iub":
        cure = "Whole numbers choose. Write np.choose(x.astype(int), choices)."
        raise errors.ConcretizationError("x.choose(...)", cure, describe(*caller(2)))
    return np.choose(self, choices, out, mode)


def _copy(self, order="C"):
    return creation.copied(self, order)


def _astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if not np.can_cast(self.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} "
            f"according to the rule {casting!r}"
        )
    out = ufuncs.cast(self, dtype)
    return creation.copied(self, order) if out is self and copy else out


def _view(self, dtype=None, type=None):
    if type is None and (dtype is None or np.dtype(dtype) == self.dtype):
        return self[...]
    raise errors.ConcretizationError(
        "x.view(dtype)",
        "Reinterpreted bytes carry no derivative. Write x.astype(dtype).",
        describe(*caller(2)),
    )


@implements(np.copy)
def copied(a, order="K", subok=False):
    return creation.copied(a, order)


@implements(np.astype)
def astype(x, dtype, /, *, copy=True, device=None):
    return x.astype(dtype, copy=copy)


Tracer.reshape = _reshape
Tracer.transpose = _transpose
Tracer.flatten = shaping.flatten
Tracer.choose = _choose
Tracer.clip = _clip
Tracer.compress = _compress
Tracer.copy = _copy
Tracer.astype = _astype
Tracer.view = _view
Tracer.conj = Tracer.conjugate = _conjugate
Tracer.T = property(shaping.transpose)
Tracer.mT = property(shaping.matrix_transpose)
Tracer.real = property(ufuncs.real, in_place.set_real)
Tracer.imag = property(ufuncs.imag, in_place.set_imag)
Tracer.flat = property(shaping.flat, in_place.set_flat)
Tracer.fill = in_place.fill
Tracer.sort = in_place.sort
Tracer.partition = in_place.partition
Tracer.put = in_place.put
Tracer.itemsize = property(lambda self: self.dtype.itemsize)
Tracer.nbytes = property(lambda self: self.size * self.dtype.itemsize)
Tracer.strides = property(lambda self: np.empty(self.shape, self.dtype).strides)
Tracer.device = "cpu"


def _refuse_to_set(name: str, cure: str):
    def setter(self, value):
        raise errors.InPlaceError(f"x.{name} = v", describe(*caller(2)), cure)

    return setter


#: Attributes that change the array itself when they are set in NumPy, and what to write instead.
ASSIGNED = {
    "shape": "Write x = x.reshape(shape).",
    "dtype": "Write x = x.astype(dtype).",
    "strides": "Write it with np.reshape, np.transpose and slices.",
}
for _kind in (Tracer, *Tracer.__subclasses__()):
    for _name in ASSIGNED.keys() & vars(_kind).keys():
        setattr(_kind, _name, vars(_kind)[_name].setter(_refuse_to_set(_name, ASSIGNED[_name])))
