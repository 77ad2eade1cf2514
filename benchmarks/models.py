"""What Triton costs over the same model files in this process, what batches bring, and what a cached query
saves.

Run: make bench-models. Each row alternates between the two ways in rounds; a ratio is one round's. With
--variants FOLDER (model_repository/e5_small/convert/variants.py writes it) the encoder's float32 and 8-bit
graphs stand beside the 4-bit one: tokens per second, how far their vectors lie from float32's, what a vector
depends on its batch, and nDCG@10 of the dense leg alone on some of a public collection.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from benchmarks import cpu, in_process
from benchmarks.direct import Direct, Took, direct
from benchmarks.loops import Load, loop, ms
from benchmarks.record import record
from benchmarks.stand import repository_of
from benchmarks.variants import compared
from cli import places
from cli.process import Child
from cli.triton_server import TritonServer
from gateway.index import Index
from gateway.models import Embedder, Weights
from radrag.triton import ModelServer

MODELS = ("e5_small", "lexical_late_interaction")
RESULT = places.ROOT / "benchmarks" / "results" / "models.json"
DOCUMENTS = sorted((places.ROOT / "samples" / "documents").rglob("*.md"))
LENGTHS = (16, 128, 480)  # tokens of a text
BATCHES = (1, 4, 16, 32)
PAIRS = 13
QUESTION = "What is the yearly occupational dose limit for the lens of the eye, number {}?"


async def measured(port: int, rounds: int, variants: Path | None) -> dict[str, object]:
    """All rows."""
    texts = {length: _texts(length) for length in LENGTHS}
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as home:
        own = repository_of(Path(home), MODELS)
        triton = TritonServer(Child("triton", Path(home)), MODELS, port, repository=own)
        await triton.start(300)
        server = ModelServer(triton.grpc, "model server")
        try:
            pids = _pids(triton)
            figures["embedder"] = await _embedding(server, texts, rounds, pids)
            figures["reranker"] = await _reranking(server, rounds, pids)
            figures["query"] = await _query(server)
        finally:
            await server.close()
            await triton.stop()
    figures["batches"] = _batches(texts)
    if variants:
        figures["variants"] = compared(variants, texts)
    return figures


def _pids(triton: TritonServer) -> list[int]:
    """The server and its models' processes."""
    running = triton.child.running()
    assert running is not None
    return list(cpu.members(running.pid))


async def _embedding(
    server: ModelServer, texts: Mapping[int, Sequence[str]], rounds: int, pids: Sequence[int]
) -> dict[str, object]:
    """One text at a time, on one thread both ways; then both cores both ways."""
    found = dict[str, object]()
    async with direct("embedder") as process:
        for length, some in texts.items():

            async def served(turn: int, some: Sequence[str] = some) -> None:
                await server.embed("e5_small", some[turn % len(some)], "query")

            async def alone(turn: int, some: Sequence[str] = some) -> Took:
                return await process.ask([some[turn % len(some)]], "query: ")

            found[f"{length} tokens, alone"] = _row(length, *await _turns(alone, served, rounds, pids))
            print(length, found[f"{length} tokens, alone"], flush=True)
    both = await _both_cores(server, texts[128], pids)
    print(both, flush=True)
    return {**found, "128 tokens, both cores": both}


async def _turns(
    alone: Callable[[int], Awaitable[Took]],
    served: Callable[[int], Awaitable[object]],
    rounds: int,
    pids: Sequence[int],
) -> tuple[list[Took], list[Took]]:
    """What each round took in process, and by Triton. Who begins changes; the first calls do not count."""
    await asyncio.gather(alone(0), *(served(0) for _ in pids))
    direct_ones, served_ones = list[Took](), list[Took]()
    for turn in range(rounds):
        if turn % 2:
            served_ones.append(await _took(served(turn), pids))
        direct_ones.append(await alone(turn))
        if not turn % 2:
            served_ones.append(await _took(served(turn), pids))
    return direct_ones, served_ones


async def _took(work: Awaitable[object], pids: Sequence[int]) -> Took:
    began, spent = time.perf_counter(), cpu.seconds(pids)
    await work
    return Took(time.perf_counter() - began, cpu.seconds(pids) - spent)


async def _both_cores(server: ModelServer, texts: Sequence[str], pids: Sequence[int]) -> dict[str, float]:
    """As many processes of one thread as there are instances, against Triton with sixteen callers."""
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(direct("embedder")) for _ in range(len(os.sched_getaffinity(0)))
        ]
        free = asyncio.Queue[Direct]()
        for worker in workers:
            free.put_nowait(worker)

        async def alone(number: int) -> None:
            worker = await free.get()
            await worker.ask([texts[number % len(texts)]], "query: ")
            free.put_nowait(worker)

        own = {str(worker.pid): worker.pid for worker in workers}
        straight = await loop(alone, len(workers), 6.0, own)

    async def asked(number: int) -> None:
        await server.embed("e5_small", texts[number % len(texts)], "query")

    served = await loop(asked, 16, 6.0, {str(pid): pid for pid in pids})
    return {
        "in_process_tokens_per_second": round(straight.rate * 128),
        "triton_tokens_per_second": round(served.rate * 128),
        "ratio": round(served.rate / straight.rate, 3),
        "cpu_ratio": round(_cpu_of(served) / _cpu_of(straight), 3),
    }


def _cpu_of(load: Load) -> float:
    """CPU seconds a call of all that was watched."""
    return sum(map(load.cpu_of, load.cpu))


async def _reranking(server: ModelServer, rounds: int, pids: Sequence[int]) -> dict[str, object]:
    """Thirteen parents of a question, on two threads both ways."""
    passages = [path.read_text(encoding="utf-8")[:6000] for path in DOCUMENTS]

    def some(turn: int) -> list[str]:
        return [passages[(turn * PAIRS + one) % len(passages)] for one in range(PAIRS)]

    async def served(turn: int) -> None:
        await server.rerank("lexical_late_interaction", QUESTION.format(turn), some(turn))

    async with direct("reranker") as process:

        async def alone(turn: int) -> Took:
            return await process.ask([(QUESTION.format(turn), passage) for passage in some(turn)])

        row = _row(PAIRS, *await _turns(alone, served, rounds, pids))
    print("rerank", row, flush=True)
    return row


async def _query(server: ModelServer) -> dict[str, float]:
    """A question that was asked before, against one that was not."""

    async def index() -> Index:
        return Index("g1", 1, "e5_small")

    embedder = Embedder(server, Weights(server), index, "e5_small", 1000)
    missed = await loop(lambda number: embedder.embed(QUESTION.format(number)), 1, 2.0)
    hit = await loop(lambda number: embedder.embed(QUESTION.format(0)), 1, 0.5)
    return {"missed_ms": ms(missed.p50), "hit_ms": ms(hit.p50), "ratio": round(missed.p50 / hit.p50)}


def _batches(texts: Mapping[int, Sequence[str]]) -> dict[str, float]:
    """Tokens per second by how many texts come in one call, on one thread, over one at a time."""
    encoder, found = in_process.encoder(), dict[str, float]()
    for length, some in texts.items():
        alone = 0.0
        for batch in BATCHES:
            chosen = [some[place % len(some)] for place in range(batch)]
            times = []
            for _ in range(3):
                began = time.process_time()
                encoder.embed(chosen, "query: ")
                times.append(time.process_time() - began)
            rate = batch * length / median(times)
            alone = alone or rate
            found[f"{length} tokens x {batch}"] = round(rate / alone, 3)
    return found


def _row(units: int, direct_ones: Sequence[Took], served: Sequence[Took]) -> dict[str, object]:
    """Units (tokens or pairs) per second both ways, and Triton's time over that in process: clock and CPU."""
    found = dict[str, object]()
    for way, took in (("in_process", direct_ones), ("triton", served)):
        found[f"{way}_ms"] = ms(median(one.clock for one in took))
        found[f"{way}_cpu_ms"] = ms(median(one.cpu for one in took))
        found[f"{way}_per_second"] = round(units / median(one.clock for one in took), 1)
    pairs = list(zip(served, direct_ones, strict=True))
    return {
        **found,
        "ratio": _spread([one.clock / other.clock for one, other in pairs]),
        "cpu_ratio": _spread([one.cpu / other.cpu for one, other in pairs]),
    }


def _spread(ratios: Sequence[float]) -> dict[str, float]:
    return {
        "median": round(median(ratios), 3),
        "least": round(min(ratios), 3),
        "most": round(max(ratios), 3),
    }


def _texts(tokens: int) -> list[str]:
    """Texts of so many tokens of the encoder, prefix and specials not counted, from the samples."""
    encoder = in_process.encoder()
    whole = "\n\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    offsets = encoder.tokens(whole, "query: ").offsets
    firsts = range(0, len(offsets) - tokens - 1, max(tokens, len(offsets) // 40))
    return [whole[offsets[at][0] : offsets[at + tokens][0]] for at in firsts]


def main() -> None:
    """Measures, prints, and keeps the result."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rounds", type=int, default=15)
    given.add_argument("--variants", type=Path, default=None)
    given.add_argument("--port", type=int, default=28951)
    asked = given.parse_args()
    figures = asyncio.run(measured(asked.port, asked.rounds, asked.variants))
    record(RESULT, figures)
    print(figures)


if __name__ == "__main__":
    main()
