"""The pages of one PDF: opened a window at a time for Docling, rendered one at a time for OCR."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from docling.backend.docling_parse_backend import ThreadedDoclingParseDocumentBackend
from docling.backend.pdf_backend import PdfPageBackend
from docling.datamodel.backend_options import ThreadedDoclingParseBackendOptions
from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling.datamodel.settings import DocumentLimits
from PIL import Image

from ingest.ocr.page import OcrFailed

POINTS = 72.0  # in an inch
DPI = 200.0  # of pages for OCR: more made Tesseract read worse
LEAST_SIDE, MOST_DPI = 1200, 600.0  # pixels of a small page's longer side, and how far it is enlarged for it
MOST_PIXELS = 25_000_000


class SubstitutedBackend(ThreadedDoclingParseDocumentBackend):
    """Docling's reader of PDF files, with pages in the place of some of the file's."""

    substitutes: Mapping[int, PdfPageBackend] = {}

    def iter_pages(self) -> Iterator[PdfPageBackend]:  # type: ignore[override]
        for page in super().iter_pages():
            yield self.substitutes.get(page.page_no, page)


@dataclass(frozen=True)
class Pages:
    """A PDF's bytes, the name it has in messages and its number of pages."""

    name: str
    data: bytes
    count: int

    def windows(self, size: int) -> Iterator[tuple[int, int]]:
        """First and last page of each window, from 1: what one window held is given back before the next."""
        for first in range(1, self.count + 1, size):
            yield first, min(first + size - 1, self.count)

    @contextmanager
    def opened(
        self,
        window: tuple[int, int],
        options: ThreadedDoclingParseBackendOptions,
        substitutes: Mapping[int, PdfPageBackend],
    ) -> Iterator[InputDocument]:
        """The file as Docling wants it, cut to a window, closed afterwards."""
        document = InputDocument(
            BytesIO(self.data),
            format=InputFormat.PDF,
            backend=SubstitutedBackend,
            filename=self.name,
            limits=DocumentLimits(page_range=window),
            backend_options=options,
        )
        backend = document._backend
        assert isinstance(backend, SubstitutedBackend)
        backend.substitutes = substitutes
        try:
            yield document
        finally:
            backend.unload()

    def rendered(self, number: int) -> tuple[Image.Image, float]:
        """A page as a grey picture, and its resolution in dpi. Raises OcrFailed when it cannot be drawn."""
        try:
            page = self._drawn[number - 1]
            try:
                dpi = resolution(*page.get_size())
                image: Image.Image = page.render(scale=dpi / POINTS, grayscale=True).to_pil().convert("L")
            finally:
                page.close()
        except (pypdfium2.PdfiumError, ValueError, ZeroDivisionError) as error:
            raise OcrFailed("the page cannot be drawn") from error
        return image, dpi

    @cached_property
    def _drawn(self) -> pypdfium2.PdfDocument:
        """The file opened once for all the pages that are drawn."""
        return pypdfium2.PdfDocument(self.data)

    def close(self) -> None:
        """Gives back what drawing pages took."""
        if drawn := self.__dict__.pop("_drawn", None):
            drawn.close()


def resolution(width: float, height: float) -> float:
    """The dpi to render a page of so many points at: enough for small ones, bounded for huge ones."""
    wished = min(MOST_DPI, max(DPI, LEAST_SIDE * POINTS / max(width, height)))
    return float(min(wished, POINTS * (MOST_PIXELS / (width * height)) ** 0.5))
