"""Ratings go to ingest as they were checked, for the caller who gave them; without it the caller is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from grpc import StatusCode, aio

from gateway.feedback import Feedback, Ratings
from radrag import call, serving
from radrag.errors import InvalidArgument, NotFound, RadragError, Unavailable
from radrag.knowledge.v1 import knowledge_pb2 as wire
from radrag.knowledge.v1 import knowledge_pb2_grpc

RATING = Feedback("r-1", {"safety": 5, "accuracy": 4}, 3, (5, 0, 1), "хорошо")


class Keeper(knowledge_pb2_grpc.KnowledgeServiceServicer):
    """Keeps what it is given."""

    def __init__(self, failure: RadragError | None = None) -> None:
        self.failure = failure
        self.kept: list[wire.RecordFeedbackRequest] = []
        self.callers: list[str] = []

    async def RecordFeedback(  # noqa: N802
        self, request: wire.RecordFeedbackRequest, context: object
    ) -> wire.RecordFeedbackResponse:
        if self.failure:
            raise self.failure
        self.kept.append(request)
        self.callers.append(call.current().caller.subject)
        return wire.RecordFeedbackResponse(feedback_id="f-1")

    def add_to(self, server: aio.Server) -> None:
        knowledge_pb2_grpc.add_KnowledgeServiceServicer_to_server(self, server)


class Old:
    """An ingest that does not know ratings."""

    def add_to(self, server: aio.Server) -> None:
        """Nothing is served."""


@asynccontextmanager
async def ratings(keeper: Keeper | Old) -> AsyncIterator[Ratings]:
    server = await serving.start(keeper.add_to, "127.0.0.1:0")
    try:
        async with aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            yield Ratings(channel)
    finally:
        await server.stop()


async def test_a_rating_is_kept_as_it_was_given_for_its_caller() -> None:
    keeper = Keeper()
    caller = replace(call.current().caller, subject="dr-who")
    async with ratings(keeper) as there:
        with call.running(replace(call.current(), caller=caller)):
            assert await there.record(RATING) == "f-1"
    (kept,) = keeper.kept
    assert (kept.request_id, dict(kept.ratings), kept.context_completeness) == ("r-1", RATING.ratings, 3)
    assert (list(kept.source_usefulness), kept.comment) == ([5, 0, 1], "хорошо")
    assert keeper.callers == ["dr-who"]


@pytest.mark.parametrize("failure", [NotFound("no such call"), InvalidArgument("comment", "too long")])
async def test_what_ingest_refuses_is_refused(failure: RadragError) -> None:
    async with ratings(Keeper(failure)) as there:
        with pytest.raises(type(failure)):
            await there.record(RATING)


async def test_without_ingest_nobody_keeps_ratings() -> None:
    async with aio.insecure_channel("127.0.0.1:1") as channel:
        with pytest.raises(Unavailable) as failure:
            await Ratings(channel).record(RATING)
    assert failure.value.reason == "INGEST_UNAVAILABLE"
    assert failure.value.code is StatusCode.UNAVAILABLE


async def test_an_ingest_that_knows_no_ratings_is_as_good_as_none() -> None:
    async with ratings(Old()) as there:
        with pytest.raises(Unavailable, match="nobody keeps ratings"):
            await there.record(RATING)
