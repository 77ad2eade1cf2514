"""Keeps of a page what trafilatura takes for its main text, in our own structure.

trafilatura knows the habits of many thousands of sites but flattens tables and lists; here it only judges.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import trafilatura
from bs4 import Tag
from bs4.element import PageElement

from ingest.html.blocks import is_block
from ingest.html.chain import Place, longest_chain

WORD = re.compile(r"\w+")
RUN = 3  # words: hardly the same twice by chance
ENOUGH = 0.5  # share of a piece's runs that the main text must have
SHORT = 8  # words below which a text may well stand twice
LONG = 25  # words from which nothing is a menu's entry
MOST_PLACES = 5
MOST_SPANNED = 20_000  # places that the spans of a page's tables fill
CELL = re.compile(r"<t[dh]\b[^>]*+>", re.I)
SPANS = re.compile(r"\b(col|row)span\s*+=\s*+[\"']?\s*+(\d{1,9})", re.I)
SPAN = re.compile(r"\b(col|row)span\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>]+)", re.I)
STRUCTURE = re.compile("h[1-6]|table|pre")
Words = tuple[str, ...]

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what it logs quotes pages


class JudgeFailed(Exception):
    """trafilatura failed on a page: without a judge our own rules decide, and a reviewer is told."""


def main_text(html: str) -> str:
    """The page's main text as trafilatura finds it, with tables and answers; empty when it finds none.

    Raises JudgeFailed.
    """
    try:
        return trafilatura.extract(bounded(html), include_tables=True, include_comments=True) or ""
    except Exception as error:  # noqa: BLE001  # whatever it stumbles over
        raise JudgeFailed(type(error).__name__) from None  # the error itself may quote the page


def bounded(html: str) -> str:
    """The page without spans where they would make tables that trafilatura works on for hours."""
    # Behind the last > no cell ends: looking for that of each of many would take for ever.
    places = sum(map(area, CELL.findall(html, 0, html.rfind(">") + 1)))
    return SPAN.sub("", html) if places > MOST_SPANNED else html


def area(cell: str) -> int:
    """How many places a cell takes beyond its own."""
    found = {name.lower(): min(int(number), 1000) for name, number in SPANS.findall(cell)}
    return max(found.get("col", 1), 1) * max(found.get("row", 1), 1) - 1


def keep_main(body: Tag, main: str) -> None:
    """Takes out of `body` every piece that `main` does not have.

    Between two that it has, headings, tables and code stay: trafilatura drops some that belong there.
    """
    pieces = list(pieces_of(body))
    texts = [words_of(piece.get_text(" ")) for piece in pieces]
    kept = judged(texts, main)
    for at, piece in enumerate(pieces):
        between = 0 < at < len(pieces) - 1 and kept[at - 1] and kept[at + 1]
        if not kept[at] and not (between and is_structure(piece)):
            piece.extract()


def judged(texts: Sequence[Words], main: str) -> list[bool]:
    """Of each text, in the page's order, whether it is part of the main text.

    A short one, or one that stands twice, must be in order among those kept: menus repeat headings.
    """
    known = Known(main)
    places = [known.places(words) for words in texts]
    chain = longest_chain(places)
    taken = {texts[at] for at in chain}
    return [
        bool(found) and (at in chain or (len(words) >= SHORT and (len(words) >= LONG or words not in taken)))
        for at, (words, found) in enumerate(zip(texts, places, strict=True))
    ]


class Known:
    """A main text by its runs of words, and by its lines and cells."""

    def __init__(self, main: str) -> None:
        words: list[str] = []
        self._lines: dict[Words, list[int]] = defaultdict(list)
        for line in re.split(r"[\n|]", main):
            self._lines[words_of(line)].append(len(words))
            words += words_of(line)
        self._runs: dict[Words, list[int]] = defaultdict(list)
        for at, run in enumerate(runs_of(words)):
            self._runs[run].append(at)

    def places(self, words: Words) -> list[Place]:
        """Where a text stands in it; nowhere unless it has half of the text's runs.

        A text of one or two words has no run: it must be a line or a cell.
        """
        if len(words) < RUN:
            found = self._lines.get(words, []) if words else []
            return [Place(at, at + len(words)) for at in found[:MOST_PLACES]]
        runs = list(runs_of(words))
        known = [at for at, run in enumerate(runs) if run in self._runs]
        if len(known) < ENOUGH * len(runs):
            return []
        starts = (at - known[0] for at in self._runs[runs[known[0]]][:MOST_PLACES])
        return [Place(at, at + len(words)) for at in starts]


def words_of(text: str) -> Words:
    return tuple(WORD.findall(text.casefold()))


def runs_of(words: Sequence[str]) -> Iterator[Words]:
    return (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def pieces_of(node: Tag) -> Iterator[PageElement]:
    """The smallest blocks, tables whole, and the text that stands between blocks."""
    for child in list(node.children):
        if isinstance(child, Tag) and child.name != "table" and any(map(is_block, child.children)):
            yield from pieces_of(child)
        elif child.get_text(" ").strip():
            yield child


def is_structure(node: PageElement) -> bool:
    return isinstance(node, Tag) and STRUCTURE.fullmatch(node.name) is not None
