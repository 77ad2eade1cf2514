"""What a reader finds in a built sample: its words without markup, and its headings."""

import io
import re
from pathlib import Path

from bs4 import BeautifulSoup
from docx import Document
from pypdf import PdfReader

from samples.text_source import Heading, parse

CHROME = "nav, header, footer, aside, #header, #footer, #sidebar, .skip-link, .cookie-banner, [hidden]"


def words_of(path: Path) -> str:
    """The text of a built file, white space collapsed."""
    readers = {".html": html, ".md": markdown, ".docx": docx, ".pdf": pdf}
    return re.sub(r"\s+", " ", readers[path.suffix](path.read_bytes()))


def headings_of(source: Path) -> list[str]:
    """The headings of a committed text, in order."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".html":
        return [tag.get_text() for tag in BeautifulSoup(text, "lxml").select("h1, main h2, #content h2, h3")]
    return [block.text for block in parse(text) if isinstance(block, Heading)]


def html(data: bytes) -> str:
    soup = BeautifulSoup(data, "lxml")
    for tag in soup.select(CHROME):
        tag.decompose()
    return soup.get_text(" ")


def markdown(data: bytes) -> str:
    return data.decode()


def docx(data: bytes) -> str:
    word = Document(io.BytesIO(data))
    cells = [cell.text for table in word.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in word.paragraphs] + cells)


def pdf(data: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
