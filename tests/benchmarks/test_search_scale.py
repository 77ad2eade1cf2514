"""A small index is written, opened in two shapes, asked, and compared with exact search."""

from argparse import Namespace
from asyncio import to_thread
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


def _asked(**changes: object) -> Namespace:
    asked = {"children": [60], "dimensions": [32], "shapes": ["scan", "int8"], "questions": 2, "keep": None}
    return Namespace(**{**asked, "missing": False, **changes})


@pytest.fixture
def measured_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shapes that are measured from now on, and the results of an earlier run beside which they go."""
    measured: list[str] = []

    def apart(folder: Path, shape: str) -> search.Row:
        measured.append(shape)
        return {"cpu_ms": 2.0}

    monkeypatch.setattr(search, "RESULT", tmp_path / "search.json")
    monkeypatch.setattr(search, "_written", lambda *_: 1.0)
    monkeypatch.setattr(search, "_apart", apart)
    search._record({"60 x 32, scan": {"cpu_ms": 1.0}, "9 x 9, scan": {"cpu_ms": 3.0}})
    return measured


def test_a_row_goes_beside_those_of_other_runs_and_in_place_of_its_own(measured_rows: list[str]) -> None:
    search.rows(_asked())
    assert measured_rows == ["scan", "int8"]
    kept = {name: row["cpu_ms"] for name, row in search.measured_before().items()}
    assert kept == {"60 x 32, scan": 2.0, "60 x 32, int8": 2.0, "9 x 9, scan": 3.0}


def test_a_run_that_was_cut_off_measures_only_what_is_missing(measured_rows: list[str]) -> None:
    search.rows(_asked(missing=True))
    assert measured_rows == ["int8"]
    assert search.measured_before()["60 x 32, scan"]["cpu_ms"] == 1.0
    search.rows(_asked(missing=True))
    assert measured_rows == ["int8"]


async def test_what_a_cut_off_run_left_of_an_index_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "edge" / "g1").mkdir(parents=True)
    (tmp_path / "edge" / "g1" / "half").touch()
    await to_thread(search._written, tmp_path, 60, 8, 1)
    assert not (tmp_path / "edge" / "g1" / "half").exists()
    assert not (tmp_path / "vectors.f32").exists()
