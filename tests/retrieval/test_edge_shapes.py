"""How dense vectors are kept: scores are the full vectors' own in every shape; what hits say is read once."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import qdrant_edge as qdrant
from numpy.typing import NDArray

from cli.places import ROOT
from retrieval import edge_reading, edge_terms
from retrieval.bm25 import SparseVector
from retrieval.edge_store import EdgeStore
from retrieval.edge_terms import EF, EF_CONSTRUCT, Dense, M, filter_of
from retrieval.store import Among, Point
from tests.retrieval.test_stores import HERE, POINTS, child

DIMENSION, CHILDREN, NEAREST = 64, 600, 10


def vectors() -> NDArray[np.float32]:
    drawn = np.random.default_rng(7).standard_normal((CHILDREN, DIMENSION)).astype(np.float32)
    unit: NDArray[np.float32] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def points() -> list[Point]:
    plain = [child(f"n{number}", 1.0, 0.0, {number % 50: 1.0}) for number in range(CHILDREN)]
    return [
        Point(one.point_id, one.payload, tuple(row.tolist()), one.bm25)
        for one, row in zip(plain, vectors(), strict=True)
    ]


async def filled(folder: Path) -> None:
    store = EdgeStore(folder, 0)
    await store.create(HERE, DIMENSION)
    await store.write(HERE, points())
    await store.close()


# The part of the exact nearest that is found at least; independent directions are hardest for one bit each.
SHAPES = {
    Dense("none", 1): 0.9,
    Dense("int8"): 0.9,
    Dense("binary"): 0.5,
    Dense("int8", 1, 400): 0.9,
    Dense("binary", 1, 400): 0.5,
}


@pytest.mark.parametrize(("shape", "least"), SHAPES.items(), ids=str)
async def test_an_index_opened_in_another_shape_finds_the_nearest_with_their_own_cosines(
    tmp_path: Path, shape: Dense, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.edge_terms.COMPRESSED_KILOBYTES", 1)  # as if there were many
    await filled(tmp_path)
    store, asked = EdgeStore(tmp_path, 0, shape), vectors()[5]
    hits = await store.nearest(HERE, asked.tolist(), (), NEAREST)
    cosines = vectors() @ asked
    assert hits[0].passage_id == "n5"
    assert [hit.score for hit in hits] == pytest.approx(
        [float(cosines[int(hit.passage_id[1:])]) for hit in hits], abs=1e-5
    )
    exact = {f"n{place}" for place in np.argsort(-cosines)[:NEAREST]}
    assert len(exact & {hit.passage_id for hit in hits}) >= NEAREST * least
    await store.close()


def linked(folder: Path) -> int:
    """Bytes of a graph's links."""
    (links,) = folder.rglob("links*.bin")
    return links.stat().st_size


async def test_a_graph_is_built_only_where_there_are_too_many_points_to_compare_with_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.edge_terms.COMPRESSED_KILOBYTES", 1)
    await filled(tmp_path)
    kilobytes = CHILDREN * DIMENSION * 4 // 1000
    await EdgeStore(tmp_path, 0, Dense("int8", kilobytes + 1)).close()
    assert linked(tmp_path) < CHILDREN * M
    await EdgeStore(tmp_path, 0, Dense("int8", kilobytes - 1)).close()
    assert linked(tmp_path) > CHILDREN * M


@pytest.mark.parametrize(("shape", "loads"), [("none", 1), ("int8", 2), ("binary", 2)])
async def test_a_collection_is_loaded_twice_only_when_its_shape_changes(
    tmp_path: Path, shape: str, loads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.edge_terms.COMPRESSED_KILOBYTES", 1)
    await filled(tmp_path)
    loaded: list[str] = []
    load = qdrant.EdgeShard.load

    def noted(path: str, config: qdrant.EdgeConfig) -> qdrant.EdgeShard:
        loaded.append(path)
        return load(path, config)

    monkeypatch.setattr("retrieval.edge_store.qdrant.EdgeShard", SimpleNamespace(load=noted))
    for expected in (loads, 1):
        loaded.clear()
        await EdgeStore(tmp_path, 0, Dense(shape)).close()
        assert len(loaded) == expected
    await EdgeStore(tmp_path, 0, Dense(shape, 1)).close()  # has a graph from here on
    loaded.clear()
    await EdgeStore(tmp_path, 0, Dense(shape, 1)).close()
    assert len(loaded) == 1


OPENED_AND_KILLED = """
import os, pathlib, signal, sys
from retrieval import edge_store, edge_terms
edge_terms.COMPRESSED_KILOBYTES = 1
opened = edge_store.EdgeStore(pathlib.Path(sys.argv[1]), 0, edge_terms.Dense("int8", 1))
os.kill(os.getpid(), signal.SIGKILL)
"""


def opened_and_killed(folder: Path) -> list[str]:
    """The segments that a process leaves which opens a compressed store and is killed."""
    line = [sys.executable, "-c", OPENED_AND_KILLED, str(folder)]
    assert subprocess.run(line, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    return sorted(path.name for path in folder.glob("*/*/segments/*"))


async def test_what_was_optimized_stays_so_when_the_process_is_killed_right_after(tmp_path: Path) -> None:
    """Else each start would build the same again, beside what the one before it left."""
    await filled(tmp_path)
    left = [await asyncio.to_thread(opened_and_killed, tmp_path) for _ in range(2)]
    assert left[0] == left[1] != []


def test_a_graph_is_searched_with_more_candidates_than_the_engine_would_keep() -> None:
    """Else of a large collection it finds two thirds of the nearest."""
    kept = {
        points: repr(Dense("int8").request((1.0, 0.0), (), 20, points).params)
        for points in (0, 14_000, 190_000)
    }
    assert f"hnsw_ef={EF}," in kept[0]
    assert kept[0] == kept[14_000]
    assert f"hnsw_ef={190_000 // 128}," in kept[190_000]
    assert EF > EF_CONSTRUCT
    assert Dense("int8").request(SparseVector((1,), (1.0,)), (), 20).params is None


async def test_a_search_keeps_as_many_candidates_as_the_collection_it_was_opened_with_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path)
    store, entered, found = EdgeStore(tmp_path, 0), list[str](), edge_reading.hits
    monkeypatch.setattr(edge_terms, "POINTS_A_CANDIDATE", 1)

    def noted(shard: Any, requests: Any, known: Any) -> Any:
        entered.extend(repr(one.params) for one in requests)
        return found(shard, requests, known)

    monkeypatch.setattr(edge_reading, "hits", noted)
    await store.nearest(HERE, vectors()[5].tolist(), (), NEAREST)
    assert f"hnsw_ef={CHILDREN}," in entered[0]
    await store.close()


def test_one_value_is_asked_for_without_a_set_of_points() -> None:
    """Same points, but the engine gathers those of several values in a set: half of a compressed scan."""
    one, several = (filter_of((Among("language", values),)) for values in (("en",), ("en", "ru")))
    assert "MatchValue" in repr(one)
    assert "MatchAny" in repr(several)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many points' fields were read from a shard, each time."""
    noted: list[int] = []
    fields = edge_terms.fields

    def read(records: Any) -> Any:
        found = fields(records)
        noted.append(len(found))
        return found

    monkeypatch.setattr("retrieval.edge_terms.fields", read)
    return noted


async def opened_again(folder: Path) -> EdgeStore:
    first = EdgeStore(folder, 0)
    await first.create(HERE, 2)
    await first.write(HERE, POINTS)
    await first.close()
    return EdgeStore(folder, 0)


async def test_what_hits_say_is_read_when_the_store_is_opened_and_by_no_search(
    tmp_path: Path, reads: list[int]
) -> None:
    store = await opened_again(tmp_path)
    assert reads == [3]  # the children
    assert {hit.passage_id for hit in await store.nearest(HERE, (1.0, 0.0), (), 9)} == {"a", "b", "c"}
    await written_again(store, "a")
    assert (await store.nearest(HERE, (1.0, 0.0), (), 1))[0].start == 77
    assert reads == [3]
    await store.close()


async def written_again(store: EdgeStore, passage_id: str) -> None:
    again = next(one for one in POINTS if one.payload["passage_id"] == passage_id)
    await store.write(HERE, [Point(again.point_id, {**again.payload, "start": 77}, again.dense, again.bm25)])


async def test_what_a_hit_says_is_read_once_and_anew_when_its_point_is_written_again(
    tmp_path: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more points than are read at the start."""
    monkeypatch.setattr(edge_reading, "known", lambda shard: {})
    store = await opened_again(tmp_path)
    before = await store.nearest(HERE, (1.0, 0.0), (), 3)
    assert await store.nearest(HERE, (1.0, 0.0), (), 3) == before
    assert reads == [len(before)]
    await written_again(store, before[0].passage_id)
    assert (await store.nearest(HERE, (1.0, 0.0), (), 3))[0].start == 77
    assert reads == [len(before)]
    await store.close()


async def test_no_more_is_read_at_the_start_than_is_kept(
    tmp_path: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path)
    for name, number in {"PAGE": 100, "MOST_KNOWN": 150}.items():
        monkeypatch.setattr(edge_reading, name, number)
    await EdgeStore(tmp_path, 0).close()
    assert reads == [100, 100]


async def test_legs_of_one_collection_asked_at_once_enter_the_engine_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[int] = []
    found = edge_reading.hits

    def noted(shard: Any, requests: Any, known: Any) -> Any:
        entered.append(len(requests))
        return found(shard, requests, known)

    monkeypatch.setattr(edge_reading, "hits", noted)
    store = EdgeStore(tmp_path, 0)
    await store.create(HERE, 2)
    await store.write(HERE, POINTS)
    public = (Among("access_labels", ("public",)),)
    legs: list[Sequence[float] | SparseVector] = [(1.0, 0.0), (0.0, 1.0), SparseVector((8,), (1.0,))]
    together = await asyncio.gather(*(store.nearest(HERE, leg, public, 3) for leg in legs))
    assert entered == [3]
    assert together == [await store.nearest(HERE, leg, public, 3) for leg in legs]
    await store.close()
