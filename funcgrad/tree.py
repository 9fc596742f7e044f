"""Trees: nested containers of arrays, taken apart into a flat list and put together again.

>>> leaves, structure = flatten({"w": (1.0, 2.0), "b": None})
>>> leaves, structure
([1.0, 2.0], TreeDef({'b': None, 'w': (*, *)}))
>>> unflatten(structure, [10.0, 20.0])
{'b': None, 'w': (10.0, 20.0)}

Containers are tuple, list, dict (in the order of the sorted keys), OrderedDict (in its own order),
defaultdict, named tuples, None (a container of nothing), dataclasses, and what `register` adds.
All else is a leaf: arrays, numbers, strings, sets, deques, enum members, unknown objects.

A dataclass needs no registration. Its fields are children, but for those declared with
`field(metadata={"static": True})`, which belong to the structure. An instance is rebuilt field by
field, without `__init__` or `__post_init__`; attributes that are not fields are not carried over.

A subclass of dict, list or tuple without a constructor of its own is rebuilt as that subclass from
its items alone (again without further attributes). One that has a constructor, such as Counter,
may mean anything, so it is a leaf until registered; so is a subclass of a dataclass that has a
constructor but is no dataclass itself.
"""

import functools
import threading
from collections import OrderedDict, defaultdict
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np

from funcgrad.errors import (
    AlreadyRegisteredError,
    FieldNamesError,
    LeafCountError,
    NodeFunctionError,
    TreeStructureError,
    UnorderableKeysError,
    UnregisteredError,
)

# ---- structures ----------------------------------------------------------------------------


class TreeDef:
    """The structure of a tree, without its leaves: what `unflatten` needs to put it together.

    Structures are equal where containers, keys and static data are; they are hashable where the
    static data is, and pickle with it.

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

    def __reduce__(self):  # keeps LEAF the one leaf in copies and pickles
        if self is LEAF:
            return "LEAF"
        return _restore, (self.kind.cls, self.aux, self.children)


LEAF = TreeDef(None, None, (), 1)


def _restore(cls, aux, children):
    kind = _KINDS[cls]
    if kind is None:
        raise UnregisteredError(cls)
    return TreeDef(kind, aux, children, sum(child.num_leaves for child in children))


# Plain functions that loop and call themselves, as `self.children == other.children` would take
# several steps of Python's recursion limit for one level of nesting.


def _equal(a, b):
    if a.kind is not b.kind or a.num_leaves != b.num_leaves or len(a.children) != len(b.children):
        return False
    for x, y in zip(a.children, b.children, strict=True):
        if x is not y and not _equal(x, y):
            return False
    return _same(a.aux, b.aux)


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


def _same(a, b):
    """Whether static data is equal; unlike `==`, also where it holds arrays."""
    if a is b:
        return True
    try:
        return bool(a == b)
    except ValueError:  # an array has no truth value
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return False not in [_same(x, y) for x, y in zip(a, b, strict=True)]
        return np.array_equal(a, b)


# ---- keys: one step of a path --------------------------------------------------------------


class _Key:
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


class SequenceKey(_Key):
    """The step into item `key` of a tuple or list, written `[0]`."""


class DictKey(_Key):
    """The step into item `key` of a dict, written `['w']`."""


class GetAttrKey(_Key):
    """The step into the attribute named `key`, written `.b`."""

    def __str__(self):
        return f".{self.key}"


class FlattenedIndexKey(_Key):
    """The step into child number `key` of a registered class that names no keys."""

    def __str__(self):
        return f"[<flat index {self.key}>]"


# ---- kinds of containers -------------------------------------------------------------------


class _Kind:
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
    return _Kind(
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

    return _Kind(
        cls,
        lambda xs: (xs, None),
        lambda aux, xs: cls(xs),
        lambda aux, n: [SequenceKey(i) for i in range(n)],
        show,
    )


def _namedtuple_kind(cls):
    return _Kind(
        cls,
        lambda xs: (xs, None),
        lambda aux, xs: cls._make(xs),
        lambda aux, n: [GetAttrKey(name) for name in cls._fields],
        lambda aux, xs: _show_fields(cls, zip(cls._fields, xs, strict=True)),
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
        return (
            cls(factory, zip(keys, xs, strict=True))
            if has_factory
            else cls(zip(keys, xs, strict=True))
        )

    def show(aux, xs):
        keys, factory = aux
        text = "{" + ", ".join(f"{key!r}: {x}" for key, x in zip(keys, xs, strict=True)) + "}"
        if has_factory:
            return f"{cls.__name__}({factory!r}, {text})"
        return text if cls is dict else f"{cls.__name__}({text})"

    return _Kind(cls, flatten, unflatten, lambda aux, n: [DictKey(key) for key in aux[0]], show)


def _dataclass_kind(cls, data, static, origin=None):
    def flatten(obj):
        children = [getattr(obj, name, _UNSET) for name in data]
        return children, tuple([getattr(obj, name, _UNSET) for name in static])

    def unflatten(aux, xs):
        # Not through __init__: it may convert or check, and a leaf may be anything here, such as
        # an axis number or a batched array. object.__setattr__ also works on frozen instances.
        obj = object.__new__(cls)
        for names, values in ((data, xs), (static, aux)):
            for name, value in zip(names, values, strict=True):
                if value is not _UNSET:
                    object.__setattr__(obj, name, value)
        return obj

    def show(aux, xs):
        shown_static = [repr(value) for value in aux]
        return _show_fields(
            cls, [*zip(data, xs, strict=True), *zip(static, shown_static, strict=True)]
        )

    return _Kind(
        cls, flatten, unflatten, lambda aux, n: [GetAttrKey(name) for name in data], show, origin
    )


def _registered_kind(cls, user_flatten, user_unflatten, flatten_with_keys):
    def flatten(obj):
        result = user_flatten(obj)
        if not (isinstance(result, tuple) and len(result) == 2):
            found = type(result).__name__
            raise NodeFunctionError("flatten", cls, found, "(children, aux)")
        return tuple(result[0]), (None, result[1])

    def flatten_keyed(obj):
        try:
            pairs, aux = flatten_with_keys(obj)
            pairs = [(k if isinstance(k, _Key) else DictKey(k), child) for k, child in pairs]
        except (TypeError, ValueError) as error:
            wanted = f"([(key, child), ...], aux) ({error})"
            raise NodeFunctionError("flatten_with_keys", cls, "something else", wanted) from error
        return [child for _, child in pairs], (tuple([key for key, _ in pairs]), aux)

    def keys(aux, n):
        return [FlattenedIndexKey(i) for i in range(n)] if aux[0] is None else aux[0]

    def show(aux, xs):
        static = "" if aux[1] is None else f"[{aux[1]!r}]"
        return f"{cls.__name__}{static}({', '.join(xs)})"

    return _Kind(
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
        return "_UNSET"

    def __repr__(self):
        return "<unset>"


_LOCK = threading.Lock()
_UNSET = _Unset()
_KINDS = _Kinds({type(None): _empty_kind(type(None), None), _Unset: _empty_kind(_Unset, _UNSET)})
_KINDS.update({cls: _sequence_kind(cls) for cls in (tuple, list)})
_KINDS.update({cls: _mapping_kind(cls) for cls in (dict, OrderedDict, defaultdict)})
for _kind in _KINDS.values():
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
        return _dataclass_kind(cls, *_split_fields(cls))
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        return _namedtuple_kind(cls)
    for base in (defaultdict, OrderedDict, dict, list, tuple):
        if issubclass(cls, base):
            if cls.__init__ is not base.__init__ or cls.__new__ is not base.__new__:
                return None
            return (_mapping_kind if issubclass(cls, dict) else _sequence_kind)(cls)
    return None


def _split_fields(cls):
    data = tuple([f.name for f in fields(cls) if not f.metadata.get("static")])
    return data, tuple([f.name for f in fields(cls) if f.metadata.get("static")])


def _add(kind):
    with _LOCK:
        known = _KINDS.get(kind.cls)
        if known is not None and known.origin is not None:
            if known.origin != kind.origin:
                raise AlreadyRegisteredError(kind.cls)
        else:
            _KINDS[kind.cls] = kind


def register(cls, flatten, unflatten, flatten_with_keys=None):
    """Make instances of a class containers.

    Args:
        cls: the class; its subclasses are not registered with it.
        flatten: obj -> (children, aux); aux is static and compared with `==`.
        unflatten: (aux, children) -> obj. It must take any children, not only arrays.
        flatten_with_keys: obj -> ([(key, child), ...], aux), used in place of `flatten`, for
            readable paths; a key is a `GetAttrKey` or any value, which is shown as `[key]`.

    Raises:
        AlreadyRegisteredError: if the class was registered with other functions.

    >>> class Box:
    ...     def __init__(self, value): self.value = value
    >>> register(Box, lambda box: ([box.value], None), lambda aux, children: Box(*children))
    >>> map(lambda x: x + 1, Box(1.0)).value
    2.0
    """
    _add(_registered_kind(cls, flatten, unflatten, flatten_with_keys))


def register_dataclass(cls, data_fields=None, meta_fields=None):
    """Say which fields of a dataclass are data and which are static; usable as a decorator.

    Args:
        cls: a dataclass.
        data_fields: names of the fields with leaves; default: all that are not static.
        meta_fields: names of the static fields; default: all that are not data. Where neither is
            given, `field(metadata={"static": True})` decides.

    Returns:
        `cls` itself.

    Raises:
        FieldNamesError: if `cls` is no dataclass, or names are wrong, missing or given twice.
        AlreadyRegisteredError: if the class was registered with other fields.

    >>> import dataclasses
    >>> @functools.partial(register_dataclass, meta_fields=["name"])
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str
    >>> structure(Layer(1.0, "first"))
    TreeDef(Layer(w=*, name='first'))
    """
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise FieldNamesError(cls, "not a dataclass")
    names = [f.name for f in fields(cls)]
    if data_fields is None and meta_fields is None:
        data, static = _split_fields(cls)
    else:
        data = [n for n in names if n not in meta_fields] if data_fields is None else data_fields
        static = [n for n in names if n not in data] if meta_fields is None else meta_fields
    given = [*data, *static]
    problems = {
        "no such field": [n for n in given if n not in names],
        "both data and static, or twice": sorted({n for n in given if given.count(n) > 1}),
        "neither data nor static": [n for n in names if n not in given],
    }
    found = [
        f"{problem}: {', '.join([repr(n) for n in ns])}" for problem, ns in problems.items() if ns
    ]
    if found:
        raise FieldNamesError(cls, "; ".join(found))
    origin = ("dataclass", tuple(data), tuple(static))
    _add(_dataclass_kind(cls, tuple(data), tuple(static), origin))
    return cls


# ---- apart and together --------------------------------------------------------------------


def flatten(tree, is_leaf=None):
    """Split a tree into its leaves and its structure.

    Args:
        tree: nested containers; a bare array is a tree of one leaf.
        is_leaf: optional predicate; where it holds for a subtree, that is a leaf.

    Returns:
        The list of leaves and the `TreeDef`.

    Raises:
        UnorderableKeysError: if the keys of a dict cannot be sorted.

    >>> flatten({"b": 2.0, "a": [1.0]})
    ([1.0, 2.0], TreeDef({'a': [*], 'b': *}))
    """
    kind = _KINDS[type(tree)]
    if kind is None or is_leaf is not None and is_leaf(tree):
        return [tree], LEAF
    out = []
    return out, _flatten(kind, tree, out, is_leaf)


def _flatten(kind, tree, out, is_leaf):
    before = len(out)
    children, aux = kind.flatten(tree)
    treedefs = []
    for child in children:
        # Leaves are dealt with here, not by recursion: a call costs more than all the rest.
        child_kind = _KINDS[type(child)]
        if child_kind is None or is_leaf is not None and is_leaf(child):
            out.append(child)
            treedefs.append(LEAF)
        else:
            treedefs.append(_flatten(child_kind, child, out, is_leaf))
    return TreeDef(kind, aux, tuple(treedefs), len(out) - before)


def unflatten(treedef, leaves):
    """Put a tree together, the inverse of `flatten`.

    Args:
        treedef: a structure.
        leaves: an iterable with one value (of any kind) for each of its leaves.

    Returns:
        The tree, made of new containers.

    Raises:
        LeafCountError: if there are more or fewer values than leaves.

    >>> unflatten(structure({"a": (0, 0)}), [1.0, 2.0])
    {'a': (1.0, 2.0)}
    """
    leaves = list(leaves)
    if len(leaves) != treedef.num_leaves:
        raise LeafCountError(repr(treedef), leaf_paths(treedef), len(leaves))
    return leaves[0] if treedef is LEAF else _unflatten(treedef, iter(leaves).__next__)


def _unflatten(treedef, next_leaf):
    children = []
    for child in treedef.children:
        children.append(next_leaf() if child is LEAF else _unflatten(child, next_leaf))
    return treedef.kind.unflatten(treedef.aux, children)


def leaves(tree, is_leaf=None):
    """List the leaves of a tree, as `flatten` does.

    >>> leaves({"b": 2.0, "a": [1.0, None]})
    [1.0, 2.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree, is_leaf=None):
    """Return the structure of a tree, as `flatten` does.

    >>> structure({"b": 2.0, "a": [1.0, None]})
    TreeDef({'a': [*, None], 'b': *})
    """
    return flatten(tree, is_leaf)[1]


# ---- leaf by leaf --------------------------------------------------------------------------


def map(f, tree, *rest, is_leaf=None):
    """Apply a function to each leaf, or to corresponding leaves of several trees.

    Args:
        f: called with one value of each tree.
        tree: the tree whose structure counts.
        rest: trees of the same structure; deeper ones give `f` the subtree at each leaf.
        is_leaf: as for `flatten`, for `tree`.

    Returns:
        A tree of the results.

    Raises:
        TreeStructureError: if a tree of `rest` differs in structure; it names the path.

    >>> map(lambda x, y: x + y, {"w": 1.0, "b": None}, {"w": 10.0, "b": None})
    {'b': None, 'w': 11.0}
    """
    first, treedef = flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other, f"rest[{i}]") for i, other in enumerate(rest)]
    return unflatten(treedef, [f(*values) for values in zip(first, *others, strict=True)])


def map_with_path(f, tree, *rest, is_leaf=None):
    """Apply a function to the path and value of each leaf; otherwise like `map`.

    >>> map_with_path(lambda path, x: keystr(path), {"w": (1.0, 2.0)})
    {'w': ("['w'][0]", "['w'][1]")}
    """
    first, treedef = flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other, f"rest[{i}]") for i, other in enumerate(rest)]
    results = [f(*values) for values in zip(_paths(treedef), first, *others, strict=True)]
    return unflatten(treedef, results)


def all(tree, is_leaf=None):
    """Tell whether every leaf is true.

    >>> all({"a": True, "b": (1, None)}), all([True, False])
    (True, False)
    """
    return False not in [bool(leaf) for leaf in leaves(tree, is_leaf)]


def reduce(f, tree, initializer=_UNSET, is_leaf=None):
    """Combine the leaves, two at a time, from the first to the last.

    Args:
        f: (result so far, leaf) -> result.
        tree: any tree; without an initializer it must have a leaf.
        initializer: the value to begin with; default: the first leaf.
        is_leaf: as for `flatten`.

    Returns:
        The last result.

    >>> reduce(lambda total, x: total + x, {"a": 1.0, "b": (2.0, 3.0)}, 0.0)
    6.0
    """
    values = leaves(tree, is_leaf)
    if initializer is not _UNSET:
        values.insert(0, initializer)
    return functools.reduce(f, values)


# ---- structure against structure -----------------------------------------------------------


def flatten_up_to(treedef, tree, name="tree"):
    """List the parts of a tree that lie at the leaves of a structure.

    Args:
        treedef: the structure that the tree must have, though it may go deeper.
        tree: the tree to take apart.
        name: what the error message calls the tree.

    Returns:
        One subtree for each leaf of `treedef`.

    Raises:
        TreeStructureError: if the tree differs; it names the path.

    >>> flatten_up_to(structure({"a": 0, "b": 0}), {"a": 1.0, "b": (2.0, 3.0)})
    [1.0, (2.0, 3.0)]
    """
    out = []
    _flatten_up_to(treedef, tree, out, name)
    return out


def _flatten_up_to(treedef, tree, out, where):
    if treedef is LEAF:
        out.append(tree)
        return
    children = _children_like(treedef, tree, where)
    for i, (child_def, child) in enumerate(zip(treedef.children, children, strict=True)):
        _flatten_up_to(child_def, child, out, (where, treedef, i))


def broadcast_prefix(prefix, treedef, name="prefix"):
    """Spread the values of a prefix tree over the leaves of a structure.

    Args:
        prefix: a tree that ends where `treedef` does or earlier. Each of its leaves holds for all
            that lies below; so does None, which is a value here.
        treedef: the full structure.
        name: what the error message calls the prefix.

    Returns:
        One value for each leaf of `treedef`.

    Raises:
        TreeStructureError: if `prefix` is no prefix of the structure; it names the path.

    >>> broadcast_prefix((0, None), structure(({"w": 1.0, "b": 2.0}, 3.0)))
    [0, 0, None]
    """
    out = []
    _broadcast_prefix(prefix, treedef, out, name)
    return out


def _broadcast_prefix(prefix, treedef, out, where):
    if prefix is None or _KINDS[type(prefix)] is None:
        out.extend([prefix] * treedef.num_leaves)
        return
    children = _children_like(treedef, prefix, where)
    for i, (child_def, child) in enumerate(zip(treedef.children, children, strict=True)):
        _broadcast_prefix(child, child_def, out, (where, treedef, i))


def _children_like(treedef, tree, where):
    """Take the children of a container that must be like the root of a structure.

    `where` is a name or (where of the parent, its structure, child number): a path that costs next
    to nothing until an error has to spell it.
    """
    kind = _KINDS[type(tree)]
    if kind is None:
        shape = getattr(tree, "shape", None)
        found = f"a leaf of type {type(tree).__name__}" + (f" and shape {shape}" if shape else "")
    else:
        children, aux = kind.flatten(tree)
        n = len(children)
        if kind is treedef.kind and n == len(treedef.children) and _same(aux, treedef.aux):
            return children
        found = _outline(kind, aux, n)
        if kind is treedef.kind:
            # Dicts with keys only: ordered sets.
            has = dict.fromkeys([str(key) for key in kind.keys(aux, n)])
            wants = dict.fromkeys([str(key) for key in treedef.keys()])
            for word, keys in (
                ("lacks", [key for key in wants if key not in has]),
                ("should not have", [key for key in has if key not in wants]),
            ):
                if keys:
                    found += f"; it {word} {', '.join(keys[:5])}{' ...' if len(keys) > 5 else ''}"
    if treedef is LEAF:
        expected = "a leaf"
    else:
        expected = _outline(treedef.kind, treedef.aux, len(treedef.children))
    path = []
    while not isinstance(where, str):
        where, parent, i = where
        path.append(parent.keys()[i])
    raise TreeStructureError(where, keystr(reversed(path)), expected, found)


def _outline(kind, aux, n):
    text = kind.show(aux, ["*"] * n)
    return text if len(text) <= 100 else text[:97] + "..."


def transpose(outer, inner, tree):
    """Turn a tree of trees inside out.

    Args:
        outer: the structure of `tree` down to where the inner trees begin.
        inner: the structure of each inner tree.
        tree: the tree of trees.

    Returns:
        A tree of structure `inner` with a tree of structure `outer` at each leaf.

    Raises:
        TreeStructureError: if `tree` is not so composed; it names the path.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1.0}, {"a": 2.0}])
    {'a': [1.0, 2.0]}
    """
    parts = zip(leaf_paths(outer), flatten_up_to(outer, tree), strict=True)
    rows = [flatten_up_to(inner, part, f"tree{path}") for path, part in parts]
    columns = [[row[j] for row in rows] for j in range(inner.num_leaves)]
    return unflatten(inner, [unflatten(outer, column) for column in columns])


# ---- paths ---------------------------------------------------------------------------------


def flatten_with_path(tree, is_leaf=None):
    """Split a tree into (path, leaf) pairs and its structure; otherwise like `flatten`.

    >>> pairs, _ = flatten_with_path({"w": (1.0, 2.0)})
    >>> pairs[1]
    ((DictKey('w'), SequenceKey(1)), 2.0)
    """
    found, treedef = flatten(tree, is_leaf)
    return list(zip(_paths(treedef), found, strict=True)), treedef


def keystr(path):
    """Write a path as the Python expression that leads to its leaf.

    >>> keystr((DictKey("w"), GetAttrKey("b"), SequenceKey(0)))
    "['w'].b[0]"
    """
    return "".join([str(key) for key in path])


def leaf_paths(treedef):
    """List the path of each leaf of a structure, as text.

    >>> leaf_paths(structure({"w": (1.0, 2.0), "b": 3.0}))
    ["['b']", "['w'][0]", "['w'][1]"]
    """
    return [keystr(path) for path in _paths(treedef)]


def _paths(treedef, path=()):
    if treedef is LEAF:
        return [path]
    found = []
    for key, child in zip(treedef.keys(), treedef.children, strict=True):
        found += _paths(child, (*path, key))
    return found
