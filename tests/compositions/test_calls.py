"""All pairs and triples of transforms and calls, over a set of programs, against plain Python.

Every operation turns a function from vectors to vectors into another. The plain twin of a call is what it
means (a loop, an `if`, the function itself), so that a word of operations must agree with the same word of
twins; and the derivative of what comes out with differences of its values.
"""

import itertools

import numpy as np
import pytest

from funcgrad import (
    ShapeDtypeStruct,
    checkpoint,
    custom_jvp,
    custom_vjp,
    errors,
    eval_jaxpr,
    jvp,
    lax,
    make_jaxpr,
    vjp,
    vmap,
)

X = np.array([0.3, 0.8, -0.5])
V = np.array([1.0, -0.5, 0.25])
MATRIX = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]])


def dense(x):
    return np.tanh(MATRIX @ x) * x


def pieces(x):
    """A selection with singular dead entries, reads of entries, a running total."""
    root = np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.1 * x)
    return np.cumsum(root)[::-1] * x[0] * 0.5 + np.sin(x)


def coupled(x):
    return np.exp(-0.5 * np.sum(x * x)) * np.stack([x[1] * x[2], x[0] ** 2, 1.0 + x[0]])


PROGRAMS = {f.__name__: f for f in (dense, pieces, coupled)}


# ---- operations and their twins --------------------------------------------------------------


def by_custom_jvp(g):
    custom = custom_jvp(g)
    custom.defjvp(lambda primals, tangents: jvp(g, primals, tangents))
    return custom


def by_custom_vjp(g):
    custom = custom_vjp(g)
    custom.defvjp(lambda x: (g(x), x), lambda x, ct: vjp(g, x)[1](ct))
    return custom


def closed_custom_vjp(g):
    """The function closes over a traced value, by which it is differentiated itself."""

    def run(x):
        custom = custom_vjp(lambda y: g(y) * x)
        custom.defvjp(lambda y: (custom(y), y), lambda y, ct: vjp(lambda y: g(y) * x, y)[1](ct))
        return custom(x)

    return run


def evaluated(g, types):
    def run(x):
        program = make_jaxpr(g)(ShapeDtypeStruct((3,), float) if types else x)
        (out,) = eval_jaxpr(program, program.consts, x)
        return out

    return run


def looped(g):
    def run(x):
        for factor in (0.5, 2.0):
            x = factor * g(x) + 0.1 * x
        return x

    return run


def scanned(g):
    return lambda x: lax.scan(lambda c, factor: (factor * g(c) + 0.1 * c, None), x, np.array([0.5, 2.0]))[0]


def closed_scan(g):
    def run(x):
        carry, ys = lax.scan(lambda c, y: (c + g(y * x), c[0]), 0.1 * x, np.stack([x, 0.5 * x]), reverse=True)
        return carry * np.sum(ys)

    return run


def closed_loop(g):
    def run(x):
        first, second = 0.1 * x, 0.1 * x + g(0.5 * x * x)
        return (second + g(x * x)) * (first[0] + second[0])

    return run


OPERATIONS = {
    "jvp": (lambda g: lambda x: jvp(g, (x,), (V,))[1], None),
    "vjp": (lambda g: lambda x: vjp(g, x)[1](V)[0], None),
    "vmap": (
        lambda g: lambda x: np.sum(vmap(g)(np.stack([x, 0.5 * x])), axis=0),
        lambda g: lambda x: g(x) + g(0.5 * x),
    ),
    "checkpoint": (checkpoint, lambda g: g),
    "closed_checkpoint": (lambda g: lambda x: checkpoint(lambda: g(x))(), lambda g: g),
    "custom_jvp": (by_custom_jvp, lambda g: g),
    "custom_vjp": (by_custom_vjp, lambda g: g),
    "closed_custom_vjp": (closed_custom_vjp, lambda g: lambda x: g(x) * x),
    "scan": (scanned, looped),
    "closed_scan": (closed_scan, closed_loop),
    "cond": (
        lambda g: lambda x: lax.cond(np.sum(x) > 0.45, g, lambda y: y * x, x),
        lambda g: lambda x: g(x) if np.sum(x) > 0.45 else x * x,
    ),
    "while": (
        lambda g: lambda x: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, g(s[1])), (0, x))[1],
        lambda g: lambda x: g(g(x)),
    ),
    "values": (lambda g: evaluated(g, types=False), lambda g: g),
    "types": (lambda g: evaluated(g, types=True), lambda g: g),
}


def build(word, program, twin):
    """The function that the operations make of a program, the first of them innermost."""
    f = PROGRAMS[program]
    for name in word:
        operation, plain = OPERATIONS[name]
        f = plain(f) if twin and plain is not None else operation(f)
    return f


def is_refused(word):
    """Whether a program holds the reverse mode of a loop of unknown length."""
    for inner, middle, outer in itertools.combinations(word, 3):
        if (inner, middle) == ("while", "vjp") and outer in ("types", "values"):
            return True
    return False


def check(word, program):
    f, plain = build(word, program, twin=False), build(word, program, twin=True)
    if is_refused(word):
        with pytest.raises(errors.StagedDerivativeError):
            jvp(f, (X,), (V,))
        return
    np.testing.assert_allclose(f(X), plain(X), rtol=1e-11, atol=1e-12)
    out, tangent = jvp(f, (X,), (V,))
    np.testing.assert_allclose(out, plain(X), rtol=1e-11, atol=1e-12)
    h = 1e-6
    differences = (plain(X + h * V) - plain(X - h * V)) / (2 * h)
    np.testing.assert_allclose(tangent, differences, rtol=1e-5, atol=1e-7)
    (cotangent,) = vjp(f, X)[1](V)
    np.testing.assert_allclose(cotangent @ V, V @ tangent, rtol=1e-9, atol=1e-11)


PAIRS = list(itertools.product(OPERATIONS, repeat=2))
TRIPLES = list(itertools.product(OPERATIONS, repeat=3))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("word", PAIRS, ids="-".join)
def test_pair(word, program):
    check(word, program)


@pytest.mark.slow
@pytest.mark.parametrize("word", TRIPLES, ids="-".join)
def test_triple(word):
    for program in PROGRAMS:
        check(word, program)
