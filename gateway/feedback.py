"""Ratings of answers: read from the wire, every field checked against its limit, and handed to ingest."""

from collections.abc import Sequence
from dataclasses import dataclass

from grpc import aio

from radrag import call, errors, telemetry
from radrag.access import channels
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import Internal, InvalidArgument, Unavailable
from radrag.knowledge.v1 import knowledge_pb2, knowledge_pb2_grpc

CRITERIA = ("relevance", "accuracy", "safety", "comprehensiveness", "conciseness", "language")
_HIGHEST, _MOST_SOURCES, _LONGEST_COMMENT, _LONGEST_ID = 5, 13, 4000, 200


@dataclass(frozen=True)
class Feedback:
    """A checked rating: criteria that were rated, each 1..5; 0 elsewhere means not rated."""

    request_id: str
    ratings: dict[str, int]
    context_completeness: int
    source_usefulness: tuple[int, ...]
    comment: str


def read(request: wire.SubmitFeedbackRequest) -> Feedback:
    """The rating of a request. Raises InvalidArgument for the first field that breaks its limit."""
    if not 1 <= len(request.request_id) <= _LONGEST_ID:
        raise InvalidArgument("request_id", f"1 to {_LONGEST_ID} characters")
    given = {name: int(getattr(request.ratings, name)) for name in CRITERIA}
    for name, value in given.items():
        _rating(f"ratings.{name}", value)
    if not any(given.values()):
        raise InvalidArgument("ratings", "at least one must be set")
    _rating("context_completeness", request.context_completeness)
    _usefulness(request.source_usefulness)
    if len(request.comment) > _LONGEST_COMMENT:
        raise InvalidArgument("comment", f"at most {_LONGEST_COMMENT:,} characters")
    return Feedback(
        request.request_id,
        {name: value for name, value in given.items() if value},
        request.context_completeness,
        tuple(request.source_usefulness),
        request.comment,
    )


class Ratings:
    """The ingest service as the keeper of ratings; `seconds` bounds a call."""

    def __init__(self, channel: aio.Channel, seconds: float = 5.0) -> None:
        self._stub = knowledge_pb2_grpc.KnowledgeServiceStub(channel)
        self._seconds = seconds

    async def record(self, feedback: Feedback) -> str:
        """The id of the stored rating. Raises Unavailable while nobody keeps any, and what ingest raises."""
        try:
            reply: knowledge_pb2.RecordFeedbackResponse = await self._stub.RecordFeedback(
                knowledge_pb2.RecordFeedbackRequest(**vars(feedback)),
                timeout=call.time_left(self._seconds),
                metadata=telemetry.propagated(call.outgoing_metadata()),
            )
        except aio.AioRpcError as error:
            raise _translated(channels.failure(error)) from error
        return reply.feedback_id


async def not_configured(feedback: Feedback) -> str:
    """Stands in for the ingest service, which keeps ratings, where there is none."""
    raise Unavailable("feedback is not configured on this service", "FEEDBACK_NOT_CONFIGURED")


def _translated(error: errors.RadragError) -> errors.RadragError:
    """An ingest service that does not answer, or is too old to keep ratings, is a missing part."""
    missing = isinstance(error, Unavailable) or (
        isinstance(error, Internal) and error.reason == "UNIMPLEMENTED"
    )
    return Unavailable("nobody keeps ratings now", "INGEST_UNAVAILABLE") if missing else error


def _usefulness(values: Sequence[int]) -> None:
    if len(values) > _MOST_SOURCES:
        raise InvalidArgument("source_usefulness", f"at most {_MOST_SOURCES}")
    for index, value in enumerate(values):
        _rating(f"source_usefulness[{index}]", value)


def _rating(field: str, value: int) -> None:
    if value > _HIGHEST:
        raise InvalidArgument(field, f"1 to {_HIGHEST}, or 0 for not rated")
