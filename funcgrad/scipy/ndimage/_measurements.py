"""Statistics of labelled regions; the labels are constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from funcgrad._core.tracer import concrete
from funcgrad.numpy.arguments import refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.operators import _known
from funcgrad.numpy.protocol import implements
from funcgrad.scipy.ndimage._common import floats


class _Regions:
    """The regions that are asked for, and to which of them each sample belongs.

    Attributes:
        of: for each sample the number of its region; the last number stands for none.
        count: how many regions there are.
        shape: of the results.
    """

    def __init__(self, function: str, x: Any, labels: Any, index: Any):
        refuse_traced(f"scipy.ndimage.{function}", "labels", labels)
        refuse_traced(f"scipy.ndimage.{function}", "index", index)
        self.inverse = None
        if labels is None:
            if index is not None:
                raise ValueError("index without defined labels")
            of = np.zeros(x.shape, int)
            self.count, self.shape = 1, ()
        else:
            labels = np.broadcast_to(np.asarray(labels), x.shape)
            if index is None:
                of, self.count, self.shape = np.where(labels > 0, 0, 1), 1, ()
            else:
                index = np.asarray(index)
                wanted, self.inverse = np.unique(index.reshape(-1), return_inverse=True)
                self.count, self.shape = len(wanted), index.shape
                place = np.clip(np.searchsorted(wanted, labels), 0, max(self.count - 1, 0))
                of = np.where(wanted[place] == labels, place, self.count) if self.count else labels * 0
        self.of = of.reshape(-1)

    def sums(self, x: Any) -> Any:
        """For each region the sum of its samples."""
        return np.bincount(self.of, np.reshape(x, -1), self.count + 1)[: self.count]

    def counts(self) -> np.ndarray:
        return np.bincount(self.of, minlength=self.count + 1)[: self.count].astype(float)

    def spread(self, values: Any) -> Any:
        """For each sample the value of its region."""
        return np.concatenate([values, np.zeros(1)])[self.of]

    def result(self, values: Any) -> Any:
        values = values if self.inverse is None else values[self.inverse.reshape(-1)]
        return np.reshape(values, self.shape)[()]


def _double(x: Any) -> Any:
    x = floats(x)
    if x.dtype.kind == "c":
        raise TypeError("complex samples have no statistics of regions")
    return x if x.dtype == np.float64 else x.astype(np.float64)


@implements(ndimage.sum_labels, ndimage.sum)
def sum_labels(input, labels=None, index=None):
    x = _double(input)
    if labels is None or index is None:
        chosen = x if labels is None else np.where(np.broadcast_to(labels, x.shape) > 0, x, 0.0)
        refuse_traced("scipy.ndimage.sum_labels", "labels", labels)
        return np.sum(chosen)
    regions = _Regions("sum_labels", x, labels, index)
    return regions.result(regions.sums(x))


@implements(ndimage.mean)
def mean(input, labels=None, index=None):
    x = _double(input)
    regions = _Regions("mean", x, labels, index)
    return regions.result(regions.sums(x) / regions.counts())


def _variance(function: str, input: Any, labels: Any, index: Any) -> Any:
    x = _double(input)
    regions = _Regions(function, x, labels, index)
    away = np.reshape(x, -1) - regions.spread(regions.sums(x) / regions.counts())
    return regions.result(regions.sums(away * away) / regions.counts())


@implements(ndimage.variance)
def variance(input, labels=None, index=None):
    return _variance("variance", input, labels, index)


@implements(ndimage.standard_deviation)
def standard_deviation(input, labels=None, index=None):
    out = _variance("standard_deviation", input, labels, index)
    flat = np.equal(concrete(out), 0)
    return np.where(flat, 0.0, np.sqrt(np.where(flat, 1.0, out)))[()]  # the derivative at 0 is 0


def _selected(own: Any, reduce: Any):
    def selected(input, labels=None, index=None):
        x = _double(input).astype(asarray(input).dtype)
        regions = _Regions(own.__name__, x, labels, index)
        flat = np.reshape(x, -1)
        members = [np.flatnonzero(regions.of == i) for i in range(regions.count)]
        values = [reduce(flat[m]) if m.size else np.zeros((), x.dtype) for m in members]
        return regions.result(np.stack(values))

    return implements(own)(selected)


maximum = _selected(ndimage.maximum, np.max)
minimum = _selected(ndimage.minimum, np.min)
median = _selected(ndimage.median, np.median)


@implements(ndimage.center_of_mass)
def center_of_mass(input, labels=None, index=None):
    x = _double(input)
    total = sum_labels(x, labels, index)
    grids = np.meshgrid(*[np.arange(float(n)) for n in x.shape], indexing="ij", sparse=True)
    centres = [sum_labels(x * g, labels, index) / total for g in grids]
    if total.ndim == 0:
        return tuple(centres)
    return [tuple([c[i] for c in centres]) for i in np.ndindex(total.shape)]


@implements(ndimage.label)
def label(input, structure=None, output=None):
    """The regions of an image are constant: their numbers are plain."""
    return ndimage.label(_known(asarray(input), "label(x)") != 0, structure, output)


@implements(ndimage.extrema)
def extrema(input, labels=None, index=None):
    """The extremes follow the image; their positions are constant."""
    known = _known(asarray(input), "extrema(x)")
    places = ndimage.extrema(known, labels, index)[2:]
    return minimum(input, labels, index), maximum(input, labels, index), *places
