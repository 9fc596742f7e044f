"""The four kinds of primitive: what an author declares, and what follows from it.

| kind        | declared                                            | derived                          |
|-------------|-----------------------------------------------------|----------------------------------|
| elementwise | per argument an action on `g`                       | both modes, type, batching       |
| linear      | an implementation; per argument a transpose         | forward: itself on the tangent   |
| general     | an implementation; per argument a jvp               | reverse: the jvp, transposed     |
| constant    | an implementation                                   | no derivative                    |

A rule's first parameter is `g`, what flows; the names after it are the residuals that it reads: an
argument's name for its value, ``y`` for the output, ``x_shape`` and ``x_dtype`` for an argument ``x``.
Keyword-only names are the primitive's static parameters. Rule bodies are plain NumPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from funcgrad import errors
from funcgrad._core.plans import make_joint_plan
from funcgrad._core.primitive import Accumulator, Primitive, Rule
from funcgrad._interpreters.batch import batch_by_itself, batch_leading
from funcgrad._interpreters.reverse import transposed

#: Every primitive that was declared, by name: the tests run over it.
PRIMITIVES: dict[str, Primitive] = {}

#: NumPy's functions and what carries them out on tracers; the front end adds to it.
IMPLEMENTATIONS: dict[Callable, Callable] = {}

_ELEMENTWISE_NAMES = {1: ("x",), 2: ("a", "b"), 3: ("a", "b", "c")}


def elementwise(
    ufunc: Callable,
    *actions: Callable | str | None,
    name: str | None = None,
    args: str | None = None,
    impl: Callable | None = None,
    live: tuple[Callable | None, ...] | None = None,
) -> Primitive:
    """Declare an elementwise primitive.

    Args:
        ufunc: the NumPy function that it stands for; it is registered.
        *actions: per argument, what the derivative does to `g`; None for one that only steers; a string,
            which says why, for one whose derivative is not known: it is refused where it is traced.
        name: the name if it is not the function's.
        args: the arguments' names, space-separated, if not ``x`` / ``a b`` / ``a b c``.
        impl: the implementation if it is not `ufunc`.
        live: per argument None, or a function of residuals: which output entries depend on it.
    """
    names = tuple(args.split()) if args else _ELEMENTWISE_NAMES[len(actions)]
    rules = [_rule(action) for action in actions]
    prim = _declare(Primitive(name or ufunc.__name__, impl or ufunc, names, rules))
    prim.elementwise = True
    if live is not None:
        prim.live = [f and (_ignoring_g(f), _reads(f)) for f in live]
    prim.batch = batch_leading(prim, (0,) * len(names))
    IMPLEMENTATIONS.setdefault(ufunc, prim)
    return prim


def _rule(action: Callable | str | None) -> Rule | None:
    if action is None or isinstance(action, str):
        return action and Rule(missing=action)
    reads = _reads(action)[1:]
    return Rule(action, action, reads, reads)


def linear(impl: Callable | None = None, **flags) -> Primitive | Callable:
    """Declare a primitive that is linear in each argument with a transpose (decorator).

    The transpose of argument ``x`` of a primitive ``p`` is declared by ``@p.transpose("x")``, or
    ``@p.transpose`` if there is one argument. Axes in parameters count from the end, so that a batch
    axis in front changes nothing, and a primitive of one array batches by itself.

    Flags:
        structural: it only moves and adds entries.
        joint: it is linear in all arguments together; the transpose is
            ``rule(g, positions, shapes, **params)``: the shares of the arguments at `positions`, given the
            shapes of all.
        core: for each argument how many last axes do not broadcast; gives the batching rule.
        view: NumPy's result shares memory with the argument; `may_copy`: or does not, if entries lie apart.
    """
    return _kind(LinearPrimitive, impl, flags)


def general(impl: Callable | None = None, **flags) -> Primitive | Callable:
    """Declare a primitive by its implementation and its jvp, ``@p.jvp("x")`` (decorator).

    The reverse rule is the transposed jvp; ``@p.vjp("x")`` overrides it where that was measured to
    pay. Flags as for `linear`.
    """
    return _kind(GeneralPrimitive, impl, flags)


def constant(impl: Callable, name: str | None = None) -> Primitive:
    """Declare a primitive without derivative: comparisons, rounding, sorting orders."""
    prim = _declare(Primitive(name or impl.__name__, impl, _arguments(impl), None))
    if isinstance(impl, np.ufunc) and impl.signature is None:
        prim.elementwise = True
        prim.multiple = impl.nout > 1
        prim.batch = batch_leading(prim, (0,) * impl.nin)
        IMPLEMENTATIONS.setdefault(impl, prim)
    elif len(prim.args) == 1 and not prim.variadic:
        prim.batch = batch_by_itself(prim)
    return prim


class DeclaredPrimitive(Primitive):
    """A primitive that is declared by decorators, block by block."""

    __slots__ = ()

    def batching(self, rule: Callable) -> Callable:
        """Declare ``rule(values, batched, **params)`` (decorator)."""
        self.batch = rule
        return rule

    def typing(self, rule: Callable) -> Callable:
        """Declare ``rule(*types, **params)``, the type of the output (decorator)."""
        self.typed = rule
        return rule

    def putting(self, rule: Callable) -> Callable:
        """Declare ``rule(x, part, **params)``, the argument with another view of it (decorator)."""
        self.put = rule
        return rule

    def living(self, rule: Callable) -> Callable:
        """Declare ``rule(*residuals, **params)``, the mask of the entries of the first argument that the
        output depends on (decorator); a reduction that selects has one."""
        self.live = [(lambda g, *read, **params: rule(*read, **params), _reads(rule))]
        self.live += [None] * (len(self.args) - 1)
        return rule

    def _index(self, arg: str) -> int:
        if arg not in self.args:
            raise errors.RuleError(self.name, f"it has no argument {arg!r}, only {self.args}")
        return self.args.index(arg)

    def _for_argument(self, declare: Callable, arg) -> Callable:
        """Let a decorator be written bare where there is one argument."""
        if callable(arg):
            declare(0, arg)
            return arg

        def decorate(rule):
            declare(self._index(arg), rule)
            return rule

        return decorate


class LinearPrimitive(DeclaredPrimitive):
    """Linear in each argument that has a transpose."""

    __slots__ = ()

    def transpose(self, arg: str | Callable) -> Callable:
        """Declare the transpose with respect to an argument (decorator)."""
        return self._for_argument(self._transpose, arg)

    def _transpose(self, index: int, rule: Callable) -> None:
        name = self.args[index]
        if self.rules is None:  # linear in all arguments together: one rule for all
            self.joint = rule
            self.joint_plan = make_joint_plan(self)
            return
        if name.startswith("*"):
            push, reads = self._push_one, ("index", "others")
        elif self.variadic:  # the rest are operands that only steer, such as index arrays
            rest = self.args[-1][1:]
            push, reads = (lambda t, rest, **params: self(t, *rest, **params)), (rest,)
        else:
            reads = tuple(n for n in self.args if n != name)

            def push(t, *others, **params):
                return self(*others[:index], t, *others[index:], **params)

        self.rules[index] = Rule(push, rule, reads, _reads(rule)[1:] if rule else ())

    def transpose_by_parts(self, arg: str, reads: tuple[str, ...], accumulator: Accumulator) -> None:
        """Declare the transpose of an argument of which the output is but a small part.

        Its shares are added into one buffer, so that reading all of an array part by part takes linear
        time.

        Args:
            arg: the argument.
            reads: the residuals' names.
            accumulator: what adds shares up.
        """
        self._transpose(self._index(arg), None)
        self.rules[self._index(arg)].pull_reads = reads
        self.accumulate = accumulator

    def _push_one(self, t, index, others, **params):
        return self(*others[:index], t, *others[index + 1 :], **params)


class GeneralPrimitive(DeclaredPrimitive):
    """Declared by its jvp; the reverse rule is the transposed jvp unless it is given."""

    __slots__ = ()

    def jvp(self, arg: str | Callable) -> Callable:
        """Declare ``rule(t, *residuals, **params)``, the tangent for a tangent of `arg` (decorator)."""
        return self._for_argument(self._jvp, arg)

    def vjp(self, arg: str | Callable) -> Callable:
        """Override the reverse rule of `arg`, whose jvp was declared before (decorator)."""
        return self._for_argument(self._vjp, arg)

    def outer_jvp(self, rule: Callable) -> Callable:
        """Declare a last step that the tangents of all arguments share: it gets their sum (decorator).

        Solving a system, for instance, is done once and not for each argument. `outer_vjp` goes with it.
        """
        self.outer = Rule(rule, None, _reads(rule)[1:], ())
        return rule

    def outer_vjp(self, rule: Callable) -> Callable:
        """Declare the transpose of `outer_jvp`'s: the first step of all arguments' vjp (decorator)."""
        self.outer.pull, self.outer.pull_reads = rule, _reads(rule)[1:]
        return rule

    def _jvp(self, index: int, rule: Callable) -> None:
        push = Rule(rule, None, _reads(rule)[1:], ())
        self.rules[index] = transposed(push, self.args[index])

    def _vjp(self, index: int, rule: Callable) -> None:
        before = self.rules[index]
        self.rules[index] = Rule(before.push, rule, before.push_reads, _reads(rule)[1:])


def _kind(kind: type[DeclaredPrimitive], impl: Callable | None, flags: dict):
    if impl is None:
        return lambda impl: _kind(kind, impl, flags)
    flags = dict(flags)
    core, joint = flags.pop("core", None), flags.pop("joint", False)
    args = _arguments(impl)
    rules = None if joint else [None] * len(args)
    prim = kind(flags.pop("name", impl.__name__), impl, args, rules)
    for flag, value in flags.items():
        setattr(prim, flag, value)
    if core is not None:
        prim.batch = batch_leading(prim, core)
    elif len(args) == 1 and not prim.variadic:
        prim.batch = batch_by_itself(prim)
    if args[0].startswith("*") and not joint:
        prim.reads = {"others": _others, **(prim.reads or {})}
    return _declare(prim)


def _declare(prim: Primitive) -> Primitive:
    if prim.name in PRIMITIVES:
        raise errors.RuleError(prim.name, "a primitive of this name was declared before")
    PRIMITIVES[prim.name] = prim
    return prim


def _others(values: list, positions: tuple[int, ...]) -> tuple:
    """The arguments' values, without the one that is traced if it is the only one."""
    kept = list(values[:-1])
    if len(positions) == 1:
        kept[positions[0]] = None
    return tuple(kept)


def _arguments(impl: Callable) -> tuple[str, ...]:
    if isinstance(impl, np.ufunc):
        return _ELEMENTWISE_NAMES.get(impl.nin) or tuple("abcdefgh"[: impl.nin])
    code = getattr(inspect.unwrap(impl), "__code__", None)
    if code is None:  # written in C
        return tuple(inspect.signature(impl).parameters)
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & inspect.CO_VARARGS:
        names += ("*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount],)
    return names


def _reads(rule: Callable) -> tuple[str, ...]:
    """The names of a rule's positional parameters."""
    code = getattr(rule, "__wrapped__", rule).__code__  # a signature costs ten times as much
    return code.co_varnames[: code.co_argcount]


def _ignoring_g(live: Callable) -> Callable:
    return lambda g, *residuals, **params: live(*residuals)
