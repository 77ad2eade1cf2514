"""The frame of a table: where its rows and columns part, and which cells span several."""

from dataclasses import dataclass
from itertools import pairwise

from docling_core.types.doc.base import BoundingBox

from ingest.docling.rules import Rule, Rules, snapped
from ingest.docling.words import Word, word_rows

NARROWEST_GAP = 5  # points of white between two columns
CROSSED_BY = 0.08  # share of rows that may cross such a gap
SLACK = 4.0


@dataclass(frozen=True)
class Span:
    """Rows [top, bottom) and columns [left, right) of one cell."""

    top: int
    bottom: int
    left: int
    right: int


@dataclass(frozen=True)
class Frame:
    """Edges of rows and columns in points, and the rules that part cells."""

    rows: list[float]
    columns: list[float]
    rules: Rules

    @property
    def height(self) -> int:
        return max(len(self.rows) - 1, 1)

    @property
    def width(self) -> int:
        return max(len(self.columns) - 1, 1)

    def box(self, span: Span) -> BoundingBox:
        return BoundingBox(
            l=self.columns[span.left],
            t=self.rows[span.top],
            r=self.columns[span.right],
            b=self.rows[span.bottom],
        )


def frame_of(words: list[Word], rules: Rules, box: BoundingBox) -> Frame:
    """From rules where they make columns; else rows and columns come from the text's own gaps."""
    columns, down = snapped(rule.at for rule in rules.down), list(rules.down)
    rows, across = snapped(rule.at for rule in rules.across), list(rules.across)
    gridded = len(columns) >= 3
    if len(columns) >= 2:
        columns, down = with_open_sides(columns, down, words, box)
    if len(columns) < 3:
        columns = text_columns(words, box)
        down = [Rule(at, box.t, box.b) for at in columns]
    if len(rows) < 3 or not gridded:
        rows = text_rows(words, box)
        across = [Rule(at, box.l, box.r) for at in rows]
    return Frame(rows, columns, Rules(across, down))


def with_open_sides(
    columns: list[float], down: list[Rule], words: list[Word], box: BoundingBox
) -> tuple[list[float], list[Rule]]:
    """Adds the columns outside the outermost rules: many tables leave their sides open."""
    if any(word.box.r < columns[0] for word in words):
        columns, down = [box.l - 1, *columns], [*down, Rule(box.l - 1, box.t, box.b)]
    if any(word.box.l > columns[-1] for word in words):
        columns, down = [*columns, box.r + 1], [*down, Rule(box.r + 1, box.t, box.b)]
    return columns, down


def text_rows(words: list[Word], box: BoundingBox) -> list[float]:
    rows = word_rows(words)
    between = [
        (max(word.box.b for word in above) + min(word.box.t for word in below)) / 2
        for above, below in pairwise(rows)
    ]
    return [box.t - 1, *between, box.b + 1]


def text_columns(words: list[Word], box: BoundingBox) -> list[float]:
    """Rivers of white that hardly any row crosses."""
    rows = word_rows(words)
    covered = [0] * (int(box.r - box.l) + 2)
    for row in rows:
        for point in {point for word in row for point in points(word, box, len(covered))}:
            covered[point] += 1
    edges, start = [box.l - 1], None
    for point, count in enumerate(covered):
        if count <= CROSSED_BY * len(rows):
            start = point if start is None else start
        elif start is not None:
            if point - start >= NARROWEST_GAP and start > 2:
                edges.append(box.l + (start + point) / 2)
            start = None
    return [*edges, box.r + 1]


def points(word: Word, box: BoundingBox, size: int) -> range:
    return range(max(0, int(word.box.l - box.l)), min(size, int(word.box.r - box.l) + 1))


def spans_of(frame: Frame) -> list[Span]:
    """The cells: from each place not yet taken, right and down until a rule stops it."""
    taken: set[tuple[int, int]] = set()
    spans: list[Span] = []
    walls = Walls(frame)
    for top in range(frame.height):
        for left in range(frame.width):
            if (top, left) not in taken:
                span = walls.span_from(top, left, taken)
                spans.append(span)
                taken |= {(r, c) for r in range(span.top, span.bottom) for c in range(span.left, span.right)}
    return spans


class Walls:
    """Which neighbouring places of a frame a rule parts."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        middles = [(a + b) / 2 for a, b in pairwise(frame.rows)]
        centres = [(a + b) / 2 for a, b in pairwise(frame.columns)]
        self._down = parted(frame.rules.down, frame.columns, middles)
        self._across = parted(frame.rules.across, frame.rows, centres)

    def span_from(self, top: int, left: int, taken: set[tuple[int, int]]) -> Span:
        right = left + 1
        while right < self._frame.width and (top, right) not in taken and (right, top) not in self._down:
            right += 1
        bottom = top + 1
        while bottom < self._frame.height and self._open_below(bottom, left, right):
            bottom += 1
        return Span(top, bottom, left, right)

    def _open_below(self, row: int, left: int, right: int) -> bool:
        floor = any((row, column) in self._across for column in range(left, right))
        return not floor and not any((edge, row) in self._down for edge in range(left + 1, right))


def parted(rules: list[Rule], edges: list[float], places: list[float]) -> set[tuple[int, int]]:
    """(edge, place) for every edge that a rule draws beside a place."""
    return {
        (edge, place)
        for rule in rules
        for edge, at in enumerate(edges)
        if abs(rule.at - at) < SLACK
        for place, middle in enumerate(places)
        if rule.start - 3 <= middle <= rule.end + 3
    }
