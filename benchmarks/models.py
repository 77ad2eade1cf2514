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
import sys
import tempfile
import time
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks import in_process
from benchmarks.loops import loop, ms
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
            figures["embedder"] = await _embedding(server, texts, rounds)
            figures["reranker"] = await _reranking(server, rounds)
            figures["query"] = await _query(server)
        finally:
            await server.close()
            await triton.stop()
    figures["batches"] = _batches(texts)
    if variants:
        figures["variants"] = compared(variants, texts)
    return figures


async def _embedding(
    server: ModelServer, texts: Mapping[int, Sequence[str]], rounds: int
) -> dict[str, object]:
    """One text at a time, on one thread both ways; then both cores both ways."""
    embed, found = in_process.embedder(), dict[str, object]()
    for length, some in texts.items():
        direct, served = [], []
        for turn in range(rounds):
            text = some[turn % len(some)]
            direct.append(await _timed(asyncio.to_thread(embed, [text], "query: ")))
            served.append(await _timed(server.embed("e5_small", text, "query")))
        found[f"{length} tokens, alone"] = _row(length, direct, served)
    both = await _both_cores(server, texts[128])
    print(both, flush=True)
    return {**found, "128 tokens, both cores": both}


async def _both_cores(server: ModelServer, texts: Sequence[str]) -> dict[str, float]:
    """As many processes of one thread as there are instances, against Triton with sixteen callers."""
    workers = len(os.sched_getaffinity(0))
    line = (sys.executable, "-m", "benchmarks.models", "--worker", "6")
    started = [
        await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE, cwd=places.ROOT)
        for _ in range(workers)
    ]
    said = await asyncio.gather(*(one.communicate() for one in started))
    direct = sum(float(out.split()[-1]) for out, _ in said)
    served = await loop(lambda number: server.embed("e5_small", texts[number % len(texts)], "query"), 16, 6.0)
    rate = served.rate * 128
    return {
        "in_process_tokens_per_second": round(direct),
        "triton_tokens_per_second": round(rate),
        "ratio": round(rate / direct, 3),
    }


def worker(seconds: float) -> float:
    """Tokens per second of one process of one thread."""
    embed, texts = in_process.embedder(), _texts(128)
    embed(texts[:1], "query: ")
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        embed([texts[done % len(texts)]], "query: ")
        done += 1
    return done * 128 / (time.perf_counter() - began)


async def _reranking(server: ModelServer, rounds: int) -> dict[str, object]:
    """Thirteen parents of a question, on two threads both ways."""
    score, passages = in_process.reranker(), [path.read_text(encoding="utf-8")[:6000] for path in DOCUMENTS]
    direct, served = [], []
    for turn in range(rounds):
        some = [passages[(turn * PAIRS + one) % len(passages)] for one in range(PAIRS)]
        asked = QUESTION.format(turn)
        pairs = [(asked, passage) for passage in some]
        direct.append(await _timed(asyncio.to_thread(score, pairs)))
        served.append(await _timed(server.rerank("lexical_late_interaction", asked, some)))
    row = _row(PAIRS, direct, served)
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


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _row(units: int, direct: Sequence[float], served: Sequence[float]) -> dict[str, object]:
    """Units (tokens or pairs) per second both ways, and Triton's time over the in-process one."""
    ratios = sorted(one / other for one, other in zip(served, direct, strict=True))
    return {
        "in_process_ms": ms(median(direct)),
        "triton_ms": ms(median(served)),
        "in_process_per_second": round(units / median(direct), 1),
        "triton_per_second": round(units / median(served), 1),
        "ratio": {
            "median": round(median(ratios), 3),
            "least": round(ratios[0], 3),
            "most": round(ratios[-1], 3),
        },
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
    given.add_argument("--port", type=int, default=38951)
    given.add_argument("--worker", type=float, default=0.0, help=argparse.SUPPRESS)
    asked = given.parse_args()
    if asked.worker:
        print(worker(asked.worker))
        return
    figures = asyncio.run(measured(asked.port, asked.rounds, asked.variants))
    record(RESULT, figures)
    print(figures)


if __name__ == "__main__":
    main()
