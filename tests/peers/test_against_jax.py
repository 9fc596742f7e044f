"""Results beside JAX's: structures, shapes, dtypes and values, for random programs and every transform."""

import dataclasses

import numpy as np
import pytest

import funcgrad as fg

jax = pytest.importorskip("jax")
jnp = jax.numpy

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def alike(found, expected, rtol):
    """The same containers, and leaves of the same shapes, dtypes and values."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert isinstance(a, (np.ndarray, np.generic)), type(a)
        assert a.shape == b.shape
        assert str(a.dtype) == str(b.dtype)
        if a.dtype != fg.float0:
            np.testing.assert_allclose(a, np.asarray(b), rtol=rtol, atol=rtol)


# ---- programs ------------------------------------------------------------------------------

UNARY = [
    lambda np, x: np.sin(x),
    lambda np, x: np.tanh(x),
    lambda np, x: np.exp(-x * x),
    lambda np, x: np.log1p(x * x),
    lambda np, x: np.sqrt(1.0 + x * x),
    lambda np, x: np.abs(x) * x,
    lambda np, x: np.where(x > 0, x, 0.5 * x),
    lambda np, x: np.cumsum(x, axis=-1),
    lambda np, x: x - np.mean(x),
    lambda np, x: x[..., ::-1],
    lambda np, x: np.sort(x, axis=-1),
    lambda np, x: x / np.max(np.abs(x) + 1.0),
    lambda np, x: np.swapaxes(x, 0, -1),
    lambda np, x: np.clip(x, -1.0, 1.0) + x**3,
]
BINARY = [
    lambda np, x, y: x + y,
    lambda np, x, y: x * y,
    lambda np, x, y: x - 2.0 * y,
    lambda np, x, y: x / (1.0 + y * y),
    lambda np, x, y: np.maximum(x, y),
    lambda np, x, y: x @ y,
    lambda np, x, y: np.einsum("ij,kj->ik", x, y),
    lambda np, x, y: np.hypot(x, y + 2.0),
    lambda np, x, y: np.where(x > y, x * y, y),
    lambda np, x, y: np.concatenate([x[:1], y[1:]], axis=0),
    lambda np, x, y: np.arctan2(x, y + 3.0),
]
SIZE = 3


def program(seed):
    """``f(np, x, y)`` of two square matrices: a random expression."""
    rng = np.random.default_rng(seed)
    steps = []
    for known in range(2, 2 + int(rng.integers(3, 9))):
        unary = rng.random() < 0.5
        op = (UNARY if unary else BINARY)[rng.integers(len(UNARY if unary else BINARY))]
        steps.append((op, [int(i) for i in rng.integers(known, size=1 if unary else 2)]))

    def f(np, x, y):
        values = [x, y]
        for op, places in steps:
            values.append(op(np, *[values[i] for i in places]))
        return values[-1]

    return f


def point(seed, dtype):
    rng = np.random.default_rng(seed + 1000)
    return tuple(rng.normal(size=(SIZE, SIZE)).astype(dtype) for _ in range(3))


#: of a library, of `f` of matrices, at matrices x, y and along v
TRANSFORMS = {
    "grad": lambda lib, np, f, x, y, v: lib.grad(lambda x, y: np.sum(f(x, y) * v), (0, 1))(x, y),
    "value_and_grad": lambda lib, np, f, x, y, v: lib.value_and_grad(lambda x: np.sum(f(x, y)))(x),
    "jvp": lambda lib, np, f, x, y, v: lib.jvp(f, (x, y), (v, x)),
    "vjp": lambda lib, np, f, x, y, v: lib.vjp(f, x, y)[1](v),
    "linearize": lambda lib, np, f, x, y, v: lib.linearize(f, x, y)[1](v, x),
    "jacfwd": lambda lib, np, f, x, y, v: lib.jacfwd(f, (1, 0))(x, y),
    "jacrev": lambda lib, np, f, x, y, v: lib.jacrev(f, 1)(x, y),
    "hessian": lambda lib, np, f, x, y, v: lib.hessian(lambda x: np.sum(f(x, y) * v))(x),
    "grad-of-grad": lambda lib, np, f, x, y, v: lib.grad(
        lambda x: np.sum(lib.grad(lambda x: np.sum(f(x, y) * v))(x) * v)
    )(x),
    "hvp": lambda lib, np, f, x, y, v: lib.jvp(lib.grad(lambda x: np.sum(f(x, y) * v)), (x,), (v,)),
    "vmap": lambda lib, np, f, x, y, v: lib.vmap(f, in_axes=(0, None))(np.stack([x, y]), v),
    "vmap-grad": lambda lib, np, f, x, y, v: lib.vmap(lib.grad(lambda x, y: np.sum(f(x, y))), (1, 2))(
        np.stack([x, y], axis=1), np.stack([y, v], axis=2)
    ),
}


@pytest.mark.parametrize("dtype, rtol", [("f8", 1e-9), ("f4", 2e-3)], ids=["f8", "f4"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_random_programs(name, dtype, rtol):
    for seed in range(12):
        f, args = program(seed), point(seed, dtype)
        transform = TRANSFORMS[name]
        ours = transform(fg, np, lambda x, y: f(np, x, y), *args)
        theirs = transform(jax, jnp, lambda x, y: f(jnp, x, y), *map(jnp.asarray, args))
        alike(ours, theirs, rtol)


# ---- structures ----------------------------------------------------------------------------


@dataclasses.dataclass
class State:
    position: object
    speed: object


jax.tree_util.register_dataclass(State, data_fields=["position", "speed"], meta_fields=[])


def energy(np, params, state, scale=2.0):
    moved = params["w"] @ state.position + params["b"][0]
    return {
        "energy": np.sum(moved * moved) * scale + np.sum(state.speed**2),
        "moved": (moved, [np.sin(state.speed) * params["b"][1]]),
        "none": None,
    }


def arguments():
    w = np.arange(6.0).reshape(2, 3) / 5.0
    params = {"w": w, "b": (np.array([0.5, -0.5]), 2.0), "off": None}
    return params, State(np.array([1.0, -2.0, 0.5]), np.array([0.1, 0.2], "f4"))


#: of a library and of f, a function of (params, state)
STRUCTURED = {
    "grad": lambda lib, f, p, s: lib.grad(lambda p, s: f(p, s)["energy"])(p, s),
    "grad-tuple": lambda lib, f, p, s: lib.grad(lambda p, s: f(p, s)["energy"], (1, 0))(p, s),
    "grad-of-one": lambda lib, f, p, s: lib.grad(lambda p, s: f(p, s)["energy"], (-1,))(p, s),
    "aux": lambda lib, f, p, s: lib.grad(lambda p, s: (f(p, s)["energy"], f(p, s)), has_aux=True)(p, s),
    "value-aux": lambda lib, f, p, s: lib.value_and_grad(
        lambda p, s: (f(p, s)["energy"], {"all": f(p, s)}), argnums=(0, 1), has_aux=True
    )(p, s),
    "keyword": lambda lib, f, p, s: lib.grad(lambda p, s, scale: f(p, s, scale)["energy"])(p, s, scale=3.0),
    "jvp": lambda lib, f, p, s: lib.jvp(f, (p, s), (p, s)),
    "jvp-aux": lambda lib, f, p, s: lib.jvp(
        lambda p, s: (f(p, s)["moved"], f(p, s)), (p, s), (p, s), has_aux=True
    ),
    "vjp": lambda lib, f, p, s: (lambda out, pull: (out, pull(out)))(*lib.vjp(f, p, s)),
    "vjp-aux": lambda lib, f, p, s: (lambda out, pull, aux: (out, pull(out), aux))(
        *lib.vjp(lambda p, s: (f(p, s)["moved"], f(p, s)), p, s, has_aux=True)
    ),
    "linearize": lambda lib, f, p, s: (lambda out, push: (out, push(p, s)))(*lib.linearize(f, p, s)),
    "jacfwd": lambda lib, f, p, s: lib.jacfwd(f)(p, s),
    "jacfwd-tuple": lambda lib, f, p, s: lib.jacfwd(f, (0, 1))(p, s),
    "jacrev": lambda lib, f, p, s: lib.jacrev(f)(p, s),
    "jacrev-one": lambda lib, f, p, s: lib.jacrev(f, (0,))(p, s),
    "hessian": lambda lib, f, p, s: lib.hessian(f)(p, s),
    "hessian-tuple": lambda lib, f, p, s: lib.hessian(lambda p, s: f(p, s)["energy"], (0, 1))(p, s),
    "vmap": lambda lib, f, p, s: lib.vmap(
        f, in_axes=({"w": None, "b": (None, None), "off": None}, State(None, 0))
    )(p, s),
    "vmap-out": lambda lib, f, p, s: lib.vmap(
        lambda row, s: {"a": row * 2.0, "b": (row, s)}, in_axes=(1, None), out_axes={"a": 1, "b": (0, None)}
    )(p["w"], s.position),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structures(name):
    params, state = arguments()
    theirs_in = jax.tree.map(lambda x: x if isinstance(x, float) else jnp.asarray(x), (params, state))
    ours = STRUCTURED[name](fg, lambda *a: energy(np, *a), params, state)
    theirs = STRUCTURED[name](jax, lambda *a: energy(jnp, *a), *theirs_in)
    alike(ours, theirs, 1e-5)


# ---- dtypes, complex numbers, integers -------------------------------------------------------

CASES = {
    "holomorphic": lambda lib, np: lib.grad(lambda z: np.sum(z**3), holomorphic=True)(
        np.array([1 + 2j, 0.5j])
    ),
    "real-of-complex": lambda lib, np: lib.grad(lambda z: np.sum(np.abs(z) ** 2 + np.imag(z)))(
        np.array([1 + 2j, 3])
    ),
    "real-argument": lambda lib, np: lib.grad(lambda x: np.real(np.sum(x * (1 + 2j)) ** 2))(
        np.array([1.0, 2.0])
    ),
    "complex-vjp": lambda lib, np: lib.vjp(lambda z: np.exp(z) * z, np.array([1 + 2j]))[1](
        np.array([2 - 1j])
    ),
    "complex-jvp": lambda lib, np: lib.jvp(np.sin, (np.array([1 + 2j]),), (np.array([1j]),)),
    "mixed-vjp": lambda lib, np: lib.vjp(lambda x, z: x * z, np.array([1.0]), np.array([2j]))[1](
        np.array([1 + 1j])
    ),
    "jacrev-holomorphic": lambda lib, np: lib.jacrev(lambda z: z * z, holomorphic=True)(np.array([1j, 2.0])),
    "jacfwd-holomorphic": lambda lib, np: lib.jacfwd(lambda z: z * z, holomorphic=True)(np.array([1j, 2.0])),
    "complex-32": lambda lib, np: lib.grad(lambda z: np.sum(np.abs(z)))(np.array([1 + 2j], "c8")),
    "allow_int": lambda lib, np: lib.grad(lambda p: p["x"] * p["n"], allow_int=True)(
        {"x": 2.0, "n": np.array([1, 2])[0]}
    ),
    "integer-vjp": lambda lib, np: lib.vjp(lambda x, n: x * n, np.array([2.0]), np.array([3]))[1](
        np.array([1.0])
    ),
    "integer-output": lambda lib, np: lib.jvp(
        lambda x: (x, np.argmax(x)), (np.array([1.0, 2]),), (np.ones(2),)
    ),
    "mixed-precision": lambda lib, np: lib.grad(lambda x, y: np.sum(x * y), (0, 1))(
        np.ones(2, "f4"), np.ones(2)
    ),
    "python-scalar": lambda lib, np: lib.grad(lambda x, s: np.sum(x * s), (0, 1))(np.ones(2, "f8"), 2.0),
    "half": lambda lib, np: lib.grad(lambda x: np.sum(x * x))(np.ones(2, "f2")),
    "zero-d": lambda lib, np: lib.hessian(lambda x: x**3)(np.array(2.0)),
    "empty": lambda lib, np: lib.jacrev(lambda x: x * 2.0)(np.zeros((0, 2))),
    "max-ties": lambda lib, np: lib.grad(np.max)(np.array([1.0, 3.0, 3.0])),
    "maximum-tie": lambda lib, np: lib.grad(np.maximum, (0, 1))(1.0, 1.0),
    "clip-edge": lambda lib, np: lib.grad(lambda x: np.clip(x, 1.0, 2.0))(1.0),
    "prod-zeros": lambda lib, np: lib.grad(np.prod)(np.array([0.0, 2.0, 0.0])),
    "median": lambda lib, np: lib.grad(np.median)(np.array([4.0, 1.0, 3.0, 2.0])),
    "linear_transpose": lambda lib, np: lib.linear_transpose(lambda x: np.cumsum(2.0 * x), np.ones(3))(
        np.arange(3.0)
    ),
    "broadcast": lambda lib, np: lib.vjp(lambda a, b: a + b, np.ones((3, 1)), np.ones(4))[1](np.ones((3, 4))),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cases(case):
    alike(case(Ours, np), case(Theirs, jnp), 1e-6)


class Ours:
    grad, vjp, jvp, jacrev, jacfwd, hessian = fg.grad, fg.vjp, fg.jvp, fg.jacrev, fg.jacfwd, fg.hessian
    linear_transpose = fg.linear_transpose


class Theirs:
    grad, vjp, jvp, jacrev, jacfwd, hessian = jax.grad, jax.vjp, jax.jvp, jax.jacrev, jax.jacfwd, jax.hessian
    linear_transpose = jax.linear_transpose


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda x: x, (np.ones(3),)),
        (lambda x: x, (3,)),
        (lambda x: x * 1j, (1.0,)),
        (lambda x: x, ("text",)),
        (lambda x: (x, x), (1.0,)),
        (lambda x: x[:1], (np.ones(3),)),
    ],
    ids=["vector", "integer", "complex", "string", "pair", "one-element"],
)
def test_both_refuse(f, args):
    for lib in (fg, jax):
        with pytest.raises(TypeError):
            lib.grad(f)(*args)
