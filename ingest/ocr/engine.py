"""The seam of the engines, and which of them reads a page: the first that is sure enough of what it read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from PIL import Image

from ingest.ocr.page import OcrFailed, PageRead
from ingest.ocr.prepared import Prepared, prepared


class Engine(Protocol):
    """A way to read a page."""

    @property
    def name(self) -> str:
        """How records name it, with its version where it has one."""

    def check(self) -> None:
        """Raises OcrFailed naming what this machine or the settings lack for it."""

    def read(self, page: Prepared) -> PageRead:
        """Reads a page. Raises OcrFailed."""


@dataclass(frozen=True)
class Scan:
    """A page as it was read, with the picture that the places in `read` refer to."""

    read: PageRead
    page: Prepared


@dataclass(frozen=True)
class Chain:
    """Engines in the order they are tried. `turn` tells by how many degrees a page lies on its side."""

    engines: Sequence[Engine]
    least_confidence: float
    turn: Callable[[Image.Image], int]

    def check(self) -> None:
        """Raises OcrFailed when one of the engines cannot work here."""
        for engine in self.engines:
            engine.check()

    def read(self, image: Image.Image, dpi: float) -> Scan:
        """Reads a rendered page. Raises OcrFailed when no engine could; the message names each and why."""
        scan = self._tried(prepared(image, dpi))
        if scan.read.confidence >= self.least_confidence or not (degrees := self.turn(scan.page.whole)):
            return scan
        turned = self._tried(prepared(image, dpi, degrees))
        return turned if turned.read.confidence > scan.read.confidence else scan

    def _tried(self, page: Prepared) -> Scan:
        """The last engine that read the page; those after one that was sure are not asked."""
        found: PageRead | None = None
        notes: list[str] = []
        for engine in self.engines:
            try:
                found = engine.read(page)
            except OcrFailed as failure:
                notes.append(f"{engine.name}: {failure}")
                continue
            except Exception as error:  # noqa: BLE001  # whatever a page does to an engine costs that page
                notes.append(f"{engine.name}: failed ({type(error).__name__})")
                continue
            if found.confidence >= self.least_confidence:
                break
        if found is None:
            raise OcrFailed("; ".join(notes) or "no engine is set")
        return Scan(replace(found, notes=(*notes, *found.notes)), page)
