"""Tracers as boxes: what a user's name stands for can be bound to another value, as by ``x[i] = v``.

In NumPy that changes the array's memory, and so whatever shares it. Here a box that views another knows that
one, and a box knows its views for as long as they live: a write reaches bases and views as it does in NumPy,
while every equation stays pure.
"""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, without_part
from funcgrad._core.valued import Valued

_PRUNED = 32  # from so many views on, those that died are dropped now and then


class Memory(NamedTuple):
    """How NumPy's array would lie in memory, where the numbers do not tell.

    Attributes:
        order: "C" or "F", or an array that lies as it does.
        certain: whether NumPy's surely does.
    """

    order: Any
    certain: bool


def fixed(x: Any) -> Any:
    """A value as it is now, for what keeps it: of a tracer another box, for the user may rebind theirs.

    It is the same one until that happens, so that it can be told by its identity.
    """
    if not isinstance(x, Tracer):
        return x
    box = getattr(x, "fixed", None)
    if box is True:  # it is such a box itself (a reference to it would be a cycle)
        return x
    if box is None:
        x.fixed = box = own_box(x)
        box.fixed = True
    return box


def own_box(x: Any) -> Any:
    """A value for the user: of a tracer a box that nothing else knows, to be rebound as they like."""
    if not isinstance(x, Tracer):
        return x
    box = type(x)()
    box._trace = x._trace
    for slot in type(x).__slots__:
        setattr(box, slot, getattr(x, slot))
    return box


def leaving(x: Any) -> Any:
    """What leaves a transform: a value without a part in eps (see `Split`), in a box of its own."""
    return own_box(without_part(x)) if isinstance(x, Tracer) else x


# ---- views ---------------------------------------------------------------------------------


def link(base: Any, view: Any, prim: Any = None, params: dict | None = None) -> None:
    """Remember that `view`, which is ``prim(base, **params)``, shares memory with `base` in NumPy.

    Without a primitive it does so in a way that writes cannot follow.
    """
    if not isinstance(base, Tracer) or view is base:
        return
    if not isinstance(view, Tracer):  # of a suspended trace's: not its memory is to be written to
        if type(view) is np.ndarray and view.base is not None:
            view.flags.writeable = False
        return
    if view._trace is not base._trace:
        prim = None
    elif (origin := origin_of(base)) is not None and getattr(origin[1], "apart", False):
        return
    if prim is not None and prim.may_copy and not _is_plain(base):  # else the first write is time enough
        if _wide(base.shape) != _wide(view.shape):
            if is_uncertain(base):
                prim = None
            elif _is_copy(base, view, prim, params):
                return
    view.origin = (base, prim, params)
    try:
        views = base.views
    except AttributeError:
        base.views = [weakref.ref(view)]
        return
    if len(views) >= _PRUNED and not len(views) & (len(views) - 1):
        views[:] = [ref for ref in views if ref() is not None]
    views.append(weakref.ref(view))


def _is_plain(x: Tracer) -> bool:
    """Whether a value is a plain array that lies in memory as NumPy's would: nothing was written yet."""
    return isinstance(x, Valued) and type(x.value) is np.ndarray and not x._trace.written


def origin_of(box: Tracer) -> tuple[Tracer, Any, dict] | None:
    """The base of a view, the primitive that reads it, and its parameters; None of what is no view."""
    return getattr(box, "origin", None)


def root_of(box: Tracer) -> Tracer:
    """The box whose memory a view sees; itself of what is no view."""
    while (origin := origin_of(box)) is not None:
        box = origin[0]
    return box


def _is_copy(base: Tracer, view: Tracer, prim, params) -> bool:
    """Whether a primitive made no view, since the entries do not lie right for one."""
    a, b = _faithful(base), _numbers(view)
    if a is None or b is None:
        a = in_memory(base)
        b = prim.impl(a, **params)
    return not np.may_share_memory(a, b)


def _wide(shape: tuple[int, ...]) -> list[int]:
    """The axes that decide whether a reshape is a view: if they stay, it always is."""
    return [n for n in shape if n != 1]


def _cut_off_copies(box: Tracer) -> None:
    """Before the first write to boxes that share memory: forget those of which that was only thought."""
    top = root_of(box)
    todo = [top] if getattr(top, "memory", None) is None else []
    while todo:
        base = todo.pop()
        for view in _views(base):
            _, prim, params = view.origin
            if prim is not None and prim.may_copy and _wide(base.shape) != _wide(view.shape):
                if is_uncertain(base):
                    view.origin = (base, None, None)
                elif _is_copy(base, view, prim, params):
                    view.origin = None
                    base.views = [ref for ref in base.views if ref() is not view]
            todo.append(view)


# ---- how NumPy's arrays would lie in memory ------------------------------------------------


def in_memory(x: Tracer) -> np.ndarray:
    """An array that lies in memory as NumPy's would; if only its type is known, in C's order."""
    if _is_plain(x):
        return x.value
    known = _faithful(x)
    if known is not None:
        return known
    root, reads = x, []
    while (origin := origin_of(root)) is not None and not getattr(origin[1], "inexact", origin[1] is None):
        root, *read = origin
        reads.append(read)
    lies = getattr(root, "memory", None)
    out = "C" if lies is None else lies.order
    out = np.empty(root.shape, root.dtype, out) if type(out) is str else out
    for prim, params in reversed(reads):
        out = prim.impl(out, **params)
    return out


def lies_apart(x: Any) -> bool:
    """Whether the entries of an array do not lie one after another in C's order, or may not."""
    if isinstance(x, Tracer):
        return is_uncertain(x) or not in_memory(x).flags.c_contiguous
    return isinstance(x, np.ndarray) and not x.flags.c_contiguous


def is_uncertain(x: Tracer) -> bool:
    """Whether it is not known how NumPy's array would lie.

    An operation's result may lie otherwise than NumPy's if that is not C's order; in a batch or a program of
    types nothing is known once axes were moved.
    """
    root = x
    while (origin := origin_of(root)) is not None:
        if getattr(origin[1], "inexact", origin[1] is None):
            return True
        root = origin[0]
    lies = getattr(root, "memory", None)
    if lies is not None:
        return not lies.certain
    known = _faithful(root)
    if known is not None:
        return not known.flags.c_contiguous
    while isinstance(root, Tracer):
        if getattr(root._trace, "reordered", False):
            return True
        root = getattr(root, "value", None)
    return False


def _faithful(x: Tracer) -> np.ndarray | None:
    """The numbers of a value, which lie as NumPy's if nothing was written to them and they are no batch."""
    if getattr(root_of(x), "memory", None) is not None:
        return None
    known = _numbers(x)
    return known if known is not None and known.shape == x.shape else None


def _numbers(x: Any) -> np.ndarray | None:
    while isinstance(x, Tracer):
        x = getattr(x, "value", None)
    return x if type(x) is np.ndarray else None


def _remember_memory(root: Tracer) -> None:
    """Before the first write: values that are bound from now on may lie otherwise."""
    if getattr(root, "memory", None) is None:
        lies = in_memory(root)
        flags = lies.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else lies
        root.memory = Memory(order, not is_uncertain(root))


# ---- writing -------------------------------------------------------------------------------

_written: contextvars.ContextVar[list[weakref.ref] | None] = contextvars.ContextVar("written", default=None)


@contextlib.contextmanager
def noting_writes() -> Iterator[list[weakref.ref]]:
    """A list of the boxes that are written to."""
    token = _written.set(noted := [])
    try:
        yield noted
    finally:
        _written.reset(token)


def outliving(noted: list[weakref.ref], results: Sequence[Any]) -> bool:
    """Whether boxes that were written to are known to others than the results, and what these view."""
    own = {id(box) for result in results if isinstance(result, Tracer) for box in _bases(result)}
    return any((box := ref()) is not None and id(box) not in own for ref in noted)


def _bases(box: Tracer) -> Iterator[Tracer]:
    yield box
    while (origin := origin_of(box)) is not None:
        box = origin[0]
        yield box


def rebind(box: Tracer, value: Tracer, what: str) -> None:
    """Bind a box to another value of its trace, shape and dtype, and with it all that shares its memory.

    Args:
        what: how errors call it.

    Raises:
        ValueError: the box is a read-only view.
        InPlaceError: an array that shares its memory cannot follow.
    """
    box._trace.written = True
    if (noted := _written.get()) is not None:
        noted.append(weakref.ref(root_of(box)))
    if origin_of(box) is None and not getattr(box, "views", None):  # as most are, at a tenth of the cost
        _remember_memory(box)
        _bind(box, value)
        return
    _cut_off_copies(box)
    path, values = [box], [value]
    while (origin := origin_of(path[-1])) is not None:
        base, prim, params = origin
        if prim is None:
            _refuse(what)
        if prim.put is None:
            raise ValueError("assignment destination is read-only")
        path.append(base)
        values.append(prim.put(base, values[-1], **params))
    _remember_memory(path[-1])
    others = _overlapping(path, what)
    for box, value in zip(path, values):
        _bind(box, value)
    for view in others:
        base, prim, params = view.origin
        _bind(view, prim.read(base, params))


def _overlapping(path: list[Tracer], what: str) -> list[Tracer]:
    """The views, each after its base, that share entries with the first box of a path to its root."""
    areas = {id(path[-1]): in_memory(path[-1])}

    def area(view: Tracer) -> np.ndarray:
        base, prim, params = view.origin
        return prim.impl(areas[id(base)], **params)

    for view in reversed(path[:-1]):
        areas[id(view)] = area(view)
    written, found, todo = areas[id(path[0])], [], list(path)
    while todo:
        for view in _views(todo.pop()):
            if id(view) in areas:
                continue
            if view.origin[1] is None:
                _refuse(what)
            if np.may_share_memory(seen := area(view), written):
                areas[id(view)] = seen
                found.append(view)
                todo.append(view)
    return found


def _refuse(what: str) -> None:
    cure = "Write into a copy: x = x.copy() first."
    raise errors.InPlaceError(
        f"{what} on an array that shares memory with another", describe(*caller(5)), cure
    )


def _bind(box: Tracer, value: Tracer) -> None:
    for slot in type(box).__slots__:
        setattr(box, slot, getattr(value, slot))
    box.fixed = None


def _views(box: Tracer) -> list[Tracer]:
    """The views of a box that live."""
    return [view for ref in getattr(box, "views", None) or () if (view := ref()) is not None]
