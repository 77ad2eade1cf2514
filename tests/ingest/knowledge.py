"""The knowledge base with everything real but the models: retrieval, catalogue, jobs, service; one process.

A vector follows from a text's words alone, so that a question's nearest passage shares its words.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from grpc import aio

from ingest.catalogue.catalogue import Catalogue
from ingest.chunk import ChunkLimits
from ingest.clean import clean
from ingest.curation import Curation
from ingest.embed import Embedder, Span
from ingest.indexed import IndexedVersions, number_of
from ingest.jobs import Jobs
from ingest.jobs_table import JobTable
from ingest.load import Limits
from ingest.parents import ParentLimits
from ingest.parse import parser
from ingest.pipeline import Pipeline
from ingest.publish import Index
from ingest.reader import Reader
from ingest.review import Desk
from ingest.service import KnowledgeService
from ingest.service_uploads import Uploads
from ingest.wiring import Parts, chunker, liveness, loader, publication, unread
from ingest.work import works
from radrag import serving
from radrag.errors import ModelUnavailable
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1.knowledge_pb2_grpc import (
    KnowledgeServiceStub,
    add_KnowledgeServiceServicer_to_server,
)
from radrag.retrieval.v1 import retrieval_pb2, retrieval_pb2_grpc
from radrag.triton import Embedding
from retrieval.service import RetrievalService
from tests.ingest.counting import counter
from tests.retrieval.making import (
    EMBEDDER,
    FINGERPRINT,
    TOPICS,
    embedder_message,
    header_message,
    made,
    vector,
)
from tests.retrieval.running import room

CHUNKS = ChunkLimits(ParentLimits(most=200, small=20, whole=40, joined=90), 100, 150, 200)
PRINT = header_message(made("any", "Any.").header).fingerprint
assert PRINT.max_child_tokens == FINGERPRINT.max_child_tokens


@dataclass
class Models:
    """The embedder; `missing` makes it answer nobody."""

    missing: bool = False
    asked: int = 0

    async def embed(self, text: str, spans: Sequence[Span]) -> Embedding:
        self.asked += 1
        if self.missing:
            raise ModelUnavailable("embedder")
        rows = [vector(text[start:end]) for start, end in spans]
        return Embedding(np.array(rows, dtype=np.float32), [1] * len(spans), truncated=False)


@dataclass
class Knowledge:
    """The running parts. `days` holds today."""

    stub: KnowledgeServiceStub
    retrieval: retrieval_pb2_grpc.RetrievalServiceStub
    curation: Curation
    parts: Parts
    jobs: Jobs
    models: Models
    days: list[date]
    index_address: str
    address: str

    @property
    def catalogue(self) -> Catalogue:
        return self.curation.catalogue

    async def submit(self, document_id: str, text: str, **said: str) -> str:
        """Hands a Markdown file in, waits for its end, returns its version."""
        reply = await self.stub.SubmitDocument(
            submission(f"{document_id}.md", text, {"document_id": document_id, **said}),
            metadata=caller("uploader"),
        )
        last = await self.watched(reply.job_id)
        assert last.error == "", last.error
        return str((await self.get(document_id)).document.version)

    async def watched(self, job_id: str) -> wire.WatchJobResponse:
        """The last message about a job."""
        messages = self.stub.WatchJob(wire.WatchJobRequest(job_id=job_id), timeout=60)
        last = wire.WatchJobResponse()
        async for last in messages:  # noqa: B007
            pass
        return last

    async def review(self, document_id: str, version: str, who: str = "expert", reason: str = "") -> int:
        """Approves, or rejects when there is a reason; the new state."""
        kind = wire.ReviewDocumentRequest
        decision = kind.DECISION_REJECT if reason else kind.DECISION_APPROVE
        reply = await self.stub.ReviewDocument(
            kind(document_id=document_id, version=version, decision=decision, reason=reason),
            metadata=caller(who),
        )
        return int(reply.state)

    async def publish(self, document_id: str, version: str) -> wire.WatchJobResponse:
        """Publishes; the last message of the job."""
        reply = await self.stub.PublishDocument(
            wire.PublishDocumentRequest(document_id=document_id, version=version), metadata=caller("expert")
        )
        return await self.watched(reply.job_id)

    async def all_the_way(self, document_id: str, text: str, **said: str) -> str:
        """Hands in, approves and publishes; the version."""
        version = await self.submit(document_id, text, **said)
        await self.review(document_id, version)
        last = await self.publish(document_id, version)
        assert last.error == "", last.error
        return version

    async def get(self, document_id: str, version: str = "") -> wire.GetDocumentResponse:
        reply: wire.GetDocumentResponse = await self.stub.GetDocument(
            wire.GetDocumentRequest(document_id=document_id, version=version)
        )
        return reply

    async def found(self, question: str, day: date | None = None, **filters: object) -> list[str]:
        """The versions a search finds, on a day, by both legs."""
        request = retrieval_pb2.SearchRequest(
            question=question,
            vector=vector(question),
            embedder=embedder_message(EMBEDDER),
            **filters,  # type: ignore[arg-type]
        )
        request.as_of_day = number_of(day or self.days[0])
        reply = await self.retrieval.Search(request)
        return [one.document.version for one in reply.parents]


@asynccontextmanager
async def knowledge(folder: Path, needed: int = 1) -> AsyncIterator[Knowledge]:
    """Everything, running, with its state in `folder`."""
    days = [date(2026, 12, 1)]
    async with AsyncExitStack() as until:
        index_stub, channel, index_address = await until.enter_async_context(retrieval_at(folder, days))
        catalogue = await Catalogue.opened(f"sqlite:///{folder / 'catalogue.db'}")
        until.push_async_callback(catalogue.close)
        curation = Curation(catalogue, IndexedVersions(channel), needed, lambda: days[0])
        models, reader = Models(), await until.enter_async_context(Reader())
        parts = parts_of(curation, channel, models, reader)

        async def connected() -> Parts:
            return parts

        jobs = Jobs(JobTable(catalogue.data), works(catalogue, connected))
        running = asyncio.create_task(jobs.run())
        until.push_async_callback(ended, running)
        service = KnowledgeService(curation, jobs, Uploads(folder / "uploads", 3_000_000), TOPICS, "config")
        server = await serving.start(
            lambda one: add_KnowledgeServiceServicer_to_server(service, one), "127.0.0.1:0"
        )
        until.push_async_callback(server.stop)
        address = f"127.0.0.1:{server.port}"
        own = await until.enter_async_context(aio.insecure_channel(address))
        stub = KnowledgeServiceStub(own)
        yield Knowledge(stub, index_stub, curation, parts, jobs, models, days, index_address, address)


async def ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def retrieval_at(
    path: Path, days: list[date]
) -> AsyncIterator[tuple[retrieval_pb2_grpc.RetrievalServiceStub, aio.Channel, str]]:
    """The real retrieval service on a free port; its today is the first of `days`."""
    async with room(path) as inside:
        service = RetrievalService(
            inside.index,
            inside.searcher,
            inside.bm25,
            topics=TOPICS,
            store="edge",
            today=lambda: number_of(days[0]),
        )
        server = await serving.start(
            lambda one: retrieval_pb2_grpc.add_RetrievalServiceServicer_to_server(service, one), "127.0.0.1:0"
        )
        address = f"127.0.0.1:{server.port}"
        async with aio.insecure_channel(address) as channel:
            yield retrieval_pb2_grpc.RetrievalServiceStub(channel), channel, address
        await server.stop()


def parts_of(curation: Curation, channel: aio.Channel, models: Models, reader: Reader) -> Parts:
    """The corpus path with everything real but the embedder; `expert` takes in and approves nothing."""
    index, catalogue = Index(channel, PRINT, curation.today()), curation.catalogue
    pipeline = Pipeline(
        load=loader(Limits()),
        parse=parser(reader.parse),
        clean=clean,
        chunk=chunker(counter(), CHUNKS),
        review=Desk(catalogue, "expert", needed=curation.needed).review,
        is_live=liveness(index, catalogue),
        embed=Embedder(models.embed, "words").vectors,
        publish=publication(index, curation, "expert"),
        unread=unread(catalogue, "expert"),
        topics=TOPICS,
    )
    return Parts(pipeline, curation, index)


async def submission(
    filename: str, data: str | bytes, said: Mapping[str, str] | None = None, piece: int = 1000
) -> AsyncIterator[wire.SubmitDocumentRequest]:
    """The messages of a file in the topic safety."""
    known = wire.Metadata(**{"topic": "safety", **(said or {})})
    header = wire.SubmitDocumentRequest.Header(metadata=known, filename=filename)
    yield wire.SubmitDocumentRequest(header=header)
    raw = data.encode() if isinstance(data, str) else data
    for at in range(0, len(raw), piece):
        yield wire.SubmitDocumentRequest(data=raw[at : at + piece])


def caller(subject: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call by this person."""
    return (("radrag-subject", subject),)
