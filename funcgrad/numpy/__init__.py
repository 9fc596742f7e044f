"""NumPy's namespace, differentiable."""

from funcgrad._primitives import arithmetic, elementary, indexing, reductions  # noqa: F401  register
from funcgrad.numpy import operators  # noqa: F401  attaches the tracer's operators
