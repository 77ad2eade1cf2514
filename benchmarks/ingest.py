"""How fast documents go in: pages per second by route, and how busy the embedder is. Run: make bench-ingest

Routes are measured one file at a time in one process. The batch is a real one, with a real Triton, e5_small,
retrieval and catalogue; embedding bounds it on any CPU.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from benchmarks.record import record
from cli import ingest, places, services, supervision
from cli.process import Child
from cli.terminal import Terminal
from cli.triton_server import TritonServer
from evaluation import scans
from ingest.clean import cleaned
from ingest.document import Document, Metadata, Parsed
from ingest.load import Source, load
from ingest.manifest import Item
from ingest.parse import parser
from ingest.passage import Parent
from ingest.pipeline import run
from ingest.reader import Reader
from ingest.wiring import wired
from radrag.settings import Settings
from radrag.triton import Vectors

SAMPLES = places.ROOT / "var" / "samples"  # as `make samples` builds them
RESULT = places.ROOT / "benchmarks" / "results" / "ingest.json"
EMBEDDER = "e5_small"
READ = (".md", ".html", ".docx", ".pdf")
PAGE = 3000  # characters of Markdown that count as a page in formats without pages


@dataclass
class Busy:
    """An embed stage that notes for how long at least one document was in it."""

    embed: Callable[[Document, Sequence[Parent]], Awaitable[list[Vectors]]]
    seconds: float = 0.0
    _inside: int = 0
    _since: float = 0.0

    async def vectors(self, document: Document, parents: Sequence[Parent]) -> list[Vectors]:
        """As the stage itself."""
        if not self._inside:
            self._since = perf_counter()
        self._inside += 1
        try:
            return await self.embed(document, parents)
        finally:
            self._inside -= 1
            if not self._inside:
                self.seconds += perf_counter() - self._since


def sources() -> Mapping[str, list[Source]]:
    """The samples by format, and the scanned pages. Raises FileNotFoundError before `make samples`."""
    if not SAMPLES.is_dir():
        raise FileNotFoundError(f"{SAMPLES} is not there: make samples")
    found: dict[str, list[Source]] = {}
    for path in sorted(SAMPLES.rglob("*")):
        if path.suffix in READ:
            source = load(path)
            found.setdefault(source.kind, []).append(source)
    pages = scans.scanned(scans.load(places.ROOT / "evaluation" / "scans.yaml"), 1.0, 7)
    return found | {"scan": [Source("scans.pdf", "pdf", scans.pdf(pages))]}


async def routes(seconds: float) -> dict[str, float]:
    """Pages per second of parsing and cleaning, for at least so many seconds each."""
    rates: dict[str, float] = {}
    async with Reader() as reader:
        parse = parser(reader.parse)
        for route, files in sources().items():
            await parse(files[0])  # what is loaded once
            began, pages = perf_counter(), 0
            while perf_counter() - began < seconds:
                for source in files:
                    pages += pages_of(cleaned(await parse(source)))
            rates[route] = round(pages / (perf_counter() - began), 2)
    return rates


def pages_of(parsed: Parsed) -> int:
    """Pages, or as many as the text would fill."""
    return len(parsed.records) or max(1, round(len(parsed.markdown) / PAGE))


def write(folder: Path, documents: int) -> list[Item]:
    """Documents with the samples' Markdown, no two alike."""
    texts = [path.read_text("utf-8") for path in sorted(SAMPLES.rglob("*.md")) if path.name != "README.md"]
    items = []
    for n in range(documents):
        path = folder / f"d{n:03}.md"
        path.write_text(f"{texts[n % len(texts)].rstrip()}\n\nCopy {n} of {documents}.\n", "utf-8")
        items.append(Item(path, path.name, Metadata(document_id=path.stem, topic="safety")))
    return items


async def batch(home: Path, documents: int, port: int) -> dict[str, float]:
    """Seconds of a batch and of its embedding, and the share. Raises RuntimeError when a document failed."""
    async with served(home, port) as environ:
        settings = Settings.from_environ(environ)
        async with wired(ingest.plan(settings, environ, "benchmark")) as pipeline:
            busy = Busy(pipeline.embed)
            summary = await run(
                write(home, documents), replace(pipeline, embed=busy.vectors), lambda event: None
            )
    if summary.count("published") != documents:
        raise RuntimeError(f"only {summary.count('published')} of {documents} documents were published")
    return {
        "documents": documents,
        "children": summary.children,
        "seconds": round(summary.seconds, 1),
        "children_per_second": round(summary.children / summary.seconds, 2),
        "embedder_busy": round(busy.seconds / summary.seconds, 4),
    }


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
    rates = await routes(given.seconds)
    return {"pages_per_second": rates, "batch": await batch(home, given.documents, given.port)}


def main() -> int:
    """Measures, prints and keeps the result. Status 1 when the embedder was idle too long."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--documents", type=int, default=100)
    given.add_argument("--seconds", type=float, default=15.0, help="for each route (15)")
    given.add_argument("--port", type=int, default=38421)
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
