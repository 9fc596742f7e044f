"""Derivatives are never dropped in silence: cuts are named, conversions that would cut are refused."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from expect import here, same

from funcgrad import (
    errors,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

V = np.array([1.0, 2.0, 3.0])


def relu(x):
    return np.where(x > 0, x, 0.0)


# ---- what cuts -----------------------------------------------------------------------------

CUTS = {
    "floor": lambda x: np.floor(x[0]),
    "round": lambda x: np.round(x[0]),
    "sign": lambda x: np.sign(x[0]),
    "compare": lambda x: np.sum(np.where(x > 2, 1.0, 0.0)),
    "branch": lambda x: 1.0 if x[0] > 2 else 0.0,
    "bool": lambda x: 1.0 if x[0] else 0.0,
    "int": lambda x: float(int(x[0])),
    "index": lambda x: V[int(x[0])],
    "range": lambda x: sum(1.0 for _ in range(int(x[2]))),
    "astype": lambda x: np.sum(x.astype(int) * 1.0),
    "argmax": lambda x: 1.0 * np.argmax(x),
    "argsort": lambda x: np.sum(1.0 * np.argsort(x)),
    "floor-divide": lambda x: x[0] // 2.0,
    "isnan": lambda x: np.sum(1.0 * np.isnan(x)),
    "in": lambda x: 1.0 * (2.0 in x),
    "searchsorted": lambda x: 1.0 * np.searchsorted(V, x[0]),
    "after-others": lambda x: np.floor(np.sum(x * x) + 0.5),
}


@pytest.mark.parametrize("f", CUTS.values(), ids=CUTS)
def test_a_gradient_that_was_cut_warns_and_names_the_line(f):
    line = f"{f.__code__.co_filename}:{f.__code__.co_firstlineno} "
    with pytest.warns(errors.DependenceCutWarning) as caught:
        same(grad(f)(V), np.zeros(3))
    (warning,) = caught
    assert line in str(warning.message) and "arg[0]" in str(warning.message)
    assert "unused='zero'" in str(warning.message)
    assert warning.filename == __file__  # it points at the call of the transform


def test_both_spellings_of_the_transform_point_at_the_call():
    for transform in (grad, value_and_grad):
        with pytest.warns(errors.DependenceCutWarning) as caught:
            transform(np.floor)(1.5)
            line = here(back=1)
        assert f"{caught[0].filename}:{caught[0].lineno}" == line


def test_only_the_argument_that_was_cut_is_named():
    def f(p, q):
        return p["a"] * np.floor(p["b"]) * q

    with pytest.warns(errors.DependenceCutWarning, match=r"arg\[0\]\['b'\] is zero") as caught:
        same(grad(f, (0, 1))({"a": 2.0, "b": 1.5}, 3.0), ({"a": 3.0, "b": 0.0}, 2.0))
    assert len(caught) == 1
    with pytest.warns(errors.DependenceCutWarning, match="respect to b is zero"):
        grad(lambda a, b: a * np.floor(b), "b")(1.0, 2.0)


QUIET = {
    "unused": lambda: grad(lambda x: 3.0)(1.0),
    "one-of-two-unused": lambda: grad(lambda x, y: x, (0, 1))(1.0, 2.0),
    "selected": lambda: grad(lambda x: np.sum(relu(x)))(V),
    "branch-on-the-way": lambda: grad(lambda x: 2 * x if x > 0 else x)(1.0),
    "sorted": lambda: grad(lambda x: np.sort(x)[0])(V),
    "stop": lambda: grad(lambda x: stop_gradient(x) * 1.0)(1.0),
    "stop-floor": lambda: grad(lambda x: np.floor(stop_gradient(x)) * 1.0)(1.0),
    "linear": lambda: grad(grad(lambda x: 3 * x))(1.0),
    "hessian-linear": lambda: hessian(lambda x: np.sum(3 * x))(V),
    "hessian-relu": lambda: hessian(lambda x: np.sum(relu(x)))(V),
    "hvp-relu": lambda: hvp(lambda x: np.sum(relu(x)))(V, V),
    "jacfwd-grad-relu": lambda: jacfwd(grad(lambda x: np.sum(relu(x))))(V),
    "grad-grad-relu": lambda: grad(lambda x: np.sum(grad(lambda x: np.sum(relu(3.0 * x)))(x)))(V),
    "grad-jvp-relu": lambda: grad(lambda x: jvp(lambda x: np.sum(relu(x)), (x,), (V,))[1])(V),
    "grad-linearize-relu": lambda: grad(lambda x: np.sum(linearize(relu, x)[1](V)))(V),
    "max": lambda: grad(lambda x: np.max(x))(V),
    "hvp-max": lambda: hvp(np.max)(V, V),
    "zero": lambda: grad(np.floor, unused="zero")(1.5),
    "forward": lambda: (jvp(np.floor, (1.5,), (1.0,)), vjp(np.floor, 1.5), jacrev(np.floor)(1.5)),
}


@pytest.mark.parametrize("run", QUIET.values(), ids=QUIET)
def test_no_noise(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()


NESTED = {
    "grad-grad": lambda: grad(grad(np.floor))(1.5),
    "three": lambda: grad(grad(grad(np.floor)))(1.5),
    "grad-jvp": lambda: grad(lambda x: jvp(np.floor, (x,), (1.0,))[0])(1.5),
    "grad-vjp": lambda: grad(lambda x: vjp(np.floor, x)[0])(1.5),
    "one-output-of-two": lambda: grad(lambda x: vjp(lambda y: (y, np.floor(y)), x)[0][1])(1.5),
    "grad-linearize": lambda: grad(lambda x: linearize(np.floor, x)[0])(1.5),
    "vmap-grad": lambda: vmap(grad(np.floor))(V),
    "grad-vmap": lambda: grad(lambda x: np.sum(vmap(np.floor)(x)))(V),
    "grad-vmap-grad": lambda: grad(lambda x: np.sum(vmap(grad(np.floor))(x)))(V),
    "closure": lambda: grad(lambda a: grad(lambda b: np.floor(a) * b)(2.0))(1.5),
    "staged": lambda: make_jaxpr(grad(np.floor))(1.5),
}


@pytest.mark.parametrize("run", NESTED.values(), ids=NESTED)
def test_nested_transforms_warn_once(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert [w.category for w in caught] == [errors.DependenceCutWarning]


# ---- unused= -------------------------------------------------------------------------------


def test_unused_error():
    with pytest.raises(errors.UnusedInputError, match=r"does not depend on arg\[1\]\n"):
        grad(lambda x, y: x, (0, 1), unused="error")(1.0, 2.0)
    with pytest.raises(errors.UnusedInputError) as caught:
        grad(lambda x: np.floor(x), unused="error")(1.0)
    assert here(back=1) in str(caught.value) and caught.value.path == "arg[0]"
    same(grad(lambda x, y: x * y, (0, 1), unused="error")(1.0, 2.0), (2.0, 1.0))


def test_unused_takes_three_words():
    with pytest.raises(ValueError, match="'zero', 'warn' or 'error'"):
        grad(np.sin, unused="ignore")


# ---- conversions that would cut ------------------------------------------------------------

REFUSED = {
    "float": lambda x: float(x[0]),
    "complex": lambda x: complex(x[0]),
    "item": lambda x: x[0].item(),
    "item-of-array": lambda x: x.item(0),
    "tolist": lambda x: x.tolist()[0],
    "math.sin": lambda x: math.sin(x[0]),
    "math.floor": lambda x: math.floor(x[0]),
    "asarray": lambda x: np.asarray(x)[0],
    "array": lambda x: np.array(x)[0],
    "array-of-list": lambda x: np.array([x[0], 1.0])[0],
    "float64": lambda x: np.float64(x[0]),
    "fill-slice": lambda x: np.zeros(3).__setitem__(slice(0, 2), x[:2]),
    "full": lambda x: np.full(3, x[0])[0],
    "object-array": lambda x: np.array([x[0], x[1]], dtype=object).sum(),
    "vectorize": lambda x: np.sum(np.vectorize(lambda v: 2 * v)(x)),
    "ufunc-of-list": lambda x: np.sin([x[0], x[1]])[0],
    "pickle": lambda x: pickle.dumps(x),
}


@pytest.mark.parametrize("transform", [grad, lambda f: lambda x: jvp(f, (x,), (x,)), vmap, make_jaxpr],
                         ids=["grad", "jvp", "vmap", "make_jaxpr"])  # fmt: skip
@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_conversions_are_refused(f, transform):
    x = np.stack([V, V]) if transform is vmap else V
    with pytest.raises(errors.ConcretizationError) as caught:
        transform(f)(x)
    assert f"{__file__}:{f.__code__.co_firstlineno} " in str(caught.value)
    assert "stop_gradient(x)" in str(caught.value)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.zeros(3).__setitem__(0, x[0]),
        lambda x: np.zeros(3).fill(x[0]),
        lambda x: np.fromiter((v for v in x), float),
    ],
    ids=["item-assignment", "fill", "fromiter"],
)
def test_where_numpy_raises_its_own_error_ours_is_the_cause(f):
    with pytest.raises(ValueError, match="setting an array element") as caught:
        grad(f)(V)
    cause = caught.value.__cause__
    assert isinstance(cause, errors.ConcretizationError) and "np.zeros_like(x)" in str(cause)
    assert f"{__file__}:{f.__code__.co_firstlineno} " in str(cause)


IN_PLACE = {
    "out": lambda x: np.add(x, 1.0, out=np.zeros(3)),
    "out-positional": lambda x: np.sin(x, np.zeros(3)),
    "augmented": lambda x: np.zeros(3).__iadd__(x),
    "at": lambda x: np.add.at(np.zeros(3), [0], x[0]),
    "copyto": lambda x: np.copyto(np.zeros(3), x),
    "put": lambda x: np.put(np.zeros(3), [0], x[0]),
    "reduction-out": lambda x: np.sum(x, axis=0, out=np.zeros(())),
}


@pytest.mark.parametrize("f", IN_PLACE.values(), ids=IN_PLACE)
def test_writing_into_plain_arrays_is_refused(f):
    with pytest.raises(errors.InPlaceError) as caught:
        grad(f)(V.copy())
    assert f"{__file__}:{f.__code__.co_firstlineno} " in str(caught.value)


def test_what_python_may_read():
    def f(x):
        assert len(x) == 3 and x.shape == (3,) and x.ndim == 1 and x.size == 3 and x.dtype == float
        assert f"{x[0]:.1f}" == "1.0" and "1." in repr(x) and x[0] > 0.5 and bool(x[1] == 2.0)
        assert int(x[1]) == 2 and range(3)[int(x[1])] == 2 and 2.0 in x
        return np.sum(x * copy.copy(x) * copy.deepcopy(x))

    same(grad(f)(V), 3 * V * V)


def test_tracers_are_no_keys():
    with pytest.raises(TypeError, match="unhashable"):
        grad(lambda x: {x: 1.0}[x])(1.0)


@pytest.mark.parametrize(
    "f",
    [
        np.abs,
        lambda x: np.maximum(x, 0.0),
        lambda x: np.where(x > 0, x, 0.0),
        lambda x: np.linalg.norm(np.stack([x, x]), 1),
    ],
)
def test_rules_cut_nothing(f):
    """A rule may compare and round: that a second derivative is zero is then no accident."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(grad(f))(1.0) == 0.0
        assert grad(lambda x: jvp(f, (x,), (1.0,))[1])(1.0) == 0.0
        assert hessian(lambda x: np.sum(np.abs(x)))(np.ones(2)).sum() == 0.0
