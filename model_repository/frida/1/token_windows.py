"""Overlapping windows over a text that is too long for one pass, and one state per token out of them."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

# Tokens that neighbouring windows share: no token that is kept lies nearer than half of it to a cut.
OVERLAP = 128


def windows(count: int, room: int, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Half-open windows over `count` tokens: as few as the overlap allows, all of one length, so unpadded.

    Raises ValueError where the windows would not move on.
    """
    if count <= room:
        return [(0, count)]
    if room <= overlap:
        raise ValueError(f"a window of {room} tokens cannot overlap by {overlap}")
    number = -(-(count - overlap) // (room - overlap))
    length = -(-(count + (number - 1) * overlap) // number)
    starts = np.linspace(0, count - length, number).round().astype(int)
    return [(int(start), int(start) + length) for start in starts]


def stitched(plan: Sequence[tuple[int, int]], parts: Sequence[Floats]) -> Floats:
    """One state per token from the windows' states, cut in the middle of each overlap, so that every token
    keeps context on both sides."""
    middles = [(left[1] + right[0]) // 2 for left, right in itertools.pairwise(plan)]
    bounds = [0, *middles, plan[-1][1]]
    kept = [
        part[low - start : high - start]
        for part, (start, _), (low, high) in zip(parts, plan, itertools.pairwise(bounds), strict=True)
    ]
    return np.concatenate(kept)


def visible(text: str, offsets: Ints) -> Ints:
    """Byte-level tokens begin with the blank before the word: give each the range of what can be seen of
    it. An empty range is a token of blanks only. [tokens, 2], half-open code points of `text`."""
    ranges = np.clip(offsets, 0, len(text))
    for index, (start, end) in enumerate(ranges):
        piece = text[start:end]
        ranges[index] = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    return np.maximum(ranges, ranges[:, :1])
