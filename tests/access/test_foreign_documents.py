"""Another topic's or label's document: no RPC that takes an id shows it, changes it, or tells of it.

Each call is made for the id of a document that exists and is another's, and for one that does not exist: the
refusals must be the same.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message
from grpc import aio

from gateway.passage import QueryVector
from gateway.retrieval import Retrieval
from ingest.passage import passage_id
from radrag import call
from radrag.assistant.v1 import assistant_pb2 as assistant
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.errors import RadragError, from_rpc
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2 as retrieval
from tests.gateway.channel import asking
from tests.gateway.fakes import PIPELINE
from tests.ingest.knowledge import Knowledge, knowledge, submission
from tests.retrieval.making import EMBEDDER, vector

SECRET = "zirconium"
QUESTION = "What is the lens dose limit a year?"
THEIRS = ("ward", "other-topic")
Metadata = tuple[tuple[str, str], ...]
OWNER: Metadata = (
    (call.SUBJECT, "owner"), (call.ROLES, "reader,curator,admin"), (call.LABELS, "ward-3"), (call.TOPICS, "*")
)  # fmt: skip
STRANGER: Metadata = (
    (call.SUBJECT, "eve"), (call.ROLES, "reader,curator,admin"), (call.LABELS, "ward-7"),
    (call.TOPICS, "safety"),
)  # fmt: skip


@dataclass
class Open:
    """The knowledge base, a gateway on it, and what the documents are called."""

    base: Knowledge
    gateway: AssistantServiceStub
    versions: dict[str, str]
    jobs: dict[str, str]
    parents: list[str]


Ask = Callable[[Open, str, str, Metadata], Awaitable[object]]


def of_knowledge(method: str, request: Callable[[str, str], Message]) -> Ask:
    async def ask(one: Open, document_id: str, version: str, who: Metadata) -> object:
        return await getattr(one.base.stub, method)(request(document_id, version), metadata=who, timeout=20)

    return ask


async def watch(one: Open, document_id: str, version: str, who: Metadata) -> object:
    job = one.jobs.get(document_id, "0" * 32)
    return await one.base.stub.WatchJob(wire.WatchJobRequest(job_id=job), metadata=who, timeout=20).read()


def review(decision: "wire.ReviewDocumentRequest.Decision") -> Callable[[str, str], Message]:
    return lambda document_id, version: wire.ReviewDocumentRequest(
        document_id=document_id, version=version, decision=decision, reason="because"
    )


def named(kind: Callable[..., Message]) -> Callable[[str, str], Message]:
    return lambda document_id, version: kind(document_id=document_id, version=version)


REJECT = wire.ReviewDocumentRequest.DECISION_REJECT
APPROVE = wire.ReviewDocumentRequest.DECISION_APPROVE
BY_ID: dict[str, Ask] = {
    "GetDocument": of_knowledge("GetDocument", named(wire.GetDocumentRequest)),
    "ReviewDocument approve": of_knowledge("ReviewDocument", review(APPROVE)),
    "ReviewDocument reject": of_knowledge("ReviewDocument", review(REJECT)),
    "PublishDocument": of_knowledge("PublishDocument", named(wire.PublishDocumentRequest)),
    "RetireDocument": of_knowledge("RetireDocument", named(wire.RetireDocumentRequest)),
    "RetryDocument": of_knowledge("RetryDocument", named(wire.RetryDocumentRequest)),
    "DeleteDocument": of_knowledge("DeleteDocument", named(wire.DeleteDocumentRequest)),
    "WatchJob": watch,
}
# Refused or filtered in their own ways, below.
IN_OTHER_WAYS = {"SubmitDocument", "ListDocuments", "RecordFeedback"}


def test_every_rpc_of_the_curators_is_covered() -> None:
    methods = wire.DESCRIPTOR.services_by_name["KnowledgeService"].methods
    assert {one.name for one in methods} == {name.split()[0] for name in BY_ID} | IN_OTHER_WAYS


async def test_what_is_another_s_cannot_be_seen_or_touched_and_its_owner_may(tmp_path: Path) -> None:
    """Its owner may: so that the refusals are of the caller, not of the call."""
    async with opened(tmp_path) as one:
        await foreign_is_as_if_not_there(one)
        await lists_have_only_the_callers(one)
        await nobody_hands_in_as_another(one)
        await its_owner_may(one)


async def test_no_search_and_no_answer_shows_what_is_another_s(tmp_path: Path) -> None:
    async with opened(tmp_path) as one:
        await retrieval_shows_no_foreign_passage(one)
        await the_answer_path_shows_none(one)
        await no_topic_is_not_every_topic(one)


async def foreign_is_as_if_not_there(one: Open) -> None:
    for method, ask in BY_ID.items():
        for document_id in THEIRS:
            for version in (one.versions[document_id], "0" * 16):
                refusal = await refused(ask(one, document_id, version, STRANGER))
                nothing = await refused(ask(one, "no-such-document", version, STRANGER))
                assert type(refusal) is type(nothing), f"{method} of {document_id}"
                told = refusal.message.replace(document_id, "no-such-document")
                assert told == nothing.message, f"{method} of {document_id}"
    for document_id in THEIRS:  # and nothing came of it
        shown = await one.base.stub.GetDocument(
            wire.GetDocumentRequest(document_id=document_id), metadata=OWNER
        )
        assert shown.document.state == wire.STATE_PUBLISHED


async def its_owner_may(one: Open) -> None:
    for method in ("GetDocument", "PublishDocument", "WatchJob", "DeleteDocument"):
        for document_id in THEIRS:
            await BY_ID[method](one, document_id, one.versions[document_id], OWNER)


async def lists_have_only_the_callers(one: Open) -> None:
    assert await listed(one, STRANGER) == ["open"]
    assert sorted(await listed(one, OWNER)) == ["open", *sorted(THEIRS)]
    assert await listed(one, STRANGER, topics=["physics"]) == []


async def nobody_hands_in_as_another(one: Open) -> None:
    for said, reason in (
        ({"document_id": "ward"}, "DOCUMENT_FORBIDDEN"),
        ({"document_id": "mine", "topic": "physics"}, "TOPIC_FORBIDDEN"),
    ):
        messages = submission("a.md", "# Mine\n\nText.", said)
        failure = await refused(one.base.stub.SubmitDocument(messages, metadata=STRANGER))
        assert failure.reason == reason


async def retrieval_shows_no_foreign_passage(one: Open) -> None:
    index = one.base.retrieval
    for who, finds in ((STRANGER, False), (OWNER, True)):
        shown = [
            await index.GetParents(retrieval.GetParentsRequest(parent_ids=one.parents), metadata=who),
            await index.Describe(retrieval.DescribeRequest(documents=True), metadata=who),
            await index.Search(retrieval.SearchRequest(question=QUESTION), metadata=who),
            await index.Search(retrieval.SearchRequest(question=QUESTION, document_ids=THEIRS), metadata=who),
        ]
        assert [found(one, THEIRS) for one in shown] == [finds] * 4
    asked = index.Search(retrieval.SearchRequest(question=QUESTION, topics=["physics"]), metadata=STRANGER)
    assert (await refused(asked)).reason == "TOPIC_FORBIDDEN"


async def the_answer_path_shows_none(one: Open) -> None:
    for method, request in (
        ("Search", assistant.SearchRequest),
        ("Prompt", assistant.PromptRequest),
        ("Generate", assistant.GenerateRequest),
    ):
        for wanted in (assistant.Filter(), assistant.Filter(document_ids=THEIRS)):
            asked = request(question=QUESTION, filter=wanted)
            reply = await getattr(one.gateway, method)(asked, metadata=STRANGER)
            assert SECRET.encode() not in reply.SerializeToString(), method
            owner = await getattr(one.gateway, method)(asked, metadata=OWNER)
            assert SECRET.encode() in owner.SerializeToString(), method
        forbidden = request(question=QUESTION, filter=assistant.Filter(topics=["physics"]))
        failure = await refused(getattr(one.gateway, method)(forbidden, metadata=STRANGER))
        assert failure.reason == "TOPIC_FORBIDDEN"
    info = await one.gateway.GetInfo(assistant.GetInfoRequest(), metadata=STRANGER)
    assert list(info.topics) == ["safety"]


async def no_topic_is_not_every_topic(one: Open) -> None:
    nobody = (*STRANGER[:3], (call.TOPICS, ""))
    asked = one.base.retrieval.Search(retrieval.SearchRequest(question=QUESTION), metadata=nobody)
    assert (await refused(asked)).reason == "TOPIC_FORBIDDEN"
    assert await listed(one, nobody) == []


def found(reply: Message, names: tuple[str, ...]) -> bool:
    data = reply.SerializeToString()
    return any(name.encode() in data for name in (*names, SECRET))


async def listed(one: Open, who: Metadata, **filters: object) -> list[str]:
    """All ids of the list, page by page of one."""
    names: list[str] = []
    token = ""
    while True:
        reply = await one.base.stub.ListDocuments(
            wire.ListDocumentsRequest(page_size=1, page_token=token, **filters),  # type: ignore[arg-type]
            metadata=who,
        )
        names += [item.metadata.document_id for item in reply.documents]
        token = reply.next_page_token
        if not token:
            return names


async def refused(attempt: Awaitable[object]) -> RadragError:
    with pytest.raises(aio.AioRpcError) as failure:
        await attempt
    assert failure.value.code() in {grpc.StatusCode.NOT_FOUND, grpc.StatusCode.PERMISSION_DENIED}
    return from_rpc(failure.value)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Open]:
    """Three published documents: everybody's, one of a ward's label, one of a topic."""
    async with knowledge(folder) as base, aio.insecure_channel(base.index_address) as channel:
        versions, jobs = {}, {}
        for document_id, topic, labels in (
            ("open", "safety", []), ("ward", "safety", ["ward-3"]), ("other-topic", "physics", [])
        ):  # fmt: skip
            versions[document_id], jobs[document_id] = await publish(base, document_id, topic, labels)
        found = Retrieval(channel, children=90)

        async def embed(question: str) -> QueryVector:
            return QueryVector(vector(question), EMBEDDER.name, EMBEDDER.weights_sha256, "g1")

        async with asking(replace(PIPELINE, embed=embed, search=found.search)) as gateway:
            yield Open(base, gateway, versions, jobs, list(await parents(base, versions)))


async def publish(base: Knowledge, document_id: str, topic: str, labels: list[str]) -> tuple[str, str]:
    """Hands in, approves, publishes; the version and the job that read it."""
    text = f"# {document_id}\n\nThe lens dose limit is 20 a year."
    text += f" {SECRET} says so." if document_id in THEIRS else ""
    known = wire.Metadata(topic=topic, document_id=document_id, access_labels=labels)
    header = wire.SubmitDocumentRequest.Header(metadata=known, filename="a.md")

    async def messages() -> AsyncIterator[wire.SubmitDocumentRequest]:
        yield wire.SubmitDocumentRequest(header=header)
        yield wire.SubmitDocumentRequest(data=text.encode())

    stub = base.stub
    job = (await stub.SubmitDocument(messages(), metadata=OWNER)).job_id
    await ended(base, job)
    shown = await stub.GetDocument(wire.GetDocumentRequest(document_id=document_id), metadata=OWNER)
    version = str(shown.document.version)
    await stub.ReviewDocument(review(APPROVE)(document_id, version), metadata=OWNER)
    request = wire.PublishDocumentRequest(document_id=document_id, version=version)
    await ended(base, (await stub.PublishDocument(request, metadata=OWNER)).job_id)
    return version, job


async def ended(base: Knowledge, job: str) -> None:
    async for message in base.stub.WatchJob(wire.WatchJobRequest(job_id=job), metadata=OWNER, timeout=60):
        assert not message.error


async def parents(base: Knowledge, versions: dict[str, str]) -> Iterator[str]:
    """The ids of the foreign documents' parents."""
    ids = []
    for document_id in THEIRS:
        shown = await base.stub.GetDocument(wire.GetDocumentRequest(document_id=document_id), metadata=OWNER)
        ids += [
            passage_id(document_id, versions[document_id], "parent", chunk.start, chunk.end)
            for chunk in shown.chunks
            if chunk.level == "parent"
        ]
    return iter(ids)
