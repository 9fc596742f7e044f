"""Programs: how they are staged, printed, checked, evaluated and transformed."""

import numpy as np
import pytest
from expect import here, line_of, same

import funcgrad.numpy as fnp
from funcgrad import (
    Eqn,
    Jaxpr,
    Literal,
    ShapeDtypeStruct,
    Var,
    check_jaxpr,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    jvp,
    make_jaxpr,
    named_call,
    stop_gradient,
    vjp,
    vmap,
)
from funcgrad.extend import PRIMITIVES

V = np.array([1.0, 2.0, 3.0])
A = np.arange(6.0).reshape(2, 3)


def f64(*shape):
    return ShapeDtypeStruct(shape, np.float64)


def lines(*text):
    return "\n".join(text)


# ---- printing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, args, text",
    [
        (lambda x: x, (V,), "{ lambda ; a:f64[3]. let in (a,) }"),
        (lambda x, y: (y, x, y), (V, 1.0), "{ lambda ; a:f64[3] b:f64[]. let in (b, a, b) }"),
        (lambda x: (), (V,), "{ lambda ; a:f64[3]. let in () }"),
        (lambda x: (2.0, np.float32(3.0)), (V,), "{ lambda ; a:f64[3]. let in (2.0:f64[], 3.0:f32[]) }"),
        (lambda x: A @ x, (V,), "{ lambda a:f64[2,3] ; b:f64[3]. let c:f64[2] = matvec a b in (c,) }"),
        (
            lambda x: (np.sin(x), np.cos(x))[1],
            (V,),
            lines(
                "{ lambda ; a:f64[3]. let",
                "    _:f64[3] = sin a",
                "    b:f64[3] = cos a",
                "  in (b,) }",
            ),
        ),
        (
            lambda p: {"o": np.sum(p["w"] * 2.0 + p["b"][0], axis=0)},
            ({"w": A, "b": [V]},),
            lines(
                "{ lambda ; a:f64[3] b:f64[2,3]. let",
                "    c:f64[2,3] = multiply b 2.0:f64[]",
                "    d:f64[2,3] = add c a",
                "    e:f64[3] = sum[axis=(-2,)] d",
                "  in (e,) }",
            ),
        ),
        (
            lambda x: x * (1 + 2j) * True * np.array(2),
            (np.float32(1.0),),
            lines(
                "{ lambda ; a:f32[]. let",
                "    b:c64[] = multiply a (1+2j):c128[]",
                "    c:c64[] = multiply b True:bool[]",
                "    d:c128[] = multiply c 2:i64[]",
                "  in (d,) }",
            ),
        ),
    ],
    ids=["identity", "repeated", "nothing", "literals", "constant", "dropped", "tree", "dtypes"],
)
def test_programs_print_in_the_grammar_of_jax(f, args, text):
    program = make_jaxpr(f)(*args)
    assert str(program) == repr(program) == program.format() == text
    check_jaxpr(program)


def test_names_go_on_after_z():
    def f(x):
        for _ in range(30):
            x = np.sin(x)
        return x

    text = str(make_jaxpr(f)(1.0)).splitlines()
    assert text[25] == "    z:f64[] = sin y" and text[26] == "    ba:f64[] = sin z"
    assert text[-1] == "  in (be,) }"


def test_source_lines():
    def f(x):
        y = np.sin(x)
        return y * 2.0

    shown = make_jaxpr(f)(1.0).format(source=True).splitlines()
    assert shown[1].startswith("    b:f64[] = sin a  # " + line_of(f, "np.sin"))
    assert shown[2].startswith("    c:f64[] = multiply b 2.0:f64[]  # " + line_of(f, "y * 2.0"))
    assert make_jaxpr(f)(1.0).eqns[0].where.startswith(line_of(f, "np.sin"))


def test_nested_programs_have_names_of_their_own():
    wave = named_call(lambda x: np.sin(x) + 1.0, name="wave")
    assert str(make_jaxpr(lambda x: wave(wave(x)))(1.0)) == lines(
        "{ lambda ; a:f64[]. let",
        "    b:f64[] = call[jaxpr={ lambda ; c:f64[]. let",
        "        d:f64[] = sin c",
        "        e:f64[] = add d 1.0:f64[]",
        "      in (e,) } name='wave'] a",
        "    f:f64[] = call[jaxpr={ lambda ; g:f64[]. let",
        "        h:f64[] = sin g",
        "        i:f64[] = add h 1.0:f64[]",
        "      in (i,) } name='wave'] b",
        "  in (f,) }",
    )


# ---- staging -------------------------------------------------------------------------------


def test_types_are_enough():
    f = lambda x, y: np.sum(np.tanh(x) * y, axis=-1)  # noqa: E731
    program = make_jaxpr(f)(ShapeDtypeStruct((2, 3), np.float32), f64())
    assert [str(t) for t in program.in_avals] == ["f32[2,3]", "f64[]"]
    assert [str(t) for t in program.out_avals] == ["f64[2]"]
    x = A.astype(np.float32)
    same(eval_jaxpr(program, program.consts, x, np.float64(2.0)), [f(x, np.float64(2.0))])


def test_return_shape():
    program, shape = make_jaxpr(lambda x: {"a": (x, np.sum(x))}, return_shape=True)(f64(3))
    assert shape == {"a": (f64(3), f64())} and len(program.outvars) == 2


def test_static_arguments():
    def power(x, n, *, scale=1.0):
        return scale * x**n

    for static in (1, -1, (1,), [1], np.int64(1)):
        program = make_jaxpr(power, static_argnums=static)(V, 3)
        same(eval_jaxpr(program, program.consts, V), [V**3])
    program = make_jaxpr(power, static_argnums=(0, 1))(V, 3, scale=2.0)
    same(eval_jaxpr(program, program.consts, 5.0), [5.0 * V**3])
    for wrong in (2, -3, (0, 5), "n"):
        with pytest.raises(errors.ArgnumsError, match="static_argnums="):
            make_jaxpr(power, static_argnums=wrong)(V, 3)


def test_keyword_arguments_are_inputs():
    program = make_jaxpr(lambda x, y=2.0: x * y)(V, y=3.0)
    same(eval_jaxpr(program, program.consts, V, 5.0), [5.0 * V])


def test_on_values_the_path_that_was_taken_is_staged():
    def f(x):
        return np.sin(x) if x > 0 else np.cos(x) * int(x)

    assert "sin" in str(make_jaxpr(f)(1.0)) and "cos" in str(make_jaxpr(f)(-1.0))


@pytest.mark.parametrize(
    "f, reading",
    [
        (lambda x: x if x[0] > 0 else -x, "a branch"),
        (lambda x: x[int(x[0])], r"int\(x\)"),
        (lambda x: sum(range(int(x[0]))), r"int\(x\)"),
        (lambda x: x if np.all(x > 0) else -x, "a branch"),
    ],
)
def test_on_types_a_value_is_not_known(f, reading):
    with pytest.raises(errors.UnknownValueError, match=reading) as caught:
        make_jaxpr(f)(f64(3))
    assert f"{__file__}:{f.__code__.co_firstlineno} " in str(caught.value)
    assert "np.where" in str(caught.value) and "make_jaxpr" in str(caught.value)


def test_constants_hold_what_they_held():
    def f(x):
        buffer = np.zeros(3)
        for _ in range(3):
            x = x + buffer
            buffer += 1.0
        return x * buffer

    program = make_jaxpr(f)(V)
    same(eval_jaxpr(program, program.consts, V), [f(V)])
    assert len(program.consts) == 4


def test_one_constant_for_one_array():
    program = make_jaxpr(lambda x: (x * A) * A + A)(A)
    assert len(program.consts) == 1 and program.consts[0] is not A


def test_scalars_are_literals():
    program = make_jaxpr(lambda x: x * np.float32(2.0) + np.array(3.0))(V)
    assert [type(e.invars[1]) for e in program.eqns] == [Literal, Literal] and not program.consts


# ---- evaluating ----------------------------------------------------------------------------


def loss(w, x):
    h = np.tanh(x @ w)
    return np.mean(np.where(h > 0.1, h * h, np.sqrt(np.abs(h)))) + np.sum(w[0] * stop_gradient(w[1]))


def test_a_program_is_transformed_like_its_function():
    w = np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]])
    program = make_jaxpr(loss)(w, A)
    check_jaxpr(program)
    run = lambda w: eval_jaxpr(program, program.consts, w, A)[0]  # noqa: E731
    f = lambda w: loss(w, A)  # noqa: E731
    same(run(w), f(w))
    same(grad(run)(w), grad(f)(w))
    same(jvp(run, (w,), (w,)), jvp(f, (w,), (w,)))
    same(hessian(run)(w), hessian(f)(w))
    stack = np.stack([w, 2 * w, -w])
    same(vmap(run)(stack), vmap(f)(stack))
    again = make_jaxpr(run)(w)
    same(eval_jaxpr(again, again.consts, w), [f(w)])


@pytest.mark.parametrize("transform", [grad, hessian, lambda f: lambda w: vjp(f, w)[1](1.0)[0]])
def test_a_transform_is_staged_like_any_function(transform):
    w = np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]])
    derivative = transform(lambda w: loss(w, A))
    for argument in (w, f64(3, 2)):
        program = make_jaxpr(derivative)(argument)
        check_jaxpr(program)
        same(eval_jaxpr(program, program.consts, w), [derivative(w)])


def test_values_are_dropped_after_their_last_use():
    freed = []

    class Watched(np.ndarray):
        def __del__(self):
            freed.append(True)

    program = make_jaxpr(lambda x: np.cos(np.sin(x)) * 1.0)(V)
    seen = []
    out = eval_jaxpr(program, program.consts, V.view(Watched))
    seen.append(len(freed))
    assert type(out) is list and seen[0] >= 2  # sin's and cos' results are gone


def test_numbers_of_arguments_are_checked():
    program = make_jaxpr(lambda x, y: A @ x + y)(V, 1.0)
    for consts, args in (([], (V, 1.0)), (program.consts, (V,)), (program.consts, (V, 1.0, 2.0))):
        with pytest.raises(errors.ProgramArgumentsError, match="takes 1 constants and 2 inputs"):
            eval_jaxpr(program, consts, *args)


def test_programs_close_over_traced_values():
    def f(x):
        inner = make_jaxpr(lambda y: x * y)(2.0)
        return eval_jaxpr(inner, inner.consts, 3.0)[0] * x

    same(grad(f)(5.0), 30.0)
    program = make_jaxpr(f)(5.0)
    same(eval_jaxpr(program, program.consts, np.float64(2.0)), [12.0])


@pytest.mark.parametrize("run", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))[1], make_jaxpr])
def test_named_calls_close_over_traced_values(run):
    def f(x):
        part = named_call(lambda y: fnp.stack([x * y, y])[0])
        return part(2.0 * x)

    out = run(f)(3.0)
    if run is make_jaxpr:
        check_jaxpr(out)
        same(eval_jaxpr(out, out.consts, 3.0), [18.0])
        program = make_jaxpr(f)(f64())
        same(eval_jaxpr(program, program.consts, 3.0), [18.0])
    else:
        same(out, 12.0)


# ---- checking ------------------------------------------------------------------------------

SIN, ADD = PRIMITIVES["sin"], PRIMITIVES["add"]


def place():
    """An equation's source: this file."""
    code = place.__code__
    return code, 0


def broken(name):
    a, b, c, lost = Var(f64(3)), Var(f64(3)), Var(f64(3)), Var(f64(3))
    eqn = lambda prim, inputs, out: Eqn(prim, inputs, [out], {}, place())  # noqa: E731
    return {
        "unbound": Jaxpr([], [], [a], [eqn(SIN, [lost], b)], [b]),
        "read-too-early": Jaxpr([], [], [a], [eqn(SIN, [b], c), eqn(SIN, [a], b)], [c]),
        "twice": Jaxpr([], [], [a], [eqn(SIN, [a], b), eqn(SIN, [b], b)], [b]),
        "over-an-input": Jaxpr([], [], [a], [eqn(SIN, [a], a)], [a]),
        "input-twice": Jaxpr([], [], [a, a], [], [a]),
        "result": Jaxpr([], [], [a], [], [lost]),
        "shape": Jaxpr([], [], [a], [eqn(SIN, [a], Var(f64(4)))], [a]),
        "dtype": Jaxpr([], [], [a], [eqn(SIN, [a], Var(ShapeDtypeStruct((3,), np.float32)))], [a]),
        "promotion": Jaxpr([], [], [a], [eqn(ADD, [a, Literal(1j)], b)], [b]),
        "constant": Jaxpr([b], [np.ones(4)], [a], [], [a]),
        "constants-missing": Jaxpr([b], [], [a], [], [a]),
    }[name]


@pytest.mark.parametrize(
    "name, what",
    [
        ("unbound", "read before it is bound"),
        ("read-too-early", "read before it is bound"),
        ("twice", "a variable is bound twice"),
        ("over-an-input", "a variable is bound twice"),
        ("input-twice", "an input is bound twice"),
        ("result", "a result is not bound"),
        ("shape", r"sin gives f64\[3\], its variable is f64\[4\]"),
        ("dtype", r"sin gives f64\[3\], its variable is f32\[3\]"),
        ("promotion", r"add gives c128\[3\], its variable is f64\[3\]"),
        ("constant", r"a constant is f64\[4\], its variable f64\[3\]"),
        ("constants-missing", "it has 1 constants, but 0 values"),
    ],
)
def test_malformed_programs(name, what):
    with pytest.raises(errors.ProgramError, match=what) as caught:
        check_jaxpr(broken(name))
    if broken(name).eqns:
        assert caught.value.where.startswith(__file__) and " = " in caught.value.excerpt


def test_the_checker_shows_the_equations_around_a_fault():
    def f(x):
        for _ in range(40):
            x = np.sin(x)
        return x

    program = make_jaxpr(f)(1.0)
    program.eqns[20].invars = [Var(f64())]
    with pytest.raises(errors.ProgramError) as caught:
        check_jaxpr(program)
    assert caught.value.excerpt.count("sin") == 21 and "sin ?" in caught.value.excerpt
    assert caught.value.where.startswith(line_of(f, "np.sin"))


def test_nested_programs_are_checked():
    program = make_jaxpr(lambda x: named_call(np.sin, name="s")(x))(1.0)
    check_jaxpr(program)
    program.eqns[0].params["jaxpr"].outvars = [Var(f64())]
    with pytest.raises(errors.ProgramError, match="a result is not bound"):
        check_jaxpr(program)


# ---- types ---------------------------------------------------------------------------------


def test_types():
    t = ShapeDtypeStruct([2, np.int64(3)], "f4")
    assert (t.shape, t.dtype, t.ndim, t.size, str(t)) == ((2, 3), np.dtype("f4"), 2, 6, "f32[2,3]")
    assert t == ShapeDtypeStruct((2, 3), np.float32) and hash(t) == hash(ShapeDtypeStruct((2, 3), "f4"))
    assert t != ShapeDtypeStruct((2, 3), np.float64) and ShapeDtypeStruct(3, int) == ShapeDtypeStruct(
        (3,), int
    )
    assert repr(t) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"


def test_where_says_the_line():
    program = make_jaxpr(lambda x: np.exp(x))(1.0)
    assert program.eqns[0].where.startswith(here(back=1))
