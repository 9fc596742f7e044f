"""Evaluate a program; on tracers, every transform applies to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad import errors
from funcgrad._core.boxes import leaving
from funcgrad._core.jaxpr import Jaxpr, Literal, Var


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Evaluate a program.

    Args:
        jaxpr: the program.
        consts: values of its constants, usually ``jaxpr.consts``.
        *args: flat values of its inputs; tracers work, so every transform applies to a program.

    Returns:
        The list of its results.

    Raises:
        TypeError: the number of arguments is not the program's.

    >>> import numpy as np
    >>> from funcgrad import make_jaxpr, eval_jaxpr
    >>> program = make_jaxpr(lambda x: np.sin(x) * 2.0)(1.0)
    >>> eval_jaxpr(program, program.consts, 0.0)
    [np.float64(0.0)]
    """
    if len(args) != len(jaxpr.invars) or len(consts) != len(jaxpr.constvars):
        raise errors.ProgramArgumentsError(len(jaxpr.constvars), len(jaxpr.invars), len(consts), len(args))
    return [leaving(x) for x in evaluate(jaxpr, consts, args)]


def evaluate(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """As `eval_jaxpr`, within a transform."""
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    values.update(zip(jaxpr.invars, args))
    last_use = _last_uses(jaxpr)

    def read(atom):
        return atom.val if type(atom) is Literal else values[atom]

    for index, eqn in enumerate(jaxpr.eqns):
        out = eqn.primitive(*map(read, eqn.invars), **eqn.params)
        values.update(zip(eqn.outvars, out if eqn.primitive.multiple else (out,)))
        for var in last_use.get(index, ()):
            del values[var]
    return [read(v) for v in jaxpr.outvars]


def _last_uses(jaxpr: Jaxpr) -> dict[int, list[Var]]:
    """Equation -> the variables that nothing reads after it, so that their memory can go."""
    last: dict[Var, int] = {}
    for index, eqn in enumerate(jaxpr.eqns):
        for var in [*eqn.invars, *eqn.outvars]:
            if type(var) is Var:
                last[var] = index
    for var in [*jaxpr.outvars, *jaxpr.constvars, *jaxpr.invars]:
        if type(var) is Var:
            last.pop(var, None)
    uses: dict[int, list[Var]] = {}
    for var, index in last.items():
        uses.setdefault(index, []).append(var)
    return uses
