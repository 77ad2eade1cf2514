"""What can only be seen over a whole PDF: size and leading of its body text, running heads, its words."""

import re
from collections import Counter
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise

from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import ConversionResult, InputDocument

from ingest.docling.textline import TextLine, lines_of

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
BACKEND = ThreadedDoclingParseBackendOptions.model_validate({"render_pages": False, "parser_threads": 1})
MARGIN = 0.16  # of the page's height, where running heads and feet stand


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


def survey_of(result: ConversionResult) -> Survey:
    """Reads the document once without rendering it."""
    tally = Tally()
    document = reopened(result.input)
    try:
        for page in document._backend.iter_pages():  # type: ignore[attr-defined]  # a PDF's backend has it
            segmented = page.get_segmented_page()
            tally.pages += 1
            if segmented is not None:
                add_page(tally, lines_of(segmented.textline_cells), page.get_size().height)
    finally:
        document._backend.unload()  # type: ignore[no-untyped-call]
    return drawn(tally)


def reopened(source: InputDocument) -> InputDocument:
    stream = source._backend.path_or_stream
    again = BytesIO(stream.getvalue()) if isinstance(stream, BytesIO) else stream
    return InputDocument(
        again,
        format=InputFormat.PDF,
        backend=ThreadedDoclingParseDocumentBackend,
        filename=source.file.name,
        limits=source.limits,
        backend_options=BACKEND,
    )


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
