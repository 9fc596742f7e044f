"""Ordinary differential equations: `solve_ivp` by explicit Runge-Kutta methods.

SciPy chooses the steps, for plain values; then they are made once more, in traced ones. So the value is
SciPy's, and the derivatives, in every mode and at every order, are those of the discrete solution with its
steps held fixed (H. G. Bock's internal differentiation, 1981): as exact as the solution is, which `rtol` and
`atol` say. The right-hand side may close over traced values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from funcgrad import numpy as fnp
from funcgrad import tree
from funcgrad._core.tracer import Tracer
from funcgrad.numpy.protocol import implements
from funcgrad.scipy._mirror import has_tracer, refuse_argument
from funcgrad.scipy._values import known, known_or_refuse

_METHODS = {"RK45": scipy.integrate.RK45, "RK23": scipy.integrate.RK23, "DOP853": scipy.integrate.DOP853}
_READING = "the choice of solve_ivp's steps"


@implements(scipy.integrate.solve_ivp)
def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, vectorized=False,
              args=None, **options):  # fmt: skip
    solver = _METHODS.get(method, method)
    if solver not in _METHODS.values():
        cure = 'Take method="RK45", "RK23" or "DOP853", with a smaller max_step if the equation is stiff.'
        refuse_argument("scipy.integrate.solve_ivp", f"method={method!r}", cure)
    if events is not None:
        cure = "Find the time of the event in the dense solution, and a step of Newton's method from there."
        refuse_argument("scipy.integrate.solve_ivp", "events=", cure)
    if has_tracer(options):
        name = next(name for name, value in options.items() if has_tracer(value))
        refuse_argument(
            "scipy.integrate.solve_ivp", f"a traced {name}", "It steers the steps: pass a plain value."
        )
    args = () if args is None else tuple(args)

    def rhs(t, y):
        """The right-hand side at one state, which may come as a list."""
        if vectorized:
            return fnp.asarray(fun(t, y[:, None], *args))[:, 0]
        return fnp.asarray(fun(t, y, *args))

    plain = _plain_solution(fun, t_span, y0, solver, vectorized, args, options)
    y = fnp.asarray(y0)
    y = y.astype(np.complex128 if y.dtype.kind == "c" else np.float64)
    times = [t_span[0], *plain.t[1:-1].tolist(), t_span[1] if plain.success else plain.t[-1]]
    states, steps = [y], []
    slope = rhs(times[0], y)
    for before, after in zip(times, times[1:]):
        step = _Step(solver, rhs, before, after, y, slope)
        y, slope = step.end, step.slope
        states.append(y)
        steps.append(step)
    solution = _Solution(plain.t, steps)
    if t_eval is None:
        t, values = fnp.array(times) if has_tracer(times) else plain.t, fnp.stack(states, axis=-1)
    else:
        t = t_eval if isinstance(t_eval, Tracer) else np.asarray(t_eval)
        _check_times(t, t_span)
        values = solution(t)
    plain.t, plain.y, plain.sol = t, values, solution if dense_output else None
    return plain


def _plain_solution(fun, t_span, y0, solver, vectorized, args, options):
    """SciPy's solution for the plain values of everything, at the ends of its steps."""
    args = tree.map(lambda x: known_or_refuse(x, _READING)[()] if isinstance(x, Tracer) else x, args)

    def plain_fun(t, y):
        return known_or_refuse(fnp.asarray(fun(t, y, *args)), _READING)

    span = [float(known_or_refuse(t, _READING)) for t in t_span]
    start = known_or_refuse(fnp.asarray(y0), _READING)
    return scipy.integrate.solve_ivp(plain_fun, span, start, method=solver, vectorized=vectorized, **options)


def _check_times(t: Any, t_span: Any) -> None:
    plain, (first, last) = known_or_refuse(t, _READING), [known(end) for end in t_span]
    if plain.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(plain < min(first, last)) or np.any(plain > max(first, last)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    if np.any(np.diff(plain) * (1 if last > first else -1) <= 0):
        raise ValueError("Values in `t_eval` are not properly sorted.")


class _Step:
    """One step of a Runge-Kutta method, whose coefficients are those of SciPy's class.

    Attributes:
        end, slope: the state at its end, and the right-hand side there.
    """

    def __init__(self, solver: type, rhs: Callable, before: Any, after: Any, start: Any, slope: Any):
        self.solver, self.rhs, self.before, self.start = solver, rhs, before, start
        self.length = after - before
        self.stages = [slope]
        for row, fraction in zip(solver.A[1:], solver.C[1:]):
            self._stage(row, fraction)
        self.end = start + self.length * _combined(solver.B, self.stages)
        self.slope = rhs(after, self.end)
        self.stages.append(self.slope)
        self.polynomial = None

    def _stage(self, row, fraction):
        at = self.start + self.length * _combined(row, self.stages)
        self.stages.append(self.rhs(self.before + fraction * self.length, at))

    def at(self, t: Any) -> Any:
        """The state at a time within, by the interpolant that belongs to the method."""
        x = (t - self.before) / self.length
        if self.solver is scipy.integrate.DOP853:
            return self.start + self._nested(x)
        weights = [sum(p * x ** (power + 1) for power, p in enumerate(row) if p) for row in self.solver.P]
        return self.start + self.length * sum(w * k for w, k in zip(weights, self.stages))

    def _nested(self, x):
        """E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential Equations I, section II.6."""
        if self.polynomial is None:
            first, last, change = self.stages[0], self.slope, self.end - self.start
            for row, fraction in zip(self.solver.A_EXTRA, self.solver.C_EXTRA):
                self._stage(row, fraction)
            bend = self.length * first - change
            rest = [self.length * _combined(row, self.stages) for row in self.solver.D]
            self.polynomial = [change, bend, change - self.length * last - bend, *rest]
        out = 0.0
        for i, coefficient in reversed(list(enumerate(self.polynomial))):
            out = (out + coefficient) * (1.0 - x if i % 2 else x)
        return out


def _combined(weights, stages):
    return sum(w * k for w, k in zip(weights, stages) if w)


class _Solution:
    """The solution at any times, which may be traced: one state, or one column for each time."""

    def __init__(self, ends: np.ndarray, steps: list[_Step]):
        self.ends, self.steps = ends, steps

    def __call__(self, t: Any) -> Any:
        plain = known_or_refuse(t, _READING)
        sign = 1.0 if self.ends[-1] >= self.ends[0] else -1.0
        places = np.clip(np.searchsorted(sign * self.ends, sign * plain) - 1, 0, len(self.steps) - 1)
        if plain.ndim == 0:
            return self.steps[int(places)].at(t)
        return fnp.stack([self.steps[place].at(t[i]) for i, place in enumerate(places)], axis=-1)


solve_ivp.takes_closures = True
