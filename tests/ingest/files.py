"""Real files for tests, made on the spot: PDF by reportlab, DOCX by python-docx, and ways to spoil them."""

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import docx
import pypdf
from PIL import Image
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, ListFlowable, Paragraph, SimpleDocTemplate, Spacer, Table

FONTS = Path("/usr/share/fonts/truetype/dejavu")
pdfmetrics.registerFont(TTFont("DejaVu", FONTS / "DejaVuSans.ttf"))
pdfmetrics.registerFont(TTFont("DejaVuBold", FONTS / "DejaVuSans-Bold.ttf"))
BODY = ParagraphStyle("body", fontName="DejaVu", fontSize=10, leading=13, spaceAfter=6)
HEADING = ParagraphStyle(
    "heading", parent=BODY, fontName="DejaVuBold", fontSize=15, leading=19, spaceBefore=12
)
SUBHEADING = ParagraphStyle("h2", HEADING, fontSize=12, leading=15)


def with_part(package: bytes, name: str, old: bytes, new: bytes) -> bytes:
    """A ZIP with something else in one of its parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as read, zipfile.ZipFile(out, "w") as written:
        for entry in read.infolist():
            part = read.read(entry)
            assert entry.filename != name or old in part
            written.writestr(entry, part.replace(old, new, 1) if entry.filename == name else part)
    return out.getvalue()


def pdf(story: Sequence[Flowable], running_head: str = "") -> bytes:
    out = io.BytesIO()

    def furniture(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.setFont("DejaVu", 8)
        canvas.drawString(72, A4[1] - 40, running_head)
        canvas.drawCentredString(A4[0] / 2, 30, str(document.page))

    template = SimpleDocTemplate(out, pagesize=A4, topMargin=80, bottomMargin=80)
    template.build(list(story), onFirstPage=furniture, onLaterPages=furniture)
    return out.getvalue()


def heading(text: str) -> Flowable:
    return Paragraph(text, HEADING)


def subheading(text: str) -> Flowable:
    return Paragraph(text, SUBHEADING)


def body(text: str) -> Flowable:
    return Paragraph(text, BODY)


def bullets(*texts: str) -> Flowable:
    items: list[Flowable] = [Paragraph(text, BODY) for text in texts]
    return ListFlowable(items, bulletType="bullet", start="•")


def ruled(rows: list[list[str]], spans: Sequence[tuple[tuple[int, int], tuple[int, int]]] = ()) -> Flowable:
    style = [("GRID", (0, 0), (-1, -1), 0.7, colors.black), ("FONT", (0, 0), (-1, -1), "DejaVu", 9)]
    return Table(rows, repeatRows=1, style=[*style, *(("SPAN", *span) for span in spans)])


def open_table(rows: list[list[str]]) -> Flowable:
    """Horizontal rules only: above, below the head, at the end."""
    lines = [
        ("LINEABOVE", (0, 0), (-1, 1), 0.7, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 0.7, colors.black),
    ]
    style = [*lines, ("FONT", (0, 0), (-1, -1), "DejaVu", 9)]
    return Table(rows, colWidths=[150, 150], repeatRows=1, style=style)


def space() -> Flowable:
    return Spacer(1, 12)


def encrypted(data: bytes) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def merged_pdf(parts: Sequence[bytes]) -> bytes:
    writer = pypdf.PdfWriter()
    for part in parts:
        writer.append(io.BytesIO(part))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def with_broken_map(data: bytes) -> bytes:
    """The same page to the eye; its fonts tell Latin letters and signs, as those of real orders do."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    for page in writer.pages:
        resources = cast(pypdf.generic.DictionaryObject, page["/Resources"].get_object())
        for font in cast(pypdf.generic.DictionaryObject, resources["/Font"].get_object()).values():
            if (cmap := font.get_object().get("/ToUnicode")) is not None:
                stream = cmap.get_object()
                stream.set_data(re.sub(rb"<(0[0-9A-Fa-f]{3})>(?=\s)", moved_on, stream.get_data()))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def moved_on(found: "re.Match[bytes]") -> bytes:
    code = int(found.group(1), 16)
    return b"<%04X>" % (0x5A + code - 0x430 if 0x430 <= code < 0x450 else code)


def blank_scan() -> bytes:
    """A page that is one picture."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawInlineImage(picture(), 0, 0, *A4)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def picture() -> Image.Image:
    return Image.new("L", (200, 280), 200)


def word_file() -> bytes:
    document = docx.Document()
    document.add_heading("Протокол КТ", 0)
    document.add_heading("Подготовка", 1)
    document.add_paragraph("Пациент не ест 4 часа до исследования.")
    document.add_paragraph("Натощак", style="List Bullet")
    document.add_paragraph("Без украшений", style="List Bullet")
    document.add_paragraph("Кольца снять", style="List Bullet 2")
    document.add_heading("Дозы", 1)
    add_table(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def add_table(document: "docx.document.Document") -> None:
    table = document.add_table(rows=3, cols=2)
    texts = [["Область", "CTDIvol, мГр"], ["Голова", "60"], ["Живот", "15"]]
    for row, cells in zip(table.rows, texts, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text


def archive(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)
    return out.getvalue()
