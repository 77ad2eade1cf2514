"""The corpus path end to end: real files, real parsers, an obvious embedder, a stand-in for retrieval."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from grpc import aio

from ingest.canonical import canonical
from ingest.catalogue.catalogue import Catalogue
from ingest.chunk import ChunkLimits, chunk
from ingest.clean import clean
from ingest.curation import Curation
from ingest.document import Document, Metadata
from ingest.embed import Embedder, Span, framed
from ingest.event import Event, Summary
from ingest.indexed import IndexedVersions
from ingest.load import Limits
from ingest.manifest import Item
from ingest.parents import ParentLimits
from ingest.parse import parser
from ingest.pipeline import UNDER_WAY, Pipeline, run
from ingest.publish import BATCH_BYTES, Index, batches
from ingest.reader import Reader
from ingest.review import Desk
from ingest.wiring import chunker, liveness, loader, publication, unread
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.triton import Embedding
from tests.ingest import files
from tests.ingest.counting import counter
from tests.ingest.retrieval_stand_in import StandIn, serving

SAFETY = Metadata(topic="safety")
REGULATION = Metadata("b", topic="safety", category="regulatory")
TODAY = date(2026, 12, 1)
FINGERPRINT = wire.Fingerprint(normalized=True, chunking="parent_child")
CHUNKS = ChunkLimits(ParentLimits(most=200, small=20, whole=40, joined=90), 100, 150, 200)


@dataclass
class Obvious:
    """A vector of two numbers: the span's length and 1."""

    texts: list[str] = field(default_factory=list)
    most_at_once: int = 0
    now: int = 0
    truncated: bool = False
    spoiled: bool = False
    held: asyncio.Event | None = None  # nobody is answered before it is set

    async def embed(self, text: str, spans: Sequence[Span]) -> Embedding:
        if self.held:
            await self.held.wait()
        self.texts.append(text)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        rows = [[math.nan if self.spoiled else end - start, 1.0] for start, end in spans]
        return Embedding(np.array(rows, dtype=np.float32), [1] * len(spans), self.truncated)


@dataclass
class Bench:
    """One run's parts."""

    service: StandIn
    channel: aio.Channel
    reader: Reader
    catalogue: Catalogue
    model: Obvious = field(default_factory=Obvious)
    events: list[Event] = field(default_factory=list)
    under_way: int = UNDER_WAY

    async def ingest(self, items: Sequence[Item], approver: str = "expert", today: date = TODAY) -> Summary:
        index = Index(self.channel, FINGERPRINT, today)
        await index.refresh()
        return await run(items, self.pipeline(index, approver, today), self.events.append)

    def pipeline(self, index: Index, approver: str, today: date) -> Pipeline:
        curation = Curation(self.catalogue, IndexedVersions(self.channel), today=lambda: today)
        return Pipeline(
            load=loader(Limits()),
            parse=parser(self.reader.parse),
            clean=clean,
            chunk=chunker(counter(), CHUNKS),
            review=Desk(self.catalogue, approver or "uploader", approves=bool(approver)).review,
            is_live=liveness(index, self.catalogue),
            embed=Embedder(self.model.embed, "obvious", at_once=2).vectors,
            publish=publication(index, curation, "expert"),
            unread=unread(self.catalogue, "uploader"),
            topics=("safety", "physics"),
            under_way=self.under_way,
        )


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    service = StandIn()
    server, address = await serving(service)
    catalogue = await Catalogue.opened(f"sqlite:///{tmp_path}/catalogue.db")
    async with aio.insecure_channel(address) as channel, Reader() as reader:
        yield Bench(service, channel, reader, catalogue)
    await server.stop(None)
    await catalogue.close()


TEXT = "Снимок выполняется в двух проекциях. " * 30


def item(folder: Path, name: str, data: str | bytes, metadata: Metadata = SAFETY) -> Item:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return Item(folder / name, name, metadata)


def three(folder: Path) -> list[Item]:
    return [
        item(folder, "a.md", f"# Дозы\n\n{TEXT}\n\n## КТ\n\n{TEXT}"),
        item(
            folder, "b.html", f"<h1>B</h1><p>{TEXT}</p>", Metadata("b", topic="safety", category="regulatory")
        ),
        item(folder, "c.docx", files.word_file()),
    ]


async def test_files_of_all_kinds_are_published_with_exact_offsets(bench: Bench, tmp_path: Path) -> None:
    summary = await bench.ingest(three(tmp_path))
    assert [result.outcome for result in summary.results] == ["published"] * 3
    assert set(bench.service.documents) == {"a.md", "b", "c.docx"}
    document = bench.service.documents["a.md"]
    assert (document.title, document.language, document.tier) == ("Дозы", "ru", 4)
    assert document.text_sha256.startswith(document.version)
    (passages,) = bench.service.passages["a.md"]
    assert summary.parents == sum(len(p.parents) for ps in bench.service.passages.values() for p in ps)
    children = {child.child_id: child for child in passages.children}
    assert len(children) == len(passages.children)
    for parent in passages.parents:
        own = [child for child in passages.children if child.parent_id == parent.parent_id]
        assert "".join(child.text for child in own) == parent.text
        assert [child.vector[0] for child in own] == [len(child.text) for child in own]


async def test_running_again_embeds_and_publishes_nothing_even_tomorrow(bench: Bench, tmp_path: Path) -> None:
    items = three(tmp_path)
    await bench.ingest(items)
    asked, published = len(bench.model.texts), bench.service.publications
    again = await bench.ingest(items, approver="somebody else", today=date(2026, 12, 2))
    assert [result.outcome for result in again.results] == ["unchanged"] * 3
    assert (len(bench.model.texts), bench.service.publications) == (asked, published)


async def test_a_changed_text_supersedes_and_changed_metadata_is_published(
    bench: Bench, tmp_path: Path
) -> None:
    first = (await bench.ingest([item(tmp_path, "a.md", "old")])).results[0]
    second = (await bench.ingest([item(tmp_path, "a.md", "new")])).results[0]
    assert (second.outcome, second.superseded) == ("published", first.version)
    retitled = await bench.ingest([item(tmp_path, "a.md", "new", Metadata(title="Title", topic="safety"))])
    assert (retitled.results[0].outcome, retitled.results[0].superseded) == ("published", "")


async def test_without_approval_nothing_is_embedded_or_published(bench: Bench, tmp_path: Path) -> None:
    summary = await bench.ingest(three(tmp_path), approver="")
    assert [result.outcome for result in summary.results] == ["in_review"] * 3
    assert summary.results[0].parents > 0
    assert bench.service.documents == {}
    assert bench.model.texts == []


async def test_a_file_that_fails_does_not_stop_the_others(bench: Bench, tmp_path: Path) -> None:
    bench.service.broken = {"down"}
    bad = [
        item(tmp_path, "empty.pdf", b""),
        item(tmp_path, "cut.pdf", b"%PDF-1.4 and no end"),
        item(tmp_path, "broken.md", "слово ".encode() * 9 + b"\xff"),
        item(tmp_path, "blank.md", "---\na: b\n---\n<!-- nothing -->\n"),
        item(tmp_path, "cooking.md", "x", Metadata(topic="cooking")),
        item(tmp_path, "down.md", "x", Metadata("down", topic="safety")),
        Item(tmp_path, "folder", Metadata(topic="safety")),
        item(tmp_path, "twin.md", "x", Metadata("b", topic="safety")),
    ]
    summary = await bench.ingest([*three(tmp_path), *bad])
    failed = {result.file: result.reason for result in summary.results if result.outcome == "failed"}
    assert summary.count("published") == 3
    assert set(failed) == {one.name for one in bad}
    assert all(name in reason for name, reason in failed.items() if name != "down.md")
    assert failed["down.md"] == "the retrieval service does not answer"
    assert failed["cooking.md"].startswith(
        "topic: cooking.md: 'cooking' is unknown; it must be one of safety"
    )


async def test_files_of_one_name_in_two_folders_do_not_become_one_document(
    bench: Bench, tmp_path: Path
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    summary = await bench.ingest(
        [item(tmp_path / folder, "index.md", f"# {folder}\n\n{TEXT}") for folder in ("a", "b")]
    )
    (failed,) = [result for result in summary.results if result.outcome == "failed"]
    assert summary.count("published") == 1
    assert "is document index.md already" in failed.reason


async def test_events_tell_each_stage_of_each_file_and_its_end(bench: Bench, tmp_path: Path) -> None:
    await bench.ingest([item(tmp_path, "a.md", "text")])
    assert [event.stage for event in bench.events[:-1]] == [
        "load", "parse", "clean", "chunk", "review", "embed", "publish",
    ]  # fmt: skip
    assert bench.events[-1].result is not None
    assert bench.events[-1].result.outcome == "published"


async def test_a_truncated_text_and_nan_are_refused(bench: Bench, tmp_path: Path) -> None:
    bench.model.truncated = True
    cut = await bench.ingest([item(tmp_path, "a.md", "text")])
    assert "longer than the embedder's window" in cut.results[0].reason
    bench.model = Obvious(spoiled=True)
    spoiled = await bench.ingest([item(tmp_path, "a.md", "text")])
    assert "NaN" in spoiled.results[0].reason
    assert bench.service.documents == {}


async def test_no_more_parents_are_embedded_at_once_than_allowed(bench: Bench, tmp_path: Path) -> None:
    text = "\n\n".join(f"## {n}\n\n{TEXT}" for n in range(6))
    await bench.ingest([item(tmp_path, f"{n}.md", f"{n}\n\n{text}") for n in range(4)])
    assert bench.model.most_at_once == 2


async def test_the_next_files_are_parsed_while_one_is_embedded_and_no_more_wait_than_may(
    bench: Bench, tmp_path: Path
) -> None:
    """With the embedder held, files are read up to the bound and no further; let go, all are published."""
    bench.under_way, held = 3, asyncio.Event()
    bench.model.held = held
    items = [item(tmp_path, f"{n}.md", f"{n} {TEXT}") for n in range(8)]
    running = asyncio.create_task(bench.ingest(items))
    await waiting(bench, "embed", 3)
    await asyncio.sleep(0.3)  # for a fourth that ought not to come
    entered = [(event.file, event.stage) for event in bench.events if event.stage]
    assert {file for file, _ in entered} == {"0.md", "1.md", "2.md"}
    assert {file for file, stage in entered if stage == "parse"} == {"0.md", "1.md", "2.md"}
    assert bench.service.documents == {}
    held.set()
    assert (await running).count("published") == 8


async def waiting(bench: Bench, stage: str, files: int) -> None:
    """Until so many files have come to a stage."""
    async with asyncio.timeout(60):
        while len({event.file for event in bench.events if event.stage == stage}) < files:
            await asyncio.sleep(0.01)


async def test_cancelling_a_batch_ends_it_at_once_and_publishes_no_more(bench: Bench, tmp_path: Path) -> None:
    text = "\n\n".join(f"## {n}\n\n{TEXT}" for n in range(30))
    task = asyncio.create_task(bench.ingest([item(tmp_path, f"{n}.md", f"{n} {text}") for n in range(20)]))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    published, asked = bench.service.publications, len(bench.model.texts)
    await asyncio.sleep(0.2)
    assert (bench.service.publications, len(bench.model.texts)) == (published, asked)


def test_a_large_document_travels_in_messages_below_the_limit() -> None:
    text = canonical("\n\n".join(f"## {n}\n\n{TEXT}" for n in range(40)))
    document = Document("d", text, "T", "ru", Metadata(topic="safety"), "test")
    parents = chunk(document, counter(), CHUNKS)
    vectors = [np.ones((len(parent.children), 5000), dtype=np.float32) for parent in parents]
    messages = list(batches(document, parents, vectors))
    assert len(messages) > 1
    assert max(message.ByteSize() for message in messages) <= BATCH_BYTES
    seen: set[str] = set()
    for message in messages:
        seen |= {parent.parent_id for parent in message.parents}
        assert all(child.parent_id in seen for child in message.children)
    assert len(seen) == len(parents)


def test_spans_are_shifted_by_the_context_in_front() -> None:
    text = "# T\n\n## Глава\n\nОдно. Другое.\n"
    document = Document("d", text, "T", "ru", Metadata(), "test")
    (parent,) = chunk(document, counter(), CHUNKS)
    framed_text, spans = framed(document, parent)
    assert framed_text == f"T\nГлава\n{text}"
    assert [framed_text[start:end] for start, end in spans] == [child.text for child in parent.children]
