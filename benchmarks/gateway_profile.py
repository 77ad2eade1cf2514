"""Where the gateway's or retrieval's processor time goes, or what memory their calls take, with null models.

So many calls, one after the other; the process runs under cProfile in the place of the stand's own, or with
--allocations under tracemalloc. Writes benchmarks/profiles/cpu_<process>_<call>.txt, where starting and
stopping are in it, or allocated_<process>_<call>.txt, where the first --warm calls do not count.
Run: python -m benchmarks.gateway_profile [search|prompt|generate] [--process retrieval] [--allocations]
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from grpc import aio

from benchmarks import allocated, path
from benchmarks.loops import Ask
from benchmarks.profiled import PROFILES, keep
from benchmarks.record import commit, machine
from benchmarks.stand import Stand, standing
from cli import supervision
from cli.terminal import Terminal
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

PARTS = 3  # of the calls, each with a total of its own: a cache that fills and a leak look different then
PEAKS = 20  # calls whose peak is taken
AFTERWARDS = 0.1  # seconds for what a gateway does when the reply has left


async def profiled(asked: argparse.Namespace) -> str:
    """The page."""
    with tempfile.TemporaryDirectory() as home:
        async with standing("null", Path(home), asked.port, asked.children) as stand:
            if asked.allocations:
                return await _allocated(stand, asked)
            return await _timed(stand, asked)


async def _timed(stand: Stand, asked: argparse.Namespace) -> str:
    page = stand.home / "profile.txt"
    runner = _instead(stand, asked.process, "benchmarks.profiled", page)
    async with runner, _asking(stand, asked.call) as ask:
        await _calls(ask, range(asked.calls))
    return page.read_text(encoding="utf-8")


async def _allocated(stand: Stand, asked: argparse.Namespace) -> str:
    folder = stand.home / "allocated"
    runner = _instead(stand, asked.process, "benchmarks.allocated", folder)
    async with runner as pid, _asking(stand, asked.call) as ask:
        told, done, marks = allocated.Told(pid, folder), 0, dict[int, allocated.Lines]()
        for more in (asked.warm, *[asked.calls // PARTS] * PARTS):
            await _calls(ask, range(done, done + more))
            await asyncio.sleep(AFTERWARDS)
            done += more
            marks[done] = await told.held()
        return allocated.text(marks, await _peaks(told, ask, done))


async def _peaks(told: allocated.Told, ask: Ask, done: int) -> list[int]:
    """Bytes that single calls held at most, beyond what was held before."""
    await told.peak()
    found = list[int]()
    for number in range(done, done + PEAKS):
        await ask(number)
        await asyncio.sleep(AFTERWARDS)
        found.append(await told.peak())
    return found


async def _calls(ask: Ask, numbers: range) -> None:
    for number in numbers:
        await ask(number)


@asynccontextmanager
async def _instead(stand: Stand, name: str, runner: str, target: Path) -> AsyncIterator[int]:
    """The same process under a runner of ours in its place; its pid. It has ended when the block has."""
    service = stand.service(name, stand.environ)
    await supervision.down([service.child])
    line = (sys.executable, "-m", runner, str(target), name)
    await supervision.up([replace(service, command=line)], Terminal(), 120)
    try:
        running = service.child.running()
        yield running.pid if running else 0
    finally:
        await supervision.down([service.child])


@asynccontextmanager
async def _asking(stand: Stand, call: str) -> AsyncIterator[Ask]:
    """The public call, once the gateway says that it can answer."""
    gateway = stand.service("gateway", stand.environ)
    while await gateway.missing():  # noqa: ASYNC110 - another process says so
        await asyncio.sleep(0.2)
    async with aio.insecure_channel(stand.gateway) as channel:
        yield path.ours(AssistantServiceStub(channel))[call]


def main() -> None:
    """Profiles one kind of call."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("call", nargs="?", default="prompt", choices=["search", "prompt", "generate"])
    given.add_argument("--process", default="gateway", choices=["gateway", "retrieval"])
    given.add_argument("--allocations", action="store_true")
    given.add_argument("--calls", type=int, default=300)
    given.add_argument("--warm", type=int, default=100)
    given.add_argument("--children", type=int, default=2000)
    given.add_argument("--port", type=int, default=28501)
    asked = given.parse_args()
    line = " ".join(["python -m benchmarks.gateway_profile", *sys.argv[1:]])
    head = f"{line}\n{asked.calls} calls, {asked.children} children; commit {commit()}; {machine()}\n\n"
    page = head + asyncio.run(profiled(asked))
    kind = "allocated" if asked.allocations else "cpu"
    keep(PROFILES / f"{kind}_{asked.process}_{asked.call}.txt", page)
    print(page)


if __name__ == "__main__":
    main()
