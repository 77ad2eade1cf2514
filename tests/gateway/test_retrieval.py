"""The client of the retrieval service, over the real protocol."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from grpc import aio

from gateway import retrieval
from gateway.passage import Found, QueryVector
from gateway.questions import Limits
from gateway.retrieval import Retrieval
from radrag import call, serving
from radrag.call import Call, Caller
from radrag.errors import (
    FailedPrecondition,
    IndexUnavailable,
    Internal,
    InvalidArgument,
    PermissionDenied,
    Unauthenticated,
)
from radrag.retrieval.v1 import retrieval_pb2 as pb
from radrag.retrieval.v1 import retrieval_pb2_grpc as wire
from tests.gateway.fakes import question

VECTOR = QueryVector((0.5, -0.5), "e5", "aa", "g1")


class Finding(wire.RetrievalServiceServicer):
    """Answers every search with one parent and keeps what it was asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.request = pb.SearchRequest()
        self.call = Call()

    async def Search(self, request: pb.SearchRequest, context: object) -> pb.SearchResponse:  # noqa: N802
        self.request, self.call = request, call.current()
        if self.failure:
            raise self.failure
        children = [
            pb.FoundChild(child_id="c1", start=10, end=20, dense=0.5, fused=0.03),
            pb.FoundChild(child_id="c2", start=20, end=30, bm25=4, fused=0.02),
        ]
        parent = pb.Parent(parent_id="p", start=10, end=30, text="доза", heading_path=["A", "B"], pages=[2])
        document = pb.Document(document_id="d", version="v", valid_from=19844, language="ru", tier=1)
        return pb.SearchResponse(
            parents=[pb.FoundParent(parent=parent, document=document, children=children)],
            missing_legs=["bm25"],
            generation="g1",
            revision=5,
        )

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:  # noqa: N802
        return pb.DescribeResponse(generation="g1", revision=5)


@asynccontextmanager
async def client(service: Finding) -> AsyncIterator[Retrieval]:
    add: Callable[[aio.Server], None] = lambda one: wire.add_RetrievalServiceServicer_to_server(service, one)  # noqa: E731
    server = await serving.start(add, "127.0.0.1:0")
    channel = retrieval.channel(f"127.0.0.1:{server.port}")
    try:
        yield Retrieval(channel, children=90)
    finally:
        await channel.close(None)
        await server.stop()


async def searched(service: Finding, vector: QueryVector | None = VECTOR) -> Found:
    asked = question(topics=("safety",), languages=("ru",), limits=Limits(candidates=4))
    async with client(service) as index:
        return await index.search(asked, vector)


async def test_a_search_carries_question_vector_filters_limits_and_the_day() -> None:
    service = Finding()
    await searched(service)
    request = service.request
    assert list(request.vector) == [0.5, -0.5]
    assert (request.embedder.name, request.embedder.weights_sha256, request.embedder.dimension) == (
        "e5",
        "aa",
        2,
    )
    assert request.generation == "g1"
    assert (list(request.topics), list(request.languages)) == (["safety"], ["ru"])
    assert (request.children_per_topic, request.children, request.parents) == (15, 90, 4)
    assert request.as_of_day == 20788  # 2026-12-01


async def test_without_a_vector_only_words_are_sent() -> None:
    service = Finding()
    await searched(service, None)
    assert not service.request.vector
    assert not service.request.HasField("embedder")
    assert not service.request.generation


async def test_what_was_found_keeps_ranges_dates_and_separate_scores() -> None:
    found = await searched(Finding())
    (passage,) = found.passages
    assert (passage.start, passage.end, passage.heading_path, passage.pages) == (10, 30, ("A", "B"), (2,))
    assert (passage.document.valid_from, passage.document.valid_to) == ("2024-05-01", "")
    assert (passage.scores.dense, passage.scores.bm25, passage.scores.rerank) == (0.5, 4.0, None)
    assert passage.children[0].scores.bm25 is None
    assert (found.missing_legs, found.generation, found.revision) == (("bm25",), "g1", 5)


async def test_a_version_whose_last_day_is_set_is_said_anew() -> None:
    one = pb.FoundParent(document=pb.Document(document_id="d", version="v", valid_from=19844))
    assert retrieval._passage(one).document.valid_to == ""
    one.document.valid_to = 20000
    assert retrieval._passage(one).document.valid_to == "2024-10-04"
    assert retrieval._passage(one).document is retrieval._passage(one).document


async def test_caller_request_id_and_deadline_are_handed_on() -> None:
    service = Finding()
    running = Call(Caller("anna", frozenset(), frozenset({"public", "ward"})), time.monotonic() + 2, "id-1")
    with call.running(running):
        await searched(service)
    assert service.call.caller.subject == "anna"
    assert service.call.caller.labels == {"public", "ward"}
    assert service.call.request_id == "id-1"
    assert service.call.deadline is not None
    assert service.call.deadline - time.monotonic() <= 2


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (FailedPrecondition("embedder e5 is not frida"), FailedPrecondition),
        (InvalidArgument("vector", "384 numbers"), Internal),
    ],
)
async def test_errors_are_rebuilt(raised: Exception, seen: type[Exception]) -> None:
    with pytest.raises(seen):
        await searched(Finding(raised))


@pytest.mark.parametrize(
    "refusal", [Unauthenticated("no", "NO_CREDENTIAL"), PermissionDenied("no", "ROLE_MISSING")]
)
async def test_a_process_that_its_peer_does_not_know_is_a_missing_index(
    refusal: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """Told UNAUTHENTICATED, the caller would look for the fault in its own credential."""
    with pytest.raises(IndexUnavailable):
        await searched(Finding(refusal))
    assert "refuses this process" in caplog.text


async def test_a_service_that_is_not_there_is_told_within_seconds() -> None:
    channel = retrieval.channel("127.0.0.1:1")
    started = time.monotonic()
    with pytest.raises(IndexUnavailable):
        await Retrieval(channel, seconds=4.0).search(question(), None)
    await channel.close(None)
    assert time.monotonic() - started < 4.5


async def test_a_restart_is_ridden_out() -> None:
    service = Finding()
    add: Callable[[aio.Server], None] = lambda one: wire.add_RetrievalServiceServicer_to_server(service, one)  # noqa: E731
    server = await serving.start(add, "127.0.0.1:0")
    channel = retrieval.channel(f"127.0.0.1:{server.port}")
    index = Retrieval(channel, seconds=20.0)
    await index.search(question(), None)
    await server.stop()

    async def later() -> serving.Server:
        await asyncio.sleep(2.5)  # longer than the retries of the policy last
        return await serving.start(add, f"127.0.0.1:{server.port}", offset=False)

    restart = asyncio.create_task(later())
    answers = await asyncio.gather(*(index.search(question(), None) for _ in range(50)))
    assert {found.revision for found in answers} == {5}
    await channel.close(None)
    await (await restart).stop()
