"""Every error that funcgrad raises on purpose: one class, one failure.

Each class derives from `FuncgradError` and from the builtin exception a NumPy or JAX user would
catch. It is built from facts, kept in `args` (so it pickles), and words them in `__str__`: what
happened, why, what to write instead. The docstrings are short articles on the same three points.
"""


class FuncgradError(Exception):
    """The base of all errors of this library: `except FuncgradError` catches them together."""


# ---- trees ---------------------------------------------------------------------------------


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


# ---- differentiating -----------------------------------------------------------------------


class ArgnumsError(FuncgradError, TypeError):
    """`argnums` names an argument that the call did not give.

    Positions count the positional arguments of the call, negative ones from the end; names are those
    of the function's parameters.
    """

    def __init__(self, argnums, function, given, names=(), what="argnums"):
        super().__init__(argnums, function, given, names, what)
        self.argnums, self.function, self.given, self.names = argnums, function, given, names
        self.what = what

    def __str__(self):
        named = f" and the parameters {', '.join(self.names)}" if self.names else ""
        return (
            f"{self.what}={self.argnums!r}, but {self.function} was called with {self.given} positional "
            f"argument(s){named}\nPositions run from 0 and must be among the arguments of the call; "
            "name one that is passed, or pass it."
        )


class RepeatedArgumentError(FuncgradError, ValueError):
    """`argnums` names an argument twice, so its derivative would have two places in the result.

    A negative position and a name count too: of ``f(x, y)`` the positions 1 and -1 and the name ``"y"`` are
    the same argument. Name each once.
    """

    def __init__(self, argnums, function):
        super().__init__(argnums, function)
        self.argnums, self.function = argnums, function

    def __str__(self):
        return (
            f"argnums={self.argnums!r} names an argument of {self.function} twice\n"
            "Each has one place in the result. Name it once (-1 is the last positional argument)."
        )


class InputTypeError(FuncgradError, TypeError):
    """An argument to be differentiated holds something that carries no derivative.

    Integers and booleans have none, strings, objects, masked arrays and matrices are not numbers to
    NumPy's floating-point functions, and lists of numbers are containers of leaves, not arrays.

    >>> from funcgrad import grad
    >>> grad(lambda x: x * 2.0)(3)
    Traceback (most recent call last):
        ...
    funcgrad.errors.InputTypeError: arg[0] is of type int, which has no derivative
    Write 3.0, or allow_int=True for a float0 result.
    """

    def __init__(self, path, found, why, cure):
        super().__init__(path, found, why, cure)
        self.path, self.found, self.why, self.cure = path, found, why, cure

    def __str__(self):
        return f"{self.path} is {self.found}, {self.why}\n{self.cure}"


class NonScalarOutputError(FuncgradError, TypeError):
    """The function given to `grad` does not return a scalar.

    A gradient is the derivative of one number. For an array-valued function take the Jacobian, or make
    one number of it.
    """

    def __init__(self, function, found):
        super().__init__(function, found)
        self.function, self.found = function, found

    def __str__(self):
        return (
            f"grad needs a function with a scalar output, but {self.function} returned {self.found}\n"
            "A gradient is the derivative of one number. Use jacrev or jacfwd for all derivatives of "
            "an array, or reduce it first, for instance with np.sum(...)."
        )


class OutputTypeError(FuncgradError, TypeError):
    """The function returned something that cannot be differentiated."""

    def __init__(self, function, found, cure):
        super().__init__(function, found, cure)
        self.function, self.found, self.cure = function, found, cure

    def __str__(self):
        return f"{self.function} returned {self.found}\n{self.cure}"


class AuxError(FuncgradError, TypeError):
    """With ``has_aux=True`` a function must return a pair: what is differentiated, and the rest."""

    def __init__(self, function, found):
        super().__init__(function, found)
        self.function, self.found = function, found

    def __str__(self):
        return (
            f"has_aux=True, but {self.function} returned {self.found} in place of a pair\n"
            "Return (output, aux), or leave has_aux out."
        )


class TangentError(FuncgradError, TypeError, ValueError):
    """Tangents do not match the primals: another structure, shape or dtype."""

    def __init__(self, path, expected, found):
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self):
        return (
            f"tangent{self.path}: expected {self.expected}, found {self.found}\n"
            "A tangent has the structure, shape and dtype of its primal (float0 for integers and "
            "booleans): np.zeros_like(x), x.astype(...), or np.ones_like(x) make one."
        )


class CotangentError(FuncgradError, ValueError, TypeError):
    """A cotangent does not match the function's output: another structure, shape or dtype."""

    def __init__(self, path, expected, found):
        super().__init__(path, expected, found)
        self.path, self.expected, self.found = path, expected, found

    def __str__(self):
        return (
            f"cotangent{self.path}: expected {self.expected}, found {self.found}\n"
            "A cotangent has the structure, shape and dtype of the function's output; "
            "np.ones_like(out) makes one."
        )


class UnusedInputError(FuncgradError, ValueError):
    """With ``unused="error"``: the output does not depend on an argument."""

    def __init__(self, function, path, cut):
        super().__init__(function, path, cut)
        self.function, self.path, self.cut = function, path, cut

    def __str__(self):
        cut = f"; its dependence was last cut at {self.cut}" if self.cut else ""
        return (
            f"the output of {self.function} does not depend on {self.path}{cut}\n"
            "Use the argument, leave it out of argnums, or pass unused='zero'."
        )


class NotLinearError(FuncgradError, ValueError):
    """`linear_transpose` was given a function that is not linear."""

    def __init__(self, function, why):
        super().__init__(function, why)
        self.function, self.why = function, why

    def __str__(self):
        return (
            f"{self.function} is not linear: {self.why}\nlinear_transpose needs f(a x + b y) = a f(x) "
            "+ b f(y); for the transposed derivative of any function take vjp."
        )


class RuleError(FuncgradError, TypeError):
    """A primitive, or a rule of one, was declared wrongly."""

    def __init__(self, primitive, why):
        super().__init__(primitive, why)
        self.primitive, self.why = primitive, why

    def __str__(self):
        return f"primitive {self.primitive}: {self.why}\nSee docs/adding_a_primitive.md."


# ---- linear algebra ------------------------------------------------------------------------


class RepeatedEigenvalueError(FuncgradError, ValueError):
    """The derivative does not exist, since equal eigenvalues (or singular values) are told apart.

    The eigenvectors of a repeated eigenvalue are any basis of a space, and equal eigenvalues have no order.
    A function that depends on neither (a matrix function ``U f(w) U'``, a projector onto the whole space, the
    sum of some function of all eigenvalues) has a derivative there, and gets it. One that picks a vector or
    one of the equal values has none.

    >>> import numpy as np
    >>> from funcgrad import grad
    >>> grad(lambda a: np.linalg.eigvalsh(a)[0])(np.eye(2))
    Traceback (most recent call last):
        ...
    funcgrad.errors.RepeatedEigenvalueError: eigh: the values 0, 1 are equal (1.0), but the function ...
    ...

    Attributes: `function`; `group`, the places of the equal values; `value`; `unknown`, whether the function
    may have this derivative, but it is a second one, for which there is no rule at equal values.
    """

    def __init__(self, function, group, value, unknown, where):
        super().__init__(function, group, value, unknown, where)
        self.function, self.group, self.value = function, group, value
        self.unknown, self.where = unknown, where

    def __str__(self):
        found = f"the values {', '.join(map(str, self.group))} are equal ({self.value})"
        if self.unknown:
            return (
                f"{self.function}: {found}, at {self.where}\nThere only first derivatives through "
                "eigenvectors are known (and second ones through eigenvalues alone). Take the derivative at "
                "distinct values, or write the function without the vectors."
            )
        return (
            f"{self.function}: {found}, but the function depends on which of their vectors or which of "
            f"them is meant, at {self.where}\nThat is arbitrary, so there is no derivative. Use functions "
            "of the whole group (its sum, its projector U @ U.T), or a matrix with distinct values."
        )


class ArbitraryBasisError(FuncgradError, ValueError):
    """The function depends on the further columns of ``svd(a, full_matrices=True)``.

    They are any orthonormal basis of what the singular vectors leave out. Only what they span has a
    derivative: with these columns N, the projector ``N @ N.T``.
    """

    def __init__(self, function, where):
        super().__init__(function, where)
        self.function, self.where = function, where

    def __str__(self):
        return (
            f"{self.function}: the function depends on which basis completes the vectors, at {self.where}\n"
            "Any orthonormal one does. Use the projector N @ N.T of these columns N, or full_matrices=False."
        )


class EigenvectorPhaseError(FuncgradError, ValueError):
    """The function depends on the phase of complex eigenvectors, which is arbitrary.

    With u also ``exp(1j * t) * u`` is an eigenvector. Only what does not change with t has a derivative:
    ``abs(u)``, products ``u[i] * conj(u[j])`` of a vector's entries, projectors.
    """

    def __init__(self, function, where):
        super().__init__(function, where)
        self.function, self.where = function, where

    def __str__(self):
        return (
            f"{self.function}: the function depends on the phase of the complex vectors, at {self.where}\n"
            "A vector times exp(1j * t) is as good. Use what does not depend on t, such as abs(u) or the "
            "projector u[:, None] * conj(u), or fix the phase: u * conj(u[k]) / abs(u[k])."
        )


# ---- tracing -------------------------------------------------------------------------------


class EscapedTracerError(FuncgradError, RuntimeError, TypeError):
    """A traced value was used after the transform that made it had ended.

    It was kept in a global, an attribute, a default argument or a generator. Its value was part of one
    run of one transform; return what you need from the function instead, with ``has_aux=True``.
    """

    def __init__(self, operation, transform, where):
        super().__init__(operation, transform, where)
        self.operation, self.transform, self.where = operation, transform, where

    def __str__(self):
        return (
            f"{self.operation} was given a traced value that leaked from {self.transform}, started at "
            f"{self.where} and ended since\nThe function stored it somewhere outside (a global, an "
            "attribute, a list). Return it instead, with has_aux=True, or store stop_gradient(x)."
        )


class ConcretizationError(FuncgradError, TypeError):
    """Something asked for the plain value of a traced one, which would cut the derivative silently.

    `float(x)`, `math.sin(x)`, `np.asarray(x)`, `x.item()` and item assignment into a plain array all do.

    >>> import math
    >>> from funcgrad import grad
    >>> grad(lambda x: math.sin(x))(1.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.ConcretizationError: float(x) on a traced value, at ...
    """

    def __init__(self, reading, cure, where):
        super().__init__(reading, cure, where)
        self.reading, self.cure, self.where = reading, cure, where

    def __str__(self):
        return (
            f"{self.reading} on a traced value, at {self.where}: it would cut the derivative without a "
            f"trace\n{self.cure}"
        )


class UnknownValueError(FuncgradError, TypeError):
    """A branch, an integer or an index was read from a value that is not known.

    Under `vmap` a value differs from member to member, and in a program staged from types alone there is
    none.
    """

    def __init__(self, reading, transform, where):
        super().__init__(reading, transform, where)
        self.reading, self.transform, self.where = reading, transform, where

    def __str__(self):
        return (
            f"{self.reading} needs a value, which {self.transform} does not have, at {self.where}\n"
            "Select with np.where(condition, a, b), which computes both sides, or lax.cond; or pass values in "
            "place of types to make_jaxpr."
        )


class OperandTypeError(FuncgradError, TypeError):
    """An operation on traced values has an operand that is no plain array of numbers.

    A `numpy.matrix` multiplies in another way, a masked array leaves entries out, and an array of objects
    computes with methods of Python objects: the rules of derivatives do not hold for them.
    """

    def __init__(self, operation, found, where):
        super().__init__(operation, found, where)
        self.operation, self.found, self.where = operation, found, where

    def __str__(self):
        return (
            f"{self.operation} was given a traced value and {self.found}, at {self.where}\nIts operations "
            "differ from those of an array of numbers. Convert it before: np.asarray(m), "
            "m.filled(0.0), or objects.astype(float)."
        )


class UnsupportedFunctionError(FuncgradError, NotImplementedError, TypeError):
    """A NumPy function that has no implementation for traced values."""

    def __init__(self, name, where, instead=None):
        super().__init__(name, where, instead)
        self.name, self.where, self.instead = name, where, instead

    def __str__(self):
        cure = self.instead or (
            "Write it with supported functions, or apply it to stop_gradient(x) if its derivative is "
            "not wanted. docs/adding_a_primitive.md shows how to add it."
        )
        return f"np.{self.name} is not supported on traced values, at {self.where}\n{cure}"


class UnsupportedArgumentError(FuncgradError, NotImplementedError, TypeError):
    """A NumPy function is supported on traced values, but not with this argument."""

    def __init__(self, function, argument, where, cure):
        super().__init__(function, argument, where, cure)
        self.function, self.argument, self.where, self.cure = function, argument, where, cure

    def __str__(self):
        return f"np.{self.function} does not support {self.argument}, at {self.where}\n{self.cure}"


class InPlaceError(FuncgradError, TypeError):
    """An operation would write into an array where the derivative cannot follow."""

    def __init__(self, what, where, instead=None):
        super().__init__(what, where, instead)
        self.what, self.where, self.instead = what, where, instead

    def __str__(self):
        cure = self.instead or (
            "Write it without assignment: x = x + v, np.where(mask, v, x), np.stack or np.concatenate "
            "of the parts, or funcgrad.numpy.index_update(x, index, v)."
        )
        return f"{self.what} writes in place into or from a traced value, at {self.where}\n{cure}"


class ChangedResidualError(FuncgradError, RuntimeError):
    """An array that the derivative depends on was changed in place after it was used.

    The backward pass reads the values of the forward pass. PyTorch raises in this case too. Arrays up to
    8 KiB are compared whole, larger ones by a sample of their entries.

    >>> import numpy as np
    >>> from funcgrad import vjp
    >>> x = np.array([1.0, 2.0])
    >>> out, pull = vjp(lambda x: np.sin(x), x)
    >>> x[0] = 5.0
    >>> pull(np.ones(2))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    funcgrad.errors.ChangedResidualError: an input of shape (2,) ...
    """

    def __init__(self, operation, where, shape, dtype):
        super().__init__(operation, where, shape, dtype)
        self.operation, self.where, self.shape, self.dtype = operation, where, shape, dtype

    def __str__(self):
        what = f"an operand of {self.operation}, at {self.where}," if self.operation else "an input"
        return (
            f"{what} of shape {self.shape} and dtype {self.dtype} was changed in place between the "
            "forward and the backward pass\nThe derivative needs the values it had. Work on a copy "
            "(x = x.copy()), or make a new array in place of changing this one."
        )


class ProgramArgumentsError(FuncgradError, TypeError):
    """A program was evaluated with the wrong number of values."""

    def __init__(self, constants, inputs, given_constants, given_inputs):
        super().__init__(constants, inputs, given_constants, given_inputs)
        self.wanted, self.given = (constants, inputs), (given_constants, given_inputs)

    def __str__(self):
        return (
            f"the program takes {self.wanted[0]} constants and {self.wanted[1]} inputs, but was given "
            f"{self.given[0]} and {self.given[1]}\nCall eval_jaxpr(program, program.consts, *leaves) "
            "with one leaf for each input variable."
        )


class ProgramError(FuncgradError, ValueError):
    """A program is malformed: what the checker found, with the equations around it."""

    def __init__(self, what, where, excerpt):
        super().__init__(what, where, excerpt)
        self.what, self.where, self.excerpt = what, where, excerpt

    def __str__(self):
        return f"{self.what}, in the equation from {self.where}:\n{self.excerpt}"


class BatchAxisError(FuncgradError, ValueError):
    """The arguments of `vmap` do not agree on a batch axis."""

    def __init__(self, what, cure):
        super().__init__(what, cure)
        self.what, self.cure = what, cure

    def __str__(self):
        return f"{self.what}\n{self.cure}"


class BatchedMaskError(FuncgradError, IndexError, TypeError):
    """A result's length would depend on a boolean mask whose values are not known.

    Under `vmap` each member of the batch has a mask of its own, and the results would differ in length;
    in a program that is staged on types alone there are no values at all.

    >>> import numpy as np
    >>> from funcgrad import vmap
    >>> vmap(lambda x: np.sum(x[x > 0.0]))(np.array([[1.0, -1.0], [2.0, 3.0]]))
    Traceback (most recent call last):
        ...
    funcgrad.errors.BatchedMaskError: the length of ... depends on a mask ...

    Keep the length, and put in place of what is not selected a value that does no harm:

    >>> vmap(lambda x: np.sum(np.where(x > 0.0, x, 0.0)))(np.array([[1.0, -1.0], [2.0, 3.0]]))
    array([1., 5.])
    """

    def __init__(self, what, where):
        super().__init__(what, where)
        self.what, self.where = what, where

    def __str__(self):
        return (
            f"the length of {self.what} depends on a mask whose values are not known, at {self.where}\n"
            "Under vmap each member has its own, and lengths would differ. Select with np.where(mask, x, "
            "0.0), which keeps the shape, or compute the mask outside of vmap."
        )


class NonFiniteError(FuncgradError, FloatingPointError):
    """Under `debug_nans`: the first non-finite value that arose from finite ones."""

    def __init__(self, operation, where, sweep, entry, found, factor):
        super().__init__(operation, where, sweep, entry, found, factor)
        self.operation, self.where, self.sweep = operation, where, sweep
        self.entry, self.found, self.factor = entry, found, factor

    def __str__(self):
        return (
            f"{self.operation} made {self.found} from finite values in the {self.sweep} pass, at entry "
            f"{self.entry}; {self.factor}\nThe operation was called at {self.where}. Keep its argument "
            "away from the singular point, or select with np.where, whose dead entries stay zero."
        )


# ---- checking derivatives ------------------------------------------------------------------


class DerivativeMismatchError(FuncgradError, AssertionError):
    """`check_grads` found a derivative that is not the numerical one.

    It names the word of modes (``fwd-over-rev`` is the jvp of a vjp), and the first entry that is wrong:
    of the function's result for words of forward mode only, of its arguments for the others.
    """

    def __init__(self, function, word, path, entry, found, expected, tolerance):
        super().__init__(function, word, path, entry, found, expected, tolerance)
        self.function, self.word, self.path, self.entry = function, word, path, entry
        self.found, self.expected, self.tolerance = found, expected, tolerance

    def __str__(self):
        entry = f"[{', '.join(map(str, self.entry))}]" if self.entry else ""
        return (
            f"the {self.word} derivative of {self.function} is wrong at {self.path}{entry}: found "
            f"{self.found}, numerically {self.expected} (tolerance {self.tolerance:.2g})\n"
            "If a lower order or the other mode passes, the fault is in the rule that only this word uses. "
            "If the digits agree as far as the dtype can, pass rtol and atol."
        )


class NotSmoothError(DerivativeMismatchError):
    """`check_grads` was called at a point where there is no derivative to compare with.

    A kink (`abs` at 0), a jump, the edge of the domain, a derivative that grows without bound. What
    funcgrad returns there is stated in the table of singular points in the documentation; numerically
    there is nothing to check.
    """

    def __init__(self, function, path, entry, why):
        Exception.__init__(self, function, path, entry, why)
        self.function, self.path, self.entry, self.why = function, path, entry, why

    def __str__(self):
        entry = f"[{', '.join(map(str, self.entry))}]" if self.entry else ""
        return (
            f"{self.function} cannot be differentiated numerically at this point: of {self.path}{entry}, "
            f"{self.why}\nDerivatives are compared at points where the function is smooth. Move the point "
            "a little, or compare with the value that you expect there."
        )


class NothingToCheckError(FuncgradError, ValueError):
    """`check_grads` was given a function without floating-point arguments or results."""

    def __init__(self, function, what):
        super().__init__(function, what)
        self.function, self.what = function, what

    def __str__(self):
        return (
            f"{self.function} has no floating-point or complex {self.what}, so no derivative either\n"
            "Pass numbers such as 3.0 or x.astype(float), and return some."
        )


class LawError(FuncgradError, AssertionError):
    """A law that holds of every function was found broken: in a batch, a program, a type, a dtype.

    Every transform of a function gives what the function gives. If one does not, a rule of a primitive
    (its batching, its type, a value that its derivative makes up) is wrong.
    """

    def __init__(self, function, law, path, found, expected):
        super().__init__(function, law, path, found, expected)
        self.function, self.law, self.path = function, law, path
        self.found, self.expected = found, expected

    def __str__(self):
        return (
            f"{self.function}, {self.law}: found {self.found}{self.path and f' at {self.path}'}, expected "
            f"{self.expected}\nA transform gives what the function itself gives. Look at the batching rule, "
            "the typing rule and the derivatives of the primitives that it uses."
        )


class DependenceCutWarning(UserWarning):
    """A gradient is zero because the dependence on the input was cut by an operation without derivative."""


class BatchLoopWarning(UserWarning):
    """A primitive without batching rule runs in a loop over the batch."""
