"""A small index is written, opened in two shapes, asked, and compared with exact search."""

from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest

from benchmarks import corpus, index_made, search
from benchmarks.index_made import made
from benchmarks.search import table
from benchmarks.searching import SHAPES, measured


async def test_a_scan_finds_what_exact_search_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (corpus, index_made):  # seven collections take seven times as long
        monkeypatch.setattr(module, "TOPICS", ("safety",))
    seconds = await made(tmp_path, 420, 32, 6)
    assert seconds > 0
    found: dict[str, Any] = {}
    for name in ("scan", "int8"):
        copytree(tmp_path / "edge", tmp_path / "copy")
        found[name] = await measured(tmp_path, SHAPES[name])
        rmtree(tmp_path / "copy")
    assert found["scan"]["recall_at_15"] == 1.0
    assert {one["filter"] for one in found["scan"]["filters"]} == {"tenth", "hundredth", "thousandth"}
    assert all(one["recall_at_15"] == 1.0 for one in found["scan"]["filters"])
    assert 0 < found["scan"]["p50_ms"] <= found["scan"]["p95_ms"]
    assert "not measured" in table(found)


def test_an_index_that_was_kept_is_not_written_again(tmp_path: Path) -> None:
    with search._room(tmp_path, "60x32") as folder:
        (folder / "written.txt").write_text("1.5", encoding="ascii")
    with search._room(tmp_path, "60x32") as again:
        assert search._written(again, 60, 32, 2) == 1.5
        assert not (again / "edge").exists()
    with search._room(None, "60x32") as elsewhere:
        assert not (elsewhere / "written.txt").exists()
    assert not elsewhere.exists()
