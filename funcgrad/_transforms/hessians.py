"""Second derivatives: Hessians and their products with vectors, forward over reverse."""

from __future__ import annotations

from collections.abc import Callable

from funcgrad import tree
from funcgrad._transforms.arguments import Argnums, Chosen, differentiable_leaf, name_of, wraps
from funcgrad._transforms.chunks import MAX_BYTES, Chunks, Progress, Workers
from funcgrad._transforms.derivatives import jvp, value_and_grad
from funcgrad._transforms.jacobians import jacrev, push_jacobian


def hessian(
    f: Callable,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    chunk_size: int | None = None,
    max_bytes: int | None = MAX_BYTES,
    progress: Progress = None,
    workers: Workers = None,
) -> Callable:
    """The Hessian: the forward-mode Jacobian of the reverse-mode one.

    Args:
        f, argnums, has_aux, holomorphic: as for `jacrev`.
        chunk_size, max_bytes, progress, workers: as for `jacfwd`.

    Returns:
        A function that returns a tree like the output of trees like the argument of trees like the
        argument; leaves have shape ``output.shape + input.shape + input.shape``.

    Raises:
        InputTypeError, OutputTypeError, ArgnumsError, AuxError.

    >>> import numpy as np
    >>> from funcgrad import hessian
    >>> hessian(lambda w: w[0] ** 2 * w[1])(np.array([1.5, -2.0]))
    array([[-4.,  3.],
           [ 3.,  0.]])
    """
    rows = jacrev(f, argnums, has_aux, holomorphic, max_bytes=max_bytes)
    chunks = Chunks("hessian", chunk_size, max_bytes, progress, workers)
    return wraps(f, "hessian")(push_jacobian(rows, argnums, has_aux, holomorphic, chunks))


def hvp(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The product of the Hessian with a vector: the derivative of the gradient along it.

    It costs a few gradients and never forms the Hessian.

    Args:
        f, argnums, has_aux: as for `grad`.

    Returns:
        A function of f's arguments, and last the vector, of the structure of the chosen argument. It
        returns the product, or ``(product, aux)``.

    Raises:
        TangentError: the vector does not match; and those of `grad`.

    >>> import numpy as np
    >>> from funcgrad import hvp
    >>> hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    both = value_and_hvp(f, argnums, has_aux)

    @wraps(f, "hvp")
    def run(*args, **kwargs):
        value, _, product = both(*args, **kwargs)
        return (product, value[1]) if has_aux else product

    return run


def value_and_hvp(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> Callable:
    """The value, the gradient and the product of the Hessian with a vector, from one pass.

    Args:
        f, argnums, has_aux: as for `grad`.

    Returns:
        A function of f's arguments, and last the vector, that returns ``(value, gradient, product)``;
        with `has_aux` the value is the pair ``(value, aux)``.

    Raises:
        TangentError: the vector does not match; and those of `grad`.

    >>> import numpy as np
    >>> from funcgrad import value_and_hvp
    >>> value_and_hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    (np.float64(9.0), array([ 3., 12.]), array([6., 0.]))
    """

    @wraps(f, "value_and_hvp")
    def run(*args, **kwargs):
        *args, v = args
        chosen = Chosen(f, argnums, tuple(args), kwargs)
        for index, leaf in enumerate(tree.leaves(chosen.tree)):
            differentiable_leaf(leaf, lambda index=index: chosen.path(index))

        def call(x):
            return chosen.call(x)

        call.__qualname__ = name_of(f)  # for errors
        both = value_and_grad(call, has_aux=has_aux)

        def value_then_gradient(x):
            value, gradient = both(x)
            out, aux = value if has_aux else (value, None)
            return (out, gradient), aux

        (value, gradient), (_, product), aux = jvp(value_then_gradient, (chosen.tree,), (v,), True)
        return ((value, aux) if has_aux else value), gradient, product

    return run
