"""Containers of every kind, and random trees of them, for the tests of trees."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import strategies as st

from funcgrad import tree


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

    def __repr__(self):  # names of tests must be the same in every process
        return f"Keyed({self.a!r}, {self.b!r}, {self.tag!r})"


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

    def __repr__(self):
        return f"Box{self.items!r}"


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
