"""Policies for `checkpoint`: which results are saved, instead of being computed again in the backward sweep.

A policy is any function of an `Operation` that returns a bool. Of an operation it is told the primitive's
`name`, as `make_jaxpr` prints it, the types of its `inputs` and `outputs`, and its `params`. It is asked when
the function runs forwards, about each operation on traced values, in order. Calls within the function (other
checkpoints, custom rules, checkpointed loops) are run again as a whole. When the function runs again its
operations are compared with those before; where they are others, all are computed.

>>> import numpy as np
>>> from funcgrad import checkpoint, grad
>>> layer = checkpoint(lambda x: np.sin(np.exp(x)), policy=lambda operation: operation.name == "exp")
>>> grad(layer)(0.0)
np.float64(0.5403023058681398)
"""

from funcgrad._primitives.saving import Operation
from funcgrad._transforms.policies import (
    Policy,
    dots_saveable,
    dots_with_no_batch_dims_saveable,
    everything_saveable,
    nothing_saveable,
    save_any_names_but_these,
    save_anything_except_these_names,
    save_by_size,
    save_from_both_policies,
    save_only_these_names,
)

checkpoint_dots = dots_saveable
checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable

__all__ = [
    "Operation",
    "Policy",
    "everything_saveable",
    "nothing_saveable",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "save_only_these_names",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_by_size",
    "save_from_both_policies",
]
