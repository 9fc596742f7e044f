"""The programs of the gallery agree with the independent derivatives that they compare with."""

import ast
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "compare")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, monkeypatch, capsys):
    path = GALLERY / f"{name}.py"
    if "scipy" in path.read_text(encoding="utf-8") and find_spec("scipy") is None:
        pytest.skip("SciPy is not installed")
    monkeypatch.syspath_prepend(GALLERY)  # as for a script
    monkeypatch.delitem(sys.modules, "compare", raising=False)
    runpy.run_path(str(path), run_name="__main__")
    comparisons = [line for line in capsys.readouterr().out.splitlines() if line[-4:-2] in ("e-", "e+")]
    assert len(comparisons) >= 3
    sys.modules.pop("compare", None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_says_where_it_is_from(name):
    assert "Source: " in ast.get_docstring(ast.parse((GALLERY / f"{name}.py").read_text(encoding="utf-8")))


def test_the_list_names_each():
    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert [line.split("](")[0][3:] for line in text.splitlines() if line.startswith("| [")] == PROGRAMS
