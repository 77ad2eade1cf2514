"""What uvloop saves the gateway over asyncio's own loop, in CPU of a Prompt.

Two gateways beside a stand of models that compute nothing, alike but for the loop; asked in turn, who begins
changing. A ratio is one round's, asyncio's CPU of a call over uvloop's. Writes
benchmarks/profiles/loops_gateway.txt. Run: python -m benchmarks.event_loops
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from grpc import aio

from benchmarks import path
from benchmarks.loops import Ask, Load, loop, ms
from benchmarks.profiled import PROFILES, keep
from benchmarks.record import commit, machine
from benchmarks.stand import Stand, standing
from benchmarks.streams import beside
from cli import supervision
from cli.terminal import Terminal
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

ASYNCIO = """
import asyncio, runpy, uvloop
uvloop.run = asyncio.run
runpy.run_module("gateway", run_name="__main__")
"""
COMMANDS: Mapping[str, Sequence[str]] = {
    "uvloop": (sys.executable, "-m", "gateway"),
    "asyncio": (sys.executable, "-c", ASYNCIO),
}
PORTS = {"uvloop": 17, "asyncio": 18}  # above the stand's
Pair = Mapping[str, Load]


async def measured(asked: argparse.Namespace) -> str:
    """The page."""
    with tempfile.TemporaryDirectory() as home:
        async with standing("null", Path(home), asked.port, asked.children) as stand, AsyncExitStack() as on:
            calls = {name: await on.enter_async_context(_gateway(stand, name)) for name in COMMANDS}
            for ask in calls.values():
                await _met(ask)
            pids = {name: stand.pids[name] for name in COMMANDS}
            found = [
                _said(at_once, await _rounds(calls, pids, at_once, asked.seconds, asked.rounds))
                for at_once in asked.at_once
            ]
    return "\n".join(found)


async def _met(ask: Ask) -> None:
    """Each question once before anything counts: a passage costs more when it is first met."""
    for number in range(path.QUESTIONS):
        await ask(number)


@asynccontextmanager
async def _gateway(stand: Stand, name: str) -> AsyncIterator[Ask]:
    """Its Prompt; its process joins the stand's."""
    address = f"127.0.0.1:{stand.triton.grpc_port + PORTS[name]}"
    service = beside(stand, name, {"RADRAG_GATEWAY_ADDRESS": address})
    service = replace(service, command=COMMANDS[name], child=replace(service.child, name=name))
    await supervision.up([service], Terminal(), 60)
    try:
        if running := service.child.running():
            stand.pids[name] = running.pid
        async with aio.insecure_channel(address) as channel:
            yield path.ours(AssistantServiceStub(channel))["prompt"]
    finally:
        await supervision.down([service.child])


async def _rounds(
    calls: Mapping[str, Ask], pids: Mapping[str, int], at_once: int, seconds: float, rounds: int
) -> list[Pair]:
    found = list[Pair]()
    for number in range(rounds):
        order = list(COMMANDS)[:: -1 if number % 2 else 1]
        found.append({name: await loop(calls[name], at_once, seconds, pids) for name in order})
    return found


def _said(at_once: int, rounds: Sequence[Pair]) -> str:
    """Medians and ranges of one number of callers."""
    lines = [f"{at_once} at once, {len(rounds)} rounds; medians, least to most"]
    for name in COMMANDS:
        loads = [one[name] for one in rounds]
        cpu = [ms(one.cpu_of(name)) for one in loads]
        p50, rate = ms(median(one.p50 for one in loads)), median(one.rate for one in loads)
        lines.append(
            f"  {name:8} CPU of a call {_range(cpu)} ms; p50 {p50:.1f} ms; "
            f"{rate:.1f} a second; {sum(len(one.times) for one in loads)} calls"
        )
    ratios = [one["asyncio"].cpu_of("asyncio") / one["uvloop"].cpu_of("uvloop") for one in rounds]
    return "\n".join([*lines, f"  asyncio over uvloop, CPU of a call: {_range(ratios)}", ""])


def _range(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    """Measures, prints, and keeps the page."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--at-once", type=int, nargs="+", default=[1, 64])
    given.add_argument("--seconds", type=float, default=1.5)
    given.add_argument("--rounds", type=int, default=8)
    given.add_argument("--children", type=int, default=2000)
    given.add_argument("--port", type=int, default=28601)
    asked = given.parse_args()
    line = " ".join(["python -m benchmarks.event_loops", *sys.argv[1:]])
    head = f"{line}\ncommit {commit()}; {machine()}\n\n"
    page = head + asyncio.run(measured(asked))
    keep(PROFILES / "loops_gateway.txt", page)
    print(page)


if __name__ == "__main__":
    main()
