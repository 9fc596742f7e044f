"""SciPy's namespaces here: its names, its results on plain values, errors where there is no derivative."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import funcgrad.scipy
from funcgrad import errors, grad
from funcgrad._primitives.kinds import IMPLEMENTATIONS
from funcgrad.scipy._mirror import has_tracer, is_function, mirror

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
    assert eigvals.__doc__ == scipy.linalg.eigvals.__doc__
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
