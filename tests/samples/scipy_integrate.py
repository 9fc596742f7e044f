"""`scipy.integrate`: integrals of samples, and of functions with traced limits and arguments."""

import numpy as np

from funcgrad.scipy import integrate as I
from samples.table import Sample

_rng = np.random.default_rng(22)
ODD, EVEN = _rng.normal(size=(2, 5, 3)), _rng.normal(size=(2, 6))
X5, X6 = np.cumsum(0.3 + _rng.random(5)), np.cumsum(0.3 + _rng.random(6))
X = np.cumsum(0.3 + _rng.random(ODD.shape), axis=1)
STEP, ONE, TWO = np.array(0.3), np.array(0.1), np.array(2.0)
RATES, STATE = np.array([0.5, 2.0]), np.array([1.0, 0.7])
BOTH, ANY = ("f4", "f8"), ("f4", "f8", "c16")
REAL = ("f8",)


def of_samples(name):
    f = getattr(I, name)
    yield Sample(f"scipy.{name}", lambda y: f(y), (EVEN,), ANY)
    yield Sample(f"scipy.{name}-odd", lambda y: f(y, axis=1), (ODD,), ANY)
    yield Sample(f"scipy.{name}-two", lambda y: f(y[:, :2], axis=1), (ODD,), BOTH)
    yield Sample(f"scipy.{name}-dx", lambda y, d: f(y, dx=d, axis=0), (EVEN.T, STEP), BOTH)
    yield Sample(f"scipy.{name}-x", lambda y, x: f(y, x=x, axis=1), (ODD, X5), BOTH)
    yield Sample(f"scipy.{name}-x-even", lambda y, x: f(y, x=x), (EVEN, X6), BOTH)
    yield Sample(f"scipy.{name}-x-two", lambda y, x: f(y[:, :2], x=x[:2]), (EVEN, X6), BOTH)
    yield Sample(f"scipy.{name}-x-alike", lambda y, x: f(y, x=x, axis=-2), (ODD, X), BOTH)


def damped(x, rates, slope):
    return np.exp(-rates[0] * x) * np.cos(rates[1] * x) + slope * x


def predator_and_prey(t, y, rates):
    prey, predators = y
    return [rates[0] * prey - prey * predators, -rates[1] * predators + prey * predators * np.cos(t)]


def initial_values():
    # so rough that no step is ever refused: then the same steps are made at neighbouring points
    steps = {"rtol": 1e3, "atol": 1e3, "max_step": 0.11, "first_step": 0.1}
    times, once = np.array([0.0, 0.13, 0.31, 0.77, 1.0]), {"batch": False, "stage": False}

    def solved(span, y, rates=RATES, **options):
        return I.solve_ivp(predator_and_prey, span, y, args=(rates,), **steps, **options).y

    for method in ("RK45", "RK23", "DOP853"):
        f = lambda y, r, m=method: solved((0, 1), y, r, method=m)  # noqa: E731
        yield Sample(f"scipy.solve_ivp-{method}", f, (STATE, RATES), REAL, **once)
        f = lambda y, r, m=method: solved((0, 1), y, r, method=m, t_eval=times)  # noqa: E731
        yield Sample(f"scipy.solve_ivp-{method}-times", f, (STATE, RATES), REAL, **once)
        f = lambda t, m=method: solved((0, 1), STATE, method=m, t_eval=t)  # noqa: E731
        yield Sample(f"scipy.solve_ivp-{method}-traced-times", f, (0.9 * times + 0.04,), REAL, **once)
    yield Sample(
        "scipy.solve_ivp-span", lambda a, b: solved((a, b), STATE)[:, -1], (ONE, STEP + 0.27), REAL, **once
    )
    f = lambda y: solved((1, 0), y, t_eval=times[::-1])  # noqa: E731
    yield Sample("scipy.solve_ivp-backwards", f, (STATE,), REAL, **once)
    f = lambda y: I.solve_ivp(lambda t, y: 1j * y * y, (0, 1), y, **steps).y  # noqa: E731
    yield Sample("scipy.solve_ivp-complex", f, (STATE,), ("c16",), **once)

    def rotated(y):
        return I.solve_ivp(lambda t, y: np.stack([y[1], -y[0]]), (0, 1), y, vectorized=True, **steps).y

    yield Sample("scipy.solve_ivp-vectorized", rotated, (STATE,), REAL, **once)


SAMPLES = [
    *initial_values(),
    *of_samples("trapezoid"),
    *of_samples("simpson"),
    *of_samples("cumulative_trapezoid"),
    *of_samples("cumulative_simpson"),
    Sample(
        "scipy.cumulative_trapezoid-initial", lambda y: I.cumulative_trapezoid(y, initial=0), (EVEN,), BOTH
    ),
    Sample(
        "scipy.cumulative_simpson-initial",
        lambda y, i: I.cumulative_simpson(y, initial=i, axis=1, dx=0.2),
        (ODD, ODD[:, :1]),
        REAL,
    ),
    Sample("scipy.romb", lambda y, d: I.romb(y, d, axis=1), (ODD, STEP), REAL),
    Sample("scipy.romb-complex", lambda y: I.romb(y[:, :3]), (EVEN,), ("c16",)),
    # ---- of functions ----
    Sample(
        "scipy.fixed_quad",
        lambda a, b, w: I.fixed_quad(lambda x, w: np.sin(x * w), a, b, (w,), n=7)[0],
        (ONE, TWO, RATES[1]),
        BOTH,
    ),
    Sample(
        "scipy.quad", lambda a, b, w, c: I.quad(damped, a, b, args=(w, c))[0], (ONE, TWO, RATES, STEP), REAL
    ),
    Sample(
        "scipy.quad-infinite",
        lambda w: I.quad(lambda x, w: np.exp(-w * x * x), -np.inf, np.inf, args=w)[0],
        (STEP,),
        REAL,
        order=3,
    ),
    Sample(
        "scipy.quad-weight",
        lambda w: I.quad(lambda x, w: np.exp(-w * x), 0, 1, args=(w,), weight="cos", wvar=3.0)[0],
        (STEP,),
        REAL,
    ),
    Sample(
        "scipy.quad-points",
        lambda w: I.quad(lambda x, w: np.abs(x - 0.5) ** w, 0, 1, args=(w,), points=[0.5])[0],
        (TWO,),
        REAL,
        batch=False,
    ),
    Sample(
        "scipy.quad-complex",
        lambda w: I.quad(lambda x, w: np.exp(1j * w * x), 0, 1, args=(w,), complex_func=True)[0],
        (TWO,),
        ("f8", "c16"),
    ),
    Sample(
        "scipy.quad_vec",
        lambda a, w: I.quad_vec(lambda x, w: np.exp(-w * x), a, 1.0, args=(w,))[0],
        (ONE, RATES),
        REAL,
    ),
    Sample(
        "scipy.dblquad",
        lambda a, w: I.dblquad(lambda y, x, w: np.exp(-w * x * y), 0, a, 0.0, lambda x: x, args=(w,))[0],
        (STEP, RATES[1]),
        REAL,
        batch=False,
        stage=False,
    ),
]
