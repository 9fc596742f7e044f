"""Check derivatives: of your own functions (`check_grads`), of primitives that you add (`check_primitive`).

All are deterministic: the same random directions in every run.
"""

from funcgrad._testing.gradients import check_grads, numerical_jvp
from funcgrad._testing.primitives import check_primitive

__all__ = ["check_grads", "check_primitive", "numerical_jvp"]
