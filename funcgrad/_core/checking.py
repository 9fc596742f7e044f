"""The checker of programs: every read is bound, nothing is bound twice, and types re-derived agree."""

from __future__ import annotations

from funcgrad import errors
from funcgrad._core.jaxpr import Eqn, Jaxpr, Literal, Var
from funcgrad._core.types import ShapeDtypeStruct, shape_of, type_of

_CONTEXT = 10  # equations shown before and after a fault


def check_jaxpr(jaxpr: Jaxpr, out_types=None) -> None:
    """Check a program, and the programs nested in it.

    Args:
        jaxpr: the program.
        out_types: ``out_types(primitive, types, atoms, params)`` -> the types of a primitive's results;
            None leaves types unchecked.

    Raises:
        ProgramError: it reads a variable that is not bound, binds one twice, holds a constant of
            another type, or states a type that the primitive does not give.
    """
    bound: set[Var] = set()
    for var in [*jaxpr.constvars, *jaxpr.invars]:
        if var in bound:
            raise errors.ProgramError("an input is bound twice", "the program's head", "")
        bound.add(var)
    if len(jaxpr.constvars) != len(jaxpr.consts):
        what = f"it has {len(jaxpr.constvars)} constants, but {len(jaxpr.consts)} values for them"
        raise errors.ProgramError(what, "the program's head", "")
    for var, const in zip(jaxpr.constvars, jaxpr.consts):
        if (shape_of(const), type_of(const).dtype) != (var.aval.shape, var.aval.dtype):
            what = f"a constant is {type_of(const)}, its variable {var.aval}"
            raise errors.ProgramError(what, "the program's head", "")
    for index, eqn in enumerate(jaxpr.eqns):
        for atom in eqn.invars:
            if type(atom) is Var and atom not in bound:
                _fail("a variable is read before it is bound", jaxpr, index)
        for value in eqn.params.values():
            for program in value if isinstance(value, tuple) else (value,):
                if isinstance(program, Jaxpr):
                    check_jaxpr(program, out_types)
        for var in eqn.outvars:
            if type(var) is not Var or var in bound:
                _fail("a variable is bound twice", jaxpr, index)
            bound.add(var)
        if out_types is not None:
            _check_types(jaxpr, index, eqn, out_types)
    for atom in jaxpr.outvars:
        if type(atom) is not Literal and atom not in bound:
            raise errors.ProgramError("a result is not bound", "the program's end", "")


def _check_types(jaxpr: Jaxpr, index: int, eqn: Eqn, out_types) -> None:
    types: list[ShapeDtypeStruct] = [atom.aval for atom in eqn.invars]
    try:
        derived = out_types(eqn.primitive, types, eqn.invars, eqn.params)
    except errors.BatchedMaskError:  # a type that follows only from values
        return
    for found, var in zip(derived, eqn.outvars, strict=True):
        if found != var.aval:
            _fail(f"{eqn.primitive.name} gives {found}, its variable is {var.aval}", jaxpr, index)


def _fail(what: str, jaxpr: Jaxpr, index: int) -> None:
    around = Jaxpr(
        jaxpr.constvars, jaxpr.consts, jaxpr.invars,
        jaxpr.eqns[max(0, index - _CONTEXT) : index + _CONTEXT + 1], [],
    )  # fmt: skip
    raise errors.ProgramError(what, jaxpr.eqns[index].where, around.format())
