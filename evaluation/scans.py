"""Makes pages as a scanner does: set in type, turned, blurred, noisy, speckled, packed as JPEG in a PDF."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image, ImageDraw, ImageFilter, ImageFont

DPI = 200
SIZE = (int(8.27 * DPI), int(11.69 * DPI))  # A4
LEFT, RIGHT, TOP = int(1.1 * DPI), int(7.27 * DPI), DPI
FONTS = Path("/usr/share/fonts/truetype/dejavu")
FACES = ("DejaVuSerif", "DejaVuSans")
INK, PAPER = 20, 255
NOISE = 14.0  # standard deviation in grey levels of 256
SPECKS = 0.0006  # share of the pixels
BLUR = 0.7  # pixels
CONTRAST, HAZE = 0.93, 12.0
QUALITY = 75  # of the JPEG


@dataclass(frozen=True)
class Page:
    """A page to set: its language ("ru", "en"), title and blocks as `scans.yaml` has them."""

    language: str
    title: str
    blocks: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class ScannedPage:
    """A spoilt page, and what stands on it, block by block in reading order."""

    image: Image.Image
    language: str
    text: tuple[str, ...]


def load(path: Path) -> list[Page]:
    """The pages of a file like `scans.yaml`."""
    return [Page(**one) for one in yaml.safe_load(path.read_text(encoding="utf-8"))]


def scanned(pages: Sequence[Page], skew: float, seed: int) -> list[ScannedPage]:
    """The pages spoilt, turned by `skew` degrees left and right by turns, in two typefaces by turns."""
    random = np.random.default_rng(seed)
    found = []
    for number, page in enumerate(pages):
        sheet = Sheet(FACES[number // 2 % 2])
        image, text = sheet.set(page)
        found.append(ScannedPage(spoilt(image, skew * (-1) ** number, random), page.language, text))
    return found


def pdf(pages: Sequence[ScannedPage]) -> bytes:
    """A PDF whose pages are nothing but these pictures."""
    out = io.BytesIO()
    first, *rest = (page.image.convert("RGB") for page in pages)
    first.save(out, "PDF", save_all=True, append_images=rest, resolution=DPI, quality=QUALITY)
    return out.getvalue()


def spoilt(image: Image.Image, skew: float, random: np.random.Generator) -> Image.Image:
    """What printing, scanning and packing do to a page."""
    turned = image.rotate(skew, Image.Resampling.BICUBIC, fillcolor=PAPER)
    grey = np.asarray(turned.filter(ImageFilter.GaussianBlur(BLUR)), dtype=np.float64)
    grey = (grey + random.normal(0, NOISE, grey.shape)) * CONTRAST + HAZE
    grey[random.random(grey.shape) < SPECKS] = 60
    return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))


class Sheet:
    """A page being set in one typeface, from the top."""

    def __init__(self, face: str) -> None:
        self._face = face
        self._image = Image.new("L", SIZE, PAPER)
        self._pen = ImageDraw.Draw(self._image)
        self._y = TOP
        self._text: list[str] = []

    def set(self, page: Page) -> tuple[Image.Image, tuple[str, ...]]:
        """The picture and the text of a page. A block of `scans.yaml` has one key, which is its kind."""
        self.heading(page.title, 17)
        for block in page.blocks:
            ((kind, value),) = block.items()
            getattr(self, kind)(value)
        return self._image, tuple(self._text)

    def heading(self, text: str, points: float = 13) -> None:
        self._paragraph(text, self._font(points, bold=True))

    def text(self, text: str) -> None:
        self._paragraph(text, self._font(10.5))

    def caption(self, text: str) -> None:
        self._paragraph(text, self._font(9.5))

    def items(self, items: Sequence[str]) -> None:
        for item in items:
            self._pen.text((LEFT, self._y), "•", font=self._font(10.5), fill=INK)
            self._paragraph(item, self._font(10.5), indent=int(0.2 * DPI), after=4)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A ruled grid, the first row bold."""
        width, height = (RIGHT - LEFT) // len(rows[0]), int(0.3 * DPI)
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                x, y = LEFT + column * width, self._y + row * height
                self._pen.rectangle((x, y, x + width, y + height), outline=0, width=2)
                self._pen.text((x + 14, y + 14), cell, font=self._font(10, bold=row == 0), fill=INK)
            self._text.append(" ".join(cells))
        self._y += height * len(rows) + int(0.15 * DPI)

    def _font(self, points: float, bold: bool = False) -> ImageFont.FreeTypeFont:
        path = FONTS / f"{self._face}{'-Bold' if bold else ''}.ttf"
        return ImageFont.truetype(str(path), int(points * DPI / 72))

    def _paragraph(self, text: str, font: ImageFont.FreeTypeFont, indent: int = 0, after: int = 14) -> None:
        for line in self._broken(text, font, RIGHT - LEFT - indent):
            self._pen.text((LEFT + indent, self._y), line, font=font, fill=INK)
            self._y += int(font.size * 1.3)
        self._y += after
        self._text.append(text)

    def _broken(self, text: str, font: ImageFont.FreeTypeFont, width: int) -> Iterator[str]:
        """The lines of a paragraph that is so many pixels wide."""
        line = ""
        for word in text.split():
            if line and self._pen.textlength(f"{line} {word}", font=font) > width:
                yield line
                line = word
            else:
                line = f"{line} {word}".strip()
        yield line
