"""Programs keep pages of their own names, and what they tell of memory is what was held."""

import asyncio
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from benchmarks import allocated
from benchmarks.profiled import OWN, PROFILES, keep
from cli.places import ROOT
from cli.process import Child

PAGES = (
    "gateway_prompt.txt", "ingest.txt", "overhead.txt", "search.txt", "search_100k.txt", "search_limit.txt",
    "search_one_caller.txt", "streams.txt",
)  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_people_write_is_never_overwritten(name: str) -> None:
    page = PROFILES / name
    before = page.read_bytes()
    for path in (page, PROFILES / ".." / "profiles" / name):
        with pytest.raises(ValueError, match="that people write"):
            keep(path, "measured")
    assert page.read_bytes() == before


def test_programs_write_pages_only_where_that_is_looked_at() -> None:
    """Who names the folder of pages but `profiled`, whose `keep` refuses, could write past it."""
    for path in (ROOT / "benchmarks").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert '"profiles"' not in text or path.name == "profiled.py", path
        if "PROFILES" in text and path.name != "profiled.py":
            assert "keep(PROFILE" in text, path
            assert "PROFILE.write" not in text, path


def test_a_program_keeps_its_own_page(tmp_path: Path) -> None:
    assert not any(name.startswith(OWN) for name in PAGES)
    keep(tmp_path / "new" / "cpu_search.txt", "measured")
    assert (tmp_path / "new" / "cpu_search.txt").read_text(encoding="utf-8") == "measured"


async def test_a_process_tells_what_it_holds_and_what_was_held_at_most(tmp_path: Path) -> None:
    """A program of three lines: it holds a megabyte, and after a signal of its own five more for a moment."""
    (tmp_path / "holding.py").write_text(HOLDING, encoding="utf-8")
    child, folder = Child("holding", tmp_path), tmp_path / "told"
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    command = (sys.executable, "-m", "benchmarks.allocated", str(folder), "holding")
    running = child.start(command, environ, tmp_path)
    try:
        await _written(tmp_path / "ready", child)
        told = allocated.Told(running.pid, folder)
        lines = await told.held()
        (held,) = (counts for line, counts in lines.items() if line.endswith("holding.py:6"))
        assert 1_000_000 <= held[0] < 1_100_000
        await told.peak()
        (tmp_path / "go").touch()
        await _written(tmp_path / "gone", child)
        assert 5_000_000 <= await told.peak() < 5_500_000
        assert await told.peak() < 500_000  # what is over does not count again
    finally:
        await child.stop(5)


HOLDING = """
import time
from pathlib import Path

here = Path(__file__).parent
held = bytes(1_000_000)
(here / "ready").touch()
while True:
    time.sleep(0.01)
    if (here / "go").exists() and not (here / "gone").exists():
        most = bytes(5_000_000)
        del most
        (here / "gone").touch()
"""


async def _written(path: Path, child: Child) -> None:
    async with asyncio.timeout(30):
        while not path.exists():  # noqa: ASYNC240 - a look at a file of its own
            assert child.running(), child.last_lines()
            await asyncio.sleep(0.02)


def test_places_are_told_without_the_machine_they_lie_on() -> None:
    assert allocated.named(str(ROOT / "gateway" / "words.py")) == "gateway/words.py"
    assert allocated.named(tracemalloc.__file__) == "tracemalloc.py"
    assert allocated.named(pytest.__file__) == "pytest/__init__.py"
    assert allocated.named("<frozen importlib._bootstrap>") == "<frozen importlib._bootstrap>"


def test_the_page_tells_growth_a_call() -> None:
    marks = {
        100: {"kept.py:1": [1000, 10], "freed.py:2": [400, 4]},
        200: {"kept.py:1": [3000, 20]},
        300: {"kept.py:1": [5000, 30], "new.py:3": [200, 2]},
    }
    page = allocated.text(marks, [1000, 3000, 2000])
    assert "of 3 calls: median 2.0 kB, 1.0 to 3.0" in page
    assert "   200:        3.0       20      +16.0    +0.06" in page
    assert "   300:        5.2       32      +22.0    +0.12" in page
    assert "     +20.0    +0.10       5.0  kept.py:1" in page
    assert "      -2.0    -0.02       0.0  freed.py:2" in page
