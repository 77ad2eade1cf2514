"""Histograms, replies and spans tell of the same times; gauges return to zero, whatever a call's end."""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any

import grpc
import pytest
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from prometheus_client import REGISTRY

from gateway.counts import WATCH
from radrag import telemetry
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.telemetry import traced, traces
from radrag.telemetry.spans import Recorded, Tracer
from radrag.triton import Piece, Score
from tests.gateway.channel import QUESTION, asking, without
from tests.gateway.fakes import ANSWER, down, rerank, saying

METHOD = "radrag.assistant.v1.AssistantService/"
CHANCE = random.Random(20261201)


async def slow_rerank(asked: str, passages: Sequence[str]) -> list[Score]:
    await asyncio.sleep(CHANCE.uniform(0.005, 0.02))
    return await rerank(asked, passages)


async def slow_generate(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
    async for piece in saying(*ANSWER.splitlines(keepends=True))(prompt, max_tokens):
        await asyncio.sleep(CHANCE.uniform(0.005, 0.02))
        yield piece


SLOW = without(rerank=traced("rerank", slow_rerank), generate=traced("generate", slow_generate), watch=WATCH)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Recorded]:
    """The spans that ended."""
    finished: list[Recorded] = []
    monkeypatch.setattr(traces, "tracer", Tracer(ALWAYS_ON, RandomIdGenerator(), finished.append))
    return finished


def summed() -> dict[str, float]:
    """Seconds by stage, over all outcomes."""
    found: dict[str, float] = defaultdict(float)
    for sample in next(iter(telemetry.STAGE_DURATION.collect())).samples:
        if sample.name.endswith("_sum"):
            found[sample.labels["stage"]] += sample.value
    return found


def grown(before: Mapping[str, float]) -> dict[str, float]:
    return {stage: seconds - before.get(stage, 0.0) for stage, seconds in summed().items()}


def spent(finished: Iterable[Recorded]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for span in finished:
        if span.name.startswith("radrag.") and "/" not in span.name:
            found[span.name.removeprefix("radrag.")] += span.seconds
    return found


def told(stages: Iterable[wire.Stage], into: dict[str, float]) -> None:
    for stage in stages:
        into[stage.name] += stage.duration.ToTimedelta().total_seconds()


async def test_200_mixed_requests_take_as_long_in_histograms_as_in_their_replies(
    spans: list[Recorded],
) -> None:
    before, replied = summed(), defaultdict[str, float](float)
    async with asking(SLOW) as stub:
        kinds = [search, prompt, generate, stream] * 50
        CHANCE.shuffle(kinds)
        for start in range(0, 200, 20):
            for stages in await asyncio.gather(*(kind(stub) for kind in kinds[start : start + 20])):
                told(stages, replied)
    for stage in ("rerank", "generate", "verify"):
        assert grown(before)[stage] == pytest.approx(replied[stage], rel=0.05)
        assert spent(spans)[stage] == pytest.approx(grown(before)[stage], rel=1e-9)


async def test_errors_and_cancels_take_as_long_in_histograms_as_in_their_spans(
    spans: list[Recorded],
) -> None:
    before = summed()
    broken = without(rerank=traced("rerank", slow_rerank), generate=traced("generate", breaking))
    async with asking(broken) as stub:
        ended = await asyncio.gather(*(generate(stub) for _ in range(20)), return_exceptions=True)
        assert all(isinstance(one, grpc.RpcError) for one in ended)
    async with asking(SLOW) as stub:
        await asyncio.gather(*(leave(stub) for _ in range(20)))
        while running():
            await asyncio.sleep(0.01)
    measured, traced_ = grown(before), spent(spans)
    for stage in ("rerank", "generate"):
        assert measured[stage] == pytest.approx(traced_[stage], rel=1e-9)
    assert not running()


async def test_no_gauge_is_left_up_by_any_end_of_a_call() -> None:
    async with asking(without(embed=down("embedder"), search=down("retrieval"))) as stub:
        await asyncio.gather(*(search(stub) for _ in range(5)), return_exceptions=True)
    async with asking(SLOW) as stub:
        with pytest.raises(grpc.RpcError):
            await stub.Search(wire.SearchRequest(question=""))
        with pytest.raises(grpc.RpcError):
            await stub.Generate(wire.GenerateRequest(question=QUESTION), timeout=0.01)
        await leave(stub)
        while running():
            await asyncio.sleep(0.01)
    assert running() == 0


def answered() -> dict[str, float]:
    """Answers by outcome."""
    samples = next(iter(telemetry.OUTCOMES.collect())).samples
    return {one.labels["outcome"]: one.value for one in samples if one.name.endswith("_total")}


@pytest.mark.parametrize("ask", ["generate", "stream"])
async def test_an_answer_that_there_was_not_is_counted_as_failed_and_only_once(ask: str) -> None:
    before = answered()
    for parts in ({"search": down("retrieval")}, {"generate": traced("generate", breaking)}):
        async with asking(without(**parts)) as stub:
            with pytest.raises(grpc.RpcError):
                await (generate(stub) if ask == "generate" else stream(stub))
    grown = {name: count - before.get(name, 0.0) for name, count in answered().items()}
    assert {name: count for name, count in grown.items() if count} == {"FAILED": 2}


def running() -> float:
    """Calls running, over all methods."""
    return sum(sample.value for sample in next(iter(telemetry.IN_FLIGHT.collect())).samples)


def test_what_is_counted_here_is_what_is_served() -> None:
    assert REGISTRY.get_sample_value("radrag_requests_in_flight", {"method": f"{METHOD}Search"}) is not None


async def search(stub: AssistantServiceStub) -> Any:
    return (await stub.Search(wire.SearchRequest(question=QUESTION))).stages


async def prompt(stub: AssistantServiceStub) -> Any:
    return (await stub.Prompt(wire.PromptRequest(question=QUESTION))).stages


async def generate(stub: AssistantServiceStub) -> Any:
    return (await stub.Generate(wire.GenerateRequest(question=QUESTION))).stages


async def stream(stub: AssistantServiceStub) -> Any:
    frames = [one async for one in stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION))]
    return frames[-1].finish.stages


async def leave(stub: AssistantServiceStub) -> None:
    frames = stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION))
    await frames.read()
    frames.cancel()


async def breaking(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
    await asyncio.sleep(0.01)
    raise ValueError("the secret answer")
    yield
