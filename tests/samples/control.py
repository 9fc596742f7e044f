"""Control flow and rules of one's own: in programs each is one equation."""

import numpy as np

from funcgrad import custom_jvp, custom_vjp, jvp, lax, stop_gradient, vjp
from samples.table import Sample

x = np.array([0.3, -1.2, 2.0])
y = np.array([1.1, 0.4, -0.7])


def decay(s, x):
    return np.tanh(s * x) + 0.5 * s


def counted(x):
    return x * lax.while_loop(lambda n: n < 5, lambda n: n + 1.3, stop_gradient(0.0 * x[0]))


def by_tangents(x, y):
    f = custom_jvp(lambda x: np.sin(x) * y)
    f.defjvp(lambda p, t: jvp(lambda x: np.sin(x) * y, p, t))
    return f(x)


def by_cotangents(x, y):
    f = custom_vjp(lambda x: np.sin(x) * y)
    f.defvjp(lambda x: (f(x), x), lambda x, g: vjp(lambda x: np.sin(x) * y, x)[1](g))
    return f(x)


SAMPLES = [
    Sample("cond", lambda x, y: lax.cond(x[0] > y[0], np.sin, lambda x: decay(x, y), x), (x, y)),
    Sample("switch", lambda x: lax.switch(2, [np.sin, np.cos, lambda x: decay(x, x)], x), (x,)),
    Sample("while_loop", counted, (x,)),
    Sample(  # whose steps reverse mode must count
        "while_loop-of-values",
        lambda x: lax.while_loop(lambda s: np.sum(s * s) < 9, lambda s: 1.5 * s, x),
        (x,),
        stage=False,
    ),
    Sample("fori_loop", lambda x, y: lax.fori_loop(0, 3, lambda i, s: decay(s, y) + i, x), (x, y)),
    Sample("scan", lambda x, y: lax.scan(lambda c, s: (decay(c, s), c * c), x, y, reverse=True), (x, y)),
    Sample("lax.map", lambda x: lax.map(lambda s: decay(s, x), x), (x,)),
    Sample("associative_scan", lambda x: lax.associative_scan(np.multiply, x), (x,)),
    Sample("custom_jvp", by_tangents, (x, y)),
    Sample("custom_vjp", by_cotangents, (x, y)),
]
