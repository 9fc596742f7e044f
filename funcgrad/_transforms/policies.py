"""Policies: which results a checkpoint saves."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from funcgrad._primitives.saving import Operation

_PRODUCTS = frozenset(("dot", "matmul", "matvec", "vecmat", "contract", "outer", "convolve"))


class Policy:
    """A policy with a name: ``policy(operation)`` says whether the operation's results are saved.

    Attributes:
        text: what it prints as.
        saves: the function of an `Operation`.
        forgets: ``forgets(operation)``: whether a result that was saved already need not be, now that it has
            got this name.

    >>> from funcgrad.checkpoint_policies import dots_saveable
    >>> dots_saveable
    dots_saveable
    """

    __slots__ = ("text", "saves", "forgets")

    def __init__(self, text: str, saves: Callable[[Operation], bool], forgets: Callable | None = None):
        self.text, self.saves = text, saves
        self.forgets = forgets or (lambda operation: False)

    def __call__(self, operation: Operation) -> bool:
        return self.saves(operation)

    def __repr__(self) -> str:
        return self.text


def _named(operation: Operation, names: tuple[str, ...]) -> bool:
    return operation.name == "name" and operation.params["name"] in names


def _size(operation: Operation) -> int:
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in operation.outputs)


def _has_no_batch(operation: Operation) -> bool:
    if operation.name not in _PRODUCTS:
        return False
    if operation.name == "contract":
        inputs, _, output = operation.params["subscripts"].partition("->")
        first, _, second = inputs.partition(",")
        return not set(first) & set(second) & set(output)
    if operation.name in ("matmul", "matvec", "vecmat"):
        return all(len(t.shape) <= 2 for t in operation.inputs)
    return True


# JAX's names; products are those of matrices and vectors, "no batch" those that share no axis.
everything_saveable = Policy("everything_saveable", lambda operation: True)
nothing_saveable = Policy("nothing_saveable", lambda operation: False)
dots_saveable = Policy("dots_saveable", lambda operation: operation.name in _PRODUCTS)
dots_with_no_batch_dims_saveable = Policy("dots_with_no_batch_dims_saveable", _has_no_batch)


def _called(function: str, names: tuple[str, ...]) -> str:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{function} takes names, as given to tag; {name!r} is none")
    return f"{function}({', '.join(map(repr, names))})"


def save_only_these_names(*names: str) -> Policy:
    """Save what has one of these names by `tag`.

    Args:
        *names: the names.

    Returns:
        A policy for `checkpoint`.

    Raises:
        TypeError: a name is no string.

    >>> import numpy as np
    >>> from funcgrad import checkpoint, checkpoint_policies, grad, tag
    >>> layer = checkpoint(
    ...     lambda x: np.sin(tag(np.exp(x), "growth")),
    ...     policy=checkpoint_policies.save_only_these_names("growth"),
    ... )
    >>> grad(layer)(0.0)
    np.float64(0.5403023058681398)
    """
    return Policy(_called("save_only_these_names", names), lambda operation: _named(operation, names))


def save_any_names_but_these(*names: str) -> Policy:
    """Save what has a name by `tag`, unless it is one of these.

    Args, Returns, Raises: as of `save_only_these_names`.

    >>> from funcgrad.checkpoint_policies import save_any_names_but_these
    >>> save_any_names_but_these("growth", "wave")
    save_any_names_but_these('growth', 'wave')
    """
    text = _called("save_any_names_but_these", names)
    return Policy(text, lambda operation: operation.name == "name" and not _named(operation, names))


def save_anything_except_these_names(*names: str) -> Policy:
    """Save everything but what has one of these names by `tag`.

    Args, Returns, Raises: as of `save_only_these_names`.

    >>> from funcgrad.checkpoint_policies import save_anything_except_these_names
    >>> save_anything_except_these_names("large")
    save_anything_except_these_names('large')
    """
    text = _called("save_anything_except_these_names", names)

    def except_these(operation):
        return _named(operation, names)

    return Policy(text, lambda operation: not except_these(operation), except_these)


def save_by_size(max_bytes: float = math.inf, *, min_bytes: float = 0) -> Policy:
    """Save results of `min_bytes` to `max_bytes`: small ones cost little, large ones may be few.

    Args:
        max_bytes, min_bytes: the largest and the smallest size of an operation's results, both included.

    Returns:
        A policy for `checkpoint`.

    Raises:
        ValueError: the bounds are negative, or the wrong way round.

    >>> import numpy as np
    >>> from funcgrad import checkpoint, grad
    >>> from funcgrad.checkpoint_policies import save_by_size
    >>> f = checkpoint(lambda x: np.mean(np.exp(x)), save_by_size(max_bytes=1000))
    >>> grad(f)(np.zeros(4))
    array([0.25, 0.25, 0.25, 0.25])
    """
    if not 0 <= min_bytes <= max_bytes:
        raise ValueError(f"save_by_size needs 0 <= min_bytes <= max_bytes, not {min_bytes} and {max_bytes}")
    shown = f"min_bytes={min_bytes}, " if min_bytes else ""
    return Policy(
        f"save_by_size({shown}max_bytes={max_bytes})",
        lambda operation: min_bytes <= _size(operation) <= max_bytes,
    )


def save_from_both_policies(first: Callable, second: Callable) -> Policy:
    """Save what either policy saves.

    Args:
        first, second: policies, or other functions of an `Operation`.

    Returns:
        A policy for `checkpoint`.

    >>> from funcgrad.checkpoint_policies import dots_saveable, save_by_size, save_from_both_policies
    >>> save_from_both_policies(dots_saveable, save_by_size(1000))
    save_from_both_policies(dots_saveable, save_by_size(max_bytes=1000))
    """
    forgetful = [getattr(policy, "forgets", None) for policy in (first, second)]
    return Policy(
        f"save_from_both_policies({first!r}, {second!r})",
        lambda operation: first(operation) or second(operation),
        (lambda operation: all(f(operation) for f in forgetful)) if all(forgetful) else None,
    )


def checked(policy: Any) -> Callable | None:
    """The argument of `checkpoint`, if it is one.

    Raises:
        TypeError: it cannot be called.
    """
    if policy is not None and not callable(policy):
        raise TypeError(
            f"policy must be a function of an operation, or one of checkpoint_policies, not {policy!r}"
        )
    return policy
