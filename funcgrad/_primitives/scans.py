"""Cumulative operations along one axis, a negative integer; `reverse` runs them from its end."""

import math

import numpy as np

from funcgrad._interpreters.batch import batch_alike
from funcgrad._primitives.kinds import constant, general, linear


def _along(axis, reverse, *arrays):
    """Views with the scanned axis in front, in the order of the scan."""
    arrays = [np.moveaxis(x, axis, 0) for x in arrays]
    return [x[::-1] for x in arrays] if reverse else arrays


# ---- sums ----------------------------------------------------------------------------------


@linear(structural=True)
def cumsum(x, *, axis, reverse=False, dtype=None):
    if not reverse:
        return np.add.accumulate(x, axis=axis, dtype=dtype)
    backwards = (..., slice(None, None, -1), *[slice(None)] * (-1 - axis))
    out = np.empty(x.shape, dtype or x.dtype)
    np.add.accumulate(x[backwards], axis=axis, out=out[backwards])
    return out


@cumsum.transpose
def cumsum_transpose(g, *, axis, reverse=False, dtype=None):
    return cumsum(g, axis=axis, reverse=not reverse)


# ---- linear recurrences: what the derivatives of products are, without division -------------


@general
def recurrence(a, b, *, axis, reverse=False):
    """The sequence z with z[0] = 0 and z[k + 1] = a[k] z[k] + b[k], as long as `a` and `b`.

    Its derivatives are recurrences of the same form, and the transpose is it in reverse.
    """
    out = np.empty(a.shape, np.result_type(a, b))
    if out.size:
        a, b, z = _along(axis, reverse, a, b, out)
        z[:] = _recur(a, b) if len(a) <= max(64, a[0].size) else _recur_in_blocks(a, b)
    return out


def _recur(a, b):
    """The recurrence along the first axis, step by step."""
    z = np.zeros(a.shape, np.result_type(a, b))
    for k in range(len(a) - 1):
        np.multiply(a[k], z[k], out=z[k + 1, ...])
        z[k + 1] += b[k]
    return z


def _recur_in_blocks(a, b):
    """The same for a long axis: blocks side by side, each from 0, then what each passes on to the next.

    That takes two times the square root of as many steps.
    """
    size = math.isqrt(len(a) - 1) + 1
    padding = [(0, -len(a) % size)] + [(0, 0)] * (a.ndim - 1)
    blocks = [np.pad(x, padding).reshape(-1, size, *x.shape[1:]).swapaxes(0, 1) for x in (a, b)]
    inside, factor = _recur(*blocks), np.ones_like(blocks[0])
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply.accumulate(blocks[0][:-1], out=factor[1:])
    if not np.isfinite(factor).all():  # a product of many may overflow where single steps do not
        return _recur(a, b)
    ends = blocks[0][-1] * factor[-1], blocks[0][-1] * inside[-1] + blocks[1][-1]
    z = inside + factor * _recur(*ends)
    return z.swapaxes(0, 1).reshape(-1, *a.shape[1:])[: len(a)]


@recurrence.jvp("a")
def recurrence_jvp_a(t, a, y, *, axis, reverse=False):
    return recurrence(a, t * y, axis=axis, reverse=reverse)


@recurrence.vjp("a")
def recurrence_vjp_a(g, a, y, *, axis, reverse=False):
    return y * recurrence(a, g, axis=axis, reverse=not reverse)


@recurrence.jvp("b")
def recurrence_jvp_b(t, a, *, axis, reverse=False):
    return recurrence(a, t, axis=axis, reverse=reverse)


@recurrence.vjp("b")
def recurrence_vjp_b(g, a, *, axis, reverse=False):
    return recurrence(a, g, axis=axis, reverse=not reverse)


recurrence.batch = batch_alike(recurrence)


# ---- products ------------------------------------------------------------------------------


@general
def products_before(x, *, axis, reverse=False):
    """For each entry the product of those before it, 1 for the first: `cumprod` is this times x."""
    out = np.ones_like(x)
    ordered, result = _along(axis, reverse, x, out)
    np.multiply.accumulate(ordered[:-1], axis=0, out=result[1:])
    return out


@products_before.jvp
def products_before_jvp(t, x, y, *, axis, reverse=False):
    return recurrence(x, t * y, axis=axis, reverse=reverse)


@products_before.vjp
def products_before_vjp(g, x, y, *, axis, reverse=False):
    return y * recurrence(x, g, axis=axis, reverse=not reverse)


# ---- running extrema -----------------------------------------------------------------------


def _repeats(x, *, axis):
    """Whether an entry equals the one before it."""
    out = np.zeros(x.shape, bool)
    x, result = _along(axis, False, x, out)
    np.equal(x[1:], x[:-1], out=result[1:])
    return out


repeats = constant(_repeats, name="repeats")


def _running(ufunc, name):
    """The running `maximum` or `minimum`: the derivative is shared equally among tied entries so far."""

    def impl(x, *, axis):
        return ufunc.accumulate(x, axis=axis)

    prim = general(impl, name=name)

    @prim.jvp
    def jvp(t, x, y, *, axis):
        stays = repeats(y, axis=axis).astype(t.dtype)
        hit = np.equal(x, y)
        share = np.where(hit, t, 0.0)
        ones = hit.astype(t.dtype)
        count = ones + stays * recurrence(stays, ones, axis=axis)
        return (share + stays * recurrence(stays, share, axis=axis)) / np.maximum(count, 1.0)

    return prim


cummax = _running(np.maximum, "cummax")
cummin = _running(np.minimum, "cummin")

# ---- phases --------------------------------------------------------------------------------


def _unwrap_jumps(x, period, discont, *, axis):
    """What `np.unwrap` adds to x: whole periods, so that no step is larger than half of one.

    A period and a threshold for each member of a stack have axes of size 1 after the stack's.
    """
    return np.unwrap(x, discont, axis, period=period) - x


unwrap_jumps = constant(_unwrap_jumps, name="unwrap_jumps")


def _unwrap_jumps_batch(values, batched, *, axis):
    x, *others = values
    size = next(v.shape[0] for v, b in zip(values, batched) if b)
    if not batched[0]:
        x = np.broadcast_to(x, (size, *x.shape))
    rank = x.ndim - 1
    others = [
        np.reshape(v, (size,) + (1,) * (rank - v.ndim + 1) + v.shape[1:]) if b else v
        for v, b in zip(others, batched[1:])
    ]
    return unwrap_jumps(x, *others, axis=axis)


unwrap_jumps.batch = _unwrap_jumps_batch
