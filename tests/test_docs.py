"""The code in the README and in docs/ runs, and prints what the page says it prints.

The Python blocks of a page run in order and share their names, as if typed into one session. A
block with prompts (``>>>``) is a doctest. A fence with more than the language on its line, such as
``python (sketch)``, is not run.
"""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_session(code: str, names: dict, page: Path, line: int) -> dict:
    """Runs a block with prompts, and returns the names it leaves."""
    session = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(session, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    return session.globs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # whatever the page saves
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        code, line = block[1], text.count("\n", 0, block.start(1))
        if ">>> " in code:
            names = run_session(code, names, page, line)
        else:
            # Blank lines in front give tracebacks, and funcgrad's messages, the page's own lines.
            exec(compile("\n" * line + code, str(page), "exec"), names)
