"""EasyOCR, where it is installed and its weights are there: it never fetches any."""

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ingest.ocr.page import Box, Line, OcrFailed, PageRead, Word, mean_confidence
from ingest.ocr.prepared import Prepared

LANGUAGES = {"rus": "ru", "eng": "en"}  # Tesseract's names, which the settings use, and EasyOCR's
SAME_ROW = 0.5  # of a box's height by which two on one line may differ


@dataclass(frozen=True)
class EasyOcr:
    """`models` is the folder with its weights."""

    models: str
    languages: tuple[str, ...] = ("rus", "eng")
    name: str = "easyocr"

    def check(self) -> None:
        """Raises OcrFailed naming the package or the setting."""
        if find_spec("easyocr") is None:
            raise OcrFailed("easyocr is not installed: pip install 'radrag[ocr-models]'")
        if not self.models or not list(Path(self.models).glob("*.pth")):
            wanted = "must name a folder with EasyOCR's weights (*.pth)"
            raise OcrFailed(f"RADRAG_EASYOCR_MODELS {wanted}, not {self.models!r}")
        if unknown := set(self.languages) - set(LANGUAGES):
            raise OcrFailed(f"RADRAG_OCR_LANGUAGES: EasyOCR is set up for rus and eng, not {min(unknown)}")

    @cached_property
    def _reader(self) -> Any:
        import easyocr  # type: ignore[import-not-found]  # noqa: PLC0415  # only where it is installed

        languages = [LANGUAGES[one] for one in self.languages]
        return easyocr.Reader(
            languages, model_storage_directory=self.models, download_enabled=False, verbose=False
        )

    def read(self, page: Prepared) -> PageRead:
        """Reads a page. Raises OcrFailed."""
        self.check()
        try:
            found = self._reader.readtext(np.asarray(page.bare))
        except Exception as error:  # its own and torch's, of many kinds
            raise OcrFailed(f"easyocr failed ({type(error).__name__})") from error
        lines = tuple(rows_of([word_of(*one) for one in found if str(one[1]).strip()]))
        return PageRead(self.name, mean_confidence(lines), lines)


def word_of(corners: Any, text: str, confidence: float) -> Word:
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    box: Box = (min(across), min(down), max(across), max(down))
    return Word(text.strip(), box, float(confidence))


def rows_of(words: list[Word]) -> list[Line]:
    """Boxes at one height make a line, top to bottom."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.box[1] + word.box[3]):
        height = word.box[3] - word.box[1]
        if rows and abs(middle(word) - middle(rows[-1][0])) < SAME_ROW * height:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [line_of(sorted(row, key=lambda word: word.box[0])) for row in rows]


def middle(word: Word) -> float:
    return (word.box[1] + word.box[3]) / 2


def line_of(row: list[Word]) -> Line:
    return Line(tuple(row), min(word.box[1] for word in row), max(word.box[3] for word in row))
