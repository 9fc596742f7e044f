"""Entries that are not selected have derivative 0 through any program, in every pairing of modes.

A program takes a function that is singular at 0, moves and combines its entries, and selects those that did
not come from a 0. The reference is the same program, fed with harmless numbers at the places of the zeros.
"""

import random

import numpy as np
import pytest

from funcgrad import (
    ShapeDtypeStruct,
    checkpoint,
    checkpointed_loop,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacrev,
    jvp,
    lax,
    linearize,
    make_jaxpr,
    vmap,
)

SINGULAR = [
    np.sqrt, np.log, np.log2, lambda x: 1 / x, lambda x: x**-0.5, lambda x: np.power(x, np.array(-1.5)),
    lambda x: np.arctanh(1 - x), lambda x: np.arccos(1 - x) * np.log(x),
]  # fmt: skip
ELEMENTWISE = [
    lambda y: 2 * y, lambda y: y + 1.0, np.tanh, lambda y: y * y, lambda y: np.exp(-y),
    lambda y: y / (1 + y * y), lambda y: y * np.arange(1.0, y.shape[-1] + 1), lambda y: np.maximum(y, -3.0),
]  # fmt: skip
STRUCTURAL = [
    lambda y: y.reshape(-1), lambda y: y.T, lambda y: y[::-1], lambda y: np.flip(y, -1),
    lambda y: np.roll(y, 1, -1), lambda y: np.repeat(y, 2, -1), lambda y: np.concatenate([y, y], 0),
    lambda y: np.expand_dims(y, 0), lambda y: np.broadcast_to(y, (2, *y.shape)), lambda y: np.stack([y, y]),
    lambda y: np.take(y, [0, 1, 1], -1, mode="clip"), lambda y: y[..., [0, -1]], np.copy,
    lambda y: np.tile(y, 2),
]  # fmt: skip
SELECTIONS = [
    lambda y, m: np.sum(np.where(m, y, 0.0)),
    lambda y, m: np.sum(y[m] ** 2),
    lambda y, m: np.sum(y, where=m),
    lambda y, m: np.sum(np.where(m, y, 1.0) * np.where(m, np.sin(y), 2.0)),
    lambda y, m: np.sum(np.select([m], [y], 0.0)),
    lambda y, m: np.prod(np.where(m, y, 1.0)),
    lambda y, m: np.max(np.where(m, y, -99.0)),
    lambda y, m: np.sum(np.extract(m, y)),
    lambda y, m: np.linalg.norm(np.where(m, y, 0.0)) ** 2,
    lambda y, m: np.sum(np.sort(np.where(m, y, -99.0), axis=-1) ** 2),
]

V = np.random.default_rng(3).normal(size=(2, 3))
PAIRINGS = {
    "grad": lambda f, x: grad(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (V,))[1],
    "fwd-over-rev": lambda f, x: hvp(f)(x, V),
    "rev-over-rev": lambda f, x: grad(lambda y: np.sum(grad(f)(y) * V))(x),
    "rev-over-fwd": lambda f, x: grad(lambda y: jvp(f, (y,), (V,))[1])(x),
    "fwd-over-fwd": lambda f, x: jvp(lambda y: jvp(f, (y,), (V,))[1], (x,), (V,))[1],
    "hessian": lambda f, x: hessian(f)(x),
    "vmap": lambda f, x: vmap(grad(f))(np.stack([x, x])),
    "linearize": lambda f, x: linearize(f, x)[1](V),
    "jacrev": lambda f, x: jacrev(lambda y: np.stack([f(y), 2 * f(y)]))(x),
}


def program(seed):
    """A random program, the same fed with harmless numbers, and where to take them."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    x, zero = numbers.uniform(0.3, 0.9, (2, 3)), numbers.uniform(size=(2, 3)) < 0.4
    singular, select = choose.choice(SINGULAR), choose.choice(SELECTIONS)
    steps = [choose.choice([ELEMENTWISE, STRUCTURAL]) for _ in range(choose.randint(0, 4))]
    steps = [(choose.choice(kind), kind is STRUCTURAL) for kind in steps]

    def run(x, fed):
        y, mask = singular(fed), ~zero
        for step, moves in steps:
            y, mask = step(y), step(mask.astype(float)) > 0 if moves else mask
        return select(y, mask) + np.sum(x * x * np.arange(3.0))

    return (lambda x: run(x, x)), (lambda x: run(x, np.where(zero, 0.5, x))), np.where(zero, 0.0, x)


@pytest.mark.parametrize(
    "seed", [*range(40), *[pytest.param(s, marks=pytest.mark.slow) for s in range(40, 800)]]
)
def test_dead_entries(seed):
    f, harmless, x = program(seed)
    with np.errstate(all="ignore"):  # the values of dead entries are infinite
        for name, derivative in PAIRINGS.items():
            np.testing.assert_allclose(
                derivative(f, x), derivative(harmless, x), rtol=1e-7, atol=1e-9, err_msg=name
            )


def test_dead_eigenvalues():
    """What is NaN without masks must not reach the rule of repeated eigenvalues, which would refuse it."""
    root = lambda w: np.sum(np.where(w > 1e-9, np.sqrt(w), 0.0))  # noqa: E731
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            grad(lambda a: root(np.linalg.eigvalsh(a)))(np.diag([0.0, 0.0, 1.0])), np.diag([0, 0, 0.5])
        )
        np.testing.assert_allclose(
            grad(lambda a: root(np.linalg.svd(a)[1]))(np.diag([0.0, 0.0, 1.0, 4.0])),
            np.diag([0, 0, 0.5, 0.25]),
        )


def test_dead_entries_of_complex_parts():
    """The real and the imaginary part each leave entries out; together they still do."""
    factor, x = np.array([1.0, np.nan, np.inf]), np.array([1 + 2j, 2 - 1j, 0.5 + 0.5j])
    with np.errstate(all="ignore"):
        for f in (
            lambda x: np.nan_to_num(x * factor, posinf=0),
            lambda x: np.where([True, False, False], np.conj(x * factor), 0),
        ):
            np.testing.assert_array_equal(grad(lambda x: np.sum(np.abs(f(x)) ** 2))(x)[1:], 0)


#: Ways to have a function of arrays run, entry by entry in some, as a part that is run again in reverse.
CALLS = {
    "checkpoint": lambda step, y: checkpoint(step)(y),
    "checkpointed_loop": lambda step, y: checkpointed_loop(step, y, length=1),
    "cond": lambda step, y: lax.cond(np.sum(y) > -9, step, np.negative, y),
    "cond, closed over": lambda step, y: lax.cond(np.sum(y) > -9, lambda: step(y), lambda: -y),
    "scan": lambda step, y: lax.scan(lambda c, z: (c, step(z)), 0.0, y)[1],
    "scan, carried": lambda step, y: lax.scan(lambda c, _: (step(c), None), y, None, length=1)[0],
    "scan, closed over": lambda step, y: lax.scan(lambda c, _: (c, step(y)), 0.0, None, length=1)[1][0],
    "scan in cond": lambda step, y: lax.cond(
        np.sum(y) > -9, lambda y: CALLS["scan"](step, y), np.negative, y
    ),
    "cond in scan": lambda step, y: CALLS["scan"](lambda z: CALLS["cond"](step, z), y),
}
PLACES = {
    "before": lambda call, x: call(lambda y: np.where(y > 0, y, 0.0), np.sqrt(x)),
    "after": lambda call, x: np.where(x > 0, call(np.sqrt, x), 0.0),
    "inside": lambda call, x: call(lambda y: np.where(y > 0, np.sqrt(y), 0.0), x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("place", PLACES)
def test_dead_entries_of_calls(call, place):
    """What is singular stands before a call or in it, and the selection in it or after it."""
    x = np.array([[0.0, 0.4, 0.7], [0.9, 0.0, 0.2]])

    def f(x):
        return np.sum(np.sin(PLACES[place](CALLS[call], x)) * np.cos(x))

    def harmless(x):
        return np.sum(np.where(dead, 0.0, np.sin(np.sqrt(np.where(dead, 0.5, x))) * np.cos(x)))

    dead = x == 0
    with np.errstate(all="ignore"):
        for name, derivative in PAIRINGS.items():
            found = [derivative(f, x)]
            if name != "linearize" or "cond" not in call:  # refused while a program is written
                program = make_jaxpr(lambda x, d=derivative: d(f, x))(ShapeDtypeStruct(x.shape, float))
                found += eval_jaxpr(program, program.consts, x)
            for one in found:
                np.testing.assert_allclose(one, derivative(harmless, x), rtol=1e-7, atol=1e-9, err_msg=name)
