"""Trees: every kind of container, dataclasses, the registry, and structures by themselves."""

import copy
import dataclasses
import enum
import pickle
import threading
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
from trees import (
    CONTAINERS,
    Box,
    FrozenLayer,
    Layer,
    Params,
    Point,
    flatten_box,
    unflatten_box,
)

from funcgrad import _containers, errors, tree

# ---- kinds of containers -------------------------------------------------------------------


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
        assert _containers.KINDS.__missing__(fresh) is found[0].kind


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
    del _containers.KINDS[Known]  # as in another process
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
