"""Nested transforms keep their perturbations apart, whatever functions close over, in any thread."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import funcgrad as fg

DERIVATIVES = {
    "jvp": lambda f: lambda x: fg.jvp(f, (x,), (1.0,))[1],
    "grad": lambda f: fg.grad(f),
    "vjp": lambda f: lambda x: fg.vjp(f, x)[1](1.0)[0],
    "jacfwd": lambda f: fg.jacfwd(f),
    "jacrev": lambda f: fg.jacrev(f),
    "linearize": lambda f: lambda x: fg.linearize(f, x)[1](1.0),
}
TWO = pytest.mark.parametrize("outer, inner", [*itertools.product(DERIVATIVES, repeat=2)])


@TWO
def test_the_classic(outer, inner):
    """d/dx (x * d/dy (x + y)) is 1: a confused perturbation gives 2."""
    outer, inner = DERIVATIVES[outer], DERIVATIVES[inner]
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@TWO
def test_the_classic_of_a_product(outer, inner):
    """d/dx (x * d/dy (x * y)) is 2 x."""
    outer, inner = DERIVATIVES[outer], DERIVATIVES[inner]
    assert outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0) == 6.0


@TWO
def test_the_same_point_twice(outer, inner):
    """d/dx [d/dy (x y^2) at y = x] is d/dx 2 x^2."""
    outer, inner = DERIVATIVES[outer], DERIVATIVES[inner]
    assert outer(lambda x: inner(lambda y: x * y * y)(x))(3.0) == 12.0


@TWO
def test_an_inner_derivative_of_the_outer_variable_alone(outer, inner):
    """What does not depend on the inner variable has derivative zero, though it is traced."""
    outer, inner = DERIVATIVES[outer], DERIVATIVES[inner]
    assert outer(lambda x: inner(lambda y: x * x)(5.0) + x)(3.0) == 1.0


@pytest.mark.parametrize("modes", [*itertools.product(("jvp", "grad"), repeat=4)], ids="-".join)
def test_four_levels(modes):
    """Of x^2 y^3 in turns, each level closing over the others."""
    a, b, c, d = (DERIVATIVES[mode] for mode in modes)

    def f(x):
        return b(lambda y: c(lambda u: d(lambda v: u**2 * v**3 * x * y)(y))(x))(x)

    # d/du d/dv of u^2 v^3 x y is 6 u v^2 x y; at u = x, v = y: 6 x^2 y^3; d/dy at y = x: 18 x^4
    assert a(f)(0.5) == pytest.approx(72 * 0.5**3, rel=1e-14)


@pytest.mark.parametrize("modes", [*itertools.product(("jvp", "grad"), repeat=5)], ids="-".join)
def test_the_fifth_derivative_of_the_sine(modes):
    f = np.sin
    for mode in modes:
        f = DERIVATIVES[mode](f)
    assert f(0.7) == pytest.approx(math.cos(0.7), rel=1e-14)


def test_vmap_inside_and_outside():
    """Members close over the outer variable, and derivatives over the members."""
    xs = np.array([1.0, 2.0, 3.0])
    inside = fg.grad(lambda a: np.sum(fg.vmap(lambda x: fg.grad(lambda y: a * y**3)(x))(xs)))(2.0)
    assert inside == pytest.approx(3 * np.sum(xs**2))
    outside = fg.vmap(lambda x: fg.grad(lambda y: x * fg.grad(lambda z: x * y * z**2)(y))(x))(xs)
    np.testing.assert_allclose(outside, 4 * xs**3)  # x d/dy (2 x y^2) at y = x
    both = fg.vmap(lambda x: fg.vmap(lambda y: fg.grad(lambda z: x * y * z**2)(y))(xs))(xs)
    np.testing.assert_allclose(both, 2 * xs[:, None] * xs**2)


def test_a_program_closes_over_a_traced_value():
    def f(x):
        program = fg.make_jaxpr(lambda y: np.sin(y) * x)(1.0)
        return fg.eval_jaxpr(program, program.consts, x)[0]

    assert fg.grad(f)(0.7) == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7))


def test_pulls_of_an_outer_function_inside_a_derivative():
    """A pull-back that was made outside is a constant linear function inside."""
    _, pull = fg.vjp(lambda x: x**3, 2.0)
    assert fg.grad(lambda t: pull(t * t)[0])(3.0) == pytest.approx(12.0 * 6.0)


def test_stop_gradient_stops_all_levels():
    assert fg.grad(lambda x: fg.grad(lambda y: fg.stop_gradient(x * y) * y)(x))(3.0) == 0.0


def test_threads_do_not_meet():
    """Levels come from one counter: traces of other threads are neither seen nor needed."""

    def work(k):
        a = np.array([0.1 * k, 0.2, 0.3])

        def f(x):
            return np.sum(np.sin(a * x) * fg.grad(lambda y: np.sum(x * y * y))(x))

        v = np.ones(3)
        out = []
        for _ in range(10):
            out.append(fg.hvp(f)(np.array([1.0, 2.0, 3.0]), v))
            out.append(fg.vmap(fg.grad(f))(np.ones((2, 3)))[0])
        return np.array(out)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(16)))
    for k, result in enumerate(found):
        np.testing.assert_array_equal(result, work(k))
