"""NumPy's namespace, differentiable: ``import funcgrad.numpy as np``.

Plain `numpy` works on traced values through NumPy's own protocols, and this namespace is NumPy's, name for
name. It lays its own functions over those that no protocol reaches, such as ``np.array([x, y])``.
"""

import importlib as _importlib
import sys as _sys

import numpy as _numpy

from funcgrad._core.tracer import Tracer as _Tracer
from funcgrad._primitives import control as _control
from funcgrad._primitives import elementary as _elementary  # a submodule here may have the name
from funcgrad.numpy import (
    bracketing,
    creation,
    einsum,
    emath,
    fft,
    folds,
    indexing,
    joining,
    linalg,
    methods,
    operators,
    padding,
    pieces,
    polynomials,
    products,
    protocol,
    reading,
    reductions,
    repeating,
    sampling,
    scans,
    sequences,
    shaping,
    sorting,
    statistics,
    ufuncs,
    updates,
    vectorizing,
)

# What NumPy loads on demand (testing, f2py, ...) stays on demand here: see __getattr__.
_OURS = {"polynomial"}  # its functions are reached by no protocol
_loaded = {k: v for k, v in vars(_numpy).items() if not k.startswith("_") and k not in _OURS}
globals().update(_loaded)

from funcgrad.numpy.bracketing import c_, fromiter, mgrid, ogrid, r_  # noqa: E402  over NumPy's
from funcgrad.numpy.creation import (  # noqa: E402  over NumPy's
    append,
    apply_along_axis,
    array,
    asanyarray,
    asarray,
    asarray_chkfinite,
    ascontiguousarray,
    asfortranarray,
    column_stack,
    concat,
    concatenate,
    dstack,
    full,
    full_like,
    histogram,
    hstack,
    interp,
    nan_to_num,
    pad,
    piecewise,
    polyint,
    require,
    select,
    stack,
    take,
    trapezoid,
    unwrap,
    vstack,
)
from funcgrad.numpy.sequences import arange  # noqa: E402  over NumPy's
from funcgrad.numpy.updates import index_add, index_update  # noqa: E402  over NumPy's
from funcgrad.numpy.vectorizing import vectorize  # noqa: E402  over NumPy's

__all__ = sorted({*_loaded, *_OURS, "index_add", "index_update"})


def __getattr__(name):
    if name in _OURS:  # loaded when it is first asked for, as NumPy's own
        return _importlib.import_module(f"funcgrad.numpy.{name}")
    return getattr(_numpy, name)


def __dir__():
    return sorted({*globals(), *dir(_numpy)})


def _array_namespace(self, *, api_version=None):
    """This namespace, which functions of the Python array API standard are looked up in."""
    _numpy.zeros(0).__array_namespace__(api_version=api_version)  # NumPy's error, if it has another version
    return _sys.modules[__name__]


_Tracer.__array_namespace__ = _array_namespace
