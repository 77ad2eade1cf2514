"""Publishes a document version through the retrieval service, and knows what is published already."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import grpc
from grpc import aio

from ingest.document import Document
from ingest.indexed import IndexedVersions, day_of, number_of, terms, translated
from ingest.passage import Parent, passage_id
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import RetrievalServiceStub
from radrag.triton import Vectors

BATCH_BYTES = 2_500_000  # the contract allows 3 MB, gRPC by itself 4
PUBLISH_SECONDS, DESCRIBE_SECONDS = 600.0, 60.0


@dataclass(frozen=True)
class Published:
    """What a publication did: nothing when that very version was live with the same metadata."""

    changed: bool
    superseded: str


class Index:
    """The retrieval service's side of publishing. `fingerprint` is what made our vectors and chunks."""

    def __init__(self, channel: aio.Channel, fingerprint: wire.Fingerprint, today: date) -> None:
        self._stub = RetrievalServiceStub(channel)
        self._indexed = IndexedVersions(channel)
        self._fingerprint = fingerprint
        self._today = today
        self._live: dict[str, wire.Document] = {}

    async def refresh(self) -> None:
        """Learns which versions are live. Raises IndexUnavailable when nobody answers."""
        try:
            held: wire.DescribeResponse = await self._stub.Describe(
                wire.DescribeRequest(), **terms(DESCRIBE_SECONDS)
            )
        except grpc.RpcError as error:
            raise translated(error) from error
        same = held.HasField("fingerprint") and held.fingerprint == self._fingerprint
        live = [one.document for one in await self._indexed.all() if one.live] if same else []
        self._live = {document.document_id: document for document in live}

    @property
    def fingerprint(self) -> wire.Fingerprint:
        """What makes our vectors and chunks."""
        return self._fingerprint

    def is_live(self, document: Document) -> bool:
        """Whether this version is live with this metadata, whoever approved it."""
        live = self._live.get(document.document_id)
        return live is not None and self._described(document, live.approved_by) == live

    async def publish(
        self, document: Document, parents: Sequence[Parent], vectors: Sequence[Vectors], approved_by: str
    ) -> Published:
        """Publishes one version atomically. Raises the retrieval service's error; retries nothing."""
        described = self._described(document, approved_by)
        reply = await self._send(described, document, parents, vectors)
        self._live[document.document_id] = described
        return Published(reply.changed, reply.superseded_version)

    async def copy(
        self,
        described: wire.Document,
        document: Document,
        parents: Sequence[Parent],
        vectors: Sequence[Vectors],
        generation: str,
    ) -> None:
        """Writes a version, described as another generation has it, into this one."""
        await self._send(described, document, parents, vectors, generation)

    async def _send(
        self,
        described: wire.Document,
        document: Document,
        parents: Sequence[Parent],
        vectors: Sequence[Vectors],
        generation: str = "",
    ) -> wire.IndexDocumentResponse:
        header = wire.IndexDocumentRequest.Header(
            document=described,
            fingerprint=self._fingerprint,
            parents=len(parents),
            children=sum(len(parent.searched) for parent in parents),
            generation=generation,
        )
        messages = _messages(header, document, parents, vectors)
        try:
            reply: wire.IndexDocumentResponse = await self._stub.IndexDocument(
                messages, **terms(PUBLISH_SECONDS)
            )
        except grpc.RpcError as error:
            raise translated(error) from error
        return reply

    def _described(self, document: Document, approved_by: str) -> wire.Document:
        return wire_document(document, approved_by, self._first_day(document))

    def _first_day(self, document: Document) -> date:
        """The day given; else a live version keeps its own: running again tomorrow changes nothing."""
        live = self._live.get(document.document_id)
        if document.metadata.valid_from is not None:
            return document.metadata.valid_from
        if live is not None and live.version == document.version:
            return day_of(live.valid_from)
        return self._today


async def _messages(
    header: wire.IndexDocumentRequest.Header,
    document: Document,
    parents: Sequence[Parent],
    vectors: Sequence[Vectors],
) -> AsyncIterator[wire.IndexDocumentRequest]:
    yield wire.IndexDocumentRequest(header=header)
    for passages in batches(document, parents, vectors):
        yield wire.IndexDocumentRequest(passages=passages)


def wire_document(document: Document, approved_by: str, first_day: date) -> wire.Document:
    metadata = document.metadata
    return wire.Document(
        document_id=document.document_id,
        version=document.version,
        title=document.title,
        source_uri=metadata.source_uri,
        topic=metadata.topic,
        category=metadata.category,
        tier=document.tier,
        language=document.language,
        access_labels=sorted(set(metadata.access_labels)),
        valid_from=number_of(first_day),
        valid_to=number_of(metadata.valid_to) if metadata.valid_to else None,
        text_sha256=document.sha256,
        approved_by=approved_by,
    )


def batches(
    document: Document, parents: Sequence[Parent], vectors: Sequence[Vectors]
) -> Iterator[wire.IndexDocumentRequest.Passages]:
    """The passages in messages below the size limit, a parent always before its children."""
    batch, size = wire.IndexDocumentRequest.Passages(), 0
    for parent, rows in zip(parents, vectors, strict=True):
        group = passages_of(document, parent, rows)
        if size and size + group.ByteSize() > BATCH_BYTES:
            yield batch
            batch, size = wire.IndexDocumentRequest.Passages(), 0
        batch.MergeFrom(group)
        size += group.ByteSize()
    if size:
        yield batch


def passages_of(document: Document, parent: Parent, rows: Vectors) -> wire.IndexDocumentRequest.Passages:
    def named(level: str, start: int, end: int) -> str:
        return passage_id(document.document_id, document.version, level, start, end)

    parent_id = named("parent", parent.start, parent.end)
    written = wire.Parent(
        parent_id=parent_id,
        start=parent.start,
        end=parent.end,
        text=parent.text,
        heading_path=parent.heading_path,
        context=parent.context,
        pages=document.pages_of(parent.start, parent.end),
    )
    children = [
        wire.Child(
            child_id=named("child", child.start, child.end),
            parent_id=parent_id,
            start=child.start,
            end=child.end,
            text=child.text,
            context=child.context,
            vector=row.tolist(),
        )
        for child, row in zip(parent.searched, rows, strict=True)
    ]
    return wire.IndexDocumentRequest.Passages(parents=[written], children=children)
