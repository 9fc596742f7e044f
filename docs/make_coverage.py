"""Writes docs/coverage.md: python docs/make_coverage.py"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from surface.page import page  # noqa: E402
from surface.verdicts import verdicts  # noqa: E402

(ROOT / "docs" / "coverage.md").write_text(page(verdicts()), encoding="utf-8")
