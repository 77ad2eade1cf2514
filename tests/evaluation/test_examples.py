"""Property tests: the same examples in every run, others in `make prove`; a busy machine fails none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINTED = (
    "from tests import conftest; from hypothesis import settings as s; print(s().derandomize, s().deadline)"
)


@pytest.mark.parametrize(("asked", "printed"), [("", "True None"), ("1", "False None")])
def test_examples_are_fixed_unless_random_ones_are_asked_for(asked: str, printed: str) -> None:
    environment = os.environ | {"RADRAG_TEST_RANDOM": asked}
    line = [sys.executable, "-c", PRINTED]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed


def test_no_test_fixes_its_own_examples() -> None:
    """Else `make prove` would look at the same ones again, too."""
    tests = set((ROOT / "tests").rglob("*.py")) - {ROOT / "tests" / "conftest.py", Path(__file__)}
    assert not [path.name for path in tests if "derandomize" in path.read_text(encoding="utf-8")]


def test_make_prove_asks_for_random_ones() -> None:
    prove = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nprove:")[1].split("\n\n")[0]
    assert "RADRAG_TEST_RANDOM=1 $(RUN) -m pytest -q -m hypothesis" in prove
