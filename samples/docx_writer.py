"""Writes the blocks of a sample as a Word document with real styles; the same blocks give the same bytes."""

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from docx import Document
from docx.document import Document as Word
from docx.oxml import OxmlElement

from samples.text_source import Block, Heading, Item, Paragraph, Table

# Files carry no time of their making, or every set-up would give other bytes.
MADE = datetime(2026, 1, 1)


def docx(blocks: Sequence[Block], language: str) -> bytes:
    """A .docx file; `language` (en, ru) goes into its properties."""
    word = Document()
    describe(word, blocks, language)
    for block in blocks:
        add(word, block)
    target = BytesIO()
    word.save(target)
    return without_times(target.getvalue())


def describe(word: Word, blocks: Sequence[Block], language: str) -> None:
    properties = word.core_properties
    properties.title = next(block.text for block in blocks if isinstance(block, Heading))
    properties.author = properties.last_modified_by = "RadRAG sample"
    properties.language = language
    properties.created = properties.modified = MADE


def add(word: Word, block: Block) -> None:
    match block:
        case Heading(level, text):
            word.add_heading(text, level)
        case Paragraph(text):
            word.add_paragraph(text)
        case Item(mark, text):
            word.add_paragraph(text, "List Bullet" if mark == "•" else "List Number")
        case Table(rows):
            add_table(word, rows)


def add_table(word: Word, rows: Sequence[Sequence[str]]) -> None:
    table = word.add_table(len(rows), len(rows[0]), "Table Grid")
    for line, row in zip(table.rows, rows, strict=True):
        for cell, text in zip(line.cells, row, strict=True):
            cell.text = text
    for cell in table.rows[0].cells:
        cell.paragraphs[0].runs[0].bold = True
    # The mark that makes Word repeat the row on each page, and readers take it for the header.
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def without_times(package: bytes) -> bytes:
    """The same archive with every member dated to the first day a ZIP can hold."""
    target = BytesIO()
    with ZipFile(BytesIO(package)) as old, ZipFile(target, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = ZipInfo(name)
            member.compress_type = ZIP_DEFLATED
            new.writestr(member, old.read(name))
    return target.getvalue()
