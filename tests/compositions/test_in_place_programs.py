"""Random programs that write in place through views: values as NumPy's, derivatives as complex steps say."""

import random

import numpy as np
import pytest

import funcgrad.numpy
from funcgrad import (
    ShapeDtypeStruct,
    checkpoint,
    errors,
    eval_jaxpr,
    grad,
    hvp,
    jvp,
    make_jaxpr,
    value_and_grad,
    vmap,
)

X = np.array([[0.3, -0.7, 0.5], [1.1, 0.2, -0.4]])
V = np.array([[1.0, 0.5, -1.0], [0.25, -0.5, 2.0]])

FRESH = [
    "{a}.copy()", "{a} * {b}", "np.sin({a})", "np.zeros_like({a})", "{a} + 0.5", "{a}[[0, -1]]",
    "np.concatenate([np.ravel({a}), np.ravel({b})])", "np.ones_like({b})", "np.full_like({a}, 2.0)",
    "{a}.flatten()", "fnp.array({a}.T)", "fnp.ascontiguousarray({a}.T)", "fnp.asfortranarray({a})",
    "np.zeros({a}.shape, x.dtype, like=x)", "{a}.T.copy()", "np.copy({a}.T)",
]  # fmt: skip
VIEWS = [
    "{a}[{i}]", "{a}[{i}]", "{a}[{i}]", "{a}.T", "{a}.reshape(-1)", "np.ravel({a})", "np.flip({a})",
    "{a}[...]", "np.squeeze({a})", "np.expand_dims({a}, 0)", "np.swapaxes({a}, 0, -1)", "{a}.diagonal()",
    "np.split({a}, [1])[1]", "np.moveaxis({a}, 0, -1)", "{a}.reshape({a}.shape[::-1])", "np.rot90({a})",
    "np.atleast_2d({a})", "fnp.asarray({a})", "np.broadcast_to({a}, (2, *{a}.shape))", "{a}.view()",
]  # fmt: skip
VALUES = [
    "0.25", "{a}", "{a}[0] * 2.0", "np.sum({a})", "{t}[::-1]", "np.cos({t})", "{a}.ravel()[0]", "{a}.T",
]  # fmt: skip
FUNCTIONS = [
    "np.add({a}, {b}, out={a})", "np.multiply({a}, 0.5, out={b})", "{a}.fill(0.75)",
    "np.copyto({a}, {b} * 1.0)",
    "np.put({a}, [0, -1], {v})", "np.fill_diagonal({a}, {v})", "np.sin({b}, out={a}, where={b} > 0)",
    "{a}.flat[1] = {v}", "{a}.flat = {b} * 1.0", "{a}.put(0, {v})", "np.sum({a}, axis=0, out={b})",
    "{a}[np.abs({a}) > 0.4] = {v}", "np.putmask({a}, {b} > 0, {a} * 2.0)", "{a}[{a} > 0.4] *= 0.5",
    "np.place({a}, {a} < 0, [0.1, 0.2])", "for row in {a}: row *= 0.5",
]  # fmt: skip
UNCERTAIN = ("ravel", "reshape", "contiguous", "fortran", "flat")
AT = ["np.add.at({a}, [0, 0, -1], 0.5)", "np.subtract.at({a}, 0, {v})"]
PARTS = [":", "1:", ":-1", "::2", "::-1", "...", "None"]


class Writer:
    """Writes a program line by line, and runs each line on plain arrays to know the shapes.

    `masks` allows lines that compare: these have no complex step, and no batch.
    """

    def __init__(self, seed, masks):
        self.random = random.Random(seed)
        self.masks = masks
        self.names, self.lines = {"np": np, "fnp": np, "x": X.copy()}, []
        count = self.random.randint(4, 12)
        while len(self.lines) < count:
            self.line()

    def line(self):
        kinds = [self.fresh, *[self.view] * 2, *[self.write] * 3, self.augment, self.function]
        text = self.random.choice(kinds)()
        if not self.masks and ("> " in text or "< " in text):
            return
        before = {name: self.names[name].copy() for name in self.arrays()}
        try:
            exec(text, self.names)
        except (ValueError, IndexError, TypeError):  # shapes that do not go together, read-only views
            pass
        else:
            values = [self.names[name] for name in self.arrays()]
            if all(v.size and np.all(np.abs(v) < 1e2) for v in values):
                self.lines.append(text)
                return
        fresh = self.names.keys() - before.keys() - {"np", "fnp", "__builtins__"}
        for name in fresh:
            del self.names[name]
        for name, value in before.items():
            if self.names[name].flags.writeable:
                self.names[name][...] = value

    def arrays(self):
        return [name for name, value in self.names.items() if name != "row" and isinstance(value, np.ndarray)]

    def pick(self, least=0):
        return self.random.choice([name for name in self.arrays() if self.names[name].ndim >= least])

    def new(self, forms, a):
        text = self.random.choice(forms).format(a=a, b=self.pick(), i=self.index(a, ":"))
        return f"a{len(self.names)} = {text}"

    def index(self, name, fancy="[0, -1]"):
        parts = []
        for n in self.names[name].shape:
            parts.append(self.random.choice([str(self.random.randrange(-n, n)), fancy, *PARTS]))
            if self.random.random() < 0.3:
                break
        return ", ".join(parts) or "..."

    def value(self, target):
        return self.random.choice(VALUES).format(a=self.pick(), t=target)

    def fresh(self):
        return self.new(FRESH, self.pick())

    def view(self):
        return self.new(VIEWS, self.pick(1))

    def write(self):
        a = self.pick(1)
        return f"{a}[{self.index(a)}] = {self.value(a)}"

    def augment(self):
        a = self.pick(1)
        target = self.random.choice([a, f"{a}[{self.index(a)}]"])
        return f"{target} {self.random.choice('+-*')}= {self.value(a)}"

    def function(self):
        a = self.pick(1)
        forms = FUNCTIONS + AT if self.names[a].flags.writeable else FUNCTIONS  # `at` writes all the same
        return self.random.choice(forms).format(a=a, b=self.pick(1), v=self.value(a))

    def functions(self):
        """The program for plain and for traced arrays: a weighted sum of all arrays; its source."""
        terms = [f"{0.3 + 0.1 * k:.1f} * np.sum({a} * {a})" for k, a in enumerate(self.arrays())]
        source = "\n    ".join(["def f(x):", *self.lines, "return " + " + ".join(terms)])
        plain, traced = {"np": np, "fnp": np}, {"np": np, "fnp": funcgrad.numpy}
        exec(source, plain)
        exec(source, traced)
        return plain["f"], traced["f"], source


def complex_step(f, x):
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[index] += 1e-30j
        out[index] = np.imag(f(moved)) / 1e-30
    return out


def close(found, expected, source):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10, err_msg=source)


def refused(f, source):
    """Whether it writes to the `flat` of an array whose entries lie apart, which is the one refusal."""
    try:
        grad(f)(X.copy())
    except errors.InPlaceError:
        assert ".flat[" in source
        return True
    return False


@pytest.mark.parametrize("masks", [False, True], ids=["smooth", "masks"])
@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed, masks):
    plain, f, source = Writer(seed, masks).functions()
    if refused(f, source):
        return
    x = X.copy()
    value, gradient = value_and_grad(f)(x)
    assert np.array_equal(x, X), "the caller's array was changed\n" + source
    close(value, plain(X.copy()), source)
    if not masks:
        close(gradient, complex_step(plain, X), source)
    close(jvp(f, (X,), (V,))[1], np.sum(gradient * V), source)
    curvature = hvp(f)(X, V)
    close(grad(lambda x: jvp(f, (x,), (V,))[1])(X), curvature, source)
    close(grad(lambda x: np.sum(grad(f)(x) * V))(X), curvature, source)
    if ".at(" not in source:  # it writes into arrays that are read-only, which the first run is lent
        close(grad(checkpoint(f))(X), gradient, source)
    program = make_jaxpr(f)(X)
    close(eval_jaxpr(program, program.consts, X)[0], value, source)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_of_batches_and_types(seed):
    _, f, source = Writer(1000 + seed, masks=False).functions()
    if refused(f, source):
        return
    many = np.stack([X, 0.5 * X, X[::-1]])
    try:
        batched = vmap(value_and_grad(f))(many)
        total = grad(lambda xs: np.sum(vmap(f)(xs)))(many)
    except errors.InPlaceError:  # whether NumPy makes a view of what lies in memory as it may is not known
        assert any(name in source for name in UNCERTAIN)
        return
    for found, expected in zip(zip(*batched), map(value_and_grad(f), many)):
        close(found[0], expected[0], source)
        close(found[1], expected[1], source)
    close(total, batched[1], source)
    try:
        program = make_jaxpr(f)(ShapeDtypeStruct(X.shape, X.dtype))
    except errors.InPlaceError:
        assert any(name in source for name in UNCERTAIN)
    else:
        close(eval_jaxpr(program, program.consts, X)[0], f(X.copy()), source)
