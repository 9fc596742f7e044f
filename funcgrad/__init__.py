"""funcgrad: `grad`, `jvp`, `vjp`, `hessian`, `hvp` and their kin for the NumPy you already wrote."""

import importlib as _importlib
from typing import TYPE_CHECKING

from funcgrad import errors, numpy, tree
from funcgrad._core.evaluation import eval_jaxpr
from funcgrad._core.jaxpr import Eqn, Jaxpr, Literal, Var
from funcgrad._core.types import ShapeDtypeStruct, float0
from funcgrad._transforms.batching import vmap
from funcgrad._transforms.debugging import debug_nans
from funcgrad._transforms.derivatives import (
    grad,
    jvp,
    linear_transpose,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from funcgrad._transforms.hessians import hessian, hvp, value_and_hvp
from funcgrad._transforms.jacobians import jacfwd, jacobian, jacrev
from funcgrad._transforms.staging import check_jaxpr, make_jaxpr, named_call

if TYPE_CHECKING:  # what __getattr__ gives
    from funcgrad import checkpoint_policies, extend, lax, testing
    from funcgrad._transforms.checkpointing import checkpoint, checkpoint_name, checkpointed_loop, tag
    from funcgrad._transforms.custom import custom_jvp, custom_vjp
    from funcgrad._transforms.implicit import (
        custom_fixed_point,
        custom_linear_solve,
        custom_minimizer,
        custom_root,
    )

__version__ = "0.1.0"

__all__ = [
    # derivatives
    "grad",
    "value_and_grad",
    "jvp",
    "vjp",
    "linearize",
    "linear_transpose",
    "stop_gradient",
    # Jacobians and Hessians
    "jacfwd",
    "jacrev",
    "jacobian",
    "hessian",
    "hvp",
    "value_and_hvp",
    # batching
    "vmap",
    # rules of one's own, memory
    "custom_jvp",
    "custom_vjp",
    "checkpoint",
    "checkpointed_loop",
    "tag",
    "checkpoint_name",
    # solutions of equations
    "custom_root",
    "custom_linear_solve",
    "custom_fixed_point",
    "custom_minimizer",
    # programs
    "make_jaxpr",
    "eval_jaxpr",
    "check_jaxpr",
    "named_call",
    "Jaxpr",
    "Eqn",
    "Var",
    "Literal",
    "ShapeDtypeStruct",
    "float0",
    # debugging
    "debug_nans",
    # modules
    "checkpoint_policies",
    "errors",
    "extend",
    "lax",
    "numpy",
    "testing",
    "tree",
]

# Many programs need none of these, which would take a quarter of `import funcgrad`: they are loaded when they
# are first asked for.
_MODULES = ("checkpoint_policies", "extend", "lax", "scipy", "testing")
_NAMES = {
    "custom_jvp": "custom",
    "custom_vjp": "custom",
    "checkpoint": "checkpointing",
    "checkpointed_loop": "checkpointing",
    "checkpoint_name": "checkpointing",
    "tag": "checkpointing",
    "custom_root": "implicit",
    "custom_linear_solve": "implicit",
    "custom_fixed_point": "implicit",
    "custom_minimizer": "implicit",
}


def __getattr__(name):
    if name in _MODULES:
        return _importlib.import_module(f"funcgrad.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module 'funcgrad' has no attribute {name!r}")
    value = getattr(_importlib.import_module(f"funcgrad._transforms.{_NAMES[name]}"), name)
    return globals().setdefault(name, value)


def __dir__():
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__, *_MODULES})
