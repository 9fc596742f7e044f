"""checkpoint and tag: policies in every composition, memory, what is computed again, and what goes wrong."""

import gc
import tracemalloc

import numpy as np
import pytest
from expect import in_threads

from funcgrad import (
    ShapeDtypeStruct,
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacrev,
    jvp,
    lax,
    linearize,
    make_jaxpr,
    tag,
    tree,
    value_and_grad,
    vjp,
    vmap,
)
from funcgrad._primitives.kinds import PRIMITIVES
from funcgrad.checkpoint_policies import (
    Operation,
    dots_saveable,
    dots_with_no_batch_dims_saveable,
    everything_saveable,
    nothing_saveable,
    save_any_names_but_these,
    save_anything_except_these_names,
    save_by_size,
    save_from_both_policies,
    save_only_these_names,
)

X, W, V = np.linspace(0.1, 1, 3), np.linspace(1, 2, 3), np.array([0.5, -1.0, 2.0])
MATRIX = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]])
BATCH = np.stack([X, X + 1])

# ---- compositions ----------------------------------------------------------------------------

POLICIES = {
    "none": None,
    "nothing": nothing_saveable,
    "everything": everything_saveable,
    "dots": dots_saveable,
    "names": save_only_these_names("inner"),
    "not names": save_anything_except_these_names("inner", "wave"),
    "size": save_by_size(8),
    "own": lambda operation: operation.name in ("sin", "where", "getitem", "cumsum"),
}


def body(x, w):
    inner = tag(MATRIX @ x, "inner")
    root = np.where(x > 0.5, np.sqrt(x), w)
    order = np.argsort(x)
    return np.sum(tag(np.sin(inner * w), "wave") * np.exp(-root)[order] * w) + np.cumsum(inner)[1] * x[0]


def arguments(policy):
    return checkpoint(body, policy)


def closures(policy):
    return lambda x, w: checkpoint(lambda: body(x, w), policy)()


def hidden(policy):
    """What it closes over is not in plain sight."""

    class Holder:
        pass

    def f(x, w):
        holder = Holder()
        holder.w = w
        return checkpoint(lambda x: body(x, holder.w), policy)(x)

    return f


def nested(policy):
    def f(x, w):
        def outer(y):
            inner = checkpoint(lambda z: np.sin(z * w) * tag(np.exp(z), "inner"), policy)
            return inner(inner(y) * 0.5) + MATRIX @ y

        return body(checkpoint(outer, policy)(x), w)

    return f


def transforms_within(policy):
    def f(x, w):
        return checkpoint(
            lambda x, w: np.sum(
                grad(body)(x, w) * vmap(lambda a: np.tanh(a) * tag(w[0] * a, "inner"))(x)
                + jvp(np.sin, (x * w,), (w,))[1]
            ),
            policy,
        )(x, w)

    return f


def plainly(make):
    twins = {
        arguments: body,
        closures: body,
        hidden: body,
        nested: lambda x, w: body(_twice(x, w), w),
        transforms_within: lambda x, w: np.sum(
            grad(body)(x, w) * vmap(lambda a: np.tanh(a) * w[0] * a)(x) + jvp(np.sin, (x * w,), (w,))[1]
        ),
    }
    return twins[make]


def _twice(y, w):
    inner = lambda z: np.sin(z * w) * np.exp(z)  # noqa: E731
    return inner(inner(y) * 0.5) + MATRIX @ y


def evaluated(f, *args):
    program = make_jaxpr(f)(*args)
    return lambda *values: eval_jaxpr(program, program.consts, *values)


TYPES = ShapeDtypeStruct((3,), float), ShapeDtypeStruct((3,), float)
TRANSFORMS = {
    "value": lambda f: f(X, W),
    "grad": lambda f: grad(f, (0, 1))(X, W),
    "grad of one": lambda f: grad(f, 1)(X, W),
    "vjp twice": lambda f: (lambda pull: (pull(1.0), pull(2.0)))(vjp(f, X, W)[1]),
    "jvp": lambda f: jvp(f, (X, W), (V, V)),
    "linearize grad": lambda f: linearize(grad(f), X, W)[1](V, V),
    "hessian": lambda f: hessian(f, (0, 1))(X, W),
    "hvp": lambda f: hvp(f)(X, W, V),
    "jacrev of grad": lambda f: jacrev(grad(f, 1), (0, 1))(X, W),
    "grad of jvp": lambda f: grad(lambda w: jvp(lambda x: f(x, w), (X,), (V,))[1])(W),
    "vmap of grad": lambda f: vmap(grad(f, (0, 1)), (0, None))(BATCH, W),
    "grad of vmap": lambda f: grad(lambda x, w: np.sum(vmap(f, (0, None))(x, w) ** 2), (0, 1))(BATCH, W),
    "grad of vmap of grad": lambda f: grad(lambda x: np.sum(vmap(grad(f), (0, None))(x, W) ** 2))(BATCH),
    "inner and outer": lambda f: grad(lambda w: np.sum(grad(lambda x: f(x, w) * f(2 * x, w))(X)))(W),
    "program of grad": lambda f: evaluated(grad(f, (0, 1)), X, W)(X, W),
    "grad of program": lambda f: grad(lambda x, w: evaluated(f, x, w)(x, w)[0], (0, 1))(X, W),
    "types of grad": lambda f: evaluated(grad(f, (0, 1)), *TYPES)(X * 1.1, W),
    "third": lambda f: grad(lambda x: np.sum(grad(lambda x: np.sum(grad(f)(x, W) ** 2))(x) ** 2))(X),
}


def agree(found, expected):
    found, expected = tree.leaves(found), tree.leaves(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("make", [arguments, closures, hidden, nested, transforms_within])
def test_as_without_checkpoint(make, transform):
    expected = TRANSFORMS[transform](plainly(make))
    policies = ["everything", "names"] if transform == "third" else POLICIES
    for name in policies:
        agree(TRANSFORMS[transform](make(POLICIES[name])), expected)


def test_loops_within():
    def f(x, w):
        carry, ys = lax.scan(lambda c, y: (np.sin(c * y) + w, tag(c * w, "inner")), x, np.outer(X, W))
        return np.sum(carry) + np.sum(ys)

    for policy in POLICIES.values():
        agree(grad(checkpoint(f, policy), (0, 1))(X, W), grad(f, (0, 1))(X, W))
        agree(hessian(checkpoint(f, policy), (0, 1))(X, W), hessian(f, (0, 1))(X, W))


def test_structural_zeros_pass():
    for policy in POLICIES.values():
        root = checkpoint(np.sqrt, policy)
        f = lambda x: np.sum(np.where(x > 0, root(x), 0.0))  # noqa: B023,E731
        agree(grad(f)(np.array([0.0, 4.0])), np.array([0.0, 0.25]))
        agree(hessian(f)(np.array([0.0, 4.0])), np.diag([0.0, -1 / 32]))
        chosen = checkpoint(lambda x, y: np.where(x > 0, y, 0), policy)
        f = lambda x: np.sum(chosen(x, np.sqrt(x)))  # noqa: B023,E731
        agree(grad(f)(np.array([0.0, 4.0])), np.array([0.0, 0.25]))


# ---- what policies save ----------------------------------------------------------------------


def test_a_policy_is_asked_once_about_each_operation():
    asked = []

    def f(x):
        return np.sum(np.sin(tag(np.exp(tag(MATRIX @ x, "product")), "growth")))

    pull = vjp(checkpoint(f, lambda operation: asked.append(operation) or True), X)[1]
    pull(1.0)
    assert [operation.name for operation in asked] == ["matvec", "name", "exp", "name", "sin", "sum"]
    product = asked[0]
    assert isinstance(product, Operation)
    assert [t.shape for t in product.inputs] == [(3, 3), (3,)]
    assert [t.shape for t in product.outputs] == [(3,)]
    assert asked[1].params == {"name": "product"}


def held(policy, f, x):
    """The memory that the forward sweep leaves, in arrays like x."""
    gc.collect()
    kept = vjp(checkpoint(f, policy), x)
    del kept
    gc.collect()
    tracemalloc.start()
    out, pull = vjp(checkpoint(f, policy), x)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    pull(np.ones_like(out))
    return used / x.nbytes


def layers(x):
    for i in range(5):
        x = tag(np.sin(x), f"wave {i}")
        x = np.exp(x * 0.1)
    return np.sum(x)


def test_memory_is_that_of_what_is_saved():
    x = np.ones(100_000)
    none = held(None, layers, x)
    assert none < 0.2
    assert held(nothing_saveable, layers, x) == pytest.approx(none, abs=0.2)
    assert held(save_only_these_names("wave 1", "wave 3"), layers, x) == pytest.approx(none + 2, abs=0.2)
    assert held(save_any_names_but_these("wave 1"), layers, x) == pytest.approx(none + 4, abs=0.2)
    # a tagged value is the same array as the one that got the name
    assert held(everything_saveable, layers, x) == pytest.approx(none + 15, abs=0.2)
    excepted = save_anything_except_these_names("wave 0", "wave 4")
    assert held(excepted, layers, x) == pytest.approx(none + 13, abs=0.2)
    assert held(save_by_size(1000), layers, x) == pytest.approx(none, abs=0.2)
    assert held(save_by_size(min_bytes=1000), layers, x) == pytest.approx(none + 15, abs=0.2)
    both = save_from_both_policies(save_only_these_names("wave 1"), lambda operation: operation.name == "exp")
    assert held(both, layers, x) == pytest.approx(none + 6, abs=0.2)


def test_the_forward_sweep_holds_no_more_than_is_saved():
    x = np.ones(100_000)

    def peak(policy):
        gc.collect()
        tracemalloc.start()
        kept = vjp(checkpoint(layers, policy), x)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del kept
        return used / x.nbytes

    peak(nothing_saveable)
    assert peak(nothing_saveable) < 5
    assert peak(everything_saveable) > 14


def test_saved_results_are_not_computed_again():
    exp, times = PRIMITIVES["exp"], [0]
    original = exp.impl

    def counted(x):
        times[0] += 1
        return original(x)

    exp.impl = counted
    try:
        f = lambda x: np.sum(np.sin(np.exp(np.sin(x))))  # noqa: E731
        for policy, expected in ((lambda operation: operation.name == "exp", 1), (nothing_saveable, 2)):
            times[0] = 0
            grad(checkpoint(f, policy))(X)
            assert times[0] == expected
    finally:
        exp.impl = original


def test_products_with_and_without_batches():
    b = np.ones((2, 3, 3))
    program = make_jaxpr(
        lambda a, b: (a @ a, np.einsum("ij,jk->ik", a, a), b @ b, np.einsum("bij,bjk->bik", b, b), a + a)
    )(MATRIX, b)
    asked = [
        Operation(
            eqn.primitive.name,
            tuple(v.aval for v in eqn.invars),
            tuple(v.aval for v in eqn.outvars),
            eqn.params,
        )
        for eqn in program.eqns
    ]
    products = [operation for operation in asked if dots_saveable(operation)]
    assert len(products) == 4
    assert sum(map(dots_with_no_batch_dims_saveable, asked)) == 2


def test_policies_are_printed():
    policy = save_from_both_policies(save_only_these_names("a", "b"), save_by_size(100))
    text = str(make_jaxpr(checkpoint(np.sin, policy))(1.0))
    assert (
        "policy=save_from_both_policies(save_only_these_names('a', 'b'), save_by_size(max_bytes=100))" in text
    )
    assert "policy" not in str(make_jaxpr(checkpoint(np.sin))(1.0))
    assert repr(checkpoint_policies.checkpoint_dots) == "dots_saveable"


# ---- tag -------------------------------------------------------------------------------------


def test_tag_is_the_identity():
    assert checkpoint_name is tag
    x = {"a": X, "b": (1, None, "no number")}
    assert tag(x, "x")["a"] is X
    f = lambda x: np.sum(tag({"s": np.sin(x), "n": 3}, "wave")["s"] ** 2)  # noqa: E731
    g = lambda x: np.sum(np.sin(x) ** 2)  # noqa: E731
    for transform in (
        lambda f: value_and_grad(f)(X),
        lambda f: hessian(f)(X),
        lambda f: jvp(f, (X,), (V,)),
        lambda f: vmap(grad(f))(BATCH),
    ):
        agree(transform(f), transform(g))
    assert "name[name='wave']" in str(make_jaxpr(f)(X))
    agree(
        grad(lambda x: np.sum(np.where(x > 0, tag(np.sqrt(x), "root"), 0)))(np.array([0.0, 4.0])),
        np.array([0, 0.25]),
    )
    with pytest.raises(TypeError, match="a str"):
        tag(X, 3)


# ---- arguments -------------------------------------------------------------------------------


def test_static_arguments():
    def f(x, n, kind="sin", *, flip=False):
        assert isinstance(n, int)
        y = getattr(np, kind)(x) * n
        return np.sum(-y if flip else y)

    for static in ((1, "kind", "flip"), ("n", "kind", "flip")):
        g = checkpoint(f, everything_saveable, static)
        agree(grad(g)(X, 2, "cos", flip=True), grad(lambda x: f(x, 2, "cos", flip=True))(X))
        agree(grad(g)(X, 2), grad(lambda x: f(x, 2))(X))
    agree(grad(checkpoint(f, static_argnums="n"))(X, n=3), grad(lambda x: f(x, 3))(X))
    with pytest.raises(errors.ArgnumsError):
        checkpoint(f, static_argnums="m")(X, 2)
    with pytest.raises(TypeError, match="policy"):
        checkpoint(f, policy="dots")
    with pytest.raises(TypeError, match="names"):
        save_only_these_names(["a"])


# ---- what goes wrong -------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("size", [1e-6, 1.0])
def test_impure_functions_are_found_out(policy, size):
    for scalar in (False, True):
        random = np.random.default_rng(0)

        def noisy(x):
            y = np.sin(x * (1 + size * random.normal(size=3)))  # noqa: B023
            return np.sum(np.exp(y)) if scalar else y  # noqa: B023

        with pytest.raises(errors.ImpureFunctionError):
            grad(lambda x: np.sum(checkpoint(noisy, POLICIES[policy])(x)))(X)  # noqa: B023


def test_other_operations_are_found_out():
    calls = [0]

    def f(x):
        calls[0] += 1
        return np.sum(np.sin(x)) if calls[0] == 1 else np.sum(np.cos(x))

    for policy in (everything_saveable, dots_saveable, None):
        calls[0] = 0
        with pytest.raises(errors.ImpureFunctionError):
            grad(checkpoint(f, policy))(X)


def test_other_operations_with_the_same_result_are_computed():
    calls = [0]

    def f(x):
        calls[0] += 1
        y = np.sin(x)
        return np.sum(y) if calls[0] == 1 else 0.0 * np.sum(x) + np.sum(y)

    agree(grad(checkpoint(f, everything_saveable))(X), np.cos(X))


def test_other_traced_values_are_found_out():
    class Hidden:
        pass

    def f(x, y):
        hidden, calls = Hidden(), []
        hidden.x, hidden.y = x, y

        def run():
            calls.append(1)
            return hidden.x * 2.0 if len(calls) <= 2 else hidden.y * 2.0

        return checkpoint(run)()

    with pytest.raises(errors.ImpureFunctionError, match="read other traced values"):
        grad(f, (0, 1))(1.0, 1.0)


@pytest.mark.parametrize("policy", [None, everything_saveable])
def test_arrays_that_change_are_found_out(policy):
    c, x = np.full(3, 2.0), X.copy()
    cases = [
        (c, lambda x: checkpoint(lambda x: np.sin(x * c), policy)(x)),
        (c, lambda x: checkpoint(lambda x, c: np.sin(x * c), policy)(x, c)),
        (x, lambda x: checkpoint(np.sin, policy)(x)),
    ]
    for array, f in cases:
        pull = vjp(f, x)[1]
        pull(np.ones(3))
        array[0] += 1.0
        with pytest.raises(errors.ChangedResidualError, match="checkpoint"):
            pull(np.ones(3))


GLOBAL = np.full(3, 2.0)


def test_global_arrays_that_change_are_found_out():
    pull = vjp(checkpoint(lambda x: np.sin(x * GLOBAL)), X)[1]
    GLOBAL[0] = 3.0
    with pytest.raises(errors.ChangedResidualError):
        pull(np.ones(3))


@pytest.mark.parametrize("policy", [None, everything_saveable])
def test_functions_that_write_to_their_arguments(policy):
    def f(x):
        x += 1.0
        return np.sum(x * x)

    x = X.copy()
    agree(value_and_grad(checkpoint(f, policy))(x), (np.sum((X + 1) ** 2), 2 * (X + 1)))
    assert (x == X).all()


def test_exceptions_pass():
    def f(x):
        raise KeyError("mine")

    for policy in (None, everything_saveable):
        with pytest.raises(KeyError, match="mine"):
            grad(checkpoint(f, policy))(1.0)
        assert grad(checkpoint(np.sin, policy))(0.0) == 1.0


@pytest.mark.parametrize("policy", [None, everything_saveable])
def test_two_threads_pull_one_vjp(policy):
    x = np.linspace(0, 1, 200)
    f = checkpoint(lambda x: np.sum(np.cumsum(np.sin(x)) ** 2), policy)
    expected, pull = grad(f)(x), vjp(f, x)[1]
    for found in in_threads(lambda: pull(1.0)[0], 6):
        agree(found, expected)
