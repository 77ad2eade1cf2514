"""SECURITY.md promises nothing that no test shows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
THREATS, SHOWN = (TEXT.partition(head)[2].partition("\n\n")[0] for head in ("| threat |", "| promise |"))
ROWS = [line for line in THREATS.splitlines()[2:] if line.startswith("| ")]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_threat_names_a_test_that_is_there() -> None:
    assert len(ROWS) > 15
    for row in ROWS:
        named = re.findall(r"`(tests/[\w/]+\.py)`", row.split("|")[3])
        assert named, row
        for name in named:
            assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name


def test_every_promise_names_tests_or_targets_that_are_there() -> None:
    rows = SHOWN.splitlines()[2:]
    assert len(rows) >= 15
    for row in rows:
        shown = row.split("|")[2]
        files, targets = re.findall(r"`(tests/[\w/]+\.py)`", shown), re.findall(r"`make ([\w-]+)`", shown)
        assert files or targets, row
        for name in files:
            assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name
        for name in targets:
            assert re.search(rf"^{name}:", MAKEFILE, re.M), name


def test_every_file_it_names_is_there() -> None:
    for name in re.findall(r"`([\w/]+/[\w/]+\.\w+)`", TEXT):
        assert (ROOT / name).exists(), name
