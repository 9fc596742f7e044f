"""SciPy's namespaces here: its names, its results on plain values, errors where there is no derivative."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import funcgrad.scipy
from funcgrad import errors, grad, stop_gradient
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.scipy._mirror import has_tracer, is_function, mirror
from funcgrad.scipy.optimize import fsolve, golden, leastsq

SUBMODULES = sorted(
    path.stem for path in Path(funcgrad.scipy.__file__).parent.iterdir() if path.stem in dir(scipy)
)
EVERY_SUBMODULE = pytest.mark.parametrize("submodule", SUBMODULES)


def both(submodule):
    return getattr(funcgrad.scipy, submodule), getattr(scipy, submodule)


@EVERY_SUBMODULE
def test_names_are_scipys(submodule):
    ours, theirs = both(submodule)
    public = {name for name in vars(theirs) if not name.startswith("_")} | set(theirs.__all__)
    assert not [name for name in public if not hasattr(ours, name)]


@EVERY_SUBMODULE
def test_functions_without_derivative_say_so(submodule):
    ours, theirs = both(submodule)
    for name, function in vars(theirs).items():
        if name.startswith("_") or not is_function(function) or function in IMPLEMENTATIONS:
            continue
        mirrored = getattr(ours, name)
        if mirrored.__module__ != f"funcgrad.scipy.{submodule}" or inspect.unwrap(mirrored) is mirrored:
            continue  # a function of our own
        with pytest.raises(
            errors.UnsupportedFunctionError, match=f"^scipy.{submodule}.{name} is not"
        ) as info:
            grad(lambda x: mirrored([x]))(1.0)
        assert Path(__file__).name in str(info.value)


def test_a_mirrored_function_is_scipys_on_plain_values():
    eigvals = mirror(scipy.linalg)["eigvals"]
    a = np.array([[2.0, 1.0], [0.0, 3.0]])
    assert np.array_equal(eigvals(a), scipy.linalg.eigvals(a))
    assert scipy.linalg.eigvals.__doc__.startswith(eigvals.__doc__) and ">>>" not in eigvals.__doc__
    assert inspect.signature(eigvals) == inspect.signature(scipy.linalg.eigvals)


@EVERY_SUBMODULE
def test_mirrored_functions_pickle(submodule):
    ours, _ = both(submodule)
    for name, function in vars(ours).items():
        if getattr(function, "__module__", "") == ours.__name__ and is_function(function):
            if not name.startswith("_"):
                assert pickle.loads(pickle.dumps(function)) is function


def test_what_is_no_function_is_scipys():
    names = mirror(scipy.linalg)
    assert names["LinAlgError"] is scipy.linalg.LinAlgError
    assert names["lapack"] is scipy.linalg.lapack


def test_the_cure_is_told():
    schur = mirror(scipy.linalg, {"schur": "Take scipy.linalg.eig."})["schur"]
    with pytest.raises(errors.UnsupportedFunctionError, match="Take scipy.linalg.eig"):
        grad(lambda x: schur(x)[0][0, 0])(np.eye(2))


def test_traced_values_are_found_in_containers():
    def f(x):
        held = np.empty(1, object)
        held[0] = x
        assert all(map(has_tracer, (x, [x], (1.0, [x]), {"a": (x,)}, held)))
        assert not any(map(has_tracer, (1.0, [2.0], {"a": None}, "x", np.ones(2))))
        return x

    grad(f)(1.0)


def a_root(x):
    return leastsq(lambda t: t**3 - x, [0.7])[0][0]


def a_minimum(x):
    return golden(lambda t: (t - x) ** 2)


@pytest.mark.parametrize("solve", [a_root, a_minimum])
def test_solvers_refuse_functions_that_close_over_traced_values(solve):
    """By name, though compiled code has an error of its own, and golden would compare and give numbers."""
    with pytest.raises(errors.UnsupportedArgumentError, match="closes over.*\n.*custom_") as info:
        grad(solve)(0.4)
    assert Path(__file__).name in str(info.value)
    assert np.isclose(solve(0.4), 0.4 if solve is a_minimum else 0.4 ** (1 / 3))


def test_solvers_take_functions_that_read_plain_values():
    def f(x):
        return x * fsolve(lambda t: t**3 - stop_gradient(x), [0.7])[0]

    assert np.isclose(grad(f)(0.4), 0.4 ** (1 / 3))


def test_errors_of_functions_stay_theirs():
    def f(x):
        def wrong(t):
            raise KeyError(t[0] * x)

        return fsolve(wrong, [0.7])

    with pytest.raises(KeyError):
        grad(f)(0.4)
