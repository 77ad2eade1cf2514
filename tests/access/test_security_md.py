"""SECURITY.md promises nothing that no test shows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.partition("| threat |")[2].splitlines()[2:] if line.startswith("| ")]


def test_every_threat_names_a_test_that_is_there() -> None:
    assert len(ROWS) > 15
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)`", row.split("|")[3])
        assert named, row
        for name in named:
            assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name


def test_every_file_it_names_is_there() -> None:
    for name in re.findall(r"`([\w/]+/[\w/]+\.\w+)`", TEXT):
        assert (ROOT / name).exists(), name
