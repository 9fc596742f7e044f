"""Optimal control: swinging a pendulum up, by gradients and by Newton's method on the torques.

Source: Bryson and Ho, Applied Optimal Control, 1975, section 2.2: the gradient by the controls comes from
costates that run backwards, written out below; Hessian products are checked by complex steps in them.
"""

import numpy as np
from compare import agree, complex_step

from funcgrad import grad, hessian, hvp

STEP, STEPS = 0.15, 25


def advance(state, torque):
    """One step of the symplectic Euler method; the angle is 0 where the pendulum hangs."""
    angle, speed = state
    speed = speed + STEP * (torque - 0.1 * speed - np.sin(angle))
    return np.stack([angle + STEP * speed, speed])


def cost(torques):
    state = np.zeros(2)
    for torque in torques:
        state = advance(state, torque)
    angle, speed = state
    return 0.05 * STEP * np.sum(torques**2) + 10 * (1 + np.cos(angle)) + speed**2


def gradient_by_hand(torques):
    """States forwards, costates backwards."""
    states = [np.zeros(2, torques.dtype)]
    for torque in torques:
        states.append(advance(states[-1], torque))
    angle, speed = states[-1]
    by_angle, by_speed = -10 * np.sin(angle), 2 * speed
    slopes = []
    for torque, (angle, _) in zip(torques[::-1], states[-2::-1]):
        inner = STEP * by_angle + by_speed  # by the new speed
        slopes.append(0.1 * STEP * torque + STEP * inner)
        by_angle, by_speed = by_angle - STEP * np.cos(angle) * inner, (1 - 0.1 * STEP) * inner
    return np.array(slopes[::-1])


def main():
    rng = np.random.default_rng(15)
    torques, v = rng.normal(size=STEPS), rng.normal(size=STEPS)
    agree("gradient, by the costates", grad(cost)(torques), gradient_by_hand(torques))
    expected = complex_step(lambda s: gradient_by_hand(torques + s * v), np.array(0.0))
    agree("Hessian times vector, by complex steps in the costates", hvp(cost)(torques, v), expected)

    torques = 0.5 * np.sin(STEP * np.arange(STEPS))
    start, damping = cost(torques), 1.0
    for _ in range(40):  # Levenberg and Marquardt
        slope, curvature = grad(cost)(torques), hessian(cost)(torques)
        curvature = curvature + (damping + max(0, -np.linalg.eigvalsh(curvature)[0])) * np.eye(STEPS)
        step = np.linalg.solve(curvature, slope)
        better = cost(torques - step) < cost(torques)
        torques, damping = (torques - step, damping / 3) if better else (torques, damping * 4)
    print(f"  cost {start:.2f} -> {cost(torques):.4f}")
    assert cost(torques) < 1.0
    agree(
        "costates at the optimum: no gradient (plus 1)", 1 + gradient_by_hand(torques), np.ones(STEPS), 1e-6
    )


if __name__ == "__main__":
    main()
