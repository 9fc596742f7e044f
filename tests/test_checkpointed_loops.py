"""checkpointed_loop: derivatives of every order and mode, memory, repetitions, and what goes wrong."""

import functools
import gc
import glob
import os
import tracemalloc

import numpy as np
import pytest
from expect import in_threads

from funcgrad import (
    ShapeDtypeStruct,
    checkpoint,
    checkpointed_loop,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    tree,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad._interpreters.calls import closed_over
from funcgrad._primitives.checkpointed_loops import checkpointed
from funcgrad._primitives.schedules import Kept, advances, repetitions, split, usual_slots
from funcgrad._primitives.shelves import Memory

X, W, V = np.linspace(0.1, 1, 3), np.linspace(1, 2, 3), np.array([0.5, -1.0, 2.0])
N = 13
FACTORS = np.linspace(0.5, 1, N)


# ---- schedules -------------------------------------------------------------------------------


@functools.cache
def fewest(length, slots):
    """The fewest advances, by trying every state that may be kept next."""
    if length == 1:
        return 0
    if slots == 0:
        return 10**9
    return min(k + fewest(length - k, slots - 1) + fewest(k, slots) for k in range(1, length))


def test_the_formula_is_the_minimum():
    for slots in range(1, 8):
        for length in range(1, 50):
            assert advances(length, slots) == fewest(length, slots)
            if length > 1:
                k = split(length, slots)
                assert k + fewest(length - k, slots - 1) + fewest(k, slots) == fewest(length, slots)


def cost(positions, length, slots):
    gaps = zip(positions, [*positions[1:], length])
    return sum(advances(b - a, slots - i) for i, (a, b) in enumerate(gaps) if b - a > 1)


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8, 64])
@pytest.mark.parametrize("length", [*range(1, 40), 200, 1000, 12345])
def test_states_kept_on_the_way(slots, length):
    known, unknown = Kept(slots, length, Memory()), Kept(slots, None, Memory())
    for i in range(length):
        known.offer(i, [i])
        unknown.offer(i, [i])
        assert len(known.entries) <= slots + (i == length - 1)
        assert len(unknown.entries) <= slots
    for kept in (known, unknown):
        kept.finish(length)
    positions = [p for p, _ in known.take()]
    assert cost(positions, length, slots) == advances(length, slots) - (length - 1)
    assert known.take() == []
    assert cost([p for p, _ in unknown.take()], length, slots) <= advances(length, slots)


def test_usual_slots_advance_twice():
    for length in (1, 2, 10, 1000, 10_000):
        slots = usual_slots(length)
        assert repetitions(length, slots) <= 2
        assert slots == 1 or repetitions(length, slots - 1) > 2


def test_no_more_steps_than_the_formula_says():
    for length, slots in [(1, 1), (7, 1), (30, 2), (100, 3), (100, 10), (50, 80)]:
        calls = [0]

        def step(x, calls=calls):
            calls[0] += 1
            return np.sin(x)

        grad(lambda x, n=length, s=slots: checkpointed_loop(step, x, length=n, slots=s))(1.0)  # noqa: B023
        # to the end once, each step recorded once, and what is advanced in between
        assert calls[0] == length + length + advances(length, min(slots, length)) - (length - 1)


# ---- compositions ----------------------------------------------------------------------------


def plainly(body, init, xs, length, reverse=False):
    carry, ys = list(init), [None] * length
    for i in range(length - 1, -1, -1) if reverse else range(length):
        outs = body(*carry, *[x[i] for x in xs])
        carry, ys[i] = list(outs[: len(carry)]), outs[len(carry) :]
    return [*carry, *[np.stack(column) for column in zip(*ys)]]


def with_slots(slots, hinted=True, spill=None):
    def run(body, init, xs, length, reverse=False):
        hints = closed_over(body) if hinted else ()
        options = {"slots": slots, "spill": spill, "hints": hints}
        return checkpointed(body, init, xs, length=length, reverse=reverse, **options)

    return run


def closing(loop):
    """Closes over a traced value."""

    def f(x, w):
        (s,) = loop(lambda s: [np.sin(s * w) + 0.1 * s], [x], [], N)
        return np.sum(s * np.exp(-x) * w)

    return f


def scanning(loop):
    """Several leaves, one of them a number of the step; arrays that are read and made step by step."""

    def body(i, s, t, c, d):
        return [i + 1, np.sin(s * c) + 0.1 * t, t * 0.9 + s * d + i * 0.01, s * t]

    def f(x, w):
        xs = [FACTORS, np.outer(FACTORS, np.ones(3)) * w]
        _, s, t, y = loop(body, [0, x, w * 0.1], xs, N)
        return np.sum(s * t) + np.sum(y**2)

    return f


def reversed_(loop):
    """From the last step to the first; the first state is constant."""

    def f(x, w):
        body = lambda s, c: [np.cos(s * w) + c * x, s[0] * c]  # noqa: E731
        s, y = loop(body, [np.ones(3)], [np.outer(FACTORS, x)], N, True)
        return np.sum(s * w) + np.sum(y[2:5])

    return f


def nested(loop):
    def f(x, w):
        def outer(s):
            (t,) = loop(lambda t: [np.sin(t * w) + s * 0.2], [s], [], 3)
            return [t * x]

        (s,) = loop(outer, [x], [], 4)
        return np.sum(s * w)

    return f


PROGRAMS = {f.__name__: f for f in (closing, scanning, reversed_, nested)}
LOOPS = {
    "1 slot": with_slots(1),
    "3 slots": with_slots(3),
    "20 slots": with_slots(20),
    "no hints": with_slots(3, hinted=False),
    "disk": with_slots(3, spill="disk"),
}


def evaluated(f, *args):
    program = make_jaxpr(f)(*args)
    return lambda *values: eval_jaxpr(program, program.consts, *values)


TYPES = ShapeDtypeStruct((3,), float), ShapeDtypeStruct((3,), float)
BATCH = np.stack([X, X + 1])
TRANSFORMS = {
    "value": lambda f: f(X, W),
    "grad": lambda f: grad(f, (0, 1))(X, W),
    "grad of one": lambda f: grad(f, 1)(X, W),
    "jvp": lambda f: jvp(f, (X, W), (V, V)),
    "linearize": lambda f: linearize(f, X, W)[1](V, V),
    "linearize grad": lambda f: linearize(grad(f), X, W)[1](V, V),
    "hessian": lambda f: hessian(f, (0, 1))(X, W),
    "hvp": lambda f: hvp(f)(X, W, V),
    "jacrev of grad": lambda f: jacrev(grad(f, 1), (0, 1))(X, W),
    "grad of jvp": lambda f: grad(lambda w: jvp(lambda x: f(x, w), (X,), (V,))[1])(W),
    "jvp of jvp": lambda f: jvp(lambda x: jvp(lambda x: f(x, W), (x,), (V,))[1], (X,), (V,)),
    "vmap": lambda f: vmap(f, (0, None))(BATCH, W),
    "vmap of grad": lambda f: vmap(grad(f, (0, 1)), (0, None))(BATCH, W),
    "grad of vmap": lambda f: grad(lambda x, w: np.sum(vmap(f, (0, None))(x, w) ** 2), (0, 1))(BATCH, W),
    "grad of vmap of grad": lambda f: grad(lambda x: np.sum(vmap(grad(f), (0, None))(x, W) ** 2))(BATCH),
    "inner and outer": lambda f: grad(lambda w: np.sum(grad(lambda x: f(x, w) * f(2 * x, w))(X)))(W),
    "program": lambda f: evaluated(f, X, W)(X, W),
    "program of grad": lambda f: evaluated(grad(f, (0, 1)), X, W)(X, W),
    "grad of program": lambda f: grad(lambda x, w: evaluated(f, x, w)(x, w)[0], (0, 1))(X, W),
    "grad of types": lambda f: grad(lambda x: evaluated(f, *TYPES)(x, W)[0])(X),
    "types of grad": lambda f: evaluated(grad(f, (0, 1)), *TYPES)(X, W),
    "checkpoint": lambda f: grad(checkpoint(f), (0, 1))(X, W),
    "third": lambda f: grad(lambda x: np.sum(grad(lambda x: np.sum(grad(f)(x, W) ** 2))(x) ** 2))(X),
}


def agree(found, expected, rtol=1e-10):
    found, expected = tree.leaves(found), tree.leaves(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-11)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python_s_loop(program, transform):
    few = ["3 slots"] if transform == "third" else LOOPS
    expected = TRANSFORMS[transform](PROGRAMS[program](plainly))
    for name in few:
        agree(TRANSFORMS[transform](PROGRAMS[program](LOOPS[name])), expected)


# ---- the public function ---------------------------------------------------------------------


def grows(x, w, slots=4, **options):
    """A loop of unknown length; the state is a tree."""
    step = lambda s: {"a": s["a"] * (1 + 0.1 * w), "n": s["n"] + 1}  # noqa: E731
    end = checkpointed_loop(step, {"a": x, "n": 0}, until=lambda s: s["a"] > 9.0, slots=slots, **options)
    return end["a"] * w


def grows_plainly(x, w):
    while x <= 9.0:
        x = x * (1 + 0.1 * w)
    return x * w


@pytest.mark.parametrize("slots", [1, 2, 5, 100])
def test_unknown_length(slots):
    f = functools.partial(grows, slots=slots)
    for transform in (
        lambda f: value_and_grad(f, (0, 1))(1.3, 1.0),
        lambda f: hessian(f, (0, 1))(1.3, 1.0),
        lambda f: jacrev(grad(f), (0, 1))(1.3, 1.0),
        lambda f: jvp(f, (1.3, 1.0), (1.0, 2.0)),
        lambda f: f(10.0, 1.0),
        lambda f: grad(f, (0, 1))(10.0, 1.0),
    ):
        agree(transform(f), transform(grows_plainly))


def test_unknown_length_in_a_batch():
    starts = np.array([1.3, 12.0, 4.0])
    for f in (lambda x: grows(x, 1.0), grad(lambda x: grows(x, 1.0)), grad(grad(lambda x: grows(x * x, x)))):
        agree(vmap(f)(starts), np.array([f(x) for x in starts]))
    agree(
        grad(lambda x: np.sum(vmap(lambda x: grows(x, x))(x)))(starts),
        np.array([grad(lambda x: grows(x, x))(x) for x in starts]),
    )


def test_unknown_length_that_is_limited():
    assert grows(1.0, 1.0, length=3) == pytest.approx(1.1**3)
    assert grad(functools.partial(grows, length=3))(1.0, 1.0) == pytest.approx(1.1**3)
    program = make_jaxpr(lambda x: grows(x, 1.0, length=3))(ShapeDtypeStruct((), float))
    assert eval_jaxpr(program, program.consts, 1.0)[0] == pytest.approx(1.1**3)
    assert eval_jaxpr(program, program.consts, 8.9)[0] == pytest.approx(8.9 * 1.1)


@pytest.mark.parametrize("given", [1.3, ShapeDtypeStruct((), float)])
def test_reverse_mode_in_a_program_needs_a_length(given):
    with pytest.raises(errors.StagedDerivativeError):
        make_jaxpr(grad(lambda x: grows(x, 1.0)))(given)


def test_the_number_of_the_step():
    f = lambda x: checkpointed_loop(lambda s, i: s + x**i, 0.0, length=4)  # noqa: E731
    assert f(2.0) == 15.0
    assert grad(f)(2.0) == 1 + 4 + 12
    assert vmap(f)(np.array([2.0, 1.0])).tolist() == [15.0, 4.0]


def test_no_steps():
    f = lambda x: checkpointed_loop(np.sin, x, length=0) * x  # noqa: E731
    assert grad(f)(3.0) == 6.0
    assert grad(grad(f))(3.0) == 2.0


def test_leaves_without_derivative():
    def step(s):
        x, count, mask, scale = s
        return np.where(mask, x * scale, x), count + 1, ~mask, scale

    def f(x):
        state = (x, np.int64(0), np.array([True, False]), 2.0 + 0j)
        end, count, _, _ = checkpointed_loop(step, state, length=3, slots=2)
        return np.real(np.sum(end)) + count

    agree(grad(f)(np.array([1.0 + 0j, 1.0])), np.array([4.0, 2.0]))


def test_a_leaf_that_begins_to_depend_late():
    """Only in the seventh step, which runs backwards after others, does the second leaf get its share."""

    def step(s, i):
        a, b, c = s
        return a * 1.1, b + (a if i == 7 else 0.0), c + b

    f = lambda a: np.sum(np.stack(checkpointed_loop(step, (a, 0.0, 0.0), length=10, slots=3)))  # noqa: E731
    assert grad(f)(1.0) == pytest.approx(1.1**10 + 3 * 1.1**7)


def test_structural_zeros_pass():
    def step(s):
        x, y = s
        return x, np.where(x > 0, y, 0.0)

    def f(x):
        return np.sum(checkpointed_loop(step, (x, np.sqrt(x)), length=5, slots=2)[1])

    agree(grad(f)(np.array([0.0, 4.0])), np.array([0.0, 0.25]))
    f = lambda x: np.sum(checkpointed_loop(lambda s: s[::-1], np.where(x > 0, np.sqrt(x), 0), length=3))  # noqa: E731
    agree(grad(f)(np.array([0.0, 4.0])), np.array([0.0, 0.25]))

    def scanned(x):
        roots = np.sqrt(x)
        body = lambda s, r, positive: [s + np.where(positive, r, 0.0)]  # noqa: E731
        return checkpointed(body, [0.0], [roots, x > 0], length=2)[0]

    agree(grad(scanned)(np.array([0.0, 4.0])), np.array([0.0, 0.25]))


def test_a_cotangent_that_reaches_nothing():
    f = lambda x: checkpointed_loop(lambda s: (s[0], s[1] + 1.0), (x, 0.0), length=3)[1]  # noqa: E731
    assert vjp(f, 2.0)[1](1.0) == (0.0,)


def test_float32_and_other_layouts():
    x = np.asfortranarray(np.ones((3, 2), np.float32))
    f = lambda x: np.sum(checkpointed_loop(lambda s: s * np.float32(1.5), x, length=3, slots=1))  # noqa: E731
    found = grad(f)(x)
    assert found.dtype == np.float32
    agree(found, np.full((3, 2), 1.5**3))


def test_steps_that_write_to_their_state():
    def step(s):
        s += 0.5 * np.sin(s)
        return s

    def f(x):
        return np.sum(checkpointed_loop(step, x * 2.0, length=6, slots=2))

    def plainly(x):
        s = x * 2.0
        for _ in range(6):
            s = s + 0.5 * np.sin(s)
        return np.sum(s)

    x = X.copy()
    agree(value_and_grad(f)(x), value_and_grad(plainly)(x))
    end = checkpointed_loop(step, x, length=2)
    assert (x == X).all()
    end += 1.0  # and so may the caller


# ---- memory ----------------------------------------------------------------------------------


def peak(f, *args):
    gc.collect()
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rotated(x):
    return np.roll(x, 1) + 0.001 * np.sin(x)


def test_memory_is_that_of_the_slots():
    size, length, slots = 50_000, 200, 8
    x = np.ones(size)
    f = lambda x: np.sum(checkpointed_loop(rotated, x, length=length, slots=slots))  # noqa: E731
    grad(f)(x)
    used, a_step = peak(grad(f), x), peak(grad(lambda x: np.sum(rotated(x))), x)
    assert used < 1.5 * slots * x.nbytes + a_step
    by_bytes = lambda x: np.sum(checkpointed_loop(rotated, x, length=length, max_bytes=8.5 * x.nbytes))  # noqa: E731
    assert peak(grad(by_bytes), x) < 1.5 * slots * x.nbytes + a_step
    unknown = lambda x: np.sum(  # noqa: E731
        checkpointed_loop(
            lambda s: (rotated(s[0]), s[1] + 1), (x, 0), until=lambda s: s[1] == length, slots=slots
        )[0]
    )
    agree(grad(unknown)(x), grad(f)(x))
    assert peak(grad(unknown), x) < 1.5 * slots * x.nbytes + a_step


def test_states_on_disk(tmp_path):
    x = np.ones(20_000)
    f = lambda x: np.sum(  # noqa: E731
        checkpointed_loop(rotated, x, length=100, slots=50, spill=str(tmp_path))
    )
    agree(grad(f)(x), grad(lambda x: np.sum(checkpointed_loop(rotated, x, length=100)))(x))
    a_step = peak(grad(lambda x: np.sum(rotated(x))), x)
    assert peak(grad(f), x) < 10 * x.nbytes + a_step
    gc.collect()
    assert os.listdir(tmp_path) == []
    out, pull = vjp(f, x)
    assert glob.glob(str(tmp_path / "*" / "*"))
    assert (pull(1.0)[0] == pull(1.0)[0]).all()
    del out, pull
    gc.collect()
    assert os.listdir(tmp_path) == []
    agree(
        hvp(f)(x[:2000], x[:2000]),
        hvp(lambda x: np.sum(checkpointed_loop(rotated, x, length=100)))(x[:2000], x[:2000]),
    )


def test_files_go_after_an_exception(tmp_path):
    def step(s, i):
        if i == 30:
            raise RuntimeError("on the way")
        return s * 1.0

    with pytest.raises(RuntimeError, match="on the way"):
        grad(lambda x: np.sum(checkpointed_loop(step, x, length=50, spill=str(tmp_path))))(np.ones(1000))
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_second_order_memory_grows_with_the_logarithm():
    x = np.ones(20_000)

    def second(length):
        f = lambda x: np.sum(checkpointed_loop(rotated, x, length=length, slots=4))  # noqa: E731
        return lambda x: grad(lambda x: np.sum(grad(f)(x) ** 2))(x)

    short, long = peak(second(32), x), peak(second(256), x)
    assert long < 3 * short  # 8 times the steps, twice as many levels


@pytest.mark.slow
def test_a_hundred_thousand_steps():
    length, slots, size = 100_000, 64, 4000
    x, calls = np.linspace(0, 1, size), [0]

    def step(x):
        calls[0] += 1
        return x + 1e-4 * np.sin(x)

    f = grad(lambda x: np.sum(checkpointed_loop(step, x, length=length, slots=slots)))
    a_step = peak(grad(lambda x: np.sum(step(x))), x)
    calls[0] = 0
    tracemalloc.start()
    found = f(x)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 1.5 * slots * x.nbytes + a_step
    assert repetitions(length, slots) == 4
    assert calls[0] == 2 * length + advances(length, slots) - (length - 1)
    factors = np.ones(size)
    for _ in range(length):  # d x_n / d x_0, entry by entry
        factors, x = factors * (1 + 1e-4 * np.cos(x)), x + 1e-4 * np.sin(x)
    agree(found, factors, rtol=1e-9)


# ---- what goes wrong -------------------------------------------------------------------------


def test_impure_steps_are_found_out():
    random = np.random.default_rng(0)
    for noise in (lambda: random.normal(size=3), lambda: 1 + 1e-6 * random.normal()):
        f = lambda x: np.sum(checkpointed_loop(lambda s: s * noise(), x, length=9, slots=2))  # noqa: B023,E731
        with pytest.raises(errors.ImpureFunctionError):
            grad(f)(np.ones(3))


def test_a_step_that_reads_other_traced_values():
    class Hidden:
        pass

    def f(x, y):
        hidden, seen = Hidden(), []
        hidden.x, hidden.y = x, y

        def step(s):
            seen.append(s)
            return s * (hidden.x if len(seen) <= 10 else hidden.y)  # the forward sweep runs twice, to find x

        return checkpointed_loop(step, 1.0, length=5, slots=2)

    with pytest.raises(errors.ImpureFunctionError, match="read other traced values"):
        grad(f, (0, 1))(1.0, 1.0)


def test_arrays_that_change_are_found_out():
    x, c = np.ones(3), np.full(3, 2.0)
    pull = vjp(lambda x: checkpointed_loop(lambda s: s * 1.5, x, length=3), x)[1]
    x[0] = 7.0
    with pytest.raises(errors.ChangedResidualError):
        pull(np.ones(3))
    pull = vjp(lambda y: checkpointed_loop(lambda s: s * y, c, length=3), np.ones(3))[1]
    c[0] = 7.0
    with pytest.raises(errors.ChangedResidualError):
        pull(np.ones(3))
    d = np.full(3, 2.0)
    pull = vjp(lambda y: checkpointed_loop(lambda s: s * d, y, length=3), np.ones(3))[1]
    d[0] = 7.0
    with pytest.raises(errors.ChangedResidualError, match="checkpointed_loop"):
        pull(np.ones(3))


def test_states_that_change_their_type():
    for step in (lambda s: np.append(s, 1.0), lambda s: (s,), lambda s: s.astype(np.float32)):
        with pytest.raises(errors.CarryTypeError):
            checkpointed_loop(step, np.ones(2), length=3)


def test_arguments():
    with pytest.raises(ValueError, match="length, or until"):
        checkpointed_loop(np.sin, 1.0)
    with pytest.raises(ValueError, match="negative"):
        checkpointed_loop(np.sin, 1.0, length=-1)
    for options in ({"slots": 0}, {"max_bytes": 4}):
        with pytest.raises(errors.CheckpointBudgetError):
            checkpointed_loop(np.sin, 1.0, length=3, **options)


def test_two_threads_pull_one_vjp():
    x = np.linspace(0, 1, 50)
    f = lambda x: np.sum(checkpointed_loop(rotated, x, length=60, slots=3))  # noqa: E731
    expected = grad(f)(x)
    pull = vjp(f, x)[1]
    for found in in_threads(lambda: pull(1.0)[0], 6):
        agree(found, expected)
