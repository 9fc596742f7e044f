"""Writing in place: as NumPy does it, through views too, or an error that says what to write."""

import numpy as np
import pytest
from expect import same

import funcgrad.numpy as fnp
from funcgrad import (
    checkpoint,
    errors,
    eval_jaxpr,
    grad,
    hessian,
    hvp,
    jacrev,
    jvp,
    lax,
    make_jaxpr,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

M = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
S = np.array([[2.0, 1.0, -1.0], [0.5, 3.0, 1.5], [1.0, -2.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])

#: Statements on a traced array `x`, of which each leaves it changed.
WRITES = {
    "item": (M, lambda np, x: x.__setitem__((0, 1), x[1, 0] ** 2)),
    "row": (M, lambda np, x: x.__setitem__(1, x[0] * 2.0)),
    "column": (M, lambda np, x: x.__setitem__((slice(None), 1), [5.0, 6.0])),
    "everything": (M, lambda np, x: x.__setitem__(..., np.sin(x))),
    "broadcast": (M, lambda np, x: x.__setitem__(slice(None), x[0])),
    "leading-ones": (M, lambda np, x: x.__setitem__(0, x[None, 1])),
    "negative-step": (V, lambda np, x: x.__setitem__(slice(None, None, -1), x * x)),
    "overlapping": (V, lambda np, x: x.__setitem__(slice(1, None), x[:-1])),
    "range": (V, lambda np, x: x.__setitem__(range(2), x[range(1, 3)] * 2.0)),
    "integers": (V, lambda np, x: x.__setitem__([2, 0], x[:2] * 3.0)),
    "twice": (V, lambda np, x: x.__setitem__([1, 1, 0], x * 2.0)),
    "grid": (S, lambda np, x: x.__setitem__(np.ix_([0, 2], [1, 2]), x[:2, :2])),
    "mask": (M, lambda np, x: x.__setitem__(M == np.array([[0.5, 0.0, 2.0], [9.0, 0.25, 9.0]]), x[0] * 2.0)),
    "mask-number": (M, lambda np, x: x.__setitem__(M < 0.3, x[0, 0])),
    "mask-of-rows": (M, lambda np, x: x.__setitem__(np.array([False, True]), 7.0)),
    "add": (M, lambda np, x: x.__iadd__(x[0])),
    "subtract": (M, lambda np, x: x.__isub__(1.0)),
    "multiply": (M, lambda np, x: x.__imul__(x)),
    "divide": (M, lambda np, x: x.__itruediv__(x[1])),
    "power": (M, lambda np, x: x.__ipow__(3)),
    "floor-divide": (M, lambda np, x: x[0].__ifloordiv__(0.7)),
    "remainder": (M, lambda np, x: x.__imod__(1.3)),
    "matmul": (S, lambda np, x: x.__imatmul__(S)),
    "add-to-view": (M, lambda np, x: x[:, 1:].__iadd__(x[:, :-1])),
    "add-to-row": (M, lambda np, x: x[1].__imul__(x[0])),
    "add-to-items": (V, lambda np, x: x.__setitem__([0, 0, 1], x[[0, 0, 1]] + 1.0)),
    "out": (M, lambda np, x: np.multiply(x, x[0], out=x)),
    "out-of-view": (M, lambda np, x: np.exp(x[0], out=x[1])),
    "out-broadcast": (M, lambda np, x: np.add(x[0], 1.0, out=x)),
    "out-where": (M, lambda np, x: np.square(x, out=x, where=M > 0)),
    "out-two": (M, lambda np, x: np.modf(x * 0.9, out=(x, None))[1]),
    "out-of-sum": (M, lambda np, x: np.sum(x, axis=1, out=x[:, 0])),
    "out-of-mean": (M, lambda np, x: np.mean(x, axis=0, out=x[0])),
    "out-of-cumsum": (M, lambda np, x: np.cumsum(x, axis=1, out=x)),
    "out-of-matmul": (S, lambda np, x: np.matmul(x, S, out=x)),
    "out-of-clip": (M, lambda np, x: np.clip(x, -0.6, 1.1, out=x)),
    "at-add": (V, lambda np, x: np.add.at(x, [0, 0, 2], x * 2.0)),
    "at-subtract": (V, lambda np, x: np.subtract.at(x, [0, 0, 2], 1.5)),
    "at-multiply": (V, lambda np, x: np.multiply.at(x, [2, 0], x[1])),
    "at-exp": (M, lambda np, x: np.exp.at(x, (slice(None), 1))),
    "at-maximum": (M, lambda np, x: np.maximum.at(x, M < 0.3, 0.1)),
    "copyto": (M, lambda np, x: np.copyto(x, x[0] * 2.0)),
    "copyto-where": (M, lambda np, x: np.copyto(x, 4.0, where=M > 0)),
    "put": (M, lambda np, x: np.put(x, [0, -1], x[1, :2])),
    "put-repeated": (M, lambda np, x: np.put(x, [0, 4, 2], x[0, 1:])),
    "put-wrapped": (M, lambda np, x: np.put(x, [7, -9], 5.0, mode="wrap")),
    "put-clipped": (M, lambda np, x: x.put([70, -9], 5.0, mode="clip")),
    "place": (M, lambda np, x: np.place(x, M > 0, [1.0, 2.0, 3.0])),
    "putmask": (M, lambda np, x: np.putmask(x, M > 0, x[0] ** 2)),
    "put_along_axis": (M, lambda np, x: np.put_along_axis(x, np.array([[2], [0]]), x[:, :1] * 2.0, 1)),
    "put_along_axis-flat": (M, lambda np, x: np.put_along_axis(x, np.array([2, 0]), 9.0, None)),
    "fill_diagonal": (S, lambda np, x: np.fill_diagonal(x, x[0, 1])),
    "fill_diagonal-values": (S, lambda np, x: np.fill_diagonal(x, x[1])),
    "fill": (M, lambda np, x: x[:, 1].fill(x[0, 0])),
    "sort": (M, lambda np, x: x.sort()),
    "sort-axis": (M, lambda np, x: x.T.sort(axis=-1)),
    "partition": (V, lambda np, x: x.partition(1)),
    "flat": (M, lambda np, x: x.flat.__setitem__(4, x[0, 0] * 2.0)),
    "flat-of-transposed": (M, lambda np, x: x.T.flat.__setitem__(slice(0, 3), x[0] * 2.0)),
    "part-of-flat-is-a-copy": (M, lambda np, x: x.flat[1:3].__imul__(5.0)),
    "all-flat": (M, lambda np, x: setattr(x, "flat", x[0] * 2.0)),
    "real": (M, lambda np, x: setattr(x, "real", x[0] * 2.0)),
    "nan_to_num": (M, lambda np, x: np.nan_to_num(x, copy=False)),
    "through-transposed": (M, lambda np, x: x.T.__setitem__(0, x[:, 1])),
    "through-reshaped": (M, lambda np, x: x.reshape(-1).__setitem__(slice(1, 5), x.reshape(-1)[:4])),
    "through-split": (M, lambda np, x: np.split(x, 3, axis=1)[1].__imul__(3.0)),
    "through-rows": (M, lambda np, x: [row.__imul__(2.0 + i) for i, row in enumerate(x)]),
    "through-diagonal-steps": (S, lambda np, x: x.reshape(-1)[::4].__iadd__(1.0)),
}  # fmt: skip


def slope(f, x):
    """The gradient by central differences: the functions are polynomials of low degree, or smooth."""
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = 1e-5
        out[i] = (f(x + e) - f(x - e)) / 2e-5
    return out


@pytest.mark.parametrize("numpy", [np, fnp], ids=["numpy", "funcgrad.numpy"])
@pytest.mark.parametrize("write", WRITES)
def test_writes_are_numpys(write, numpy):
    start, statement = WRITES[write]
    weights = np.cos(np.arange(start.size)).reshape(start.shape)

    def f(x, np=numpy):
        x = x * 1.0
        kept = x.copy()
        statement(np, x)
        return np.sum(weights * x * x) + 0.1 * np.sum(kept)

    value, gradient = value_and_grad(f)(start)
    np.testing.assert_allclose(value, f(start, np), rtol=1e-13)
    np.testing.assert_allclose(gradient, slope(lambda x: f(x, np), start), rtol=1e-5, atol=1e-7)
    t = np.sin(np.arange(1.0, 1.0 + start.size)).reshape(start.shape)
    np.testing.assert_allclose(jvp(f, (start,), (t,))[1], np.sum(gradient * t), rtol=1e-10)
    along = np.tensordot(hessian(f)(start), t, t.ndim)
    np.testing.assert_allclose(hvp(f)(start, t), along, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(grad(checkpoint(f))(start), gradient, rtol=1e-10)
    program = make_jaxpr(f)(start)
    np.testing.assert_allclose(eval_jaxpr(program, program.consts, start)[0], value, rtol=1e-13)
    many = np.stack([start, start * 1.001])
    np.testing.assert_allclose(vmap(f)(many), [f(x) for x in many], rtol=1e-12)


# ---- what shares memory --------------------------------------------------------------------

#: Functions whose results share memory with their argument, or may.
RESULTS = {
    "itself": lambda np, x: x,
    "slice": lambda np, x: x[1:],
    "row": lambda np, x: x[0],
    "ellipsis": lambda np, x: x[..., None],
    "integers": lambda np, x: x[[0]],
    "mask": lambda np, x: x[np.ones(len(x), bool)],
    "rows": lambda np, x: list(x),
    "T": lambda np, x: x.T,
    "mT": lambda np, x: np.matrix_transpose(x) if x.ndim > 1 else x,
    "swapaxes": lambda np, x: np.swapaxes(x, 0, -1),
    "moveaxis": lambda np, x: np.moveaxis(x, 0, -1),
    "rollaxis": lambda np, x: np.rollaxis(x, x.ndim - 1),
    "reshape": lambda np, x: x.reshape(-1),
    "reshape-column": lambda np, x: np.reshape(x, (-1, 1)),
    "reshape-F": lambda np, x: np.reshape(x, -1, order="F"),
    "reshape-A": lambda np, x: np.reshape(x, -1, order="A"),
    "reshape-copy": lambda np, x: np.reshape(x, -1, copy=True),
    "ravel": lambda np, x: np.ravel(x),
    "ravel-F": lambda np, x: x.ravel("F"),
    "ravel-K": lambda np, x: x.ravel("K"),
    "ravel-A": lambda np, x: x.ravel("A"),
    "flatten": lambda np, x: x.flatten(),
    "flatten-F": lambda np, x: x.flatten("F"),
    "squeeze": lambda np, x: np.squeeze(x[None]),
    "expand_dims": lambda np, x: np.expand_dims(x, 0),
    "atleast_1d": lambda np, x: np.atleast_1d(x),
    "atleast_3d": lambda np, x: np.atleast_3d(x, x * 2.0),
    "flip": lambda np, x: np.flip(x),
    "rot90": lambda np, x: np.rot90(x) if x.ndim > 1 else x,
    "roll": lambda np, x: np.roll(x, 0),
    "diagonal": lambda np, x: x.diagonal() if x.ndim > 1 else x,
    "broadcast_to": lambda np, x: np.broadcast_to(x, (2, *x.shape)),
    "split": lambda np, x: np.split(x, 1),
    "array_split": lambda np, x: np.array_split(x, 2),
    "unstack": lambda np, x: np.unstack(x),
    "copy": lambda np, x: x.copy(),
    "copy-then-reshape": lambda np, x: x.copy().reshape(-1),
    "copy-F-then-reshape": lambda np, x: x.copy("F").reshape(-1),
    "copy-K-then-T": lambda np, x: np.copy(x).T.reshape(-1),
    "array": lambda np, x: np.array(x),
    "array-no-copy": lambda np, x: np.array(x, copy=None, ndmin=3),
    "asarray": lambda np, x: np.asarray(x),
    "asarray-F": lambda np, x: np.asarray(x, order="F"),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x),
    "asfortranarray": lambda np, x: np.asfortranarray(x),
    "require": lambda np, x: np.require(x, requirements="C"),
    "astype": lambda np, x: x.astype(x.dtype),
    "astype-no-copy": lambda np, x: x.astype(x.dtype, copy=False),
    "view": lambda np, x: x.view(),
    "real": lambda np, x: x.real,
    "imag": lambda np, x: x.imag if x.dtype.kind == "c" else x,
    "conj": lambda np, x: x.conj(),
    "positive": lambda np, x: +x,
    "take": lambda np, x: np.take(x, 0, axis=0),
    "take-many": lambda np, x: np.take(x, [0], axis=0),
    "compress": lambda np, x: np.compress([True], x, axis=0),
    "repeat": lambda np, x: np.repeat(x, 1, axis=0),
    "repeat-one": lambda np, x: np.repeat(x[:1], 2, axis=0),
    "tile": lambda np, x: np.tile(x, 1),
    "tile-one": lambda np, x: np.tile(x[:1], 2),
    "resize": lambda np, x: np.resize(x, x.shape),
    "concatenate": lambda np, x: np.concatenate([x]),
    "stack": lambda np, x: np.stack([x]),
    "where": lambda np, x: np.where(True, x, 0.0),
    "clip": lambda np, x: np.clip(x.real, None, None),
    "sort": lambda np, x: np.sort(x),
    "trim_zeros": lambda np, x: np.trim_zeros(np.ravel(x)),
    "einsum": lambda np, x: np.einsum("...->...", x),
    "pad": lambda np, x: np.pad(x, 0),
    "delete": lambda np, x: np.delete(x, [], 0),
    "meshgrid": lambda np, x: np.meshgrid(np.ravel(x), np.ones(2)),
}  # fmt: skip

LAYOUTS = {
    "C": lambda x: x * 1.0,
    "F": lambda x: (x * 1.0).reshape(3, 2).T,
    "strided": lambda x: np.concatenate([x, x], axis=1)[:, ::2],
    "vector": lambda x: (x * 1.0).reshape(-1)[::2],
    "reversed": lambda x: (x * 1.0)[::-1],
    "complex": lambda x: x * (1.0 + 2.0j),
}


def arrays(result):
    """The arrays among a function's results; scalars cannot be written to."""
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    return [y for y in results if np.ndim(y)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("result", RESULTS)
def test_a_write_shows_where_it_does_in_numpy(result, layout):
    make, read = LAYOUTS[layout], RESULTS[result]

    def writing(np, to_base, number):
        def run(start):
            x = make(start)
            y = arrays(read(np, x))[number]
            if to_base:
                x[...] = 7.0
            else:
                y[...] = 7.0
            return x, y

        return run

    for number in range(len(arrays(read(np, make(M))))):
        for to_base in (False, True):
            try:
                expected = writing(np, to_base, number)(M.copy())
            except ValueError as error:  # a read-only view
                with pytest.raises(ValueError, match="read-only"):
                    vjp(writing(fnp, to_base, number), M)
                assert "read-only" in str(error)
                continue
            found = vjp(writing(fnp, to_base, number), M)[0]
            for a, b in zip(found, expected):
                np.testing.assert_array_equal(a, b)


def test_views_of_views_and_their_bases():
    def f(x):
        x = x * 1.0
        rows = x[1:]
        last = rows.T[-1]
        flat = x.reshape(-1)
        last *= 10.0
        flat[0] = rows[0, 0]
        x += 1.0
        return np.sum(rows) + 2.0 * np.sum(last) + 3.0 * np.sum(flat)

    same(value_and_grad(f)(M), (f(M), slope(f, M).round(6)), rtol=1e-6)


def test_views_that_nobody_holds_are_forgotten():
    def f(x):
        x = x * 1.0
        for i in range(2000):
            part = x[i % 2 :]
        assert len(x.views) < 100
        part[0] = 2.0 * x[0]
        return np.sum(x)

    assert grad(f)(V).tolist() == [3.0, 0.0, 1.0]


# ---- arrays like another -------------------------------------------------------------------

LIKE = {
    "zeros_like": lambda np, x: np.zeros_like(x),
    "empty_like": lambda np, x: np.empty_like(x, shape=x.shape),
    "ones_like": lambda np, x: np.ones_like(x),
    "full_like": lambda np, x: np.full_like(x, 2.0),
    "zeros": lambda np, x: np.zeros(x.shape, like=x),
    "empty": lambda np, x: np.empty(x.shape, like=x),
    "ones": lambda np, x: np.ones(x.shape, like=x),
    "full": lambda np, x: np.full(x.shape, 2.0, like=x),
    "array": lambda np, x: np.array([0.0] * len(x), like=x),
    "arange": lambda np, x: np.arange(len(x), dtype=float, like=x),
}


@pytest.mark.parametrize("make", LIKE.values(), ids=LIKE)
def test_arrays_like_a_traced_one_take_traced_values(make):
    def f(x, np=np):
        out = make(np, x)
        for i in range(len(x)):
            out[i] = x[i] ** 3
        return np.sum(out)

    for numpy in (np, fnp):
        same(grad(lambda x, numpy=numpy: f(x, numpy))(V), 3.0 * V**2)
    same(jvp(f, (V,), (np.ones(3),)), (f(V), np.sum(3.0 * V**2)))
    same(hessian(f)(V), np.diag(6.0 * V))
    same(vmap(f)(np.stack([V, V])), np.array([f(V), f(V)]))
    program = make_jaxpr(f)(V)
    same(eval_jaxpr(program, program.consts, V), [f(V)])
    same(grad(checkpoint(f))(V), 3.0 * V**2)


def test_an_array_of_traced_values_by_like():
    same(grad(lambda x: np.sum(np.array([x, x**2, 1.0], like=x)))(3.0), 7.0)
    same(grad(lambda x: np.sum(np.asarray([[x[0]], [x[1] * x[2]]], like=x)))(V), np.array([1.0, 2.0, 1.0]))


def test_integers_like_a_traced_array_are_plain():
    def f(x):
        assert type(np.zeros_like(x, dtype=int)) is np.ndarray
        assert type(np.zeros(3, bool, like=x)) is np.ndarray
        return np.sum(x)

    grad(f)(V)


def test_a_table_of_traced_integers():
    def best(scores):
        first = np.argmax(scores[0])
        table = np.zeros_like(first, shape=len(scores))
        for t in range(len(scores)):
            table[t] = np.argmax(scores[t])
        return table

    many = np.stack([M, -M])
    np.testing.assert_array_equal(vmap(best)(many), [best(m) for m in many])


def test_a_loop_of_a_program_writes_in_place():
    def step(carry, x):
        out = carry.copy()
        out[1:] = carry[:-1] * x
        out[0] += x
        return out, out.sum()

    def f(x):
        carry, ys = lax.scan(step, np.zeros(3), x)
        return np.sum(carry**2) + np.sum(ys)

    def plain(x):
        carry, total = np.zeros(3), 0.0
        for entry in x:
            carry, y = step(carry, entry)
            total = total + y
        return np.sum(carry**2) + total

    np.testing.assert_allclose(grad(f)(V), slope(plain, V), rtol=1e-7)
    program = make_jaxpr(grad(f))(V)
    np.testing.assert_allclose(eval_jaxpr(program, program.consts, V)[0], grad(f)(V))


# ---- what is refused -----------------------------------------------------------------------

REFUSED = {
    "plain-out": (lambda x: np.add(x, 1.0, out=np.zeros(3)), "out=x"),
    "plain-operator": (lambda x: np.zeros(3).__iadd__(x), "plain array"),
    "plain-copyto": (lambda x: np.copyto(np.zeros(3), x), "np.copyto"),
    "plain-put": (lambda x: np.put(np.zeros(3), [0], x[0]), "np.put"),
    "plain-at": (lambda x: np.add.at(np.zeros(3), [0], x[0]), "np.add.at"),
    "at": (lambda x: np.multiply.at(x, [0, 0], 2.0), "np.multiply.at"),
    "shape": (lambda x: setattr(x, "shape", (3, 1)), "x.shape = v"),
    "resize": (lambda x: x.resize(2), "x.resize"),
    "einsum": (lambda x: np.einsum("ij->ji", x[:, None]).__iadd__(1.0), "shares memory"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_derivatives_cannot_follow_is_refused(case):
    f, message = REFUSED[case]
    with pytest.raises(errors.InPlaceError) as caught:
        grad(f)(V)
    text = str(caught.value)
    assert message in text and f"{__file__}:{f.__code__.co_firstlineno} " in text and "\n" in text


def test_windows_see_writes_in_numpy_and_are_refused_here():
    def f(x):
        windows = np.lib.stride_tricks.sliding_window_view(x, 2)
        x[0] = 1.0
        return np.sum(windows)

    with pytest.raises(errors.InPlaceError, match="shares memory"):
        grad(f)(V)


def test_a_plain_array_takes_no_traced_item():
    def f(x):
        out = np.zeros(3)
        out[0] = x[0]
        return np.sum(out)

    with pytest.raises(ValueError, match="setting an array element") as caught:
        grad(f)(V)
    assert "np.zeros_like(x)" in str(caught.value.__cause__)


def test_values_of_another_transform():
    def outer(x):
        y = x * 1.0

        def inner(t):
            y[0] = t
            return np.sum(y)

        return grad(inner)(2.0)

    with pytest.raises(errors.InPlaceError, match="another transform(?s:.*)zeros_like"):
        grad(outer)(V)

    def made_inside(x):
        def inner(t):
            y = np.zeros(3, like=t)
            y[:] = x
            y[0] = t * x[1]
            return np.sum(y * y)

        return grad(inner)(2.0)

    same(grad(made_inside)(V), np.array([0.0, 8.0, 0.0]))
    same(jacrev(grad(made_inside))(V), np.diag([0.0, 8.0, 0.0]))


def test_functions_that_run_again_do_not_write_outside():
    def f(x):
        y = x * 1.0

        def inside(t):
            y[0] = 1.0
            return t * 2.0

        return np.sum(checkpoint(inside)(x)) + np.sum(y)

    with pytest.raises(errors.InPlaceError, match="may run again"):
        grad(f)(V)


def test_shapes_and_dtypes_are_numpys():
    for write, error in (
        (lambda x: x.__setitem__(0, [1.0, 2.0]), ValueError),
        (lambda x: x.__setitem__(5, 1.0), IndexError),
        (lambda x: x.__setitem__(0, 1.0j), TypeError),
        (lambda x: x.__setitem__("a", 1.0), IndexError),
        (lambda x: x.__iadd__(np.ones((2, 3))), ValueError),
        (lambda x: np.add(x, 1j, out=x), TypeError),
        (lambda x: np.sum(x, out=x), ValueError),
        (lambda x: setattr(x, "imag", 1.0), TypeError),
        (lambda x: np.broadcast_to(x, (2, 3)).__setitem__(0, 1.0), ValueError),
    ):
        with pytest.raises(error):
            write(V.copy())
        with pytest.raises(error):
            grad(lambda x, write=write: write(x))(V)
        same(V, np.array([3.0, 1.0, 2.0]))

    def single(x):
        x[0] = np.float64(2.5) * x[1]
        x *= np.float64(3.0)
        return np.sum(x)

    assert grad(single)(V.astype(np.float32)).dtype == np.float32


def test_a_write_that_fails_leaves_everything():
    def f(x):
        y = x * 1.0
        part = y[:2]
        with pytest.raises(ValueError):
            part[:] = np.ones(3)
        return np.sum(part) + np.sum(y)

    same(grad(f)(V), np.array([2.0, 2.0, 1.0]))


def test_stop_gradient_gives_an_array_of_its_own():
    def f(x):
        y = np.exp(x)
        constant = stop_gradient(y)
        constant *= 2.0
        return np.sum(y) + np.sum(constant)

    same(value_and_grad(f)(V), (3.0 * np.sum(np.exp(V)), np.exp(V)))
