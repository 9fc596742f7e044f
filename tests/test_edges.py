"""At the edges: the language around a function, closures, threads, exceptions, leaked tracers."""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from expect import here, line_of, same

from funcgrad import (
    debug_nans,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    stop_gradient,
    vjp,
    vmap,
)

V = np.array([1.0, 2.0, 3.0])

#: Derivatives of a scalar function at a number, each by another transform.
DERIVATIVES = {
    "grad": grad,
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0)[0],
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "vmap": lambda f: lambda x: np.sum(vmap(grad(f))(np.stack([x]))),
    "make_jaxpr": lambda f: lambda x: eval_jaxpr(p := make_jaxpr(grad(f))(x), p.consts, x)[0],
}
EACH = pytest.mark.parametrize("d", DERIVATIVES.values(), ids=DERIVATIVES)
#: Of values that are known: a branch on a batch is an error.
KNOWN = {name: d for name, d in DERIVATIVES.items() if name != "vmap"}
EACH_KNOWN = pytest.mark.parametrize("d", KNOWN.values(), ids=KNOWN)


# ---- the language --------------------------------------------------------------------------


@EACH
def test_recursion(d):
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert d(lambda x: power(x, 5))(2.0) == 80.0


@EACH
def test_a_derivative_in_the_recursion_of_itself(d):
    def f(x, n):
        return x**3 if n == 0 else d(lambda y: f(y, n - 1))(x) * x

    # x^3 -> 3 x^3 -> 9 x^3
    assert f(np.float64(2.0), 2) == 72.0


@EACH
def test_generators_and_comprehensions(d):
    def terms(x):
        for k in range(4):
            yield x**k

    assert d(lambda x: sum(terms(x)))(2.0) == 17.0
    assert d(lambda x: sum([y * y for y in (x, 2 * x)]))(2.0) == 20.0


@EACH
def test_attributes_defaults_and_globals(d):
    class Point:
        def __init__(self, x):
            self.x = x

        def norm(self, scale=2.0):
            return scale * self.x * self.x

    assert d(lambda x: Point(x).norm())(3.0) == 12.0
    assert d(functools.partial(lambda a, x: a * x, 3.0))(2.0) == 3.0


@EACH_KNOWN
def test_exceptions_for_control_flow(d):
    def f(x):
        try:
            if x > 1:
                raise KeyError
            return x
        except KeyError:
            return x * x

    assert (d(f)(0.5), d(f)(3.0)) == (1.0, 6.0)


@EACH_KNOWN
def test_loops_until_a_value(d):
    def newton(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    np.testing.assert_allclose(d(newton)(2.0), 0.5 / np.sqrt(2.0), rtol=1e-9)


@EACH_KNOWN
def test_sorting_and_builtin_functions(d):
    assert d(lambda x: max([x, 2 * x, 1.0]) + min(x, 5.0) + abs(-x) + sum([x, x]))(2.0) == 6.0
    assert d(lambda x: sorted([3.0 * x, x])[0])(2.0) == 1.0


@pytest.mark.parametrize("outer", DERIVATIVES.values(), ids=DERIVATIVES)
@EACH
def test_closures_over_outer_variables(outer, d):
    def f(x):
        inner = d(lambda y: x * y * y)(x)  # 2 x^2
        return x * inner + d(lambda y: np.sin(x))(1.0)

    assert outer(f)(2.0) == 24.0


def test_results_of_an_inner_transform_used_after_it():
    def f(x):
        out, pull = vjp(lambda y: y * y * x, x)
        y, push = linearize(lambda y: y * x, 2.0)
        return out + pull(x)[0] + push(x) + y  # x^3 + 2 x^3 + x^2 + 2 x

    same(grad(f)(2.0), 42.0)
    same(jvp(f, (2.0,), (1.0,))[1], 42.0)
    same(grad(grad(f))(2.0), 38.0)


def test_six_levels():
    f = lambda x: x**7  # noqa: E731
    for d in ("grad", "jvp", "vjp", "linearize", "grad", "jacfwd"):
        f = DERIVATIVES[d](f)
    assert f(2.0) == 7 * 6 * 5 * 4 * 3 * 2 * 2.0


# ---- threads -------------------------------------------------------------------------------


def test_threads():
    def f(x):
        y = x
        for _ in range(50):
            y = np.tanh(y * x)
        return np.sum(y)

    xs = [V * k / 10 for k in range(1, 33)]
    expected = [(grad(f)(x), hessian(f)(x)) for x in xs]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda x: (grad(f)(x), hessian(f)(x)), xs))
    same(found, expected, rtol=0)


def test_one_pull_in_many_threads():
    _, pull = vjp(lambda x: np.tanh(x) * x, V)
    cts = [V * k for k in range(40)]
    expected = [pull(ct) for ct in cts]
    with ThreadPoolExecutor(8) as pool:
        same(list(pool.map(pull, cts)), expected, rtol=0)


def test_a_thread_inside_of_a_function():
    def f(x):
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(lambda k: np.sum(x**k), (2, 3)))
        return parts[0] * parts[1]

    same(grad(f)(V), grad(lambda x: np.sum(x**2) * np.sum(x**3))(V))


def test_two_generators_in_turns():
    def steps(x, log):
        def f(y):
            log.append("start")
            return y * x

        yield grad(f)(2.0)
        yield grad(grad(lambda y: y * y * x))(2.0)

    a, b = steps(3.0, []), steps(5.0, [])
    assert [next(a), next(b), next(b), next(a)] == [3.0, 5.0, 10.0, 6.0]


def test_a_transform_started_while_another_waits():
    """Two functions, each in the middle of the other's run."""
    turn = [threading.Semaphore(1), threading.Semaphore(0)]

    def f(me):
        def run(x):
            for _ in range(20):
                turn[me].acquire()
                x = np.sin(x) * (me + 1.0)
                turn[1 - me].release()
            return x

        return run

    def plain(me):
        def run(x):
            for _ in range(20):
                x = np.sin(x) * (me + 1.0)
            return x

        return run

    with ThreadPoolExecutor(2) as pool:
        found = [future.result() for future in [pool.submit(grad(f(me)), 0.5) for me in (0, 1)]]
    same(found, [grad(plain(me))(0.5) for me in (0, 1)])


# ---- exceptions ----------------------------------------------------------------------------


@EACH
def test_exceptions_leave_no_state(d):
    def f(x, fail):
        y = x * x
        if fail:
            raise RuntimeError("in the middle")
        return y * x

    before = d(lambda x: f(x, False))(2.0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="in the middle"):
            d(lambda x: f(x, True))(2.0)
        with pytest.raises(RuntimeError, match="in the middle"):
            d(d(lambda x: f(x, True)))(2.0)
        assert d(lambda x: f(x, False))(2.0) == before


def test_floating_point_settings_are_as_before():
    before = np.geterr()
    grad(lambda x: np.sqrt(x))(0.0)
    with pytest.raises(KeyError):
        grad(lambda x: {}[0])(1.0)
    with pytest.raises(errors.NonFiniteError), debug_nans():
        grad(lambda x: np.sqrt(x))(0.0)
    assert np.geterr() == before
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        grad(lambda x: np.log(x))(0.0)  # the user's setting holds for the user's values
    with np.errstate(divide="raise"):
        assert np.isinf(grad(lambda x: np.sqrt(x))(0.0))  # and derivatives are results


# ---- leaked tracers ------------------------------------------------------------------------

USES = {
    "operator": lambda x: x * 2.0,
    "ufunc": np.sin,
    "function": lambda x: np.stack([x, x]),
    "compare": lambda x: x > 0,
    "index": lambda x: x[None],
    "bool": bool,
    "int": int,
    "round": np.floor,
    "stop_gradient": stop_gradient,
    "argument": lambda x: grad(np.sin)(x),
    "closure": lambda x: grad(lambda y: x * y)(2.0),
    "tangent": lambda x: jvp(lambda y: y, (2.0,), (x,)),
    "cotangent": lambda x: vjp(lambda y: y, 2.0)[1](x),
    "identity": lambda x: grad(lambda y: y)(x),
    "staged": lambda x: make_jaxpr(lambda y: x * y)(1.0),
    "batched": lambda x: vmap(lambda y: x * y)(V),
}
LEAKS = {
    "grad": (lambda f: grad(f)(3.0), "a reverse-mode transform"),
    "vjp": (lambda f: vjp(f, 3.0), "a reverse-mode transform"),
    "jvp": (lambda f: jvp(f, (3.0,), (1.0,)), "a forward-mode transform"),
    "linearize": (lambda f: linearize(f, 3.0), "a reverse-mode transform"),
    "make_jaxpr": (lambda f: make_jaxpr(f)(3.0), "make_jaxpr"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("transform, name", LEAKS.values(), ids=LEAKS)
def test_a_leaked_tracer_names_where_it_was_made(use, transform, name):
    kept = []

    def f(x):
        y = x * x
        kept.append(y)
        return y

    transform(f)
    with pytest.raises(errors.EscapedTracerError) as caught:
        use(kept[0])
    message = str(caught.value)
    assert f"leaked from {name}, started at {__file__}:" in message and "has_aux=True" in message
    assert "= 9.0" in repr(kept[0])  # it can still be looked at


def test_leaks_through_an_exception_a_default_and_a_generator():
    kept = {}

    def f(x, store={}):  # noqa: B006
        store["x"] = kept["x"] = x
        kept["generator"] = (x * k for k in range(3))
        raise KeyError

    with pytest.raises(KeyError):
        grad(f)(1.0)
        line = here()
    line = here(back=2)
    with pytest.raises(errors.EscapedTracerError) as caught:
        next(kept["generator"])
    assert f"started at {line}" in str(caught.value)
    with pytest.raises(errors.EscapedTracerError):
        f.__defaults__[0]["x"] + 1.0


def test_a_leaked_batch():
    kept = []
    vmap(lambda x: kept.append(x) or x)(V)
    for use in (np.sin, lambda x: x + 1.0, np.floor, stop_gradient):
        with pytest.raises(errors.EscapedTracerError, match="leaked from vmap"):
            use(kept[0])


def test_a_tracer_of_a_transform_that_still_runs_is_no_leak():
    kept = []

    def f(x):
        kept.append(x)
        return grad(lambda y: kept[0] * y)(2.0) * x

    same(grad(f)(3.0), 6.0)


def test_lines_are_those_of_the_user():
    def f(x):
        y = np.exp(x)
        return y * y

    program = make_jaxpr(grad(f))(1.0)
    assert program.eqns[0].where.startswith(line_of(f, "np.exp"))
    assert all(eqn.where.startswith(__file__) for eqn in program.eqns)
