"""Errors about trees: containers whose structures differ or are unknown."""

from funcgrad.errors.base import FuncgradError


class TreeStructureError(FuncgradError, ValueError):
    """Two trees that must have the same structure differ.

    Trees are combined leaf by leaf, so each must have the containers, keys, lengths and static
    fields of the first; a later tree may only be deeper, where the first has a leaf. Types count:
    a list is not a tuple. The message walks to the first difference.

    >>> from funcgrad import tree
    >>> tree.map(lambda x, y: x + y, {"w": (1.0, 2.0)}, {"w": [1.0, 2.0]})
    Traceback (most recent call last):
        ...
    funcgrad.errors.TreeStructureError: rest[0]['w']: expected (*, *), found [*, *]
    ...

    Give the second tree the structure of the first:

    >>> tree.map(lambda x, y: x + y, {"w": (1.0, 2.0)}, {"w": (1.0, 2.0)})
    {'w': (2.0, 4.0)}

    Attributes: `name` and `path` say where, `expected` and `found` what, as text.
    """

    def __init__(self, name, path, expected, found):
        super().__init__(name, path, expected, found)
        self.name, self.path, self.expected, self.found = name, path, expected, found

    def __str__(self):
        return (
            f"{self.name}{self.path}: expected {self.expected}, found {self.found}\n"
            "Trees are combined leaf by leaf, so containers, keys, lengths and static fields must "
            f"agree.\nChange `{self.name}`, or compare the two with funcgrad.tree.structure(...)."
        )


class LeafCountError(FuncgradError, ValueError):
    """A structure was given more or fewer leaves than it has places.

    Typical causes are leaves that were filtered, or leaves of another tree.

    >>> from funcgrad import tree
    >>> values, structure = tree.flatten({"a": 1.0, "b": 2.0})
    >>> tree.unflatten(structure, [v for v in values if v > 1.0])
    Traceback (most recent call last):
        ...
    funcgrad.errors.LeafCountError: expected 2 leaves, found 1: nothing is left for ['b']
    ...

    Keep every place, and put the new value there:

    >>> tree.unflatten(structure, [v if v > 1.0 else 0.0 for v in values])
    {'a': 0.0, 'b': 2.0}
    """

    def __init__(self, structure, paths, found):
        super().__init__(structure, paths, found)
        self.structure, self.paths, self.found = structure, paths, found

    def __str__(self):
        expected = len(self.paths)
        if self.found < expected:
            detail = f"nothing is left for {self.paths[self.found] or 'the root'}"
        elif expected:
            detail = f"the last place is {self.paths[-1] or 'the root'}"
        else:
            detail = "the structure has no places"
        noun = "leaf" if expected == 1 else "leaves"
        return (
            f"expected {expected} {noun}, found {self.found}: {detail}\n"
            f"A structure takes one value per leaf, in the order of flatten: {self.structure}\n"
            "Keep a value in every place, a zero perhaps, rather than leave one out."
        )


class UnorderableKeysError(FuncgradError, ValueError):
    """The keys of a dict cannot be sorted.

    Leaves of a dict come in the order of its sorted keys, so that two equal dicts have the same
    structure whatever the order of insertion. Keys of mixed types have no such order.

    >>> from funcgrad import tree
    >>> tree.leaves({"a": 1.0, 0: 2.0})
    Traceback (most recent call last):
        ...
    funcgrad.errors.UnorderableKeysError: the keys of a dict cannot be sorted: 'a' (str), 0 (int)
    ...

    Use keys of one type, or an `OrderedDict`, whose own order counts:

    >>> from collections import OrderedDict
    >>> tree.leaves({"a": 1.0, "0": 2.0}), tree.leaves(OrderedDict([("a", 1.0), (0, 2.0)]))
    ([2.0, 1.0], [1.0, 2.0])
    """

    def __init__(self, keys):
        super().__init__(keys)
        self.keys = keys

    def __str__(self):
        one_of_each_type = {type(key): key for key in reversed(self.keys)}.values()
        shown = ", ".join(f"{key!r} ({type(key).__name__})" for key in reversed(one_of_each_type))
        return (
            f"the keys of a dict cannot be sorted: {shown}\n"
            "Leaves come in the order of the sorted keys, so equal dicts have equal structure.\n"
            "Use keys of one sortable type, such as str, or a collections.OrderedDict."
        )


class AlreadyRegisteredError(FuncgradError, ValueError):
    """A class was registered as a container a second time, in another way.

    Structures made before the second registration would not equal those made after it. (The same
    functions or fields again are fine: modules may be loaded twice.) Containers that funcgrad
    knows by itself, such as `dict`, cannot be redefined.

    >>> from funcgrad import tree
    >>> tree.register(list, lambda xs: (xs[::-1], None), lambda aux, xs: list(xs[::-1]))
    Traceback (most recent call last):
        ...
    funcgrad.errors.AlreadyRegisteredError: list is already a container of funcgrad.tree
    ...

    Register a subclass instead:

    >>> class Backwards(list): pass
    >>> tree.register(Backwards, lambda xs: (xs[::-1], None), lambda aux, xs: Backwards(xs[::-1]))
    >>> tree.leaves(Backwards([1.0, 2.0]))
    [2.0, 1.0]
    """

    def __init__(self, cls):
        super().__init__(cls)
        self.cls = cls

    def __str__(self):
        return (
            f"{self.cls.__qualname__} is already a container of funcgrad.tree\n"
            "Structures made before and after a second, different registration would not agree.\n"
            "Register a class once, with functions defined once, or register a subclass."
        )


class FieldNamesError(FuncgradError, ValueError):
    """The fields given to `register_dataclass` are not exactly those of a dataclass.

    Every field must be data (its leaves are differentiated) or static (part of the structure):
    a field forgotten would be lost whenever a tree is rebuilt.

    >>> from dataclasses import dataclass
    >>> from funcgrad import tree
    >>> @dataclass
    ... class Layer:
    ...     w: float
    ...     name: str
    >>> tree.register_dataclass(Layer, data_fields=["weight"], meta_fields=["name"])
    Traceback (most recent call last):
        ...
    funcgrad.errors.FieldNamesError: Layer: no such field: 'weight'; neither data nor static: 'w'
    ...

    Name one of the two lists; the other fields make up the other one:

    >>> tree.leaves(tree.register_dataclass(Layer, meta_fields=["name"])(2.0, "first"))
    [2.0]
    """

    def __init__(self, cls, problem):
        super().__init__(cls, problem)
        self.cls, self.problem = cls, problem

    def __str__(self):
        return (
            f"{self.cls.__qualname__}: {self.problem}\n"
            "Each field of a dataclass is either data or static, so that a tree can be rebuilt.\n"
            "Give data_fields or meta_fields alone, or mark fields with "
            'field(metadata={"static": True}); other classes need funcgrad.tree.register.'
        )


class NodeFunctionError(FuncgradError, TypeError):
    """A function given to `register` did not return what a container needs.

    `flatten` returns the pair (children, aux); `flatten_with_keys` returns (pairs, aux) with
    pairs (key, child). Children hold the leaves; aux is the rest, compared with `==`.

    >>> from funcgrad import tree
    >>> class Box:
    ...     def __init__(self, value): self.value = value
    >>> tree.register(Box, lambda box: [box.value], lambda aux, children: Box(*children))
    >>> tree.leaves(Box(1.0))
    Traceback (most recent call last):
        ...
    funcgrad.errors.NodeFunctionError: flatten of Box returned a list, not (children, aux)
    ...

    Return a pair; aux may be None:

    >>> class Crate(Box): pass
    >>> tree.register(Crate, lambda c: ([c.value], None), lambda aux, children: Crate(*children))
    >>> tree.leaves(Crate(1.0))
    [1.0]
    """

    def __init__(self, function, cls, found, wanted):
        super().__init__(function, cls, found, wanted)
        self.function, self.cls, self.found, self.wanted = function, cls, found, wanted

    def __str__(self):
        return (
            f"{self.function} of {self.cls.__qualname__} returned a {self.found}, not "
            f"{self.wanted}\nA container is its children, in order, and the rest of it (aux).\n"
            "Return both as a pair; aux may be None."
        )


class UnregisteredError(FuncgradError, TypeError):
    """A pickled structure was loaded where the class of one of its containers is a leaf.

    A pickle names classes, but holds no functions. The process that loads it must have registered
    the same classes before:

        # worker.py
        structure = pickle.load(file)           # UnregisteredError: Box is not registered ...

    Register a class in the module that defines it, so that whoever has one has the other:

        # box.py
        class Box: ...
        tree.register(Box, flatten_box, unflatten_box)
    """

    def __init__(self, cls):
        super().__init__(cls)
        self.cls = cls

    def __str__(self):
        return (
            f"{self.cls.__qualname__} is not registered with funcgrad.tree in this process\n"
            "A pickled structure names its classes, but does not hold how to rebuild them.\n"
            "Call funcgrad.tree.register in the module that defines the class."
        )
