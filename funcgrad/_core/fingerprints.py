"""Fingerprints: was an array changed in place? NumPy has no version counters.

Small arrays are kept whole. Of larger ones either every entry counts, in sums that take two thirds of the
time of a multiplication, or a sample does.
"""

from __future__ import annotations

import functools
import math

import numpy as np

_EXACT = 8192  # bytes up to which an array is kept whole
_CHEAP = 65536  # bytes up to which every entry counts, however large the array's part in the time is
_SAMPLES = 512
_SUMS = 1021  # a prime, so that rows of a matrix that change places change the sums
_GOLDEN = 0.6180339887498949


def fingerprint(array: np.ndarray, whole: bool) -> bytes:
    """What an array holds.

    Args:
        array: of any dtype and layout.
        whole: whether every entry of a large array counts. Else some 512 do, spread over all rows and
            columns: what overwrites, sorts, scales or shifts changes some of those. Up to 64 KiB all do.
    """
    if array.nbytes <= _EXACT:
        return array.tobytes()
    if not whole and array.nbytes > _CHEAP:
        if array.flags.c_contiguous:
            return array.reshape(-1).take(_positions(array.shape)).tobytes()
        return array[np.unravel_index(_positions(array.shape), array.shape)].tobytes()
    if not array.flags.c_contiguous:
        # an array that is broadcast holds its entries once
        array = array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]
        array = np.ascontiguousarray(array.T if array.flags.f_contiguous else array)
    held = array.reshape(-1).view(np.uint8)
    rest = held.size % (8 * _SUMS)
    words = held[: held.size - rest].view(np.uint64).reshape(-1, _SUMS)
    sums = np.add.reduce(words, axis=0)  # modulo 2**64: if one entry changes, so does a sum
    return sums.tobytes() + held[held.size - rest :].tobytes()


def is_large(array: np.ndarray) -> bool:
    """Whether a sample of an array's entries may stand for it."""
    return array.nbytes > _CHEAP


def owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory a view sees."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def sampled(array: np.ndarray) -> np.ndarray:
    """A copy of an array, or of some 512 of its entries."""
    if array.nbytes <= _EXACT:
        return np.array(array)
    return array[np.unravel_index(_positions(array.shape), array.shape)]


@functools.lru_cache(maxsize=256)
def _positions(shape: tuple[int, ...]) -> np.ndarray:
    """Flat positions of a sample: rows evenly, columns irregularly, and both ends."""
    total, columns = math.prod(shape), shape[-1]
    rows = total // columns
    if rows < 16 or columns < 16:  # nearly a vector, whose entries are taken as if in rows
        rows, columns = total // 16, 16
    number = np.arange(_SAMPLES)
    column = (number * _GOLDEN % 1.0 * columns).astype(np.int64)
    return np.concatenate([[0], number * rows // _SAMPLES * columns + column, [total - 1]])
