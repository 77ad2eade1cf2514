"""What a gateway's page says of its stages' times is what its replies said, over a real stack."""

import asyncio
import random
import urllib.request
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from grpc import aio

from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.telemetry.reading import samples
from tests.integration.conftest import Stack
from tests.integration.test_traces import STAGES
from tests.integration.test_watched import metrics_of

AT_ONCE = 8
SUM = "radrag_stage_duration_seconds_sum"
Ask = Callable[[AssistantServiceStub, str], Awaitable[Sequence[pb.Stage]]]


async def search(stub: AssistantServiceStub, question: str) -> Any:
    return (await stub.Search(pb.SearchRequest(question=question))).stages


async def prompt(stub: AssistantServiceStub, question: str) -> Any:
    return (await stub.Prompt(pb.PromptRequest(question=question))).stages


async def generate(stub: AssistantServiceStub, question: str) -> Any:
    reply = await stub.Generate(pb.GenerateRequest(question=question))
    assert reply.outcome == pb.OUTCOME_ANSWERED
    return reply.stages


async def stream(stub: AssistantServiceStub, question: str) -> Any:
    frames = [one async for one in stub.GenerateStream(pb.GenerateStreamRequest(question=question))]
    assert frames[-1].finish.outcome == pb.OUTCOME_ANSWERED
    return frames[-1].finish.stages


async def told(address: str) -> dict[str, float]:
    """Seconds by stage that the replies to 200 mixed calls tell of, a few of them at a time."""
    kinds: list[Ask] = [search, prompt, generate, stream] * 50
    random.Random(20261201).shuffle(kinds)
    seconds: dict[str, float] = defaultdict(float)
    async with aio.insecure_channel(address) as channel:
        stub, door = AssistantServiceStub(channel), asyncio.Semaphore(AT_ONCE)

        async def asked(ask: Ask, number: int) -> Sequence[pb.Stage]:
            async with door:
                return await ask(stub, f"What is the dose limit of the eye lens in room {number}?")

        for stages in await asyncio.gather(*(asked(ask, number) for number, ask in enumerate(kinds))):
            for stage in stages:
                seconds[stage.name] += stage.duration.seconds + stage.duration.nanos / 1e9
    return seconds


def measured(address: str) -> dict[str, float]:
    """Seconds by stage on the process's page, over all outcomes."""
    with urllib.request.urlopen(f"http://{metrics_of(address)}/metrics", timeout=10) as page:
        found = samples(page.read().decode())
    seconds: dict[str, float] = defaultdict(float)
    for one in found:
        if one.name == SUM:
            seconds[one.labels["stage"]] += one.value
    return seconds


def test_200_mixed_calls_took_as_long_in_every_stages_histogram_as_in_their_replies(light: Stack) -> None:
    before = measured(light.gateway)
    replied = asyncio.run(told(light.gateway))
    after = measured(light.gateway)
    grown = {stage: after[stage] - before.get(stage, 0.0) for stage in after}
    assert grown.keys() == replied.keys() == set(STAGES)
    assert grown == pytest.approx(replied, rel=0.05)
