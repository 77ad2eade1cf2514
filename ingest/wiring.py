"""Chooses the real stages of the corpus path and measures them: models, retrieval, child processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.catalogue.catalogue import Catalogue
from ingest.catalogue.force import Term
from ingest.chunk import ChunkLimits, chunk
from ingest.clean import clean
from ingest.cluster import cluster
from ingest.curation import Curation, in_force, today
from ingest.document import Document
from ingest.embed import Embedder, Span
from ingest.identity import unread_document
from ingest.indexed import OPTIONS, IndexedVersions
from ingest.load import Limits, Source, load
from ingest.manifest import Item
from ingest.page_counts import counted
from ingest.parse import Parse, parser
from ingest.passage import Parent
from ingest.pipeline import UNDER_WAY, Pipeline
from ingest.publish import Index, Published
from ingest.reader import Care, Reader
from ingest.reading import Reading
from ingest.review import Desk, Verdict
from ingest.tokens import TokenCounter, token_counter
from radrag.access import channels
from radrag.access.channels import Files
from radrag.errors import FailedPrecondition
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.telemetry import INGEST_STAGE_DURATION, traced
from radrag.triton import Embedding, ModelServer, Vectors


@dataclass(frozen=True)
class Plan:
    """Where the parts are and what the limits are.

    `subject` takes documents in. `approver` approves all of them; "": they wait for an expert. `ray` is the
    address of a Ray cluster that parses; "": this machine does.
    """

    embedder_url: str
    embedder_model: str
    tokenizer: Path
    retrieval_address: str
    catalogue_url: str
    topics: tuple[str, ...]
    subject: str = "radrag"
    approver: str = ""
    two_person: bool = False
    files: Limits = field(default_factory=Limits)
    chunks: ChunkLimits = field(default_factory=ChunkLimits)
    readers: int = 1
    care: Care = field(default_factory=Care)
    reading: Reading = field(default_factory=Reading)
    ray: str = ""
    embed_at_once: int = 4
    tls: Files | None = None  # of the channel to the retrieval service
    models_tls: Files | None = None  # of the channel to the embedder

    @property
    def needed(self) -> int:
        """How many different people must approve a version."""
        return 2 if self.two_person else 1


@dataclass(frozen=True)
class Parts:
    """The pipeline, connected, and what it acts on. `index` is to be refreshed before a batch."""

    pipeline: Pipeline
    curation: Curation
    index: Index


@asynccontextmanager
async def wired(plan: Plan) -> AsyncIterator[Pipeline]:
    """The pipeline, connected, with a catalogue of its own opened. Raises as `connected` does."""
    catalogue = await Catalogue.opened(plan.catalogue_url)
    try:
        async with connected(plan, catalogue) as parts:
            yield parts.pipeline
    finally:
        await catalogue.close()


@asynccontextmanager
async def connected(
    plan: Plan, catalogue: Catalogue, counter: TokenCounter | None = None
) -> AsyncIterator[Parts]:
    """The parts, connected. Raises FailedPrecondition when our tokenizer, read here unless given, is not the
    embedder's.
    """
    if counter is None:
        counter = await asyncio.to_thread(token_counter, plan.tokenizer)
    server = ModelServer(plan.embedder_url, "embedder", plan.models_tls)
    try:
        async with (
            channels.channel(plan.retrieval_address, plan.tls, OPTIONS) as channel,
            parsing(plan) as (parse, under_way),
        ):
            parameters = await server.parameters(plan.embedder_model)
            index = Index(channel, fingerprint(plan, counter, parameters), today())
            curation = Curation(catalogue, IndexedVersions(channel), plan.needed)
            await curation.settle()  # what a killed process left
            await index.refresh()
            pipeline = pipeline_of(plan, counter, server, index=index, parse=parse, curation=curation)
            yield Parts(replace(pipeline, under_way=under_way), curation, index)
    finally:
        await server.close()


@asynccontextmanager
async def parsing(plan: Plan) -> AsyncIterator[tuple[Parse, int]]:
    """The parse stage, here or on a cluster, and how many files keep it busy. Raises as `cluster` does."""
    if plan.ray:
        with cluster(plan.ray, plan.care, plan.reading) as workers:
            yield workers.parse, UNDER_WAY + workers.size
    else:
        async with Reader(plan.readers, plan.care, plan.reading) as reader:
            yield parser(reader.parse), UNDER_WAY


def pipeline_of(
    plan: Plan,
    counter: TokenCounter,
    server: ModelServer,
    *,
    index: Index,
    parse: Parse,
    curation: Curation,
) -> Pipeline:
    async def embed(text: str, spans: Sequence[Span]) -> Embedding:
        return await server.embed(plan.embedder_model, text, "document", spans)

    embedder = Embedder(embed, plan.embedder_model, plan.embed_at_once)
    subject, catalogue = plan.approver or plan.subject, curation.catalogue
    desk = Desk(catalogue, subject, approves=bool(plan.approver), needed=plan.needed)
    return Pipeline(
        load=traced("load", loader(plan.files), INGEST_STAGE_DURATION),
        parse=traced("parse", counted(parse), INGEST_STAGE_DURATION),
        clean=traced("clean", clean, INGEST_STAGE_DURATION),
        chunk=traced("chunk", chunker(counter, plan.chunks), INGEST_STAGE_DURATION),
        review=desk.review,
        is_live=liveness(index, catalogue),
        embed=traced("embed", embedder.vectors, INGEST_STAGE_DURATION),
        publish=traced("publish", publication(index, curation, subject), INGEST_STAGE_DURATION),
        unread=unread(catalogue, subject),
        topics=plan.topics,
    )


def loader(limits: Limits) -> Callable[[Item], Awaitable[Source]]:
    async def loaded(item: Item) -> Source:
        return await asyncio.to_thread(load, item.path, limits, item.name)

    return loaded


def chunker(counter: TokenCounter, limits: ChunkLimits) -> Callable[[Document], Awaitable[list[Parent]]]:
    async def chunked(document: Document) -> list[Parent]:
        return await asyncio.to_thread(chunk, document, counter, limits)

    return chunked


def liveness(index: Index, catalogue: Catalogue) -> Callable[[Document], Awaitable[bool]]:
    async def is_live(document: Document) -> bool:
        """Whether catalogue and index both have this version in force with this metadata."""
        entry = await catalogue.published(document)
        return entry is not None and index.is_live(in_force(document, entry.first_day, entry.last_day))

    return is_live


def publication(
    index: Index, curation: Curation, subject: str
) -> Callable[[Document, Sequence[Parent], Sequence[Vectors], Verdict], Awaitable[Published]]:
    async def publish(
        document: Document, parents: Sequence[Parent], vectors: Sequence[Vectors], verdict: Verdict
    ) -> Published:
        """Publishes through catalogue and index. Raises FailedPrecondition unless it is approved."""

        async def send(term: Term) -> Published:
            dated = in_force(document, term.first_day, term.last_day)
            return await index.publish(dated, parents, vectors, term.approved_by)

        return await curation.publish(verdict.entry, subject, send)

    return publish


def unread(catalogue: Catalogue, subject: str) -> Callable[[Item, str], Awaitable[None]]:
    async def note(item: Item, reason: str) -> None:
        await catalogue.fail(unread_document(item.name, item.metadata), subject, reason)

    return note


def fingerprint(plan: Plan, counter: TokenCounter, parameters: dict[str, str]) -> wire.Fingerprint:
    """What makes our vectors and chunks. Raises FailedPrecondition when the server counts other tokens."""
    served = parameters.get("tokenizer_sha256", "")
    if served != counter.sha256:
        message = f"the tokenizer {plan.tokenizer} has sha256 {counter.sha256}, the embedder's has {served}"
        raise FailedPrecondition(message, "TOKENIZER_MISMATCH")
    wish = plan.chunks.wish(counter.room)
    return wire.Fingerprint(
        embedder=wire.QueryEmbedder(
            name=plan.embedder_model,
            weights_sha256=parameters.get("weights_sha256", ""),
            dimension=int(parameters.get("dimension", "0")),
        ),
        normalized=parameters.get("normalized", "true") == "true",
        pooling=parameters.get("pooling", "chunk"),
        query_prefix=parameters.get("prefix_query", ""),
        document_prefix=parameters.get("prefix_document", ""),
        tokenizer_sha256=counter.sha256,
        chunking=plan.chunks.strategy,
        max_parent_tokens=plan.chunks.parents.most,
        max_child_tokens=wish.tokens,
        min_child_characters=wish.floor,
    )
