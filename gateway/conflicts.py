"""Finds sources that disagree: another value, year or advice for what a question asks about. Pure.

Two sentences of two documents are compared when both hold much of the question and much of each other, and
neither names a class, a code or an opposite that the other does not. Left out: sources in two languages, and
values that only different words tell apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import chain, combinations, product
from operator import itemgetter
from typing import NamedTuple

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
_KEPT = 256  # sources whose sentences are kept: 40 kB each


class Sentence(NamedTuple):
    """A sentence of a source: its text, its words, and how they start."""

    text: str
    words: tuple[str, ...]
    starts: frozenset[str]


@dataclass(frozen=True)
class Statement:
    """A sentence of a source, taken apart. `above`: the words of its title and headings."""

    words: tuple[str, ...]
    above: tuple[str, ...]
    quantities: Quantities
    categories: Categories
    denied: tuple[frozenset[str], ...]

    @cached_property
    def matter(self) -> frozenset[str]:
        """Its words, advice apart."""
        return frozenset(word for word in self.words if not _is_advice(word))


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
    above = tuple(content_words(f"{passage.document.title} {' '.join(passage.heading_path)}"))
    over, held = asked.found(above), list[tuple[float, Sentence]]()
    for one in _sentences(passage.text):
        if asked.starts and asked.starts.isdisjoint(one.starts):
            continue
        here = asked.found(one.words)
        if asked.share(here) > 0 and (share := asked.share(here | over)) >= _ASKED:
            held.append((share, one))
    best = nlargest(_MOST_STATEMENTS, held, key=itemgetter(0))
    return [Statement(one.words, above, *_facts(one.text)) for _, one in best]


@lru_cache(_KEPT)
def _sentences(text: str) -> tuple[Sentence, ...]:
    """Those sentences of a source that say something and may be believed."""
    distrusted, found = planted(text), list[Sentence]()
    for span in sentences(text):
        said = text[slice(*span)]
        words = tuple(word for word in content_words(said) if word not in _UNITS)
        if len(words) >= _FEWEST_WORDS and not touches(span, distrusted):
            found.append(Sentence(said, words, starts(words)))
    return tuple(found)


@lru_cache(4 * _KEPT)
def _facts(text: str) -> tuple[Quantities, Categories, tuple[frozenset[str], ...]]:
    return quantities(text), categories(text), tuple(denied(text))


def _disagree(one: Statement, two: Statement) -> bool:
    if not _comparable(one, two):
        return False
    if _likeness(one, two) >= _CLOSE and (_advice_differs(one, two) or _values_differ(one, two, years=True)):
        return True
    return _values_differ(one, two, years=False)


def _comparable(one: Statement, two: Statement) -> bool:
    """Whether both speak of one thing: the same words, classes and codes, and no opposites."""
    alike = _likeness(one, two) >= _SHARED
    classes = one.categories.named == two.categories.named and one.quantities.codes == two.quantities.codes
    return alike and classes and _holds(one, two) and _holds(two, one)


def _likeness(one: Statement, two: Statement) -> float:
    """How much of the shorter sentence stands in the longer, 0..1; advice apart.

    Where each has words of its own they may speak of two things: less than nearly all is then nothing.
    """
    short, long = sorted((one, two), key=lambda each: len(each.matter))
    shared, covered = _part(short, long), _part(long, short)
    return shared if shared == 1 or covered == 1 or shared >= _NEARLY_ALL else 0.0


def _part(one: Statement, two: Statement) -> float:
    """How much of what one says stands in the other or above it."""
    return share_found(one.matter, [*two.words, *two.above])


def _holds(one: Statement, two: Statement) -> bool:
    """Whether the opposites-bearing words of one stand in the other, advice apart."""
    polar = [word for word in polar_words(one.words) if not _is_advice(word)]
    return share_found(polar, [*two.words, *two.above]) == 1


def _values_differ(one: Statement, two: Statement, years: bool) -> bool:
    """Whether both give values in one unit, and none in common."""
    first, second = _values(one, years), _values(two, years)
    return any(first[unit].isdisjoint(second[unit]) for unit in first.keys() & second.keys())


def _values(statement: Statement, years: bool) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for value, unit in statement.quantities.numbers:
        kind = unit if unit else _YEAR if _is_year(value) else ""
        if kind and (kind == _YEAR) == years:
            found.setdefault(kind, set()).add(value)
    return found


def _is_year(value: str) -> bool:
    return len(value) == 4 and value.isdigit() and "1900" <= value <= "2099"


def _advice_differs(one: Statement, two: Statement) -> bool:
    """Whether one denies what the other says, or one advises the opposite."""
    return _denies(one, two) or _denies(two, one) or _opposed(one, two) or _opposed(two, one)


def _denies(one: Statement, two: Statement) -> bool:
    return not two.denied and any(here and share_found(here, two.words) == 1 for here in one.denied)


def _opposed(one: Statement, two: Statement) -> bool:
    if one.denied or two.denied:
        return False
    here, there = list(filter(_is_advice, one.words)), list(filter(_is_advice, two.words))
    return bool(here and there) and any(
        _starts(here, yes) and _starts(there, no) and not _starts(here, no) for yes, no in _OPPOSITES
    )


def _starts(words: Sequence[str], stem: str) -> bool:
    return any(word.startswith(stem) for word in words)


def _is_advice(word: str) -> bool:
    return word.startswith(_ADVICE)
