"""Calls that are left, run out of time or fail have whole traces too, on a real Triton, and the same times.

Their generator is `slow_words`: it writes for half a minute, until somebody cancels, and fails on a source
that has no line worth quoting.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from grpc import aio

from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from tests.integration.conftest import Stack, slowly
from tests.integration.metrics import total
from tests.integration.test_traces import Caller, edges
from tests.integration.test_watched import metrics_of
from tests.otlp import Receiver, Span

# No line of it is long enough for the generator, which fails.
SHORT = "# Quiet limits\n\nThe quiet limit is 7 dB.\n"
AMONG = pb.Filter(topics=["physics"])
SPANS = ("scope", "embed", "search", "rerank", "prompt", "generate")
TREE = {
    ("caller", "call"),
    *(("call", f"radrag.{stage}") for stage in SPANS),
    ("radrag.search", "radrag.retrieval.v1.RetrievalService/Search"),
    ("radrag.embed", "InferRequest"),
    ("radrag.rerank", "InferRequest"),
    ("radrag.generate", "InferRequest"),
    ("InferRequest", "null_embedder"),
    ("InferRequest", "null_reranker"),
    ("InferRequest", "slow_words"),
}
# Whoever of the two clocks is first; a stream may still say so itself, in its finish.
LATE = {"CANCELLED", "DEADLINE_EXCEEDED"}
Ask = Callable[[AssistantServiceStub, Caller], Awaitable[grpc.StatusCode]]


@dataclass
class Slow:
    """A gateway whose generator is slow, that generator's server, and the callers there were."""

    stack: Stack
    generator: TritonServer
    callers: list[Caller] = field(default_factory=list)


@pytest.fixture(scope="module")
def slow(light: Stack, collector: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slow]:
    home: Path = tmp_path_factory.mktemp("slow")
    short = home / "quiet.md"
    short.write_text(SHORT, encoding="utf-8")
    done = light.radrag("ingest", str(short), "--topic", "physics", "--approve", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    with slowly(light, collector, home) as (stack, server):
        yield Slow(stack, server)


async def leave(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    """A unary call that is cancelled while its answer is written."""
    call = stub.Generate(pb.GenerateRequest(question=asked(caller)), metadata=caller.metadata)
    await asyncio.sleep(1.5)
    call.cancel()
    code: grpc.StatusCode = await call.code()
    return code


async def leave_stream(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    """The same of a stream, after its first checked text."""
    frames = stub.GenerateStream(pb.GenerateStreamRequest(question=asked(caller)), metadata=caller.metadata)
    async for frame in frames:
        if frame.WhichOneof("event") == "text":
            break
    frames.cancel()
    code: grpc.StatusCode = await frames.code()
    return code


async def late(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    request = pb.GenerateRequest(question=asked(caller))
    code: grpc.StatusCode = await stub.Generate(request, metadata=caller.metadata, timeout=2).code()
    return code


async def late_stream(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    request = pb.GenerateStreamRequest(question=asked(caller))
    frames = stub.GenerateStream(request, metadata=caller.metadata, timeout=2)
    # Whoever sees first that the time is up: the gateway by its last frame, or gRPC here by the status.
    return await _to_the_end(frames, "DEADLINE_EXCEEDED")


async def fail(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    request = pb.GenerateRequest(question=asked(caller, "quiet limit"), filter=AMONG)
    code: grpc.StatusCode = await stub.Generate(request, metadata=caller.metadata, timeout=30).code()
    return code


async def fail_stream(stub: AssistantServiceStub, caller: Caller) -> grpc.StatusCode:
    request = pb.GenerateStreamRequest(question=asked(caller, "quiet limit"), filter=AMONG)
    return await _to_the_end(stub.GenerateStream(request, metadata=caller.metadata, timeout=30))


async def _to_the_end(frames: AsyncIterator[pb.GenerateStreamResponse], said: str = "") -> grpc.StatusCode:
    """How it ended; where with OK, its last frame gave the reason `said`."""
    last = pb.GenerateStreamResponse()
    try:
        async for frame in frames:
            last = frame
    except aio.AioRpcError as error:
        return error.code()
    assert last.finish.error.reason == said
    return grpc.StatusCode.OK


def asked(caller: Caller, what: str = "yearly occupational limit for the eye lens") -> str:
    """A question that was not asked before: its vector would be in the cache, and no span of the embedder."""
    return f"What is the {what}? Case {caller.span}."


def whole(spans: list[Span], caller: Caller) -> bool:
    return edges(spans, caller) >= TREE


async def ended(slow: Slow, collector: Receiver, ask: Ask) -> tuple[grpc.StatusCode, list[Span], Caller]:
    caller = Caller()
    slow.callers.append(caller)
    async with aio.insecure_channel(slow.stack.gateway) as channel:
        code = await ask(AssistantServiceStub(channel), caller)
    spans = await asyncio.to_thread(collector.wait, caller.trace, lambda some: whole(some, caller), 30)
    return code, spans, caller


def one(spans: list[Span], name: str) -> Span:
    (found,) = [span for span in spans if span.name.startswith(name)]
    return found


@pytest.mark.parametrize(
    ("ask", "statuses", "codes", "outcomes"),
    [
        (leave, {"CANCELLED"}, {"CANCELLED"}, {"CancelledError", "ok"}),
        (leave_stream, {"CANCELLED"}, {"CANCELLED"}, {"CancelledError", "ok"}),
        (late, {"DEADLINE_EXCEEDED"}, LATE, {"CancelledError", "DeadlineExceeded"}),
        (late_stream, {"OK", "DEADLINE_EXCEEDED"}, LATE, {"CancelledError", "DeadlineExceeded", "ok"}),
        (fail, {"UNAVAILABLE"}, {"UNAVAILABLE"}, {"ModelUnavailable"}),
        (fail_stream, {"UNAVAILABLE"}, {"UNAVAILABLE"}, {"ModelUnavailable"}),
    ],
)  # fmt: skip
async def test_a_call_that_does_not_end_well_is_one_tree_with_tritons_inside(
    slow: Slow, collector: Receiver, ask: Ask, statuses: set[str], codes: set[str], outcomes: set[str]
) -> None:
    code, spans, caller = await ended(slow, collector, ask)
    assert code.name in statuses
    found = edges(spans, caller)
    assert found >= TREE, sorted(TREE - found)
    assert not [edge for edge in found if edge[0] == "nowhere"]
    call, generate = one(spans, "radrag.assistant"), one(spans, "radrag.generate")
    assert call.attributes["rpc.response.status_code"] in codes
    assert generate.attributes["radrag.outcome"] in outcomes
    # Who leaves has not made us fail; what fails here is an error, which the collector always keeps.
    left = call.attributes["rpc.response.status_code"] == "CANCELLED"
    assert call.failed is not left
    assert generate.failed is (
        generate.attributes["radrag.outcome"] in {"ModelUnavailable", "DeadlineExceeded"}
    )
    assert generate.end <= call.end + 0.01


async def test_a_stream_that_breaks_off_has_failed_though_its_status_is_ok(
    slow: Slow, collector: Receiver
) -> None:
    caller = Caller()
    slow.callers.append(caller)
    async with aio.insecure_channel(slow.stack.gateway) as channel:
        request = pb.GenerateStreamRequest(question=asked(caller))
        frames = AssistantServiceStub(channel).GenerateStream(request, metadata=caller.metadata)
        events = []
        async for frame in frames:
            events.append(frame)
            if frame.WhichOneof("event") == "text" and len(events) == 2:
                await asyncio.to_thread(slow.generator.kill)
        assert events[-1].finish.error.reason == "GENERATOR_UNAVAILABLE"
        assert await frames.code() is grpc.StatusCode.OK
    ours = {edge for edge in TREE if edge[1] != "slow_words" and edge != ("radrag.generate", "InferRequest")}
    spans = await asyncio.to_thread(
        collector.wait, caller.trace, lambda some: edges(some, caller) >= ours, 30
    )
    call, generate = one(spans, "radrag.assistant"), one(spans, "radrag.generate")
    assert (call.failed, call.attributes["rpc.response.status_code"]) == (True, "UNAVAILABLE")
    assert (generate.failed, generate.attributes["error.type"]) == (True, "ModelUnavailable")


async def test_their_stages_took_as_long_in_histograms_as_in_their_spans(
    slow: Slow, collector: Receiver
) -> None:
    """Over all the calls above: this gateway had no others."""
    assert len(slow.callers) >= 7, "run the tests above, too"
    spent: dict[str, float] = defaultdict(float)
    for caller in slow.callers:
        for span in collector.of(caller.trace):
            if span.service == "radrag-gateway" and span.name.startswith("radrag.") and "/" not in span.name:
                spent[span.name.removeprefix("radrag.")] += span.seconds
    for stage in ("embed", "search", "rerank", "generate", "verify"):
        measured = await total(
            metrics_of(slow.stack.gateway), "radrag_stage_duration_seconds_sum", stage=stage
        )
        assert measured == pytest.approx(spent[stage], abs=1e-5), stage  # of floats since 1970
    assert await total(metrics_of(slow.stack.gateway), "radrag_requests_in_flight") == 0
