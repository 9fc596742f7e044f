"""The shape of the package: layers, cycles, sizes of files, and the documentation of public names."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import funcgrad
from funcgrad import checkpoint_policies, extend, lax, testing, tree

PACKAGE = Path(funcgrad.__file__).parent
MODULES = {
    ".".join(("funcgrad", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
EVERY_MODULE = pytest.mark.parametrize("module", MODULES)

# Imports go from later to earlier ones; what is not listed is a public module, the last layer.
LAYERS = [
    ["errors", "_containers", "tree"],
    ["_core"],
    ["_interpreters"],
    ["_primitives"],
    ["numpy", "scipy"],
    ["_compile"],
    ["_transforms"],
    ["_testing"],
]

# Files longer than that which are read as one: none.
LONG_FILES: set[str] = set()
LINES = 420


#: What stands higher than the package around it: SciPy's optimisers are given derivatives.
HIGHER = {"funcgrad.scipy.optimize": "_transforms"}


def layer(module):
    for package, beside in HIGHER.items():
        if module == package or module.startswith(package + "."):
            return layer(f"funcgrad.{beside}") + 0.5
    part = module.split(".")[1] if "." in module else None
    for number, names in enumerate(LAYERS):
        if part in names:
            return number
    return len(LAYERS) + (part is None)


def imports(module):
    """The modules that a module imports, with those whose functions do it."""
    source = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    local = {
        id(node)
        for function in ast.walk(source)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for node in ast.walk(function)
    }
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(source):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            names = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else base for name in names]
        for name in names:
            yield name, id(node) in local


def ours(module):
    return [name for name, _ in imports(module) if name in MODULES]


@EVERY_MODULE
def test_imports_go_one_way(module):
    upwards = [name for name in ours(module) if layer(name) > layer(module)]
    assert not upwards, f"{module} imports {upwards}, which are layers above it"


@EVERY_MODULE
def test_imports_stand_at_the_top(module):
    assert not [name for name, local in imports(module) if local and name in MODULES]


@EVERY_MODULE
def test_only_numpy_is_needed(module):
    allowed = {"funcgrad", "numpy", "__future__"} | ({"scipy"} if ".scipy" in module else set())
    needed = {name.split(".")[0] for name, _ in imports(module)}
    assert needed <= allowed | set(sys.stdlib_module_names)


def test_no_import_cycles():
    done, path = set(), []

    def visit(module):
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for name in ours(module):
            if name != module:
                visit(name)
        path.pop()
        done.add(module)

    for module in MODULES:
        visit(module)


@EVERY_MODULE
def test_files_are_short(module):
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= LINES or module in LONG_FILES, f"{lines} lines: split it"


@EVERY_MODULE
def test_modules_say_what_they_are_for(module):
    assert ast.get_docstring(ast.parse(MODULES[module].read_text(encoding="utf-8")))


PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (funcgrad, checkpoint_policies, extend, lax, testing, tree)
    for name in module.__all__
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    """Functions with an example that runs (the doctests do that), classes and modules in words.

    What authors of primitives use has its examples in docs/adding_a_primitive.md.
    """
    value = PUBLIC[name]
    if isinstance(value, (np.dtype, dict)):  # documented where they are defined
        return
    assert inspect.getdoc(value)
    if inspect.isfunction(value) and ".extend." not in name:
        assert ">>> " in value.__doc__


def test_what_few_programs_need_is_loaded_when_it_is_asked_for():
    code = """
import sys, funcgrad
late = ["scipy", "funcgrad.lax", "funcgrad._transforms.custom", "funcgrad._primitives.checkpoints"]
assert not [name for name in late if name in sys.modules]
assert "__getattr__" in dir(funcgrad) and set(funcgrad.__all__) < set(dir(funcgrad))
assert all(getattr(funcgrad, name) is getattr(funcgrad, name) for name in dir(funcgrad) if name != "scipy")
assert funcgrad.checkpoint_name is funcgrad.tag and funcgrad.lax.custom_root is funcgrad.custom_root
"""
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    )
    with pytest.raises(AttributeError, match="no attribute 'gard'"):
        funcgrad.gard  # noqa: B018
