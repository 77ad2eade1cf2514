"""Converts one file with Docling: PDF page by page, by its own text or by OCR; DOCX by its own reader."""

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Literal

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from docling.backend.msword_backend import MsWordDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling.pipeline.simple_pipeline import SimplePipeline
from docling_core.types.doc.document import DoclingDocument

from ingest.docling.headings import levels_of
from ingest.docling.markdown import Piece, pieces_of
from ingest.docling.mending import Mended, mended
from ingest.docling.models import ModelsMissing
from ingest.docling.package import prepared_package
from ingest.docling.pages import Pages
from ingest.docling.pipeline import PdfPipeline, pdf_pipeline, rendering
from ingest.docling.scanner import BLANK, Scanner
from ingest.docling.survey import survey_of
from ingest.document import PageRecord
from ingest.ocr.engines import chain_of
from ingest.ocr.page import OcrFailed
from ingest.reading import DEFAULT, Reading

MOST_PAGES = 5000
MOST_MIXED = 2  # words of two alphabets that nothing explains
Format = Literal["pdf", "docx"]


class Unreadable(Exception):
    """A file that cannot be converted: which of its properties is at fault, and why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


@dataclass(frozen=True)
class Converted:
    """A file's blocks in order, the stages that found them, and how each page was read.

    `pictures` is the share of the pages' area that pictures cover, 0 to 1. `flags` are a reviewer's to see.
    """

    pieces: list[Piece]
    engine: str
    records: list[PageRecord] = field(default_factory=list)
    pictures: float = 0.0
    flags: list[str] = field(default_factory=list)


def convert(
    name: str,
    kind: Format,
    data: bytes,
    reading: Reading = DEFAULT,
    done: Callable[[], None] = lambda: None,
) -> Converted:
    """Reads one file; `done` is told of each step of a long one.

    Raises Unreadable; what Docling itself raises is a fault of the file, too.
    """
    if kind == "docx":
        return Converted(pieces_of([docx_document(name, data)]), "docling-docx")
    pages = Pages(name, data, pages_in(data))
    try:
        return pdf_converted(pages, reading, done)
    finally:
        pages.close()


def pdf_converted(pages: Pages, reading: Reading, done: Callable[[], None]) -> Converted:
    """Surveys the file, then reads it window by window. Raises Unreadable."""
    try:
        scanner, pipeline = Scanner(pages, chain_of(reading), done), pdf_pipeline(reading)
        pipeline.begin(survey_of(pages, reading.window, scanner.judge))
    except OcrFailed as failure:
        raise Unreadable("ocr", str(failure)) from failure
    except ModelsMissing as missing:
        raise Unreadable("models", str(missing)) from missing
    documents = documents_of(scanner, pipeline, reading)
    found = mended(pieces_of(documents, levels_of(pipeline.headings), scanner.markdown), scanner.records)
    return Converted(
        found.pieces,
        pipeline.engine,
        found.records,
        sum(scanner.pictures) / len(scanner.pictures) if scanner.pictures else 0.0,
        flags_of(found, reading),
    )


def pages_in(data: bytes) -> int:
    """How many pages a PDF has. Raises Unreadable when it cannot be opened or has too many."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("content", "the PDF is encrypted; one without a password is needed") from error
        raise Unreadable("content", "the PDF is damaged") from error
    pages = len(document)
    document.close()
    if not 0 < pages <= MOST_PAGES:
        raise Unreadable("pages", f"the PDF has {pages:,} pages; 1 to {MOST_PAGES:,} are allowed")
    return pages


def documents_of(scanner: Scanner, pipeline: PdfPipeline, reading: Reading) -> list[DoclingDocument]:
    """One document a window. Raises Unreadable when no page that needs OCR could be read."""
    asked = [one.page for one in scanner.records if one.reasons and one.reasons != (BLANK,)]
    if scanner.failures and len(scanner.failures) == len(asked):
        number = min(asked)
        raise Unreadable("ocr", f"page {number} needs OCR, and {scanner.failures[0]}")
    documents = []
    for window in scanner.pages.windows(reading.window):
        with scanner.pages.opened(window, rendering(reading), scanner.scans) as source:
            result = pipeline.execute(source, raises_on_error=True)
        if result.errors:
            raise Unreadable("content", f"{len(result.errors)} of its pages could not be read")
        documents.append(result.document)
        scanner.done()
    return documents


def flags_of(found: Mended, reading: Reading) -> list[str]:
    """What a reviewer should look at."""
    unsure = any(
        one.confidence is not None and one.confidence < reading.least_confidence for one in found.records
    )
    reasons = {reason for one in found.records for reason in one.reasons}
    flags = {
        "low_ocr_confidence": unsure,
        "ocr_failed": "ocr_failed" in reasons,
        "doubtful_text": "doubtful_text" in reasons,
        "mixed_alphabets": found.mixed > MOST_MIXED,
    }
    return [name for name, raised in flags.items() if raised]


def docx_document(name: str, data: bytes) -> DoclingDocument:
    source = InputDocument(
        BytesIO(prepared_package(data)), format=InputFormat.DOCX, backend=MsWordDocumentBackend, filename=name
    )
    options = SimplePipeline.get_default_options()
    return SimplePipeline(options).execute(source, raises_on_error=True).document
