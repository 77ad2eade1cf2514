"""The embedder is busy while any document is embedded, each moment counted once."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import in_process, ingest, routes
from benchmarks.ingest import Busy, write
from benchmarks.routes import pages_of
from ingest.document import Document, Metadata, PageRecord, Parsed
from ingest.load import Source
from ingest.passage import Parent
from radrag.triton import Vectors


def document(name: str) -> Document:
    return Document(name, "# Doses\n", "Doses", "en", Metadata(), "markdown")


async def test_documents_at_once_count_once_and_gaps_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(ingest, "perf_counter", lambda: clock[0])
    gates = {name: asyncio.Event() for name in "abc"}

    async def embed(one: Document, parents: Sequence[Parent]) -> list[Vectors]:
        await gates[one.document_id].wait()
        return []

    busy = Busy(embed)
    first, second = (asyncio.create_task(busy.vectors(document(name), [])) for name in "ab")
    await asyncio.sleep(0)
    for name, task, now in (("a", first, 2.0), ("b", second, 3.0)):
        clock[0] = now
        gates[name].set()
        await task
    clock[0] = 10.0  # nothing was embedded from 3 to 10
    gates["c"].set()
    third = asyncio.create_task(busy.vectors(document("c"), []))
    await third
    assert busy.seconds == 3.0
    assert busy.given == []  # no parents were given


def test_a_page_is_the_files_own_or_as_much_text() -> None:
    assert pages_of(Parsed("x", "", "pdf", records=(PageRecord(1, "text"), PageRecord(2, "text")))) == 2
    assert [pages_of(Parsed("x" * size, "", "md")) for size in (10, 9000)] == [1, 3]


def test_cpu_is_told_by_service_and_name() -> None:
    spent = {"ingest/1": 2.0, "triton stub/2": 5.0, "triton stub/3": 6.0, "triton sh/4": 0.0}
    assert ingest.by_service(spent) == {"ingest": 2.0, "triton stub": 11.0}
    assert ingest.processes(Path("/nowhere")) == {f"ingest/{os.getpid()}": os.getpid()}


def test_no_two_documents_of_the_batch_are_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    (samples / "a.md").write_text("# Doses\n")
    monkeypatch.setattr(ingest, "SAMPLES", samples)
    items = write(tmp_path, 3)
    assert len({item.path.read_text() for item in items}) == 3
    assert len({item.metadata.document_id for item in items}) == 3


async def test_every_window_is_embedded_once_by_processes_as_triton_would() -> None:
    whole = [("Doses are low. Doses are high.", [(0, 14), (15, 30)])]
    once, often = await ingest.in_processes(whole), await ingest.in_processes(whole * 12)
    assert 0 < 4 * once.cpu < often.cpu
    assert in_process.document_embedder()("Doses are low. Doses are high.", [[0, 14], [15, 30]]).shape == (
        2,
        384,
    )


async def test_every_page_counts_however_many_files_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(routes, "perf_counter", lambda: clock[0])

    async def parse(source: Source) -> Parsed:
        await asyncio.sleep(0)  # the others begin theirs
        clock[0] += 1.0
        return Parsed("Doses are low.\n", "", "markdown")

    for at_once in (1, 2, 5):
        clock[0] = 0.0
        assert await routes._rate(parse, [Source("a.md", "markdown", b"")] * 4, 0.0, at_once) == 1.0


def test_what_a_long_document_costs_is_told_by_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "PAGES", (2, 4))
    assert {name: cost > 0 for name, cost in routes.growth().items()} == {"2 pages": True, "4 pages": True}
