"""Streams of 20 ms words through the gateway and through a bare relay: CPU per token, and whether they keep
up. The relay passes each word on in a frame; `gathering`, as many in a frame as the gateway does.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from statistics import median

from grpc import aio

from benchmarks import corpus, kept
from benchmarks.loops import spent, spread
from benchmarks.relaying import relays
from benchmarks.relays import PIECES
from benchmarks.stand import Stand
from cli import supervision
from cli.supervision import Service
from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

WORDS = 512  # the most an answer has
SECONDS_A_WORD = 0.02
WAYS = ("relay", "gateway", "gathering")
KEEPS_UP = 1.05  # of the words' own time
MOST_STREAMS = 512


@dataclass(frozen=True)
class Run:
    """Streams at once: tokens in all, CPU seconds of who passed them on, and how long the slowest took."""

    tokens: int
    cpu: float
    slowest: float
    frames: int

    @property
    def per_token(self) -> float:
        """CPU seconds."""
        return self.cpu / self.tokens

    @property
    def per_frame(self) -> float:
        """Tokens."""
        return self.tokens / self.frames

    @property
    def over_words(self) -> float:
        """The time of the slowest over what the words themselves need."""
        return self.slowest / (WORDS * SECONDS_A_WORD)


Pass = Callable[[str, int, int], Awaitable[Run]]  # which way, how many streams, how many words in a frame


async def measured(stand: Stand, counts: Sequence[int], rounds: int) -> dict[str, object]:
    """Each count of streams every way, and with how many the relay still keeps up."""
    said: dict[str, object] = {}
    async with _ways(stand) as passed:
        held = 0
        for count in counts:
            runs = await _rounds(passed, count, rounds)
            said[str(count)] = _figures(runs)
            print(count, "streams:", said[str(count)], flush=True)
            if median(one.over_words for one in runs["relay"]) <= KEEPS_UP:
                held = max(held, count)
        said["limit"] = await _limit(passed, held)
        print("limit:", said["limit"], flush=True)
    return said


async def _rounds(passed: Pass, count: int, rounds: int) -> dict[str, list[Run]]:
    """Runs by way, one after the other, every second round the other way round."""
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS[:: -1 if number % 2 else 1]:
            words = round(runs["gateway"][0].per_frame) if way == "gathering" else 1
            runs[way].append(await passed(way, count, words))
    return runs


def _figures(runs: Mapping[str, Sequence[Run]]) -> dict[str, object]:
    """As kept: medians of each way, and the gateway's CPU a token over both relays' of the same round."""
    ways = {
        way: {
            "cpu_us_per_token": round(median(one.per_token for one in some) * 1e6, 1),
            "tokens_per_frame": round(median(one.per_frame for one in some), 2),
            "time_over_words": round(median(one.over_words for one in some), 3),
        }
        for way, some in runs.items()
    }
    return {
        **ways,
        "cpu_ratio": _ratio(runs["gateway"], runs["relay"]),
        "cpu_ratio_to_gathering": _ratio(runs["gateway"], runs["gathering"]),
    }


def _ratio(runs: Sequence[Run], others: Sequence[Run]) -> dict[str, float]:
    return spread([one.per_token / other.per_token for one, other in zip(runs, others, strict=True)])


async def _limit(passed: Pass, held: int) -> dict[str, object]:
    """Doubles the streams while the relay keeps up, as it does with `held`, and asks the gateway for as many.

    The times are over the words' own; `relay` has those of each number tried.
    """
    tried: dict[str, float] = {}
    while 0 < (count := held * 2) <= MOST_STREAMS:
        tried[str(count)] = round((await passed("relay", count, 1)).over_words, 3)
        if tried[str(count)] > KEEPS_UP:
            break
        held = count
    ours = round((await passed("gateway", held, 1)).over_words, 3) if held else None
    return {"streams": held, "relay": tried, "gateway": ours}


@asynccontextmanager
async def _ways(stand: Stand) -> AsyncIterator[Pass]:
    """The second gateway and a relay of what it is sent."""
    async with _writing(stand) as writing:
        question = corpus.questions("en", 1)[0]
        messages = await kept.captured(writing, question, "null_words")
        async with relays(writing, messages) as addresses:

            async def passed(way: str, count: int, words: int) -> Run:
                ours = way == "gateway"
                address, process = (writing.gateway, way) if ours else (addresses["path"], "path")
                return await _run(address, process, count, writing.pids, question, words=words)

            yield passed


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


async def _run(
    address: str, process: str, count: int, pids: Mapping[str, int], question: str, *, words: int = 1
) -> Run:
    """So many streams, from the first frame of the last to the end of all; first frames do not count."""
    frames, tokens, ends = 0, 0, list[float]()
    begun = asyncio.Barrier(count + 1)

    async def read(number: int) -> None:
        nonlocal frames, tokens
        async with aio.insecure_channel(address) as channel:
            asked = wire.GenerateStreamRequest(question=question.replace("case ", f"case {number}/", 1))
            stream = AssistantServiceStub(channel).GenerateStream(asked, metadata=((PIECES, str(words)),))
            began = 0.0
            async for frame in stream:
                if not began:
                    began = time.perf_counter()
                    await begun.wait()
                elif frame.WhichOneof("event") == "text":
                    frames += 1
                    tokens += len(frame.text.split())
            ends.append(time.perf_counter() - began)

    async with asyncio.TaskGroup() as readers:  # one that fails ends the wait for it
        for number in range(count):
            readers.create_task(read(number))
        await begun.wait()
        before = spent(pids)[process]
    return Run(tokens, spent(pids)[process] - before, max(ends), frames)
