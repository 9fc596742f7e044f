"""Tracers as boxes: what a user's name stands for can be bound to another value, as by ``x[i] = v``.

In NumPy that changes the array's memory, and so whatever shares it. Here a box that views another knows that
one, and a box knows its views for as long as they live: a write reaches bases and views as it does in NumPy,
while every equation stays pure.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from funcgrad import errors
from funcgrad._core.source import caller, describe
from funcgrad._core.tracer import Tracer, is_deriving, without_part
from funcgrad._core.valued import Valued

_PRUNED = 32  # from so many views on, those that died are dropped now and then


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
    if not (isinstance(base, Tracer) and isinstance(view, Tracer)) or view is base or is_deriving():
        return
    if prim is not None and prim.may_copy and not _is_plain(base):  # else the first write is time enough
        if _is_copy(base, view, prim, params):
            return
        prim = None if is_uncertain(base) and _wide(base.shape) != _wide(view.shape) else prim
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


def _root_of(box: Tracer) -> Tracer:
    while (origin := origin_of(box)) is not None:
        box = origin[0]
    return box


def _is_copy(base: Tracer, view: Tracer, prim, params) -> bool:
    """Whether a primitive made no view, since the entries do not lie right for one."""
    if _wide(base.shape) == _wide(view.shape) or is_uncertain(base):
        return False
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
    top = _root_of(box)
    todo = [top] if getattr(top, "memory", None) is None else []
    while todo:
        base = todo.pop()
        for view in _views(base):
            _, prim, params = view.origin
            if prim is not None and prim.may_copy and _is_copy(base, view, prim, params):
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
    while (origin := origin_of(root)) is not None and origin[1] is not None:
        root, *read = origin
        reads.append(read)
    out = getattr(root, "memory", None)
    if not isinstance(out, np.ndarray):
        out = np.empty(root.shape, root.dtype, out or "C")
    for prim, params in reversed(reads):
        out = prim.impl(out, **params)
    return out


def lies_apart(x: Any) -> bool:
    """Whether the entries of an array do not lie one after another in C's order, or may not."""
    if isinstance(x, Tracer):
        return is_uncertain(x) or not in_memory(x).flags.c_contiguous
    return isinstance(x, np.ndarray) and not x.flags.c_contiguous


def is_uncertain(x: Tracer) -> bool:
    """Whether it is not known how NumPy's array would lie, as of a batch's member once axes were moved."""
    if _is_plain(x):
        return False
    reordered, shape = False, x.shape
    while isinstance(x, Tracer):
        reordered = reordered or getattr(x._trace, "reordered", False)
        x = getattr(x, "value", None)
    return reordered and not (type(x) is np.ndarray and x.shape == shape)


def _faithful(x: Tracer) -> np.ndarray | None:
    """The numbers of a value, which lie as NumPy's if nothing was written to them and they are no batch."""
    if getattr(_root_of(x), "memory", None) is not None:
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
        root.memory = "C" if flags.c_contiguous else "F" if flags.f_contiguous else lies


# ---- writing -------------------------------------------------------------------------------


def rebind(box: Tracer, value: Tracer, what: str) -> None:
    """Bind a box to another value of its trace, shape and dtype, and with it all that shares its memory.

    Args:
        what: how errors call it.

    Raises:
        ValueError: the box is a read-only view.
        InPlaceError: an array that shares its memory cannot follow.
    """
    box._trace.written = True
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
        _bind(view, base._trace.process(prim, (base,), params))


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
