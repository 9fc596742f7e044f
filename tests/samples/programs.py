"""Programs rather than numbers: nested calls, cut derivatives."""

import numpy as np

from funcgrad import checkpoint, checkpoint_policies, checkpointed_loop, named_call, stop_gradient, tag
from samples.table import Sample

saving = checkpoint(
    lambda x, y: np.exp(tag(np.sin(x), "wave")) * y,
    checkpoint_policies.save_only_these_names("wave"),
)
wave = named_call(lambda x, y: np.sin(x) * y, name="wave")
x = np.array([0.3, -1.2, 2.0])

SAMPLES = [
    Sample("call", lambda x, y: wave(x, y) + x, (x, x[::-1].copy())),
    Sample("stop_gradient", lambda x: stop_gradient(np.floor(x + 0.3)) * x, (x,)),
    Sample("tag", lambda x: tag(np.sin(x), "wave") * x, (x,)),
    Sample("checkpoint-saving", lambda x: saving(x, x[::-1]), (x,)),
    Sample("checkpointed_loop", lambda x: checkpointed_loop(lambda s: s + np.sin(x * s), x, length=5), (x,)),
    Sample("stop_gradient-elsewhere", lambda x: stop_gradient(np.sin(np.ones(3))) * x, (x,)),
]
