"""Derivatives at equal eigenvalues: where the rules for eigenvectors divide 0 by 0.

A function that does not depend on which vectors are chosen for a repeated eigenvalue has a derivative there.
In reverse mode `quotient` finds it as a limit, with the help of `funcgrad._interpreters.split`, or refuses.
In forward mode no limit is needed: among the vectors of a repeated eigenvalue those are taken that the
direction of differentiation chooses, as perturbation theory does.
"""

import itertools

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.types import ShapeDtypeStruct
from funcgrad._interpreters.batch import batch_leading
from funcgrad._interpreters.reverse import fit
from funcgrad._primitives.contractions import reindex
from funcgrad._primitives.kinds import constant, general
from funcgrad._primitives.linalg import real_dtype

# ---- differences ---------------------------------------------------------------------------


def tolerances(values):
    """Differences up to which eigenvalues are equal, and up to which a limit is better than the quotient."""
    scale = np.max(np.abs(values), axis=-1, initial=0.0)[..., None, None]
    eps = np.finfo(values.dtype).eps
    return 8 * (values.shape[-1] + 4) * eps * scale, eps**0.5 * scale


def _size(*arrays):
    """The largest absolute entry of (a stack of) matrices."""
    largest = [np.max(np.abs(x), axis=(-2, -1), keepdims=True, initial=0.0) for x in arrays]
    return largest[0] if len(largest) == 1 else np.maximum(*largest)


def _negligible(x, *references):
    """Which entries are 0 up to what remains of cancelling entries like these."""
    return np.abs(x) <= np.finfo(references[0].dtype).eps ** 0.4 * _size(*references)


def gaps(w):
    """At [i, j]: ``w[j] - w[i]``; infinity on the diagonal, for a vector does not turn towards itself."""
    infinity = np.diag(np.full(w.shape[-1], np.inf, real_dtype(w.dtype)))
    return w[..., None, :] - w[..., :, None] + infinity


def diagonal(x):
    return reindex(x, source="ii", target="i")


# ---- the quotient --------------------------------------------------------------------------


@general
def quotient(k, d, values, *references, function, poles):
    """``k / d``, where `d` are differences of eigenvalues (or sums of singular ones).

    Where they vanish `k` must vanish too, or the result depends on the choice of eigenvectors. Then it is
    an error if `poles` is "refuse", or "unknown" in a second derivative; "nan" gives NaN and "zero" 0. One or
    two `references` tell with what size `k` is to be compared.
    """
    return _limit((k, d, values, *references), (None, None), function=function, poles=poles)[0]


def _limit(arguments, parts, *, function, poles):
    """The quotient and its part in eps, by the parts in eps where the finite ones vanish."""
    (k, d, values, *references), (k1, d1) = arguments, parts[:2]
    equal, near = tolerances(values)
    close = np.abs(d) <= near
    if not np.any(close):
        y = k / d
        if k1 is None and d1 is None:
            return y, None
        return y, ((0 if k1 is None else k1) - y * (0 if d1 is None else d1)) / d
    zero = np.zeros(np.broadcast_shapes(k.shape, d.shape), np.result_type(k.dtype, d.dtype))
    equal = close & (np.abs(d) <= equal)
    k, d = k + zero, d + zero
    k1, d1 = [zero if part is None else part + zero for part in (k1, d1)]
    with np.errstate(all="ignore"):
        direct, limit = k / d, k1 / d1
        known = close & _negligible(k - limit * d, *references)
        y = np.where(known, limit, direct)
        # the part in eps of a limit would take second parts of k and d: whoever asks for it gets NaN
        y1 = np.where(close, np.nan, (k1 - direct * d1) / d)
    unknown = close & np.isnan(k1)
    wrong = (equal | unknown) & ~known
    if np.any(wrong):
        if poles in ("refuse", "unknown"):
            _refuse(function, values, wrong, poles == "unknown" or np.any(unknown))
        y = np.where(wrong, 0 if poles == "zero" else np.nan, y)
    return y.astype(zero.dtype), y1.astype(zero.dtype)


def _refuse(function, values, wrong, unknown):
    *stack, _, j = np.argwhere(wrong)[0]
    values = np.broadcast_to(values, wrong.shape[:-2] + values.shape[-1:])[tuple(stack)]
    equal, near = tolerances(values)
    group = np.flatnonzero(np.abs(values - values[j]) <= (near if unknown else equal)[0])
    group = tuple([int(i) for i in group])
    where = describe(*caller(2))
    raise errors.RepeatedEigenvalueError(function, group, values[j].item(), bool(unknown), where)


quotient.limit = _limit
quotient.batching(batch_leading(quotient, (2, 2, 1, 2, 2)))


@quotient.jvp("k")
def quotient_jvp_k(t, d, values, *, function, poles):
    return quotient(t, d, values, t, function=function, poles=poles)


@quotient.vjp("k")
def quotient_vjp_k(g, d, values, k_shape, *, function, poles):
    return fit(quotient(g, d, values, g, function=function, poles="unknown"), k_shape, None)


@quotient.jvp("d")
def quotient_jvp_d(t, y, d, values, *, function, poles):
    k = -y * t
    return quotient(k, d, values, k, function=function, poles=poles)


@quotient.vjp("d")
def quotient_vjp_d(g, y, d, values, d_shape, *, function, poles):
    k = -g * y
    return fit(quotient(k, d, values, k, function=function, poles="unknown"), d_shape, None)


@quotient.typing
def quotient_type(k, d, *others, function, poles):
    return ShapeDtypeStruct(np.broadcast_shapes(k.shape, d.shape), np.result_type(k.dtype, d.dtype))


# ---- what must not matter ------------------------------------------------------------------


def _require_alike(g, values, *, function):
    """Where only eigenvalues are used, equal ones must count alike: their order says nothing."""
    equal, _ = tolerances(values)
    same = np.abs(gaps(values)) <= equal
    g = g[..., None, :]
    wrong = same & ~_negligible(g - g.mT, g)
    if np.any(wrong):
        _refuse(function, values, wrong, False)
    return wrong


require_alike = constant(_require_alike, "require_alike")
require_alike.batch = batch_leading(require_alike, (1, 1))
require_alike.typed = lambda g, values, **params: ShapeDtypeStruct(
    np.broadcast_shapes(g.shape, values.shape) + g.shape[-1:], bool
)


def _require_zero(x, reference, *, function, error):
    """An error if the function depends on what is arbitrary; `x` is how it does."""
    if not np.all(_negligible(x, reference)):
        raise error(function, describe(*caller(2)))
    return x


require_zero = constant(_require_zero, "require_zero")
_require_zero_leading = batch_leading(require_zero, (2, 2))


def _require_zero_batch(values, batched, **params):
    x, reference = values
    if not batched[0]:  # what is returned has the batch
        x = np.broadcast_to(x, (reference.shape[0], *x.shape))
    return _require_zero_leading((x, reference), (True, batched[1]), **params)


require_zero.batch = _require_zero_batch
require_zero.typed = lambda x, reference, **params: x


def require_no_phase(k, function, reference=None):
    """`k`, vectors times cotangent, is real on the diagonal unless the phase of the vectors matters."""
    if k.dtype.kind == "c":
        phase = np.imag(diagonal(k)[..., None])
        reference = k if reference is None else reference
        require_zero(phase, reference, function=function, error=errors.EigenvectorPhaseError)


# ---- the direction chooses -----------------------------------------------------------------


def groups(values):
    """The slices of equal entries of a sorted array, of two and more."""
    equal = tolerances(values)[0][0]
    ends = [0, *(np.flatnonzero(np.abs(np.diff(values)) > equal) + 1).tolist(), len(values)]
    return [slice(i, j) for i, j in itertools.pairwise(ends) if j - i > 1]


def choose(rule, t, values, *arrays):
    """Apply ``rule(t, values, *arrays)``, which works in place on single matrices, to copies of stacks."""
    stack = np.broadcast_shapes(t.shape[:-2], values.shape[:-1])
    t = np.broadcast_to(t, stack + t.shape[-2:])
    values = np.array(np.broadcast_to(values, stack + values.shape[-1:]))
    arrays = [np.array(np.broadcast_to(x, stack + x.shape[-2:])) for x in arrays]
    for i in np.ndindex(stack):
        rule(t[i], values[i], *[x[i] for x in arrays])
    return values, *arrays
