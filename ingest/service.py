"""The gRPC skin of the knowledge base: each method checks its request, calls the core, and answers."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TypeAlias

from grpc import aio

from ingest import rights
from ingest import service_replies as replies
from ingest import service_requests as requests
from ingest.catalogue import ratings
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act, State
from ingest.curation import Curation
from ingest.document import Metadata
from ingest.identity import document_id_of, unread_document
from ingest.jobs import Jobs
from ingest.jobs_table import Asked, Job
from ingest.review_changes import changes
from ingest.service_uploads import Uploads
from ingest.work import metadata_out
from radrag import account, call
from radrag.errors import FailedPrecondition, InvalidArgument
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1.knowledge_pb2_grpc import KnowledgeServiceServicer

NAME = "radrag.knowledge.v1.KnowledgeService"
LOOK_SECONDS = 0.2
Context: TypeAlias = "aio.ServicerContext[object, object]"


class KnowledgeService(KnowledgeServiceServicer):
    """Serves one catalogue; `config` is a hash of what its chunks and vectors depend on."""

    def __init__(
        self, curation: Curation, jobs: Jobs, uploads: Uploads, topics: tuple[str, ...], config: str
    ) -> None:
        self._curation, self._catalogue = curation, curation.catalogue
        self._jobs, self._uploads, self._topics, self._config = jobs, uploads, topics, config

    async def SubmitDocument(  # noqa: N802
        self, request_iterator: AsyncIterator[wire.SubmitDocumentRequest], context: Context
    ) -> wire.SubmitDocumentResponse:
        """Takes a file in and queues the job that reads it."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("part") != "header":
            raise InvalidArgument("header", "must come first")
        name, metadata = requests.header(first.header, self._topics)
        metadata = replace(metadata, document_id=document_id_of(name, metadata))
        await rights.check_new(self._catalogue, metadata)
        upload = await self._uploads.receive(_data(request_iterator))
        asked = self._reading(name, metadata, upload.sha256)
        await self._uploads.keep(upload, asked.key)
        await self._catalogue.discover(unread_document(name, metadata), asked.subject)
        job = await self._start(asked)
        _record("discovered", metadata.document_id, content_sha256=upload.sha256)
        return wire.SubmitDocumentResponse(document_id=metadata.document_id, job_id=job.job_id)

    def _reading(self, name: str, metadata: Metadata, content: str) -> Asked:
        said = metadata_out(metadata)
        given: dict[str, object] = {"filename": name, "metadata": said}
        subject, document_id = call.current().caller.subject, metadata.document_id
        asked = Asked("read", document_id, "", subject, f"{content} {name} {said}", self._config, given)
        return replace(asked, given={**given, "path": str(self._uploads.path_of(asked.key))})

    async def ListDocuments(  # noqa: N802
        self, request: wire.ListDocumentsRequest, context: Context
    ) -> wire.ListDocumentsResponse:
        """Lists versions, newest first."""
        page = requests.page(request, self._topics)
        found = await rights.page(self._catalogue, page.states, page.topics, page.size + 1, page.before)
        listed = found[: page.size]
        more = len(found) > len(listed)
        return wire.ListDocumentsResponse(
            documents=map(replies.summary, listed),
            next_page_token=requests.token(listed[-1].number, page.filter_hash) if more else "",
        )

    async def GetDocument(  # noqa: N802
        self, request: wire.GetDocumentRequest, context: Context
    ) -> wire.GetDocumentResponse:
        """Shows one version."""
        named = requests.document_id(request.document_id), requests.version(request.version, required=False)
        await rights.check(self._catalogue, named[0])
        found = await self._catalogue.show(*named)
        found = replace(found, near=await rights.near(self._catalogue, found.near))
        before = await self._catalogue.before(found.entry)
        changed = await asyncio.to_thread(changes, before.text, found.document.text) if before else []
        return replies.shown(found, changed)

    async def ReviewDocument(  # noqa: N802
        self, request: wire.ReviewDocumentRequest, context: Context
    ) -> wire.ReviewDocumentResponse:
        """Approves or rejects one version, for the person who calls."""
        named = requests.document_id(request.document_id), requests.version(request.version)
        reason, subject = requests.reason(request.reason), call.current().caller.subject
        approves = requests.approves(request.decision)
        await rights.check(self._catalogue, named[0])
        if approves:
            entry = await self._catalogue.approve(*named, subject, reason, self._curation.needed)
        else:
            entry = await self._catalogue.reject(*named, subject, reason)
        _record(entry.state.value, *named)
        return wire.ReviewDocumentResponse(state=replies.state(entry.state))

    async def PublishDocument(  # noqa: N802
        self, request: wire.PublishDocumentRequest, context: Context
    ) -> wire.PublishDocumentResponse:
        """Queues the job that publishes an approved version."""
        named = requests.document_id(request.document_id), requests.version(request.version)
        await rights.check(self._catalogue, named[0])
        entry = await self._catalogue.find(*named)
        if entry.state not in {State.APPROVED, State.PUBLISHED}:
            raise FailedPrecondition(f"it is {entry.state.value}, not approved", "NOT_APPROVED")
        subject, given = call.current().caller.subject, {"number": entry.number}
        job = await self._start(Asked("publish", *named, subject, str(entry.number), self._config, given))
        _record("publishing", *named)
        return wire.PublishDocumentResponse(job_id=job.job_id)

    async def RetireDocument(  # noqa: N802
        self, request: wire.RetireDocumentRequest, context: Context
    ) -> wire.RetireDocumentResponse:
        """Retires versions, or ends their force on a day."""
        intent = requests.withdrawal(request, call.current().caller.subject)
        await rights.check(self._catalogue, intent.document_id)
        versions = await self._curation.retire(intent)
        entry = await self._catalogue.find(intent.document_id, versions[0])
        _record(entry.state.value, intent.document_id, *versions)
        return wire.RetireDocumentResponse(state=replies.state(entry.state))

    async def RetryDocument(  # noqa: N802
        self, request: wire.RetryDocumentRequest, context: Context
    ) -> wire.RetryDocumentResponse:
        """Reopens a version; queues the job that reads it where that failed."""
        named = requests.document_id(request.document_id), requests.version(request.version, required=False)
        subject, reason = call.current().caller.subject, requests.reason(request.reason)
        await rights.check(self._catalogue, named[0])
        entry = await self._catalogue.find(*named)
        read = None if entry.version else await self._jobs.table.last_read(entry.document_id)
        if not entry.version and read is None:
            raise FailedPrecondition("its file was not handed in here; ingest it again", "NO_FILE")
        entry = await self._catalogue.retry(*named, subject, reason)
        job = await self._jobs.table.again(read.job_id) if read else None
        self._jobs.wake()
        _record(entry.state.value, *named)
        return wire.RetryDocumentResponse(state=replies.state(entry.state), job_id=job.job_id if job else "")

    async def DeleteDocument(  # noqa: N802
        self, request: wire.DeleteDocumentRequest, context: Context
    ) -> wire.DeleteDocumentResponse:
        """Deletes one version, or all."""
        named = requests.document_id(request.document_id), requests.version(request.version, required=False)
        await rights.check(self._catalogue, named[0])
        intent = Intent(Act.DELETE, *named, call.current().caller.subject)
        versions = await self._curation.delete(intent)
        _record("deleted", intent.document_id, *versions)
        return wire.DeleteDocumentResponse(versions=versions)

    async def WatchJob(  # noqa: N802
        self, request: wire.WatchJobRequest, context: Context
    ) -> AsyncIterator[wire.WatchJobResponse]:
        """Tells of a job whenever it is further, until it ends."""
        await rights.check_job(self._catalogue, await self._jobs.table.get(request.job_id))
        told: wire.WatchJobResponse | None = None
        while told is None or not told.done:
            progress = replies.progress(await self._jobs.table.get(request.job_id))
            if progress == told:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            told = progress
            yield progress

    async def RecordFeedback(  # noqa: N802
        self, request: wire.RecordFeedbackRequest, context: Context
    ) -> wire.RecordFeedbackResponse:
        """Keeps a rating."""
        subject = call.current().caller.subject
        kept = await ratings.store(self._catalogue.data, requests.rating(request), subject)
        return wire.RecordFeedbackResponse(feedback_id=kept)

    async def _start(self, asked: Asked) -> Job:
        job = await self._jobs.table.ask(asked)
        self._jobs.wake()
        return job


def _record(outcome: str, document_id: str, *versions: str, **more: str) -> None:
    """Says for the audit trail what was done to which versions, now that they are known to exist."""
    account.current().note(outcome, [f"{document_id}@{version}" for version in versions or ("",)], **more)


async def _data(messages: AsyncIterator[wire.SubmitDocumentRequest]) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.WhichOneof("part") != "data":
            raise InvalidArgument("header", "must come once, first; then data")
        if len(message.data) > requests.DATA_BYTES:
            raise InvalidArgument("data", f"must have at most {requests.DATA_BYTES:,} bytes a message")
        yield message.data
