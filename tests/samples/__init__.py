"""The samples table: the rows of every module in this folder.

A module states ``SAMPLES = [Sample(...), ...]`` after ``from samples.table import Sample``.
"""

import importlib
import pkgutil

import pytest

from samples.table import Sample

_BY_MODULE: dict[str, list[Sample]] = {
    module.name: importlib.import_module(f"{__name__}.{module.name}").SAMPLES
    for module in pkgutil.iter_modules(__path__)
    if module.name != "table"
}
SAMPLES: list[Sample] = [row for rows in _BY_MODULE.values() for row in rows]

#: The rows of SciPy's functions, which are as many as those of NumPy's and made of their primitives.
SCIPY_ROWS = {row.id for name, rows in _BY_MODULE.items() if name.startswith("scipy") for row in rows}


def each(rows: list[Sample]) -> pytest.MarkDecorator:
    """Run a test for each row; SciPy's with the slow tests."""
    slow = pytest.mark.slow
    params = [pytest.param(row, id=row.id, marks=slow if row.id in SCIPY_ROWS else ()) for row in rows]
    return pytest.mark.parametrize("row", params)
