"""Ten thousand Runge-Kutta steps, differentiated in the memory of a few.

A chain of masses between two walls, with springs that are not quite linear (Fermi, Pasta, Ulam and Tsingou,
1955), is followed by the classical Runge-Kutta method. Its gradient needs every step on the way back.
Recording them takes memory that grows with their number; `checkpointed_loop` keeps as many states as a budget
holds, and finds the others again. Run it with

    python examples/long_ode.py
"""

import time
import tracemalloc

import numpy as np

from funcgrad import checkpointed_loop, value_and_grad

MASSES, STEPS, DT = 64, 10_000, 0.05
BUDGET = 150 * 2 * MASSES * 8  # bytes: 150 states of places and speeds

# How a state stretches the springs, and what places and speeds change by in a time DT: by what springs pull
# beside their linear part, and by all else.
STRETCH = np.eye(MASSES + 1, 2 * MASSES) - np.eye(MASSES + 1, 2 * MASSES, -1)
STRETCH[-1, MASSES:] = 0
PULLED = DT * np.vstack([np.zeros((MASSES, MASSES + 1)), -STRETCH[:, :MASSES].T])
MOVED = DT * np.eye(2 * MASSES, k=MASSES) + PULLED @ STRETCH
LOWEST = np.sin(np.pi * np.arange(1, MASSES + 1) / (MASSES + 1))


def rates(state, cubic):
    """What places and speeds change by in a time DT. `cubic` is how each spring stiffens."""
    return MOVED @ state + PULLED @ (cubic * (STRETCH @ state) ** 3)


def runge_kutta(state, cubic):
    a = rates(state, cubic)
    b = rates(state + 0.5 * a, cubic)
    c = rates(state + 0.5 * b, cubic)
    d = rates(state + c, cubic)
    return state + (a + d + 2 * (b + c)) / 6


def in_the_lowest_wave(state):
    """The square of its amplitude: what remains of the wave that the chain is plucked in."""
    return (2 / (MASSES + 1) * (LOWEST @ state[:MASSES])) ** 2


def recorded(state, cubic, steps):
    for _ in range(steps):
        state = runge_kutta(state, cubic)
    return in_the_lowest_wave(state)


def checkpointed(state, cubic, steps):
    end = checkpointed_loop(lambda s: runge_kutta(s, cubic), state, length=steps, max_bytes=BUDGET)
    return in_the_lowest_wave(end)


def peak(f, *args):
    """What a call returns, and the bytes that it takes at most."""
    tracemalloc.start()
    result = f(*args)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, used


def main():
    state, cubic = np.concatenate([LOWEST, np.zeros(MASSES)]), np.linspace(0.2, 0.3, MASSES + 1)
    by_recording, by_checkpoints = value_and_grad(recorded, (0, 1)), value_and_grad(checkpointed, (0, 1))

    few = 300
    (_, expected), everything = peak(by_recording, state, cubic, few)
    (_, found), used = peak(by_checkpoints, state, cubic, few)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11)
    print(f"{few} steps: {everything / 1e6:.1f} MB recorded, {used / 1e6:.2f} MB checkpointed")
    print(f"recorded, {STEPS} steps would take {everything / few * STEPS / 1e6:.0f} MB")

    some = 500
    _, used = peak(by_checkpoints, state, cubic, some)
    print(f"{some} steps: {used / 1e6:.2f} MB checkpointed, {BUDGET / 1e6:.2f} MB of them states")
    assert used < 3 * BUDGET

    begin = time.perf_counter()
    value, (by_state, by_cubic) = by_checkpoints(state, cubic, STEPS)
    print(f"{STEPS} steps: differentiated in {time.perf_counter() - begin:.1f} s")

    random = np.random.default_rng(0)
    along = random.normal(size=state.shape), random.normal(size=cubic.shape)
    h = 1e-6
    ahead, behind = (checkpointed(state + s * along[0], cubic + s * along[1], STEPS) for s in (h, -h))
    difference = (ahead - behind) / (2 * h)
    slope = by_state @ along[0] + by_cubic @ along[1]
    print(f"{value:.4f} of the wave is left; its slope: {slope:.7f}, by differences {difference:.7f}")
    assert abs(slope - difference) < 1e-4 * (1 + abs(difference))
    print("All agree.")


if __name__ == "__main__":
    main()
