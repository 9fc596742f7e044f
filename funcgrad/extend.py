"""For authors of primitives: what `docs/adding_a_primitive.md` uses, and the program's data structures."""

from funcgrad._core.jaxpr import Eqn, Jaxpr, Literal, Var
from funcgrad._core.primitive import Accumulator, Primitive, Rule
from funcgrad._core.types import ShapeDtypeStruct, float0
from funcgrad._interpreters.batch import batch_leading
from funcgrad._primitives.kinds import PRIMITIVES, constant, elementwise, general, linear
from funcgrad.numpy.protocol import implements

__all__ = [
    # the four kinds
    "elementwise",
    "linear",
    "general",
    "constant",
    # what they make
    "Primitive",
    "Rule",
    "Accumulator",
    "PRIMITIVES",
    # batching, and NumPy's functions on tracers
    "batch_leading",
    "implements",
    # programs
    "Jaxpr",
    "Eqn",
    "Var",
    "Literal",
    "ShapeDtypeStruct",
    "float0",
]
