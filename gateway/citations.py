"""Finds markers and quotes in a sentence of an answer. Pure; offsets are code points of the sentence."""

import re
from dataclasses import dataclass

# [1] [1, 2] [1-3] 【1】 [source 2] [источник 2]; all of them leave the gateway as [1][2], or not at all.
_NUMBERS = re.compile(
    r"[\[［【]\s*(?:(?:sources?|источник\w*|ист\.|№|#)\s*)?"
    r"(\d+(?:\s*(?:[-–—,;]|and|и)\s*(?:(?:sources?|источник\w*|ист\.|№|#)\s*)?\d+)*)\s*[\]］】]",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+)(?:\s*[-–—]\s*(\d+))?")
_WIDEST_RANGE = 100
_CLOSERS = {"«": "»", "“": "”", "„": "“”", '"': '"'}
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
    found, at = [], 0
    while at < len(sentence):
        end = _closed(sentence, at) if sentence[at] in _CLOSERS else None
        if end is not None:
            found.append(Quote(at, end, sentence[at + 1 : end - 1]))
        at = end or at + 1
    return found


def has_open_quote(text: str) -> bool:
    """Whether a quote begins in the text and is not closed in it."""
    at = 0
    while at < len(text):
        if text[at] not in _CLOSERS:
            at += 1
            continue
        end = _closed(text, at)
        if end is None:
            return True
        at = end
    return False


def is_term(quote: Quote) -> bool:
    """Whether quotation marks stand around a term, not around a source's words: two words, no number."""
    return len(quote.text.split()) <= _LONGEST_TERM and not any(sign.isdigit() for sign in quote.text)


def markers(sentence: str, quoted: list[Quote]) -> list[Marker]:
    """The markers outside of quotes, in order."""
    return [
        Marker(match.start(), match.end(), _numbers(match[1]))
        for match in _NUMBERS.finditer(sentence)
        if not any(quote.start < match.start() < quote.end for quote in quoted)
    ]


def defused(sentence: str, quoted: list[Quote]) -> str:
    """The sentence with a source's own references in quotes, `[12]`, as `(12)`: they are no markers."""
    signs = list(sentence)
    for match in _NUMBERS.finditer(sentence):
        if any(quote.start < match.start() < quote.end for quote in quoted):
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


def _closed(text: str, at: int) -> int | None:
    """Where the quote that opens at `at` ends, one past its closing mark; quotes of one kind may nest."""
    opener, depth = text[at], 0
    for index in range(at, len(text)):
        sign = text[index]
        if index > at and sign in _CLOSERS[opener]:
            depth -= 1
        elif sign == opener:
            depth += 1
        if depth == 0:
            return index + 1
    return None
