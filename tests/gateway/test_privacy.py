"""A canary in question, document and answer shows up in no log, span, metric or error."""

import logging

import pytest
from grpc import aio
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from prometheus_client import REGISTRY, generate_latest

from gateway.passage import Found, QueryVector
from gateway.questions import Question
from radrag import telemetry
from radrag.telemetry import traces
from radrag.telemetry.sending import encode
from radrag.telemetry.spans import Tracer
from tests.gateway.channel import generate, stream, without
from tests.gateway.fakes import passage, saying

CANARY = "Canaryword"
ASKED = f"What is the annual dose limit for {CANARY}?"
TEXT = f"The annual dose limit for {CANARY} is 20 mSv."


async def found(question: Question, vector: QueryVector | None) -> Found:
    return Found((passage("c", TEXT),), (), "g1", 7)


async def broken(question: str, passages: object) -> object:
    raise ValueError(f"{question} {passages}")


async def test_the_canary_reaches_only_the_caller(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = ScopeSpans()
    tracer = Tracer(ALWAYS_ON, RandomIdGenerator(), lambda span: encode(span, spans))
    monkeypatch.setattr(traces, "tracer", tracer)
    caplog.set_level(logging.DEBUG)
    pipeline = without(search=telemetry.traced("search", found), generate=saying(f"- “{TEXT}” [1]\n"))

    reply = await generate(pipeline, ASKED)
    assert CANARY in reply.text
    await stream(pipeline, ASKED)
    with pytest.raises(aio.AioRpcError) as failure:
        await generate(without(search=found, rerank=telemetry.traced("rerank", broken)), ASKED)
    with pytest.raises(aio.AioRpcError) as refused:
        await generate(pipeline, CANARY * 500)

    assert {"radrag.search", "radrag.rerank"} <= {span.name for span in spans.spans}
    sinks = {
        "errors": str(failure.value) + repr(failure.value.trailing_metadata()) + str(refused.value),
        "logs": caplog.text,
        "spans": str(spans),
        "metrics": generate_latest(REGISTRY).decode(),
        "stages": str(reply.stages) + str(reply.manifest),
    }
    assert [name for name, text in sinks.items() if CANARY in text] == []
