"""One question through everything: found, reranked, answered, checked, streamed, cancelled, refused."""

import asyncio
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import InvalidArgument
from tests.integration.conftest import MODELS, Stack, environ, gateway, lent
from tests.integration.metrics import total
from tests.ports import free_grpc_port

ENGLISH = "What is the yearly occupational limit for the eye lens under ICRP since 2011?"
RUSSIAN = "До скольких Вт/кг ограничен SAR всего тела, если томограф остаётся в обычном режиме?"


@pytest.mark.parametrize("question", [ENGLISH, RUSSIAN])
async def test_a_question_is_answered_with_checked_citations(stack: Stack, question: str) -> None:
    async with AsyncClient(stack.gateway) as client:
        reply = await client.generate(question)
    assert reply.outcome == pb.OUTCOME_ANSWERED
    assert reply.citations
    assert all(citation.verified for citation in reply.citations)
    assert {"embed", "search", "rerank", "prompt", "generate", "verify"} <= {s.name for s in reply.stages}


@pytest.mark.parametrize("question", [ENGLISH, RUSSIAN])
async def test_a_citation_quotes_the_stored_text_at_its_range(stack: Stack, question: str) -> None:
    async with AsyncClient(stack.gateway) as client:
        reply = await client.generate(question)
    for citation in reply.citations:
        source = reply.ranked_parents[citation.marker - 1]
        inside = source.text[citation.start - source.start : citation.end - source.start]
        assert (source.parent_id, inside) == (citation.parent_id, citation.quote)


async def test_streamed_and_whole_answers_are_the_same(stack: Stack) -> None:
    async with AsyncClient(stack.gateway) as client:
        whole = await client.generate(ENGLISH)
        frames = [frame async for frame in client.stream(ENGLISH)]
    first, *middle, last = frames
    assert [p.parent_id for p in first.sources.ranked_parents] == [p.parent_id for p in whole.ranked_parents]
    assert "".join(frame.text for frame in middle) == whole.text
    assert (last.finish.outcome, list(last.finish.citations)) == (whole.outcome, list(whole.citations))


async def test_the_manifest_names_the_models_and_the_index(stack: Stack) -> None:
    async with AsyncClient(stack.gateway) as client:
        reply = await client.generate(ENGLISH)
    roles = {model.role: model for model in reply.manifest.models}
    assert set(roles) == {"embedder", "reranker", "generator"}
    assert len(roles["embedder"].weights_sha256) == 64
    assert reply.manifest.index_generation
    assert reply.manifest.index_revision >= 42


@pytest.mark.parametrize(
    ("question", "field"),
    [("x" * 2001, "question"), ("", "question"), (" \n\t ", "question"), ("dose\0limit", "question")],
)
async def test_a_bad_question_is_refused_by_field(stack: Stack, question: str, field: str) -> None:
    async with AsyncClient(stack.gateway) as client:
        with pytest.raises(InvalidArgument) as refused:
            await client.generate(question)
    assert refused.value.field == field


async def test_an_unknown_topic_is_refused_by_field(stack: Stack) -> None:
    async with AsyncClient(stack.gateway) as client:
        with pytest.raises(InvalidArgument) as refused:
            await client.search(ENGLISH, filter=pb.Filter(topics=["cooking"]))
    assert refused.value.field == "filter.topics[0]"


async def test_cancelling_a_stream_stops_the_generator_within_a_second(
    stack: Stack, triton: TritonServer, tmp_path: Path
) -> None:
    server = TritonServer(Child("slow", tmp_path), ("slow_words",), free_grpc_port(), repository=MODELS)
    async with lent(server):
        settings = environ(
            tmp_path, triton.grpc, triton.grpc, server.grpc, RADRAG_GENERATOR_MODEL="slow_words"
        ) | {"RADRAG_RETRIEVAL_ADDRESS": stack.retrieval}
        async with gateway(settings) as address:
            await first_text_then_leave(address)
            left = time.monotonic()
            while await total(server.metrics, "slow_words", state="running"):
                assert time.monotonic() - left < 1.0, "the generator still writes a second after the cancel"
                await asyncio.sleep(0.02)
            assert await total(server.metrics, "slow_words", state="cancelled") == 1


async def first_text_then_leave(address: str) -> None:
    async with AsyncClient(address) as client, aclosing(client.stream(ENGLISH)) as frames:
        async for frame in frames:
            if frame.text:
                return
    raise AssertionError("no text came")
