"""How fast documents go in: pages per second by route, and how busy the embedder is. Run: make bench-ingest

The batch is a real one, with a real Triton, e5_small, retrieval and catalogue; embedding bounds it on any
CPU. So the same windows are embedded once more without all that, by one process of one thread on each core.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from benchmarks import cpu, loops
from benchmarks.direct import Direct, Took, direct
from benchmarks.record import record
from benchmarks.routes import SAMPLES, growth, routes
from cli import ingest, places, services, supervision
from cli.process import Child
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from ingest.document import Document, Metadata
from ingest.embed import Span, framed
from ingest.manifest import Item
from ingest.passage import Parent
from ingest.pipeline import run
from ingest.wiring import wired
from radrag.settings import Settings
from radrag.triton import Vectors

RESULT = places.ROOT / "benchmarks" / "results" / "ingest.json"
EMBEDDER = "e5_small"

Framed = tuple[str, list[Span]]
"""A parent with its context in front, and its children's places in that."""


@dataclass
class Busy:
    """An embed stage that notes for how long at least one document was in it, and what it was given."""

    embed: Callable[[Document, Sequence[Parent]], Awaitable[list[Vectors]]]
    seconds: float = 0.0
    given: list[Framed] = field(default_factory=list)
    _inside: int = 0
    _since: float = 0.0

    async def vectors(self, document: Document, parents: Sequence[Parent]) -> list[Vectors]:
        """As the stage itself."""
        self.given += [framed(document, parent) for parent in parents]
        if not self._inside:
            self._since = perf_counter()
        self._inside += 1
        try:
            return await self.embed(document, parents)
        finally:
            self._inside -= 1
            if not self._inside:
                self.seconds += perf_counter() - self._since


def write(folder: Path, documents: int) -> list[Item]:
    """Documents with the samples' Markdown, no two alike."""
    texts = [path.read_text("utf-8") for path in sorted(SAMPLES.rglob("*.md")) if path.name != "README.md"]
    items = []
    for n in range(documents):
        path = folder / f"d{n:03}.md"
        path.write_text(f"{texts[n % len(texts)].rstrip()}\n\nCopy {n} of {documents}.\n", "utf-8")
        items.append(Item(path, path.name, Metadata(document_id=path.stem, topic="safety")))
    return items


async def batch(home: Path, documents: int, port: int) -> dict[str, object]:
    """What a batch took, by clock and CPU, and its embedding. Raises RuntimeError when a document failed."""
    async with served(home, port) as environ:
        settings = Settings.from_environ(environ)
        async with wired(ingest.plan(settings, environ, "benchmark")) as pipeline:
            busy, pids = Busy(pipeline.embed), processes(home)
            items, before = write(home, documents), loops.spent(pids)
            summary = await run(items, replace(pipeline, embed=busy.vectors), lambda event: None)
            after = loops.spent(pids)
    if summary.count("published") != documents:
        raise RuntimeError(f"only {summary.count('published')} of {documents} documents were published")
    alone = await in_processes([(text, spans) for text, spans in busy.given if spans])
    return {
        "documents": documents,
        "children": summary.children,
        "seconds": round(summary.seconds, 1),
        "children_per_second": round(summary.children / summary.seconds, 2),
        "embedder_busy": round(busy.seconds / summary.seconds, 4),
        "over_embedding_in_process": round(summary.seconds / alone.clock, 3),
        "cpu_seconds": by_service({name: after[name] - before[name] for name in pids}),
        "cpu_seconds_in_process": round(alone.cpu, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
    }


def processes(home: Path) -> dict[str, int]:
    """Who has a part in a batch, by service, name and pid: all of Triton and of retrieval, and this one."""
    found = {f"ingest/{os.getpid()}": os.getpid()}
    for service in ("triton", "retrieval"):
        if running := Child(service, home).running():
            found |= {f"{service} {name}/{pid}": pid for pid, name in cpu.members(running.pid).items()}
    return found


def by_service(spent: Mapping[str, float]) -> dict[str, float]:
    """CPU seconds by service and name, those of one name together; nothing that took none."""
    names = dict.fromkeys(name.partition("/")[0] for name in spent)
    sums = {one: sum(took for name, took in spent.items() if name.partition("/")[0] == one) for one in names}
    return {name: round(took, 2) for name, took in sums.items() if took > 0}


async def in_processes(windows: Sequence[Framed]) -> Took:
    """What one process of one thread on each core needs for the same windows; who is free takes the next."""
    left, spent = iter(windows), list[float]()
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(direct("documents")) for _ in range(len(os.sched_getaffinity(0)))
        ]
        await asyncio.gather(*(worker.ask(*windows[0]) for worker in workers))  # loading does not count
        began = perf_counter()

        async def taker(worker: Direct) -> None:
            for window in left:
                spent.append((await worker.ask(*window)).cpu)

        await asyncio.gather(*map(taker, workers))
        return Took(perf_counter() - began, sum(spent))


@asynccontextmanager
async def served(home: Path, port: int) -> AsyncIterator[Mapping[str, str]]:
    """A Triton with the embedder and a retrieval service of their own; yields the settings."""
    triton = TritonServer(Child("triton", home), (EMBEDDER,), port)
    await triton.start()
    environ = dict(kept(os.environ)) | {
        "RADRAG_HOME": str(home),
        "RADRAG_INSECURE_DEV": "true",
        "RADRAG_EMBEDDER_URL": triton.grpc,
        "RADRAG_EMBEDDER_MODEL": EMBEDDER,
        "RADRAG_RETRIEVAL_ADDRESS": f"127.0.0.1:{port + 11}",
    }
    every = services.profile(Settings.from_environ(environ), environ).services
    started = [one for one in every if one.child.name == "retrieval"]
    try:
        await supervision.up(started, Terminal(), 60)
        yield environ
    finally:
        await supervision.down([one.child for one in started])
        await triton.stop()


def kept(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in environ.items() if not name.startswith(("RADRAG_", "OTEL_")))


async def measured(given: argparse.Namespace, home: Path) -> dict[str, object]:
    cores = len(os.sched_getaffinity(0))
    return {
        "pages_per_second": await routes(given.seconds, 1),
        f"pages_per_second_of_{cores}": await routes(given.seconds, cores),
        "cpu_ms_a_page": growth(),
        "batch": await batch(home, given.documents, given.port),
    }


def main() -> int:
    """Measures, prints and keeps the result. Status 1 when the embedder was idle too long."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--documents", type=int, default=100)
    given.add_argument("--seconds", type=float, default=15.0, help="for each route (15)")
    given.add_argument("--port", type=int, default=28421)
    given.add_argument("--least-busy", type=float, default=0.9, help="status 1 below this share (0.9)")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as home:
        figures = asyncio.run(measured(asked, Path(home)))
    record(RESULT, figures)
    print(figures)
    found = figures["batch"]
    assert isinstance(found, dict)
    return int(found["embedder_busy"] < asked.least_busy)


if __name__ == "__main__":
    sys.exit(main())
