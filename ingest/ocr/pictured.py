"""How much of a scanned page is picture: ink that no line of text explains."""

import numpy as np
from PIL import Image
from scipy import ndimage

from ingest.ocr.engine import Scan
from ingest.ocr.straighten import dark

GRID = 60  # cells a side
LEAST_INK = 0.03  # of a cell's area; specks have less


def pictured(scan: Scan) -> float:
    """The share of the page's area, 0 to 1."""
    ink = Image.fromarray(255 * dark(np.asarray(scan.page.bare)).astype(np.uint8))
    cells = np.asarray(ink.resize((GRID, GRID), Image.Resampling.BOX)) > 255 * LEAST_INK
    return float((ndimage.binary_closing(cells, np.ones((3, 3))) & ~said(scan)).mean())


def said(scan: Scan) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
    """The cells in which text was read, with those around them."""
    cells = np.zeros((GRID, GRID), dtype=bool)
    width, height = scan.page.whole.size
    for line in scan.read.lines:
        left, top, right, bottom = line.box
        rows = slice(max(int(GRID * top / height) - 1, 0), int(GRID * bottom / height) + 2)
        cells[rows, max(int(GRID * left / width) - 1, 0) : int(GRID * right / width) + 2] = True
    return cells
