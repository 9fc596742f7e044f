"""Trees: every kind of container, paths, the registry, and every error by its message."""

import copy
import dataclasses
import enum
import pickle
import re
import threading
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import errors, tree

# ---- containers used below -----------------------------------------------------------------


class Point(NamedTuple):
    x: Any
    y: Any


class LabelledPoint(Point):
    def total(self):
        return self.x + self.y


@dataclass
class Layer:
    w: Any
    b: Any = 0.0
    act: str = field(default="relu", metadata={"static": True})


@dataclass(frozen=True, slots=True)
class FrozenLayer:
    w: Any
    size: int = field(metadata={"static": True})


class Keyed:
    """A class registered with keys, one a `GetAttrKey` and one plain."""

    def __init__(self, a, b, tag):
        self.a, self.b, self.tag = a, b, tag

    def __eq__(self, other):
        return isinstance(other, Keyed) and vars(self) == vars(other)


tree.register(
    Keyed,
    None,
    lambda tag, children: Keyed(*children, tag),
    flatten_with_keys=lambda s: ([(tree.GetAttrKey("a"), s.a), ("b", s.b)], s.tag),
)


class Box:
    def __init__(self, *items):
        self.items = items

    def __eq__(self, other):
        return isinstance(other, Box) and self.items == other.items


def flatten_box(box):
    return box.items, None


def unflatten_box(aux, children):
    return Box(*children)


tree.register(Box, flatten_box, unflatten_box)


class Params(dict):
    """A subclass that adds behaviour, but no constructor."""


class Stack(list):
    pass


class Pair(tuple):
    pass


CONTAINERS = [
    # tree, its leaves, the repr of its structure, the paths of its leaves
    ((1, 2), [1, 2], "(*, *)", ["[0]", "[1]"]),
    ((1,), [1], "(*,)", ["[0]"]),
    ((), [], "()", []),
    ([1, [2]], [1, 2], "[*, [*]]", ["[0]", "[1][0]"]),
    ({"b": 1, "a": 2}, [2, 1], "{'a': *, 'b': *}", ["['a']", "['b']"]),
    ({3: 1, 1: 2}, [2, 1], "{1: *, 3: *}", ["[1]", "[3]"]),
    ({}, [], "{}", []),
    (
        OrderedDict([("b", 1), (0, 2)]),
        [1, 2],
        "OrderedDict({'b': *, 0: *})",
        ["['b']", "[0]"],
    ),
    (
        defaultdict(list, b=1, a=2),
        [2, 1],
        "defaultdict(<class 'list'>, {'a': *, 'b': *})",
        ["['a']", "['b']"],
    ),
    (Point(1, 2), [1, 2], "Point(x=*, y=*)", [".x", ".y"]),
    (LabelledPoint(1, 2), [1, 2], "LabelledPoint(x=*, y=*)", [".x", ".y"]),
    (None, [], "None", []),
    ((None, 1), [1], "(None, *)", ["[1]"]),
    (Layer(1, 2), [1, 2], "Layer(w=*, b=*, act='relu')", [".w", ".b"]),
    (FrozenLayer(1, 3), [1], "FrozenLayer(w=*, size=3)", [".w"]),
    (Keyed(1, 2, "t"), [1, 2], "Keyed['t'](*, *)", [".a", "['b']"]),
    (Box(1, 2), [1, 2], "Box(*, *)", ["[<flat index 0>]", "[<flat index 1>]"]),
    (Params(b=1, a=2), [2, 1], "Params({'a': *, 'b': *})", ["['a']", "['b']"]),
    (Stack([1, 2]), [1, 2], "Stack([*, *])", ["[0]", "[1]"]),
    (Pair((1,)), [1], "Pair((*,))", ["[0]"]),
    ({"w": Layer(1, [2])}, [1, 2], "{'w': Layer(w=*, b=[*], act='relu')}",
     ["['w'].w", "['w'].b[0]"]),
]  # fmt: skip


@pytest.mark.parametrize(("container", "leaves", "shown", "paths"), CONTAINERS, ids=lambda x: repr(x))
def test_container(container, leaves, shown, paths):
    found, treedef = tree.flatten(container)
    assert found == leaves
    assert repr(treedef) == f"TreeDef({shown})"
    assert tree.leaf_paths(treedef) == paths
    assert treedef.num_leaves == len(leaves)
    rebuilt = tree.unflatten(treedef, found)
    assert rebuilt == container
    assert type(rebuilt) is type(container)
    assert tree.structure(rebuilt) == treedef
    assert hash(tree.structure(rebuilt)) == hash(treedef)


class Colour(enum.Enum):
    RED = 1


@dataclass
class Mixin:
    size: int


class Planet(Mixin, enum.Enum):
    EARTH = 3


class LayerWithInit(Layer):  # no dataclass itself: it may keep anything besides its fields
    def __init__(self):
        super().__init__(1.0)
        self.extra = 2.0


@dataclass
class DictDataclass(dict):  # object.__new__ cannot rebuild it
    w: float = 1.0


@pytest.mark.parametrize(
    "leaf",
    [
        np.ones(2),
        np.float64(1),
        1.0,
        2j,
        True,
        "text",
        b"bytes",
        {1, 2},
        frozenset([1]),
        deque([1, 2]),
        range(3),
        object(),
        Layer,
        len,
        Counter("aab"),
        Colour.RED,
        Planet.EARTH,
        LayerWithInit(),
        DictDataclass(),
        tree.LEAF,
        tree.DictKey("a"),
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_leaf(leaf):
    found, treedef = tree.flatten(leaf)
    assert len(found) == 1 and found[0] is leaf
    assert treedef is tree.LEAF
    assert tree.unflatten(treedef, found) is leaf
    assert tree.leaf_paths(treedef) == [""]
    assert tree.structure([leaf]) == tree.structure([0])


def test_leaf_structure():
    assert repr(tree.LEAF) == "TreeDef(*)"
    assert tree.LEAF.num_leaves == 1


def test_rebuilt_mappings_keep_their_nature():
    rebuilt = tree.map(lambda x: x + 1, defaultdict(list, a=1))
    assert rebuilt["new"] == []
    ordered = tree.map(lambda x: x + 1, OrderedDict([("b", 1), ("a", 2)]))
    assert list(ordered) == ["b", "a"]
    assert list(tree.map(lambda x: x, {"b": 1, "a": 2})) == ["a", "b"]


def test_containers_are_new():
    original = [1, {"a": 2}]
    same = tree.map(lambda x: x, original)
    same[1]["a"] = 3
    same.append(4)
    assert original == [1, {"a": 2}]


# ---- dataclasses ---------------------------------------------------------------------------


def test_dataclass_is_rebuilt_without_its_constructor():
    calls = []

    @dataclass
    class Checked:
        w: float
        double: float = field(init=False)

        def __post_init__(self):
            calls.append(self.w)
            self.double = 2 * self.w

    rebuilt = tree.map(str, Checked(1.5))
    assert (rebuilt.w, rebuilt.double) == ("1.5", "3.0")
    assert calls == [1.5]


def test_frozen_dataclass_stays_frozen():
    rebuilt = tree.map(lambda x: x + 1, FrozenLayer(1, 3))
    assert rebuilt == FrozenLayer(2, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rebuilt.w = 0


def test_field_without_a_value_stays_without():
    @dataclass
    class Cached:
        w: float
        cache: Any = field(init=False)
        key: Any = field(init=False, metadata={"static": True})

    rebuilt = tree.map(lambda x: x + 1, Cached(1.0))
    assert rebuilt.w == 2.0
    assert not hasattr(rebuilt, "cache") and not hasattr(rebuilt, "key")
    assert repr(tree.structure(rebuilt)).endswith("Cached(w=*, cache=<unset>, key=<unset>))")
    rebuilt.cache = 5.0
    assert tree.leaves(rebuilt) == [2.0, 5.0]


def test_subclass_of_a_dataclass():
    class Method(Layer):
        def twice(self):
            return 2 * self.w

    @dataclass
    class More(Layer):
        c: float = 3.0

    assert tree.map(lambda x: x + 1, Method(1, 2)).twice() == 4
    assert tree.leaves(More(1, 2)) == [1, 2, 3.0]


def test_static_fields_belong_to_the_structure():
    assert tree.structure(Layer(1, 2)) == tree.structure(Layer(5, 6))
    assert tree.structure(Layer(1, 2)) != tree.structure(Layer(1, 2, "tanh"))


def test_static_arrays_compare_by_value():
    def layer(act):
        return tree.structure(Layer(1, 2, act))

    assert layer(np.arange(3)) == layer(np.arange(3))
    assert layer(np.arange(3)) != layer(np.arange(3) + 1)
    assert layer(np.arange(3)) != layer(np.arange(4))
    with pytest.raises(TypeError, match="unhashable"):
        hash(layer(np.arange(3)))


def test_register_dataclass_as_decorator():
    @tree.register_dataclass
    @dataclass
    class Plain:
        w: float
        n: int = field(metadata={"static": True})

    @partial(tree.register_dataclass, data_fields=["w"])
    @dataclass
    class Chosen:
        w: float
        n: int

    assert isinstance(Plain, type)
    assert tree.leaves(Plain(1.0, 2)) == tree.leaves(Chosen(1.0, 2)) == [1.0]
    assert tree.map(str, Chosen(1.0, 2)) == Chosen("1.0", 2)


def test_order_of_data_fields_is_the_order_of_leaves():
    @partial(tree.register_dataclass, data_fields=["b", "a"])
    @dataclass
    class Swapped:
        a: float
        b: float

    assert tree.leaf_paths(tree.structure(Swapped(1.0, 2.0))) == [".b", ".a"]
    assert tree.map(str, Swapped(1.0, 2.0)) == Swapped("1.0", "2.0")


# ---- the registry --------------------------------------------------------------------------


def test_registering_again_in_the_same_way_does_nothing():
    tree.register(Box, flatten_box, unflatten_box)

    @dataclass
    class Twice:
        a: float

    before = tree.structure(tree.register_dataclass(Twice)(1.0))
    tree.register_dataclass(Twice, data_fields=["a"], meta_fields=[])
    assert tree.structure(Twice(2.0)) == before


def test_registering_replaces_what_was_only_found_out():
    class Late(dict):
        pass

    @dataclass
    class LateLayer:
        w: float
        n: int

    old = tree.structure(LateLayer(1.0, 2))
    assert len(tree.leaves(Late(a=1, b=2))) == 2
    tree.register(Late, lambda d: ((d["a"],), d["b"]), lambda b, xs: Late(a=xs[0], b=b))
    tree.register_dataclass(LateLayer, meta_fields=["n"])
    assert tree.leaves(Late(a=1, b=2)) == [1]
    assert tree.leaves(LateLayer(1.0, 2)) == [1.0]
    assert tree.unflatten(old, [3.0, 4]) == LateLayer(3.0, 4)


def test_a_subclass_is_not_registered_with_its_base():
    class SubBox(Box):
        pass

    assert tree.structure(SubBox(1)) is tree.LEAF


def test_children_may_come_from_a_generator():
    class Lazy(Box):
        pass

    tree.register(Lazy, lambda z: ((x for x in z.items), None), lambda aux, xs: Lazy(*xs))
    assert tree.map(lambda x, y: x + y, Lazy(1, 2), Lazy(3, 4)) == Lazy(4, 6)


def test_unflatten_gets_a_tuple_of_children():
    class Whole(Box):
        pass

    tree.register(Whole, lambda w: (w.items[0], "aux"), lambda aux, children: (aux, children))
    assert tree.map(lambda x: x + 1, Whole([1, 2])) == ("aux", (2, 3))


def test_threads_agree_on_a_new_class():
    for _ in range(20):
        fresh = namedtuple("fresh", "a b")
        barrier = threading.Barrier(8)
        found = []

        def look(fresh=fresh, barrier=barrier, found=found):
            barrier.wait()
            found.append(tree.structure(fresh(1, 2)))

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8 and len(set(found)) == 1
        # And so when a thread has looked at a class that another entered in the meantime:
        assert tree._KINDS.__missing__(fresh) is found[0].kind


# ---- structures ----------------------------------------------------------------------------


def test_structures_differ_by_type_and_keys():
    trees = [1, (1,), [1], {"a": 1}, {"b": 1}, Params(a=1), OrderedDict(a=1), defaultdict(int, a=1),
             defaultdict(list, a=1), Box(1), Point(1, None), None, (), (1, 1)]  # fmt: skip
    assert len({tree.structure(t) for t in trees}) == len(trees)
    for i, a in enumerate(trees):
        for j, b in enumerate(trees):
            assert (tree.structure(a) == tree.structure(b)) == (i == j)
    assert tree.structure(1) != "*"


def test_order_of_keys():
    ab, ba = [("a", 1), ("b", 2)], [("b", 2), ("a", 1)]
    assert tree.structure(dict(ab)) == tree.structure(dict(ba))
    assert tree.structure(OrderedDict(ab)) != tree.structure(OrderedDict(ba))


def test_structure_holds_no_leaves():
    array = np.ones(3)
    gone = weakref.ref(array)
    treedef = tree.structure({"a": (array, Layer(array))})
    del array
    assert gone() is None
    assert treedef.num_leaves == 3


@pytest.mark.parametrize("container", [c[0] for c in CONTAINERS], ids=repr)
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_structures_can_be_copied_and_pickled(container, clone):
    leaves, treedef = tree.flatten(container)
    again = clone(treedef)
    assert again == treedef and again.num_leaves == treedef.num_leaves
    assert tree.unflatten(again, leaves) == container
    assert clone(tree.LEAF) is tree.LEAF


def test_unset_survives_pickling():
    layer = object.__new__(FrozenLayer)
    object.__setattr__(layer, "w", 1.0)
    treedef = pickle.loads(pickle.dumps(tree.structure(layer)))
    assert treedef == tree.structure(layer)
    assert not hasattr(tree.unflatten(treedef, [2.0]), "size")


def test_unpickling_needs_the_registration():
    class Known(Box):
        pass

    tree.register(Known, flatten_box, unflatten_box)
    restore, args = tree.structure(Known(1)).__reduce__()
    assert restore(*args) == tree.structure(Known(1))
    del tree._KINDS[Known]  # as in another process
    with pytest.raises(errors.UnregisteredError, match="Known is not registered with") as caught:
        restore(*args)
    assert isinstance(caught.value, TypeError)


def test_deep_nesting():
    deep = 1.0
    for _ in range(250):
        deep = [{"a": deep}]  # 500 levels
    leaves, treedef = tree.flatten(deep)
    assert leaves == [1.0]
    assert tree.leaves(tree.map(lambda x, y: x + y, deep, deep)) == [2.0]
    assert treedef == tree.structure(deep) and hash(treedef) == hash(tree.structure(deep))
    assert tree.leaves(tree.unflatten(treedef, [2.0])) == [2.0]
    assert tree.leaf_paths(treedef) == ["[0]['a']" * 250]
    assert tree.broadcast_prefix(deep, treedef) == [1.0]
    assert repr(treedef).count("[") == 250


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

NAMES = st.text("abc", min_size=1, max_size=3)
NUMBERS = st.integers(-5, 5)


def containers_of(kids):
    mappings = st.dictionaries(NAMES, kids, max_size=3)
    return st.one_of(
        st.lists(kids, max_size=3),
        st.lists(kids, max_size=3).map(tuple),
        mappings,
        mappings.map(Params),
        st.lists(st.tuples(st.one_of(NAMES, NUMBERS), kids), max_size=3).map(OrderedDict),
        mappings.map(lambda d: defaultdict(int, d)),
        st.builds(Point, kids, kids),
        st.builds(Layer, kids, kids, NAMES),
        st.builds(FrozenLayer, kids, NUMBERS),
        st.builds(Keyed, kids, kids, NAMES),
        st.lists(kids, max_size=2).map(lambda xs: Box(*xs)),
    )


TREES = st.recursive(st.one_of(NUMBERS, st.none()), containers_of, max_leaves=12)


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
    with pytest.raises(errors.FieldNamesError, match="Colour: not a dataclass"):
        tree.register_dataclass(Colour)


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
