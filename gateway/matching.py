"""Finds a quote in a source: word for word, or as a reader takes it: spaces, dashes, look-alikes, emphasis.

A quote that cuts a number or a word, or begins right behind a negation, is not found: it says something else.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from gateway.lookalikes import LATIN

_DASHES = "‐‑‒–—―−"
_QUOTES = "«»“”„‟\"'’‘`"
_SIGNS = str.maketrans({**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_QUOTES, '"'), **LATIN, "\u03bc": "µ"})
_BRACKETS = str.maketrans("[]‹", "()<")
# Invisible, or emphasis of Markdown: nothing a reader would miss.
_SKIPPED = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff*\\")
_NEGATION_BEFORE = re.compile(r"(?<!\w)(?:не|ни|без|нет|not?|never|without|cannot)[\s*_]+$", re.IGNORECASE)
_LOOK_BACK = 12


class SourceText:
    """A source's text, made ready to be searched for quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where the quote stands: a half-open range of the text, None when it does not."""
        quote = unicodedata.normalize("NFC", quote).strip()
        return self._exactly(quote) or self._loosely(quote) if quote else None

    def _exactly(self, quote: str) -> tuple[int, int] | None:
        return self._first(self.text, quote, range(len(self.text) + 1))

    def _loosely(self, quote: str) -> tuple[int, int] | None:
        folded, places = self._folded
        wanted = _fold(quote)[0]
        for one in (wanted, wanted[:1].swapcase() + wanted[1:]) if wanted else ():
            found = self._first(folded, one, places)
            if found:
                return found
        return None

    def _first(self, text: str, quote: str, places: Sequence[int]) -> tuple[int, int] | None:
        at = text.find(quote)
        while at >= 0:
            end = at + len(quote)
            if _whole(text, at, end) and not self._is_denied(places[at]):
                return places[at], places[end - 1] + 1
            at = text.find(quote, at + 1)
        return None

    def _is_denied(self, start: int) -> bool:
        return _NEGATION_BEFORE.search(self.text[max(0, start - _LOOK_BACK) : start]) is not None

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return _fold(self.text)


def _fold(text: str) -> tuple[str, list[int]]:
    """The text as a reader takes it, and for each of its characters the place it comes from."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        if sign in _SKIPPED:
            continue
        if sign.isspace() and (not signs or signs[-1] == " "):
            continue
        signs.append(" " if sign.isspace() else sign.translate(_SIGNS).translate(_BRACKETS))
        places.append(place)
    while signs and signs[-1] == " ":
        signs.pop(), places.pop()
    return "".join(signs), places


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joined = _joined(before[-1:], text[start]) or _joined(text[end - 1], after[:1])
    return not (joined or _decimal(before, text[start]) or _decimal(text[end - 1], after))


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


def _decimal(left: str, right: str) -> bool:
    """Whether the two sides of a cut are one decimal number: `0,|5` or `0|,5`."""
    both = left + right
    return len(both) == 3 and both[0].isdigit() and both[1] in ".," and both[2].isdigit()
