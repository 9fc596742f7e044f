"""Every row of the samples table with its arguments traced at two levels, by all pairs of transforms.

Even arguments move with a number s, odd ones with a number t, so that what is broadcast and what is traced
where differs from row to row. The mixed derivative is that of one Hessian.
"""

import itertools

import numpy as np
import pytest
from samples import SAMPLES, each

import funcgrad as fg

LINES = {
    "grad": lambda f: fg.grad(f, unused="zero"),
    "vjp": lambda f: lambda x: fg.vjp(f, x)[1](1.0)[0],
    "jvp": lambda f: lambda x: fg.jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: fg.linearize(f, x)[1](1.0),
    "vmap": lambda f: lambda x: np.sum(fg.vmap(fg.grad(f, unused="zero"))(np.stack([x]))),
}
#: Each transform outside of and inside of another.
SOME = [("grad", "linearize"), ("linearize", "vmap"), ("vmap", "jvp"), ("jvp", "vjp"), ("vjp", "grad")]
ALL = [*itertools.product(LINES, repeat=2)]
#: A row that is for complex numbers only is none here.
ROWS = [row for row in SAMPLES if row.order >= 2 and row.dtypes != ("c16",)]
S, T = 0.01, 0.02  # small, so that knots stay in order and numbers in their ranges


def along(row):
    """``h(s, t)``, a smooth scalar function of the row's results."""
    rng = np.random.default_rng(len(row.id))
    directions = [rng.normal(size=np.shape(x)) for x in row.args]

    def h(s, t):
        steps = [t if i % 2 else s for i in range(len(row.args))]
        if len(row.args) == 1:
            steps[0] = s + 0.3 * t * t
        out = row.f(*[x + step * d for x, step, d in zip(row.args, steps, directions)])
        parts = out if isinstance(out, tuple) else (out,)
        return sum(np.sum(np.sin(np.real(p) + 0.1) + np.imag(p)) for p in parts)

    return h


def check(row, pairs):
    h = along(row)
    expected = fg.jacfwd(fg.jacrev(lambda p: h(p[0], p[1])))(np.array([S, T]))[0, 1]
    for outer, inner in pairs:
        if "vmap" in (outer, inner) and not row.batch:
            continue
        found = LINES[outer](lambda s: LINES[inner](lambda t: h(s, t))(T))(S)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8, err_msg=f"{outer} of {inner}")


@pytest.mark.filterwarnings("ignore:.*encountered in")
@each(ROWS)
def test_two_levels(row):
    check(row, SOME)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*encountered in")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_two_levels_in_all_pairs(row):
    check(row, ALL)
