"""A retrieval room in process: on the embedded store, called directly or over a real channel."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grpc import aio

from radrag import serving
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2_grpc
from retrieval.bm25 import Bm25
from retrieval.edge_store import EdgeStore
from retrieval.fusion import Rrf, across
from retrieval.index import Index, Published
from retrieval.question import Found, Question
from retrieval.search import Searcher
from retrieval.service import RetrievalService
from retrieval.store import Store
from retrieval.versions import Versions
from tests.retrieval.making import EMBEDDER, PUBLIC, TOPICS, Made, vector

TODAY = 100


@dataclass
class Room:
    """The parts of a running room."""

    store: Store
    versions: Versions
    index: Index
    searcher: Searcher
    bm25: Bm25

    async def publish(self, *documents: Made) -> Published:
        """Publishes one after another; the last result."""
        for one in documents:
            published = await self.index.publish(one.header, one.batches())
        return published

    async def search(self, text: str, **changes: object) -> Found:
        """Searches with both legs, today, for the public."""
        return await self.searcher.search(replace(asked(text), **changes))  # type: ignore[arg-type]

    async def documents(self, text: str, **changes: object) -> list[str]:
        """The documents found, best first."""
        found = await self.search(text, **changes)
        return [one.document.document_id for one in found.parents]


def asked(text: str) -> Question:
    return Question(text=text, vector=vector(text), embedder=EMBEDDER, day=TODAY, labels=PUBLIC)


@asynccontextmanager
async def room(
    path: Path, store: Store | None = None, topics: Sequence[str] = TOPICS, bm25: Bm25 | None = None
) -> AsyncIterator[Room]:
    """A room on `path`, closed at the end as a stopping service does."""
    words = bm25 or Bm25()
    opened = store or EdgeStore(path / "edge")
    versions = Versions(f"sqlite:///{path / 'versions.sqlite'}")
    index = Index(opened, versions, words)
    searcher = Searcher(opened, index.reading, words, topics, fuse=across, rrf=Rrf())
    await index.tidy()
    try:
        yield Room(opened, versions, index, searcher, words)
    finally:
        await index.settle()
        await opened.close()
        await versions.close()


@asynccontextmanager
async def service(path: Path) -> AsyncIterator[tuple[retrieval_pb2_grpc.RetrievalServiceStub, Room]]:
    """A stub of a room served on a free port."""
    async with room(path) as inside:
        served = RetrievalService(
            inside.index, inside.searcher, inside.bm25, topics=TOPICS, store="edge", today=lambda: TODAY
        )
        server = await serving.start(
            lambda one: retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(served, one), "127.0.0.1:0"
        )
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            yield retrieval_pb2_grpc.RetrievalServiceStub(channel), inside
        await server.stop()


async def publish(stub: retrieval_pb2_grpc.RetrievalServiceStub, made: Made) -> wire.IndexDocumentResponse:
    """Publishes over the channel."""
    reply: wire.IndexDocumentResponse = await stub.IndexDocument(made.messages())
    return reply
