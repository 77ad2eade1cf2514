"""A retrieval service whose answers are obvious: it keeps what it is sent and says what it keeps."""

from collections.abc import AsyncIterator

import grpc
from grpc import aio

from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1.retrieval_pb2_grpc import (
    RetrievalServiceServicer,
    add_RetrievalServiceServicer_to_server,
)

Context = aio.ServicerContext[wire.IndexDocumentRequest, wire.IndexDocumentResponse]

Asked = aio.ServicerContext[wire.DescribeRequest, wire.DescribeResponse]


class StandIn(RetrievalServiceServicer):
    def __init__(self) -> None:
        self.documents: dict[str, wire.Document] = {}
        self.passages: dict[str, list[wire.IndexDocumentRequest.Passages]] = {}
        self.fingerprint = wire.Fingerprint()
        self.publications = 0
        self.broken: set[str] = set()

    async def IndexDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[wire.IndexDocumentRequest], context: Context
    ) -> wire.IndexDocumentResponse:
        header, *rest = [message async for message in request_iterator]
        document = header.header.document
        if document.document_id in self.broken:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "down")
        old = self.documents.get(document.document_id)
        self.publications += 1
        self.documents[document.document_id] = document
        self.passages[document.document_id] = [message.passages for message in rest]
        self.fingerprint = header.header.fingerprint
        superseded = old.version if old and old.version != document.version else ""
        return wire.IndexDocumentResponse(changed=old != document, superseded_version=superseded)

    async def Describe(  # noqa: N802
        self,
        request: wire.DescribeRequest,
        context: aio.ServicerContext[wire.DescribeRequest, wire.DescribeResponse],
    ) -> wire.DescribeResponse:
        return wire.DescribeResponse(documents=self.documents.values(), fingerprint=self.fingerprint)

    async def ListVersions(  # noqa: N802
        self,
        request: wire.ListVersionsRequest,
        context: aio.ServicerContext[wire.ListVersionsRequest, wire.ListVersionsResponse],
    ) -> AsyncIterator[wire.ListVersionsResponse]:
        for document in self.documents.values():
            yield wire.ListVersionsResponse(versions=[wire.IndexedVersion(document=document, live=True)])


async def serving(stand_in: StandIn) -> tuple[aio.Server, str]:
    """A started server on a free port, and its address."""
    server = aio.server()
    add_RetrievalServiceServicer_to_server(stand_in, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}"
