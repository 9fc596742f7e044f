"""Programs rather than numbers: nested calls, cut derivatives."""

import numpy as np

from funcgrad import named_call, stop_gradient
from samples.table import Sample

wave = named_call(lambda x, y: np.sin(x) * y, name="wave")
x = np.array([0.3, -1.2, 2.0])

SAMPLES = [
    Sample("call", lambda x, y: wave(x, y) + x, (x, x[::-1].copy())),
    Sample("stop_gradient", lambda x: stop_gradient(np.floor(x + 0.3)) * x, (x,)),
    Sample("stop_gradient-elsewhere", lambda x: stop_gradient(np.sin(np.ones(3))) * x, (x,)),
]
