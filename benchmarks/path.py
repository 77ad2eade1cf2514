"""What the answer path costs beyond its models and its store, stage by stage. Run: make bench-path

The limit of a call is the sum of direct calls (tensors straight to Triton, legs straight to the store) made
in the same run, and what two bare grpc.aio hops with the same messages take. Rounds alternate between all of
them, so that a busy machine bends them alike; a ratio is one round's, and its median and range are given.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from grpc import aio

from benchmarks import corpus, kept, path_rows, reranking, streams
from benchmarks.beside import fastapi
from benchmarks.least import least
from benchmarks.loops import Ask, loop, memory
from benchmarks.path_rows import Heard, Loads
from benchmarks.record import record
from benchmarks.relaying import relays
from benchmarks.stand import Stand, standing
from benchmarks.straight import Straight, straight
from cli import places
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

RESULTS = places.ROOT / "benchmarks" / "results"
CHILDREN = {"null": 2000, "cpu": 10_000}
QUESTIONS = 40


async def measured(kind: str, asked: argparse.Namespace) -> dict[str, object]:
    """Everything of one kind: the rows, the stages of single calls, memory, and the streams."""
    with tempfile.TemporaryDirectory() as home:
        children = asked.children or CHILDREN[kind]
        async with standing(kind, Path(home), asked.port, children) as stand:
            async with _callers(stand, kind, children) as calls:
                if kind == "null":
                    await _met(calls)
                heard: Heard = {}
                loads = await _rounds(calls, _watched(stand), asked, heard)
            held = {name: memory(pid) for name, pid in stand.pids.items()}
            figures = {
                "children": children,
                "rows": path_rows.rows(loads),
                "stages_ms": path_rows.stages(heard),
                "memory": held,
            }
            if kind == "null" and asked.streams:
                figures["streams"] = await streams.measured(stand, asked.streams, asked.stream_rounds)
    if kind == "cpu":
        figures["rerank_over_encoder"] = reranking.over_encoder()
    return figures


def _questions(count: int) -> list[str]:
    return corpus.questions("en", count)


@asynccontextmanager
async def _callers(stand: Stand, kind: str, children: int) -> AsyncIterator[dict[str, Ask]]:
    """Every way to ask, by name."""
    said = await kept.captured(stand, _questions(1)[0], stand.models[2])
    async with AsyncExitStack() as open_:
        direct = await open_.enter_async_context(straight(stand, _questions(QUESTIONS)))
        addresses = {**await open_.enter_async_context(relays(stand, said)), "ours": stand.gateway}
        if kind == "null":
            addresses["least"] = await open_.enter_async_context(least(stand))
        channels = {name: aio.insecure_channel(at) for name, at in addresses.items()}
        for channel in channels.values():
            open_.push_async_callback(channel.close, None)
        stubs = {name: AssistantServiceStub(channel) for name, channel in channels.items()}
        plain = await open_.enter_async_context(fastapi(stand, children)) if kind == "null" else {}
        yield {**_direct(direct), **_bare(stubs), **ours(stubs["ours"]), **_least(stubs), **plain}


async def _met(calls: Mapping[str, Ask]) -> None:
    """Each question once before anything counts: what a passage costs when it is first met would weigh on a
    round of 40 calls and does not on a day of them. With models that compute, these hide it."""
    for name in ("search", "least search", "direct", "search in process"):
        for number in range(QUESTIONS):
            await calls[name](-1000 - number)


def _direct(direct: Straight) -> dict[str, Ask]:
    return {
        "embed, direct": direct.embed,
        "store, direct": direct.query,
        "rerank, direct": direct.rerank,
        "direct": direct.all,
        "search in process": direct.search,
    }


def _bare(stubs: Mapping[str, AssistantServiceStub]) -> dict[str, Ask]:
    return {
        "two hops": lambda number: stubs["hops"].Search(wire.SearchRequest(question=f"case {number}")),
        "bare prompt": lambda number: stubs["path"].Prompt(wire.PromptRequest(question=f"case {number}")),
    }


def _least(stubs: Mapping[str, AssistantServiceStub]) -> dict[str, Ask]:
    """The calls of a gateway that decides and tells nothing, where there is one."""
    asked = ours(stubs["least"]) if "least" in stubs else {}
    return {f"least {name}": asked[name] for name in ("search", "prompt") if name in asked}


def ours(stub: AssistantServiceStub) -> dict[str, Ask]:
    """The public calls, each with a question that was not asked before."""
    texts = _questions(QUESTIONS)
    turns = iter(range(10**9))

    def text() -> str:
        """One that was never asked, so that no cache answers: its number is its own."""
        turn = next(turns)
        return texts[turn % len(texts)].replace("case ", f"case {turn}/", 1)

    async def first_token(number: int) -> None:
        frames = stub.GenerateStream(wire.GenerateStreamRequest(question=text()))
        async for frame in frames:
            if frame.WhichOneof("event") == "text":
                break
        frames.cancel()

    return {
        "search": lambda number: stub.Search(wire.SearchRequest(question=text())),
        "prompt": lambda number: stub.Prompt(wire.PromptRequest(question=text())),
        "generate": lambda number: stub.Generate(wire.GenerateRequest(question=text())),
        "first token": first_token,
    }


def _watched(stand: Stand) -> dict[str, int]:
    """Everyone whose CPU counts: Triton with its models' processes, and this one, that calls the store."""
    triton = {"triton": -running.pid} if (running := stand.triton.child.running()) else {}
    return {**stand.pids, **triton, "caller": os.getpid()}


async def _rounds(
    calls: Mapping[str, Ask], watched: Mapping[str, int], asked: argparse.Namespace, heard: Heard
) -> Loads:
    """Every call in turn, so often at each number of callers; their stages go to `heard`."""
    loads: Loads = {}
    for at_once in asked.at_once:
        for _ in range(asked.rounds):
            for name, ask in calls.items():
                hear = path_rows.hearing(heard, name, at_once)
                one = await loop(ask, at_once, asked.seconds, watched, asked.least, hear=hear)
                loads.setdefault((name, at_once), []).append(one)
        print(*(path_rows.said(name, at_once, loads[name, at_once]) for name in calls), sep="\n", flush=True)
    return loads


def main() -> None:
    """Measures what was asked for, prints, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--kind", choices=list(CHILDREN), nargs="+", default=["null"])
    given.add_argument("--at-once", type=int, nargs="+", default=[1, 4, 16, 64])
    given.add_argument("--seconds", type=float, default=2.0)
    given.add_argument("--rounds", type=int, default=3)
    given.add_argument("--least", type=int, default=3, help="calls of each caller in a round")
    given.add_argument("--children", type=int, default=0)
    given.add_argument("--streams", type=int, nargs="*", default=[8, 32])
    given.add_argument("--stream-rounds", type=int, default=3, help="of each count of --streams")
    given.add_argument("--port", type=int, default=28901)
    asked = given.parse_args()
    for kind in asked.kind:
        figures = asyncio.run(measured(kind, asked))
        record(RESULTS / f"path_{kind}.json", figures)
        print({key: value for key, value in figures.items() if key not in ("rows", "stages_ms")})


if __name__ == "__main__":
    main()
