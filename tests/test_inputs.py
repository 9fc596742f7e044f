"""What transforms take: all floats, complex numbers and integers; the rest is refused with path and cure."""

import decimal
import enum
import fractions

import numpy as np
import pytest
from expect import here, same

import funcgrad.numpy as fnp
from funcgrad import (
    errors,
    float0,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    make_jaxpr,
    value_and_hvp,
    vjp,
    vmap,
)

V = np.array([1.0, 2.0, 3.0])


class Level(enum.IntEnum):
    ONE = 1


class Meters(float):
    pass


class Thing:
    pass


def nothing(*args):
    raise AssertionError("the function must not be called")


# ---- refused -------------------------------------------------------------------------------

REFUSED = {
    "str": ("abc", "is 'abc', "),
    "bytes": (b"abc", "of type bytes"),
    "object": (Thing(), "of type Thing"),
    "set": ({1.0}, "of type set"),
    "range": (range(3), "of type range"),
    "generator": ((x for x in V), "of type generator"),
    "function": (np.sin, "of type ufunc"),
    "class": (float, "of type type"),
    "Decimal": (decimal.Decimal(1), "of type Decimal"),
    "Fraction": (fractions.Fraction(1, 2), "of type Fraction"),
    "memoryview": (memoryview(b"ab"), "of type memoryview"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), "of type MaskedArray"),
    "matrix": (np.ones((2, 2)).view(np.matrix), "of type matrix"),
    "recarray": (np.rec.array([(1.0,)], dtype=[("a", "f8")]), "of type recarray"),
    "structured": (np.zeros(2, [("a", "f8")]), "of dtype [('a', '<f8')]"),
    "objects": (np.array([1.0, None]), "of dtype object"),
    "strings": (np.array(["a", "b"]), "of dtype <U1"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "of dtype datetime64[D]"),
    "date": (np.datetime64("2020-01-01"), "of dtype datetime64[D]"),
    "duration": (np.timedelta64(1, "s"), "of dtype timedelta64[s]"),
    "void": (np.void(b"a"), "of dtype |V1"),
}
TRANSFORMS = {
    "grad": lambda x: grad(nothing)(x),
    "grad-allow_int": lambda x: grad(nothing, allow_int=True)(x),
    "jvp": lambda x: jvp(nothing, (x,), (x,)),
    "vjp": lambda x: vjp(nothing, x),
    "linearize": lambda x: linearize(nothing, x),
    "jacfwd": lambda x: jacfwd(nothing)(x),
    "jacrev": lambda x: jacrev(nothing)(x),
    "hessian": lambda x: hessian(nothing)(x),
    "hvp": lambda x: hvp(nothing)(x, x),
    "vmap": lambda x: vmap(nothing)(x),
    "make_jaxpr": lambda x: make_jaxpr(nothing)(x),
}


@pytest.mark.parametrize("run", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("x, found", REFUSED.values(), ids=REFUSED)
def test_what_is_no_number_is_refused_before_the_call(run, x, found):
    with pytest.raises(errors.InputTypeError) as caught:
        run({"w": [V, x]})
    assert caught.value.path == "arg[0]['w'][1]" and found in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2  # what happened; what to write instead
    with pytest.raises(TypeError):
        run(x)


def test_arguments_that_are_not_transformed_may_be_anything():
    thing = Thing()

    def f(x, other):
        assert other is thing
        return x * x

    same(grad(f)(2.0, thing), 4.0)
    same(jacfwd(f)(2.0, thing), 4.0)
    same(hvp(f)(2.0, thing, 1.0), 2.0)
    same(value_and_hvp(f)(2.0, thing, 1.0), (4.0, 4.0, 2.0))
    same(vmap(f, in_axes=(0, None))(V, thing), V * V)
    assert str(make_jaxpr(f, static_argnums=1)(2.0, thing)).count("square") == 1


@pytest.mark.parametrize(
    "x, cure",
    [
        (3, "Write 3.0, "),
        (True, "Write 1.0, "),
        (2**70, "x.astype(float)"),
        (np.int8(3), "x.astype(float)"),
        (np.bool(True), "x.astype(float)"),
        (np.array([1, 2]), "x.astype(float)"),
        (np.array([True]), "x.astype(float)"),
        (Level.ONE, "x.astype(float)"),
    ],
    ids=str,
)
@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd, hessian])
def test_integers_say_what_to_write(x, cure, transform):
    with pytest.raises(errors.InputTypeError, match="has no derivative") as caught:
        transform(nothing)(x)
    assert cure in str(caught.value)


# ---- taken ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, True, 2**70, np.int8(3), np.array([1, 2, 3]), Level.ONE], ids=str)
def test_integers_pass_where_they_are_allowed(n):
    zero = np.zeros(np.shape(n), float0)
    same(vjp(lambda x, n: 2.0 * x, V, n)[1](V), (2 * V, zero))
    same(jvp(lambda x, n: 2.0 * x, (V, n), (V, zero)), (2 * V, 2 * V))
    same(linearize(lambda x, n: 2.0 * x, V, n)[1](V, zero), 2 * V)
    same(grad(lambda x, n: np.sum(x), (0, 1), allow_int=True)(V, n), (np.ones(3), zero))


def test_subclasses_of_numbers():
    same(grad(lambda x: x * x)(Meters(3.0)), 6.0)
    same(grad(lambda x: x * Level.ONE)(3.0), 1.0)
    same(grad(lambda x: x * 2**70)(3.0), 2.0**70)
    same(grad(lambda x: np.sum(x * 2**70))(V), np.full(3, 2.0**70))


class Tagged(np.ndarray):
    """A subclass that computes as an array does."""


def test_other_subclasses_of_arrays_become_arrays():
    same(grad(lambda x: np.sum(x * x))(V.view(Tagged)), 2 * V)
    same(jvp(lambda x: x * x, (V.view(Tagged),), (V,))[1], 2 * V * V)


def test_memory_mapped_arrays(tmp_path):
    x = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=3)
    x[:] = V
    same(grad(lambda x: np.sum(x * x))(x), 2 * V)


@pytest.mark.parametrize(
    "x",
    [
        V[::-1],
        np.arange(6.0).reshape(2, 3).T,
        np.broadcast_to(2.0, (2, 3)),
        np.arange(10.0)[::3],
        V.astype(">f8"),
        np.zeros((0, 3)),
        np.asfortranarray(np.ones((2, 3))),
        np.ones((2, 1, 3)),
        np.frombuffer(V.tobytes()),
    ],
    ids=["reversed", "transposed", "broadcast", "strided", "big-endian", "empty", "fortran", "size-1",
         "read-only"],
)  # fmt: skip
def test_arrays_of_every_layout(x):
    before = x.copy()
    gradient = grad(lambda x: np.sum(x * x * x))(x)
    np.testing.assert_array_equal(gradient, 3 * x * x)
    assert gradient.dtype == x.dtype and gradient.flags.writeable
    np.testing.assert_array_equal(jvp(lambda x: x * x, (x,), (np.ones_like(x),))[1], 2 * x)
    np.testing.assert_array_equal(hvp(lambda x: np.sum(x * x * x))(x, np.ones_like(x)), 6 * x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_inputs_pass_through(bad):
    x = np.array([1.0, bad])
    same(grad(lambda x: np.sum(2.0 * x))(x), np.full(2, 2.0))
    np.testing.assert_array_equal(grad(lambda x: np.sum(x * x))(x), 2 * x)
    np.testing.assert_array_equal(jvp(lambda x: x * x, (x,), (np.ones(2),))[1], 2 * x)
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.where(np.isfinite(x), x, 0.0)))(x), [1.0, 0.0])


# ---- operands that are constants of the function --------------------------------------------

OPERANDS = {
    "matrix": np.ones((3, 3)).view(np.matrix),
    "masked": np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "objects": np.array([1.0, 2.0, 3.0], object),
}


@pytest.mark.parametrize("m", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize(
    "op", [lambda x, m: x * m, lambda x, m: np.multiply(m, x), lambda x, m: x - m, lambda x, m: x / m]
)
def test_operands_that_compute_in_another_way(op, m):
    for run in (lambda: vjp(lambda x: op(x, m), V), lambda: linearize(lambda x: op(x, m), V)):
        with pytest.raises(errors.OperandTypeError, match="Convert it before") as caught:
            run()
        assert f"{__file__}:{op.__code__.co_firstlineno} " in str(caught.value)


@pytest.mark.parametrize("m", [OPERANDS["matrix"], OPERANDS["masked"]], ids=["matrix", "masked"])
@pytest.mark.parametrize(
    "op",
    [
        lambda x, m: np.dot(m, x),
        lambda x, m: np.trapezoid(x, m),
        lambda x, m: np.average(x, weights=m),
        lambda x, m: np.concatenate([x, m]),
        lambda x, m: np.multiply.outer(x, m),
        lambda x, m: np.add(x, m, dtype=np.float64),
    ],
)
def test_no_function_forgets_a_mask(op, m):
    """Functions that call `np.asarray` would: what is masked would count."""
    with pytest.raises(errors.OperandTypeError, match="Convert it before") as caught:
        vjp(lambda x: op(x, m), V)
    assert f"{__file__}:{op.__code__.co_firstlineno} " in str(caught.value)


def test_strings_are_no_operands():
    with pytest.raises(TypeError, match="unsupported operand"):
        grad(lambda x: x + "a")(1.0)


def test_lists_are_operands_as_in_numpy():
    same(grad(lambda x: np.sum(x * [1.0, 2.0, 3.0]))(V), V)
    same(grad(lambda x: np.sum([1.0, 2.0, 3.0] * x))(V), V)
    same(grad(lambda x: np.sum(np.multiply((1, 2, 3), x)))(V), V)


# ---- what the function returns ---------------------------------------------------------------


@pytest.mark.parametrize(
    "out, found",
    [
        ("text", "'text'"),
        (Thing(), "Thing"),
        (np.array("a"), "dtype <U1"),
        (np.array([None]), "dtype object"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (float, "type"),
    ],
    ids=["str", "object", "strings", "objects", "date", "class"],
)
@pytest.mark.parametrize(
    "run",
    [
        lambda f: grad(f)(1.0),
        lambda f: jacrev(f)(1.0),
        lambda f: jacfwd(f)(1.0),
        lambda f: vjp(f, 1.0),
        lambda f: jvp(f, (1.0,), (1.0,)),
        lambda f: linearize(f, 1.0),
        lambda f: vmap(f)(V),
        lambda f: make_jaxpr(f)(1.0),
    ],
    ids=["grad", "jacrev", "jacfwd", "vjp", "jvp", "linearize", "vmap", "make_jaxpr"],
)
def test_outputs_must_be_numbers(out, found, run):
    def program(x):
        return out

    with pytest.raises(errors.OutputTypeError, match=found) as caught:
        run(program)
    assert "program returned" in str(caught.value) and "has_aux=True" in str(caught.value)


@pytest.mark.parametrize("out", [3, True, np.int64(3)])
def test_grad_needs_a_floating_point_output(out):
    with pytest.raises(errors.OutputTypeError, match=r"x\.astype\(float\)"):
        grad(lambda x: out)(1.0)
    with pytest.raises(errors.OutputTypeError, match="integer output"):
        jacrev(lambda x: (x, out))(1.0)
    same(jacfwd(lambda x: (x, out))(1.0), (1.0, np.zeros((), float0)))  # as in JAX


def test_errors_of_the_function_pass_unchanged():
    class Own(Exception):
        pass

    def f(x):
        raise Own(here())

    for run in TRANSFORMS.values():
        with pytest.raises(AssertionError, match="must not be called"):
            run(V)
    with pytest.raises(Own, match=__file__):
        grad(f)(1.0)


def test_warnings_of_the_function_stay():
    for run in (grad(lambda x: np.log(x)), lambda x: jvp(np.log, (x,), (1.0,)), lambda x: vjp(np.log, x)):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
            run(-1.0)


@pytest.mark.parametrize("dtype", [object, str, "S8", "M8[s]"])
def test_numbers_do_not_become_objects_or_text(dtype):
    """They would be the same numbers, without their derivative."""
    for f in (lambda x: x.astype(dtype), lambda x: fnp.array([x[0], 1.0], dtype=dtype)):
        for run in (lambda: vjp(f, V), lambda: jvp(f, (V,), (V,))):
            with pytest.raises(errors.UnsupportedArgumentError, match="Stay with numbers"):
                run()


def test_a_masked_entry_of_a_list_is_refused():
    with pytest.raises(errors.OperandTypeError, match="Masked"):
        grad(lambda x: np.sum(fnp.array([x[0], OPERANDS["masked"][1]])))(V)
