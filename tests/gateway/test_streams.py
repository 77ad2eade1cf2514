"""A stream that goes wrong: one finish in every case, and a generator that stops when nobody listens."""

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import cast

import pytest
from grpc import StatusCode
from prometheus_client import REGISTRY

from gateway.counts import WATCH
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import ModelUnavailable
from radrag.telemetry import traced
from radrag.triton import Piece
from tests.gateway.channel import QUESTION, asking, generate, stream, without
from tests.gateway.fakes import saying

LONG = "The annual dose limit for workers is 20 mSv [1]. " * 12
POINTS = random.Random(20261201).sample(range(1, len(LONG)), 30)


def dying(after: int, error: Exception) -> object:
    """A generator that writes so many characters, one at a time, and dies."""

    async def write(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        for sign in LONG[:after]:
            await asyncio.sleep(0)
            yield Piece(sign, "", 100, 1)
        raise error

    return write


@pytest.mark.parametrize("after", POINTS)
async def test_a_generator_killed_in_mid_stream_leaves_one_finish_and_the_sources(after: int) -> None:
    first, *texts, last = await stream(without(generate=dying(after, ModelUnavailable("generator"))))
    assert len(first.sources.ranked_parents) == 2
    assert all(frame.WhichOneof("event") == "text" for frame in texts)
    finish = last.finish
    assert finish.truncated
    assert (finish.error.code, finish.error.reason) == (14, "GENERATOR_UNAVAILABLE")
    text = "".join(frame.text for frame in texts)
    assert LONG.startswith(text)
    assert not text or text.endswith("[1].")
    assert len(finish.citations) == text.count("[1]")


async def test_an_error_of_our_own_keeps_its_text_to_itself() -> None:
    *_, last = await stream(without(generate=dying(60, ValueError("the secret question"))))
    assert last.finish.error.code == StatusCode.INTERNAL.value[0]
    assert "secret" not in str(last)


async def test_a_dead_generator_fails_the_whole_answer() -> None:
    with pytest.raises(Exception, match="the generator does not answer"):
        await generate(without(generate=dying(60, ModelUnavailable("generator"))))


async def test_a_generator_past_the_deadline_is_stopped_and_the_finish_still_comes() -> None:
    stopped = asyncio.Event()

    async def endless(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        try:
            while True:
                await asyncio.sleep(0.01)
                yield Piece("The annual dose limit for workers is 20 mSv [1]. ", "", 100, 1)
        finally:
            stopped.set()

    first, *texts, last = await stream(without(generate=endless), seconds=1.0)
    assert first.HasField("sources")
    assert texts
    assert (last.finish.truncated, last.finish.error.code) == (True, 4)
    assert stopped.is_set()


async def test_an_answer_cut_at_its_length_says_so_and_drops_the_half_sentence() -> None:
    pipeline = without(generate=saying(LONG[:120], finish="length"))
    reply = await generate(pipeline)
    assert reply.truncated
    assert reply.reason == "length"
    assert reply.text.endswith("[1].")
    assert wire.Warning.KIND_TRUNCATED in {
        warning.kind for warning in cast("list[wire.Warning]", reply.warnings)
    }


async def test_a_complete_last_sentence_survives_the_cut() -> None:
    reply = await generate(without(generate=saying(LONG[:48], finish="length")))
    assert reply.text == "The annual dose limit for workers is 20 mSv [1]."


@pytest.mark.parametrize("reads", [0, 1, 3])
async def test_a_cancelled_stream_stops_the_generator_within_a_second(reads: int) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def endless(prompt: str, max_tokens: int) -> AsyncGenerator[Piece, None]:
        try:
            while True:
                started.set()
                await asyncio.sleep(0.005)
                yield Piece("The annual dose limit for workers is 20 mSv [1]. ", "", 100, 1)
        finally:
            stopped.set()

    async with asking(without(generate=traced("generate", endless))) as stub:
        call = stub.GenerateStream(wire.GenerateStreamRequest(question=QUESTION))
        for _ in range(reads):
            await call.read()
        await started.wait()
        call.cancel()
        await asyncio.wait_for(stopped.wait(), 1.0)


async def test_first_tokens_are_timed_at_the_model_and_at_the_caller() -> None:
    def timed(at: str) -> float:
        return REGISTRY.get_sample_value("radrag_time_to_first_token_seconds_count", {"at": at}) or 0.0

    ticks = iter(range(100))
    before = timed("model"), timed("caller")
    pieces = ("", "The annual dose limit for workers", " is 20 mSv [1].")
    reply = await generate(without(generate=saying(*pieces), clock=lambda: float(next(ticks)), watch=WATCH))
    usage = reply.usage
    # The clock is read at the start, at the first piece with text, and at the first checked text.
    assert (usage.first_token_model.seconds, usage.first_token_caller.seconds) == (1, 2)
    assert usage.output_tokens == 3
    assert (timed("model"), timed("caller")) == (before[0] + 1, before[1] + 1)


async def test_tokens_of_a_broken_answer_are_counted_as_they_come() -> None:
    """A count taken from the end of an answer would miss those that never reach it."""
    before = REGISTRY.get_sample_value("radrag_generated_tokens_total") or 0.0
    failed = REGISTRY.get_sample_value("radrag_outcomes_total", {"outcome": "FAILED"}) or 0.0
    await stream(without(generate=dying(60, ModelUnavailable("generator")), watch=WATCH))
    assert (REGISTRY.get_sample_value("radrag_generated_tokens_total") or 0.0) == before + 60
    assert REGISTRY.get_sample_value("radrag_outcomes_total", {"outcome": "FAILED"}) == failed + 1


async def test_a_stream_that_breaks_off_is_counted_by_its_failures_code() -> None:
    """Its status is OK, since the caller has had frames: an availability taken from that would be a lie."""
    labels = {"method": "radrag.assistant.v1.AssistantService/GenerateStream", "code": "UNAVAILABLE"}
    before = REGISTRY.get_sample_value("radrag_requests_total", labels) or 0.0
    await stream(without(generate=dying(60, ModelUnavailable("generator"))))
    assert REGISTRY.get_sample_value("radrag_requests_total", labels) == before + 1


async def test_reasoning_aloud_never_leaves_the_gateway() -> None:
    text = "<think>\nmaybe 50 mSv?\n</think>\n\nThe annual dose limit for workers is 20 mSv [1]."
    reply = await generate(without(generate=saying(*text)))
    assert reply.text == "The annual dose limit for workers is 20 mSv [1]."
