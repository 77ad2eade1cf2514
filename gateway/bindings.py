"""Which words each number of a text goes with, to find two values that changed places. Pure.

"5 mm in women and 6 mm in men" and "6 mm in women and 5 mm in men" have the same words and the same numbers.
A value goes with the words near it; a comma, a conjunction or another value between them makes it far.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import TypeAlias

from gateway.lookalikes import folded
from gateway.quantities import UNITS
from gateway.words import content_words, is_polar, same

# How much more a value may resemble another's place than its own: a paraphrase is never exact.
_TOLERANCE = 0.05
_REACH = 8.0
# A claim with more values is no sentence: nobody can tell whether they stand where they belong.
_MOST_VALUES = 64
# Stand for the unit of a word that has an opposite, and of a code such as 4A.
_OPPOSITE, _CODE = "±", "#"
_REFERENCE = re.compile(r"\[\d+\]")
_VALUE_BETWEEN, _BREAK_BETWEEN, _SENTENCE_BETWEEN = 2.0, 3.0, 6.0
_ITEM = re.compile(
    r"(?P<value>[<>≤≥]?\s?\d[\w.,]*\d|\d\w*|(?<!\w)[^\W\d_]{1,3}\d+(?!\w)|[IVX]{2,4}[A-F]?(?!\w))|(?P<word>[^\W\d_]+)|(?P<mark>[.;,:()!?|])"
)
_RANGE = re.compile(
    r"(?<![\w.,])(\d+(?:[.,]\d+)?)(?:[\s\u00a0]?[^\W\d_]{1,6})?\s?(?:[-‑–—]|\bto\b|\bдо\b)\s?(\d+(?:[.,]\d+)?)(?![\w-])"
)
_BREAKS = frozenset(["and", "or", "but", "while", "whereas", "и", "а", "но", "или", "тогда"])


Item: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True)
class Value:
    """A value of a text as its digits, its unit or "", and the words around it with their nearness, 0..1.

    `topic`: the words its sentence begins with, before any value.
    """

    digits: str
    unit: str
    words: Mapping[str, float]
    topic: frozenset[str] = frozenset()


def bound(text: str) -> list[Value]:
    """The values of a text with the words they go with; in a table row a cell goes with its row's first."""
    items = list(_items(text))
    return [
        Value(digits, unit, _around(items, index), topic)
        for index, ((kind, digits, unit), topic) in enumerate(zip(items, _topics(items), strict=True))
        if kind == "value" or unit == _OPPOSITE
    ]


def spread(header: str, row: str) -> str:
    """A table row as clauses, each cell behind its column's name and the row's first cell."""
    cells, names = _cells(row), _cells(header)
    if len(cells) < 3 or len(names) != len(cells):
        return row
    return "; ".join(f"{cells[0]} {name} {cell}" for name, cell in zip(names[1:], cells[1:], strict=True))


def changed_places(claim: list[Value], source: list[Value]) -> bool:
    """Whether a value of the claim stands where the source has another one of the same kind."""
    said, there = {value.digits for value in claim}, {value.digits for value in source}
    if len(claim) > _MOST_VALUES:
        return True
    pairs = [
        (one, two)
        for one, two in combinations(range(len(claim)), 2)
        if claim[one].digits != claim[two].digits and _alike(claim[one], claim[two])
    ]
    best = cache(lambda index, digits: _best(claim[index], digits, source))
    if any(
        {claim[one].digits, claim[two].digits} <= there and _exchanged(one, two, claim, best)
        for one, two in pairs
    ):
        return True
    for value in claim:
        rest = [one for one in source if one.digits == value.digits or one.digits not in said]
        if _misplaced(_judged(value, claim, source), rest):
            return True
    return False


def ranges(text: str) -> frozenset[tuple[str, str]]:
    """The ranges of a text, as `7–10` or «от 7 до 10», by their ends."""
    return frozenset((_digits(low), _digits(high)) for low, high in _RANGE.findall(text))


def changed_ranges(claim: frozenset[tuple[str, str]], source: frozenset[tuple[str, str]]) -> bool:
    """Whether a range of the claim shares an end with the source's and is none of them."""
    ends = {end for one in source for end in one}
    return any(one not in source and ends & set(one) for one in claim)


def _exchanged(one: int, two: int, claim: list[Value], best: Callable[[int, str], float]) -> bool:
    """Whether two values of the claim together fit better the other way round."""
    own = best(one, claim[one].digits) + best(two, claim[two].digits)
    other = best(one, claim[two].digits) + best(two, claim[one].digits)
    return other > own + _TOLERANCE


def _best(value: Value, digits: str, source: list[Value]) -> float:
    return max((_likeness(value, one) for one in source if one.digits == digits), default=0.0)


def _misplaced(value: Value, source: list[Value]) -> bool:
    own = [_likeness(value, one) for one in source if one.digits == value.digits]
    others = [_likeness(value, one) for one in source if one.digits != value.digits and _alike(one, value)]
    return bool(own and others) and max(others) > max(own) + _TOLERANCE


def _judged(value: Value, claim: list[Value], source: list[Value]) -> Value:
    """A claim's only value of its kind without words that go with all of the source's, if others are left."""
    if any(one.digits != value.digits and _alike(one, value) for one in claim):
        return value
    topic = frozenset[str]().union(*{one.topic for one in source})
    left = {word: near for word, near in value.words.items() if not any(same(word, one) for one in topic)}
    known = {word for one in source for word in one.words}
    return replace(value, words=left) if any(same(word, one) for word in left for one in known) else value


def _alike(one: Value, other: Value) -> bool:
    """Whether two values are of one kind; a table names units elsewhere, so a bare number fits any."""
    units = {one.unit, other.unit}
    return len(units) == 1 or (
        "" in units and not units & {_OPPOSITE, _CODE} and _plain(one) and _plain(other)
    )


def _plain(value: Value) -> bool:
    return all(sign.isdigit() or sign == "." for sign in value.digits)


def _likeness(one: Value, other: Value) -> float:
    """The cosine between the words around two values, 0..1."""
    shared = sum(near * _nearness(word, other) for word, near in one.words.items())
    lengths = math.hypot(*one.words.values()) * math.hypot(*other.words.values())
    return shared / lengths if lengths else 0.0


def _nearness(word: str, value: Value) -> float:
    if word in value.words:
        return value.words[word]
    return max((near for one, near in value.words.items() if same(word, one)), default=0.0)


def _items(text: str) -> Iterator[Item]:
    """Values with their units, content words and breaks, in order, as (kind, text, unit)."""
    found = list(_ITEM.finditer(_REFERENCE.sub(" ", text)))
    for index, match in enumerate(found):
        if match["value"]:
            yield "value", _digits(match["value"]), _unit(found, index)
        elif match["mark"]:
            yield ("stop" if match["mark"] in ".!?" else "break"), match["mark"], ""
        elif folded(match["word"]).lower() in _BREAKS:
            yield "break", match["word"], ""
        elif folded(match["word"]) not in UNITS:
            yield from (
                ("word", word, _OPPOSITE if is_polar(word) else "") for word in content_words(match["word"])
            )


def _digits(value: str) -> str:
    return re.sub(r"[^\w.]", "", folded(value).replace(",", ".")).upper()


def _unit(found: list[re.Match[str]], index: int) -> str:
    """The unit behind a value, or behind the range or list that it begins; of a code its letters."""
    letters = re.match(r"[^\W\d_]+(?=\d)", folded(found[index][0]))
    if letters:
        return letters[0].upper()
    if not found[index][0][-1].isdigit():
        return _CODE
    for match in found[index + 1 : index + 4]:
        if match["word"] and folded(match["word"]) in UNITS:
            return UNITS[folded(match["word"])]
        if match["word"] and folded(match["word"]).lower() not in _BREAKS:
            return ""
    return ""


def _topics(items: Sequence[Item]) -> Iterator[frozenset[str]]:
    """For each item the words before its sentence's first value: they may go with any of its values."""
    topic, begun = frozenset[str](), False
    for kind, text, _ in items:
        yield topic
        if kind == "stop":
            topic, begun = frozenset(), False
        elif kind == "word" and not begun and text not in topic:
            topic |= {text}
        begun = begun or kind == "value"


def _around(items: list[Item], index: int) -> dict[str, float]:
    near: dict[str, float] = {}
    for step in (-1, 1):
        distance, at = 0.0, index + step
        while 0 <= at < len(items) and distance < _REACH:
            kind, text, _ = items[at]
            distance += _cost(kind, text)
            if kind == "word" or (kind == "value" and not text[0].isdigit()):
                near[text] = max(near.get(text, 0.0), 1 / distance)
            at += step
    return near


def _cost(kind: str, text: str) -> float:
    if kind == "word":
        return 1.0
    if kind == "value":
        return _VALUE_BETWEEN
    if kind == "stop":
        return _SENTENCE_BETWEEN
    return 0.0 if text == ":" else _BREAK_BETWEEN


def _cells(row: str) -> list[str]:
    line = row.strip().splitlines()[0] if row.strip() else ""
    return [cell.strip() for cell in line.strip("|").split("|")]
