"""The clean stage: takes out what is not the author's text and repairs what was damaged on its way here.

Every change is recorded as a `Removal` in the parsed text: rule, range, and what stands there now. Outside of
the recorded ranges nothing changes, so the cleaned text follows from the parsed one and its removals.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from ingest.cleaning.contents import contents, with_title
from ingest.cleaning.draft import Draft
from ingest.cleaning.people import acknowledgements, authors
from ingest.cleaning.references import references
from ingest.cleaning.repairs import repairs
from ingest.cleaning.running import page_numbers, running_lines
from ingest.document import PageRange, Parsed, Removal

Rule = Callable[[Draft], Iterator[Removal]]
RULES: tuple[Rule, ...] = (
    contents,
    references,
    authors,
    acknowledgements,
    page_numbers,
    running_lines,
    repairs,
)


async def clean(parsed: Parsed) -> Parsed:
    """The parsed text without apparatus and damage; its page map and removals hold for the new text."""
    return await asyncio.to_thread(cleaned, parsed)


def cleaned(parsed: Parsed) -> Parsed:
    """The same, at once. A text that is nothing but apparatus stays: somebody wanted it in."""
    first = distinct(with_title(one, parsed.markdown) for one in parsed.removals)
    draft = Draft(applied(parsed.markdown, first))
    found = distinct(one for rule in RULES for one in rule(draft))
    if not applied(draft.text, found).strip():
        first, found = [], distinct(repairs(Draft(parsed.markdown)))
    removals = closed(parsed.markdown, composed(first, found))
    moves = Moves(removals)
    pages = tuple(
        PageRange(moves.moved(part.start), moves.moved(part.end), part.page) for part in parsed.pages
    )
    kept = tuple(part for part in pages if part.start < part.end)
    return replace(parsed, markdown=applied(parsed.markdown, removals), pages=kept, removals=tuple(removals))


def composed(first: Sequence[Removal], then: Sequence[Removal]) -> list[Removal]:
    """Removals of the text that `first` left, as removals of the one before; what they cover goes."""
    moves = Moves(first)
    mapped = [
        replace(one, start=moves.origin(one.start, True), end=moves.origin(one.end, False)) for one in then
    ]
    rest = [one for one in first if not is_covered(one, mapped)]
    return sorted([*rest, *mapped], key=lambda one: (one.start, one.end))


def is_covered(one: Removal, others: Sequence[Removal]) -> bool:
    """Whether one of the others, which are in order by both their ends, takes all of it."""
    at = bisect_right(others, one.start, key=lambda other: other.start)
    return at > 0 and one.end <= others[at - 1].end


class Moves:
    """Where positions go that removals, in order and apart, move; a document has many of both."""

    def __init__(self, removals: Sequence[Removal]) -> None:
        self._removals = removals
        self._shifts = [0, *accumulate(len(one.text) - (one.end - one.start) for one in removals)]
        self._ends = [one.end + shift for one, shift in zip(removals, self._shifts[1:], strict=True)]

    def origin(self, position: int, starts: bool) -> int:
        """Where a position of the text that removals left was before them.

        A range that `starts` beside one of them leaves it out; one that holds a part of what it put in takes
        all.
        """
        first = bisect_left(self._ends, position)
        for at in range(first, len(self._removals)):
            one, shift, end = self._removals[at], self._shifts[at], self._ends[at]
            start = one.start + shift
            if position < start or (position == start and not (starts and not one.text)):
                return one.start if starts and position == start else position - shift
            if position < end or (position == end and not starts and one.text):
                return one.start if starts else one.end
        return position - self._shifts[-1]

    def moved(self, position: int) -> int:
        """Where a position of the text before them is now; from inside a removal, right behind it."""
        before = bisect_left(self._removals, position, key=lambda one: one.start)
        if not before:
            return position
        return max(position, self._removals[before - 1].end) + self._shifts[before]


def distinct(found: Iterable[Removal]) -> list[Removal]:
    """In order of place; of two that touch the same code points the one found first."""
    kept: list[Removal] = []
    for one in found:
        at = bisect_right(kept, one.start, key=lambda other: other.start)
        clear = (at == 0 or kept[at - 1].end <= one.start) and (at == len(kept) or one.end <= kept[at].start)
        if clear and one.start < one.end:
            kept.insert(at, one)
    return kept


def applied(text: str, removals: Sequence[Removal]) -> str:
    """The text with its removals made; they are in order and apart."""
    parts, at = [], 0
    for one in removals:
        parts += [text[at : one.start], one.text]
        at = one.end
    return "".join([*parts, text[at:]])


def closed(text: str, removals: list[Removal]) -> list[Removal]:
    """Removals at the end take the blank lines before them along: the text ends with one line end."""
    kept, tail, start = list(removals), list[Removal](), len(text)
    while kept and kept[-1].end == start and not kept[-1].text.strip():
        tail.insert(0, replace(kept.pop(), text=""))
        start = tail[0].start
    if not tail:
        return removals
    floor = kept[-1].end if kept else 0
    tail[0] = replace(tail[0], start=floor + len(text[floor:start].rstrip("\n")))
    tail[-1] = replace(tail[-1], text="\n")
    return [*kept, *tail]
