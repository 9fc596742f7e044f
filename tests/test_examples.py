"""The examples run as a reader runs them: as scripts, from a directory of their own."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

needs_digits = pytest.mark.skipif(
    any(find_spec(module) is None for module in ("sklearn", "matplotlib", "tqdm")),
    reason="the extra `examples` is not installed",
)


def run(name: str, directory: Path, *options: str, seconds: float) -> str:
    """What the example prints; its own assertions decide whether it passes."""
    command = [sys.executable, EXAMPLES / name, *options]
    # Beside other tests, the threads of NumPy's matrix products would mostly wait for one another.
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=seconds)
    assert result.returncode == 0, result.stderr
    return result.stdout


#: Examples that check themselves: what each says where it has.
SHORT = {
    "bilevel.py": "by its optimality condition",
    "gradient_penalty.py": "the best under the penalty",
    "long_ode.py": "All agree.",
    "meta_learning.py": "it is the step that learns the task",
    "physics_informed.py": "from nine noisy values",
}


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"digits.py", "derivative_checks.py", *SHORT}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n == "long_ode.py" else ()) for n in SHORT]
)
def test_short_examples(name, tmp_path):
    assert SHORT[name] in run(name, tmp_path, seconds=120)


def test_derivative_checks(tmp_path):
    assert "All 14 agree" in run("derivative_checks.py", tmp_path, seconds=60)


@needs_digits
def test_digits_quick(tmp_path):
    run("digits.py", tmp_path, "--quick", "--out", "misread.png", seconds=120)
    assert [path.name for path in tmp_path.iterdir()] == ["misread.png"]


@needs_digits
@pytest.mark.slow
def test_digits_in_full_within_two_minutes(tmp_path):
    assert "held-out digits" in run("digits.py", tmp_path, seconds=120)
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
