"""Chooses the real stages of the corpus path and measures them: models, retrieval, child processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from grpc import aio

from ingest.chunk import STRATEGY, ChunkLimits, chunk
from ingest.clean import clean
from ingest.document import Document
from ingest.embed import Embedder, Span
from ingest.load import Limits, Source, load
from ingest.manifest import Item
from ingest.parse import parser
from ingest.passage import Parent
from ingest.pipeline import Pipeline
from ingest.publish import Index
from ingest.reader import Reader
from ingest.tokens import TokenCounter, token_counter
from radrag.errors import FailedPrecondition
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.telemetry import INGEST_STAGE_DURATION, traced
from radrag.triton import Embedding, ModelServer

MESSAGE_BYTES = 64 * 1024 * 1024  # a description of many thousand documents


@dataclass(frozen=True)
class Plan:
    """Where the parts are and what the limits are. `approver` "" means: read, but publish nothing."""

    embedder_url: str
    embedder_model: str
    tokenizer: Path
    retrieval_address: str
    topics: tuple[str, ...]
    approver: str = ""
    files: Limits = field(default_factory=Limits)
    chunks: ChunkLimits = field(default_factory=ChunkLimits)
    readers: int = 1
    read_seconds: float = 300.0
    embed_at_once: int = 4


@asynccontextmanager
async def wired(plan: Plan) -> AsyncIterator[Pipeline]:
    """The pipeline, connected. Raises FailedPrecondition when our tokenizer is not the embedder's."""
    counter = await asyncio.to_thread(token_counter, plan.tokenizer)
    server = ModelServer(plan.embedder_url, "embedder")
    options = [("grpc.max_receive_message_length", MESSAGE_BYTES)]
    try:
        async with (
            aio.insecure_channel(plan.retrieval_address, options=options) as channel,
            Reader(plan.readers, seconds=plan.read_seconds) as reader,
        ):
            parameters = await server.parameters(plan.embedder_model)
            index = Index(channel, fingerprint(plan, counter, parameters), today())
            await index.refresh()
            yield pipeline_of(plan, counter, server, index, reader)
    finally:
        await server.close()


def pipeline_of(
    plan: Plan, counter: TokenCounter, server: ModelServer, index: Index, reader: Reader
) -> Pipeline:
    async def embed(text: str, spans: Sequence[Span]) -> Embedding:
        return await server.embed(plan.embedder_model, text, "document", spans)

    embedder = Embedder(embed, plan.embedder_model, plan.embed_at_once)
    return Pipeline(
        load=traced("load", loader(plan.files), INGEST_STAGE_DURATION),
        parse=traced("parse", parser(reader.parse), INGEST_STAGE_DURATION),
        clean=traced("clean", clean, INGEST_STAGE_DURATION),
        chunk=traced("chunk", chunker(counter, plan.chunks), INGEST_STAGE_DURATION),
        approve=approval(plan.approver),
        is_live=index.is_live,
        embed=traced("embed", embedder.vectors, INGEST_STAGE_DURATION),
        publish=traced("publish", index.publish, INGEST_STAGE_DURATION),
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


def approval(approver: str) -> Callable[[Document], Awaitable[str]]:
    """The approver given approves every version of the batch; review of single versions will stand here."""

    async def approve(_: Document) -> str:
        return approver

    return approve


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
        chunking=STRATEGY,
        max_parent_tokens=plan.chunks.parents.most,
        max_child_tokens=wish.tokens,
        min_child_characters=wish.floor,
    )


def today() -> date:
    return datetime.now(UTC).date()
