"""`np.einsum`, in all its forms: a sequence of contractions of two, worked out once for given shapes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.boxes import Memory, link
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer
from funcgrad._primitives.contractions import contract, reindex
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.protocol import implements

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of sorting


@implements(np.einsum)
def einsum(*operands, out=None, optimize=False, **kwargs):
    if out is not None:
        raise errors.InPlaceError("np.einsum(..., out=...)", describe(*caller(2)))
    subscripts, arrays = _subscripts(operands)
    dtypes, dtype = [x.dtype for x in arrays], kwargs.get("dtype")
    if dtype or dtypes.count(dtypes[0]) != len(dtypes):
        # before anything is added up: sums of small integers would overflow
        dtype = dtype or np.result_type(*dtypes)
        arrays = [x if x.dtype == dtype else x.astype(dtype) for x in arrays]
    program = _program(subscripts, tuple([x.shape for x in arrays]), _path_kind(optimize))
    values = [prepare(x) if prepare else x for prepare, x in zip(program.prepare, arrays)]
    for left, right, product in program.products:
        values.append(contract(values[left], values[right], subscripts=product))
    result = values[-1]
    if program.view:
        link(arrays[0], result)
    elif isinstance(result, Tracer):
        result.memory = Memory("C", False)  # NumPy chooses an order
    return result


@implements(np.einsum_path)
def einsum_path(*operands, optimize="greedy", einsum_call=False):
    subscripts, arrays = _subscripts(operands)
    stand_ins = [np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in arrays]
    return np.einsum_path(subscripts, *stand_ins, optimize=optimize, einsum_call=einsum_call)


def _subscripts(operands) -> tuple[str, list[Any]]:
    """The subscripts as a string, and the arrays: of ``("ij,j", a, b)`` or of ``(a, [0, 1], b, [1])``."""
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), [asarray(x) for x in operands[1:]]
    arrays, lists = operands[:-1:2], operands[1::2]
    text = ",".join(map(_letters, lists))
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, [asarray(x) for x in arrays]


def _letters(indices) -> str:
    return "".join("..." if i is Ellipsis else _LETTERS[i] for i in indices)


def _path_kind(optimize):
    if optimize is True or optimize is False:
        return "greedy"
    return optimize if isinstance(optimize, str) else tuple(optimize)


class _Program:
    """What one call does: prepare each operand alone, then contract two after two.

    Attributes:
        prepare: for each operand None or what brings it into strict form.
        products: the numbers of two values, and the subscripts of their contraction, which is the next
            value after the operands and the products before it.
        view: whether NumPy's result is a view of the one operand.
    """

    def __init__(self, prepare, products, view):
        self.prepare, self.products, self.view = prepare, products, view


@lru_cache(maxsize=1024)
def _program(subscripts: str, shapes: tuple, optimize) -> _Program:
    stand_ins = [np.broadcast_to(0.0, shape) for shape in shapes]
    optimize = optimize if isinstance(optimize, str) else list(optimize)
    path = np.einsum_path(subscripts, *stand_ins, optimize=optimize)[0][1:]  # checks everything else
    terms, out = _explicit(subscripts, shapes, stand_ins)
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes):
        for letter, n in zip(term, shape):
            sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]

    indices = []
    for place, shape in enumerate(shapes):
        # a size of 1 broadcasts: the operand does not depend on that index
        kept = [n == sizes[letter] for letter, n in zip(terms[place], shape)]
        terms[place] = "".join(i for i, keep in zip(terms[place], kept) if keep)
        indices.append(None if all(kept) else tuple([slice(None) if keep else 0 for keep in kept]))
    prepare = []
    for place, index in enumerate(indices):
        others = "".join(terms[:place] + terms[place + 1 :]) + out
        target = "".join(dict.fromkeys(i for i in terms[place] if i in others))
        target = out if len(terms) == 1 else target
        prepare.append(_prepare(index, terms[place], target))
        terms[place] = target
    view = len(shapes) == 1 and set(out) == set(sizes)

    products = []
    numbers = list(range(len(terms)))  # of the values that are left
    for positions in path if len(terms) > 1 else ():
        rest = [t for p, t in enumerate(terms) if p not in positions]
        order = list(positions)
        while len(order) > 1:
            pair, order = (order[0], order[1]), order[2:]
            left, right = [terms[p] for p in pair]
            last = not order and not rest
            needed = "".join(rest + [terms[p] for p in order]) + out
            product = out if last else "".join(dict.fromkeys(i for i in left + right if i in needed))
            products.append((*[numbers[p] for p in pair], f"{left},{right}->{product}"))
            numbers = [n for p, n in enumerate(numbers) if p not in pair] + [len(shapes) + len(products) - 1]
            terms = [t for p, t in enumerate(terms) if p not in pair] + [product]
            order = [p - sum(q < p for q in pair) for p in order]
            if order:
                order.append(len(terms) - 1)
    return _Program(prepare, products, view)


def _prepare(index, source, target):
    if index is None and source == target:
        return None

    def prepare(x):
        if index is not None:
            x = x[index]
        return x if source == target else reindex(x, source=source, target=target)

    return prepare


def _explicit(subscripts, shapes, stand_ins) -> tuple[list[str], str]:
    """The operands' and the result's letters, with letters in place of each ellipsis."""
    inputs, arrow, out = subscripts.partition("->")
    terms = inputs.split(",")
    ranks = [len(s) - len(t) + 3 if "..." in t else 0 for t, s in zip(terms, shapes)]
    free = [i for i in _LETTERS if i not in subscripts]
    ellipsis = "".join(free[: max(ranks, default=0)])
    once = sorted(i for i in inputs if i.isalpha() and inputs.count(i) == 1)
    terms = [t.replace("...", ellipsis[len(ellipsis) - n :]) for t, n in zip(terms, ranks)]
    if not arrow:
        out = "..." + "".join(once)
    strange = bool(ellipsis) and "..." not in out
    for term, shape in zip(terms, shapes):
        strange |= any(n != shape[term.index(i)] for i, n in zip(term, shape))
    if strange:
        np.einsum(subscripts, *stand_ins)  # NumPy says what is wrong
    return terms, out.replace("...", ellipsis)
