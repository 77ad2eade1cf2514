"""Converts one file with Docling, without torch: PDF through stages on rules, DOCX through its own reader."""

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Literal

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
from docling.backend.msword_backend import MsWordDocumentBackend
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling.pipeline.simple_pipeline import SimplePipeline
from docling_core.types.doc.document import DoclingDocument

from ingest.docling.headings import levels_of
from ingest.docling.layout import RuleLayoutModel
from ingest.docling.markdown import Piece, pieces_of
from ingest.docling.pipeline import BACKEND, RulePdfPipeline, pdf_options

MOST_PAGES = 5000
Format = Literal["pdf", "docx"]


class Unreadable(Exception):
    """A file that cannot be converted: which of its properties is at fault, and why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


@dataclass(frozen=True)
class Converted:
    """A file's blocks in order, and the stages that found them."""

    pieces: list[Piece]
    engine: str


def convert(name: str, kind: Format, data: bytes) -> Converted:
    """Reads one file. Raises Unreadable; what Docling itself raises is a fault of the file, too."""
    if kind == "docx":
        return Converted(pieces_of(docx_document(name, data)), "docling-docx")
    check_pdf(data)
    document, rules = pdf_document(name, data)
    if rules.scans:
        what = f"page {min(rules.scans)} is a scan ({len(rules.scans)} in all)"
        raise Unreadable("content", f"{what}; every page must have text")
    return Converted(pieces_of(document, levels_of(rules.headings)), "docling-rules")


def check_pdf(data: bytes) -> None:
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


def pdf_document(name: str, data: bytes) -> tuple[DoclingDocument, RuleLayoutModel]:
    """The document, and the layout stage with what it noted about it."""
    source = InputDocument(
        BytesIO(data),
        format=InputFormat.PDF,
        backend=ThreadedDoclingParseDocumentBackend,
        filename=name,
        backend_options=BACKEND,
    )
    pipeline = pdf_pipeline()
    result = pipeline.execute(source, raises_on_error=True)
    if result.errors:
        raise Unreadable("content", f"{len(result.errors)} of its pages could not be read")
    return result.document, pipeline.rules


@cache
def pdf_pipeline() -> RulePdfPipeline:
    """Made once: setting up the stages takes a second."""
    return RulePdfPipeline(pdf_options())


def docx_document(name: str, data: bytes) -> DoclingDocument:
    source = InputDocument(
        BytesIO(data), format=InputFormat.DOCX, backend=MsWordDocumentBackend, filename=name
    )
    options = SimplePipeline.get_default_options()
    return SimplePipeline(options).execute(source, raises_on_error=True).document
