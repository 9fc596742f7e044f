"""What calls keep and hand out: no rule changes another's values, no change of a kept one goes unseen."""

import gc

import numpy as np
import pytest

from funcgrad import (
    checkpoint,
    checkpointed_loop,
    custom_jvp,
    custom_root,
    custom_vjp,
    errors,
    float0,
    grad,
    jvp,
    linearize,
    vjp,
    vmap,
)

X = np.array([0.3, 0.8, -0.5])
ONES = np.ones(3)


def by_jvp(f):
    custom = custom_jvp(f)
    custom.defjvp(lambda primals, tangents: jvp(f, primals, tangents))
    return custom


def by_vjp(f):
    custom = custom_vjp(f)
    custom.defvjp(lambda *args: (f(*args), args), lambda args, ct: vjp(f, *args)[1](ct))
    return custom


CALLS = {"checkpoint": checkpoint, "custom_jvp": by_jvp, "custom_vjp": by_vjp}
FUNCTIONS = {
    "itself": lambda x: x,
    "a view": lambda x: x[::-1],
    "twice": lambda x: (x, x[None]),
    "a constant": lambda x: (x, 2.0),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_results_can_be_written_to(f, call):
    f = CALLS[call](FUNCTIONS[f])
    results = [jvp(f, (X,), (ONES,)), vjp(f, X)[0], linearize(f, X)[0]]
    results += [vmap(f)(np.stack([X] * n).reshape(n, 3)) for n in (1, 2)]
    for array in _arrays(results):
        assert array.flags.writeable


def _arrays(x):
    if isinstance(x, (tuple, list)):
        return [array for part in x for array in _arrays(part)]
    return [x] if isinstance(x, np.ndarray) else []


def test_an_array_that_must_not_be_written_to_stays_so():
    fixed = X.copy()
    fixed.flags.writeable = False
    assert not vjp(checkpoint(lambda x: x), fixed)[0].flags.writeable
    assert not vjp(checkpoint(lambda x: np.broadcast_to(x, (2, 3))), X)[0].flags.writeable


def sine_by_jvp():
    sine = custom_jvp(np.sin)

    @sine.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        t *= np.cos(x)
        return np.sin(x), t

    return sine


def sine_by_vjp():
    sine = custom_vjp(np.sin)

    def bwd(residuals, ct):
        cosine = residuals.pop()
        cosine *= 2
        ct *= cosine
        return (ct / 2,)

    sine.defvjp(lambda x: (np.sin(x), [np.cos(x)]), bwd)
    return sine


@pytest.mark.parametrize("make", [sine_by_jvp, sine_by_vjp])
def test_a_rule_may_change_what_it_is_given(make):
    sine, given = make(), ONES.copy()
    slope = np.cos(X)

    def f(x):
        y = 1.0 * x
        return sine(y) + y

    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(X), slope + 1)
    _, pull = vjp(sine, X)
    for _ in range(2):
        np.testing.assert_allclose(pull(given)[0], slope)
    _, push = linearize(f, X)
    for _ in range(2):
        np.testing.assert_allclose(push(given), slope + 1)
    np.testing.assert_allclose(jvp(f, (X,), (given,))[1], slope + 1)
    assert np.all(given == 1)


@custom_vjp
def product(x, w):
    return x * w


product.defvjp(lambda x, w: (x * w, (x, w)), lambda kept, ct: (ct * kept[1], ct * kept[0]))


@custom_jvp
def product_by_jvp(x, w):
    return x * w


product_by_jvp.defjvps(lambda t, out, x, w: t * w, lambda t, out, x, w: x * t)


def scaled(w, x):
    return x * w


scaled = custom_vjp(scaled, nondiff_argnums=0)
scaled.defvjp(lambda w, x: (x * w, None), lambda w, kept, ct: (ct * w,))


def root(x, w):
    def newton(f, y):
        for _ in range(60):
            y = y - f(y) / (1 + 3 * y**2)
        return y

    return custom_root(lambda y: y**3 + y - x * w, np.zeros(w.shape), newton)


READERS = {
    "bwd": product,
    "jvp": product_by_jvp,
    "nondiff": lambda x, w: scaled(w, x),
    "loop": lambda x, w: checkpointed_loop(lambda y: np.sin(y) * w + x, 0.0 * x, length=5, slots=2),
    "root": root,
}


@pytest.mark.parametrize("size", [3, 20000])  # every entry of a large one counts, too
@pytest.mark.parametrize("derive", [vjp, linearize])
@pytest.mark.parametrize("reader", [r for r in READERS if r != "root"])
def test_an_array_that_a_rule_reads_is_watched(reader, derive, size):
    x, w = np.full(size, 0.3), np.full(size, 0.5)
    _, move = derive(lambda x: READERS[reader](x, w), x)
    expected = move(np.ones(size))
    w[1] += 1.0
    if derive is linearize and reader in ("nondiff", "loop"):  # what these keep was computed before
        try:
            np.testing.assert_allclose(move(np.ones(size)), expected)
        except errors.ChangedResidualError:
            pass
        return
    with pytest.raises(errors.ChangedResidualError):
        move(np.ones(size))


@pytest.mark.parametrize("derive", [vjp, linearize])
def test_a_solution_is_watched(derive):
    """The derivative is taken at the solution, which the caller has in hand."""
    w = np.array([0.5, 0.6, 0.7])
    solution, move = derive(lambda x: root(x, w), X.copy())
    solution[1] += 1.0
    with pytest.raises(errors.ChangedResidualError):
        move(ONES)


def test_a_traced_value_that_a_loop_closes_over_is_watched():
    x = np.full(20000, 0.3)
    _, pull = vjp(lambda x: checkpointed_loop(lambda y: np.sin(y) * x, np.ones(20000), length=5, slots=2), x)
    x[1] += 1.0
    with pytest.raises(errors.ChangedResidualError):
        pull(np.ones(20000))


def test_the_cotangent_of_a_result_without_derivative_has_its_shape():
    seen = []
    f = custom_vjp(lambda x: (x > 0, x * x))
    f.defvjp(lambda x: (f(x), x), lambda x, cts: (seen.append(cts[0]), (2 * x * cts[1],))[1])
    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)[1]))(X), 2 * X)
    np.testing.assert_allclose(vmap(grad(lambda x: np.sum(f(x)[1])))(X[None])[0], 2 * X)
    assert [(ct.shape, ct.dtype == float0) for ct in seen] == [((3,), True)] * 2


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("derive", [lambda f: grad(lambda x: np.sum(f(x))), lambda f: vjp(f, X)[1]])
def test_memory_goes_at_once(call, derive):
    """What a call leaves on a tape makes no cycle, which would wait for Python's collector."""
    f = CALLS[call](np.sin)
    gc.collect()
    gc.disable()
    try:
        derive(f)(X)
        assert gc.collect() == 0
    finally:
        gc.enable()
