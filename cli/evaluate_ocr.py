"""`radrag eval ocr`: makes scanned pages, has them read as any PDF is, and counts the letters misread."""

import argparse
from collections.abc import Mapping, Sequence
from time import perf_counter

from cli.exits import Exit
from cli.places import ROOT
from cli.terminal import Terminal
from evaluation import scans
from evaluation.misreadings import Misread, by_language
from evaluation.provenance import provenance
from ingest.__main__ import reading
from ingest.document import Parsed
from ingest.load import Source
from ingest.reader import Reader
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Prints a row per language. Status 1 when more letters are misread than `--most` allows."""
    pages = scans.scanned(scans.load(given.pages), given.skew, given.seed)
    wanted = reading(Settings.from_environ(environ))
    started = perf_counter()
    async with Reader(reading=wanted) as reader:
        parsed = await reader.parse(Source("scans.pdf", "pdf", scans.pdf(pages)))
    seconds = perf_counter() - started
    found = list(by_language([(page.language, *pair(page, parsed, at)) for at, page in enumerate(pages, 1)]))
    if given.json:
        screen.json(as_data(given, found, parsed, seconds))
    else:
        table(screen, found, parsed, seconds / len(pages))
    most = dict(given.most)
    return Exit.FAILURE if any(one.rate > most.get(one.language, 1.0) for one in found) else Exit.OK


def pair(page: scans.ScannedPage, parsed: Parsed, number: int) -> tuple[str, str]:
    """What stands on a page, and what the product's Markdown has for it."""
    read = "".join(parsed.markdown[part.start : part.end] for part in parsed.pages if part.page == number)
    return "\n".join(page.text), read


def table(screen: Terminal, found: Sequence[Misread], parsed: Parsed, seconds: float) -> None:
    rows = [[one.language, str(one.pages), f"{one.letters:,}", f"{100 * one.rate:.2f} %"] for one in found]
    screen.table(("language", "pages", "letters", "misread"), rows)
    engines = sorted({record.engine for record in parsed.records})
    lowest = min(record.confidence or 0.0 for record in parsed.records)
    screen.text(f"read by {', '.join(engines)}, lowest confidence {lowest:.2f}, {seconds:.1f} s a page")


def as_data(
    given: argparse.Namespace, found: Sequence[Misread], parsed: Parsed, seconds: float
) -> dict[str, object]:
    return {
        **provenance(ROOT),
        "dpi": scans.DPI,
        "skew_degrees": given.skew,
        "noise": scans.NOISE,
        "seed": given.seed,
        "seconds": round(seconds, 1),
        "languages": {
            one.language: {"pages": one.pages, "letters": one.letters, "cer": round(one.rate, 5)}
            for one in found
        },
        "pages": [
            {"page": one.page, "engine": one.engine, "confidence": one.confidence} for one in parsed.records
        ],
    }
