"""Finds the ruled lines on a scanned page and paints them over: engines lose what they enclose."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from ingest.ocr.page import Box
from ingest.ocr.straighten import dark

LONGEST_STROKE_ACROSS, LONGEST_STROKE_DOWN = 0.5, 0.3  # inches; longer is a line, not part of a letter
THICKEST = 0.06  # inches
PAPER = 255


@dataclass(frozen=True)
class Ruled:
    """A page without its ruled lines, and where these were, in pixels."""

    image: Image.Image
    rules: tuple[Box, ...]


def without_rules(image: Image.Image, dpi: float) -> Ruled:
    """The grey page with its lines painted white."""
    grey = np.array(image)
    ink = ndimage.maximum_filter(dark(grey), 3)  # bridges the gaps that noise tears
    across = runs(ink, int(LONGEST_STROKE_ACROSS * dpi), axis=1)
    down = runs(ink, int(LONGEST_STROKE_DOWN * dpi), axis=0)
    thickest = int(THICKEST * dpi) + 2
    lines, boxes = np.zeros(grey.shape, dtype=bool), []
    for mask, axis in ((across, 0), (down, 1)):
        labels, _ = ndimage.label(mask, np.ones((3, 3)))
        for number, place in enumerate(ndimage.find_objects(labels), 1):
            if place[axis].stop - place[axis].start <= thickest:
                lines[place] |= labels[place] == number
                boxes.append(box_of(place))
    grey[ndimage.maximum_filter(lines, 3)] = PAPER
    return Ruled(Image.fromarray(grey), tuple(boxes))


def runs(ink: NDArray[np.bool_], length: int, axis: int) -> NDArray[np.bool_]:
    """Ink in unbroken runs of at least so many pixels."""
    shorter = ndimage.minimum_filter1d(ink, length, axis=axis)
    found: NDArray[np.bool_] = ndimage.maximum_filter1d(shorter, length, axis=axis)
    return found


def box_of(place: tuple[slice, slice]) -> Box:
    rows, columns = place
    return float(columns.start), float(rows.start), float(columns.stop), float(rows.stop)
