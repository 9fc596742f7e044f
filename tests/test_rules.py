"""Every row of the samples table under every rule, transform, mode and dtype."""

import numpy as np
import pytest
from samples import SAMPLES

from funcgrad import make_jaxpr
from funcgrad._primitives.kinds import PRIMITIVES
from funcgrad._testing import laws
from funcgrad.testing import check_grads

ROWS = pytest.mark.parametrize("row", SAMPLES, ids=lambda row: row.id)
TYPED_ROWS = pytest.mark.parametrize(
    "row, dtype", [pytest.param(row, d, id=f"{row.id}-{d}") for row in SAMPLES for d in row.dtypes]
)


def cast(args, dtype):
    """A row's arguments in a dtype; complex ones get imaginary parts."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        args = [x * np.exp(0.25j * (1 + np.arange(np.size(x)) % 3).reshape(np.shape(x))) for x in args]
    return tuple(np.asarray(x, dtype)[()] for x in args)


def rough(dtype):
    """Tolerances that follow from the dtype alone; in float16 only that much can be expected."""
    return {"rtol": 0.05, "atol": 0.05} if np.dtype(dtype) == np.float16 else {}


@TYPED_ROWS
def test_value_and_dtype(row, dtype):
    laws.check_values(row.f, cast(row.args, dtype))


@TYPED_ROWS
def test_derivatives(row, dtype):
    order = row.order if np.dtype(dtype).itemsize >= 8 else 1
    check_grads(row.f, cast(row.args, dtype), order=order, **rough(dtype))


@pytest.mark.parametrize(
    "row, dtype",
    [
        pytest.param(row, d, id=f"{row.id}-{d}")
        for row in SAMPLES
        if row.stage
        for d in row.dtypes
        if np.dtype(d).itemsize < 8
    ],
)
def test_derivatives_are_no_wider(row, dtype):
    laws.check_precision(row.f, cast(row.args, dtype))


@pytest.mark.parametrize("row", [row for row in SAMPLES if row.batch], ids=lambda row: row.id)
def test_batching(row):
    laws.check_batching(row.f, row.args)


@pytest.mark.parametrize("row", [row for row in SAMPLES if row.stage], ids=lambda row: row.id)
def test_staging(row):
    laws.check_staging(row.f, row.args)


def test_rows_have_names_of_their_own():
    ids = [row.id for row in SAMPLES]
    assert len(set(ids)) == len(ids), sorted({i for i in ids if ids.count(i) > 1})


def test_every_primitive_has_a_row():
    """In the program of a row, or of its derivatives."""
    missing = set(PRIMITIVES) - {"nonzero"}  # how long its result is depends on values
    missing -= {name for name, prim in PRIMITIVES.items() if prim.rules and not any(map(known, prim.rules))}
    rows = [row for row in SAMPLES if row.stage]
    for row in rows:
        missing -= {eqn.primitive.name for eqn in laws.equations(make_jaxpr(row.f)(*row.args))}
    for row in rows:
        if missing:
            derivatives, *vectors = laws.derivatives_at(row.f, row.args)
            program = make_jaxpr(derivatives)(row.args, *vectors)
            missing -= {eqn.primitive.name for eqn in laws.equations(program)}
    assert not missing


@pytest.mark.slow
def test_every_rule_has_a_row(monkeypatch):
    """Forward and in reverse, by itself or in derivatives up to the order at which its row is tested."""
    plans = {}
    for prim in PRIMITIVES.values():
        for direction in ("push", "pull"):
            plans[prim, direction] = {}
            monkeypatch.setattr(prim, f"{direction}_plans", plans[prim, direction])

    def missing():
        for (prim, direction), made in plans.items():
            rules = enumerate(prim.rules or ())
            run = {min(i, len(prim.rules) - 1) for plan in made.values() for i in plan.positions}
            yield from (
                f"{direction} {prim.name} {prim.args[i]}" for i, r in rules if known(r) and i not in run
            )

    for row in SAMPLES:
        check_grads(row.f, cast(row.args, row.dtypes[-1]), order=row.order, **rough(row.dtypes[-1]))
    assert not list(missing())


def known(rule):
    """Whether there is a derivative with respect to an argument, that is not refused as unknown."""
    return rule is not None and rule.missing is None
