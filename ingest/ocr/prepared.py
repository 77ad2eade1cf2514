"""A rendered page made ready for an engine: grey, straight, and once more without its ruled lines."""

from dataclasses import dataclass

from PIL import Image

from ingest.ocr.page import Box
from ingest.ocr.ruling import without_rules
from ingest.ocr.straighten import straight


@dataclass(frozen=True)
class Prepared:
    """`whole` is the straight page, `bare` the same without ruled lines, which were at `rules`, in pixels."""

    whole: Image.Image
    bare: Image.Image
    rules: tuple[Box, ...]
    dpi: float


def prepared(image: Image.Image, dpi: float, turn: int = 0) -> Prepared:
    """The page, turned clockwise by `turn` degrees (0, 90, 180, 270) before it is straightened."""
    grey = image.convert("L")
    whole = straight(grey.rotate(-turn, expand=True) if turn else grey)
    ruled = without_rules(whole, dpi)
    return Prepared(whole, ruled.image, ruled.rules, dpi)
