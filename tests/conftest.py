"""For all tests: hypothesis draws the same examples in every run, and no test leaves a primitive behind."""

import pytest
from hypothesis import settings

from funcgrad._primitives.kinds import IMPLEMENTATIONS, PRIMITIVES

settings.register_profile("funcgrad", deadline=None, derandomize=True)
settings.load_profile("funcgrad")


@pytest.fixture(autouse=True)
def no_primitive_stays():
    """The table of primitives is as before: `test_every_primitive_has_a_row` reads it."""
    before = [(table, dict(table)) for table in (PRIMITIVES, IMPLEMENTATIONS)]
    yield
    for table, contents in before:
        if len(table) != len(contents):
            table.clear()
            table.update(contents)
