"""Words of a page with their places, and how they read in order."""

from collections.abc import Iterable
from dataclasses import dataclass

from docling_core.types.doc.base import BoundingBox


@dataclass(frozen=True)
class Word:
    """A word in its box, points from the top left."""

    box: BoundingBox
    text: str
    font: str

    @property
    def middle(self) -> float:
        return (self.box.t + self.box.b) / 2

    @property
    def across(self) -> float:
        return (self.box.l + self.box.r) / 2


def word_rows(words: Iterable[Word]) -> list[list[Word]]:
    """Words in rows, top to bottom, each row from the left."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.middle):
        if rows and word.middle - rows[-1][0].middle < 0.55 * (word.box.b - word.box.t):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.box.l) for row in rows]


def text_of(words: Iterable[Word]) -> str:
    """The words as one line of text."""
    return " ".join(word.text.strip() for row in word_rows(words) for word in row)
