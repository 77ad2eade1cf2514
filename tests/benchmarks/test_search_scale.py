"""A small index is written, opened in two shapes and on a server, asked, and compared with exact search."""

from argparse import Namespace
from asyncio import to_thread
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient, models

from benchmarks import corpus, index_made, search, searching
from benchmarks.index_made import made
from benchmarks.search import table
from benchmarks.searching import SHAPES, indexed, measured
from retrieval import server_store
from retrieval.server_store import ServerStore
from retrieval.store import Collection

ADDRESS = "http://nobody-may-know:6333"
in_memory = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect", "ignore:Local mode performs exact"
)


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
        return {"cpu_ms": 2.0, "filters": []}

    monkeypatch.delenv("RADRAG_TEST_QDRANT_URL", raising=False)
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


def test_without_a_server_a_row_says_that_none_was_measured(measured_rows: list[str]) -> None:
    found = search.rows(_asked(shapes=["scan"]))
    assert found["60 x 32, scan"]["server"] == "not measured"
    assert table(found).splitlines()[2].endswith("| not measured |")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> AsyncQdrantClient:
    """What answers at ADDRESS: the client's own store in memory, which outlives connections."""
    client, topics = AsyncQdrantClient(":memory:"), ("safety", "physics")

    async def left_open() -> None: ...

    monkeypatch.setattr(client, "close", left_open)
    monkeypatch.setattr(server_store, "connect", {ADDRESS: client}.__getitem__)
    for module in (corpus, index_made):
        monkeypatch.setattr(module, "TOPICS", topics)
    return client


async def names(server: AsyncQdrantClient) -> list[str]:
    return [one.name for one in (await server.get_collections()).collections]


@in_memory
async def test_a_server_is_asked_once_a_compression_and_left_as_it_was_and_unnamed(
    measured_rows: list[str], server: AsyncQdrantClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RADRAG_TEST_QDRANT_URL", ADDRESS)
    folder, made_there = tmp_path / "240x32", list[str]()
    folder.mkdir()
    await made(folder, 240, 32, 6)
    in_use = ServerStore(server)
    await in_use.create(Collection("g1", "safety"), 8)
    await in_use.point_to("g1", ["safety"])
    create = server.create_collection

    async def noted(name: str, **shape: Any) -> bool:
        made_there.append(name)
        return await create(name, **shape)

    monkeypatch.setattr(server, "create_collection", noted)
    asked = _asked(children=[240], shapes=["scan", "graph", "int8"], keep=tmp_path)
    found = await to_thread(search.rows, asked)

    scan, graph, int8 = (found[f"240 x 32, {shape}"]["server"] for shape in asked.shapes)
    assert isinstance(scan, dict)
    assert scan["recall_at_15"] == 1.0
    assert 0 < scan["p50_ms"] <= scan["p95_ms"]
    assert graph == scan != int8
    assert f"| {scan['p50_ms']}/{scan['p95_ms']}/1.0 |" in table(found)
    assert [name.rpartition("_")[2] for name in made_there] == ["safety", "physics"] * 2
    assert len(set(made_there)) == 4
    assert await names(server) == ["radrag_g1_safety"]
    assert [one.collection_name for one in (await server.get_aliases()).aliases] == ["radrag_g1_safety"]
    assert "nobody-may-know" not in search.RESULT.read_text(encoding="utf-8")


@in_memory
async def test_a_server_that_cannot_build_its_indexes_is_left_as_it_was(
    server: AsyncQdrantClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await made(tmp_path, 60, 8, 1)
    told = server.get_collection

    async def broken(name: str) -> models.CollectionInfo:
        return (await told(name)).model_copy(update={"status": models.CollectionStatus.RED})

    monkeypatch.setattr(server, "get_collection", broken)
    with pytest.raises(RuntimeError, match=r"radrag_bench\w+_physics is red"):
        await searching.measured_on_server(ADDRESS, tmp_path, "none")
    assert await names(server) == []


async def test_questions_wait_until_every_collection_is_green(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "LOOK_SECONDS", 0)
    answers = iter(["yellow", "grey", "green", "green"])
    looked: list[str] = []

    async def status(name: str) -> str:
        looked.append(name)
        return next(answers)

    await indexed(status, ["one", "other"], 60)
    assert looked == ["one", "one", "one", "other"]


async def test_a_server_that_takes_too_long_is_named_by_its_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "LOOK_SECONDS", 0)

    async def status(name: str) -> str:
        return "yellow"

    with pytest.raises(RuntimeError, match="one is yellow, not green"):
        await indexed(status, ["one", "other"], 0.01)
