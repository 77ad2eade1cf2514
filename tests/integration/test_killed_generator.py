"""A generator's server killed in mid-stream: one finish each time, with the sources and what was verified.

RADRAG_TEST_STREAM_KILLS=30 python -m pytest tests/integration/test_killed_generator.py
"""

import asyncio
import os
import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, suppress

import pytest

from cli.process import Child
from cli.triton_server import TritonServer
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import Unavailable
from tests.conftest import ran
from tests.integration.conftest import FEW, MODELS, Stack, environ, started
from tests.integration.test_separation import back
from tests.ports import free_grpc_port, free_port

KILLS = int(os.environ.get("RADRAG_TEST_STREAM_KILLS", "3"))
# Seconds after the first frame; slow_words writes a sentence of about 20 words in half a second.
DRAW = random.Random(20261201)  # the same moments every time
MOMENTS = [DRAW.uniform(0, 4) for _ in range(KILLS)]
QUESTION = "What is the yearly occupational limit for the eye lens?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, TritonServer]]:
    """A stack with three documents whose generator has a Triton of its own."""
    home = tmp_path_factory.mktemp("killed")
    others = TritonServer(
        Child("others", home), ("null_embedder", "null_reranker"), free_grpc_port(), repository=MODELS
    )
    generator = TritonServer(Child("generator", home), ("slow_words",), free_grpc_port(), repository=MODELS)
    (home / "thresholds.json").write_text('{"rerank": {"null_reranker": {"score": 0.5}}}')
    settings = environ(
        home,
        others.grpc,
        others.grpc,
        generator.grpc,
        RADRAG_EMBEDDER_MODEL="null_embedder",
        RADRAG_RERANKER_MODEL="null_reranker",
        RADRAG_GENERATOR_MODEL="slow_words",
        RADRAG_THRESHOLDS=str(home / "thresholds.json"),
        RADRAG_INGEST_ADDRESS=f"127.0.0.1:{free_port()}",
    )
    with ExitStack() as until:
        for server in (others, generator):
            until.callback(lambda one: ran(one.stop()), server)
            ran(server.start())
        stack = until.enter_context(started(settings, "retrieval", "gateway", "ingest"))
        done = stack.radrag("ingest", *map(str, FEW), "--topic", "safety", "--approve", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        yield stack, generator


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_stream_whose_generator_is_killed_ends_with_one_finish_and_its_sources(
    served: tuple[Stack, TritonServer], moment: float
) -> None:
    stack, generator = served
    frames: list[pb.GenerateStreamResponse] = []

    async def read(client: AsyncClient) -> None:
        async for frame in client.stream(QUESTION):
            frames.append(frame)  # noqa: PERF401 - each must be seen as it comes

    async with AsyncClient(stack.gateway, deadline=60) as client:
        reading = await begun(lambda: read(client), frames)
        await asyncio.sleep(moment)
        generator.kill()
        await reading
    first, *texts, last = frames
    assert first.sources.ranked_parents
    assert all(frame.WhichOneof("event") == "text" for frame in texts)
    assert last.finish.truncated
    assert last.finish.error.reason == "GENERATOR_UNAVAILABLE"
    text = "".join(frame.text for frame in texts)
    assert len(last.finish.citations) == text.count("[1]")
    assert all(citation.verified for citation in last.finish.citations)
    await back(stack.gateway, generator)


async def begun(
    read: Callable[[], Coroutine[None, None, None]], frames: list[pb.GenerateStreamResponse]
) -> asyncio.Task[None]:
    """A stream that has its first frame: a generator that failed in a row is left alone for a while."""
    async with asyncio.timeout(60):
        while True:
            reading = asyncio.create_task(read())
            while not frames and not reading.done():
                await asyncio.sleep(0.01)
            if frames:
                return reading
            with suppress(Unavailable):
                await reading
            await asyncio.sleep(0.5)
