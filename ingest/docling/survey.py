"""What can only be seen over a whole PDF: size and leading of its body text, running heads, its words."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from docling.backend.pdf_backend import PdfPageBackend
from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions

from ingest.docling.pages import Pages
from ingest.docling.scans import ScannedPage
from ingest.docling.textline import TextLine, lines_of
from ingest.textlayer import TextLayer

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
BACKEND = ThreadedDoclingParseBackendOptions.model_validate({"render_pages": False, "parser_threads": 1})
MARGIN = 0.16  # of the page's height, where running heads and feet stand
GRID = 100  # cells a side, in which areas of pictures are added up

Judge = Callable[[int, TextLayer], ScannedPage | None]
"""What stands in the place of a page with this text; None when the page itself does."""


@dataclass(frozen=True)
class Running:
    """Heights and texts that return page after page at one margin."""

    heights: frozenset[int] = frozenset()
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Survey:
    """`size` and `leading` of the body in points; `words` with how often they occur inside lines."""

    size: float = 10.0
    leading: float = 3.0
    heads: Running = Running()
    feet: Running = Running()
    words: Counter[str] = field(default_factory=Counter)


@dataclass
class Tally:
    """What the pages add up to."""

    sizes: Counter[float] = field(default_factory=Counter)
    gaps: Counter[tuple[float, float]] = field(default_factory=Counter)
    tops: list[tuple[int, str]] = field(default_factory=list)
    bottoms: list[tuple[int, str]] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    pages: int = 0


def survey_of(pages: Pages, window: int, judge: Judge) -> Survey:
    """Reads the document once, rendering nothing but what OCR must read."""
    tally = Tally()
    for span in pages.windows(window):
        with pages.opened(span, BACKEND, {}) as document:
            for page in document._backend.iter_pages():  # type: ignore[attr-defined]  # a PDF's backend has it
                survey_page(tally, page, judge)
    return drawn(tally)


def survey_page(tally: Tally, page: PdfPageBackend, judge: Judge) -> None:
    tally.pages += 1
    segmented = page.get_segmented_page()
    if segmented is None:  # the pipeline will say that it is damaged
        return
    layer = TextLayer("\n".join(cell.text for cell in segmented.textline_cells), picture_share(page))
    instead = judge(page.page_no, layer)
    cells = instead.get_text_cells() if instead else segmented.textline_cells
    add_page(tally, lines_of(cells), (instead or page).get_size().height)


def picture_share(page: PdfPageBackend) -> float:
    """The share of a page's area that pictures cover, 0 to 1; overlaps count once."""
    size = page.get_size()
    covered = np.zeros((GRID, GRID), dtype=bool)
    for box in page.get_bitmap_rects():
        top, bottom = (round(GRID * edge / size.height) for edge in (box.t, box.b))
        left, right = (round(GRID * edge / size.width) for edge in (box.l, box.r))
        covered[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = True
    return float(covered.mean())


def add_page(tally: Tally, lines: list[TextLine], height: float) -> None:
    for line in lines:
        tally.sizes[half(line.height)] += len(line.text)
        tally.words.update(word.lower() for word in WORD.findall(line.text))
    for line, below in pairwise(lines):
        if is_next_line(line, below):
            tally.gaps[half(line.height), half(below.top - line.bottom)] += 1
    add_margins(tally, lines, height)


def half(points: float) -> float:
    return round(points * 2) / 2


def is_next_line(line: TextLine, below: TextLine) -> bool:
    overlap = min(line.right, below.right) - max(line.left, below.left)
    near = 0 <= below.top - line.bottom < 1.6 * line.height
    return abs(line.height - below.height) < 0.6 and near and overlap > 0


def add_margins(tally: Tally, lines: list[TextLine], height: float) -> None:
    top, bottom = edge_row(lines, top=True), edge_row(lines, top=False)
    if top and top[0].bottom < height * MARGIN:
        tally.tops.append((round(top[0].top), masked(row_text(top))))
    if bottom and bottom[0].top > height * (1 - MARGIN):
        tally.bottoms.append((round(bottom[0].bottom), masked(row_text(bottom))))


def edge_row(lines: list[TextLine], top: bool) -> list[TextLine]:
    """The outermost row of a page at its top or bottom."""
    if not lines:
        return []
    outermost = min(line.top for line in lines) if top else max(line.bottom for line in lines)
    return [line for line in lines if abs((line.top if top else line.bottom) - outermost) < 3]


def row_text(row: list[TextLine]) -> str:
    return " ".join(line.text for line in row)


def masked(text: str) -> str:
    """A running head without what changes in it: page and chapter numbers."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", re.sub(r"\s+", " ", text.lower())).strip()


def drawn(tally: Tally) -> Survey:
    if not tally.sizes:
        return Survey()
    size = tally.sizes.most_common(1)[0][0]
    gaps = [(count, gap) for (height, gap), count in tally.gaps.items() if abs(height - size) <= 0.5]
    leading = max(gaps)[1] if gaps else 0.3 * size
    return Survey(
        size, leading, running(tally.tops, tally.pages), running(tally.bottoms, tally.pages), tally.words
    )


def running(rows: list[tuple[int, str]], pages: int) -> Running:
    """What is at one height on a quarter of the pages, or has one text on a sixth of them; twice at least."""
    heights, texts = Counter(height for height, _ in rows), Counter(text for _, text in rows)
    often = {h for h in heights if sum(heights[h + step] for step in (-1, 0, 1)) >= max(2, 0.25 * pages)}
    same = {text for text, count in texts.items() if text and count >= max(2, 0.15 * pages)}
    return Running(frozenset(often), frozenset(same))
