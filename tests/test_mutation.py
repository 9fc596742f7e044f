"""Arrays that change: yours are never modified, and one that the derivative needs is an error if you do."""

import numpy as np
import pytest
from expect import line_of, same

from funcgrad import (
    errors,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad._core.fingerprints import fingerprint

SIZES = pytest.mark.parametrize("n", [3, 2_000, 100_000, 1_000_000])


def line(n, start=1.0):
    return np.linspace(start, start + 1.0, n)


# ---- what the derivative needs ---------------------------------------------------------------


def changed(run, f, text, operation):
    """`run` raises, and the message names the line of `f` that holds `text`."""
    with pytest.raises(errors.ChangedResidualError) as caught:
        run()
    assert caught.value.operation == operation
    assert caught.value.where.startswith(line_of(f, text)) and "x.copy()" in str(caught.value)


def square(x):
    y = 2.0 * x
    return x * x + y


CHANGES = {
    "all": lambda a: a.__imul__(3.0),
    "one": lambda a: a.__setitem__(a.size // 3, 7.0),
    "first": lambda a: a.__setitem__(0, 7.0),
    "last": lambda a: a.__setitem__(-1, 7.0),
    "swap": lambda a: a.__setitem__([0, 1], a[[1, 0]]),
    "reversed": lambda a: a.__setitem__(slice(None), a[::-1].copy()),
    "nan": lambda a: a.__setitem__(1, np.nan),
    "one-ulp": lambda a: a.__setitem__(1, np.nextafter(a[1], 9.0)),
}


@SIZES
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_input_changed_after_the_forward_pass(change, n):
    for prepare in (
        lambda x: (lambda pull: lambda: pull(np.ones(n)))(vjp(square, x)[1]),
        lambda x: (lambda push: lambda: push(np.ones(n)))(linearize(square, x)[1]),
    ):
        x = line(n)
        run = prepare(x)
        same(run() if not isinstance(run(), tuple) else run()[0], 2 * x + 2)
        change(x)
        changed(run, square, "x * x", "square")


@SIZES
def test_a_constant_changed_after_the_forward_pass(n):
    weights = line(n)

    def f(x):
        y = x - weights  # not read by the derivative
        return y * weights

    _, pull = vjp(f, line(n))
    _, push = linearize(f, line(n))
    weights[n // 2] += 1e-9
    changed(lambda: pull(np.ones(n)), f, "y * weights", "multiply")
    changed(lambda: push(np.ones(n)), f, "y * weights", "multiply")


@SIZES
def test_an_output_changed_before_the_pull(n):
    def f(x):
        return np.exp(x), {"s": np.sum(x)}

    (out, _), pull = vjp(f, line(n))
    out[1] = 0.0
    changed(lambda: pull((np.ones(n), {"s": 1.0})), f, "np.exp(x)", "exp")


def test_aux_changed_before_the_pull():
    def f(x):
        y = np.exp(x)
        return np.sum(y), {"y": y, "z": 2.0 * x}

    _, pull, aux = vjp(f, line(5), has_aux=True)
    aux["z"][0] = 0.0  # no derivative reads it
    same(pull(1.0), (np.exp(line(5)),))
    aux["y"][0] = 0.0
    changed(lambda: pull(1.0), f, "np.exp(x)", "exp")


@pytest.mark.parametrize(
    "f, operation",
    [
        (lambda x, i: x[i], "gather"),
        (lambda x, i: np.where(i > 1, x, 0.0) * i, "multiply"),
        (lambda x, i: np.sum(x * i), "multiply"),
    ],
    ids=["index", "selection", "product"],
)
def test_integer_operands_count_too(f, operation):
    i = np.array([2, 0, 1])
    out, pull = vjp(lambda x: f(x, i), line(3))
    i[0] = 1
    with pytest.raises(errors.ChangedResidualError) as caught:
        pull(np.ones_like(out))
    assert caught.value.operation == operation


WORK = {
    "matvec": lambda x, k: k @ x,
    "vecmat": lambda x, k: x @ k,
    "dot": lambda x, k: np.dot(k, x),
    "einsum": lambda x, k: np.einsum("ij,j->i", k, x),
    "tensordot": lambda x, k: np.tensordot(k, x, 1),
    "view": lambda x, k: k[:, ::-1].T[::-1] @ x,
    "solve": lambda x, k: np.linalg.solve(k, x),
    "convolve": lambda x, k: np.convolve(k.ravel(), x)[: x.size],
}


@pytest.mark.parametrize("read", WORK.values(), ids=WORK)
def test_one_entry_of_a_large_array_that_the_function_makes(read):
    """A sample of its entries would not show it: such an array is the function's own to write to."""

    def f(x, change):
        k = np.eye(200)
        y = read(x, k)
        if change:
            k[17, 23] = 5.0
        return np.sum(read(y, k) ** 2)

    grad(f)(np.ones(200), False)
    with pytest.raises(errors.ChangedResidualError):
        grad(f)(np.ones(200), True)


def test_a_large_index_that_the_function_makes():
    def f(x):
        index = np.arange(20_000) % 50
        y = x[index]
        index[1_234] = 7
        return np.sum(y * x[index])

    with pytest.raises(errors.ChangedResidualError, match="gather"):
        grad(f)(np.linspace(1.0, 2.0, 50))


def test_a_view_of_an_input_counts():
    base = line(2_000)
    _, pull = vjp(lambda x: x[2:] * x[:-2], base[5:])
    base[1_000] = 0.0
    with pytest.raises(errors.ChangedResidualError, match="multiply"):
        pull(np.ones(1_993))


@SIZES
def test_a_buffer_that_the_function_uses_again(n):
    def f(x, fill):
        buffer, total = np.zeros(n), 0.0
        for i in range(3):
            fill(buffer, i)
            total = total + np.sum(x * buffer)
        return total

    fills = [lambda b, i: b.fill(i), lambda b, i: b.__setitem__(i, 1.0 + i), lambda b, i: b.__iadd__(1.0)]
    for fill in fills:
        for run in (lambda: grad(f)(line(n), fill), lambda: jacrev(f)(line(n), fill)):
            changed(run, f, "x * buffer", "multiply")
    same(grad(f)(line(n), lambda b, i: None), np.zeros(n))
    forward = jvp(lambda x: f(x, fills[0]), (line(n),), (np.ones(n),))[1]  # values are used at once
    same(forward, 3.0 * n)


def test_changed_and_changed_back_is_no_change():
    x = line(5)
    _, pull = vjp(square, x)
    x[0] += 1.0
    x[0] -= 1.0
    same(pull(np.ones(5)), (2 * x + 2,))


@pytest.mark.parametrize(
    "f",
    [lambda x: 3.0 * x, lambda x: np.sum(x), lambda x: x[1:], lambda x: x, lambda x: x + np.sin(line(5))],
    ids=["scale", "sum", "slice", "identity", "add"],
)
def test_what_no_derivative_reads_may_change(f):
    x = line(5)
    out, pull = vjp(f, x)
    before = pull(np.ones_like(out))
    x[0] = 9.0
    same(pull(np.ones_like(out)), before)
    _, push = linearize(f, x)
    x[0] = 7.0
    push(x)
    transposed = linear_transpose(lambda x: 3.0 * x, x)
    x[0] = 5.0
    same(transposed(np.ones(5)), (np.full(5, 3.0),))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(300, 1024), (1024, 300), (40, 50, 60), (100_000, 1)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.bool, np.longdouble])
def test_fingerprints(shape, order, dtype):
    rng = np.random.default_rng(0)
    a = np.asarray(rng.integers(0, 2, size=shape).astype(dtype), order=order)
    for view in (a, a[::2], a.T, a[..., ::-1]):
        for whole in (True, False):
            assert fingerprint(view, whole) == fingerprint(view, whole)
        for _ in range(5):
            entry = tuple(rng.integers(n) for n in view.shape)
            before = fingerprint(view, True)
            view[entry] = not view[entry]
            assert fingerprint(view, True) != before
    sampled = fingerprint(a, False)
    a[: shape[0] // 2] = a[: shape[0] // 2] == 0
    assert fingerprint(a, False) != sampled


def test_a_fingerprint_of_a_broadcast_array_is_cheap():
    a = np.broadcast_to(line(1_000), (1_000_000, 1_000))  # 8 GB if it were copied
    assert fingerprint(a, True) != fingerprint(np.broadcast_to(line(1_000) * 2, a.shape), True)


# ---- the user's arrays -----------------------------------------------------------------------

PROGRAMS = {
    "identity": lambda x, y: x,
    "both": lambda x, y: (x, y, x),
    "add": lambda x, y: x + y,
    "transpose": lambda x, y: x.T,
    "reshape": lambda x, y: np.reshape(x, -1),
    "slice": lambda x, y: x[:, 1:],
    "broadcast": lambda x, y: np.broadcast_to(x, (2, 3, 3)),
    "loop": lambda x, y: sum(x[i] for i in range(3)),
    "linear": lambda x, y: 2.0 * x - y,
    "in-place": lambda x, y: (x.__iadd__(1.0), x)[1],
    "stack": lambda x, y: np.stack([x, y, x]),
    "nonlinear": lambda x, y: np.tanh(x) * y,
    "unused": lambda x, y: np.ones(3),
    "real": lambda x, y: np.real(x) + np.conj(y),
    "copy": lambda x, y: x.copy(),
    "where": lambda x, y: np.where(x > 5.0, x, y),
}


def arrays():
    return np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3) + 1.0


def leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree] if isinstance(tree, np.ndarray) else []


def independent(results, givens):
    """Results are writeable arrays that share memory neither with each other nor with what was given."""
    results, givens = leaves(results), leaves(givens)
    for i, r in enumerate(results):
        assert r.flags.writeable
        assert not any(np.shares_memory(r, other) for other in [*results[:i], *givens])


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives_share_memory_with_nothing(f):
    x, y = arrays()
    out, pull = vjp(f, x, y)
    ct = [np.ones_like(o) for o in out] if isinstance(out, tuple) else np.ones_like(out)
    ct = tuple(ct) if isinstance(out, tuple) else ct
    givens = [x, y, leaves(out), leaves(ct)]
    first = pull(ct)
    independent(first, givens)
    second = pull(ct)
    independent([first, second], givens)
    for r in leaves(first):
        r[...] = np.nan
    same(pull(ct), second)
    x_dot, y_dot = arrays()
    primal, t = jvp(f, (x, y), (x_dot, y_dot))
    independent(t, [x, y, x_dot, y_dot, leaves(primal)])
    _, push = linearize(f, x, y)
    t = push(x_dot, y_dot)
    independent(t, [x, y, x_dot, y_dot])
    for r in leaves(t):
        r[...] = np.nan
    same(push(x_dot, y_dot), jvp(f, (x, y), (x_dot, y_dot))[1])
    independent(jacrev(f, (0, 1))(x, y), [x, y])
    independent(jacfwd(f, (0, 1))(x, y), [x, y])
    same((x, y, x_dot, y_dot), arrays() + arrays())
    same(ct, tuple(np.ones_like(c) for c in ct) if isinstance(ct, tuple) else np.ones_like(ct))


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_gradients_share_memory_with_nothing(f):
    def loss(x, y):
        out = f(x, y)
        return sum(np.sum(part * part) for part in (out if isinstance(out, tuple) else (out,)))

    x, y = arrays()
    independent(grad(loss, (0, 1))(x, y), [x, y])
    independent(value_and_grad(loss, (0, 1))(x, y)[1], [x, y])
    v = arrays()
    independent(hvp(loss, (0, 1))(x, y, v), [x, y, v])
    independent(hessian(loss, (0, 1))(x, y), [x, y])
    same((x, y, *v), arrays() + arrays())


@pytest.mark.parametrize("f", [lambda x: x, lambda x: x.T, lambda x: np.ones(2), lambda x: 2.0 * x])
@pytest.mark.parametrize("out_axes", [0, -1])
def test_vmap_gives_arrays_that_may_be_written(f, out_axes):
    x = np.arange(12.0).reshape(3, 2, 2)
    out = vmap(f, out_axes=out_axes)(x)
    assert out.flags.writeable
    same(out, np.stack([np.asarray(f(m)) for m in x], axis=out_axes))


def test_augmented_assignment_acts_on_the_functions_own_value():
    def f(x):
        x += 1.0
        x *= x
        return np.sum(x)

    x = line(3)
    same(grad(f)(x), 2 * (line(3) + 1))
    same(jvp(f, (x,), (np.ones(3),))[1], np.sum(2 * (line(3) + 1)))
    same(hessian(f)(x), 2 * np.eye(3))
    same(vmap(f)(x[:, None]), (line(3) + 1) ** 2)
    same(x, line(3))


def test_every_name_of_an_array_sees_it_change():
    def f(x):
        y = x
        y += 1.0
        return np.sum(x * x)

    same(grad(f)(line(3)), 2 * (line(3) + 1))


def test_a_scalar_is_rebound_as_python_rebinds_it():
    def f(x):
        y = x
        y += 1.0
        return x * y

    same(grad(f)(3.0), 7.0)
    same(grad(f)(np.float64(3.0)), 7.0)
