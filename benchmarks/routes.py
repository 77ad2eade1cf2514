"""How fast files are read, format by format: one file at a time, and on all cores; and longer documents."""

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

from cli import places
from evaluation import scans
from ingest.chunk import ChunkLimits, chunk
from ingest.clean import clean, cleaned
from ingest.document import Metadata, Parsed
from ingest.identity import document_of
from ingest.load import Source, load
from ingest.parse import Parse, parser
from ingest.reader import Reader
from ingest.tokens import TokenCounter, token_counter

SAMPLES = places.ROOT / "var" / "samples"  # as `make samples` builds them
READ = (".md", ".html", ".docx", ".pdf")
PAGE = 3000  # characters of Markdown that count as a page in formats without pages
PAGES = (10, 100, 1000)  # of the documents whose length grows


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


async def routes(seconds: float, at_once: int) -> dict[str, float]:
    """Pages per second of parsing and cleaning, so many files at once, for at least so many seconds each."""
    rates: dict[str, float] = {}
    async with Reader(processes=at_once) as reader:
        parse = parser(reader.parse)
        for route, files in sources().items():
            await asyncio.gather(*(parse(files[0]) for _ in range(at_once)))  # what is loaded once
            rates[route] = round(await _rate(parse, files, seconds, at_once), 2)
    return rates


async def _rate(parse: Parse, files: Sequence[Source], seconds: float, at_once: int) -> float:
    """Pages per second: whoever is free takes the next file."""
    waiting, pages, began = itertools.cycle(files), 0, perf_counter()
    left = iter(range(at_once * len(files)))

    async def taker() -> None:
        nonlocal pages
        while next(left, None) is not None or perf_counter() - began < seconds:
            read = await clean(await parse(next(waiting)))
            pages += pages_of(read)  # nothing awaited in it: what others add meanwhile would be lost

    await asyncio.gather(*(taker() for _ in range(at_once)))
    return pages / (perf_counter() - began)


def pages_of(parsed: Parsed) -> int:
    """Pages, or as many as the text would fill."""
    return len(parsed.records) or max(1, round(len(parsed.markdown) / PAGE))


def growth() -> dict[str, float]:
    """Milliseconds of CPU a page of cleaning and cutting, by pages of the document; the least of three."""
    counter = token_counter(places.MODEL_REPOSITORY / "e5_small" / "1" / "tokenizer.json")
    return {f"{pages} pages": min(_cut_ms(pages, counter) for _ in range(3)) for pages in PAGES}


def _cut_ms(pages: int, counter: TokenCounter) -> float:
    text, began = "".join(itertools.islice(_pages(), pages)), time.process_time()
    whole = document_of("long.md", Metadata(topic="safety"), cleaned(Parsed(text, "Long", "markdown")))
    if not chunk(whole, counter, ChunkLimits()):
        raise RuntimeError("a long document has no parents")
    return round((time.process_time() - began) / pages * 1000, 2)


def _pages() -> Iterator[str]:
    """Pages of the samples' Markdown, over and over, each under a heading of its own."""
    texts = [path.read_text("utf-8") for path in sorted(SAMPLES.rglob("*.md")) if path.name != "README.md"]
    whole = "\n\n".join(texts)
    for number in itertools.count():
        at = number * PAGE % (len(whole) - PAGE)
        yield f"# Part {number}\n\n{whole[at : at + PAGE]}\n\n"
