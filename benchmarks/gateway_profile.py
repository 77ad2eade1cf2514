"""Where the gateway's processor time goes. Run: python -m benchmarks.gateway_profile [search|prompt|generate]

A stand of models that compute nothing, and a second gateway under cProfile beside the first: so many calls,
one after the other. Writes benchmarks/profiles/gateway_<call>.txt; starting and stopping are in it.
"""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from grpc import aio

from benchmarks import path
from benchmarks.record import ROOT, commit, machine
from benchmarks.stand import standing
from benchmarks.streams import beside
from cli import supervision
from cli.terminal import Terminal
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub

PROFILES = ROOT / "benchmarks" / "profiles"


async def profiled(call: str, calls: int, children: int, port: int) -> None:
    """Makes the calls, and leaves the page behind."""
    page = PROFILES / f"gateway_{call}.txt"
    with tempfile.TemporaryDirectory() as home:
        async with standing("null", Path(home), port, children) as stand:
            service = beside(stand, "profiled", {})
            line = (sys.executable, "-m", "benchmarks.profiled", str(page), "gateway")
            watched = replace(service, command=line)
            await supervision.up([watched], Terminal(), 120)
            try:
                async with aio.insecure_channel(watched.environ["RADRAG_GATEWAY_ADDRESS"]) as channel:
                    ask = path.ours(AssistantServiceStub(channel))[call]
                    for number in range(calls):
                        await ask(number)
            finally:
                await supervision.down([watched.child])
    head = f"{calls} calls of {call}, {children} children; commit {commit()}; {machine()}\n"
    page.write_text(head + page.read_text(encoding="utf-8"), encoding="utf-8")
    print(page.read_text(encoding="utf-8"))


def main() -> None:
    """Profiles one kind of call."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("call", nargs="?", default="prompt", choices=["search", "prompt", "generate"])
    given.add_argument("--calls", type=int, default=300)
    given.add_argument("--children", type=int, default=2000)
    given.add_argument("--port", type=int, default=28501)
    asked = given.parse_args()
    asyncio.run(profiled(asked.call, asked.calls, asked.children, asked.port))


if __name__ == "__main__":
    main()
