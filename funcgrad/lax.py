"""JAX's names for control flow. With known values each is plain Python; in programs it is one equation."""

from funcgrad._transforms.control import (
    associative_scan,
    cond,
    fori_loop,
    map,
    scan,
    select,
    switch,
    while_loop,
)
from funcgrad._transforms.derivatives import stop_gradient
from funcgrad._transforms.implicit import (
    custom_fixed_point,
    custom_linear_solve,
    custom_minimizer,
    custom_root,
)

__all__ = [
    "cond",
    "switch",
    "select",
    "while_loop",
    "fori_loop",
    "scan",
    "map",
    "associative_scan",
    "custom_root",
    "custom_linear_solve",
    "custom_fixed_point",
    "custom_minimizer",
    "stop_gradient",
]
