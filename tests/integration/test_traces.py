"""One trace explains one slow answer: from the caller's span through every stage down into Triton."""

import asyncio
import secrets
from collections.abc import Collection

import grpc
import pytest
from grpc import aio

from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.settings import TOPICS
from tests.integration.conftest import Stack
from tests.otlp import Receiver, Span

# Two: a question asked before has its vector in the gateway's cache, and no span of the embedder.
UNARY = "Please: what is the yearly occupational limit for the eye lens under ICRP since 2011?"
STREAMED = "Tell me: what is the yearly occupational limit for the eye lens under ICRP since 2011?"
GATEWAY, RETRIEVAL, TRITON = "radrag-gateway", "radrag-retrieval", "triton"
STAGES = ["scope", "embed", "search", "rerank", "prompt", "generate", "verify"]
MODELS = {"e5_small", "lexical_late_interaction", "extractive"}
# What stands below what. Triton's names: the request, the model's part of it, and its computing.
EDGES = {
    *(("call", f"radrag.{stage}") for stage in STAGES),
    ("radrag.search", "radrag.retrieval.v1.RetrievalService/Search"),
    ("radrag.embed", "InferRequest"),
    ("radrag.rerank", "InferRequest"),
    ("radrag.generate", "InferRequest"),
    ("InferRequest", "e5_small"),
    ("InferRequest", "lexical_late_interaction"),
    ("InferRequest", "extractive"),
    *((model, "compute") for model in sorted(MODELS)),
}
# What the stages' spans say of their models, by the semantic conventions.
ASKED = {
    "radrag.embed": ("embeddings", "e5_small", "triton"),
    "radrag.rerank": ("rerank", "lexical_late_interaction", "triton"),
    "radrag.generate": ("text_completion", "extractive", "triton"),
}


class Caller:
    """A traced caller: the ids of the trace it began and of its own span."""

    def __init__(self) -> None:
        self.trace, self.span = secrets.token_hex(16), secrets.token_hex(8)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("traceparent", f"00-{self.trace}-{self.span}-01"),)


def edges(spans: Collection[Span], caller: Caller) -> set[tuple[str, str]]:
    names = {span.id: _name(span) for span in spans} | {caller.span: "caller"}
    return {(names.get(span.parent, "nowhere"), _name(span)) for span in spans}


def _name(span: Span) -> str:
    return "call" if span.name.startswith("radrag.assistant") else span.name


def asked(spans: Collection[Span]) -> dict[str, tuple[object, ...]]:
    """Operation, model and provider by the name of a span that says any of them."""
    named = ("gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name")
    return {
        span.name: tuple(span.attributes.get(name) for name in named)
        for span in spans
        if any(name in span.attributes for name in named)
    }


def complete(spans: list[Span]) -> bool:
    names = [_name(span) for span in spans]
    return "call" in names and names.count("InferRequest") >= 3


def covered(spans: list[Span]) -> float:
    """The share of the call's time in which a stage was running."""
    (call,) = [span for span in spans if _name(span) == "call"]
    inside = sorted((span.start, span.end) for span in spans if span.parent == call.id)
    busy, until = 0.0, call.start
    for start, end in inside:
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return busy / call.seconds


@pytest.mark.parametrize(("streamed", "question"), [(False, UNARY), (True, STREAMED)])
async def test_an_answers_spans_are_one_tree_with_tritons_inside(
    stack: Stack, collector: Receiver, streamed: bool, question: str
) -> None:
    caller = Caller()
    async with aio.insecure_channel(stack.gateway) as channel:
        stub = AssistantServiceStub(channel)
        if streamed:
            frames = stub.GenerateStream(
                pb.GenerateStreamRequest(question=question), metadata=caller.metadata
            )
            assert [frame async for frame in frames][-1].finish.outcome == pb.OUTCOME_ANSWERED
        else:
            await stub.Generate(pb.GenerateRequest(question=question), metadata=caller.metadata)
    # Each process sends its spans in its own time.
    spans = await asyncio.to_thread(
        collector.wait, caller.trace, lambda some: edges(some, caller) >= EDGES and complete(some), 60
    )
    found = edges(spans, caller)
    assert found >= EDGES, sorted(EDGES - found)
    assert ("caller", "call") in found
    assert not [edge for edge in found if edge[0] == "nowhere"]
    assert {span.service for span in spans} == {GATEWAY, RETRIEVAL, TRITON}
    assert covered(spans) >= 0.95
    # Triton has no span for the queue: its beginning is an event of the model's span, and computing ends it.
    for span in spans:
        if span.service == TRITON and span.name in MODELS:
            assert "QUEUE_START" in span.events, span.name
    (generate,) = [span for span in spans if span.name == "radrag.generate"]
    assert generate.events == ("first item",)
    assert asked(spans) == ASKED


async def test_a_search_has_a_span_for_every_collection_and_leg(stack: Stack, collector: Receiver) -> None:
    caller = Caller()
    async with aio.insecure_channel(stack.gateway) as channel:
        request = pb.SearchRequest(question="What is the dose limit for the public?")
        await AssistantServiceStub(channel).Search(request, metadata=caller.metadata)
    spans = await asyncio.to_thread(collector.wait, caller.trace, lambda found: "call" in map(_name, found))
    legs = [span for span in spans if span.attributes.get("db.system.name") == "qdrant"]
    expected = {f"radrag.{topic}.{leg}" for topic in TOPICS for leg in ("bm25", "dense:en", "dense:ru")}
    assert {span.name for span in legs} == expected
    assert {span.attributes["db.collection.name"] for span in legs} == set(TOPICS)


async def test_a_call_that_ran_out_of_time_has_its_code_and_no_text(
    stack: Stack, collector: Receiver
) -> None:
    caller, question = Caller(), "What is the Canarylimit for the lens?"
    async with aio.insecure_channel(stack.gateway) as channel:
        stub = AssistantServiceStub(channel)
        with pytest.raises(grpc.RpcError):
            await stub.Generate(pb.GenerateRequest(question=question), metadata=caller.metadata, timeout=0.02)
    spans = await asyncio.to_thread(collector.wait, caller.trace, lambda found: "call" in map(_name, found))
    (call,) = [span for span in spans if _name(span) == "call"]
    assert call.attributes["rpc.response.status_code"] in {"CANCELLED", "DEADLINE_EXCEEDED"}
    assert not any(b"Canarylimit" in body for body in collector.bodies)
