"""One shape of the edge store, opened on a copy of a made-up index: how fast, how exact, how big.

Beside it the same children and questions on a Qdrant server: how fast, how exact.
"""

import asyncio
import os
import pickle
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from uuid import uuid4

from benchmarks.corpus import SHARES
from benchmarks.index_made import MADE, NEAREST, Asked, Kept, made_again
from benchmarks.loops import memory, ms, p95
from retrieval.bm25 import Bm25
from retrieval.edge_store import EdgeStore
from retrieval.edge_terms import Dense
from retrieval.fingerprint import QueryEmbedder
from retrieval.fusion import Rrf, across
from retrieval.question import Question
from retrieval.search import Searcher
from retrieval.snapshot import View
from retrieval.store import Above, Among, AtMost, Collection, Store

Search = Callable[[Question], Awaitable[object]]
Status = Callable[[str], Awaitable[str]]  # of a collection: green, yellow, grey or red
DAY = 100
NEVER = 10**9  # kilobytes
INDEXED_SECONDS = 3600.0  # longest that a server may build its indexes
LOOK_SECONDS = 1.0
SHAPES: Mapping[str, Dense] = {
    "shipped": Dense(),
    "scan": Dense(compression="none", scanned_kilobytes=NEVER),
    "graph": Dense(compression="none", scanned_kilobytes=1000),
    "int8": Dense(compression="int8", scanned_kilobytes=NEVER),
    "int8 graph": Dense(compression="int8", scanned_kilobytes=1000),
    "binary": Dense(compression="binary", scanned_kilobytes=NEVER),
    "binary graph": Dense(compression="binary", scanned_kilobytes=1000),
}


async def measured(folder: Path, shape: Dense) -> dict[str, object]:
    """Opens `folder`/copy in this shape and asks all questions."""
    kept = _kept(folder)
    before, began, spent = memory(os.getpid())["own_mb"], time.perf_counter(), time.process_time()
    store = EdgeStore(folder / "copy", dense=shape)
    opened, built = time.perf_counter() - began, time.process_time() - spent
    search = searcher(store, kept).search
    try:
        whole = await _asked(store, search, kept, "public")
        held = memory(os.getpid())
        filters = [
            {
                "filter": label,
                "children": kept.seen[label],
                **await _asked(store, search, kept, label),
            }
            for label in SHARES
            if label in kept.seen
        ]
    finally:
        await store.close()
    return {
        **whole,
        "own_mb": round(held["own_mb"] - before, 1),
        "mapped_mb": held["mapped_mb"],
        "open_s": round(opened, 1),
        "open_cpu_s": round(built, 1),
        "filters": filters,
    }


async def measured_on_server(url: str, folder: Path, compression: str) -> dict[str, float]:
    """Asks all questions of the Qdrant server at `url`, in collections made for that and dropped at its end.

    Of a shape only the compression counts: the server itself says what it scans and where it has graphs.
    Raises Unavailable when the server fails, RuntimeError when it does not finish its indexes. It is asked
    without an API key, as by the tests.
    """
    # The client maps 20 MB, which are no part of what the embedded store takes.
    from retrieval.server_store import PREFIX, ServerStore, connect, failures  # noqa: PLC0415

    client, own = connect(url), _renamed(_kept(folder))
    store = ServerStore(client, compression=compression)
    collections = [Collection(own.generation.name, topic) for topic in sorted(own.generation.topics)]

    async def status(name: str) -> str:
        with failures("looked at"):
            return (await client.get_collection(name)).status.value

    try:
        await made_again(store, own)
        await indexed(status, [f"{PREFIX}{one}" for one in collections], INDEXED_SECONDS)
        figures = await _asked(store, searcher(store, own).search, own, "public")
    finally:
        for one in collections:
            await store.drop(one)
        await store.close()
    return {name: figures[name] for name in ("p50_ms", "p95_ms", "recall_at_15")}


async def indexed(status: Status, names: Sequence[str], seconds: float) -> None:
    """Returns when the server has nothing left to build in any of these collections.

    Raises RuntimeError when that takes more than so many seconds, or can no longer happen.
    """
    until = time.monotonic() + seconds
    for name in names:
        while (told := await status(name)) != "green":
            if told == "red" or time.monotonic() > until:
                raise RuntimeError(f"{name} is {told}, not green; the server had {seconds:.0f} s to index it")
            await asyncio.sleep(LOOK_SECONDS)


def _renamed(kept: Kept) -> Kept:
    # Another generation may be in use on the server, and another run under way.
    return replace(kept, generation=replace(kept.generation, name=f"bench{uuid4().hex[:12]}"))


def _kept(folder: Path) -> Kept:
    kept: Kept = pickle.loads((folder / "kept.pickle").read_bytes())
    return kept


async def _asked(store: Store, search: Search, kept: Kept, label: str) -> dict[str, float]:
    """Times of whole searches, one at a time, and how much of exact search the dense legs find."""
    questions = [question(one, label) for one in kept.asked]
    for one in questions[: len(questions) // 4]:
        await search(one)
    times, cpu = list[float](), list[float]()
    for one in questions:
        began, spent = time.perf_counter(), time.process_time()
        await search(one)
        times.append(time.perf_counter() - began)
        cpu.append(time.process_time() - spent)
    recalls = [await _recall(store, kept.generation.name, one, label) for one in kept.asked]
    return {
        "p50_ms": ms(sorted(times)[len(times) // 2]),
        "p95_ms": ms(p95(times)),
        "cpu_ms": ms(fmean(cpu)),
        "cpu_p95_ms": ms(p95(cpu)),
        "recall_at_15": round(fmean(recalls), 4),
    }


async def _recall(store: Store, generation: str, one: Asked, label: str) -> float:
    """The share of the exact nearest children of every leg that the store finds too."""
    legs = {leg: ids for leg, ids in one.nearest.items() if leg[0] == label}

    async def found(topic: str, language: str) -> set[str]:
        where = (
            Among("access_labels", (label,)), Among("language", (language,)),
            AtMost("valid_from", DAY), Above("valid_to", DAY),
        )  # fmt: skip
        hits = await store.nearest(Collection(generation, topic), one.vector, where, NEAREST + 5)
        return {hit.passage_id for hit in hits[:NEAREST]}

    got = await asyncio.gather(*(found(topic, language) for _, topic, language in legs))
    hit = sum(len(ids & own) for ids, own in zip(legs.values(), got, strict=True))
    return hit / sum(map(len, legs.values()))


def question(one: Asked, label: str) -> Question:
    """As a caller with this label asks it."""
    embedder = QueryEmbedder(*MADE, len(one.vector))
    return Question(one.text, one.vector, embedder, DAY, frozenset({label}), children_per_topic=NEAREST)


def searcher(store: Store, kept: Kept) -> Searcher:
    """The searcher as the service has it, in a view of the made-up generation."""

    @asynccontextmanager
    async def reading(name: str) -> AsyncIterator[View]:
        yield View(1, kept.generation)

    topics = sorted(kept.generation.topics)
    return Searcher(store, reading, Bm25(), topics, fuse=across, rrf=Rrf(), language_share=4)
