"""The load generator: asks the gateway in one of four ways and prints what came of it, as JSON.

A process of its own, so that it can have a core of its own: `benchmarks.load` starts it. Times in seconds.
Run: python -m benchmarks.asker '{"way": "closed", "address": "127.0.0.1:50051", "at_once": 8, "seconds": 10}'
"""

import asyncio
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvloop
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

CONNECTIONS = 8  # callers come over several
PATIENCE = 120.0
HEALTH_EVERY = 0.1
# A pool of its own gives each channel a connection of its own; a refusal is what it is, and not tried again.
OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
# Both are calls that were not admitted. The second never reached admission: gRPC dropped it before
# (`radrag.serving.server`), for nobody here cancels a call that is counted.
REFUSED, DROPPED = "RESOURCE_EXHAUSTED", "CANCELLED"
Told = dict[str, Any]


@dataclass
class Seen:
    """Latencies by how calls ended, how many ended how, and answers that lacked a part."""

    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    dropped: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    degraded: int = 0

    def ended(self, code: str, took: float) -> None:
        """Counts one call by how it ended; any other end has no latency to be compared."""
        self.codes[code] += 1
        latencies = {"OK": self.answered, REFUSED: self.refused, DROPPED: self.dropped}
        latencies.get(code, []).append(took)


numbers = itertools.count()


def question() -> pb.GenerateRequest:
    """One that was not asked before, so that no cache answers."""
    return pb.GenerateRequest(question=f"What is the dose limit for the lens, case {next(numbers)}?")


async def ask(stub: AssistantServiceStub, seen: Seen) -> None:
    """One streamed answer, to its end."""
    began, code, degraded = time.perf_counter(), "OK", False
    try:
        async for frame in stub.GenerateStream(question(), timeout=PATIENCE):
            if frame.WhichOneof("event") == "finish":
                code = f"finish {frame.finish.error.code}" if frame.finish.HasField("error") else "OK"
                degraded = any(map(lacks, frame.finish.warnings))
    except aio.AioRpcError as error:
        code = error.code().name
    seen.ended(code, time.perf_counter() - began)
    seen.degraded += degraded


def lacks(warning: pb.Warning) -> bool:
    """Whether a part was missing; a model that computes nothing can never tell the scope."""
    return warning.kind == pb.Warning.KIND_DEGRADED and warning.detail != "scope"


async def closed(address: str, at_once: int, seconds: float, **_: object) -> Told:
    """So many askers, each asking again as soon as it has its answer."""
    seen, end = Seen(), time.perf_counter() + seconds

    async def asker(stub: AssistantServiceStub) -> None:
        while time.perf_counter() < end:
            await ask(stub, seen)

    async with stubs(address) as asked:
        await asyncio.gather(*(asker(next(asked)) for _ in range(at_once)))
    return vars(seen)


async def opened(address: str, health: str, rate: float, seconds: float, **_: object) -> Told:
    """Calls at a rate that takes no account of what becomes of them, and health checks beside."""
    seen, calls, began = Seen(), set[asyncio.Task[None]](), time.perf_counter()
    async with stubs(address) as asked, aio.insecure_channel(health, options=OPTIONS) as channel:
        checking = asyncio.create_task(checked(health_pb2_grpc.HealthStub(channel), seen))
        for number in range(round(rate * seconds)):
            await asyncio.sleep(began + number / rate - time.perf_counter())
            calls.add(call := asyncio.create_task(ask(next(asked), seen)))
            call.add_done_callback(calls.discard)
        offered = time.perf_counter() - began
        checking.cancel()
        await asyncio.gather(*calls)
    return {**vars(seen), "offered_seconds": offered}


async def checked(stub: health_pb2_grpc.HealthStub, seen: Seen) -> None:
    """Asks for health over and over."""
    while True:
        began = time.perf_counter()
        await stub.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
        seen.health.append(time.perf_counter() - began)
        await asyncio.sleep(HEALTH_EVERY)


async def held(address: str, count: int, seconds: float, **_: object) -> Told:
    """So many streams open at the same time; `alive` are those that still wrote in the last half."""
    texts, late, codes = Counter[int](), set[int](), Counter[str]()
    writing, half = asyncio.Event(), asyncio.Event()

    async def reader(number: int, stub: AssistantServiceStub) -> None:
        try:
            async for frame in stub.GenerateStream(question(), timeout=seconds + PATIENCE):
                texts[number] += frame.WhichOneof("event") == "text"
                if len(+texts) == count:
                    writing.set()
                if half.is_set():
                    late.add(number)
            codes["ended"] += 1
        except aio.AioRpcError as error:
            codes[error.code().name] += 1
            writing.set()  # one is missing: they will never be all

    async with stubs(address) as asked:
        readers = [asyncio.create_task(reader(number, next(asked))) for number in range(count)]
        began = time.perf_counter()
        with suppress(TimeoutError):
            await asyncio.wait_for(writing.wait(), PATIENCE)
        opening = time.perf_counter() - began
        await asyncio.sleep(seconds / 2)
        half.set()
        await asyncio.sleep(seconds / 2)
        running = sum(not one.done() for one in readers)
        await cancelled(readers)
    return {"opening": opening, "running": running, "alive": len(late), "codes": codes}


async def left(address: str, cycles: int, at_once: int, first: int = 0, **_: object) -> Told:
    """Connects, asks, leaves: at once, after the sources, or after some text; `cycles` times in all."""
    codes, remaining = Counter[str](), iter(range(first, first + cycles))

    async def asker() -> None:
        for number in remaining:
            codes[await leaver(address, random.Random(number).choice((0.0, 0.02, None, None)))] += 1

    await asyncio.gather(*(asker() for _ in range(at_once)))
    return {"codes": codes}


async def leaver(address: str, after: float | None) -> str:
    """One cycle: leaves `after` seconds, or when there is a frame. How far it got."""
    async with aio.insecure_channel(address, options=OPTIONS) as channel:
        running = AssistantServiceStub(channel).GenerateStream(question(), timeout=PATIENCE)
        try:
            if after is None:
                await running.read()
            else:
                await asyncio.sleep(after)
            return "left"
        except aio.AioRpcError as error:
            return str(error.code().name)
        finally:
            running.cancel()


@asynccontextmanager
async def stubs(address: str) -> AsyncIterator["itertools.cycle[AssistantServiceStub]"]:
    """Stubs to be used in turn, each over a connection of its own."""
    async with AsyncExitStack() as stack:
        channels = [aio.insecure_channel(address, options=OPTIONS) for _ in range(CONNECTIONS)]
        for channel in channels:
            await stack.enter_async_context(channel)
        yield itertools.cycle([AssistantServiceStub(channel) for channel in channels])


async def cancelled(tasks: list["asyncio.Task[None]"]) -> None:
    """Cancels and awaits them."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def way(said: Told) -> Coroutine[Any, Any, Told]:
    """The coroutine that the JSON asks for."""
    ways: dict[str, Callable[..., Coroutine[Any, Any, Told]]] = {
        "closed": closed,
        "open": opened,
        "held": held,
        "left": left,
    }
    return ways[said.pop("way")](**said)


if __name__ == "__main__":
    print(json.dumps(uvloop.run(way(json.loads(sys.argv[1])))))
