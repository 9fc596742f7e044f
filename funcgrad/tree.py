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

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from funcgrad._containers import (
    KINDS,
    LEAF,
    UNSET,
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    SequenceKey,
    TreeDef,
    add,
    dataclass_kind,
    fields,
    is_dataclass,
    registered_kind,
    same,
    split_fields,
)
from funcgrad.errors import FieldNamesError, LeafCountError, TreeStructureError

__all__ = [
    "register", "register_dataclass", "flatten", "unflatten", "leaves", "structure", "map", "map_with_path",
    "all", "reduce", "transpose", "flatten_up_to", "broadcast_prefix", "flatten_with_path", "keystr",
    "leaf_paths", "TreeDef", "LEAF", "DictKey", "SequenceKey", "GetAttrKey", "FlattenedIndexKey",
]  # fmt: skip

# ---- containers of one's own ---------------------------------------------------------------


def register(cls: type, flatten: Callable, unflatten: Callable, flatten_with_keys: Callable | None = None):
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
    add(registered_kind(cls, flatten, unflatten, flatten_with_keys))


def register_dataclass(
    cls: type, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None
) -> type:
    """Say which fields of a dataclass are data and which are static, and return it: a decorator.

    Args:
        cls: a dataclass.
        data_fields: names of the fields with leaves; default: all that are not static.
        meta_fields: names of the static fields; default: all that are not data. Where neither is
            given, `field(metadata={"static": True})` decides.

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
        data, static = split_fields(cls)
    else:
        data = [n for n in names if n not in meta_fields] if data_fields is None else data_fields
        static = [n for n in names if n not in data] if meta_fields is None else meta_fields
    given = [*data, *static]
    problems = {
        "no such field": [n for n in given if n not in names],
        "both data and static, or twice": sorted({n for n in given if given.count(n) > 1}),
        "neither data nor static": [n for n in names if n not in given],
    }
    found = [f"{problem}: {', '.join([repr(n) for n in ns])}" for problem, ns in problems.items() if ns]
    if found:
        raise FieldNamesError(cls, "; ".join(found))
    origin = ("dataclass", tuple(data), tuple(static))
    add(dataclass_kind(cls, tuple(data), tuple(static), origin))
    return cls


# ---- apart and together --------------------------------------------------------------------


def flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list[Any], TreeDef]:
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
    kind = KINDS[type(tree)]
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
        child_kind = KINDS[type(child)]
        if child_kind is None or is_leaf is not None and is_leaf(child):
            out.append(child)
            treedefs.append(LEAF)
        else:
            treedefs.append(_flatten(child_kind, child, out, is_leaf))
    return TreeDef(kind, aux, tuple(treedefs), len(out) - before)


def unflatten(treedef: TreeDef, leaves: Sequence[Any]) -> Any:
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


def leaves(tree: Any, is_leaf: Callable | None = None) -> list[Any]:
    """List the leaves of a tree, as `flatten` does.

    >>> leaves({"b": 2.0, "a": [1.0, None]})
    [1.0, 2.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Callable | None = None) -> TreeDef:
    """Return the structure of a tree, as `flatten` does.

    >>> structure({"b": 2.0, "a": [1.0, None]})
    TreeDef({'a': [*, None], 'b': *})
    """
    return flatten(tree, is_leaf)[1]


# ---- leaf by leaf --------------------------------------------------------------------------


def map(f: Callable, tree: Any, *rest: Any, is_leaf: Callable | None = None) -> Any:
    """Apply a function to each leaf, or to corresponding leaves of several trees, and keep the structure.

    Args:
        f: called with one value of each tree.
        tree: the tree whose structure counts.
        rest: trees of the same structure; deeper ones give `f` the subtree at each leaf.
        is_leaf: as for `flatten`, for `tree`.

    Raises:
        TreeStructureError: if a tree of `rest` differs in structure; it names the path.

    >>> map(lambda x, y: x + y, {"w": 1.0, "b": None}, {"w": 10.0, "b": None})
    {'b': None, 'w': 11.0}
    """
    columns, treedef = _side_by_side(tree, rest, is_leaf)
    return unflatten(treedef, [f(*values) for values in zip(*columns)])


def _side_by_side(tree, rest, is_leaf):
    first, treedef = flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other, f"rest[{i}]") for i, other in enumerate(rest)]
    return [first, *others], treedef


def map_with_path(f: Callable, tree: Any, *rest: Any, is_leaf: Callable | None = None) -> Any:
    """Apply a function to the path and value of each leaf; otherwise like `map`.

    >>> map_with_path(lambda path, x: keystr(path), {"w": (1.0, 2.0)})
    {'w': ("['w'][0]", "['w'][1]")}
    """
    columns, treedef = _side_by_side(tree, rest, is_leaf)
    return unflatten(treedef, [f(*values) for values in zip(treedef.paths(), *columns)])


def all(tree: Any, is_leaf: Callable | None = None) -> bool:
    """Tell whether every leaf is true.

    >>> all({"a": True, "b": (1, None)}), all([True, False])
    (True, False)
    """
    return False not in [bool(leaf) for leaf in leaves(tree, is_leaf)]


def reduce(f: Callable, tree: Any, initializer: Any = UNSET, is_leaf: Callable | None = None) -> Any:
    """Combine the leaves by `f(result so far, leaf)`, from the first to the last.

    It begins with the initializer, or else with the first leaf, which must then exist.

    >>> reduce(lambda total, x: total + x, {"a": 1.0, "b": (2.0, 3.0)}, 0.0)
    6.0
    """
    values = leaves(tree, is_leaf)
    if initializer is not UNSET:
        values.insert(0, initializer)
    return functools.reduce(f, values)


# ---- structure against structure -----------------------------------------------------------


def flatten_up_to(treedef: TreeDef, tree: Any, name: str = "tree") -> list[Any]:
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
    for i, (child_def, child) in enumerate(zip(treedef.children, children)):
        _flatten_up_to(child_def, child, out, (where, treedef, i))


def broadcast_prefix(prefix: Any, treedef: TreeDef, name: str = "prefix") -> list[Any]:
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
    if prefix is None or KINDS[type(prefix)] is None:
        out.extend([prefix] * treedef.num_leaves)
        return
    children = _children_like(treedef, prefix, where)
    for i, (child_def, child) in enumerate(zip(treedef.children, children)):
        _broadcast_prefix(child, child_def, out, (where, treedef, i))


def _children_like(treedef, tree, where):
    """Take the children of a container that must be like the root of a structure.

    `where` is a name or (where of the parent, its structure, child number): a path that costs next
    to nothing until an error has to spell it.
    """
    kind = KINDS[type(tree)]
    children, aux = ((), None) if kind is None else kind.flatten(tree)
    n = len(children)
    if kind is treedef.kind and n == len(treedef.children) and same(aux, treedef.aux):
        return children
    expected = _outline(treedef.kind, treedef.aux, len(treedef.children))
    found = _outline(kind, aux, n)
    if kind is None:
        shape = getattr(tree, "shape", None)
        found += f" of type {type(tree).__name__}" + (f" and shape {shape}" if shape else "")
    if kind is treedef.kind:
        has, wants = [[str(key) for key in keys] for keys in (kind.keys(aux, n), treedef.keys())]
        found += _listed("; it lacks", wants, has) + _listed("; it should not have", has, wants)
    path = []
    while not isinstance(where, str):
        where, parent, i = where
        path.append(parent.keys()[i])
    raise TreeStructureError(where, keystr(reversed(path)), expected, found)


def _outline(kind, aux, n):
    text = "a leaf" if kind is None else kind.show(aux, ["*"] * n)
    return text if len(text) <= 100 else text[:97] + "..."


def _listed(words, keys, others):
    keys = [key for key in keys if key not in others]
    return f"{words} {', '.join(keys[:5])}{' ...' if len(keys) > 5 else ''}" if keys else ""


def transpose(outer: TreeDef, inner: TreeDef, tree: Any) -> Any:
    """Turn a tree inside out: from `outer` with an `inner` at each leaf to the reverse.

    Raises:
        TreeStructureError: if `tree` is not so composed; it names the path.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1.0}, {"a": 2.0}])
    {'a': [1.0, 2.0]}
    """
    parts = zip(leaf_paths(outer), flatten_up_to(outer, tree))
    rows = [flatten_up_to(inner, part, f"tree{path}") for path, part in parts]
    columns = [[row[j] for row in rows] for j in range(inner.num_leaves)]
    return unflatten(inner, [unflatten(outer, column) for column in columns])


# ---- paths ---------------------------------------------------------------------------------


def flatten_with_path(tree: Any, is_leaf: Callable | None = None) -> tuple[list[tuple], TreeDef]:
    """Split a tree into (path, leaf) pairs and its structure; otherwise like `flatten`.

    >>> pairs, _ = flatten_with_path({"w": (1.0, 2.0)})
    >>> pairs[1]
    ((DictKey('w'), SequenceKey(1)), 2.0)
    """
    found, treedef = flatten(tree, is_leaf)
    return list(zip(treedef.paths(), found)), treedef


def keystr(path: Iterable[Any]) -> str:
    """Write a path as the Python expression that leads to its leaf.

    >>> keystr((DictKey("w"), GetAttrKey("b"), SequenceKey(0)))
    "['w'].b[0]"
    """
    return "".join([str(key) for key in path])


def leaf_paths(treedef: TreeDef) -> list[str]:
    """List the path of each leaf of a structure, as text.

    >>> leaf_paths(structure({"w": (1.0, 2.0), "b": 3.0}))
    ["['b']", "['w'][0]", "['w'][1]"]
    """
    return [keystr(path) for path in treedef.paths()]
