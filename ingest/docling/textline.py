"""Lines of text as a reader sees them, put together from the fragments a PDF is made of."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

from docling.utils.font_style import parse_font_style
from docling_core.types.doc.page import TextCell

BULLET = re.compile(r"\s*([•·∙●○◦▪▫■□‣⁃➢➤✓∞►❑❖◆\ufffd*+\uf000-\uf0ff\u2013\u2014-])(\s+|$)")
NUMBER = re.compile(r"\s*(\(?\d{1,3}[.)]|\(?[a-zа-яё][.)]|\(?[ivx]{1,5}[.)])(\s+|$)")
MONOSPACED = re.compile(r"mono|courier|consol|cmtt|sftt|typewriter|menlo|inconsolata|ttf?\d{4}", re.I)
BOLD = re.compile(r"bold|black|heavy|demi|cmbx|sfbx|cmssbx|-bd|medi$", re.I)
SYMBOLS = re.compile(r"symbol|wing|ding|bullet|webd", re.I)
SHORT_MARK = 9  # characters of a bullet in a symbol font, which can come as a glyph's name


@dataclass(frozen=True)
class TextLine:
    """A line with its box (points from the top left), the height of its main run and its style."""

    cells: tuple[TextCell, ...]
    left: float
    top: float
    right: float
    bottom: float
    height: float
    text: str
    bold: bool
    mono: bool
    font: str

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def is_item(self) -> bool:
        """Whether it begins like an item of a list."""
        if BULLET.match(self.text) or NUMBER.match(self.text):
            return True
        first = self.cells[0].text.strip()
        return len(self.cells) > 1 and len(first) <= SHORT_MARK and SYMBOLS.search(self.font) is not None

    @property
    def is_mark(self) -> bool:
        """Whether it is nothing but a bullet or number, whose text stands apart."""
        alone = self.text + " "
        if BULLET.fullmatch(alone) or NUMBER.fullmatch(alone):
            return True
        return SYMBOLS.search(self.font) is not None and len(self.text) <= SHORT_MARK


def line_of(cells: Sequence[TextCell]) -> TextLine:
    boxes = [cell.rect.to_bounding_box() for cell in cells]
    # The longest run gives the height: sub- and superscripts and inline fractions do not count.
    main = max(zip(cells, boxes, strict=True), key=lambda pair: len(pair[0].text))[1]
    return TextLine(
        cells=tuple(cells),
        left=min(box.l for box in boxes),
        top=min(box.t for box in boxes),
        right=max(box.r for box in boxes),
        bottom=max(box.b for box in boxes),
        height=main.b - main.t,
        text=" ".join(cell.text.strip() for cell in cells).strip(),
        bold=mostly(cells, is_bold),
        mono=mostly(cells, is_monospaced),
        font=font_of(cells[0]),
    )


def font_of(cell: TextCell) -> str:
    return str(getattr(cell, "font_name", "") or "")


@lru_cache(4096)
def is_bold(font: str) -> bool:
    style = parse_font_style(font) if font else None
    weight = getattr(style, "weight", None)
    return BOLD.search(font) is not None or bool(weight and weight >= 600)


def is_monospaced(font: str) -> bool:
    return MONOSPACED.search(font) is not None


def mostly(cells: Iterable[TextCell], holds: Callable[[str], bool]) -> bool:
    """Whether more than nine tenths of the characters are in fonts for which it holds."""
    sizes = [(len(cell.text), holds(font_of(cell))) for cell in cells]
    return sum(size for size, yes in sizes if yes) > 0.9 * sum(size for size, _ in sizes)


def lines_of(cells: Iterable[TextCell], words: Sequence[TextCell] = ()) -> list[TextLine]:
    """The lines of a page, top to bottom. `words` know their font better than the fragments do."""
    fragments = [line_of([cell]) for cell in cells if cell.text.strip()]
    upright = [line for line in fragments if is_upright(line)]
    joined = [line for band in bands_of(upright) for line in joined_in(band)]
    return sorted(with_word_weight(joined, words), key=lambda line: (line.top, line.left))


def is_upright(line: TextLine) -> bool:
    return 0 < line.height < 3 * max(line.right - line.left, 6) or len(line.text) <= 2


def bands_of(lines: list[TextLine]) -> list[list[TextLine]]:
    """Fragments at one height."""
    bands: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        last = bands[-1][-1] if bands else None
        if last and abs(line.middle - last.middle) < 0.45 * min(line.height, last.height):
            bands[-1].append(line)
        else:
            bands.append([line])
    return bands


def joined_in(band: list[TextLine]) -> list[TextLine]:
    """Fragments of a band that follow each other closely, and marks with the text they stand before."""
    lines: list[TextLine] = []
    for line in sorted(band, key=lambda line: line.left):
        if lines and follows(lines[-1], line):
            lines[-1] = line_of([*lines[-1].cells, *line.cells])
        else:
            lines.append(line)
    return lines


def follows(before: TextLine, line: TextLine) -> bool:
    reach = 3.2 * before.height if before.is_mark else 0.6 * max(line.height, before.height)
    return -2 * min(line.height, before.height) < line.left - before.right < reach


def with_word_weight(lines: list[TextLine], words: Sequence[TextCell]) -> list[TextLine]:
    """A fragment reports only its first run's font: what is bold is asked of the words."""
    if not words:
        return lines
    boxes = [(word.rect.to_bounding_box(), word) for word in words]
    placed = sorted(((box.t + box.b) / 2, (box.l + box.r) / 2, at) for at, (box, _) in enumerate(boxes))
    heights = [place[0] for place in placed]
    found = []
    for line in lines:
        near = placed[bisect_left(heights, line.top) : bisect_right(heights, line.bottom)]
        inside = [words[at] for _, across, at in near if line.left <= across <= line.right]
        found.append(replace(line, bold=mostly(inside, is_bold)) if inside else line)
    return found


def rows_of(lines: Iterable[TextLine]) -> list[list[TextLine]]:
    """Lines side by side, as the rows of a table are."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        if rows and line.middle - median(other.middle for other in rows[-1]) < 0.6 * line.height:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows
