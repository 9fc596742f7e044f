"""Sampled functions and data: interpolation, convolution, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad._core.tracer import Tracer, concrete
from funcgrad._primitives.convolution import convolve as convolve_
from funcgrad._primitives.reductions import bincount as bincount_
from funcgrad._primitives.sorting import searchsorted
from funcgrad.numpy.arguments import numbers_of, refuse_traced
from funcgrad.numpy.creation import asarray
from funcgrad.numpy.indexing import take
from funcgrad.numpy.protocol import implements
from funcgrad.numpy.reductions import cast
from funcgrad.numpy.updates import index_add

# ---- interpolation -------------------------------------------------------------------------


@implements(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = asarray(x), asarray(xp), asarray(fp)
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0] or (period is not None and period == 0):
        np.interp(0.0, np.zeros(xp.shape), np.zeros(fp.shape), period=period)  # NumPy's error
    x, xp = cast(x, np.float64), cast(xp, np.float64)
    fp = cast(fp, np.complex128 if fp.dtype.kind == "c" else np.float64)
    if period is not None:
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = np.argsort(xp, stable=True)
        xp, fp = take(xp, order), take(fp, order)
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    left, right = (fp[0] if left is None else left), (fp[-1] if right is None else right)
    if xp.shape[0] == 1:
        inside = fp[0]
    else:
        # the interval to the right of a knot, but for the last one
        i = np.clip(searchsorted(xp, x, side="right") - 1, 0, xp.shape[0] - 2)
        x0, f0 = take(xp, i), take(fp, i)
        inside = (take(fp, i + 1) - f0) / (take(xp, i + 1) - x0) * (x - x0) + f0
    return np.where(x < xp[0], left, np.where(x > xp[-1], right, inside))


# ---- convolution ---------------------------------------------------------------------------


@implements(np.convolve)
def convolve(a, v, mode="full"):
    a, v = _vectors(a, v, np.convolve)
    longer, shorter = (a, v) if a.shape[0] >= v.shape[0] else (v, a)
    return _part(longer, shorter, mode, flipped=False)


@implements(np.correlate)
def correlate(a, v, mode="valid"):
    if not np.ndim(a) or not np.ndim(v):
        np.correlate(np.zeros(np.shape(a)), np.zeros(np.shape(v)))  # NumPy's error
    a, v = _vectors(a, v, np.correlate)
    v = (np.conj(v) if v.dtype.kind == "c" else v)[::-1]
    if a.shape[0] >= v.shape[0]:
        return _part(a, v, mode, flipped=False)
    return _part(v, a, mode, flipped=True)


def _vectors(a: Any, v: Any, function: Any) -> tuple[Any, Any]:
    vectors = [np.reshape(x, 1) if x.ndim == 0 else x for x in (asarray(a), asarray(v))]
    if any(x.ndim != 1 or not x.shape[0] for x in vectors):
        function(*[np.zeros(x.shape) for x in vectors])  # NumPy's error
    return tuple(vectors)


def _part(longer: Any, shorter: Any, mode: str, flipped: bool) -> Any:
    """The part of a full convolution that a mode asks for; `flipped` when NumPy would reverse the result."""
    mode = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if mode not in ("valid", "same", "full"):
        np.convolve([1.0], [1.0], mode)  # NumPy's error
    if mode == "valid":
        return convolve_(longer, shorter, valid=True)
    full = convolve_(longer, shorter)
    if mode == "full":
        return full
    size = shorter.shape[0]
    start = size // 2 if flipped else size - 1 - size // 2
    return full[start : start + longer.shape[0]]


# ---- histograms ----------------------------------------------------------------------------


@implements(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    refuse_traced("bincount", "x", x)
    bins, weights = np.asarray(x), asarray(weights)
    if bins.ndim != 1 or bins.shape != weights.shape or weights.dtype.kind == "c":
        np.bincount(bins, np.zeros(weights.shape, weights.dtype), minlength)  # NumPy's error
    bins = bins.astype(np.intp)  # booleans are numbers here, and no mask
    return bincount_(weights, bins, length=np.bincount(bins, minlength=minlength).shape[0])


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if not isinstance(bins, (str, int, np.integer)):
        edges = asarray(bins)
        if not isinstance(edges, Tracer):
            np.histogram_bin_edges(np.zeros(0), edges)  # NumPy's error, if they fall
        return edges
    x = np.reshape(asarray(a), -1)
    if isinstance(bins, str):
        if weights is not None:
            np.histogram_bin_edges(np.zeros(1), bins, weights=np.ones(1))  # NumPy's error
        refuse_traced("histogram", f"batch with bins={bins!r}", concrete(x))
        bins = np.histogram_bin_edges(concrete(x), bins, range).shape[0] - 1
    if range is not None or not x.size:
        return np.histogram_bin_edges(np.zeros(0, x.dtype), int(bins), range or (0.0, 1.0))
    first, last = np.minimum.reduce(x), np.maximum.reduce(x)
    equal = np.equal(first, last)
    first, last = np.where(equal, first - 0.5, first), np.where(equal, last + 0.5, last)
    steps = np.arange(bins, dtype=first.dtype) * ((last - first) / bins)
    return np.concatenate([first + steps, np.reshape(last, 1)])


@implements(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    x = np.reshape(asarray(a), -1)
    edges = histogram_bin_edges(x, bins, range, weights)
    count = edges.shape[0] - 1
    # one bin below and one above the range; the last one inside takes its upper edge
    places = searchsorted(edges, x, side="right")
    places = np.where(np.equal(x, edges[-1]), count, places)
    entries = np.ones(x.shape) if weights is None else np.reshape(asarray(weights), -1)
    if np.can_cast(entries.dtype, np.float64):
        heights = bincount_(entries, places, length=count + 2)
    else:
        heights = index_add(np.zeros(count + 2, entries.dtype), places, entries)
    heights = heights[1:-1]
    heights = heights.astype(np.intp if weights is None else entries.dtype)
    if density:
        heights = heights / cast(edges[1:] - edges[:-1], np.float64) / np.sum(heights)
    return heights, edges


@implements(np.histogramdd)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    if not hasattr(sample, "shape"):  # NumPy takes one array for each axis
        sample = np.atleast_2d(asarray(sample)).T if np.ndim(sample[0]) == 0 else np.stack(sample, -1)
    points = asarray(sample)
    points = np.atleast_2d(points).T if points.ndim < 2 else points
    _, axes = points.shape
    bins = [bins] * axes if isinstance(bins, (int, np.integer)) else list(bins)
    if len(bins) != axes or (range is not None and len(range) != axes):
        np.histogramdd(np.zeros((1, axes)), bins, range)  # NumPy's error
    entries = np.ones(points.shape[0]) if weights is None else asarray(weights)
    np.bincount([0], np.zeros(1, entries.dtype))  # NumPy's error, if it is complex
    entries = cast(entries, np.float64)
    edges, flat, lengths = [], 0, []
    for i, (own, limits) in enumerate(zip(bins, range or [None] * axes)):
        x = points[:, i]
        if np.ndim(own) == 0:
            own = np.linspace(*_outer_edges(x, limits), own + 1)
        own = asarray(own)
        places = searchsorted(own, x, side="right")
        places = places - np.equal(x, own[-1])  # the last bin takes its upper edge
        edges.append(own)
        lengths.append(own.shape[0] + 1)
        flat = flat * lengths[-1] + places
    heights = cast(np.reshape(bincount_(entries, flat, length=int(np.prod(lengths))), lengths), np.float64)
    heights = heights[(slice(1, -1),) * axes]
    if density:
        total = np.sum(heights)
        for i, own in enumerate(edges):
            heights = heights / np.reshape(np.diff(own), (-1,) + (1,) * (axes - 1 - i))
        heights = heights / total
    return heights, edges


def _outer_edges(x: Any, limits: Any) -> tuple[Any, Any]:
    """Where bins of equal width start and end."""
    if limits is not None or not x.size:
        edges = np.histogram_bin_edges(np.zeros(0), 1, limits)
        return edges[0], edges[-1]
    first, last = np.min(x), np.max(x)
    known = numbers_of(first), numbers_of(last)
    if any(v is not None and not np.all(np.isfinite(v)) for v in known):
        np.histogram_bin_edges(np.array([np.nan]))  # NumPy's error
    equal = np.equal(first, last)
    return np.where(equal, first - 0.5, first), np.where(equal, last + 0.5, last)


@implements(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if np.ndim(bins) == 1 and len(bins) not in (1, 2):
        bins = [bins, bins]
    heights, (rows, columns) = histogramdd(
        np.stack([asarray(x), asarray(y)], -1), bins, range, density, weights
    )
    return heights, rows, columns
