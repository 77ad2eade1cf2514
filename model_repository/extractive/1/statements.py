"""What a source states: its sentences and table rows, each with what it needs beside it to be understood."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sentences import Span, sentences

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_RULE = re.compile(r"[\s:|]*+-[\s:|-]*+|[-*_=]{3,}")
_BULLET = re.compile(r"\s*(?:[-*+•–—]\s+|\d{1,3}(?:\.\d{1,3})*[.)]\s+|[^\W\d_]\)\s+|>\s*)*")
_VISIBLE = re.compile(r"\w")


class Statement(NamedTuple):
    """text[start:end] is what may be quoted: a sentence without list mark, or a table row.

    header: the row that heads its table, where it is a row. above: the headings in force and the sentence
    that leads in its list or table, outermost first. before: the sentence before it in its paragraph, if
    any.
    """

    start: int
    end: int
    header: Span | None
    above: tuple[Span, ...]
    before: Span | None


def statements(text: str) -> list[Statement]:
    """All statements of a source's Markdown, in order."""
    return list(_Walk(text).statements())


class _Walk:
    """Goes through a source and remembers what is in force at each sentence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._headings: dict[int, Span] = {}
        self._lead: Span | None = None
        self._header: Span | None = None
        self._before: Span | None = None
        self._item = False

    def statements(self) -> Iterator[Statement]:
        spans = [self._bare(*span) for span in sentences(self._text)]
        for place, span in enumerate(spans):
            line = self._text[slice(*span)]
            following = self._text[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
            if heading := _HEADING.match(line):
                self._under(len(heading[1]), span)
            elif line.startswith("|"):
                yield from self._row(span, _RULE.fullmatch(following) is not None)
            elif _VISIBLE.search(line):
                yield self._sentence(span)
            if line.startswith("|") or self._text.startswith("\n\n", span[1]):
                self._before = None

    def _bare(self, start: int, end: int) -> Span:
        line = self._text[start:end]
        return start + len(line) - len(line.lstrip()), start + len(line.rstrip())

    def _under(self, level: int, span: Span) -> None:
        self._headings = {depth: other for depth, other in self._headings.items() if depth < level}
        self._headings[level] = span
        self._lead, self._header, self._before = None, None, None

    def _row(self, span: Span, heads: bool) -> Iterator[Statement]:
        line = self._text[slice(*span)]
        if heads:
            self._header = span
        elif not _RULE.fullmatch(line) and _VISIBLE.search(line):
            yield Statement(*span, self._header, self._above(led=True), None)

    def _sentence(self, span: Span) -> Statement:
        start, end = span
        marked = _BULLET.match(self._text, start, end)
        first = marked.end() if marked else start
        # An item's further sentences, on the same line, are the item's too.
        self._item = first > start or (self._item and not self._opens_line(start))
        made = Statement(first, end, None, self._above(led=self._item), self._before)
        self._before, self._header = (first, end), None
        # What ends with a colon, or a paragraph, leads in the list or table that follows; an item ends no
        # list.
        if self._text[start:end].endswith(":") or not self._item:
            self._lead = span
        return made

    def _opens_line(self, start: int) -> bool:
        return not self._text[self._text.rfind("\n", 0, start) + 1 : start].strip()

    def _above(self, led: bool) -> tuple[Span, ...]:
        headings = tuple(span for _, span in sorted(self._headings.items()))
        return (*headings, self._lead) if led and self._lead else headings
