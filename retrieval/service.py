"""The gRPC skin of the index: each method checks its request, calls the core, and answers."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias

from grpc import aio

from radrag import call
from radrag.errors import InvalidArgument
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2_grpc
from retrieval import replies, requests, rights
from retrieval.bm25 import Bm25
from retrieval.index import Index
from retrieval.publication import Batch
from retrieval.search import Searcher

NAME = "radrag.retrieval.v1.RetrievalService"
Context: TypeAlias = "aio.ServicerContext[object, object]"


def today() -> int:
    """Days since 1970-01-01, UTC."""
    return int(datetime.now(UTC).timestamp() // 86_400)


class RetrievalService(retrieval_pb2_grpc.RetrievalServiceServicer):
    """Serves `topics` of one index; `store` is its kind."""

    def __init__(
        self,
        index: Index,
        searcher: Searcher,
        bm25: Bm25,
        *,
        topics: Sequence[str],
        store: str,
        today: Callable[[], int] = today,
    ) -> None:
        self._index, self._searcher, self._bm25 = index, searcher, bm25
        self._topics, self._store, self._today = topics, store, today

    async def Search(self, request: wire.SearchRequest, context: Context) -> wire.SearchResponse:  # noqa: N802
        """Finds the parents whose children match a question best."""
        question = requests.question(request, _labels(), self._topics, self._today())
        question = replace(question, topics=rights.topics(question.topics, self._topics))
        return replies.found(await self._searcher.search(question))

    async def IndexDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[wire.IndexDocumentRequest], context: Context
    ) -> wire.IndexDocumentResponse:
        """Publishes one document version atomically."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("part") != "header":
            raise InvalidArgument("header", "must come first")
        header = requests.header(first.header, self._topics)
        published = await self._index.publish(header, _batches(request_iterator))
        return wire.IndexDocumentResponse(
            changed=published.changed,
            revision=published.revision,
            superseded_version=published.superseded_version,
        )

    async def DeleteDocument(  # noqa: N802
        self, request: wire.DeleteDocumentRequest, context: Context
    ) -> wire.DeleteDocumentResponse:
        """Removes one version of a document, or all of them."""
        versions, revision = await self._index.delete(*requests.deletion(request))
        return wire.DeleteDocumentResponse(versions=versions, revision=revision)

    async def RetireDocument(  # noqa: N802
        self, request: wire.RetireDocumentRequest, context: Context
    ) -> wire.RetireDocumentResponse:
        """Ends a version's force on a day."""
        changed, revision = await self._index.end(*requests.ending(request))
        return wire.RetireDocumentResponse(changed=changed, revision=revision)

    async def ListVersions(  # noqa: N802
        self, request: wire.ListVersionsRequest, context: Context
    ) -> AsyncIterator[wire.ListVersionsResponse]:
        """Lists every version, whoever may see it."""
        async with self._index.reading(requests.generation(request)) as view:
            listed = list(replies.versions(view))
        for some in listed:
            yield some

    async def GetParents(  # noqa: N802
        self, request: wire.GetParentsRequest, context: Context
    ) -> wire.GetParentsResponse:
        """Fetches parents by id."""
        parent_ids, mine = requests.parent_ids(request), call.current().caller.has_topic
        parents = await self._searcher.parents(parent_ids, _labels(), mine)
        return wire.GetParentsResponse(parents=map(replies.found_parent, parents))

    async def Describe(self, request: wire.DescribeRequest, context: Context) -> wire.DescribeResponse:  # noqa: N802
        """Says what the index holds."""
        async with self._index.reading() as view:
            live = view.generation.live() if view.generation and request.documents else []
            seen = [one.document for one in live if rights.sees(one.document)]
            seen.sort(key=lambda document: document.document_id)
            return replies.description(view, self._topics, seen, self._bm25.sha256, self._store)

    async def CreateGeneration(  # noqa: N802
        self, request: wire.CreateGenerationRequest, context: Context
    ) -> wire.CreateGenerationResponse:
        """Makes an empty generation."""
        revision = await self._index.create_generation(*requests.creation(request))
        return wire.CreateGenerationResponse(revision=revision)

    async def ListGenerations(  # noqa: N802
        self, request: wire.ListGenerationsRequest, context: Context
    ) -> wire.ListGenerationsResponse:
        """Lists all generations."""
        return replies.generations(*await self._index.generations())

    async def SwitchGeneration(  # noqa: N802
        self, request: wire.SwitchGenerationRequest, context: Context
    ) -> wire.SwitchGenerationResponse:
        """Makes a generation the current one."""
        previous, revision = await self._index.switch(*requests.switch(request))
        return wire.SwitchGenerationResponse(previous=previous, revision=revision)

    async def DropGeneration(  # noqa: N802
        self, request: wire.DropGenerationRequest, context: Context
    ) -> wire.DropGenerationResponse:
        """Removes a generation."""
        await self._index.drop_generation(requests.named(request.generation))
        return wire.DropGenerationResponse()


def _labels() -> frozenset[str]:
    return call.current().caller.labels


async def _batches(messages: AsyncIterator[wire.IndexDocumentRequest]) -> AsyncIterator[Batch]:
    async for message in messages:
        if message.WhichOneof("part") != "passages":
            raise InvalidArgument("header", "must come once, first; then passages")
        yield requests.batch(message.passages)
