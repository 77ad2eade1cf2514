"""What only the embedded store has to keep: its folder, its lock, and a disk that fills up."""

import asyncio
from pathlib import Path

import pytest

from radrag.errors import Unavailable
from retrieval.bm25 import SparseVector
from retrieval.edge_store import POINTS_A_FLUSH, EdgeStore
from retrieval.store import Collection, Point
from tests.retrieval.making import made
from tests.retrieval.running import room
from tests.retrieval.test_stores import HERE, POINTS, child


async def filled(folder: Path, reserve: int = 0) -> EdgeStore:
    store = EdgeStore(folder, reserve)
    await store.create(HERE, 2)
    await store.write(HERE, POINTS)
    return store


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    await store.point_to("g1", ["safety"])
    await store.close()
    again = EdgeStore(tmp_path)
    assert await again.current() == "g1"
    assert await again.count(HERE, ()) == 4
    assert [hit.passage_id for hit in await again.nearest(HERE, SparseVector((8,), (1.0,)), (), 5)] == ["c"]
    await again.close()


async def test_a_second_store_on_the_folder_is_refused_in_plain_words(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    with pytest.raises(Unavailable) as refusal:
        EdgeStore(tmp_path)
    assert (refusal.value.message, refusal.value.reason) == (
        "the index is open in another process",
        "INDEX_LOCKED",
    )
    await store.close()


async def test_a_shard_that_was_half_made_when_the_process_died_is_made_anew(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    await store.close()
    (tmp_path / "g1" / ".physics").mkdir()
    (tmp_path / "g1" / ".physics" / "edge_config.json").write_text("{")
    again = EdgeStore(tmp_path)
    await again.create(Collection("g1", "physics"), 2)
    assert await again.count(Collection("g1", "physics"), ()) == 0
    await again.close()


async def test_on_a_full_disk_nothing_is_written_and_everything_can_be_read(tmp_path: Path) -> None:
    await (await filled(tmp_path)).close()
    full = EdgeStore(tmp_path, reserve=2**60)
    for write in (
        full.write(HERE, POINTS),
        full.delete(HERE, ()),
        full.set_valid_to(HERE, (), 1),
        full.create(Collection("g1", "physics"), 2),
    ):
        with pytest.raises(Unavailable) as refusal:
            await write
        assert refusal.value.reason == "DISK_FULL"
    assert await full.count(HERE, ()) == 4
    await full.close()


async def test_a_publication_refused_by_a_full_disk_leaves_the_old_version_and_succeeds_later(
    tmp_path: Path,
) -> None:
    old, new = made("dose", "Old limit."), made("dose", "New limit.", valid_from=50)
    async with room(tmp_path) as here:
        await here.publish(old)
    async with room(tmp_path, EdgeStore(tmp_path / "edge", reserve=2**60)) as full:
        with pytest.raises(Unavailable):
            await full.publish(new)
        assert [one.parent.text for one in (await full.search("limit")).parents] == ["Old limit."]
    async with room(tmp_path) as here:
        await here.publish(new)
        assert [one.parent.text for one in (await here.search("limit")).parents] == ["New limit."]
        assert await here.versions.chores() == []


async def test_searches_and_writes_at_once_neither_fail_nor_lose(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    many = [child(f"n{n}", 1.0, n, {n: 1.0}) for n in range(POINTS_A_FLUSH + 10)]

    async def write(points: list[Point]) -> None:
        await store.write(HERE, points)
        await store.secure(HERE)

    async def read() -> None:
        for _ in range(50):
            assert await store.nearest(HERE, (1.0, 0.0), (), 3)

    await asyncio.gather(write(many[::2]), write(many[1::2]), read(), read())
    assert await store.count(HERE, ()) == 4 + len(many)
    await store.close()
