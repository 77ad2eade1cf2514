"""Checks one sentence of an answer against the sources: its markers, its quotes, and its own words."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from gateway.citations import Marker, Quote, defused, is_term, markers, quotes
from gateway.claim import Claim
from gateway.matching import SourceText
from gateway.passage import Passage
from gateway.planted import planted, touches
from gateway.refusals import is_refusal
from gateway.support import Support
from gateway.words import REPORTING

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BETWEEN = re.compile(r"[\s,;.]*+(?:and|и)?+[\s,;.]*+")
# Markers that bad ones leave behind when they are taken out are looked for so often.
_ROUNDS = 10
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)")


@dataclass(frozen=True)
class Place:
    """A marker's number and the place [start, end) in that source's text; `verified` as the check found."""

    number: int
    start: int
    end: int
    verified: bool


@dataclass
class Checked:
    """A sentence ready to be released: markers written [n], those that point nowhere removed and counted."""

    text: str
    places: list[Place] = field(default_factory=list)
    removed: int = 0
    claims: bool = False
    refuses: bool = False

    @property
    def verified(self) -> bool:
        """Whether a source was found to say this."""
        return any(place.verified for place in self.places)


class Source:
    """A numbered source, made ready for checks."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.support = Support(passage)
        self._text = SourceText(passage.text)
        self._context = SourceText(passage.context)
        self._distrusted = planted(passage.text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where the text says it; None where it does not, or where nothing may be believed."""
        place = self._text.find(quote)
        return None if place and touches(place, self._distrusted) else place

    def heads(self, quote: str) -> bool:
        """Whether it stands above the text."""
        return self._context.find(quote) is not None


class Checker:
    """Checks sentences against the numbered sources of one answer."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._sources = [Source(passage) for passage in passages]

    def check(self, sentence: str) -> Checked:
        """The sentence as it may be released, and what was found. Offsets are code points."""
        sentence, removed = self._cleaned(unicodedata.normalize("NFC", _CONTROL.sub("", sentence)))
        quoted = quotes(sentence)
        marked = markers(sentence, quoted)
        spans = [(one.start, one.end) for one in quoted] + [(one.start, one.end) for one in marked]
        said = _without(sentence, spans)
        checked = Checked(sentence, removed=removed, claims=_claims(sentence, said, quoted))
        for part, quotes_in, numbers in _parts(sentence, quoted, marked):
            for number in numbers:
                checked.places += self._places(number, part, quotes_in)
        checked.refuses = not checked.verified and is_refusal(said)
        return checked

    def _exists(self, number: int) -> bool:
        return 1 <= number <= len(self._sources)

    def _cleaned(self, sentence: str) -> tuple[str, int]:
        """The sentence with good markers only, as [n], and how many were bad. One out may make another."""
        sentence, removed = defused(sentence, quotes(sentence)), 0
        for left in reversed(range(_ROUNDS)):
            marked = markers(sentence, quotes(sentence))
            bad = sum(not self._exists(number) for marker in marked for number in marker.numbers)
            # Where one makes another without end, a sign stays in its place.
            sentence, removed = self._rewritten(sentence, marked, "" if left else "…"), removed + bad
            if not bad:
                break
        return sentence, removed

    def _rewritten(self, sentence: str, marked: list[Marker], instead: str) -> str:
        pieces, at = [], 0
        for marker in marked:
            good = [number for number in marker.numbers if self._exists(number)]
            before = sentence[at : marker.start]
            written = "".join(f"[{number}]" for number in good)
            pieces += [before if good else before.rstrip(" "), written or instead]
            at = marker.end
        return "".join([*pieces, sentence[at:]])

    def _places(self, number: int, part: str, quoted: list[Quote]) -> list[Place]:
        source = self._sources[number - 1]
        literal = [quote for quote in quoted if not is_term(quote)]
        if not literal:
            return [_place(number, source, source.support.place(Claim(part)))]
        own = _own(_without(part, [(quote.start, quote.end) for quote in literal]))
        places = [source.find(quote.text) for quote in literal]
        found = [place for place in places if place]
        there = all(place or source.heads(quote.text) for place, quote in zip(places, literal, strict=True))
        true = there and (own.is_empty or any(source.support.near(place, own) for place in found))
        return [Place(number, *place, true) for place in found] or [_place(number, source, None)]


def _place(number: int, source: Source, found: tuple[int, int] | None) -> Place:
    """Without support the citation stands on the whole source, unverified."""
    return Place(number, *(found or (0, len(source.passage.text))), found is not None)


def _parts(
    sentence: str, quoted: list[Quote], marked: list[Marker]
) -> list[tuple[str, list[Quote], list[int]]]:
    """The sentence cut behind its groups of markers: each part's text, its quotes in it, the group's numbers.

    What follows the last group belongs to it.
    """
    groups = _groups(sentence, marked)
    ends = [group[-1].end for group in groups[:-1]] + [len(sentence)] if groups else []
    said, parts, start = _without(sentence, [(one.start, one.end) for one in marked]), [], 0
    for group, end in zip(groups, ends, strict=True):
        first, last = (bisect_left(quoted, at, key=attrgetter("start")) for at in (start, end))
        inside = [replace(one, start=one.start - start, end=one.end - start) for one in quoted[first:last]]
        parts.append((said[start:end], inside, [number for one in group for number in one.numbers]))
        start = end
    return parts


def _groups(sentence: str, marked: list[Marker]) -> list[list[Marker]]:
    groups: list[list[Marker]] = []
    for marker in marked:
        if groups and _BETWEEN.fullmatch(sentence, groups[-1][-1].end, marker.start):
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return groups


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with the spans blanked out: offsets stay."""
    signs = list(text)
    for start, end in spans:
        signs[start:end] = " " * (end - start)
    return "".join(signs)


def _own(words: str) -> Claim:
    """What the words say beyond that a source says something."""
    return Claim(words, framing=REPORTING)


def _claims(sentence: str, said: str, quoted: list[Quote]) -> bool:
    """Whether the sentence asserts something: a heading, a lead-in with a colon, and plain framing do not."""
    if any(not is_term(quote) for quote in quoted):
        return True
    own = _own(said)
    leads = _HEADING.match(sentence) is not None or said.rstrip().endswith(":")
    return not (own.is_empty or (leads and own.is_bare))
