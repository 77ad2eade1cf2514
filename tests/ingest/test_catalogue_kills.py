"""Ingest and retrieval killed at random moments of publishing: every document is wholly old or wholly new.

RADRAG_TEST_KILLS and RADRAG_TEST_KILL_DOCUMENTS make it the full run: 50 and 100.
RADRAG_TEST_KILL_MODEL=e5_small takes the real embedder in place of the null one.
RADRAG_TEST_RESULTS names the folder for the result.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import pytest
from grpc import aio

from benchmarks.record import record
from ingest.canonical import canonical
from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.entry import sha256
from ingest.catalogue.states import State
from ingest.chunk import chunk
from ingest.curation import Curation, in_force
from ingest.document import Document, Metadata
from ingest.indexed import IndexedVersions
from ingest.passage import passage_id
from ingest.reconcile import compare
from ingest.tokens import token_counter
from radrag.retrieval.v1 import retrieval_pb2 as wire
from tests.ingest.batch import TOKENIZER
from tests.ingest.embedders import NULL, served
from tests.ingest.knowledge import CHUNKS, knowledge
from tests.retrieval.process import ROOT, Process, running

KILLS = int(os.environ.get("RADRAG_TEST_KILLS", "4"))
DOCUMENTS = int(os.environ.get("RADRAG_TEST_KILL_DOCUMENTS", "10"))
MODEL = os.environ.get("RADRAG_TEST_KILL_MODEL", NULL)
STAGES = 8  # lines a published document makes
TRIES = 3  # for each kill: one that comes after the batch's end does not count
COUNTER = token_counter(TOKENIZER)


def text(n: int, version: int) -> str:
    words = " ".join([f"word{n}"] * 40)
    parts = [f"## Часть {part}\n\nDocument {n}, version {version}. {words}" for part in range(6)]
    return canonical("\n\n".join([f"# Document {n}", *parts]))


class Files:
    """The documents' files, and which version each holds; `embedder` is where MODEL is served."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self.folder, self.embedder = folder, embedder
        self._folder = folder / "documents"
        self._folder.mkdir()
        self.versions = dict.fromkeys(range(DOCUMENTS), 0)
        self.write(range(DOCUMENTS), 1)

    def write(self, which: "range | list[int]", version: int) -> None:
        for n in which:
            self.versions[n] = version
            (self._folder / f"d{n}.md").write_text(text(n, version))


@contextmanager
def batch(files: Files, process: Process) -> "Iterator[subprocess.Popen[str]]":
    given = (str(files.folder), f"127.0.0.1:{process.port}", files.embedder, MODEL)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.ingest.batch", *given],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        yield child


def until(child: "subprocess.Popen[str]", lines: int) -> None:
    """Returns after so many lines, or at its end."""
    assert child.stdout is not None
    for _ in range(lines):
        if not child.stdout.readline():
            return


async def killed(files: Files, rng: random.Random, victim: str, lines: int) -> bool:
    """Runs a batch and kills one of the two after so many lines and a moment; whether that hit work."""
    async with running(files.folder) as process:
        with batch(files, process) as child:
            await asyncio.to_thread(until, child, lines)
            await asyncio.sleep(rng.uniform(0, 0.02))
            if victim == "retrieval":
                ended = await process.end(signal.SIGKILL)
            else:
                child.send_signal(signal.SIGKILL)
                ended = await asyncio.to_thread(child.wait, 120)
            await asyncio.to_thread(child.communicate, timeout=120)
    # A batch that ended well had nothing left to lose.
    return ended == -signal.SIGKILL and child.returncode != 0


async def live(process: Process) -> dict[str, wire.Document]:
    replies = process.stub.ListVersions(wire.ListVersionsRequest())
    found = [one.document async for reply in replies for one in reply.versions if one.live]
    assert len(found) == len({one.document_id for one in found})
    return {one.document_id: one for one in found}


async def check_whole(process: Process, document: wire.Document, allowed: list[str]) -> None:
    """One of these texts is in the index, whole: every parent with its text, and no other is found."""
    (whole,) = [one for one in allowed if sha256(one) == document.text_sha256]
    made = Document(document.document_id, whole, document.title, "en", Metadata(), "")
    parents = chunk(made, COUNTER, CHUNKS)
    ids = [passage_id(made.document_id, made.version, "parent", one.start, one.end) for one in parents]
    reply = await process.stub.GetParents(wire.GetParentsRequest(parent_ids=ids))
    assert "".join(one.parent.text for one in reply.parents) == whole
    found = await process.stub.Search(
        wire.SearchRequest(question="word version", document_ids=[made.document_id], parents=100)
    )
    assert {one.document.version for one in found.parents} == {made.version}


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Triton that serves MODEL."""
    with served(MODEL, tmp_path_factory.mktemp("embedder")) as address:
        yield address


async def test_killed_at_random_moments_every_document_is_wholly_old_or_new(
    tmp_path: Path, embedder: str
) -> None:
    rng, files, started = random.Random(20261201), Files(tmp_path, embedder), perf_counter()
    await undisturbed(files)
    hit, missed = await all_kills(files, rng)
    await undisturbed(files)
    async with running(tmp_path) as process:
        await check_the_end(tmp_path, process, files)
    if folder := os.environ.get("RADRAG_TEST_RESULTS"):
        figures = {"embedder": MODEL, "documents": DOCUMENTS, "kills": hit, "missed": missed}
        seconds = round(perf_counter() - started, 1)
        record(Path(folder) / f"kills-{MODEL}.json", {**figures, "seconds": seconds})


@pytest.mark.parametrize("victim", ["ingest", "retrieval"])
async def test_a_kill_after_the_batch_ended_is_not_counted(
    tmp_path: Path, embedder: str, victim: str
) -> None:
    files, past_its_end = Files(tmp_path, embedder), 1000 * STAGES
    assert not await killed(files, random.Random(1), victim, past_its_end)


async def undisturbed(files: Files) -> None:
    """One batch that nobody kills: all documents are live after it."""
    async with running(files.folder) as process:
        with batch(files, process) as child:
            await asyncio.to_thread(child.communicate, timeout=900)
        assert child.returncode == 0
        assert len(await live(process)) == DOCUMENTS


async def all_kills(files: Files, rng: random.Random) -> tuple[Counter[str], int]:
    """Goes on until half of KILLS hit each of the two; how many hit which, and how many came too late."""
    asked = Counter({"ingest": (KILLS + 1) // 2, "retrieval": KILLS // 2})
    hit: Counter[str] = Counter()
    for tries in range(1, KILLS * TRIES + 1):
        victim = rng.choice(list((asked - hit).elements()))
        hit[victim] += await one_kill(files, rng, victim, version=tries + 1)
        if hit == asked:
            return hit, tries - KILLS
    pytest.fail(f"{hit.total()} of {KILLS} kills hit a running batch in {KILLS * TRIES} tries")


async def one_kill(files: Files, rng: random.Random, victim: str, version: int) -> bool:
    """Kills one of the two while half of the documents get a new version; whether it hit. All are whole."""
    changed = rng.sample(range(DOCUMENTS), DOCUMENTS // 2)
    files.write(changed, version)
    hit = await killed(files, rng, victim, rng.randint(1, len(changed) * STAGES))
    async with running(files.folder) as process:
        held = await live(process)
        assert len(held) == DOCUMENTS
        for n in range(DOCUMENTS):
            allowed = [text(n, version) for version in range(1, files.versions[n] + 1)]
            await check_whole(process, held[f"d{n}"], allowed)
    return hit


async def check_the_end(folder: Path, process: Process, files: Files) -> None:
    """After one undisturbed run everything is new, nothing is doubled, and nothing is left to repair."""
    held = await live(process)
    expected = 0
    for n, version in files.versions.items():
        await check_whole(process, held[f"d{n}"], [text(n, version)])
        made = Document(f"d{n}", text(n, version), f"Document {n}", "en", Metadata(), "")
        expected += len(chunk(made, COUNTER, CHUNKS))
    described = await process.stub.Describe(wire.DescribeRequest())
    assert sum(topic.parents for topic in described.topics) == expected
    catalogue = await Catalogue.opened(f"sqlite:///{folder / 'catalogue.db'}")
    try:
        async with aio.insecure_channel(f"127.0.0.1:{process.port}") as channel:
            assert await compare(Curation(catalogue, IndexedVersions(channel))) == []
        published = await catalogue.all_in([State.PUBLISHED])
        assert {one.document_id: one.version for one in published} == {
            name: document.version for name, document in held.items()
        }
    finally:
        await catalogue.close()


@pytest.mark.parametrize("place", ["before", "after"])
async def test_a_publication_cut_off_around_its_commit_is_settled(tmp_path: Path, place: str) -> None:
    """Killed before the index knew it, a version stays approved; killed after, it is published."""
    async with knowledge(tmp_path) as base:
        version = await base.submit("lens", "# Lens\n\nDose.")
        await base.review("lens", version)
        entry = await base.catalogue.find("lens")
        term = await base.catalogue.begin_publishing(entry.number, "expert", 1, base.days[0])
        if place == "after":
            document = await base.catalogue.document(entry.number)
            parents = await base.parts.pipeline.chunk(document)
            vectors = await base.parts.pipeline.embed(document, parents)
            dated = in_force(document, term.first_day, term.last_day)
            await base.parts.index.publish(dated, parents, vectors, term.approved_by)
        assert [one.kind for one in await compare(base.curation)] == ["unfinished"]
        await base.curation.settle()
        state = (await base.catalogue.find("lens")).state
        assert state is (State.PUBLISHED if place == "after" else State.APPROVED)
        assert await compare(base.curation) == []
