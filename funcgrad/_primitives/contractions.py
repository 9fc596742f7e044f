"""What `einsum` is made of: sums over the indices of one array, and contractions of two.

Subscripts are explicit (``ij,jk->ik``) and strict: a size of 1 does not broadcast. The front end brings
NumPy's forms into this one; a product of many operands is a sequence of contractions of two.
"""

import math
from functools import lru_cache

import numpy as np

from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._primitives.kinds import linear

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# ---- one array -----------------------------------------------------------------------------


@linear(structural=True)
def reindex(x, *, source, target):
    """Take diagonals (a letter of `source` repeats), sum (a letter is not in `target`), permute."""
    return np.einsum(f"...{source}->...{target}", x)


@reindex.transpose
def reindex_transpose(g, x_shape, *, source, target):
    return spread(g, source=target, target=source, shape=x_shape[len(x_shape) - len(source) :])


@linear(structural=True)
def spread(x, *, source, target, shape):
    """The reverse of `reindex`: onto the diagonals of zeros, repeated along what was summed."""
    stack = x.shape[: x.ndim - len(source)]
    out = np.zeros(stack + shape, x.dtype)
    letters = "".join(dict.fromkeys(target))
    kept = "".join(i for i in letters if i in source)
    index = tuple([slice(None) if i in source else None for i in letters])
    diagonals = np.einsum(f"...{target}->...{letters}", out)  # a view
    diagonals[...] = np.einsum(f"...{source}->...{kept}", x)[(..., *index)]
    return out


@spread.transpose
def spread_transpose(g, *, source, target, shape):
    return reindex(g, source=target, target=source)


# ---- two arrays ----------------------------------------------------------------------------


@linear
def contract(a, b, *, subscripts):
    """The sum over the common indices that are not in the result; every index is in two places."""
    return _contraction(subscripts)(a, b)


@contract.transpose("a")
def contract_transpose_a(g, b, *, subscripts):
    left, right, out = split(subscripts)
    return contract(g, b, subscripts=f"{out},{right}->{left}")


@contract.transpose("b")
def contract_transpose_b(g, a, *, subscripts):
    left, right, out = split(subscripts)
    return contract(a, g, subscripts=f"{left},{out}->{right}")


@contract.batching
def contract_batch(values, batched, *, subscripts):
    left, right, out = split(subscripts)
    new = next(i for i in _LETTERS if i not in subscripts)
    left, right = new * batched[0] + left, new * batched[1] + right
    return contract(*values, subscripts=f"{left},{right}->{new}{out}")


@contract.typing
def contract_type(a, b, *, subscripts):
    left, right, out = split(subscripts)
    sizes = dict(zip(left + right, a.shape + b.shape))
    return ShapeDtypeStruct([sizes[i] for i in out], np.result_type(a.dtype, b.dtype))


def split(subscripts):
    """``ij,jk->ik`` as (``ij``, ``jk``, ``ik``)."""
    inputs, out = subscripts.split("->")
    return *inputs.split(","), out


@lru_cache(maxsize=4096)
def _contraction(subscripts):
    """How two arrays are contracted: as one product of (stacks of) matrices, by BLAS.

    NumPy's einsum has loops of its own, which are many times slower on large arrays, and its
    ``optimize=True`` knows no stacks.
    """
    left, right, out = split(subscripts)
    stack = [i for i in out if i in left and i in right]
    summed = [i for i in left if i not in out]
    rows = [i for i in out if i not in right]
    columns = [i for i in out if i not in left]
    if not summed:
        return _elementwise(left, right, out)
    if stack and not rows and not columns:
        return lambda a, b: np.einsum(subscripts, a, b)
    if out.endswith("".join(columns + rows)) and rows and columns:  # spare a permuted result
        flipped = _contraction(f"{right},{left}->{out}")
        return lambda a, b: flipped(b, a)
    as_left, as_right = _as_matrix(left, stack, rows, summed), _as_matrix(right, stack, columns, summed)
    merged = not len(rows) == len(columns) == len(summed) == 1
    product = stack + rows + columns
    order = None if product == list(out) else tuple([product.index(i) for i in out])

    def run(a, b):
        sizes = dict(zip(left + right, a.shape + b.shape)) if merged else None
        a, b = as_left(a, sizes), as_right(b, sizes)
        if stack:
            result = a @ b.mT
        else:
            result = a.dot(b.T)
        if merged:
            result = result.reshape([sizes[i] for i in product])
        return result if order is None else result.transpose(order)

    return run


def _as_matrix(letters, stack, kept, summed):
    """Bring an array to (stack, kept, summed), each of the two groups merged into one axis.

    It is copied only where no order of its axes gives that by a reshape.
    """
    letters = list(letters)
    merge = len(kept) != 1 or len(summed) != 1
    swapped = letters == stack + summed + kept
    order = None
    if not swapped and letters != stack + kept + summed:
        order = tuple([letters.index(i) for i in stack + kept + summed])

    def run(x, sizes):
        if order is not None:
            x = x.transpose(order)
        if merge:
            rows, columns = math.prod([sizes[i] for i in kept]), math.prod([sizes[i] for i in summed])
            lead = tuple([sizes[i] for i in stack])
            x = x.reshape(lead + ((columns, rows) if swapped else (rows, columns)))
        return x.mT if swapped else x

    return run


def _elementwise(left, right, out):
    """The product of two arrays that are aligned by their letters."""
    align_left, align_right = _aligned(left, out), _aligned(right, out)
    return lambda a, b: align_left(a) * align_right(b)


def _aligned(letters, out):
    order = tuple([letters.index(i) for i in out if i in letters])
    index = tuple([slice(None) if i in letters else None for i in out])
    first = next((n for n, part in enumerate(index) if part is not None), len(index))
    index = index[first:]  # leading axes come by broadcasting
    permute, expand = order != tuple(range(len(order))), None in index

    def run(x):
        if permute:
            x = x.transpose(order)
        return x[index] if expand else x

    return run
