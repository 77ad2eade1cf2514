"""The gateway without what it decides and tells, beside the real one: the least that ours can take in Python.

No scope, conflicts, rights, admission, deadlines or breakers; no stage, span, metric, log line or audit
record. What is left reads the question, makes the three calls and the reply. Its CPU over a bare relay's is
the limit of the gateway's. Run by benchmarks.path: python -m benchmarks.least
"""

import runpy
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from benchmarks.bare import Place, silent
from benchmarks.stand import Stand
from benchmarks.streams import beside
from cli import supervision
from cli.terminal import Terminal
from gateway import breaker, nearness, pipeline, scope
from radrag import account, call, telemetry
from radrag.account import Account
from radrag.serving import door

T = TypeVar("T")
NAME = "least"


@asynccontextmanager
async def least(stand: Stand) -> AsyncIterator[str]:
    """Its address; its process joins the stand's."""
    service = beside(stand, NAME, {"RADRAG_AUDIT": "off"})
    service = replace(service, command=(sys.executable, "-m", "benchmarks.least"))
    await supervision.up([service], Terminal(), 60)
    try:
        if running := service.child.running():
            stand.pids[NAME] = running.pid
        yield service.environ["RADRAG_GATEWAY_ADDRESS"]
    finally:
        stand.pids.pop(NAME, None)
        await supervision.down([service.child])


def undecided() -> Iterator[tuple[Place, Any]]:
    """What stands where nothing is decided: every question is ours, every source agrees, everybody may."""
    yield (scope.Scope, "gate"), _ours
    yield (nearness.Nearness, "gate"), lambda self, vector: ""
    yield (pipeline, "conflicts"), lambda question, sources: ()
    yield (pipeline, "within"), _at_once
    yield (breaker, "guarded"), lambda breaker, step: step
    yield (breaker, "guarded_stream"), lambda breaker, step: step
    yield (telemetry, "traced"), lambda stage, step, **more: step
    yield (door.Door, "_passing"), _open


async def _ours(self: object, question: str) -> str:
    return ""


async def _at_once(cap: float, part: float, step: Callable[[], Awaitable[T]]) -> T:
    return await step()


@asynccontextmanager
async def _open(self: object, method: str, context: object) -> AsyncIterator[None]:
    call.enter(call.Call())
    account.enter(Account(method))
    yield


def main() -> None:
    """Serves as the gateway does."""
    for (where, name), what in (*silent(), *undecided()):
        setattr(where, name, what)
    runpy.run_module("gateway", run_name="__main__")


if __name__ == "__main__":
    main()
