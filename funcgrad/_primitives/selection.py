"""Selections: where, maximum and their like, and the functions with a kink.

A selection says which entries of its output depend on an argument at all (`live`); the others are
structural zeros of the cotangent. At a tie the derivative is shared equally.
"""

import numpy as np

from funcgrad._primitives.kinds import elementwise


def _zero_of(g):
    return np.zeros((), g.dtype)


where = elementwise(
    np.where,
    None,
    lambda g, c: np.where(c, g, _zero_of(g)),
    lambda g, c: np.where(c, _zero_of(g), g),
    args="c a b",
    live=(None, lambda c: c, lambda c: np.logical_not(c)),
)


def _share(g, wins, ties):
    """The share of one of two arguments: all where it wins, half at a tie, a true 0 elsewhere."""
    return np.where(ties, 0.5 * g, np.where(wins, g, _zero_of(g)))


def _extremum(ufunc, wins):
    """maximum and its like; an argument that is NaN, and makes the output NaN, wins."""

    def first(g, y, a, b):
        return _share(g, wins(a, b) | (a != a), a == b)

    def second(g, y, a, b):
        return _share(g, wins(b, a) | (b != b), a == b)

    return elementwise(
        ufunc,
        first,
        second,
        live=(
            lambda a, b: wins(a, b) | (a == b) | (a != a),
            lambda a, b: wins(b, a) | (a == b) | (b != b),
        ),
    )


def _extremum_of_numbers(ufunc, wins):
    """fmax and its like: an argument that is NaN loses."""

    def first(g, a, b):
        return _share(g, wins(a, b) | (b != b), a == b)

    def second(g, a, b):
        return _share(g, wins(b, a) | (a != a), a == b)

    return elementwise(
        ufunc,
        first,
        second,
        live=(
            lambda a, b: wins(a, b) | (a == b) | (b != b),
            lambda a, b: wins(b, a) | (a == b) | (a != a),
        ),
    )


def _greater(a, b):
    return np.greater(a, b)


def _less(a, b):
    return np.less(a, b)


maximum = _extremum(np.maximum, _greater)
minimum = _extremum(np.minimum, _less)
fmax = _extremum_of_numbers(np.fmax, _greater)
fmin = _extremum_of_numbers(np.fmin, _less)
