"""Turns a scanned page straight: the angle at which its rows of ink part best."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

STEEPEST = 4.0  # degrees looked for either way
COARSE, FINE = 0.5, 0.05  # degrees between two tries
TRIED_AT = 800  # pixels of the longer side while looking
LEAST = 0.08  # degrees; less bends no line of a page by half a letter
FEWEST = 0.001  # share of ink below which a page has no rows
FAINTEST = 40  # grey levels between paper and ink
SPECKS = 2e-5  # share of a page's pixels


def straight(image: Image.Image) -> Image.Image:
    """The page turned so that its lines are level, its corners filled with paper; as it was when they are."""
    angle = skew(image)
    if abs(angle) < LEAST:
        return image
    return image.rotate(angle, Image.Resampling.BICUBIC, expand=False, fillcolor=255)


def skew(image: Image.Image) -> float:
    """By how many degrees, anticlockwise, a grey page must be turned; 0 where nothing tells."""
    small = image.copy()
    small.thumbnail((TRIED_AT, TRIED_AT), Image.Resampling.BOX)
    ink = Image.fromarray(255 * dark(np.asarray(small)).astype(np.uint8))
    if np.asarray(ink).mean() < 255 * FEWEST:
        return 0.0
    rough = best(ink, np.arange(-STEEPEST, STEEPEST + COARSE, COARSE))
    fine = best(ink, np.arange(rough - COARSE, rough + COARSE + FINE, FINE))
    return 0.0 if abs(fine) > STEEPEST else fine


def best(ink: Image.Image, angles: NDArray[np.float64]) -> float:
    return float(max(angles, key=lambda angle: (sharpness(ink, float(angle)), -abs(angle))))


def sharpness(ink: Image.Image, angle: float) -> float:
    """How sharply rows of ink and rows of paper part at this angle."""
    rows = np.asarray(ink.rotate(angle, Image.Resampling.BILINEAR), dtype=np.float64).sum(axis=1)
    return float(np.square(np.diff(rows)).sum())


def dark(grey: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Ink: what is darker than half-way between paper and the darkest thousandth."""
    paper, ink = np.percentile(grey, 90), np.percentile(grey, 0.1)
    return grey < (paper + ink) / 2 if paper - ink > FAINTEST else np.zeros(grey.shape, dtype=bool)


def is_blank(image: Image.Image) -> bool:
    """Whether nothing stands on a grey page, not even a full stop."""
    grey = np.asarray(image)
    return bool((grey < np.percentile(grey, 90) - FAINTEST).mean() < SPECKS)
