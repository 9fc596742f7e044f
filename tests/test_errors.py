"""Every error: who raises it, what it says, and that it can be caught, copied and sent to another process."""

import copy
import doctest
import functools
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import interpolate, optimize, special, stats

from funcgrad import (
    ShapeDtypeStruct,
    check_jaxpr,
    checkpoint,
    checkpointed_loop,
    custom_jvp,
    custom_root,
    custom_vjp,
    debug_nans,
    errors,
    eval_jaxpr,
    grad,
    jvp,
    lax,
    linear_transpose,
    make_jaxpr,
    tree,
    vjp,
    vmap,
)
from funcgrad._testing import laws
from funcgrad.extend import elementwise, general
from funcgrad.testing import check_grads

V = np.array([1.0, 2.0, 3.0])
NAMES = [name for name in errors.__all__ if name not in ("FuncgradError",)]
WARNINGS = [name for name in NAMES if issubclass(getattr(errors, name), Warning)]


class Box:
    def __init__(self, value):
        self.value = value


@dataclass
class Layer:
    w: float
    b: float


# ---- a way to each of them -------------------------------------------------------------------


def unregistered():
    class Known(Box):
        pass

    def restore():
        return tree.TreeDef.__reduce__(structure)

    tree.register(Known, lambda x: ([x.value], None), lambda aux, xs: Known(*xs))
    structure = tree.structure(Known(1.0))
    rebuild, (_, aux, children) = restore()
    rebuild(Box, aux, children)


def bad_flatten():
    class Shelf(Box):
        pass

    tree.register(Shelf, lambda x: [x.value], lambda aux, xs: Shelf(*xs))
    tree.leaves(Shelf(1.0))


def unconverged():
    grad(lambda a: custom_root(lambda x: x**2 - a, 1.0, lambda f, x: x))(4.0)


def double_root():
    grad(lambda a: custom_root(lambda x: x**3 - a, 0.0, lambda f, x: x))(0.0)


def escaped():
    kept = []
    grad(lambda x: kept.append(x) or x)(1.0)
    kept[0] + 1.0


def changed():
    x = V.copy()
    _, pull = vjp(lambda x: x * x, x)
    x[0] = 5.0
    pull(V)


def malformed():
    program = make_jaxpr(lambda x: 2.0 * x + 1.0)(1.0)
    program.eqns.reverse()
    check_jaxpr(program)


def non_finite():
    with debug_nans():
        grad(lambda x: np.sqrt(x))(0.0)


def wrong_rule():
    cube = elementwise(lambda x: x * x * x, lambda g, x: 2.0 * g * x * x, name="wrong_cube")
    check_grads(cube, (2.0,))


def lawless():
    @general(name="lawless_double")
    def double(x):
        return 2.0 * x

    @double.jvp
    def double_jvp(t):
        return 2.0 * t

    @double.batching
    def double_batch(values, batched):
        return 3.0 * values[0]

    laws.check_batching(lambda x: double(x), (V,))


def misread():
    prim = elementwise(lambda x: 1.0 * x, lambda g, other: g, name="misread")
    grad(prim)(1.0)


def looped():
    @general(name="looped_double")
    def double(x, y):
        return 2.0 * x + y

    @double.jvp("x")
    def double_jvp(t):
        return 2.0 * t

    vmap(double)(V, V)


def impure():
    random = np.random.default_rng(0)
    grad(checkpoint(lambda x: x * random.normal()))(1.0)


def wrong_shape():
    custom = custom_vjp(np.sum)
    custom.defvjp(lambda x: (np.sum(x), None), lambda _, g: (g,))
    grad(custom)(V)


def clipped():
    custom = custom_vjp(np.sin)
    custom.defvjp(lambda x: (np.sin(x), x), lambda x, g: (np.clip(g * np.cos(x), -1, 1),))
    jvp(custom, (0.5,), (1.0,))


def staged_loop():
    f = grad(lambda x: lax.while_loop(lambda x: x < 9.0, lambda x: x * x, x))
    make_jaxpr(f)(ShapeDtypeStruct((), float))


def unlike_branches():
    make_jaxpr(lambda x: lax.cond(x > 0, lambda x: x, lambda x: (x, x), x))(ShapeDtypeStruct((), float))


def caught():
    def f(x):
        try:
            scale = float(x)
        except TypeError:
            scale = 1.0
        return scale * x

    grad(f)(2.0)


HERMITIAN = np.array([[2.0, 1j], [-1j, 3.0]])

#: name: who raises it, and what the message says
RAISERS = {
    "TreeStructureError": (
        lambda: tree.map(lambda x, y: x, {"w": (1.0,)}, {"w": [1.0]}),
        r"rest\[0\]\['w'\]: expected \(\*,\), found \[\*\]",
    ),
    "LeafCountError": (
        lambda: tree.unflatten(tree.structure([1.0, 2.0]), [1.0]),
        "expected 2 leaves, found 1",
    ),
    "UnorderableKeysError": (lambda: tree.leaves({"a": 1.0, 0: 2.0}), "cannot be sorted: 'a'"),
    "AlreadyRegisteredError": (lambda: tree.register(dict, None, None), "dict is already a container"),
    "FieldNamesError": (lambda: tree.register_dataclass(Layer, ["w", "c"], []), "no such field: 'c'"),
    "NodeFunctionError": (bad_flatten, r"flatten of .*Shelf returned a list"),
    "UnregisteredError": (unregistered, "Box is not registered"),
    "ArgnumsError": (lambda: grad(np.sin, 1)(1.0), "argnums=1, but sin was called with 1"),
    "RepeatedArgumentError": (
        lambda: grad(np.multiply, (1, -1))(1.0, 2.0),
        "names an argument of multiply twice",
    ),
    "InputTypeError": (lambda: grad(np.sin)({"a": [1.0, 3]}), r"arg\[0\]\['a'\]\[1\] is of type int"),
    "NonScalarOutputError": (lambda: grad(np.sin)(V), r"sin returned a value of shape \(3,\)"),
    "OutputTypeError": (lambda: grad(lambda x: "text")(1.0), "returned 'text'"),
    "AuxError": (lambda: grad(np.sin, has_aux=True)(1.0), "in place of a pair"),
    "TangentError": (
        lambda: jvp(np.sin, (V,), (V[:2],)),
        r"tangent\[0\]: expected float64\[3\], found float64\[2\]",
    ),
    "CotangentError": (
        lambda: vjp(np.sin, V)[1](V[:2]),
        r"cotangent: expected float64\[3\], found float64\[2\]",
    ),
    "UnusedInputError": (lambda: grad(lambda x: 1.0, unused="error")(1.0), r"does not depend on arg\[0\]"),
    "NotLinearError": (lambda: linear_transpose(np.sin, V), "sin is not linear: the derivative of sin"),
    "RuleError": (misread, "primitive misread: the rule reads 'other'"),
    "MissingDerivativeError": (
        lambda: grad(lambda v: special.jv(v, 2.0))(0.5),
        "jv has no derivative here with respect to its argument v",
    ),
    "RepeatedEigenvalueError": (
        lambda: grad(lambda a: np.linalg.eigvalsh(a)[0])(np.eye(2)),
        "the values 0, 1 are equal",
    ),
    "ArbitraryBasisError": (
        lambda: grad(lambda a: np.linalg.svd(a)[0][0, 3])(np.array([[1.0, 2], [0, 1], [3, 1], [1, 1]])),
        "which basis completes the vectors",
    ),
    "EigenvectorPhaseError": (
        lambda: grad(lambda a: np.real(np.linalg.eigh(a)[1][1, 0]))(HERMITIAN),
        "phase",
    ),
    "EscapedTracerError": (escaped, "add was given a traced value that leaked from a reverse-mode transform"),
    "ConcretizationError": (lambda: grad(lambda x: float(x))(1.0), r"float\(x\) on a traced value"),
    "UnknownValueError": (lambda: vmap(lambda x: x if x > 0 else -x)(V), "vmap does not have"),
    "OperandTypeError": (lambda: grad(lambda x: x * np.array([1], object))(1.0), "values of dtype object"),
    "UnsupportedFunctionError": (
        lambda: grad(np.frompyfunc(abs, 1, 1))(V),
        r"^abs \(vectorized\) is not supported",
    ),
    "UnsupportedArgumentError": (
        lambda: grad(lambda x: np.exp(x, where=x > 0))(V),
        "np.exp does not support where=",
    ),
    "InPlaceError": (lambda: grad(lambda x: np.copyto(np.zeros(3), x))(V), "writes in place"),
    "ChangedResidualError": (changed, "derivative of square needs was changed in place"),
    "ImpureFunctionError": (impure, "the function under checkpoint gave another result"),
    "CheckpointBudgetError": (
        lambda: checkpointed_loop(np.sin, V, length=3, max_bytes=8),
        "max_bytes=8 is too little for a checkpointed loop: one state takes",
    ),
    "CustomRuleError": (wrong_shape, r"bwd rule of sum returned a cotangent of shape \(\)"),
    "MissingRuleError": (lambda: custom_jvp(np.sin)(1.0), "sin has no derivative rule yet"),
    "NotLinearRuleError": (clipped, "the rule of sin is not linear in its cotangents"),
    "ComplexStepError": (
        lambda: grad(grad(custom_jvp(np.sin, numeric="complex-step")))(0.0),
        "the derivative of sin by complex steps is for real arguments",
    ),
    "CarryTypeError": (
        lambda: lax.scan(lambda c, x: (c * x, None), np.float64(1.0), np.ones((3, 2))),
        r"leaf 0 of the loop's state was f64\[\] and is f64\[2\]",
    ),
    "BranchTypeError": (unlike_branches, r"branch 0 returns \(\*, \*\), branch 1 \*"),
    "StagedDerivativeError": (staged_loop, "reverse mode through while_loop"),
    "PredicateError": (lambda: lax.cond(V > 0, abs, abs, V), r"cond's pred is of shape \(3,\)"),
    "ScanOutputError": (lambda: lax.scan(lambda c, x: c, 0.0, length=3), "returned a float under scan"),
    "NotConvergedError": (unconverged, r"a step of Newton's method from it is 1\.5e\+00"),
    "SingularSystemError": (double_root, r"the derivative of f\(x\) in x is singular"),
    "EquationError": (
        lambda: custom_root(lambda x: x[:1], V, lambda f, x: x),
        r"f\(x\) is a value of shape \(1,\) and dtype float64 where x has shape \[3\]",
    ),
    "ProgramArgumentsError": (
        lambda: eval_jaxpr(make_jaxpr(np.sin)(1.0), [], 1.0, 2.0),
        "takes 0 constants and 1 inputs, but was given 0 and 2",
    ),
    "ProgramError": (malformed, "a variable is read before it is bound"),
    "BatchAxisError": (lambda: vmap(np.add)(V, V[:2]), r"different sizes \(arg\[0\]: 3, arg\[1\]: 2\)"),
    "BatchedMaskError": (lambda: vmap(lambda x: x[x > 1])(np.stack([V, V])), "depends on a mask"),
    "NonFiniteError": (non_finite, r"sqrt made inf from finite values in the backward pass, at entry \(\)"),
    "DerivativeMismatchError": (wrong_rule, r"derivative of .*wrong_cube.* is wrong"),
    "NotSmoothError": (lambda: check_grads(np.abs, (0.0,)), "cannot be differentiated numerically"),
    "NothingToCheckError": (lambda: check_grads(np.abs, (3,)), "no floating-point or complex arguments"),
    "LawError": (lawless, "lawless"),
    "DependenceCutWarning": (
        lambda: grad(np.floor)(1.5),
        r"the gradient of floor with respect to arg\[0\] is zero",
    ),
    "RefusalCaughtWarning": (caught, r"caught the error that refused float\(x\) on a traced value"),
    "BatchLoopWarning": (looped, "looped_double has no batching rule"),
}
#: Errors of an operation: they name the line of the user's call.
LOCATED = [
    "NotLinearError", "RepeatedEigenvalueError", "ArbitraryBasisError", "EigenvectorPhaseError",
    "MissingDerivativeError",
    "EscapedTracerError", "ConcretizationError", "UnknownValueError", "OperandTypeError",
    "UnsupportedFunctionError", "UnsupportedArgumentError", "InPlaceError", "ChangedResidualError",
    "CarryTypeError", "BranchTypeError", "StagedDerivativeError", "PredicateError", "ScanOutputError",
    "NotConvergedError", "SingularSystemError", "EquationError",
    "ProgramError", "BatchedMaskError", "NonFiniteError", "DependenceCutWarning", "BatchLoopWarning",
    "RefusalCaughtWarning",
]  # fmt: skip


#: Errors without an example in their docstring.
SHOWN_ELSEWHERE = [
    "UnregisteredError", "LawError", "ArbitraryBasisError", "EigenvectorPhaseError",
    "DerivativeMismatchError", "NotSmoothError",
]  # fmt: skip


@functools.cache
def raised(name):
    """The exception or warning that the way to an error leads to."""
    run, _ = RAISERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(getattr(errors, name)) as caught:
            run()
    assert type(caught.value) is getattr(errors, name)
    return caught.value


EACH = pytest.mark.parametrize("name", NAMES)


@EACH
def test_it_is_raised_and_says_what_happened(name):
    _, pattern = RAISERS[name]
    error = raised(name)
    with pytest.raises(type(error), match=pattern):
        raise error


@EACH
def test_it_says_what_to_write_instead(name):
    message = str(raised(name))
    if name not in WARNINGS:
        first, *rest = message.splitlines()
        assert rest and len(" ".join(rest)) > 30
    assert len(message) < 1000
    cures = (
        "Write", "Use", "Pass", "Give", "Take", "Return", "Call", "Choose", "Register", "Convert", "Work",
        "Keep", "Select", "Change", "Name", "Move", "Look", "name one", "make one", "makes one", "take vjp",
        "See ", "make it with", "start from", "use in_axes", "unused='zero'", "If a lower", "runs in a loop",
    )  # fmt: skip
    assert any(cure in message for cure in cures) or name == "ProgramError"


@pytest.mark.parametrize("name", LOCATED)
def test_it_names_the_line_of_the_call(name):
    error = raised(name)
    assert f"{__file__}:" in f"{error} {getattr(error, 'where', '')}"


@EACH
def test_it_can_be_caught_as_what_numpy_or_jax_raise(name):
    cls = getattr(errors, name)
    builtins = (
        TypeError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        IndexError,
        ArithmeticError,
        AssertionError,
        AttributeError,
    )
    if name in WARNINGS:
        assert issubclass(cls, UserWarning)
    else:
        assert issubclass(cls, errors.FuncgradError) and issubclass(cls, builtins)
    assert cls.__module__ == "funcgrad.errors"


@EACH
def test_it_can_be_copied_and_pickled(name):
    error = raised(name)
    facts = {k: v for k, v in vars(error).items() if k != "__notes__"}
    for twin in (copy.copy(error), copy.deepcopy(error), type(error)(*error.args)):
        assert str(twin) == str(error) and vars(twin).keys() >= facts.keys()
    try:
        data = pickle.dumps(error)
    except (AttributeError, pickle.PicklingError) as no:  # a class of this test's that no module has
        assert "local object" in str(no), name
        return
    twin = pickle.loads(data)
    assert str(twin) == str(error) and type(twin) is type(error)


@EACH
def test_its_docstring_is_an_article(name):
    article = getattr(errors, name).__doc__
    summary, *body = article.strip().split("\n\n")
    assert summary.endswith(".") and "\n" not in summary and body
    if name not in (*WARNINGS, *SHOWN_ELSEWHERE):
        examples = doctest.DocTestParser().get_examples(article)
        assert any(example.exc_msg for example in examples)


def test_every_class_is_public_and_has_a_way_to_it():
    assert set(RAISERS) == set(NAMES)
    assert set(LOCATED) <= set(NAMES)
    defined = {
        name for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
    }  # fmt: skip
    assert defined == set(errors.__all__)


def test_they_are_caught_together():
    for run, _ in (RAISERS["TangentError"], RAISERS["InPlaceError"], RAISERS["BatchAxisError"]):
        with pytest.raises(errors.FuncgradError):
            run()


def test_errors_of_rules_name_the_operation():
    """An exception in the backward pass is told where the operation was called in the forward pass."""

    def broken(g, x):
        raise ZeroDivisionError("in a rule")

    prim = elementwise(lambda x: 1.0 * x, broken, name="broken_rule")
    for run in (lambda f: grad(f)(1.0), lambda f: vjp(f, 1.0)[1](1.0)):
        with pytest.raises(ZeroDivisionError, match="in a rule") as caught:
            run(lambda x: prim(x) * 2.0)
        (note,) = caught.value.__notes__
        assert note.startswith(f"in the derivative of broken_rule, which was called at {__file__}:")


# ---- errors of NumPy's and SciPy's, and what they come from ------------------------------------


def bracketed(a):
    return optimize.brentq(lambda x: x - a, 0, 2)


@pytest.mark.parametrize("transform", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: np.zeros(3).__setitem__(1, x), "funcgrad.numpy.array"),
        (bracketed, "funcgrad.scipy.optimize"),
        (lambda x: stats.norm.logpdf(1.0, x), "funcgrad.scipy.stats"),
        (lambda x: interpolate.CubicSpline([0, 1, 2.0], [0, 1, 4.0])(x), "funcgrad.scipy.interpolate"),
    ],
)
def test_the_cure_is_in_what_is_shown(transform, f, message):
    with pytest.raises(Exception) as caught:
        transform(f)(0.7)
    shown = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert message in shown


def test_a_loss_that_was_logged_has_leaked():
    losses = []
    grad(lambda x: losses.append(x) or x)(1.0)
    for read in (lambda: np.array(losses), lambda: float(losses[0])):
        with pytest.raises(errors.EscapedTracerError, match="leaked"):
            read()


def test_parts_of_arrays_are_updated_by_functions():
    u = np.zeros(4)
    with pytest.raises(
        errors.InPlaceError, match=r"x \+= v on a plain array.*\n.*index_add\(x, index, value\)"
    ):
        grad(lambda c: u[1:-1].__iadd__(c * np.ones(2))[0])(1.0)
