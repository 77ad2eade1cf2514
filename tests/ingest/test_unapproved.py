"""What no one approved is found by no RPC, filter, as-of date or id: one table of all that could show it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from google.protobuf.message import Message
from grpc import aio

from gateway.passage import QueryVector
from gateway.retrieval import Retrieval
from ingest.catalogue.intents import Intent
from ingest.catalogue.states import Act
from ingest.indexed import number_of
from ingest.passage import passage_id
from radrag.assistant.v1 import assistant_pb2 as assistant
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.errors import FailedPrecondition, from_rpc
from radrag.retrieval.v1 import retrieval_pb2 as retrieval
from tests.gateway.channel import asking
from tests.gateway.fakes import PIPELINE
from tests.ingest.knowledge import PRINT, Knowledge, knowledge
from tests.ingest.versions import document
from tests.retrieval.making import EMBEDDER, embedder_message, vector

QUESTION = "What is the lens dose limit a year?"
HIDDEN = ("waiting", "refused", "agreed", "withdrawn", "removed", "unread")
SECRET = "zirconium"  # a word of every text that nobody may find, and of no question
TODAY = date(2026, 12, 1)
DAYS = [TODAY + timedelta(days=days) for days in (-20_000, -10_000, -1, 0, 1, 10_000)]
FILTERS: list[dict[str, list[str]]] = [
    {}, {"document_ids": list(HIDDEN)}, {"topics": ["safety"]}, {"categories": ["web"]},
    {"languages": ["en"]},
]  # fmt: skip


def text(name: str) -> str:
    return f"# {name}\n\nThe lens dose limit of the {name} is {SECRET} millisieverts a year."


@dataclass
class Open:
    """The knowledge base, a gateway on it, and the ids of passages that nobody may fetch."""

    base: Knowledge
    gateway: AssistantServiceStub
    passages: list[str]


async def by_search(one: Open) -> AsyncIterator[Message]:
    """Every filter on every day, with both legs and with words alone, in both generations."""
    for filters in FILTERS:
        for day in DAYS:
            for generation in ("", "g1", "g2"):
                request = retrieval.SearchRequest(
                    question=QUESTION, generation=generation, parents=100, children=1000,
                    children_per_topic=100, as_of_day=number_of(day), **filters,  # type: ignore[arg-type]
                )  # fmt: skip
                yield await one.base.retrieval.Search(request)
                request.vector.extend(vector(text("waiting")))
                request.embedder.CopyFrom(embedder_message(EMBEDDER))
                yield await one.base.retrieval.Search(request)


async def by_ids(one: Open) -> AsyncIterator[Message]:
    for at in range(0, len(one.passages), 100):
        yield await one.base.retrieval.GetParents(
            retrieval.GetParentsRequest(parent_ids=one.passages[at : at + 100])
        )


async def by_description(one: Open) -> AsyncIterator[Message]:
    yield await one.base.retrieval.Describe(retrieval.DescribeRequest(documents=True))


async def by_versions(one: Open) -> AsyncIterator[Message]:
    for generation in ("", "g1", "g2"):
        async for some in one.base.retrieval.ListVersions(
            retrieval.ListVersionsRequest(generation=generation)
        ):
            yield some


async def by_generations(one: Open) -> AsyncIterator[Message]:
    yield await one.base.retrieval.ListGenerations(retrieval.ListGenerationsRequest())


def filters_of_the_gateway() -> list[assistant.Filter]:
    return [assistant.Filter(as_of=str(day), **named) for named in FILTERS for day in DAYS]


def by_asking(method: str, request: Callable[..., Message]) -> "Ask":
    async def asked(one: Open) -> AsyncIterator[Message]:
        for wanted in filters_of_the_gateway():
            yield await getattr(one.gateway, method)(request(question=QUESTION, filter=wanted))

    return asked


async def by_stream(one: Open) -> AsyncIterator[Message]:
    for wanted in filters_of_the_gateway():
        request = assistant.GenerateStreamRequest(question=QUESTION, filter=wanted)
        async for frame in one.gateway.GenerateStream(request):
            yield frame


async def by_info(one: Open) -> AsyncIterator[Message]:
    yield await one.gateway.GetInfo(assistant.GetInfoRequest())


Ask = Callable[[Open], AsyncIterator[Message]]
WAYS: dict[str, Ask] = {
    "RetrievalService.Search": by_search,
    "RetrievalService.GetParents": by_ids,
    "RetrievalService.Describe": by_description,
    "RetrievalService.ListVersions": by_versions,
    "RetrievalService.ListGenerations": by_generations,
    "AssistantService.Search": by_asking("Search", assistant.SearchRequest),
    "AssistantService.Prompt": by_asking("Prompt", assistant.PromptRequest),
    "AssistantService.Generate": by_asking("Generate", assistant.GenerateRequest),
    "AssistantService.GenerateStream": by_stream,
    "AssistantService.GetInfo": by_info,
}
# They change things and reply with ids and revisions at most. KnowledgeService is the curators' own: whoever
# approves must be able to read what waits.
SHOW_NOTHING = {
    "RetrievalService.IndexDocument", "RetrievalService.DeleteDocument", "RetrievalService.RetireDocument",
    "RetrievalService.CreateGeneration", "RetrievalService.SwitchGeneration",
    "RetrievalService.DropGeneration", "AssistantService.SubmitFeedback",
}  # fmt: skip


def test_the_table_has_every_rpc() -> None:
    services = [
        retrieval.DESCRIPTOR.services_by_name["RetrievalService"],
        assistant.DESCRIPTOR.services_by_name["AssistantService"],
    ]
    known = {f"{service.name}.{method.name}" for service in services for method in service.methods}
    assert known == set(WAYS) | SHOW_NOTHING


async def test_what_nobody_approved_is_found_by_no_rpc_filter_day_or_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as one:
        for name, way in WAYS.items():
            replies = [reply async for reply in way(one)]
            shown = b"".join(reply.SerializeToString() for reply in replies)
            assert replies, name
            for hidden in (SECRET, *HIDDEN):
                assert hidden.encode() not in shown, f"{name} shows {hidden}"
            if name.endswith(("Search", "ListVersions", "Prompt", "Stream")):
                assert b"public-lens" in shown, f"{name} shows nothing at all"


async def test_nobody_can_approve_by_publishing(tmp_path: Path) -> None:
    """Asked to publish what is not approved, the service refuses, whatever its state."""
    async with opened(tmp_path) as one:
        for document_id in ("waiting", "refused", "withdrawn"):
            version = (await one.base.catalogue.find(document_id)).version
            refusal = await refused(one.base.publish(document_id, version))
            assert isinstance(refusal, FailedPrecondition), document_id


async def refused(attempt: Awaitable[object]) -> Exception:
    with pytest.raises(aio.AioRpcError) as failure:
        await attempt
    return from_rpc(failure.value)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Open]:
    """One document in force, and one in each state that nobody may find; two generations."""
    async with knowledge(folder) as base, aio.insecure_channel(base.index_address) as channel:
        await base.all_the_way("public-lens", "# Limits\n\nThe lens dose limit is twenty a year.")
        stub = base.retrieval
        await stub.CreateGeneration(retrieval.CreateGenerationRequest(generation="g2", fingerprint=PRINT))
        passages = await hide(base)
        found = Retrieval(channel, children=90)

        async def embed(question: str) -> QueryVector:
            return QueryVector(vector(question), EMBEDDER.name, EMBEDDER.weights_sha256, "g1")

        pipeline = replace(PIPELINE, embed=embed, search=found.search)
        async with asking(pipeline) as gateway:
            yield Open(base, gateway, passages)


async def hide(base: Knowledge) -> list[str]:
    """Brings the documents into their states; returns the ids that their passages have."""
    versions = {name: await base.submit(name, text(name)) for name in HIDDEN[:-1]}
    shown = {name: await base.get(name) for name in versions}
    await base.catalogue.fail(document("unread", text("unread")), "uploader", "it cannot be read")
    await base.review("refused", versions["refused"], reason="wrong number")
    await base.review("agreed", versions["agreed"])
    await base.review("withdrawn", versions["withdrawn"])
    await base.review("withdrawn", versions["withdrawn"], reason="on second thoughts")
    await base.curation.delete(Intent(Act.DELETE, "removed", "", "expert"))
    return [
        passage_id(name, versions[name], chunk.level, chunk.start, chunk.end)
        for name, one in shown.items()
        for chunk in one.chunks
    ]
