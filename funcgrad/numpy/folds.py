"""The methods of binary ufuncs, of those that have no implementation of their own: one step after another.

`np.subtract.reduce(x)` is ((x0 - x1) - x2) - ...: what a ufunc does to two arrays, which has a derivative,
gives what its methods do to the entries of one. Ufuncs without derivative are carried out as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.primitive import Primitive
from funcgrad._interpreters.batch import batch_alike
from funcgrad._primitives.kinds import IMPLEMENTATIONS, constant
from funcgrad.numpy.arguments import NO_VALUE, given, negative_axis, refuse_out
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import UFUNC_METHODS
from funcgrad.numpy.reductions import first_value, merged, options, restore
from funcgrad.numpy.ufuncs import cast


def _prepared(method: Any, x: Any, dtype: Any, *sizes: Any, **options: Any) -> Any:
    """The array in the dtype in which NumPy computes; and NumPy's error, if the method has one for it."""
    like = np.ones((1,) * x.ndim, x.dtype)
    return cast(x, method(like, *sizes, dtype=dtype, **options).dtype)


def _reduce(ufunc: np.ufunc):
    def reduce(a, axis=0, dtype=None, out=None, keepdims=False, initial=NO_VALUE, where=True):
        refuse_out(f"{ufunc.__name__}.reduce", out)
        x = asarray(a)
        start = {"initial": 0} if given(initial) else {}
        x = _prepared(ufunc.reduce, x, dtype, axis=axis, **start, where=where is True or np.ones(1, bool))
        axes = options(x, axis, keepdims)["axis"]
        if where is not True:
            where = merged(np.broadcast_to(where, x.shape), axes)
        entries = np.moveaxis(merged(x, axes), -1, 0) if x.ndim else np.reshape(x, 1)
        total = first_value(initial, x.dtype) if given(initial) else None
        if total is None and (where is not True or not entries.shape[0]):
            total = ufunc.reduce(np.zeros(0, x.dtype))  # its identity, or NumPy's error
        shape = entries.shape[1:]
        for i in range(entries.shape[0]):
            following = entries[i] if total is None else ufunc(total, entries[i])
            total = following if where is True else np.where(where[..., i], following, total)
        total = cast(asarray(total), x.dtype)
        return restore(total if total.shape == shape else np.broadcast_to(total, shape), x, axes, keepdims)

    return reduce


def _running(ufunc: np.ufunc, entries: Any) -> list:
    """What `accumulate` gives of the entries along the first axis."""
    totals = [entries[0]]
    for i in range(1, entries.shape[0]):
        totals.append(ufunc(totals[-1], entries[i]))
    return totals


def _accumulate(ufunc: np.ufunc):
    def accumulate(a, axis=0, dtype=None, out=None):
        refuse_out(f"{ufunc.__name__}.accumulate", out)
        x = asarray(a)
        x = _prepared(ufunc.accumulate, x, dtype, axis)
        axis = negative_axis(axis, x.ndim)
        if not x.size:
            return x
        return np.stack(_running(ufunc, np.moveaxis(x, axis, 0)), axis)

    return accumulate


def _reduceat(ufunc: np.ufunc):
    def reduceat(a, indices, axis=0, dtype=None, out=None):
        refuse_out(f"{ufunc.__name__}.reduceat", out)
        x, starts = asarray(a), np.asarray(indices)
        if not x.ndim:
            ufunc.reduceat(np.ones(()), starts)  # NumPy's error
        axis = negative_axis(axis, x.ndim)
        np.add.reduceat(np.zeros(x.shape[axis]), starts)  # NumPy's error, if one is out of range
        entries = np.moveaxis(_prepared(ufunc.reduceat, x, dtype, [0], axis), axis, 0)
        ends = [*starts[1:].tolist(), x.shape[axis]]
        parts = [entries[i : max(end, i + 1)] for i, end in zip(starts.tolist(), ends)]
        return np.stack([_running(ufunc, part)[-1] for part in parts], axis)

    return reduceat


# ---- without derivative --------------------------------------------------------------------


def _method_on_values(x, *where, ufunc, method, **options):
    if where:
        options["where"] = where[0]
    return getattr(getattr(np, ufunc), method)(x, **options)


_on_values = constant(_method_on_values, name="ufunc_method")
_on_values.batch = batch_alike(_on_values)


def _constant_reduce(ufunc: np.ufunc):
    def reduce(a, axis=0, dtype=None, out=None, keepdims=False, initial=NO_VALUE, where=True):
        refuse_out(f"{ufunc.__name__}.reduce", out)
        x = asarray(a)
        params = options(x, axis, keepdims) | ({"initial": initial} if given(initial) else {})
        masks = [] if where is True else [np.broadcast_to(where, x.shape)]
        return _on_values(x, *masks, ufunc=ufunc.__name__, method="reduce", dtype=dtype, **params)

    return reduce


def _constant_accumulate(ufunc: np.ufunc):
    def accumulate(a, axis=0, dtype=None, out=None):
        refuse_out(f"{ufunc.__name__}.accumulate", out)
        x = asarray(a)
        axis = negative_axis(axis, x.ndim)
        return _on_values(x, ufunc=ufunc.__name__, method="accumulate", dtype=dtype, axis=axis)

    return accumulate


def _constant_reduceat(ufunc: np.ufunc):
    def reduceat(a, indices, axis=0, dtype=None, out=None):
        refuse_out(f"{ufunc.__name__}.reduceat", out)
        x, starts = asarray(a), tuple(np.asarray(indices).tolist())
        params = {"ufunc": ufunc.__name__, "method": "reduceat", "dtype": dtype}
        return _on_values(x, indices=starts, axis=negative_axis(axis, x.ndim), **params)

    return reduceat


# ---- the table -----------------------------------------------------------------------------

for _ufunc in {f for f in vars(np).values() if isinstance(f, np.ufunc)}:
    if (_ufunc.nin, _ufunc.nout, _ufunc.signature) == (2, 1, None) and _ufunc in IMPLEMENTATIONS:
        _prim = IMPLEMENTATIONS[_ufunc]
        # floor_divide has no derivative, but the first entry of what it accumulates is the array's own
        if isinstance(_prim, Primitive) and _prim.rules is None and _ufunc is not np.floor_divide:
            _methods = {
                "reduce": _constant_reduce, "accumulate": _constant_accumulate, "reduceat": _constant_reduceat
            }  # fmt: skip
        else:
            _methods = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}
        for _name, _make in _methods.items():
            UFUNC_METHODS.setdefault((_ufunc, _name), _make(_ufunc))
