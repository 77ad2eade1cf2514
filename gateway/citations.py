"""Finds markers and quotes in a sentence of an answer. Pure; offsets are code points of the sentence."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

# [1] [1, 2] [1-3] 【1】 [source 2] [источник 2]; all of them leave the gateway as [1][2], or not at all.
# A name ends before the number: what two parts of a pattern can both take, they try to share in every way.
_NAME = r"(?:(?:sources?|источник[^\W\d]*+|ист\.|№|#)\s*+)?+"
_NUMBERS = re.compile(
    rf"[\[［【]\s*+{_NAME}(\d++(?:\s*+(?:[-–—,;]|and|и)\s*+{_NAME}\d++)*+)\s*+[\]］】]",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+)(?:\s*[-–—]\s*(\d+))?")
_WIDEST_RANGE = 100
_CLOSERS = {"«": "»", "“": "”", "„": "“”", '"': '"'}
_QUOTE_MARK = re.compile('[«»“”„"]')
Open: TypeAlias = tuple[str, int]
"""The mark that opened a quote, and how deep quotes of its kind are nested there."""
CLOSED: Open = ("", 0)
_LONGEST_TERM = 2


@dataclass(frozen=True)
class Marker:
    """A marker [start, end) and the source numbers it names; 0 stands for one that cannot be."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Quote:
    """Quoted text: [start, end) with its marks, `text` without."""

    start: int
    end: int
    text: str


def quotes(sentence: str) -> list[Quote]:
    """The outermost quotes, in order; one that is never closed is none."""
    ends, found, behind = _ends(sentence), list[Quote](), 0
    for mark in _QUOTE_MARK.finditer(sentence):
        at = mark.start()
        end = sentence.find('"', at + 1) + 1 if mark[0] == '"' else ends.get(at, 0)
        if at >= behind and end:
            found.append(Quote(at, end, sentence[at + 1 : end - 1]))
            behind = end
    return found


def open_quote(text: str, before: Open = CLOSED) -> Open:
    """The quote that is open behind the text, CLOSED where none is. `before`: what was open before it."""
    opener, depth = before
    for mark in _QUOTE_MARK.findall(text):
        if not depth:
            opener, depth = (mark, 1) if mark in _CLOSERS else CLOSED
        elif mark in _CLOSERS[opener]:
            depth -= 1
        elif mark == opener:
            depth += 1
    return (opener, depth) if depth else CLOSED


def is_term(quote: Quote) -> bool:
    """Whether quotation marks stand around a term, not around a source's words: two words, no number."""
    return len(quote.text.split()) <= _LONGEST_TERM and not any(sign.isdigit() for sign in quote.text)


def markers(sentence: str, quoted: list[Quote]) -> list[Marker]:
    """The markers outside of quotes, in order."""
    return [
        Marker(match.start(), match.end(), _numbers(match[1]))
        for match in _NUMBERS.finditer(sentence)
        if not _is_quoted(match.start(), quoted)
    ]


def defused(sentence: str, quoted: list[Quote]) -> str:
    """The sentence with a source's own references in quotes, `[12]`, as `(12)`: they are no markers."""
    signs = list(sentence)
    for match in _NUMBERS.finditer(sentence):
        if _is_quoted(match.start(), quoted):
            signs[match.start()], signs[match.end() - 1] = "(", ")"
    return "".join(signs)


def _numbers(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last in _PART.findall(text):
        low, high = _number(first), _number(last or first)
        numbers += range(low, high + 1) if low <= high < low + _WIDEST_RANGE else [0]
    return tuple(dict.fromkeys(numbers))


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= 4 else 0


def _is_quoted(place: int, quoted: list[Quote]) -> bool:
    before = bisect_left(quoted, place, key=attrgetter("start"))
    return before > 0 and place < quoted[before - 1].end


def _ends(text: str) -> dict[int, int]:
    """Where quotes end, one past the closing mark, by where they open; quotes of one kind may nest.

    Without `"`: which of them open is known only to who reads from the left.
    """
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {opener: [] for opener in _CLOSERS if opener != '"'}
    for mark in _QUOTE_MARK.finditer(text):
        for opener, places in opened.items():
            if places and mark[0] in _CLOSERS[opener]:
                ends[places.pop()] = mark.end()
            elif mark[0] == opener:
                places.append(mark.start())
    return ends
