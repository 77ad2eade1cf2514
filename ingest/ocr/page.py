"""What an engine reads on one page: words in lines with their places, or Markdown."""

from dataclasses import dataclass
from functools import cached_property

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels from the top left."""


class OcrFailed(Exception):
    """An engine could not read a page; the message says why and never quotes the page."""


@dataclass(frozen=True)
class Word:
    """A word in its box; `confidence` is 0 to 1."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True)
class Line:
    """Words side by side, from the left. `top` and `bottom` are its type's in pixels, not its ink's."""

    words: tuple[Word, ...]
    top: float
    bottom: float

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Box:
        return min(w.box[0] for w in self.words), self.top, max(w.box[2] for w in self.words), self.bottom


@dataclass(frozen=True)
class PageRead:
    """A page as one engine read it: lines with their places, or Markdown from an engine that knows no places.

    `confidence` is 0 to 1. `notes` say what happened on the way, as which engine failed before.
    """

    engine: str
    confidence: float
    lines: tuple[Line, ...] = ()
    markdown: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        return self.markdown or "\n".join(line.text for line in self.lines)


def mean_confidence(lines: tuple[Line, ...]) -> float:
    """The words' confidence, weighed by their letters; 0 when nothing was read."""
    words = [word for line in lines for word in line.words]
    letters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0
