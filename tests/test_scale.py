"""Long programs take linear time and memory, without recursion; what is no longer read is freed at once."""

import gc
import time
import tracemalloc
import weakref

import numpy as np
import pytest
from expect import same

from funcgrad import (
    check_jaxpr,
    debug_nans,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad._core.tape import Tape
from funcgrad._core.tracer import Tracer

V = np.array([1.0, 2.0, 3.0])


# ---- long programs -------------------------------------------------------------------------


def chain(n):
    def f(x):
        for _ in range(n):
            x = np.sin(x)
        return x

    return f


def reads(n):
    def f(x):
        total = 0.0
        for i in range(n):
            total = total + x[i] * x[i]
        return total

    return f


LONG = {
    "grad": lambda f: grad(f)(0.5),
    "vjp": lambda f: vjp(f, 0.5)[1](1.0),
    "jvp": lambda f: jvp(f, (0.5,), (1.0,)),
    "linearize": lambda f: linearize(f, 0.5)[1](1.0),
    "hvp": lambda f: hvp(f)(0.5, 1.0),
    "grad-grad": lambda f: grad(grad(f))(0.5),
    "hessian": lambda f: hessian(f)(0.5),
    "vmap": lambda f: vmap(f)(V),
    "make_jaxpr": lambda f: make_jaxpr(f)(0.5),
    "check": lambda f: check_jaxpr(make_jaxpr(f)(0.5)),
    "eval": lambda f: eval_jaxpr(make_jaxpr(f)(0.5), [], 0.5),
    "print": lambda f: str(make_jaxpr(f)(0.5)),
    "debug": lambda f: debug_nans()(grad(f))(0.5),
}


def seconds(run):
    """The processor time of the faster of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("run", LONG.values(), ids=LONG)
def test_time_is_linear_in_the_program(run):
    run(chain(100))
    short, long = (seconds(lambda n=n: run(chain(n))) / n for n in (1_000, 10_000))
    assert long < 4 * short + 1e-6


def test_a_hundred_thousand_operations():
    n = 100_000
    value, slope = value_and_grad(chain(n))(0.5)
    x, expected = 0.5, 1.0
    for _ in range(n):
        expected, x = expected * np.cos(x), np.sin(x)
    np.testing.assert_allclose([value, slope], [x, expected], rtol=1e-9)


@pytest.mark.slow
def test_a_million_operations():
    n = 1_000_000
    short = seconds(lambda: grad(chain(10_000))(0.5)) / 10_000
    assert seconds(lambda: grad(chain(n))(0.5)) / n < 3 * short
    same(jvp(chain(n), (0.5,), (1.0,))[1], grad(chain(n))(0.5), rtol=1e-9)


@pytest.mark.parametrize("run", [
    lambda f, x: grad(f)(x),
    lambda f, x: hvp(f)(x, x),
    lambda f, x: jvp(f, (x,), (x,)),
    lambda f, x: linearize(f, x)[1](x),
], ids=["grad", "hvp", "jvp", "linearize"])  # fmt: skip
def test_reading_entry_by_entry_takes_linear_time(run):
    run(reads(100), np.ones(100))
    short, long = (seconds(lambda n=n: run(reads(n), np.ones(n))) / n for n in (500, 5_000))
    assert long < 4 * short + 1e-6
    same(grad(reads(5))(np.arange(5.0)), 2 * np.arange(5.0))


# ---- memory --------------------------------------------------------------------------------


def program(x):
    y = np.tanh(x) * x
    y = np.where(y > 0.5, np.sqrt(y), y)
    y = np.concatenate([y, x[:2]])
    return np.sum(y * y) + x[0] * x[1]


RUNS = {
    "grad": lambda: grad(program)(V),
    "value_and_grad": lambda: value_and_grad(program)(V),
    "aux": lambda: grad(lambda x: (program(x), 2.0 * x), has_aux=True)(V),
    "vjp": lambda: vjp(program, V)[1](1.0),
    "jvp": lambda: jvp(program, (V,), (V,)),
    "linearize": lambda: linearize(program, V)[1](V),
    "hvp": lambda: hvp(program)(V, V),
    "hessian": lambda: hessian(program)(V),
    "jacfwd": lambda: jacfwd(program)(V),
    "jacrev": lambda: jacrev(lambda x: x * program(x))(V),
    "grad-grad": lambda: grad(lambda x: np.sum(grad(program)(x)))(V),
    "vmap": lambda: vmap(grad(program))(np.stack([V, V])),
    "make_jaxpr": lambda: make_jaxpr(grad(program))(V),
    "debug_nans": lambda: debug_nans()(grad(program))(V),
}


def failing():
    for f in (lambda x: 1 / 0, lambda x: x, lambda x: float(x[0]), lambda x: np.sum(np.sqrt(x - x))):
        try:
            with debug_nans():
                grad(f)(V)
        except (ArithmeticError, TypeError):
            pass


RUNS["failing"] = failing


def traced_objects():
    return {id(o): o for o in gc.get_objects() if isinstance(o, (Tape, Tracer))}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_no_reference_cycles(run):
    run()
    gc.collect()
    gc.disable()
    others = traced_objects()  # what tests before this one have stored on purpose
    try:
        run()
        alive = traced_objects()
        assert not [alive[key] for key in alive.keys() - others.keys()]
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.fixture
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_arrays_are_freed_at_once(without_collector):
    followed = []

    def f(x):
        constant = np.linspace(0.0, 1.0, 3)
        y = np.exp(x)
        followed.extend([weakref.ref(y.value), weakref.ref(constant)])
        return np.sum(y * constant)

    grad(f)(V)
    assert [r() for r in followed] == [None, None]
    followed.clear()
    out, pull = vjp(f, V)
    assert all(r() is not None for r in followed)  # residuals, as long as they may be read
    pull(1.0)
    pull(1.0)
    del pull
    assert [r() for r in followed] == [None, None]
    followed.clear()
    jvp(lambda x: followed.append(weakref.ref((y := np.exp(x)).value)) or np.sum(y), (V,), (V,))
    assert followed[0]() is None


def test_aux_is_not_kept_by_a_gradient(without_collector):
    _, aux = grad(lambda x: (np.sum(x * x), {"y": 2.0 * x}), has_aux=True)(V)
    reference = weakref.ref(aux["y"])
    del aux
    assert reference() is None


def peak(run):
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_a_tape():
    def size(n):
        tracemalloc.start()
        try:
            kept = vjp(chain(n), 0.5)
            return tracemalloc.get_traced_memory()[0] / n
        finally:
            tracemalloc.stop()
            del kept

    assert size(2_000) < 600 and size(20_000) < 600  # bytes for an operation


def test_a_gradient_keeps_what_its_rules_read():
    x = np.ones(100_000)
    array = x.nbytes

    def linear(x):
        for _ in range(50):
            x = 2.0 * x + 1.0
        return np.sum(x)

    def nonlinear(x):
        for _ in range(20):
            x = np.tanh(x)
        return np.sum(x)

    assert peak(lambda: grad(linear)(x)) < 6 * array
    assert peak(lambda: grad(nonlinear)(x)) < 26 * array  # one array for each tanh
    assert peak(lambda: jvp(nonlinear, (x,), (x,))) < 8 * array


def test_one_constant_is_kept_once():
    weights = np.linspace(0.5, 1.0, 1_000)

    def f(x):
        for _ in range(500):
            x = x * weights
        return np.sum(x)

    assert peak(lambda: grad(f)(np.ones(1_000))) < 1_000_000  # not 500 copies of 8 kB
