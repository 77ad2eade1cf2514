"""Finds sources that disagree: another value, year or advice for what a question asks about. Pure.

Two sentences of two documents are compared when both hold much of the question and much of each other, and
neither names a class, a code or an opposite that the other does not. Left out: sources in two languages, and
values that only different words tell apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import chain, combinations, product
from operator import itemgetter

from gateway.answer import Kind, Notice
from gateway.categories import Categories, categories
from gateway.passage import Passage
from gateway.planted import planted, touches
from gateway.quantities import UNITS, Quantities, quantities
from gateway.words import Wanted, content_words, denied, polar_words, share_found, starts
from radrag.sentences import sentences

# Of the question's words, of the shorter sentence's, and of that where only years or advice differ.
_ASKED, _SHARED, _CLOSE = 0.5, 0.6, 0.7
_NEARLY_ALL = 0.8
_FEWEST_WORDS = 3
# Of one source: each is compared with each of every other source.
_MOST_STATEMENTS = 32
# Stems of advice that cannot both hold.
_OPPOSITES = (
    ("recommend", "contraindicat"), ("allowed", "forbidden"), ("allowed", "prohibit"),
    ("permitted", "prohibit"), ("permitted", "forbidden"), ("safe", "contraindicat"), ("safe", "unsafe"),
    ("mandatory", "optional"), ("рекоменд", "противопоказ"), ("разреш", "запре"), ("допуска", "запре"),
    ("показан", "противопоказ"), ("безопас", "опас"), ("безопас", "противопоказ"),
    ("обязател", "необязател"),
)  # fmt: skip
_ADVICE = tuple(chain.from_iterable(_OPPOSITES))
_YEAR = "calendar year"
_UNITS = {unit.lower() for unit in UNITS}
_KEPT = 256  # sources whose sentences are kept: 40 kB each, 130 once all of them were compared


class Sentence:
    """A sentence of a source, taken apart as far as it is asked for, once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tuple(word for word in content_words(text) if word not in _UNITS)
        self.starts = starts(self.words)

    @cached_property
    def quantities(self) -> Quantities:
        return quantities(self.text)

    @cached_property
    def categories(self) -> Categories:
        return categories(self.text)

    @cached_property
    def denied(self) -> list[frozenset[str]]:
        return denied(self.text)

    @cached_property
    def advice(self) -> frozenset[str]:
        return frozenset(word for word in self.words if word.startswith(_ADVICE))

    @cached_property
    def matter(self) -> frozenset[str]:
        """Its words, advice apart."""
        return frozenset(self.words) - self.advice

    @cached_property
    def polar(self) -> frozenset[str]:
        """Those that have an opposite, advice apart."""
        return frozenset(polar_words(self.matter))


@dataclass(frozen=True)
class Statement:
    """A sentence that holds enough of the question. `above`: the words of its source's title and headings."""

    said: Sentence
    above: tuple[str, ...]

    @cached_property
    def around(self) -> frozenset[str]:
        """Its words and those above."""
        return frozenset((*self.said.words, *self.above))


def conflicts(question: str, passages: Sequence[Passage]) -> tuple[Notice, ...]:
    """A warning for each pair of documents that disagree; its detail has the sources' numbers, as `1,3`."""
    asked = Wanted(content_words(question))
    said = [_statements(passage, asked) for passage in passages]
    return tuple(
        Notice(Kind.CONFLICTING_SOURCES, f"{one + 1},{two + 1}")
        for one, two in combinations(range(len(passages)), 2)
        if passages[one].document.document_id != passages[two].document.document_id
        and any(_disagree(a, b) for a, b in product(said[one], said[two]))
    )


def among(notices: Sequence[Notice], sources: int) -> tuple[Notice, ...]:
    """The notices without conflicts of a source beyond the first so many."""
    return tuple(
        one
        for one in notices
        if one.kind is not Kind.CONFLICTING_SOURCES or max(map(int, one.detail.split(","))) <= sources
    )


def _statements(passage: Passage, asked: Wanted) -> list[Statement]:
    """The sentences that hold enough of the question; of very many, those that hold most of it."""
    above = _above(passage.document.title, passage.heading_path)
    over, held = asked.found(above), list[tuple[float, Sentence]]()
    for one in _sentences(passage.text):
        if asked.starts and asked.starts.isdisjoint(one.starts):
            continue
        here = asked.found(one.words)
        if asked.share(here) > 0 and (share := asked.share(here | over)) >= _ASKED:
            held.append((share, one))
    best = nlargest(_MOST_STATEMENTS, held, key=itemgetter(0))
    return [Statement(one, above) for _, one in best]


@lru_cache(_KEPT)
def _above(title: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(content_words(f"{title} {' '.join(headings)}"))


@lru_cache(_KEPT)
def _sentences(text: str) -> tuple[Sentence, ...]:
    """Those sentences of a source that say something and may be believed."""
    distrusted, found = planted(text), list[Sentence]()
    for span in sentences(text):
        said = Sentence(text[slice(*span)])
        if len(said.words) >= _FEWEST_WORDS and not touches(span, distrusted):
            found.append(said)
    return tuple(found)


def _disagree(one: Statement, two: Statement) -> bool:
    if not _same_classes(one.said, two.said):
        return False
    likeness = _likeness(one, two)
    if likeness < _SHARED or not (_holds(one, two) and _holds(two, one)):
        return False
    here, there = one.said, two.said
    if likeness >= _CLOSE and (_advice_differs(here, there) or _values_differ(here, there, years=True)):
        return True
    return _values_differ(here, there, years=False)


def _same_classes(one: Sentence, two: Sentence) -> bool:
    return one.categories.named == two.categories.named and one.quantities.codes == two.quantities.codes


def _likeness(one: Statement, two: Statement) -> float:
    """How much of the shorter sentence stands in the longer, 0..1; advice apart.

    Where each has words of its own they may speak of two things: less than nearly all is then nothing.
    """
    short, long = sorted((one, two), key=lambda each: len(each.said.matter))
    shared = share_found(short.said.matter, long.around)
    if _SHARED <= shared < _NEARLY_ALL and share_found(long.said.matter, short.around) < 1:
        return 0.0
    return shared


def _holds(one: Statement, two: Statement) -> bool:
    """Whether the opposites-bearing words of one stand in the other, advice apart."""
    return share_found(one.said.polar, two.around) == 1


def _values_differ(one: Sentence, two: Sentence, years: bool) -> bool:
    """Whether both give values in one unit, and none in common."""
    first, second = _values(one, years), _values(two, years)
    return any(first[unit].isdisjoint(second[unit]) for unit in first.keys() & second.keys())


def _values(sentence: Sentence, years: bool) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for value, unit in sentence.quantities.numbers:
        kind = unit if unit else _YEAR if _is_year(value) else ""
        if kind and (kind == _YEAR) == years:
            found.setdefault(kind, set()).add(value)
    return found


def _is_year(value: str) -> bool:
    return len(value) == 4 and value.isdigit() and "1900" <= value <= "2099"


def _advice_differs(one: Sentence, two: Sentence) -> bool:
    """Whether one denies what the other says, or one advises the opposite."""
    return _denies(one, two) or _denies(two, one) or _opposed(one, two) or _opposed(two, one)


def _denies(one: Sentence, two: Sentence) -> bool:
    return not two.denied and any(here and share_found(here, two.words) == 1 for here in one.denied)


def _opposed(one: Sentence, two: Sentence) -> bool:
    if one.denied or two.denied or not (one.advice and two.advice):
        return False
    return any(
        _starts(one.advice, yes) and _starts(two.advice, no) and not _starts(one.advice, no)
        for yes, no in _OPPOSITES
    )


def _starts(words: Iterable[str], stem: str) -> bool:
    return any(word.startswith(stem) for word in words)
