"""Nothing drops a derivative silently: every public callable of NumPy and SciPy, given traced arguments."""

from pathlib import Path

import numpy as np
import pytest

from funcgrad import stop_gradient

pytest.importorskip("scipy")

from surface.arguments import V, call  # noqa: E402
from surface.names import entries  # noqa: E402
from surface.page import page, versions  # noqa: E402
from surface.probe import CONSTANT, DIFFERENTIABLE, REFUSED, UNKNOWN, WRONG, probe  # noqa: E402
from surface.reasons import REASONS  # noqa: E402
from surface.verdicts import verdicts  # noqa: E402

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
CURE = {
    WRONG: "mend it, or refuse it by an error of funcgrad's",
    UNKNOWN: (
        "give arguments that suit it in tests/surface/arguments.py or scipy_arguments.py; or if it computes "
        "nothing with arrays of numbers, the reason in tests/surface/reasons.py"
    ),
}


def test_each_has_a_right_derivative_or_none_or_says_so():
    """A callable that a new release adds fails here, until somebody has looked at it.

    The page is compared here, too, where there is one for these versions: measuring takes a while.
    """
    found = verdicts()
    failed = [v for v in found if v.status in CURE]
    lines = [f"{v.entry.key}: {v.status}: {v.note.splitlines()[0]}\n    {CURE[v.status]}" for v in failed]
    assert not failed, "\n".join(["", *lines])
    text = PAGE.read_text(encoding="utf-8")
    if f"Measured with {', '.join(versions())}." in text:
        assert page(found) == text, "docs/coverage.md is out of date: python docs/make_coverage.py"


def test_every_reason_is_for_a_callable():
    """Of these versions, or of others: in most, at least."""
    keys = {entry.key for entry in entries()}
    assert len(REASONS.keys() - keys) < 0.1 * len(REASONS), sorted(REASONS.keys() - keys)


def test_what_the_probe_tells_apart():
    """The probe tells a wrong derivative, one that is dropped, and an error that is not ours."""

    def kind(f):
        return probe(f, call(V))[0].kind

    assert kind(np.sin) == DIFFERENTIABLE
    assert kind(np.shape) == CONSTANT
    assert kind(np.asarray) == REFUSED
    assert kind(lambda x: np.sin(stop_gradient(x))) == WRONG  # dropped
    assert kind(lambda x: np.sin(x) + stop_gradient(x)) == WRONG
    assert kind(lambda x: x if isinstance(x, np.ndarray) else 2 * x) == WRONG
    assert kind(lambda x: x if isinstance(x, np.ndarray) else [][1]) == WRONG
