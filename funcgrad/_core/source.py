"""Where in the user's code an operation was called: cheap to record, worked out only when printed."""

from __future__ import annotations

import contextvars
import os
import sys
from types import CodeType

import numpy as np

_NUMPY = os.path.dirname(os.path.abspath(np.__file__))
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SCIPY = os.path.join(os.path.dirname(_NUMPY), "scipy")  # where it is if it is: nobody imports it for this
_STANDARD = os.path.dirname(os.path.abspath(os.__file__))
# a thread's own frames, beneath which there is no user's
_THREADS = (os.path.join(_STANDARD, "concurrent") + os.sep, os.path.join(_STANDARD, "threading.py"))
_LIBRARIES = (*[path + os.sep for path in (_NUMPY, _SCIPY, _OWN)], *_THREADS)

#: In a thread that a transform started: where the user called that.
started_at: contextvars.ContextVar[tuple[CodeType, int] | None] = contextvars.ContextVar(
    "started_at", default=None
)

# file name -> whether it belongs to NumPy, SciPy or funcgrad, so that paths are compared once per file and
# not once per call. (A dict by code object would be slower: a code object hashes all that it holds.)
_internal: dict[str, bool] = {}


def is_internal(filename: str) -> bool:
    """Whether a file belongs to NumPy, SciPy or funcgrad."""
    known = _internal[filename] = os.path.abspath(filename).startswith(_LIBRARIES)
    return known


def caller(depth: int = 3, _internal_get=_internal.get) -> tuple[CodeType, int]:
    """The code object and instruction offset of the innermost frame that is not a library's.

    Args:
        depth: how many frames are known to be the library's; 3 in an interpreter's `process`.
    """
    frame = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        internal = _internal_get(code.co_filename)
        if internal is None:
            internal = is_internal(code.co_filename)
        if not internal:
            return code, frame.f_lasti
        frame = frame.f_back
    return started_at.get() or (code, 0)  # called from no user code in this thread


def stacklevel() -> int:
    """The `stacklevel` of a warning from the calling function, so that it points at the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_internal(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def describe(code: CodeType | None, offset: int) -> str:
    """``file.py:12 (function)`` for a recorded place."""
    if code is None:
        return "an unknown place"
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            line = number
            break
    name = code.co_qualname
    return f"{code.co_filename}:{line}" + (f" ({name})" if name != "<module>" else "")
