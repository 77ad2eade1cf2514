"""Tesseract, as Debian ships it: a program of its own for each page, one thread each."""

import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree  # type: ignore[import-untyped]  # it ships no types
from PIL.Image import Image

from ingest.ocr.cyrillic import PICTURE, WORDS
from ingest.ocr.page import Line, OcrFailed, PageRead, Word, mean_confidence
from ingest.ocr.prepared import Prepared

NUMBERS = re.compile(r"(\w+) ((?:-?[\d.]+ ?)+)")
WORD, LINE = "ocrx_word", ("ocr_line", "ocr_header", "ocr_textfloat", "ocr_caption")


@dataclass(frozen=True)
class Tesseract:
    """`languages` are Tesseract's own names, the document's main one first. `seconds` are for one page."""

    languages: tuple[str, ...] = ("rus", "eng")
    seconds: float = 120.0
    program: str = "tesseract"

    @cached_property
    def name(self) -> str:
        said = self._ran("--version").decode(errors="replace").split()
        return f"tesseract-{said[1]}" if len(said) > 1 else "tesseract"

    def check(self) -> None:
        """Raises OcrFailed naming what is missing here."""
        if shutil.which(self.program) is None:
            raise OcrFailed("tesseract is not installed: apt-get install tesseract-ocr tesseract-ocr-rus")
        missing = set(self.languages) - set(self._ran("--list-langs").decode(errors="replace").split("\n"))
        if missing:
            packages = " ".join(f"tesseract-ocr-{one}" for one in sorted(missing))
            raise OcrFailed(f"tesseract lacks {', '.join(sorted(missing))}: apt-get install {packages}")
        if "rus" in self.languages and not self._reads_cyrillic:
            raise OcrFailed("tesseract misreads Cyrillic: apt-get install --reinstall tesseract-ocr-rus")

    @cached_property
    def _reads_cyrillic(self) -> bool:
        """Tried once: a language that is only named so would give look-alike letters, page after page."""
        said = self._ran("stdin", "stdout", "-l", "+".join(self.languages), "--dpi", "200", given=PICTURE)
        return " ".join(said.decode(errors="replace").split()) == WORDS

    def read(self, page: Prepared) -> PageRead:
        """Reads a page. Raises OcrFailed."""
        options = ("-l", "+".join(self.languages), "--dpi", str(round(page.dpi)))
        hocr = self._ran("stdin", "stdout", *options, "hocr", given=png(page.bare))
        lines = tuple(lines_in(hocr))
        return PageRead(self.name, mean_confidence(lines), lines)

    def turn(self, image: Image) -> int:
        """By how many degrees, clockwise, the page must be turned to stand upright; 0 when unsure."""
        try:
            said = self._ran("stdin", "stdout", "--psm", "0", "-l", "osd", given=png(image))
        except OcrFailed:  # too few letters to tell
            return 0
        found = dict(re.findall(r"^(.+): ([\d.]+)$", said.decode(errors="replace"), re.M))
        return int(found.get("Rotate", 0)) if float(found.get("Orientation confidence", 0)) > 1 else 0

    def _ran(self, *words: str, given: bytes = b"") -> bytes:
        limits = os.environ | {"OMP_THREAD_LIMIT": "1"}  # its threads get in each other's way: 2 to 4 times
        try:
            done = subprocess.run(  # noqa: S603  # its words are ours
                [self.program, *words],
                input=given,
                capture_output=True,
                timeout=self.seconds,
                env=limits,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise OcrFailed(f"tesseract took longer than {self.seconds:g} s") from error
        except OSError as error:
            raise OcrFailed(f"tesseract cannot be run: {error.strerror}") from error
        if done.returncode:
            raise OcrFailed(f"tesseract ended with status {done.returncode}")
        return done.stdout


def png(image: Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def lines_in(hocr: bytes) -> Iterator[Line]:
    """The lines of an hOCR page that have words. Raises OcrFailed when it is none."""
    try:
        page = etree.fromstring(hocr, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise OcrFailed("tesseract's reply is no hOCR") from error
    if page is None:  # what lxml makes of text without a single tag
        raise OcrFailed("tesseract's reply is no hOCR")
    for node in page.iter("{*}span"):
        if node.get("class") in LINE:
            words = tuple(words_in(node))
            if words:
                yield Line(words, *type_of(said_in(node)))


def words_in(line: etree._Element) -> Iterator[Word]:
    for node in line.iter("{*}span"):
        text = "".join(node.itertext()).strip()
        if node.get("class") == WORD and text:
            said = said_in(node)
            left, top, right, bottom = said["bbox"]
            yield Word(text, (left, top, right, bottom), said["x_wconf"][0] / 100)


def said_in(node: etree._Element) -> dict[str, list[float]]:
    return {
        key: [float(n) for n in numbers.split()] for key, numbers in NUMBERS.findall(node.get("title", ""))
    }


def type_of(said: dict[str, list[float]]) -> tuple[float, float]:
    """Top and bottom of a line's type: ink alone would make a line without tall letters look small."""
    left, top, right, bottom = said["bbox"]
    size, below = said.get("x_size", [bottom - top])[0], said.get("x_descenders", [0.0])[0]
    slope, offset = said.get("baseline", [0.0, 0.0])
    base = bottom + offset + slope * (right - left) / 2
    return base + below - size, base + below
