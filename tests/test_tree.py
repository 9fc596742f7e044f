"""Trees: functions over them, paths, and every error by its message."""

import pickle
import re
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from trees import TREES, Box, FrozenLayer, Keyed, Layer, Params, Point

from funcgrad import errors, tree

# ---- functions over trees ------------------------------------------------------------------


def test_is_leaf():
    def is_none(x):
        return x is None

    assert tree.leaves((None, 1), is_leaf=is_none) == [None, 1]
    assert tree.leaves(None, is_leaf=is_none) == [None]
    assert tree.flatten([1], is_leaf=lambda x: isinstance(x, list)) == ([[1]], tree.LEAF)
    assert tree.map(len, {"a": (1, 2)}, is_leaf=lambda x: isinstance(x, tuple)) == {"a": 2}
    assert tree.structure((None,), is_leaf=is_none) == tree.structure((0,))
    pairs, _ = tree.flatten_with_path([(1, 2)], is_leaf=lambda x: isinstance(x, tuple))
    assert [leaf for _, leaf in pairs] == [(1, 2)]
    paths = tree.map_with_path(lambda p, x: tree.keystr(p), (None, 1), is_leaf=is_none)
    assert paths == ("[0]", "[1]")


def test_map_over_several_trees():
    assert tree.map(lambda *xs: xs, (1, None), (2, None), (3, None)) == ((1, 2, 3), None)
    assert tree.map(lambda x, y: (x, y), [1, 2], [{"deeper": 3}, None]) == [
        (1, {"deeper": 3}),
        (2, None),
    ]


def test_map_with_path():
    def show(path, x, y):
        return f"{tree.keystr(path)} {x} {y}"

    found = tree.map_with_path(show, {"w": Layer(1, [2])}, {"w": Layer(3, [4])})
    assert found == {"w": Layer("['w'].w 1 3", ["['w'].b[0] 2 4"])}


def test_all():
    assert tree.all({"a": True, "b": [1, None]})
    assert not tree.all({"a": True, "b": [0]})
    assert tree.all(())
    assert tree.all((None,), is_leaf=lambda x: False)
    assert not tree.all((None,), is_leaf=lambda x: x is None)


def test_reduce():
    assert tree.reduce(lambda s, x: s + x, {"b": "b", "a": ["a", None]}) == "ab"
    assert tree.reduce(lambda s, x: s + x, {"b": "b"}, "start ") == "start b"
    assert tree.reduce(max, (), initializer=0) == 0
    assert tree.reduce(lambda s, x: (s, x), 1, None) == (None, 1)
    with pytest.raises(TypeError, match="empty"):
        tree.reduce(max, ())


def test_transpose():
    outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": (0,)})
    trees = [{"a": 1, "b": (2,)}, {"a": 3, "b": (4,)}]
    turned = tree.transpose(outer, inner, trees)
    assert turned == {"a": [1, 3], "b": ([2, 4],)}
    assert tree.transpose(inner, outer, turned) == trees


def test_transpose_without_leaves():
    assert tree.transpose(tree.structure(()), tree.structure([0, 0]), ()) == [(), ()]
    assert tree.transpose(tree.structure([0, 0]), tree.structure(None), [None, None]) is None


def test_flatten_up_to():
    treedef = tree.structure({"a": 0, "b": (0, None)})
    assert tree.flatten_up_to(treedef, {"a": [1], "b": (None, None)}) == [[1], None]
    assert tree.flatten_up_to(tree.LEAF, {"a": 1}) == [{"a": 1}]


def test_broadcast_prefix():
    treedef = tree.structure(({"w": 0, "b": 0}, [0, 0], None))
    assert tree.broadcast_prefix(7, treedef) == [7, 7, 7, 7]
    assert tree.broadcast_prefix(None, treedef) == [None] * 4
    assert tree.broadcast_prefix((1, None, 5), treedef) == [1, 1, None, None]
    assert tree.broadcast_prefix(({"w": 1, "b": 2}, [3, None], None), treedef) == [2, 1, 3, None]
    assert tree.broadcast_prefix(0, tree.structure(())) == []


def test_keys():
    first, second = tree.DictKey("a"), tree.DictKey("a")
    assert first == second and hash(first) == hash(second)
    assert tree.DictKey("a") != tree.GetAttrKey("a")
    assert tree.DictKey(0) != tree.SequenceKey(0)
    assert [str(tree.DictKey("a")), str(tree.DictKey((1, 2)))] == ["['a']", "[(1, 2)]"]
    assert repr(tree.GetAttrKey("b")) == "GetAttrKey('b')"
    assert tree.keystr(()) == ""


# ---- random trees --------------------------------------------------------------------------


@settings(deadline=None)
@given(TREES)
def test_round_trip(t):
    leaves, treedef = tree.flatten(t)
    assert tree.unflatten(treedef, leaves) == t
    assert treedef.num_leaves == len(leaves) == repr(treedef).count("*")
    numbered = tree.unflatten(treedef, range(len(leaves)))
    assert tree.leaves(numbered) == list(range(len(leaves)))
    assert tree.structure(numbered) == treedef


@settings(deadline=None)
@given(TREES)
def test_map_is_a_functor(t):
    assert tree.map(lambda x: x, t) == t
    composed = tree.map(lambda x: 3 * (x + 1), t)
    assert composed == tree.map(lambda x: 3 * x, tree.map(lambda x: x + 1, t))
    assert tree.map(lambda x, y: x - y, t, t) == tree.map(lambda x: 0, t)


def step(container, key):
    """Follow one key of a path, by what it prints."""
    if isinstance(container, Box):
        return container.items[key.key]
    if str(key).startswith("."):
        return getattr(container, key.key)
    return container.b if isinstance(container, Keyed) else container[key.key]


@settings(deadline=None)
@given(TREES)
def test_paths_lead_to_their_leaves(t):
    pairs, treedef = tree.flatten_with_path(t)
    for path, leaf in pairs:
        reached = t
        for key in path:
            reached = step(reached, key)
        assert reached is leaf
    assert tree.leaf_paths(treedef) == [tree.keystr(path) for path, _ in pairs]
    assert len({path for path, _ in pairs}) == len(pairs)


@settings(deadline=None)
@given(TREES, TREES)
def test_transpose_is_its_own_inverse(a, b):
    outer, inner = tree.structure(a), tree.structure(b)
    n = inner.num_leaves
    rows = [tree.unflatten(inner, range(i * n, i * n + n)) for i in range(outer.num_leaves)]
    turned = tree.transpose(outer, inner, tree.unflatten(outer, rows))
    assert tree.transpose(inner, outer, turned) == tree.unflatten(outer, rows)
    assert tree.leaves(turned) == [i * n + j for j in range(n) for i in range(outer.num_leaves)]


@settings(deadline=None)
@given(TREES, TREES)
def test_only_equal_structures_combine(a, b):
    a, b = [tree.map(lambda x: 0, t) for t in (a, b)]
    same = tree.structure(a) == tree.structure(b)
    assert same == (repr(tree.structure(a)) == repr(tree.structure(b)))
    try:
        subtrees = tree.flatten_up_to(tree.structure(a), b)
    except errors.TreeStructureError:
        assert not same
    else:
        assert same == (subtrees == [0] * len(subtrees))


@pytest.fixture(scope="module")
def jax_tree():
    return pytest.importorskip("jax").tree_util


@settings(deadline=None)
@given(t=TREES)
def test_agrees_with_jax(jax_tree, t):
    def opaque(x):  # containers that jax does not know
        return isinstance(x, (Box, Keyed, Layer, FrozenLayer, Params))

    ours, treedef = tree.flatten_with_path(t, is_leaf=opaque)
    theirs, their_treedef = jax_tree.tree_flatten_with_path(t, is_leaf=opaque)
    assert [(tree.keystr(p), x) for p, x in ours] == [(jax_tree.keystr(p), x) for p, x in theirs]
    numbers = range(len(ours))
    assert tree.unflatten(treedef, numbers) == jax_tree.tree_unflatten(their_treedef, numbers)


# ---- errors --------------------------------------------------------------------------------

STRUCTURE_ERRORS = [
    # first tree, second tree, where, and what the message says
    ((1, 2), [1, 2], "", "expected (*, *), found [*, *]"),
    ({"w": Layer(1, [2])}, {"w": Layer(1, (2,))}, "['w'].b", "expected [*], found (*,)"),
    ({"w": Layer(1, [(2,)])}, {"w": Layer(1, [3])}, "['w'].b[0]", "found a leaf of type int"),
    ([(1, 2)], [np.ones((2, 3))], "[0]", "found a leaf of type ndarray and shape (2, 3)"),
    ((1, (2, 3)), (1, (2,)), "[1]", "expected (*, *), found (*,); it lacks [1]"),
    ([1], [1, 2, 3], "", "expected [*], found [*, *, *]; it should not have [1], [2]"),
    ({"a": 1}, {"b": 1}, "", "found {'b': *}; it lacks ['a']; it should not have ['b']"),
    (None, 1.0, "", "expected None, found a leaf of type float"),
    ((1, None), (1, (2,)), "[1]", "expected None, found (*,)"),
    (Layer(1, 2), Layer(1, 2, "tanh"), "", "act='relu'), found Layer(w=*, b=*, act='tanh')"),
    (Point((1,), 2), Point([1], 2), ".x", "expected (*,), found [*]"),
    (Keyed(1, (2,), "t"), Keyed(1, [2], "t"), "['b']", "expected (*,), found [*]"),
    (Box(1), Box(1, 2), "", "found Box(*, *); it should not have [<flat index 1>]"),
    (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), "", "found OrderedDict({'b': *, 'a': *})"),
    ({"a": 1}, {}, "", "expected {'a': *}, found {}; it lacks ['a']"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "path", "message"), STRUCTURE_ERRORS)
def test_structure_error(first, second, path, message):
    with pytest.raises(errors.TreeStructureError, match=re.escape(message)) as caught:
        tree.map(lambda *xs: xs, first, first, second)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"rest[1]{path}: expected ")
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, errors.FuncgradError)
    with pytest.raises(errors.TreeStructureError, match=re.escape(f"cotangent{path}: ")):
        tree.flatten_up_to(tree.structure(first), second, "cotangent")
    with pytest.raises(errors.TreeStructureError, match=re.escape(f"rest[0]{path}: ")):
        tree.map_with_path(lambda *xs: xs, first, second)


def test_structure_error_is_short_for_large_trees():
    large = {f"key{i}": i for i in range(1000)}
    with pytest.raises(
        errors.TreeStructureError, match=r"it lacks .*\['key100'\], \['key101'\] \.\.\."
    ) as caught:
        tree.map(lambda x, y: x, large, {})
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("prefix", "full", "path", "message"),
    [
        ((0, 1), (0, 0, 0), "", "expected (*, *, *), found (*, *); it lacks [2]"),
        ([0, 0], (0, 0), "", "expected (*, *), found [*, *]"),
        (({"w": 0},), ({"w": 0, "b": 0},), "[0]", "it lacks ['b']"),
        (({"w": (0, 1)},), ({"w": 0},), "[0]['w']", "expected a leaf, found (*, *)"),
        ((Layer(0, [1]),), (Layer(0, (1,)),), "[0].b", "expected (*,), found [*]"),
    ],
)
def test_prefix_error(prefix, full, path, message):
    with pytest.raises(errors.TreeStructureError, match=re.escape(message)) as caught:
        tree.broadcast_prefix(prefix, tree.structure(full), "in_axes")
    assert str(caught.value).startswith(f"in_axes{path}: expected ")


def test_transpose_error_names_the_whole_path():
    outer, inner = tree.structure({"a": 0}), tree.structure([(0, 0)])
    with pytest.raises(errors.TreeStructureError, match=re.escape("tree['a'][0]: expected (*, *)")):
        tree.transpose(outer, inner, {"a": [1]})
    with pytest.raises(errors.TreeStructureError, match=re.escape("tree: expected {'a': *}")):
        tree.transpose(outer, inner, [1])


@pytest.mark.parametrize(
    ("container", "values", "message"),
    [
        ({"a": 0, "b": [0]}, [1], "expected 2 leaves, found 1: nothing is left for ['b'][0]"),
        ({"a": 0, "b": [0]}, [1, 2, 3], "expected 2 leaves, found 3: the last place is ['b'][0]"),
        (0, [], "expected 1 leaf, found 0: nothing is left for the root"),
        (0, [1, 2], "expected 1 leaf, found 2: the last place is the root"),
        (None, [1], "expected 0 leaves, found 1: the structure has no places"),
    ],
)
def test_leaf_count_error(container, values, message):
    treedef = tree.structure(container)
    with pytest.raises(errors.LeafCountError, match=re.escape(message)) as caught:
        tree.unflatten(treedef, iter(values))
    assert repr(treedef) in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("cls", [dict, Params, partial(defaultdict, int)])
def test_unorderable_keys_error(cls):
    message = "the keys of a dict cannot be sorted: 'a' (str), 1 (int)"
    with pytest.raises(errors.UnorderableKeysError, match=re.escape(message)) as caught:
        tree.flatten([cls({"a": 1, "b": 2, 1: 3})])
    assert "OrderedDict" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_keys_of_one_type_without_an_order():
    with pytest.raises(errors.UnorderableKeysError, match=r"cannot be sorted: 1j \(complex\)"):
        tree.flatten({1j: 0, 2j: 0})


def test_already_registered_error():
    @partial(tree.register_dataclass, data_fields=["a"])
    @dataclass
    class Fixed:
        a: float
        b: float

    for cls in (Box, list, type(None), Fixed):
        with pytest.raises(errors.AlreadyRegisteredError, match="is already a container") as caught:
            tree.register(cls, lambda x: ((), None), lambda aux, xs: None)
        assert str(caught.value).startswith(cls.__qualname__)
    with pytest.raises(ValueError, match="Fixed is already a container"):
        tree.register_dataclass(Fixed, data_fields=["b"])
    assert tree.leaves(Fixed(1.0, 2.0)) == [1.0]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"data_fields": ["c"]}, "no such field: 'c'"),
        ({"data_fields": ["a", "b"], "meta_fields": ["b"]}, "both data and static, or twice: 'b'"),
        ({"data_fields": ["a"], "meta_fields": []}, "neither data nor static: 'b'"),
        ({"meta_fields": ["a", "a"]}, "both data and static, or twice: 'a'"),
    ],
)
def test_field_names_error(kwargs, message):
    @dataclass
    class Named:
        a: float
        b: float

    with pytest.raises(errors.FieldNamesError, match=message) as caught:
        tree.register_dataclass(Named, **kwargs)
    assert "Named: " in str(caught.value)
    assert tree.leaves(Named(1.0, 2.0)) == [1.0, 2.0]  # nothing was registered


def test_register_dataclass_needs_a_dataclass():
    with pytest.raises(errors.FieldNamesError, match="int: not a dataclass"):
        tree.register_dataclass(int)


@pytest.mark.parametrize("result", [[1], (1,), (1, 2, 3), None])
def test_flatten_function_error(result):
    class Bad:
        pass

    tree.register(Bad, lambda bad: result, lambda aux, xs: Bad())
    message = rf"flatten of .*Bad returned a {type(result).__name__}, not \(children, aux\)"
    with pytest.raises(errors.NodeFunctionError, match=message):
        tree.flatten(Bad())


@pytest.mark.parametrize("result", [None, ([1], None), ([("k", 1, 2)], None), [("k", 1)]])
def test_flatten_with_keys_function_error(result):
    class Bad:
        pass

    tree.register(Bad, None, lambda aux, xs: Bad(), lambda bad: result)
    with pytest.raises(errors.NodeFunctionError, match=r"flatten_with_keys of .*Bad") as caught:
        tree.flatten(Bad())
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "error",
    [
        errors.TreeStructureError("rest[0]", "['a']", "*", "None"),
        errors.LeafCountError("TreeDef(*)", [""], 2),
        errors.UnorderableKeysError(["a", 1]),
        errors.AlreadyRegisteredError(dict),
        errors.FieldNamesError(Layer, "no such field: 'c'"),
        errors.NodeFunctionError("flatten", Layer, "list", "(children, aux)"),
        errors.UnregisteredError(Box),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
