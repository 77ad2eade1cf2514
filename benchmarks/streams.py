"""Streams of 20 ms words through the gateway and through a bare relay: CPU per token, and whether they keep
up.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from grpc import aio

from benchmarks import corpus, kept
from benchmarks.loops import spent
from benchmarks.relaying import relays
from benchmarks.stand import Stand
from cli import supervision
from cli.supervision import Service
from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

WORDS = 512  # the most an answer has
SECONDS_A_WORD = 0.02


@dataclass(frozen=True)
class Run:
    """Streams at once: tokens in all, CPU seconds of who passed them on, and how long the slowest took."""

    tokens: int
    cpu: float
    slowest: float
    frames: int

    def figures(self) -> dict[str, float]:
        """As kept: microseconds of CPU a token, frames, and the time over what the words themselves need."""
        return {
            "cpu_us_per_token": round(self.cpu / self.tokens * 1e6, 1),
            "tokens_per_frame": round(self.tokens / self.frames, 2),
            "time_over_words": round(self.slowest / (WORDS * SECONDS_A_WORD), 3),
        }


async def measured(stand: Stand, counts: list[int]) -> dict[str, object]:
    """Each count of streams, through the relay and then through the gateway."""
    said: dict[str, object] = {}
    async with _writing(stand) as writing:
        question = corpus.questions("en", 1)[0]
        messages = await kept.captured(writing, question, "null_words")
        async with relays(writing, messages) as addresses:
            for count in counts:
                bare = await _run(addresses["path"], "path", count, writing.pids, question)
                ours = await _run(writing.gateway, "gateway", count, writing.pids, question)
                ratio = (ours.cpu / ours.tokens) / (bare.cpu / bare.tokens)
                said[str(count)] = {
                    "gateway": ours.figures(),
                    "relay": bare.figures(),
                    "cpu_ratio": round(ratio, 3),
                }
                print(count, "streams:", said[str(count)], flush=True)
    return said


@asynccontextmanager
async def _writing(stand: Stand) -> AsyncIterator[Stand]:
    """A second gateway beside the first, whose generator writes words."""
    service = beside(stand, "writing", {"RADRAG_GENERATOR_MODEL": "null_words"})
    await supervision.up([service], Terminal(), 60)
    try:
        running = service.child.running()
        yield replace(stand, environ=service.environ, pids={"gateway": running.pid if running else 0})
    finally:
        await supervision.down([service.child])


def beside(stand: Stand, name: str, more: Mapping[str, str]) -> Service:
    """A second gateway beside the first, with other settings and a folder of its own; not started."""
    own = {
        "RADRAG_GATEWAY_ADDRESS": f"127.0.0.1:{stand.triton.grpc_port + 17}",
        "RADRAG_HOME": str(stand.home / name),
        "RADRAG_AUDIT_KEY_FILE": str(stand.home / name / "key.pem"),
    }
    return stand.service("gateway", {**stand.environ, **own, **more})


async def _run(address: str, process: str, count: int, pids: Mapping[str, int], question: str) -> Run:
    """So many streams, from the first frame of the last to the end of all."""
    frames, tokens, ends = 0, 0, list[float]()
    begun = asyncio.Barrier(count + 1)

    async def read(number: int) -> None:
        nonlocal frames, tokens
        async with aio.insecure_channel(address) as channel:
            asked = wire.GenerateStreamRequest(question=question.replace("case ", f"case {number}/", 1))
            stream = AssistantServiceStub(channel).GenerateStream(asked)
            began = 0.0
            async for frame in stream:
                if not began:
                    began = time.perf_counter()
                    await begun.wait()
                if frame.WhichOneof("event") == "text":
                    frames += 1
                    tokens += len(frame.text.split())
            ends.append(time.perf_counter() - began)

    async with asyncio.TaskGroup() as readers:  # one that fails ends the wait for it
        for number in range(count):
            readers.create_task(read(number))
        await begun.wait()
        before = spent(pids)[process]
    return Run(tokens, spent(pids)[process] - before, max(ends), frames)
