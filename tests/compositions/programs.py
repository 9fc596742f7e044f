"""Random smooth programs from vectors of three to vectors of three, for hypothesis.

A program is a list of steps, each a NumPy function of earlier values; it prints as the code that it is.
Values stay of order one, and nothing comes near a kink or a pole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

N = 3
A = np.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]])
B = np.array([0.4, -0.3, 0.8])
MASK = np.array([True, False, True])
EYE = np.eye(N)

# kinds of the arguments and of the result -> NumPy code of a and b: s scalar, v vector, m matrix
STEPS = {
    "s-s": ["np.sin(a)", "np.tanh(a)", "np.exp(-a * a)", "np.sqrt(1 + a**2)", "np.log1p(a * a)"],
    "ss-s": ["np.sin(a) * b", "a - b", "np.arctan2(a, 2 + np.cos(b))", "np.logaddexp(a, b)"],
    "s-v": ["np.stack([a, np.cos(a), a * a])", "a * B", "np.broadcast_to(np.sin(a), (N,))"],
    "sv-v": ["np.sin(a) * b", "b / (2 + np.cos(a))", "np.where(MASK, a, b)"],
    "v-v": [
        "np.sin(a)",
        "np.tanh(a) + a",
        "np.exp(np.cos(a))",
        "np.log1p(a * a)",
        "np.sqrt(1 + a**2)",
        "np.arctan(a)",
        "1 / (2 + np.sin(a))",
        "a[::-1]",
        "a[[0, 2, 2]]",
        "np.roll(a, 1)",
        "np.cumsum(np.sin(a))",
        "np.concatenate([a[1:], a[:1]])",
        "A @ a",
        "a @ A",
        "np.where(MASK, a, np.cos(a))",
        "a - np.mean(a)",
        "np.where(MASK, a, np.sqrt((1 + a * a) * ~MASK))",
        "np.concatenate([a, a * a])[1::2]",
        "np.flip(a) * a[0]",
        "np.convolve(a, B, 'same')",
        "np.linalg.norm(np.stack([a, 1 + a * a]), axis=0)",
        "np.linalg.solve(A + 3 * EYE, a)",
    ],
    "vv-v": [
        "np.sin(a) * b",
        "a - b",
        "np.hypot(1 + a * a, b)",
        "np.logaddexp(a, b)",
        "(1 + a**2) ** np.tanh(b)",
        "np.arctan2(np.sin(a), 2 + np.cos(b))",
        "np.where(MASK, a, b)",
    ],
    "v-s": ["np.sum(np.sin(a))", "np.mean(a)", "np.prod(np.cos(a))", "np.std(a + B)", "a[1]"],
    "vv-s": ["np.dot(np.sin(a), np.cos(b))", "np.sum(a * np.tanh(b))"],
    "vv-m": [
        "np.outer(np.sin(a), np.tanh(b))",
        "np.stack([a, b, a])",
        "np.vstack([a, b, a])[::-1]",
        "a[:, None] - b",
    ],
    "v-m": ["np.diag(np.sin(a))", "A * a", "np.tile(np.sin(a), (N, 1))"],
    "m-m": [
        "a.T",
        "np.cumsum(np.sin(a), axis=0) / N",
        "a[:, [2, 0, 1]]",
        "np.reshape(a, (-1,))[::-1].reshape(N, N)",
        "np.tanh(a)",
        "np.sin(a) @ A",
        "np.linalg.inv(4 * EYE + np.sin(a))",
    ],
    "mm-m": ["np.sin(a) @ np.cos(b) / N", "np.einsum('ij,jk->ik', A, np.sin(a)) - b"],
    "mv-v": [
        "np.sin(a) @ b",
        "np.einsum('ij,j->i', a, np.sin(b))",
        "np.linalg.solve(4 * EYE + np.sin(a), b)",
    ],
    "m-v": ["np.diagonal(a)", "np.mean(a, axis=0)", "np.ravel(a)[2:5]", "np.sum(np.sin(a), axis=1)"],
    "m-s": [
        "np.trace(a)",
        "np.linalg.det(2 * EYE + np.sin(a))",
        "np.mean(np.cos(a))",
        "np.sum(np.tril(np.sin(a)))",
    ],
}
NAMES = {"np": np, "A": A, "B": B, "MASK": MASK, "EYE": EYE, "N": N}
ALL_STEPS = [(*kinds.split("-"), code) for kinds, codes in STEPS.items() for code in codes]
FUNCTIONS = {code: eval(f"lambda a, b=None: {code}", NAMES) for _, _, code in ALL_STEPS}


@dataclass(frozen=True)
class Program:
    """Steps ``(code, indices of earlier values)``, and the kinds of the values; the first is the input."""

    steps: tuple
    kinds: str

    def __call__(self, x):
        values = [x]
        for code, operands in self.steps:
            values.append(FUNCTIONS[code](*[values[i] for i in operands]))
        # the last value of each kind counts, so that a step is rarely without effect
        total = np.sin(x)
        for kind, value in {k: v for k, v in zip(self.kinds, values)}.items():
            total = total + (value if kind != "m" else np.sum(value, axis=1))
        return total

    def __repr__(self):
        lines = [f"v{i + 1} = f{operands}: {code}" for i, (code, operands) in enumerate(self.steps)]
        return "Program(" + "; ".join(lines) + ")"


@st.composite
def programs(draw, most=6):
    kinds = "v"
    steps = []
    for _ in range(draw(st.integers(1, most))):
        possible = [step for step in ALL_STEPS if set(step[0]) <= set(kinds)]
        wanted, result, code = draw(st.sampled_from(possible))
        operands = tuple(
            draw(st.sampled_from([i for i, kind in enumerate(kinds) if kind == k])) for k in wanted
        )
        steps.append((code, operands))
        kinds += result
    return Program(tuple(steps), kinds)


points = st.lists(st.integers(-8, 8), min_size=N, max_size=N).map(lambda xs: np.array(xs) / 7 + 0.05)
