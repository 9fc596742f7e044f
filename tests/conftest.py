"""For all tests: hypothesis draws the same examples in every run, and no test leaves a primitive behind."""

import contextlib
import gc
import importlib

import pytest
from hypothesis import settings

from funcgrad._primitives.kinds import IMPLEMENTATIONS, PRIMITIVES

# what declares primitives as it is imported does so before the first test, whose fixture would undo it
for _name in (
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "special",
    "stats",
):
    with contextlib.suppress(ImportError):  # SciPy is not needed
        importlib.import_module(f"funcgrad.scipy.{_name}")

settings.register_profile("funcgrad", deadline=None, derandomize=True)
settings.load_profile("funcgrad")


def pytest_collection_finish(session):
    """The tests are no garbage: Python's collector would look through all of them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_primitive_stays():
    """The table of primitives is as before: `test_every_primitive_has_a_row` reads it."""
    before = [(table, dict(table)) for table in (PRIMITIVES, IMPLEMENTATIONS)]
    yield
    for table, contents in before:
        if len(table) != len(contents):
            table.clear()
            table.update(contents)
