"""Blue and green on the real store: built beside, checked, switched at once, gone back from; never mixed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from grpc import aio

from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act
from ingest.chunk import ChunkLimits
from ingest.document import Document
from ingest.embed import Embedder, Span
from ingest.generations import Generations
from ingest.parents import ParentLimits
from ingest.passage import Parent
from ingest.publish import Index
from ingest.reconcile import compare
from ingest.reindex import Reindex, named, next_name, rollback
from ingest.reindex_check import Check, Probe, from_titles
from ingest.wiring import chunker
from radrag.errors import FailedPrecondition, ModelUnavailable, NotFound
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.triton import Embedding, Vectors
from tests.ingest.counting import counter
from tests.ingest.knowledge import PRINT, Knowledge, knowledge
from tests.retrieval.making import vector

HALF = 16
SMALL = ChunkLimits(ParentLimits(most=100, small=10, whole=20, joined=45), 50, 75, 100)
TEXTS = {
    "lens": "# Lens\n\nThe lens dose limit is twenty millisieverts a year.",
    "quench": "# Quench\n\nAfter a quench everybody leaves the scanner room.",
    "cysts": "# Cysts\n\nSimple renal cysts need no follow-up. " + "More about cysts. " * 60,
}


def other_print() -> wire.Fingerprint:
    """Another embedder of another dimension, and smaller chunks."""
    other = wire.Fingerprint()
    other.CopyFrom(PRINT)
    other.embedder.name, other.embedder.dimension, other.embedder.weights_sha256 = "half", HALF, "ef" * 32
    other.max_parent_tokens, other.max_child_tokens, other.min_child_characters = 100, 50, 75
    return other


def half(text: str) -> list[float]:
    cut = np.array(vector(text))[:HALF]
    return [float(value) for value in cut / np.linalg.norm(cut)]


@dataclass
class Halves:
    """The other embedder: half as many numbers. Fails after `left` texts; `blind` to what they say."""

    left: int = 10_000
    blind: bool = False

    async def embed(self, text: str, spans: Sequence[Span]) -> Embedding:
        self.left -= 1
        if self.left < 0:
            raise ModelUnavailable("embedder")
        texts = [text[start:end] for start, end in spans] or [text]
        rows = [half("nothing" if self.blind else one) for one in texts]
        return Embedding(np.array(rows, dtype=np.float32), [1] * len(texts), truncated=False)


@dataclass
class Stand:
    """The knowledge base, and a re-index of it with the other embedder."""

    base: Knowledge
    reindex: Reindex
    halves: Halves
    generations: Generations
    check: Check

    async def nothing(self, name: str) -> Sequence[str]:
        """A check that finds no fault."""
        return []

    async def by_titles(self, name: str) -> Sequence[str]:
        """The real check."""
        held = await self.generations.all()
        used = next(one for one in held[0] if one.current)
        probes = from_titles(await self.base.curation.indexed.all())
        return (await self.check.run(probes, used, named(held, name))).lost

    async def found(self, question: str, generation: str = "") -> list[str]:
        request = wire.SearchRequest(
            question=question, vector=half(question), embedder=other_print().embedder, generation=generation
        )
        request.as_of_day = (self.base.days[0] - date(1970, 1, 1)).days
        return [one.document.document_id for one in (await self.base.retrieval.Search(request)).parents]


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    async with standing(tmp_path) as one:
        yield one


@asynccontextmanager
async def standing(folder: Path) -> AsyncIterator[Stand]:
    async with knowledge(folder) as base, aio.insecure_channel(base.index_address) as channel:
        for document_id, text in TEXTS.items():
            await base.all_the_way(document_id, text)
        halves, generations = Halves(), Generations(channel)
        pipeline = replace(
            base.parts.pipeline,
            chunk=chunker(counter(), SMALL),
            embed=Embedder(halves.embed, "half").vectors,
        )
        index = Index(channel, other_print(), base.days[0])
        parts = replace(base.parts, pipeline=pipeline, index=index)

        async def embed(model: str, text: str) -> Embedding:
            if model == "half":
                return await halves.embed(text, [])
            return await base.models.embed(text, [(0, len(text))])

        yield Stand(base, Reindex(parts, generations), halves, generations, Check(channel, embed))


async def test_a_generation_is_built_beside_checked_and_switched_to(stand: Stand) -> None:
    name = await stand.reindex.start()
    built = await stand.reindex.build(name)
    assert (name, built.written, built.failed) == ("g2", 3, {})
    assert await stand.base.found("lens dose limit") != []  # the one in use answers all the while
    assert await stand.reindex.switch(name, stand.by_titles) == "g1"
    assert (await stand.found("lens dose limit"))[0] == "lens"
    held, _ = await stand.generations.all()
    assert [(one.name, one.current, one.documents) for one in held] == [("g1", False, 3), ("g2", True, 3)]
    assert held[1].children > held[0].children  # smaller chunks
    assert await compare(stand.base.curation) == []


async def test_neither_side_takes_what_the_other_settings_made(stand: Stand) -> None:
    name = await stand.reindex.start()
    await stand.reindex.build(name)
    entry = await stand.base.catalogue.find("lens")
    document = await stand.base.catalogue.document(entry.number)
    indexed = [one.document for one in await stand.base.curation.indexed.all()]
    (described,) = [one for one in indexed if one.document_id == "lens"]
    for parts, generation in ((stand.base.parts, name), (stand.reindex.parts, "g1")):
        parents = await parts.pipeline.chunk(document)
        vectors = await parts.pipeline.embed(document, parents)
        with pytest.raises(FailedPrecondition, match=r"fingerprint: embedder\.name is"):
            await parts.index.copy(described, document, parents, vectors, generation)
    stranger = replace(stand.reindex, parts=stand.base.parts)
    with pytest.raises(FailedPrecondition, match="made by other settings"):
        await stranger.switch(name, stand.nothing)


async def test_a_build_that_was_cut_off_goes_on_where_it_was(stand: Stand) -> None:
    stand.halves.left = 1
    name = await stand.reindex.start()
    first = await stand.reindex.build(name)
    assert first.written < 3
    assert first.failed
    with pytest.raises(FailedPrecondition, match="not written"):
        await stand.reindex.switch(name, stand.nothing)
    stand.halves.left = 10_000
    assert await stand.reindex.start() == name
    again = await stand.reindex.build(name)
    assert (first.written + again.written, again.failed) == (3, {})
    assert (await stand.reindex.behind(name)).nothing


async def test_a_failing_check_refuses_the_switch(stand: Stand) -> None:
    stand.halves.blind = True
    name = await stand.reindex.start()
    await stand.reindex.build(name)
    held = await stand.generations.all()
    used = named(held, "g1")
    probe = Probe("who must leave", "scanner", frozenset({"quench"}))
    unseen = Probe("not in the base", "mammography", frozenset({"breast"}))
    outcome = await stand.check.run([probe, unseen], used, named(held, name))
    assert (outcome.asked, outcome.found, outcome.lost) == (2, 1, ())  # its words are still found

    async def failing(name: str) -> Sequence[str]:
        return ["1 of 1 questions lost: who must leave"]

    with pytest.raises(FailedPrecondition, match="the check failed: 1 of 1 questions lost: who must leave"):
        await stand.reindex.switch(name, failing)
    assert [one.name for one in (await stand.generations.all())[0] if one.current] == ["g1"]


async def test_a_document_that_the_new_generation_lost_fails_the_check(stand: Stand) -> None:
    name = await stand.reindex.start()
    await stand.reindex.build(name)
    await stand.base.curation.indexed.remove("quench", "", name)
    assert list(await stand.by_titles(name)) == ["title of quench"]


async def test_what_is_published_retired_and_deleted_meanwhile_is_taken_up(stand: Stand) -> None:
    name = await stand.reindex.start()
    await stand.reindex.build(name)
    stand.base.days[0] = date(2027, 1, 1)
    await stand.base.all_the_way("lens", TEXTS["lens"].replace("twenty", "fifteen"))
    await stand.base.curation.retire(Intent(Act.RETIRE, "quench", "", "expert"))
    await stand.base.curation.delete(Intent(Act.DELETE, "cysts", "", "expert"))
    published: list[str] = []

    async def checked(name: str) -> Sequence[str]:
        if not published:  # between the comparison and the switch
            published.append(await stand.base.all_the_way("new", "# New\n\nSomething new about gadolinium."))
        return []

    assert await stand.reindex.switch(name, checked) == "g1"
    assert await stand.found("gadolinium") == ["new", "lens"]
    indexed = {(one.document.document_id, one.live) for one in await stand.base.curation.indexed.all()}
    assert indexed == {("lens", True), ("lens", False), ("new", True)}
    assert await compare(stand.base.curation) == []


async def test_a_copy_that_comes_after_the_retirement_is_taken_out_again(stand: Stand) -> None:
    """It read the document before it was retired, and wrote it after."""
    name = await stand.reindex.start()
    reading, retired = asyncio.Event(), asyncio.Event()
    embed = stand.reindex.parts.pipeline.embed

    async def slow(document: Document, parents: Sequence[Parent]) -> list[Vectors]:
        if document.document_id == "quench":
            reading.set()
            await retired.wait()
        return await embed(document, parents)

    pipeline = replace(stand.reindex.parts.pipeline, embed=slow)
    reindex = replace(stand.reindex, parts=replace(stand.reindex.parts, pipeline=pipeline))
    building = asyncio.create_task(reindex.build(name))
    await reading.wait()
    await stand.base.curation.retire(Intent(Act.RETIRE, "quench", "", "expert"))
    retired.set()
    await building
    assert "quench" in await stand.found("quench", name)
    await stand.reindex.switch(name, stand.nothing)
    assert "quench" not in await stand.found("quench")


async def test_going_back_is_at_once_and_what_is_lacking_is_built_again(stand: Stand) -> None:
    name = await stand.reindex.start()
    await stand.reindex.switch(name, stand.nothing)
    assert await rollback(stand.generations) == (name, "g1")
    assert (await stand.base.found("lens dose limit"))[:1] == [await version_of(stand, "lens")]
    await stand.base.all_the_way("new", "# New\n\nSomething new about gadolinium.")
    assert (await stand.reindex.behind(name)).write != ()
    assert await stand.reindex.switch(name, stand.by_titles) == "g1"
    assert (await stand.found("gadolinium"))[0] == "new"
    await stand.generations.drop("g1")
    with pytest.raises(FailedPrecondition, match="name the generation: there are no others"):
        await rollback(stand.generations)
    with pytest.raises(NotFound, match="'g7' is unknown; there are g2"):
        await rollback(stand.generations, "g7")


async def version_of(stand: Stand, document_id: str) -> str:
    return (await stand.base.catalogue.find(document_id)).version


async def test_only_what_the_catalogue_has_published_is_copied(stand: Stand) -> None:
    number = (await stand.base.catalogue.find("lens")).number
    taken_back = f"UPDATE versions SET state='rejected' WHERE number={number}"
    await stand.base.catalogue.data.write(lambda c: c.exec_driver_sql(taken_back))
    built = await stand.reindex.build(await stand.reindex.start())
    assert list(built.failed) == ["lens"]
    assert "run radrag kb reconcile" in built.failed["lens"]


def test_generations_are_numbered_on() -> None:
    assert next_name([]) == "g1"
    assert next_name(["g1", "g10", "test"]) == "g11"
