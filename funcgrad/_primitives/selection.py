"""Selections: where, maximum and their like, and the functions with a kink.

A selection says which entries of its output depend on an argument at all (`live`); the others are
structural zeros of the cotangent. At a tie the derivative is shared equally.
"""

import numpy as np

from funcgrad._core.tracer import Tracer
from funcgrad._primitives.kinds import elementwise


def nowhere(mask) -> bool:
    """Whether a mask is known to be empty everywhere, so that a rule can do without selecting by it."""
    return not (isinstance(mask, Tracer) or np.count_nonzero(mask))  # a third of the time of any()


def zero_of(g):
    """The other choice of a selection. (A Python 0.0 would make `where` take twice the time.)"""
    return np.zeros((), g.dtype)


where = elementwise(
    np.where,
    None,
    lambda g, c: np.where(c, g, zero_of(g)),
    lambda g, c: np.where(c, zero_of(g), g),
    args="c a b",
    live=(None, lambda c: c, lambda c: np.logical_not(c)),
)


def _share(g, live, ties):
    """The share of one of two arguments: all where it is live, half at a tie, a true 0 elsewhere."""
    share = np.where(live, g, zero_of(g))
    return share if nowhere(ties) else np.where(ties, 0.5 * g, share)


def _extremum(ufunc, reaches, nan_wins):
    """maximum and its like: an argument is live where it reaches the other, or as NaN stands or gives way."""

    def live(own, other):
        number = own if nan_wins else other
        return reaches(own, other) | np.not_equal(number, number)

    def share(g, own, other):
        return _share(g, live(own, other), np.equal(own, other))

    return elementwise(
        ufunc,
        lambda g, a, b: share(g, a, b),
        lambda g, a, b: share(g, b, a),
        live=(lambda a, b: live(a, b), lambda a, b: live(b, a)),
    )


maximum = _extremum(np.maximum, np.greater_equal, nan_wins=True)
minimum = _extremum(np.minimum, np.less_equal, nan_wins=True)
fmax = _extremum(np.fmax, np.greater_equal, nan_wins=False)
fmin = _extremum(np.fmin, np.less_equal, nan_wins=False)
