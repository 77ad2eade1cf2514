"""What each stage of an answer costs here, how many servers a load needs, and what it costs on GPUs.

Costs are CPU seconds, which depend little on what else the machine does: `--measure` asks a Triton with the
cpu profile's models one request at a time; without it the last run's figures are taken. The plan comes from
the queueing simulation, GPUs from what one answers (deploy/SCALING.md says where that is from).
Run: python -m benchmarks.scaling
"""

import argparse
import asyncio
import json
import math
import os
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.queueing import Stage, arrivals, latencies, needed, percentile
from benchmarks.record import record
from cli import places
from cli.process import Child
from cli.triton_server import TritonServer
from radrag.triton import ModelServer

MODELS = ("e5_small", "lexical_late_interaction", "extractive")
RESULT = places.ROOT / "benchmarks" / "results" / "scaling.json"
TEXTS = sorted((places.ROOT / "samples" / "documents").rglob("*.md"))
PARENT_CHARACTERS = 1200  # of a passage that is reranked: the samples' parents are about so long
QUESTION = "What is the yearly occupational dose limit for the lens of the eye, number {}?"
RATES = (1, 10, 100, 1000)  # questions per second
# Questions per second of one GPU at 70 % busy: arithmetic, until a GPU of one's own was measured.
GPU_RATES = {"generator": 11.0, "reranker": 36.0, "embedder": 1000.0}
PATIENCE = 2.0  # times what an answer takes alone: how long one in twenty may take


async def measured(port: int, requests: int) -> dict[str, float]:
    """CPU seconds per request of each role, 13 passages to rerank, 5 sources to quote."""
    with tempfile.TemporaryDirectory() as home:
        server = TritonServer(Child("triton", Path(home)), MODELS, port)
        await server.start(300)
        role = ModelServer(server.grpc, "model server")
        try:
            costs = {}
            for name, work in _works(role).items():
                costs[name] = await _cost(server, work, requests)
                print(f"{name}: {costs[name] * 1000:.0f} ms of one core", flush=True)
            return costs
        finally:
            await role.close()
            await server.stop()


def _works(role: ModelServer) -> dict[str, Callable[[int], Awaitable[object]]]:
    passages = [path.read_text(encoding="utf-8")[:PARENT_CHARACTERS] for path in TEXTS]

    def some(number: int, count: int) -> list[str]:
        return [passages[(number * count + one) % len(passages)] for one in range(count)]

    async def generated(number: int) -> None:
        sources = "\n".join(
            f'<source number="{one}">\n{text}\n</source>' for one, text in enumerate(some(number, 5), 1)
        )
        prompt = f"{sources}\n<question>\n{QUESTION.format(number)}\n</question>"
        async for _ in role.generate("extractive", prompt, {"max_tokens": 512}):
            pass

    return {
        "embed a question": lambda number: role.embed("e5_small", QUESTION.format(number), "query"),
        "embed a parent": lambda number: role.embed("e5_small", some(number, 1)[0], "document"),
        "rerank 13 parents": lambda number: role.rerank(
            "lexical_late_interaction", QUESTION.format(number), some(number, 13)
        ),
        "quote from 5 parents": generated,
    }


async def _cost(server: TritonServer, work: Callable[[int], Awaitable[object]], requests: int) -> float:
    running = server.child.running()
    group = running.pid if running else 0
    await work(0)
    before = spent(group)
    for number in range(1, requests + 1):
        await work(number)
    return (spent(group) - before) / requests


def spent(group: int) -> float:
    """CPU seconds of all running processes of a group so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def stages(costs: dict[str, float]) -> list[Stage]:
    """The model stages of an answer, a core each server."""
    return [
        Stage("embedder", 1, costs["embed a question"]),
        Stage("reranker", 1, costs["rerank 13 parents"]),
        Stage("generator", 1, costs["quote from 5 parents"]),
    ]


def plan(costs: dict[str, float]) -> str:
    """A Markdown table: servers of one core per role for each rate, and the 95th percentile then."""
    rows = ["| questions/s | embedder | reranker | generator | p95 of the three |", "|---|---|---|---|---|"]
    for rate in RATES:
        grown = needed(stages(costs), rate, PATIENCE * sum(one.seconds for one in stages(costs)))
        slow = percentile(latencies(grown, arrivals(rate, 4000, 7)), 0.95)
        rows.append(f"| {rate} | {' | '.join(str(one.servers) for one in grown)} | {slow:.2f} s |")
    return "\n".join(rows)


def gpus(rate: float) -> dict[str, int]:
    """GPUs of each role at so many questions per second: enough, and one to lose."""
    return {role: math.ceil(rate / one) + 1 for role, one in GPU_RATES.items()}


def cost() -> str:
    """A Markdown table: GPUs for each rate, and their hours per 1,000 questions at that rate."""
    rows = [
        f"| questions/s | {' | '.join(GPU_RATES)} | GPU hours per 1,000 questions |",
        "|---|---|---|---|---|",
    ]
    for rate in RATES:
        wanted = gpus(rate)
        hours = sum(wanted.values()) / rate / 3.6
        rows.append(f"| {rate} | {' | '.join(map(str, wanted.values()))} | {hours:.2g} |")
    return "\n".join(rows)


def each(costs: dict[str, float]) -> str:
    """A Markdown table: CPU of one request of each role."""
    rows = (f"| {name} | {seconds * 1000:,.0f} |" for name, seconds in costs.items())
    return "\n".join(["| | ms of one core |", "|---|---|", *rows])


def tables() -> list[str]:
    """What the last measurement comes to, as deploy/SCALING.md has it."""
    costs = json.loads(RESULT.read_text(encoding="utf-8"))["cpu_seconds"]
    return [each(costs), plan(costs), cost()]


def main() -> None:
    """Measures when asked to, and prints the tables."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--measure", action="store_true")
    given.add_argument("--requests", type=int, default=20)
    given.add_argument("--port", type=int, default=28701)
    asked = given.parse_args()
    if asked.measure:
        record(RESULT, {"cpu_seconds": asyncio.run(measured(asked.port, asked.requests))})
    print("\n\n".join(tables()))


if __name__ == "__main__":
    main()
