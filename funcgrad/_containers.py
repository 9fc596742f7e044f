"""The containers of trees: what a structure is, the kinds of containers, and the registry of kinds.

`funcgrad.tree` walks over trees with these. Whatever is no container is a leaf.
"""

import importlib
import threading
from collections import OrderedDict, defaultdict
from enum import Enum

import numpy as np

from funcgrad.errors import (
    AlreadyRegisteredError,
    NodeFunctionError,
    UnorderableKeysError,
    UnregisteredError,
)

# ---- structures ----------------------------------------------------------------------------


class TreeDef:
    """The structure of a tree, without its leaves: what `unflatten` needs to put it together.

    Structures are equal where containers, keys and static data are; they are hashable where the
    static data is, and pickle with it.

    >>> from funcgrad.tree import structure
    >>> structure([1.0, (2.0,)])
    TreeDef([*, (*,)])
    >>> structure([1.0]) == structure([5.0]), structure([1.0]) == structure((1.0,))
    (True, False)
    """

    __slots__ = ("kind", "aux", "children", "num_leaves")

    def __init__(self, kind, aux, children, num_leaves):
        self.kind = kind  # how to rebuild this container; None for a leaf
        self.aux = aux
        self.children = children
        self.num_leaves = num_leaves

    def __eq__(self, other):
        if not isinstance(other, TreeDef):
            return NotImplemented
        return self is other or _equal(self, other)

    def __hash__(self):
        return _hash(self)

    def __repr__(self):
        return f"TreeDef({_show(self)})"

    def keys(self):
        """Return the keys of the children, each one step of a path."""
        return self.kind.keys(self.aux, len(self.children))

    def paths(self):
        """Return the path of each leaf, a tuple of keys."""
        return _paths(self, ())

    def __reduce__(self):  # keeps LEAF the one leaf in copies and pickles
        if self is LEAF:
            return "LEAF"
        return _restore, (self.kind.cls, self.aux, self.children)


LEAF = TreeDef(None, None, (), 1)


def _restore(cls, aux, children):
    kind = KINDS[cls]
    if kind is None:
        raise UnregisteredError(cls)
    return TreeDef(kind, aux, children, sum(child.num_leaves for child in children))


# Plain functions that loop and call themselves, as `self.children == other.children` would take
# several steps of Python's recursion limit for one level of nesting.


def _equal(a, b):
    if a.kind is not b.kind or a.num_leaves != b.num_leaves or len(a.children) != len(b.children):
        return False
    for x, y in zip(a.children, b.children):
        if x is not y and not _equal(x, y):
            return False
    return same(a.aux, b.aux)


def _hash(treedef):
    hashes = [treedef.kind, treedef.aux]
    for child in treedef.children:
        hashes.append(1 if child is LEAF else _hash(child))
    return hash(tuple(hashes))


def _show(treedef):
    if treedef is LEAF:
        return "*"
    shown = []
    for child in treedef.children:
        shown.append(_show(child))
    return treedef.kind.show(treedef.aux, shown)


def _paths(treedef, path):
    if treedef is LEAF:
        return [path]
    found = []
    for key, child in zip(treedef.keys(), treedef.children):
        found += _paths(child, (*path, key))
    return found


def same(a, b):
    """Whether static data is equal; unlike `==`, also where it holds arrays."""
    if a is b:
        return True
    try:
        return bool(a == b)
    except ValueError:  # an array has no truth value
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return False not in [same(x, y) for x, y in zip(a, b)]
        return np.array_equal(a, b)


# ---- keys: one step of a path --------------------------------------------------------------


class Key:
    """One step of a path, of the kind that its class says."""

    __slots__ = ("key",)

    def __init__(self, key):
        self.key = key

    def __eq__(self, other):
        return type(self) is type(other) and self.key == other.key

    def __hash__(self):
        return hash((type(self), self.key))

    def __repr__(self):
        return f"{type(self).__name__}({self.key!r})"

    def __str__(self):
        return f"[{self.key!r}]"


class SequenceKey(Key):
    """The step into item `key` of a tuple or list, written `[0]`."""


class DictKey(Key):
    """The step into item `key` of a dict, written `['w']`."""


class GetAttrKey(Key):
    """The step into the attribute named `key`, written `.b`."""

    def __str__(self):
        return f".{self.key}"


class FlattenedIndexKey(Key):
    """The step into child number `key` of a registered class that names no keys."""

    def __str__(self):
        return f"[<flat index {self.key}>]"


# ---- kinds of containers -------------------------------------------------------------------


class Kind:
    """How one class of containers is taken apart, rebuilt, indexed and shown."""

    __slots__ = ("cls", "flatten", "unflatten", "keys", "show", "origin")

    def __init__(self, cls, flatten, unflatten, keys, show, origin=None):
        self.cls = cls
        self.flatten = flatten  # container -> (sized children, aux)
        self.unflatten = unflatten  # aux, list of children -> container
        self.keys = keys  # aux, number of children -> their keys
        self.show = show  # aux, list of shown children -> text
        self.origin = origin  # what was registered; None if only found out, so replaceable


def _empty_kind(cls, value):
    return Kind(
        cls,
        lambda x: ((), None),
        lambda aux, xs: value,
        lambda aux, n: [],
        lambda aux, xs: str(value),
    )


def _sequence_kind(cls):
    def show(aux, xs):
        inside = ", ".join(xs)
        if issubclass(cls, list):
            text = f"[{inside}]"
        else:
            text = f"({inside},)" if len(xs) == 1 else f"({inside})"
        return text if cls in (list, tuple) else f"{cls.__name__}({text})"

    return Kind(
        cls,
        lambda xs: (xs, None),
        lambda aux, xs: cls(xs),
        lambda aux, n: [SequenceKey(i) for i in range(n)],
        show,
    )


def _namedtuple_kind(cls):
    return Kind(
        cls,
        lambda xs: (xs, None),
        lambda aux, xs: cls._make(xs),
        lambda aux, n: [GetAttrKey(name) for name in cls._fields],
        lambda aux, xs: _show_fields(cls, zip(cls._fields, xs)),
    )


def _mapping_kind(cls):
    in_own_order = issubclass(cls, OrderedDict)
    has_factory = issubclass(cls, defaultdict)

    def flatten(d):
        try:
            keys = tuple(d if in_own_order else sorted(d))
        except TypeError:
            raise UnorderableKeysError(list(d)) from None
        return [d[key] for key in keys], (keys, d.default_factory if has_factory else None)

    def unflatten(aux, xs):
        keys, factory = aux
        return cls(factory, zip(keys, xs)) if has_factory else cls(zip(keys, xs))

    def show(aux, xs):
        keys, factory = aux
        text = "{" + ", ".join(f"{key!r}: {x}" for key, x in zip(keys, xs)) + "}"
        if has_factory:
            return f"{cls.__name__}({factory!r}, {text})"
        return text if cls is dict else f"{cls.__name__}({text})"

    return Kind(cls, flatten, unflatten, lambda aux, n: [DictKey(key) for key in aux[0]], show)


def dataclass_kind(cls, data, static, origin=None):
    def flatten(obj):
        children = [getattr(obj, name, UNSET) for name in data]
        return children, tuple([getattr(obj, name, UNSET) for name in static])

    def unflatten(aux, xs):
        # Not through __init__: it may convert or check, and a leaf may be anything here, such as
        # an axis number or a batched array. object.__setattr__ also works on frozen instances.
        obj = object.__new__(cls)
        for names, values in ((data, xs), (static, aux)):
            for name, value in zip(names, values):
                if value is not UNSET:
                    object.__setattr__(obj, name, value)
        return obj

    def show(aux, xs):
        return _show_fields(cls, [*zip(data, xs), *zip(static, [repr(value) for value in aux])])

    return Kind(cls, flatten, unflatten, lambda aux, n: [GetAttrKey(name) for name in data], show, origin)


def registered_kind(cls, user_flatten, user_unflatten, flatten_with_keys):
    def flatten(obj):
        result = user_flatten(obj)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise NodeFunctionError("flatten", cls, type(result).__name__, "(children, aux)")
        return tuple(result[0]), (None, result[1])

    def flatten_keyed(obj):
        try:
            pairs, aux = flatten_with_keys(obj)
            pairs = [(k if isinstance(k, Key) else DictKey(k), child) for k, child in pairs]
        except (TypeError, ValueError) as error:
            wanted = f"([(key, child), ...], aux) ({error})"
            raise NodeFunctionError("flatten_with_keys", cls, "something else", wanted) from error
        return [child for _, child in pairs], (tuple([key for key, _ in pairs]), aux)

    def keys(aux, n):
        return [FlattenedIndexKey(i) for i in range(n)] if aux[0] is None else aux[0]

    def show(aux, xs):
        static = "" if aux[1] is None else f"[{aux[1]!r}]"
        return f"{cls.__name__}{static}({', '.join(xs)})"

    return Kind(
        cls,
        flatten if flatten_with_keys is None else flatten_keyed,
        lambda aux, xs: user_unflatten(aux[1], tuple(xs)),
        keys,
        show,
        (user_flatten, user_unflatten, flatten_with_keys),
    )


def _show_fields(cls, named):
    return f"{cls.__name__}({', '.join([f'{name}={x}' for name, x in named])})"


# ---- the registry --------------------------------------------------------------------------


class _Kinds(dict):
    """Class -> its kind, or None where instances are leaves; unknown classes are looked into once.

    One subscription is the whole test for a leaf. Entries last as long as the process.
    """

    def __missing__(self, cls):
        kind = _find_out(cls)
        with _LOCK:  # two threads may have looked: all must see one kind, as kinds compare by `is`
            return self.setdefault(cls, kind)


class _Unset:
    """Stands for a field without a value, such as an unfilled cache: a container of nothing."""

    def __reduce__(self):
        return "UNSET"

    def __repr__(self):
        return "<unset>"


_LOCK = threading.Lock()
UNSET = _Unset()
KINDS = _Kinds({type(None): _empty_kind(type(None), None), _Unset: _empty_kind(_Unset, UNSET)})
KINDS.update({cls: _sequence_kind(cls) for cls in (tuple, list)})
KINDS.update({cls: _mapping_kind(cls) for cls in (dict, OrderedDict, defaultdict)})
for _kind in KINDS.values():
    _kind.origin = "built in"


def _find_out(cls):
    if issubclass(cls, Enum):
        return None
    if is_dataclass(cls):
        owner = next(c for c in cls.__mro__ if "__dataclass_fields__" in vars(c))
        try:
            object.__new__(cls)
        except TypeError:  # derives from a class written in C, of which we know nothing
            return None
        if cls.__init__ is not owner.__init__:
            return None
        return dataclass_kind(cls, *split_fields(cls))
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        return _namedtuple_kind(cls)
    for base in (defaultdict, OrderedDict, dict, list, tuple):
        if issubclass(cls, base):
            if cls.__init__ is not base.__init__ or cls.__new__ is not base.__new__:
                return None
            return (_mapping_kind if issubclass(cls, dict) else _sequence_kind)(cls)
    return None


def is_dataclass(cls):
    return hasattr(cls, "__dataclass_fields__")


def fields(cls):
    """As of the module `dataclasses`, which is loaded where there is a dataclass, and takes 1 ms to load."""
    return importlib.import_module("dataclasses").fields(cls)


def split_fields(cls):
    data = tuple([f.name for f in fields(cls) if not f.metadata.get("static")])
    return data, tuple([f.name for f in fields(cls) if f.metadata.get("static")])


def add(kind):
    with _LOCK:
        known = KINDS.get(kind.cls)
        if known is not None and known.origin is not None:
            if known.origin != kind.origin:
                raise AlreadyRegisteredError(kind.cls)
        else:
            KINDS[kind.cls] = kind
