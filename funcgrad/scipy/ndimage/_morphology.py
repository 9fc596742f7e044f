"""Morphology of grey images: extremes of windows to which a structure may be added."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements
from funcgrad.scipy.ndimage._common import chosen_axes, finished, per_axis, target
from funcgrad.scipy.ndimage._filters import maximum_filter, minimum_filter, windows


def _window(size: Any, footprint: Any, structure: Any, count: int) -> tuple[np.ndarray, Any]:
    """Where a window is, and what is added there; the structure may be traced."""
    structure = None if structure is None else asarray(structure)
    if footprint is None:
        shape = per_axis(size, count) if structure is None else structure.shape
        if size is None and structure is None:
            raise ValueError("size, footprint, or structure must be specified")
        footprint = np.ones([int(n) for n in shape], bool)
    return np.asarray(footprint, bool), structure


def _eroded(x, footprint, structure, mode, cval, origin, axes, reduce, sign):
    """The extremes of windows, to whose values the structure was added (times `sign`)."""
    if structure is None:
        extreme = minimum_filter if reduce is np.min else maximum_filter
        return extreme(x, None, footprint, None, mode, cval, origin, axes=axes)
    parts = windows(x, footprint, axes, mode, cval, origin)
    added = structure[tuple(np.nonzero(footprint))]
    return reduce(parts + sign * np.reshape(added, (-1,) + (1,) * x.ndim), axis=0)


def _erosion(x, window, mode, cval, origin, axes):
    footprint, structure = window
    return _eroded(x, footprint, structure, mode, cval, origin, axes, np.min, -1)


def _dilation(x, window, mode, cval, origin, axes):
    footprint, structure = (
        w if w is None else w[(slice(None, None, -1),) * w.ndim] for w in window
    )  # about its middle, as a convolution's
    origin = [-o - (n % 2 == 0) for o, n in zip(per_axis(origin, len(axes)), footprint.shape)]
    return _eroded(x, footprint, structure, mode, cval, origin, axes, np.max, 1)


def _morphology(name: str, compute: Any) -> None:
    """Lay a function over SciPy's; ``compute(x, erode, dilate)`` says what it is."""

    def function(input, size=None, footprint=None, structure=None, output=None, mode="reflect", cval=0.0,
                 origin=0, *, axes=None):  # fmt: skip
        x, dtype = asarray(input), target(name, input, output)
        axes = chosen_axes(axes, x.ndim)
        window = _window(size, footprint, structure, len(axes))

        def erode(x):
            return _erosion(x, window, mode, cval, origin, axes)

        def dilate(x):
            return _dilation(x, window, mode, cval, origin, axes)

        return finished(name, compute(x, erode, dilate), dtype, None)

    function.__name__ = name
    implements(getattr(ndimage, name))(function)


_morphology("grey_erosion", lambda x, erode, dilate: erode(x))
_morphology("grey_dilation", lambda x, erode, dilate: dilate(x))
_morphology("grey_opening", lambda x, erode, dilate: dilate(erode(x)))
_morphology("grey_closing", lambda x, erode, dilate: erode(dilate(x)))
_morphology("morphological_gradient", lambda x, erode, dilate: dilate(x) - erode(x))
_morphology("morphological_laplace", lambda x, erode, dilate: dilate(x) + erode(x) - x - x)
_morphology("white_tophat", lambda x, erode, dilate: x - dilate(erode(x)))
_morphology("black_tophat", lambda x, erode, dilate: erode(dilate(x)) - x)
