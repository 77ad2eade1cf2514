"""`radrag eval headings`: headings found in the PDFs of Debian's books, against their HTML editions."""

import argparse
from collections.abc import Mapping

from cli.exits import Exit
from cli.places import ROOT
from cli.terminal import Terminal
from evaluation.books import BOOKS, Book, pdf_of, true_headings, unpacked
from evaluation.pages import headings, matched
from evaluation.provenance import provenance
from ingest.clean import cleaned
from ingest.load import source_of
from ingest.reader import Reader


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """A row for each book. Status 1 when one is below `--least-precision` or `--least-recall`."""
    found: dict[str, dict[str, float]] = {}
    async with Reader() as reader:
        for book in BOOKS:
            screen.waiting(book.package)
            found[book.package] = await measured(book, given, reader)
    screen.progress("")
    if given.json:
        screen.json({**provenance(ROOT), "books": found})
    else:
        screen.table(("book", "headings", "found", "precision", "recall"), list(map(row, found.items())))
    return Exit.FAILURE if any(below(one, given) for one in found.values()) else Exit.OK


async def measured(book: Book, given: argparse.Namespace, reader: Reader) -> dict[str, float]:
    """What was found in one book."""
    documents = unpacked(book, given.books)
    parsed = cleaned(await reader.parse(source_of(f"{book.package}.pdf", pdf_of(book, documents))))
    wanted, got = true_headings(book, documents), headings(parsed.markdown)
    precision, recall = matched(got, wanted)
    return {
        "headings": len(wanted),
        "found": len(got),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
    }


def below(found: Mapping[str, float], given: argparse.Namespace) -> bool:
    return bool(found["precision"] < given.least_precision or found["recall"] < given.least_recall)


def row(named: tuple[str, Mapping[str, float]]) -> list[str]:
    name, found = named
    shares = [f"{found[share]:.3f}" for share in ("precision", "recall")]
    return [name, str(found["headings"]), str(found["found"]), *shares]
