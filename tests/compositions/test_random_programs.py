"""Random programs under all pairs and triples of transforms, against numerical derivatives and loops."""

import itertools

import numpy as np
import pytest
from compositions.programs import N, points, programs
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad as fg
from funcgrad._testing import differences
from funcgrad.testing import check_grads, numerical_jvp

V = np.array([0.7, -1.1, 0.4])
W = np.array([-0.9, 0.5, 1.3])
MEMBERS = np.array([[0.5], [1.0], [-0.7], [0.2]])


# ---- transforms: of a function of a vector a function of a vector ---------------------------


def weighted(f):
    return lambda x: np.sum(f(x) * W)


def evaluated(f):
    def run(x):
        program = fg.make_jaxpr(f)(x)
        fg.check_jaxpr(program)
        with np.errstate(all="ignore"):  # it is plain NumPy, that of derivatives in dead branches too
            return fg.eval_jaxpr(program, program.consts, x)[0]

    return run


TRANSFORMS = {
    "jvp": lambda f: lambda x: fg.jvp(f, (x,), (V.astype(x.dtype),))[1],
    "vjp": lambda f: lambda x: fg.vjp(f, x)[1](W.astype(x.dtype))[0],
    "grad": lambda f: fg.grad(weighted(f)),
    "linearize": lambda f: lambda x: fg.linearize(f, x)[1](V.astype(x.dtype)),
    "jacfwd": lambda f: lambda x: fg.jacfwd(f)(x) @ V,
    "jacrev": lambda f: lambda x: W @ fg.jacrev(f)(x),
    "hvp": lambda f: lambda x: fg.hvp(weighted(f))(x, V.astype(x.dtype)),
    "vmap": lambda f: lambda x: np.sum(fg.vmap(f)(MEMBERS * x), axis=0),
    "make_jaxpr": evaluated,
    "stop_gradient": lambda f: lambda x: f(x) + fg.stop_gradient(np.sin(V)) * x,
}


# ---- the same by differences and loops -------------------------------------------------------


def along(f, v):
    return lambda x: numerical_jvp(f, (x,), (v,))


def transposed(f):
    return lambda x: np.array([np.sum(numerical_jvp(f, (x,), (e,)) * W) for e in np.eye(N)])


def second(f):
    def run(x):
        flat = differences.Flat(lambda x: [weighted(f)(x)], [x])
        rows = [
            differences.derivative(flat, [[V], [e]], lambda values: 1e-10 * np.abs(values)).values[0]
            for e in np.eye(N)
        ]
        return np.array(rows).astype(float)

    return run


REFERENCES = {
    "jvp": lambda f: along(f, V),
    "vjp": transposed,
    "grad": transposed,
    "linearize": lambda f: along(f, V),
    "jacfwd": lambda f: along(f, V),
    "jacrev": transposed,
    "hvp": second,
    "vmap": lambda f: lambda x: sum(f(member * x) for member in MEMBERS),
    "make_jaxpr": lambda f: f,
    "stop_gradient": lambda f: lambda x: f(x) + np.sin(V) * x,
}


def check(names, program, x):
    """The outermost transform against its reference; those inside are checked as outermost elsewhere."""
    *inner, outer = reversed(names)
    f = program
    for name in inner:
        f = TRANSFORMS[name](f)
    found, expected = TRANSFORMS[outer](f)(x), REFERENCES[outer](f)(x)
    assert found.shape == (N,) and found.dtype == x.dtype
    scale = max(1.0, np.max(np.abs(expected)))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * scale)


@given(program=programs(), x=points)
@settings(max_examples=60)
def test_programs(program, x):
    check_grads(program, (x,), order=2)


@pytest.mark.parametrize("name", TRANSFORMS)
@given(program=programs(), x=points)
@settings(max_examples=10)
def test_one_transform(name, program, x):
    check([name], program, x)


@pytest.mark.parametrize("names", [*itertools.product(TRANSFORMS, repeat=2)], ids="-".join)
@given(program=programs(), x=points)
@settings(max_examples=3)
def test_pairs_of_transforms(names, program, x):
    check(names, program, x)


@given(
    names=st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=3, max_size=3), program=programs(4), x=points
)
@settings(max_examples=60)
def test_triples_of_transforms(names, program, x):
    check(names, program, x)


@pytest.mark.slow
@pytest.mark.parametrize("names", [*itertools.product(TRANSFORMS, repeat=3)], ids="-".join)
@given(program=programs(4), x=points)
@settings(max_examples=2)
def test_all_triples_of_transforms(names, program, x):
    check(names, program, x)
