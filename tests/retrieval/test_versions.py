"""The version table: durable, the only commit point, and plain about a disk that will not take a row."""

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sql

from radrag.errors import FailedPrecondition, Unavailable
from retrieval.bm25 import Bm25
from retrieval.chores import Chore
from retrieval.frequencies import count
from retrieval.snapshot import Generation, Version
from retrieval.store import Collection
from retrieval.versions import Versions
from tests.retrieval.making import FINGERPRINT, Made, made


def version(one: Made) -> Version:
    header = one.header
    frequencies = count(Bm25().document(child.text) for child in one.children)
    return Version(header.edition, header.document, True, header.parents, header.children, frequencies, 0)


def url(path: Path) -> str:
    return f"sqlite:///{path / 'versions.sqlite'}"


async def opened(path: Path, shared: bool = False) -> Versions:
    table = Versions(url(path), shared)
    if not table.snapshot.generations:
        await table.add_generation(FIRST)
    return table


def editions(table: Versions) -> set[str]:
    return set(table.snapshot.generations["g1"].versions)


FIRST = Generation("g1", FINGERPRINT, "ab")
ONE, TWO = made("d", "One."), made("d", "Two.", valid_from=5)


async def test_every_commit_is_one_revision_and_is_there_after_reopening(tmp_path: Path) -> None:
    table = await opened(tmp_path)
    first = table.snapshot.revision
    await table.publish(FIRST, version(ONE))
    superseded, chores = await table.publish(FIRST, version(TWO))
    assert table.snapshot.revision == first + 2
    assert superseded == ONE.header.document.version
    assert chores == [Chore(Collection("g1", "safety"), ONE.header.edition, "d")]
    await table.close()
    again = await opened(tmp_path)
    assert again.snapshot.revision == first + 2
    held = again.snapshot.generations["g1"].versions
    assert held[ONE.header.edition].document == replace(ONE.header.document, valid_to=5)
    assert (held[ONE.header.edition].live, held[TWO.header.edition].live) == (False, True)
    assert again.snapshot.generations["g1"].fingerprint == FINGERPRINT
    assert again.snapshot.generations["g1"].frequencies.children == 1
    assert await again.chores() == chores
    await again.close()


async def test_every_commit_is_synced_to_disk(tmp_path: Path) -> None:
    table = await opened(tmp_path)
    with table._engine.connect() as connection:
        assert connection.execute(sql.text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(sql.text("PRAGMA synchronous")).scalar() == 2  # FULL
    await table.close()


async def test_a_snapshot_that_was_taken_does_not_change(tmp_path: Path) -> None:
    table = await opened(tmp_path)
    await table.publish(FIRST, version(ONE))
    before = table.snapshot
    await table.publish(FIRST, version(TWO))
    await table.delete("d", "")
    assert set(before.generations["g1"].versions) == {ONE.header.edition}
    assert before.generations["g1"].versions[ONE.header.edition].document.valid_to is None
    assert editions(table) == set()
    await table.close()


async def test_another_process_sees_a_commit_when_it_looks_again(tmp_path: Path) -> None:
    writer, reader = await opened(tmp_path), await opened(tmp_path, shared=True)
    await writer.publish(FIRST, version(ONE))
    assert editions(reader) == set()
    await reader.refresh()
    assert editions(reader) == {ONE.header.edition}
    await writer.close()
    await reader.close()


@pytest.mark.parametrize("pragma", ["query_only=ON", "max_page_count=1"], ids=["read-only", "full"])
async def test_a_disk_that_takes_no_row_is_unavailable_and_loses_nothing(tmp_path: Path, pragma: str) -> None:
    table = await opened(tmp_path)
    await table.publish(FIRST, version(ONE))
    before = table.snapshot

    @sql.event.listens_for(table._engine, "begin")
    def fault(connection: sql.Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA {pragma}")

    big = made("d", *(f"A sentence about nothing number{n}." for n in range(5000)))  # 40 kB of frequencies
    with pytest.raises(Unavailable) as failure:
        await table.publish(FIRST, version(big))
    assert failure.value.reason == "VERSIONS_FAILED"
    assert "nothing number" not in failure.value.message
    assert table.snapshot is before
    await table.close()
    again = await opened(tmp_path)
    assert editions(again) == {ONE.header.edition}
    await again.close()


async def test_a_generation_that_is_there_is_neither_made_again_nor_written_by_another_one(
    tmp_path: Path,
) -> None:
    table = await opened(tmp_path)
    await table.publish(FIRST, version(ONE))
    other = replace(FIRST, fingerprint=replace(FINGERPRINT, pooling="late"))
    for add in (table.add_first, lambda one: table.add_first(replace(one, bm25_sha256="cd"))):
        await add(other)
    with pytest.raises(FailedPrecondition, match="'g1' exists"):
        await table.add_generation(other)
    with pytest.raises(FailedPrecondition, match="made anew"):
        await table.publish(other, version(TWO))
    assert table.snapshot.generations["g1"].fingerprint == FINGERPRINT
    assert editions(table) == {ONE.header.edition}
    await table.close()


async def test_a_first_generation_that_nobody_wrote_to_gives_way(tmp_path: Path) -> None:
    table = await opened(tmp_path)
    other = replace(FIRST, fingerprint=replace(FINGERPRINT, pooling="late"))
    await table.add_first(other)
    assert table.snapshot.generations["g1"].fingerprint.pooling == "late"
    await table.begin(Chore(Collection("g1", "safety"), ONE.header.edition, "d"))
    await table.add_first(FIRST)
    assert table.snapshot.generations["g1"].fingerprint.pooling == "late"
    await table.close()
