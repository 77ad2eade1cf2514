"""A page that OCR read, in the shape Docling's reader gives pages: what comes after sees no difference."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from docling.backend.pdf_backend import PdfPageBackend
from docling_core.types.doc.base import BoundingBox, CoordOrigin, Size
from docling_core.types.doc.page import (
    BoundingRectangle,
    PdfPageBoundaryType,
    PdfPageGeometry,
    SegmentedPdfPage,
    TextCell,
)
from PIL import Image

from ingest.docling.pages import POINTS
from ingest.ocr.engine import Scan
from ingest.ocr.page import Box, Line, Word

COLUMN_GAP = 1.5  # heights of type between two words that stand in different columns
SAME_SIZE = 0.88  # of the largest of a group: sizes measured on paper scatter as much
BULLET = "•"
MISREAD_BULLETS = frozenset("¢©®°*+».·»“-–—∙●◦")  # what engines make of a bullet that stands alone


class ScannedPage(PdfPageBackend):
    """One page of a document, from a scan; an engine that knows no places gives a page without words."""

    def __init__(self, number: int, scan: Scan) -> None:
        self._number, self.scan = number, scan
        self._scale = POINTS / scan.page.dpi
        lines = [part for line in evened(scan.read.lines) for part in parted(bulleted(line))]
        self.lines = [self._cell(i, line.text, line.box) for i, line in enumerate(lines)]
        words = [(word, line) for line in lines for word in line.words]
        self.words = [self._cell(i, word.text, as_tall(word, line)) for i, (word, line) in enumerate(words)]

    @property
    def page_no(self) -> int:
        return self._number

    def _cell(self, index: int, text: str, box: Box) -> TextCell:
        rectangle = BoundingRectangle.from_bounding_box(self._box(box))
        return TextCell(index=index, text=text, orig=text, rect=rectangle, from_ocr=True)

    def _box(self, box: Box) -> BoundingBox:
        left, top, right, bottom = (self._scale * edge for edge in box)
        return BoundingBox(l=left, t=top, r=right, b=bottom, coord_origin=CoordOrigin.TOPLEFT)

    def get_size(self) -> Size:
        width, height = self.scan.page.whole.size
        return Size(width=width * self._scale, height=height * self._scale)

    def get_segmented_page(self) -> SegmentedPdfPage:
        return SegmentedPdfPage(
            dimension=geometry(self.get_size()),
            textline_cells=self.lines,
            word_cells=self.words,
            char_cells=[],
            has_lines=bool(self.lines),
            has_words=bool(self.words),
        )

    def get_text_cells(self) -> Iterable[TextCell]:
        return self.lines

    def get_visible_text_cells(self) -> list[TextCell]:
        return self.lines

    def get_text_in_rect(self, bbox: BoundingBox) -> str:
        inside = (cell for cell in self.lines if touches(cell, bbox))
        return " ".join(cell.text for cell in inside)

    def get_bitmap_rects(self, scale: float = 1) -> Iterable[BoundingBox]:
        return []

    def get_shape_lines(
        self, *, horizontal: bool = True, vertical: bool = True, tolerance: float = 1e-3
    ) -> list[BoundingBox]:
        return [thin(self._box(rule)) for rule in self.scan.page.rules]

    def get_connected_shape_bounding_boxes(self, *, tolerance: float = 0.0) -> list[BoundingBox]:
        return self.get_shape_lines()

    def get_thin_shape_boxes(self, *, max_thickness: float) -> list[BoundingBox]:
        return []

    def has_content_in(
        self, *, bbox: BoundingBox, chars: bool = False, shapes: bool = True, bitmaps: bool = True
    ) -> bool:
        return chars and any(touches(cell, bbox) for cell in self.lines)

    def get_page_image(self, scale: float = 1, cropbox: BoundingBox | None = None) -> Image.Image:
        size = self.get_size()
        whole = self.scan.page.whole.resize((round(size.width * scale), round(size.height * scale)))
        if cropbox is not None:
            whole = whole.crop(cropbox.to_top_left_origin(size.height).scaled(scale).as_tuple())
        return whole.convert("RGB")

    def is_valid(self) -> bool:
        return True

    def unload(self) -> None:
        return None


def evened(lines: Sequence[Line]) -> list[Line]:
    """The lines with type of nearly one size made of one size: their medians tell headings from text."""
    found: dict[int, Line] = {}
    order = sorted(range(len(lines)), key=lambda at: -height_of(lines[at]))
    while order:
        least = SAME_SIZE * height_of(lines[order[0]])
        group = [at for at in order if height_of(lines[at]) >= least]
        size = median(height_of(lines[at]) for at in group)
        found |= {at: replace(lines[at], top=lines[at].bottom - size) for at in group}
        order = order[len(group) :]
    return [found[at] for at in sorted(found)]


def height_of(line: Line) -> float:
    return line.bottom - line.top


def bulleted(line: Line) -> Line:
    """A line whose first word is what engines make of a bullet begins with a bullet."""
    first, *rest = line.words
    if not rest or first.text not in MISREAD_BULLETS:
        return line
    return replace(line, words=(replace(first, text=BULLET), *rest))


def parted(line: Line) -> Iterator[Line]:
    """The parts of a line that stand in different columns."""
    words: list[Word] = [line.words[0]]
    for before, word in pairwise(line.words):
        if word.box[0] - before.box[2] > COLUMN_GAP * (line.bottom - line.top):
            yield Line(tuple(words), line.top, line.bottom)
            words = []
        words.append(word)
    yield Line(tuple(words), line.top, line.bottom)


def as_tall(word: Word, line: Line) -> Box:
    return word.box[0], line.top, word.box[2], line.bottom


def thin(box: BoundingBox) -> BoundingBox:
    """A painted rule as the line through its middle: scanned ones are as thick as their noise."""
    if box.r - box.l > box.b - box.t:
        middle = (box.t + box.b) / 2
        return box.model_copy(update={"t": middle, "b": middle})
    middle = (box.l + box.r) / 2
    return box.model_copy(update={"l": middle, "r": middle})


def touches(cell: TextCell, box: BoundingBox) -> bool:
    return bool(cell.rect.to_bounding_box().intersection_over_self(box) > 0.5)


def geometry(size: Size) -> PdfPageGeometry:
    whole = BoundingBox(l=0, t=size.height, r=size.width, b=0, coord_origin=CoordOrigin.BOTTOMLEFT)
    boxes = dict.fromkeys(("art_bbox", "bleed_bbox", "crop_bbox", "media_bbox", "trim_bbox"), whole)
    return PdfPageGeometry(
        angle=0.0,
        rect=BoundingRectangle.from_bounding_box(whole),
        boundary_type=PdfPageBoundaryType.CROP_BOX,
        **boxes,
    )
