"""Whether a source supports a paraphrase: numbers with units, codes, negation, content words must agree.

The source is read in windows of one sentence or two neighbours; all of a claim must stand in one window.
"""

from functools import cached_property
from itertools import pairwise

from gateway.bindings import changed_places, changed_ranges
from gateway.categories import categories
from gateway.claim import Claim, Window
from gateway.passage import Passage
from gateway.planted import planted, touches
from gateway.quantities import Quantities
from gateway.wording import plain
from gateway.words import content_words, found_words, share_found
from radrag.sentences import sentences

# One word in four may be the writer's own; a claim of three words or fewer must be found whole.
LEAST_SHARE = 0.75
# Of the words that the source has, more must stand together: one from another sentence says another thing.
LEAST_KNOWN = 0.85
# From here on a claim repeats a window, and must deny as often.
_REPEATS = 0.85
# Titles and headings may lend at most half of the words.
LEAST_OWN = 0.5


class Support:
    """One source, ready to be asked whether it supports a claim."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        titles = f"{passage.document.title} {' '.join(passage.heading_path)}"
        self._above = content_words(titles)
        self._classed = categories(f"{titles} {passage.context}")

    def place(self, claim: Claim) -> tuple[int, int] | None:
        """The window of the source's text that says what the claim says; None when none does.

        Where one sentence is about the same, its neighbour's numbers do not count.
        """
        single = [window for window in self._single if self._is_about(window, claim)]
        about = single or [window for window in self._pairs if self._is_about(window, claim)]
        known = self._known(claim) if about else []
        fitting = [
            one for one in about if _denials_agree(claim, one) and self._values_agree(claim, known, one)
        ]
        if claim.is_empty or not fitting:
            return None
        best = max(fitting, key=lambda one: (share_found(claim.words, one.words), one.start - one.end))
        return best.start, best.end

    def near(self, place: tuple[int, int], claim: Claim) -> bool:
        """Whether the words around a quote are the source's own: those of a window that the quote stands in.

        A denial around a quote turns it round, and is never the source's.
        """
        if claim.negations:
            return False
        known = self._known(claim)
        return any(
            self._is_about(window, claim) and self._values_agree(claim, known, window)
            for window in self._single + self._pairs
            if window.start < place[1] and place[0] < window.end
        )

    def _is_about(self, window: Window, claim: Claim) -> bool:
        wanted = claim.wanted
        here = wanted.found(window.words)
        return (
            claim.polar <= here
            and wanted.share(here | wanted.found(self._above)) >= LEAST_SHARE
            # A title alone says nothing about a subject.
            and (bool(claim.quantities.numbers) or wanted.share(here) >= LEAST_OWN)
        )

    def _known(self, claim: Claim) -> list[str]:
        """The claim's words that the source has anywhere: those are not the writer's own."""
        return found_words(claim.words, self._vocabulary)

    def _values_agree(self, claim: Claim, known: list[str], window: Window) -> bool:
        """Whether numbers, units, codes, names, categories stand in the window, each with its own words."""
        above = self._classed | categories(window.header) if window.header else self._classed
        return (
            _counts_agree(claim, window)
            and share_found(claim.names, window.words + self._above) == 1
            and share_found(known, window.words + self._above) >= LEAST_KNOWN
            and claim.categories.said_by(window.categories, above)
            and not changed_places(claim.values, window.values)
            and not changed_ranges(claim.ranges, window.ranges)
        )

    @cached_property
    def _vocabulary(self) -> list[str]:
        return content_words(plain(self._passage.text))

    @cached_property
    def _single(self) -> list[Window]:
        text, spans = self._passage.text, sentences(self._passage.text)
        headers = _headers([text[start:end] for start, end in spans], self._passage.context)
        windows = [
            _trimmed(Window(start, end, text[start:end], header))
            for (start, end), header in zip(spans, headers, strict=True)
        ]
        distrusted = planted(text)
        return [one for one in windows if not touches((one.start, one.end), distrusted)]

    @cached_property
    def _pairs(self) -> list[Window]:
        return [
            Window(one.start, two.end, self._passage.text[one.start : two.end], one.header)
            for one, two in pairwise(self._single)
            # Where only one of the two denies, nobody can tell what the claim should.
            if not (_is_row(one.text) or _is_row(two.text)) and bool(one.negations) == bool(two.negations)
        ]


def coverage(question: str, text: str) -> float:
    """The part of the question's content words that stand in the text, 0..1."""
    return share_found(content_words(question), content_words(text))


def _denials_agree(claim: Claim, window: Window) -> bool:
    """Whether both deny the same, or neither; a claim that repeats nearly all of it denies as often."""
    repeated = share_found(window.own_words, claim.words) >= _REPEATS
    said, there = claim.negations, window.negations
    as_often = said == there if repeated else bool(said) == bool(there)
    return as_often and all(
        any(share_found(here, words) > 0 for words in window.denied) for here in claim.denied if here
    )


def _counts_agree(claim: Claim, window: Window) -> bool:
    """Whether every number of the claim stands in the window, as often, and every code."""
    said, there, above = claim.quantities, window.quantities, window.header_quantities
    return said.codes <= there.codes | above.codes and all(
        times <= _occurrences(value, unit, there, above) for (value, unit), times in said.numbers.items()
    )


def _occurrences(value: str, unit: str, there: Quantities, above: Quantities) -> int:
    numbers = there.numbers + above.numbers
    if not unit:
        return sum(times for (number, _), times in numbers.items() if number == value)
    # A table names the unit once, in its header.
    return numbers[value, unit] + (there.numbers[value, ""] if unit in above.units else 0)


def _headers(pieces: list[str], context: str) -> list[str]:
    """For each sentence the header row it stands under; empty outside of tables."""
    headers, header = [], context
    for index, piece in enumerate(pieces):
        if not _is_row(piece):
            header = ""
        elif index == 0 or not _is_row(pieces[index - 1]):
            header = context if index == 0 and context else piece
        headers.append(header if _is_row(piece) else "")
    return headers


def _is_row(text: str) -> bool:
    return text.lstrip().startswith("|")


def _trimmed(window: Window) -> Window:
    stripped = window.text.strip()
    start = window.start + window.text.find(stripped)
    return Window(start, start + len(stripped), stripped, window.header)
