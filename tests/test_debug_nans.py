"""`debug_nans` names the operation, the line, the entry and the factor of the first NaN or infinity."""

import pickle
import threading

import numpy as np
import pytest
from expect import line_of, same

from funcgrad import (
    debug_nans,
    errors,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    tag,
    value_and_grad,
    vjp,
    vmap,
)

X = np.array([4.0, 0.0, 1.0])
ONES = np.ones(3)

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in")


def root(x):
    y = 2.0 * x
    z = np.sqrt(y)  # the derivative is infinite at 0
    return z + 1.0


def logarithm(x):
    y = 2.0 * x
    z = np.log(y)  # the value is infinite at 0
    return z + 1.0


def total(f):
    return lambda x: np.sum(f(x))


RUNS = {
    "grad": lambda f: grad(total(f))(X),
    "value_and_grad": lambda f: value_and_grad(total(f))(X),
    "vjp": lambda f: vjp(f, X)[1](ONES),
    "jvp": lambda f: jvp(f, (X,), (ONES,)),
    "linearize": lambda f: linearize(f, X)[1](ONES),
    "jacfwd": lambda f: jacfwd(f)(X),
    "jacrev": lambda f: jacrev(f)(X),
    "hvp": lambda f: hvp(total(f))(X, ONES),
    "hessian": lambda f: hessian(total(f))(X),
    "grad-grad": lambda f: grad(total(grad(total(f))))(X),
    "vmap-grad": lambda f: vmap(grad(total(f)))(np.stack([ONES, X])),
    "grad-vmap": lambda f: grad(lambda x: np.sum(vmap(f)(x)))(np.stack([X, ONES]))[0],
    "jvp-vmap": lambda f: jvp(vmap(f), (np.stack([ONES, X]),), (np.stack([ONES, ONES]),)),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("f, text", [(root, "np.sqrt"), (logarithm, "np.log")], ids=["sqrt", "log"])
def test_the_first_non_finite_value_is_an_error(f, text, run):
    with debug_nans(), pytest.raises(errors.NonFiniteError) as caught:
        run(f)
    error = caught.value
    assert error.operation == text[3:] and error.where.startswith(line_of(f, text))
    assert error.entry[-1:] == (1,)  # the entry of x that is 0
    assert error.sweep in ("forward", "backward") and "= 0.0" in error.factor
    assert "Keep its argument away from the singular point" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("f", [root, logarithm])
def test_without_it_nothing_is_raised(f, run):
    run(f)
    with debug_nans(), debug_nans(False):
        run(f)


FINE = {
    "masked-value": lambda x: np.where(x > 0, np.log(x), 0.0),
    "masked-derivative": lambda x: np.where(x > 0, np.sqrt(x), 0.0),
    "masked-quotient": lambda x: np.where(x != 0, x / x, 1.0),
    "guarded": lambda x: np.sqrt(np.where(x > 0, x, 1.0)),
    "selected": lambda x: np.stack([np.log(x), x])[1],
    "masked-before": lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 0.0)), 0.0),
    "maximum": lambda x: np.maximum(np.log(x), 0.0) * x,
    "saturated": lambda x: np.tanh(1e3 * x),
    "logaddexp": lambda x: np.logaddexp(x, -np.inf),
}


@pytest.mark.parametrize(
    "run", [RUNS[k] for k in ("grad", "vjp", "jvp", "linearize", "hvp", "vmap-grad", "jacfwd", "jacrev")],
    ids=["grad", "vjp", "jvp", "linearize", "hvp", "vmap-grad", "jacfwd", "jacrev"],
)  # fmt: skip
@pytest.mark.parametrize("f", FINE.values(), ids=FINE)
def test_what_reaches_no_result_is_fine(f, run):
    expected = run(f)
    with debug_nans():
        same(run(f)[0] if isinstance(expected, tuple) else run(f),
             expected[0] if isinstance(expected, tuple) else expected)  # fmt: skip


def test_what_was_not_finite_before_is_no_event():
    x = np.array([np.nan, 1.0])
    with debug_nans():
        np.testing.assert_array_equal(grad(lambda x: np.sum(x * x))(x), 2 * x)
        np.testing.assert_array_equal(
            grad(lambda x: np.sum(x * np.array([np.inf, 1.0])))(ONES[:2]), [np.inf, 1]
        )
        np.testing.assert_array_equal(jvp(np.sin, (x,), (ONES[:2],))[0], np.sin(x))


@pytest.mark.parametrize(
    "f, x, operation, sweep, entry, found",
    [
        (lambda x: np.sum(np.exp(x)), [1.0, 1e3], "exp", "forward", (1,), np.inf),
        (lambda x: np.sum(ONES[:2] / x), [0.0, 1.0], "divide", "forward", (0,), np.inf),
        (lambda x: np.sum(x), [1e308, 1e308], "sum", "forward", (), np.inf),
        (lambda x: np.sum(np.sqrt(x[::-1])), [0.0, 1.0], "sqrt", "backward", (1,), np.inf),
        (lambda x: np.sqrt(x[0]), [0.0, 1.0], "sqrt", "backward", (), np.inf),
        (lambda x: np.sum(np.arccos(x)), [0.0, 1.0], "arccos", "backward", (1,), -np.inf),
        (lambda x: np.sum(1.0 / (1.0 + np.exp(x))), [1e3, 1.0], "exp", "forward", (0,), np.inf),
        (lambda x: np.sum(np.sqrt(x[:, None] * ONES)), [1.0, 0.0], "sqrt", "backward", (1, 0), np.inf),
    ],
    ids=["overflow", "quotient", "sum", "reversed", "entry", "arccos", "finite-value", "broadcast"],
)  # fmt: skip
def test_entries_and_sweeps(f, x, operation, sweep, entry, found):
    with debug_nans(), pytest.raises(errors.NonFiniteError) as caught:
        grad(f)(np.array(x))
    error = caught.value
    assert (error.operation, error.sweep, error.entry) == (operation, sweep, entry)
    assert error.found == found


def test_what_a_masked_event_hides_is_found():
    def f(x):
        masked = np.where(x > 0, np.log(x), 0.0)
        return np.sum(masked + np.arcsin(x))  # out of its domain at 4

    with debug_nans(), pytest.raises(errors.NonFiniteError, match="arcsin made nan") as caught:
        grad(f)(X)
    assert caught.value.where.startswith(line_of(f, "np.arcsin")) and caught.value.entry == (0,)


def test_a_value_rebound_in_place_keeps_its_event():
    def f(x):
        y = np.log(x)
        y += 1.0
        return np.sum(y)

    with debug_nans(), pytest.raises(errors.NonFiniteError, match="log made -inf"):
        grad(f)(X)


# ---- the context ---------------------------------------------------------------------------


def raises():
    try:
        RUNS["grad"](root)
    except errors.NonFiniteError:
        return True
    return False


def test_contexts_nest_and_end():
    assert not raises()
    with debug_nans():
        assert raises()
        with debug_nans(False):
            assert not raises()
            with debug_nans():
                assert raises()
            assert not raises()
        assert raises()
    assert not raises()


def test_it_ends_after_an_exception():
    with pytest.raises(KeyError), debug_nans():
        raise KeyError
    assert not raises()
    with debug_nans():
        assert raises()  # the error of a walk leaves nothing behind
        assert raises()
    assert not raises()


def test_it_holds_for_one_thread():
    seen = {}

    def work(name, enable):
        with debug_nans(enable):
            started.wait()
            seen[name] = raises()

    started = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=a) for a in (("on", True), ("off", False))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"on": True, "off": False}
    with debug_nans():
        thread = threading.Thread(target=lambda: seen.update(other=raises()))
        thread.start()
        thread.join()
    assert seen["other"] is False


def test_pulling_outside_of_the_context():
    with debug_nans():
        _, pull = vjp(root, X)
        with pytest.raises(errors.NonFiniteError):
            pull(ONES)
    assert np.isinf(pull(ONES)[0][1])
    _, pull = vjp(root, X)
    with debug_nans(), pytest.raises(errors.NonFiniteError, match="sqrt"):
        pull(ONES)


def test_tags_tell_which_values():
    def f(x):
        energy = tag(x * x, "energy")
        return tag(np.sqrt(energy), "speed")

    with debug_nans(), pytest.raises(errors.NonFiniteError, match=r"\[operand 'energy', result 'speed'\]"):
        grad(f)(0.0)
