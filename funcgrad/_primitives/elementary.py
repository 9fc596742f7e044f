"""Elementary functions: exponential, logarithms, trigonometric and hyperbolic functions."""

import numpy as np

from funcgrad._primitives.kinds import elementwise

exp = elementwise(np.exp, lambda g, y: g * y)
log = elementwise(np.log, lambda g, x: g / x)
sqrt = elementwise(np.sqrt, lambda g, y: g * 0.5 / y)
sin = elementwise(np.sin, lambda g, x: g * np.cos(x))
cos = elementwise(np.cos, lambda g, x: -g * np.sin(x))
tanh = elementwise(np.tanh, lambda g, y: g * (1 - y * y))
