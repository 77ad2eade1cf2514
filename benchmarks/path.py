"""What the answer path costs beyond its models and its store, stage by stage. Run: make bench-path

The limit of a call is the sum of direct calls (tensors straight to Triton, legs straight to the store) made
in the same run, and what two bare grpc.aio hops with the same messages take. Rounds alternate between all of
them, so that a busy machine bends them alike; a ratio is one round's, and its median and range are given.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

from grpc import aio

from benchmarks import corpus, kept, streams
from benchmarks.beside import fastapi
from benchmarks.least import least
from benchmarks.loops import Ask, Load, loop, memory, ms
from benchmarks.record import record
from benchmarks.relaying import relays
from benchmarks.stand import Stand, standing
from benchmarks.straight import Straight, straight
from cli import places
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

RESULTS = places.ROOT / "benchmarks" / "results"
CHILDREN = {"null": 2000, "cpu": 10_000}
OURS = ("search", "prompt", "generate", "first token", "least search", "least prompt")
PROCESS = {"prompt": "gateway", "least prompt": "least"}
QUESTIONS = 40
Loads = dict[tuple[str, int], list[Load]]


async def measured(kind: str, asked: argparse.Namespace) -> dict[str, object]:
    """Everything of one kind: the rows, the stages of single calls, memory, and the streams."""
    with tempfile.TemporaryDirectory() as home:
        children = asked.children or CHILDREN[kind]
        async with standing(kind, Path(home), asked.port, children) as stand:
            async with _callers(stand, kind, children) as calls:
                if kind == "null":
                    await _met(calls)
                loads = await _rounds(calls, stand, asked)
                stages = await _stages(stand, _questions(200)[-10:])
            held = {name: memory(pid) for name, pid in stand.pids.items()}
            figures = {
                "children": children,
                "rows": {f"{name} @{at_once}": _row(loads, name, at_once) for name, at_once in loads},
                "stages_ms": stages,
                "memory": held,
            }
            if kind == "null" and asked.streams:
                figures["streams"] = await streams.measured(stand, asked.streams)
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


async def _rounds(calls: Mapping[str, Ask], stand: Stand, asked: argparse.Namespace) -> Loads:
    loads: Loads = {}
    for at_once in asked.at_once:
        for _ in range(asked.rounds):
            for name, ask in calls.items():
                one = await loop(ask, at_once, asked.seconds, stand.pids, asked.least)
                loads.setdefault((name, at_once), []).append(one)
        print(*(_said(name, at_once, loads[name, at_once]) for name in calls), sep="\n", flush=True)
    return loads


async def _stages(stand: Stand, questions: Sequence[str]) -> dict[str, float]:
    """Medians of the stages that single calls reported, in milliseconds."""
    found: dict[str, list[float]] = {}
    async with aio.insecure_channel(stand.gateway) as channel:
        stub = AssistantServiceStub(channel)
        for question in questions:
            reply = await stub.Generate(wire.GenerateRequest(question=question))
            for stage in reply.stages:
                found.setdefault(stage.name, []).append(stage.duration.ToNanoseconds() / 1e9)
    return {name: ms(median(times)) for name, times in found.items()}


def _row(loads: Loads, name: str, at_once: int) -> dict[str, object]:
    """One row's figures over its rounds, and for a call of ours its ratios to the limits."""
    rounds = loads[name, at_once]
    whole = Load([time for one in rounds for time in one.times], sum(one.seconds for one in rounds),
                 {key: sum(one.cpu[key] for one in rounds) for key in rounds[0].cpu})  # fmt: skip
    figures = whole.figures()
    if name in OURS:
        direct, hops = loads["direct", at_once], loads["two hops", at_once]
        figures["over_direct"] = _spread(
            [one.p50 / limit.p50 for one, limit in zip(rounds, direct, strict=True)]
        )
        figures["hops_beyond_direct"] = _spread(
            [(one.p50 - limit.p50) / two.p50 for one, limit, two in zip(rounds, direct, hops, strict=True)]
        )
    if process := PROCESS.get(name):
        bare = loads["bare prompt", at_once]
        figures["rate_to_bare"] = _rates(rounds, bare)
        figures["cpu_to_bare"] = _spread(
            [one.cpu_of(process) / limit.cpu_of("path") for one, limit in zip(rounds, bare, strict=True)]
        )
        if plain := loads.get(("fastapi prompt", at_once)):
            figures["rate_to_fastapi"] = _rates(rounds, plain)
    return figures


def _rates(rounds: Sequence[Load], others: Sequence[Load]) -> dict[str, float]:
    return _spread([one.rate / other.rate for one, other in zip(rounds, others, strict=True)])


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": round(median(values), 3), "least": round(min(values), 3), "most": round(max(values), 3)}


def _said(name: str, at_once: int, rounds: Sequence[Load]) -> str:
    p50 = median(one.p50 for one in rounds)
    rate = median(one.rate for one in rounds)
    cpu = " ".join(f"{key} {ms(median(one.cpu_of(key) for one in rounds))}" for key in rounds[0].cpu)
    return f"{name:18} @{at_once:<3} p50 {ms(p50):9.3f} ms  {rate:8.1f}/s  CPU ms: {cpu}"


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
    given.add_argument("--port", type=int, default=28901)
    asked = given.parse_args()
    for kind in asked.kind:
        figures = asyncio.run(measured(kind, asked))
        record(RESULTS / f"path_{kind}.json", figures)
        print({key: value for key, value in figures.items() if key != "rows"})


if __name__ == "__main__":
    main()
