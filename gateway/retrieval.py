"""The client of the retrieval service: searches for a question, and what the index is."""

import json
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from functools import lru_cache
from typing import TypeVar

import grpc
from google.protobuf.message import Message
from grpc import aio

from gateway.passage import Document, Found, MatchedChild, Passage, QueryVector, Scores
from gateway.questions import Question
from radrag import call, errors, telemetry
from radrag.access import channels
from radrag.access.channels import Files
from radrag.errors import DeadlineExceeded, IndexUnavailable, Internal, InvalidArgument, Unavailable
from radrag.retrieval.v1 import retrieval_pb2 as wire
from radrag.retrieval.v1 import retrieval_pb2_grpc

T = TypeVar("T")

CONNECTED = grpc.ChannelConnectivity.READY
# How much sooner than its stage a call ends, so that it can still say why: seconds, at most a tenth.
MARGIN_SECONDS = 0.1

_SERVICE = "radrag.retrieval.v1.RetrievalService"
_EPOCH = date(1970, 1, 1)
_DOCUMENTS = 2000  # that are kept as they were said last: a kilobyte each
MESSAGE_BYTES = 16 * 1024 * 1024
# What was lost on the way is asked again; the throttle keeps retries from multiplying an overload. A restart
# of the one retrieval service costs no retries: a search waits for it (wait_for_ready) inside its deadline.
_POLICY = {
    "methodConfig": [
        {
            "name": [{"service": _SERVICE}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
    "loadBalancingConfig": [{"round_robin": {}}],
    "retryThrottling": {"maxTokens": 20, "tokenRatio": 0.2},
}


def channel(address: str, tls: Files | None = None) -> aio.Channel:
    """The one channel of the process to the retrieval service; close it at the end."""
    return channels.channel(
        address,
        tls,
        options=[
            ("grpc.service_config", json.dumps(_POLICY)),
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            ("grpc.keepalive_time_ms", 60_000),
        ],
    )


class Retrieval:
    """The retrieval service. `children` is kept over all topics; `seconds` bounds a call of its own."""

    def __init__(self, channel: aio.Channel, children: int = 90, seconds: float = 5.0) -> None:
        self._channel, self._stub = channel, retrieval_pb2_grpc.RetrievalServiceStub(channel)
        self._children = children
        self._seconds = seconds

    async def search(self, question: Question, vector: QueryVector | None) -> Found:
        """The parents for a question, best first; without a vector by words alone.

        Raises IndexUnavailable, FailedPrecondition (the vector is of another embedder than the index).
        """
        reply: wire.SearchResponse = await self._call(
            self._stub.Search, _search(question, vector, self._children), waits=True
        )
        return Found(
            tuple(_passage(found) for found in reply.parents),
            tuple(reply.missing_legs),
            reply.generation,
            reply.revision,
        )

    async def describe(self) -> wire.DescribeResponse:
        """What the index holds."""
        reply: wire.DescribeResponse = await self._call(self._stub.Describe, wire.DescribeRequest())
        return reply

    async def _call(self, method: Callable[..., Awaitable[T]], request: Message, *, waits: bool = False) -> T:
        left = call.time_left(self._seconds)
        try:
            return await method(
                request,
                timeout=left - min(MARGIN_SECONDS, left / 10),
                metadata=telemetry.propagated(call.outgoing_metadata()),
                wait_for_ready=waits,
            )
        except aio.AioRpcError as error:
            failure = channels.failure(error)
            if isinstance(failure, DeadlineExceeded) and self._channel.get_state() is not CONNECTED:
                raise IndexUnavailable from error  # it was waited for all the time
            raise _translated(failure) from error


def _translated(error: errors.RadragError) -> errors.RadragError:
    if isinstance(error, InvalidArgument):  # it names a field of our request, not of the caller's
        return Internal("the retrieval service refused the search", "SEARCH_REFUSED")
    return IndexUnavailable() if isinstance(error, Unavailable) else error


def _search(question: Question, vector: QueryVector | None, children: int) -> wire.SearchRequest:
    request = wire.SearchRequest(
        question=question.text,
        topics=question.topics,
        languages=question.languages,
        categories=question.categories,
        document_ids=question.document_ids,
        as_of_day=(question.as_of - _EPOCH).days,
        children_per_topic=question.limits.children_per_topic,
        children=children,
        parents=question.limits.candidates,
    )
    if vector is not None:
        request.vector.extend(vector.values)
        request.generation = vector.generation
        request.embedder.name = vector.embedder
        request.embedder.weights_sha256 = vector.weights_sha256
        request.embedder.dimension = len(vector.values)
    return request


def _passage(found: wire.FoundParent) -> Passage:
    parent, children = found.parent, tuple(_child(child) for child in found.children)
    return Passage(
        parent.parent_id,
        _document(found.document.SerializeToString()),
        tuple(parent.heading_path),
        parent.text,
        parent.context,
        parent.start,
        parent.end,
        tuple(parent.pages),
        children,
        _best([child.scores for child in children]),
    )


def _best(scores: list[Scores]) -> Scores:
    """A parent's scores: the best of its matched children, kind by kind."""
    if len(scores) == 1:  # as nearly always
        return scores[0]
    return Scores(
        max((one.dense for one in scores if one.dense is not None), default=None),
        max((one.bm25 for one in scores if one.bm25 is not None), default=None),
        max((one.fused for one in scores if one.fused is not None), default=None),
    )


def _child(child: wire.FoundChild) -> MatchedChild:
    dense = child.dense if child.HasField("dense") else None
    bm25 = child.bm25 if child.HasField("bm25") else None
    return MatchedChild(child.child_id, child.start, child.end, Scores(dense, bm25, child.fused))


@lru_cache(_DOCUMENTS)
def _document(said: bytes) -> Document:
    document = wire.Document.FromString(said)
    return Document(
        document.document_id,
        document.version,
        document.title,
        document.source_uri,
        document.topic,
        document.category,
        document.tier,
        document.language,
        _day(document.valid_from),
        _day(document.valid_to) if document.HasField("valid_to") else "",
    )


@lru_cache(1000)
def _day(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).isoformat()
