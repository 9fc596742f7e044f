"""NumPy's namespace, differentiable: ``import funcgrad.numpy as np``.

Plain `numpy` works on traced values through NumPy's own protocols, and this namespace is NumPy's, name for
name. It lays its own functions over those that no protocol reaches, such as ``np.array([x, y])``.
"""

import numpy as _numpy

from funcgrad._primitives import control as _control
from funcgrad._primitives import elementary as _elementary  # a submodule here may have the name
from funcgrad.numpy import (
    creation,
    einsum,
    fft,
    indexing,
    joining,
    linalg,
    methods,
    operators,
    padding,
    products,
    protocol,
    reductions,
    repeating,
    sampling,
    scans,
    shaping,
    sorting,
    statistics,
    ufuncs,
    updates,
)

# What NumPy loads on demand (testing, f2py, ...) stays on demand here: see __getattr__.
_loaded = {name: value for name, value in vars(_numpy).items() if not name.startswith("_")}
globals().update(_loaded)

from funcgrad.numpy.creation import (  # noqa: E402  over NumPy's
    append,
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    column_stack,
    concat,
    concatenate,
    dstack,
    full,
    full_like,
    hstack,
    pad,
    stack,
    take,
    vstack,
)
from funcgrad.numpy.updates import index_add, index_update  # noqa: E402

__all__ = sorted({*_loaded, "array", "asarray", "index_add", "index_update"})


def __getattr__(name):
    return getattr(_numpy, name)


def __dir__():
    return sorted({*globals(), *dir(_numpy)})
