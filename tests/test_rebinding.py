"""`x += v` on a traced array binds its box to another value: what was made of the old one stays as it was."""

import numpy as np
import pytest
from expect import same

from funcgrad import (
    checkpoint,
    custom_vjp,
    errors,
    eval_jaxpr,
    grad,
    hvp,
    jvp,
    lax,
    linear_transpose,
    linearize,
    make_jaxpr,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

ONE = np.ones(2)
X = np.array([0.3, 0.4])


@custom_vjp
def product(a, b):
    return a * b


product.defvjp(lambda a, b: (a * b, (a, b)), lambda kept, g: (g * kept[1], g * kept[0]))


def pulled(f, at):
    """The pull of `f` along ones, to be called later."""
    _, pull = vjp(f, at)
    return lambda: pull(ONE)[0]


def pushed(f, at):
    _, push = linearize(f, at)
    return lambda: push(ONE)


def transposed(f):
    transpose = linear_transpose(f, ONE)
    return lambda: transpose(ONE)[0]


def program(f):
    jaxpr = make_jaxpr(f)(ONE)
    return lambda: eval_jaxpr(jaxpr, jaxpr.consts, ONE)[0]


def power(h):
    return lambda c, _: (c * h, None)


#: What keeps `h`, an array of a transform around, until it is called.
KEPT = {
    "pull": lambda h: pulled(lambda z: z * z, h),
    "pull-closure": lambda h: pulled(lambda z: z * h, ONE),
    "pull-constant-first": lambda h: pulled(lambda z: np.where(h > 0.5, h, h * h) * z, ONE),
    "pull-joined": lambda h: pulled(lambda z: np.stack([z, h])[0] * np.concatenate([h, z])[:2], ONE),
    "push": lambda h: pushed(lambda z: z * z, h),
    "push-closure": lambda h: pushed(lambda z: z * h, ONE),
    "program": lambda h: program(lambda z: z * h),
    "transpose": lambda h: transposed(lambda z: z * h),
    "checkpoint": lambda h: pulled(checkpoint(lambda z: z * z), h),
    "checkpoint-constant": lambda h: pulled(lambda z: checkpoint(lambda a, b: a * b)(z, h), ONE),
    "custom-rule": lambda h: pulled(lambda z: product(z, z), h),
    "custom-rule-constant": lambda h: pulled(lambda z: product(z, h), ONE),
    "scan": lambda h: pulled(lambda z: lax.scan(power(h), z, None, length=2)[0], ONE),
    "cond": lambda h: pulled(lambda z: lax.cond(True, lambda a: a * h, lambda a: a, z), ONE),
    "fori": lambda h: pulled(lambda z: lax.fori_loop(0, 2, lambda i, a: a * h, z), ONE),
}  # fmt: skip

AROUND = {
    "grad": lambda f: value_and_grad(f)(X),
    "jvp": lambda f: jvp(f, (X,), (ONE,)),
    "vmap": lambda f: vmap(f)(np.stack([X, 2.0 * X])),
    "hvp": lambda f: hvp(f)(X, ONE),
    "grad-of-vmap": lambda f: grad(lambda x: np.sum(vmap(f)(x)))(np.stack([X, 2.0 * X])),
    "program": lambda f: (lambda p: eval_jaxpr(p, p.consts, X))(make_jaxpr(f)(X)),
}


#: What runs a function that closes over `h` once more.
RUNS_AGAIN = {
    "checkpoint": lambda h: pulled(checkpoint(lambda z: z * h), ONE),
    "checkpointed-scan": lambda h: pulled(
        lambda z: lax.scan(power(h), z, None, length=4, checkpoint=2)[0], ONE
    ),
}


def changing(keep):
    def f(x, change):
        h = np.exp(x)
        later = keep(h)
        before = np.sum(h)
        if change:
            h *= 3.0
            return np.sum(later()) + np.sum(h) / 3.0 - before
        return np.sum(later())

    return f


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("keep", KEPT.values(), ids=KEPT)
def test_what_is_kept_does_not_change(keep, around):
    f = changing(keep)
    if around is AROUND["program"] and keep in (KEPT["scan"], KEPT["fori"]):  # loops stay loops there
        with pytest.raises(errors.ChangedResidualError, match="scan"):
            around(lambda x: f(x, True))
        return
    same(around(lambda x: f(x, True)), around(lambda x: f(x, False)), rtol=1e-12)


@pytest.mark.parametrize("around", [lambda f: f(X), *AROUND.values()], ids=["none", *AROUND])
@pytest.mark.parametrize("keep", RUNS_AGAIN.values(), ids=RUNS_AGAIN)
def test_what_runs_again_must_find_what_it_found(keep, around):
    f = changing(keep)
    around(lambda x: f(x, False))
    with pytest.raises(errors.ChangedResidualError):
        around(lambda x: f(x, True))


@pytest.mark.parametrize("call", ["cond", "scan"])
def test_arrays_that_a_program_closes_over(call):
    def f(z, index, change):
        w = np.array([2.0, 3.0])
        if call == "scan":
            _, pull = vjp(lambda z: lax.scan(power(w), z, None, length=2)[0], z)
        else:
            _, pull = vjp(lambda z: lax.cond(index > 0, lambda a: a * w, lambda a: a, z), z)
        if change:
            w[0] = 5.0
        return pull(ONE)[0]

    make_jaxpr(f, static_argnums=2)(ONE, 1, False)
    with pytest.raises(errors.ChangedResidualError, match=call):
        make_jaxpr(f, static_argnums=2)(ONE, 1, True)


#: Transforms that return what they were given.
RETURNED = {
    "vjp": lambda h: vjp(lambda z: z, h)[0],
    "pull": lambda h: vjp(lambda z: z, ONE)[1](h)[0],
    "aux": lambda h: value_and_grad(lambda z: (np.sum(z), z), has_aux=True)(h)[0][1],
    "jvp": lambda h: jvp(lambda z: z, (h,), (ONE,))[0],
    "tangent": lambda h: jvp(lambda z: z, (ONE,), (h,))[1],
    "linearize": lambda h: linearize(lambda z: z, h)[0],
    "push": lambda h: linearize(lambda z: z, ONE)[1](h),
    "vmap": lambda h: vmap(lambda z: z)(h),
    "vmap-constant": lambda h: vmap(lambda z: h, out_axes=None)(ONE),
    "stop_gradient": stop_gradient,
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("returned", RETURNED.values(), ids=RETURNED)
def test_what_a_transform_returns_is_an_array_of_its_own(returned, around):
    def f(x):
        h = np.exp(x)
        y = returned(h)
        y *= 3.0
        return np.sum(h)

    same(around(f), around(lambda x: np.sum(np.exp(x))))


def test_steps_of_an_optimiser_in_place():
    def descend(rate):
        w = np.ones(3) * rate
        for _ in range(3):
            w -= rate * grad(lambda w: np.sum(w**4))(w)
        return np.sum(w)

    def pure(rate):
        w = np.ones(3) * rate
        for _ in range(3):
            w = w - rate * 4.0 * w**3
        return np.sum(w)

    same(value_and_grad(descend)(0.1), value_and_grad(pure)(0.1), rtol=1e-12)
    same(grad(grad(descend))(0.1), grad(grad(pure))(0.1), rtol=1e-12)
