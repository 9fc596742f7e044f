"""Jacobians and Hessians in batches: the same results, whatever their size, in threads, under transforms."""

import contextlib
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from funcgrad import debug_nans, errors, grad, hessian, jacfwd, jacobian, jacrev, vmap

X = np.array([0.3, -1.2, 0.8, 1.9, 0.5])
N = len(X)
TRANSFORMS = pytest.mark.parametrize("jac", [jacfwd, jacrev, jacobian, hessian], ids=lambda t: t.__name__)
OPTIONS = {
    **{f"chunk_size={n}": {"chunk_size": n} for n in (1, 2, N - 1, N, N + 1, 1000)},
    "max_bytes=1": {"max_bytes": 1},
    "max_bytes=2000": {"max_bytes": 2000},
    "max_bytes=None": {"max_bytes": None},
    "workers": {"workers": 2},
    "workers, chunk_size": {"workers": 3, "chunk_size": 2},
    "workers, max_bytes": {"workers": 2, "max_bytes": 2000},
}
WITH_OPTIONS = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def f(x):
    y = np.sin(x) * x[::-1] ** 2
    return np.cumsum(np.where(y > 0, y, np.exp(y)))


def alike(found, expected):
    if isinstance(expected, (tuple, list, dict)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for key in expected if isinstance(expected, dict) else range(len(expected)):
            alike(found[key], expected[key])
        return
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


# ---- the same results ----------------------------------------------------------------------


@TRANSFORMS
@WITH_OPTIONS
def test_one_array(jac, options):
    expected = jac(f)(X)
    found = jac(f, **options)(X)
    alike(found, expected)
    assert found.flags.writeable


@TRANSFORMS
@WITH_OPTIONS
def test_trees_aux_and_argnums(jac, options):
    def g(scale, p, q):
        y = p["w"] @ p["w"].T * scale
        return {"y": y, "n": (np.sum(p["b"] * q), p["b"] * q)}, (np.max(q), "text")

    p = {"w": X[:4].reshape(2, 2), "b": X[:3]}
    for argnums in (1, (1, 2), ("p", "q"), -1):
        args = 2.0, p, X[2:]
        expected, aux = jac(g, argnums, has_aux=True)(*args)
        found, found_aux = jac(g, argnums, has_aux=True, **options)(*args)
        alike(found, expected)
        assert found_aux == aux


@TRANSFORMS
@WITH_OPTIONS
def test_complex_and_holomorphic(jac, options):
    z = X * np.exp(1j * X)
    alike(
        jac(lambda z: z**3 * z[0], holomorphic=True, **options)(z),
        jac(lambda z: z**3 * z[0], holomorphic=True)(z),
    )
    if jac is jacrev:
        g = lambda z: np.abs(z) ** 2  # noqa: E731
        alike(jac(g, **options)(z), jac(g)(z))


@TRANSFORMS
@WITH_OPTIONS
def test_nothing_and_numbers(jac, options):
    for g, x in ((f, np.zeros(0)), (np.sin, 0.5), (lambda x: x[:0], X), (lambda x: np.ones(2), X)):
        with np.errstate(all="ignore"):
            alike(jac(g, **options)(x), jac(g)(x))


@WITH_OPTIONS
def test_under_other_transforms(options):
    w = 0.7
    batch = np.stack([X, 2 * X])
    alike(vmap(jacrev(f, **options))(batch), vmap(jacrev(f))(batch))
    alike(vmap(jacfwd(f, **options))(batch), vmap(jacfwd(f))(batch))
    for jac in (jacfwd, jacrev, hessian):
        penalty = lambda x, jac=jac, **o: np.sum(jac(f, **o)(x) ** 2)  # noqa: E731
        alike(grad(lambda x: penalty(x, **options))(X), grad(penalty)(X))
        closed = lambda w, jac=jac, **o: np.sum(jac(lambda x: w * f(w * x), **o)(X))  # noqa: E731
        np.testing.assert_allclose(grad(lambda w: closed(w, **options))(w), grad(closed)(w), rtol=1e-12)
    alike(jacfwd(jacrev(f, **options), **options)(X), hessian(f)(X))


# ---- how many --------------------------------------------------------------------------------


def calls_of(jac, **options):
    """How many directions are done after each batch of a Jacobian of five inputs and outputs."""
    told = []
    jac(f, progress=lambda done, total: told.append((done, total)), **options)(X)
    return told


@TRANSFORMS
def test_progress_is_told_after_each_batch(jac):
    assert calls_of(jac) == [(5, 5)]
    assert calls_of(jac, chunk_size=2) == [(2, 5), (4, 5), (5, 5)]
    assert calls_of(jac, chunk_size=4) == [(4, 5), (5, 5)]
    assert calls_of(jac, chunk_size=6) == [(5, 5)]
    assert calls_of(jac, max_bytes=1) == [(i, 5) for i in range(1, 6)]
    assert calls_of(jac, max_bytes=1, chunk_size=5) == [(5, 5)]
    assert calls_of(jac, max_bytes=None) == [(5, 5)]
    told = calls_of(jac, workers=2, chunk_size=2)
    assert len(told) == 3 and told == sorted(told) and told[-1] == (5, 5)


def test_progress_as_text(capsys):
    hessian(f, chunk_size=3, progress=True)(X)
    out, err = capsys.readouterr()
    assert err == "\rhessian: 3 of 5 directions\rhessian: 5 of 5 directions\n" and not out
    jacrev(f, chunk_size=3, progress=False)(X)
    assert capsys.readouterr() == ("", "")


def wide(x):
    """Five inputs, and much between them and the result."""
    y = np.exp(np.linspace(0.0, 1.0, 50_000) * x[:, None])
    return np.sum(np.sin(y) * y, axis=1)


@pytest.mark.parametrize("jac, least", [(jacfwd, 1), (jacrev, 1), (hessian, 1)])
def test_memory_is_bounded(jac, least):
    def peak(**options):
        tracemalloc.start()
        result = jac(wide, **options)(X)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used, result

    whole, expected = peak(max_bytes=None)
    bounded, found = peak(max_bytes=2**20)
    assert bounded < 0.75 * whole
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_function_that_catches_everything_does_not_stop_a_smaller_start():
    def g(x):
        try:
            return f(x)
        except Exception:
            return x

    alike(jacfwd(g, max_bytes=500)(X), jacfwd(f)(X))


def test_a_bound_inside_of_a_bound_belongs_to_its_own():
    g = jacfwd(jacfwd(f, max_bytes=300), max_bytes=3000)
    alike(g(X), jacfwd(jacfwd(f))(X))


@TRANSFORMS
@pytest.mark.parametrize(
    "options",
    [{"chunk_size": 0}, {"chunk_size": 1.5}, {"max_bytes": -1}, {"workers": 0}, {"workers": True}],
    ids=str,
)
def test_wrong_numbers(jac, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be a positive integer"):
        jac(f, **options)


def test_wrong_progress():
    with pytest.raises(TypeError, match="progress must be"):
        jacrev(f, progress="bar")


# ---- threads -------------------------------------------------------------------------------


def threads_of(jac, **options):
    seen = set()

    def g(x):
        seen.add(threading.get_ident())
        return f(x)

    jac(g, **options)(X)
    return seen


def test_batches_run_in_threads():
    assert threads_of(jacfwd, chunk_size=1) == {threading.get_ident()}
    assert len(threads_of(jacfwd, chunk_size=1, workers=2)) in (2, 3)
    with ThreadPoolExecutor(1) as executor:
        assert len(threads_of(jacfwd, chunk_size=1, workers=executor)) == 2
        alike(jacrev(f, chunk_size=1, workers=executor)(X), jacrev(f)(X))
        assert executor.submit(int, 3).result() == 3  # it is not shut down
    assert threads_of(lambda g, **o: grad(lambda x: np.sum(jacfwd(g, **o)(x))), chunk_size=1, workers=2) == {
        threading.get_ident()
    }


@pytest.mark.parametrize("jac", [jacfwd, jacrev])
def test_traced_values_that_no_derivative_shows_keep_their_thread(jac):
    class Model:
        def __call__(self, x):
            threads.add(threading.get_ident())
            return np.sin(x) + self.w

    threads, model = set(), Model()

    def loss(w):
        model.w = w
        return np.sum(jac(model, chunk_size=1, workers=2)(X)) * w

    found = grad(loss)(2.0)
    np.testing.assert_allclose(found, np.sum(np.cos(X)), rtol=1e-14)
    assert threads == {threading.get_ident()}


def test_an_error_in_a_thread_names_the_users_line():
    def g(x):
        if threading.current_thread() is not threading.main_thread():
            return float(x[0]) * x
        return f(x)

    with pytest.raises(errors.ConcretizationError, match=r"test_chunks.py:\d+ \(.*g\)"):
        jacfwd(g, chunk_size=1, workers=2)(X)


def test_an_error_of_a_rule_in_a_thread_names_the_operation():
    def g(x):
        w = np.linalg.eigh(np.diag(x) + np.ones((N, N)) * 0)[1]
        return w[:, 0]

    with pytest.raises(errors.RepeatedEigenvalueError) as error:
        jacrev(g, chunk_size=1, workers=2)(np.ones(N))
    assert "test_chunks.py" in str(error.value)


def test_threads_have_the_callers_context():
    g = lambda x: np.sqrt(x) * np.arange(5.0)  # noqa: E731
    bad = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    with debug_nans(), pytest.raises(errors.NonFiniteError):
        jacfwd(g, chunk_size=1, workers=2)(bad)
    with np.errstate(divide="raise"), contextlib.suppress(FloatingPointError):
        jacfwd(lambda x: 1.0 / (x - x), chunk_size=1, workers=2)(X)
        raise AssertionError("the error was lost")


def test_what_is_left_is_not_begun_after_an_error():
    calls = []

    def g(x):
        calls.append(1)
        if len(calls) > 1:
            raise KeyError("stop")
        return np.sin(x)

    with pytest.raises(KeyError, match="stop"):
        jacfwd(g, chunk_size=1, workers=2)(np.ones(200))
    assert len(calls) < 150
