"""Writes the blocks of a sample as a born-digital PDF with bookmarks and ruled tables, in stable bytes."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, SimpleDocTemplate, Spacer, TableStyle
from reportlab.platypus import Paragraph as Text
from reportlab.platypus import Table as Grid

from samples.text_source import Block, Heading, Item, Paragraph, Table

FONTS = Path("/usr/share/fonts/truetype/dejavu")
BODY = ParagraphStyle("body", fontName="DejaVuSans", fontSize=10, leading=14, spaceAfter=6)
ITEM = ParagraphStyle("item", BODY, leftIndent=16, bulletIndent=4, spaceAfter=3)
CELL = ParagraphStyle("cell", BODY, fontSize=9, leading=12, spaceAfter=0)
HEAD = ParagraphStyle("head", CELL, fontName="DejaVuSans-Bold")
HEADINGS = [
    ParagraphStyle(f"h{level}", BODY, fontName="DejaVuSans-Bold", fontSize=size, leading=size * 1.3)
    for level, size in enumerate((18, 14, 12, 11), start=1)
]
EDGE = 20 * mm
WIDTH = A4[0] - 2 * EDGE
RULES = TableStyle([("GRID", (0, 0), (-1, -1), 0.6, colors.black), ("VALIGN", (0, 0), (-1, -1), "TOP")])


class Whole(Text):
    """A paragraph that moves to the next page as a whole: no sentence is cut by a page end."""

    def split(self, availWidth: float, availHeight: float) -> list[Flowable]:  # noqa: N803
        return []


class Book(SimpleDocTemplate):
    """A template that bookmarks each heading as it lands on a page."""

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 (reportlab's name)
        if isinstance(flowable, Whole) and flowable.style.name in {style.name for style in HEADINGS}:
            text = flowable.getPlainText()
            key = f"{self.canv.getPageNumber()} {text}"
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(text, key, int(flowable.style.name[1:]) - 1)


def pdf(blocks: Sequence[Block]) -> bytes:
    """A .pdf file on A4. Raises FileNotFoundError, naming the package, where the Cyrillic font is missing."""
    register_fonts()
    title = next(block.text for block in blocks if isinstance(block, Heading))
    target = BytesIO()
    book = Book(
        target,
        pagesize=A4,
        title=title,
        author="RadRAG sample",
        invariant=1,
        leftMargin=EDGE,
        rightMargin=EDGE,
        topMargin=EDGE,
        bottomMargin=EDGE,
    )
    book.build([part for block in blocks for part in flow(block)], footer, footer)
    return target.getvalue()


def register_fonts() -> None:
    for name in {"DejaVuSans", "DejaVuSans-Bold"} - set(pdfmetrics.getRegisteredFontNames()):
        file = FONTS / f"{name}.ttf"
        if not file.exists():
            raise FileNotFoundError(f"{file} is missing: apt-get install fonts-dejavu")
        pdfmetrics.registerFont(TTFont(name, file))


def flow(block: Block) -> list[Flowable]:
    match block:
        case Heading(level, text):
            return [Whole(escape(text), HEADINGS[level - 1])]
        case Paragraph(text):
            return [Whole(escape(text), BODY)]
        case Item(mark, text):
            return [Whole(escape(text), ITEM, mark)]
        case Table(rows):
            return [ruled(rows), Spacer(0, 8)]


def ruled(rows: Sequence[Sequence[str]]) -> Grid:
    """A table with all its rules drawn, whose header row comes again on each page."""
    styles = [HEAD] + [CELL] * (len(rows) - 1)
    body = [[Text(escape(cell), style) for cell in row] for row, style in zip(rows, styles, strict=True)]
    return Grid(body, [WIDTH / len(rows[0])] * len(rows[0]), repeatRows=1, style=RULES)


def footer(canvas: Canvas, book: SimpleDocTemplate) -> None:
    canvas.setFont("DejaVuSans", 8)
    canvas.drawCentredString(A4[0] / 2, 10 * mm, str(canvas.getPageNumber()))
