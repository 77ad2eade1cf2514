"""Decides page by page whether the file's own text will do, has the others read, and records it all."""

from collections.abc import Callable
from dataclasses import dataclass, field

from PIL import Image

from ingest.docling.pages import Pages
from ingest.docling.scans import ScannedPage
from ingest.document import PageRecord
from ingest.ocr.engine import Chain, Scan
from ingest.ocr.page import OcrFailed, PageRead
from ingest.ocr.pictured import pictured
from ingest.ocr.prepared import Prepared
from ingest.ocr.straighten import is_blank
from ingest.textlayer import LEAST_LIKENESS, TextLayer

OWN_TEXT, NOTHING = "text", "none"
BLANK = "blank"  # of a page that needs no OCR: nothing stands on it
CLEARLY_BETTER = 0.1  # of quality: by how much OCR must exceed the file's own text to replace it


@dataclass
class Scanner:
    """What became of each page. `done` is told of every page that OCR went through."""

    pages: Pages
    chain: Chain
    done: Callable[[], None]
    scans: dict[int, ScannedPage] = field(default_factory=dict)
    records: list[PageRecord] = field(default_factory=list)
    markdown: dict[int, str] = field(default_factory=dict)  # of pages whose engine knows no places
    pictures: list[float] = field(default_factory=list)  # share of each page's area
    failures: list[str] = field(default_factory=list)
    checked: bool = False

    def judge(self, number: int, layer: TextLayer) -> ScannedPage | None:
        """What stands in the place of a page; None when its own text does.

        Raises OcrFailed when an engine that is set cannot work here.
        """
        if not layer.reasons:
            self._record(number, OWN_TEXT, None, (), layer.picture)
            return None
        try:
            image, dpi = self.pages.rendered(number)
        except OcrFailed as failure:
            return self._failed(number, layer, failure, Image.new("L", (8, 8), 255), 1.0)
        if is_blank(image):
            self._record(number, OWN_TEXT, None, (BLANK,), 0.0)
            return None
        self._check()
        try:
            return self._compared(number, layer, self.chain.read(image, dpi))
        except OcrFailed as failure:
            return self._failed(number, layer, failure, image, dpi)
        finally:
            self.done()

    def _failed(
        self, number: int, layer: TextLayer, failure: OcrFailed, image: Image.Image, dpi: float
    ) -> ScannedPage:
        """An empty page in the place of one that could not be read."""
        self.failures.append(str(failure))
        self._record(number, NOTHING, 0.0, (*layer.reasons, "ocr_failed", str(failure)), layer.picture)
        return self._kept(ScannedPage(number, Scan(PageRead(NOTHING, 0.0), Prepared(image, image, (), dpi))))

    def _check(self) -> None:
        """Before the first page: an engine that cannot work here is no fault of the page."""
        if not self.checked:
            self.chain.check()
            self.checked = True

    def _compared(self, number: int, layer: TextLayer, scan: Scan) -> ScannedPage | None:
        """The page as OCR read it, unless the file's own text is as good as that."""
        read = scan.read
        reasons = (*layer.reasons, *read.notes)
        if is_as_good(layer, TextLayer(read.text)):
            verdict = "ocr_no_better" if layer.quality >= LEAST_LIKENESS else "doubtful_text"
            self._record(number, OWN_TEXT, None, (*reasons, verdict), layer.picture)
            return None
        page = ScannedPage(number, scan)
        if read.markdown:
            self.markdown[number] = read.markdown
        said = reasons if read.text.strip() else (*reasons, "no_text_read")
        self._record(number, read.engine, round(read.confidence, 3), said, picture_share(layer, read, page))
        return self._kept(page)

    def _kept(self, page: ScannedPage) -> ScannedPage:
        self.scans[page.page_no] = page
        return page

    def _record(
        self, number: int, engine: str, confidence: float | None, reasons: tuple[str, ...], picture: float
    ) -> None:
        self.records.append(PageRecord(number, engine, confidence, reasons))
        self.pictures.append(picture)


def is_as_good(layer: TextLayer, read: TextLayer) -> bool:
    """Whether the file's own text has as many letters as OCR found, and they are as likely."""
    if layer.letters < max(read.letters, 1) / 2:
        return False
    return read.quality < layer.quality + CLEARLY_BETTER


def picture_share(layer: TextLayer, read: PageRead, page: ScannedPage) -> float:
    """Of a scan, where there is ink that no line of text explains."""
    if read.markdown or not layer.picture:
        return 0.0
    return pictured(page.scan)
