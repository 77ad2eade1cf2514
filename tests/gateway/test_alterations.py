"""Every sentence of the sample documents passes as it stands, and hardly one passes when it was altered."""

import random
import re
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from gateway.check import Checker
from gateway.shipped import ROOT
from radrag.sentences import sentences
from tests.gateway.fakes import passage

DOCUMENTS = sorted((ROOT / "samples" / "documents").rglob("*.md"))
SWAPS = {
    "мЗв": "мкЗв", "мкЗв": "мЗв", "mSv": "μSv", "μSv": "mSv", "мГр": "Гр", "mGy": "Gy", "Gy": "mGy",
    "мм": "см", "см": "мм", "mm": "cm", "cm": "mm", "мл": "л", "ml": "l", "мс": "с", "ms": "s",
    "kV": "mA", "кВ": "мА", "мин": "ч", "min": "h", "мг": "г", "mg": "g", "years": "months",
    "лет": "месяцев", "%": "‰",
}  # fmt: skip

CATEGORY = (
    r"((?:RADS|LR|Bosniak|zone|type|category|grade|зон[аеуы]|тип[а-я]*|категори[а-я]+|степен[а-я]+)[- ])(\w+)"
)
OTHERS = {
    "0": "1", "1": "2", "2": "3", "3": "4", "4": "5", "5": "4", "6": "5", "4A": "4B", "4B": "4C", "4C": "4A",
    "4X": "4B", "M": "5", "I": "II", "II": "III", "III": "IV", "IV": "III", "IIF": "III", "A": "B", "B": "A",
    "D": "C", "C": "D",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not DOCUMENTS, reason="the sample documents are not there")


def parts() -> Iterator[tuple[Checker, str, list[str]]]:
    """Each section of each document: a checker over it, its text on one line, its sentences."""
    for file in DOCUMENTS:
        text = unicodedata.normalize("NFC", file.read_text(encoding="utf-8"))
        for part in re.split(r"\n(?=#)", text):
            lines = [" ".join(part[start:end].split()) for start, end in sentences(part)]
            yield (
                Checker([passage("p", part)]),
                " ".join(part.split()),
                [one for one in lines if is_prose(one)],
            )


def is_prose(sentence: str) -> bool:
    return len(sentence) > 24 and not sentence.startswith(("|", "#"))


def quoted(sentence: str) -> str:
    return f"- «{sentence}» [1]"


def told(sentence: str) -> str:
    return sentence.lstrip("-* ").rstrip(".!?") + " [1]."


def digit(sentence: str, chance: random.Random) -> str:
    numbers = list(re.finditer(r"(?<![\w-])\d+(?![\w-]|\. )", sentence))
    if not numbers:
        return sentence
    at = chance.randrange(*chance.choice(numbers).span())
    return sentence[:at] + str((int(sentence[at]) + chance.randrange(1, 9)) % 10 or 9) + sentence[at + 1 :]


def unit(sentence: str, chance: random.Random) -> str:
    found = [
        (match.span(), new)
        for old, new in SWAPS.items()
        for match in re.finditer(rf"(?<=\d ){re.escape(old)}(?!\w)", sentence)
    ]
    if not found:
        return sentence
    (start, end), new = chance.choice(found)
    return sentence[:start] + new + sentence[end:]


def negation(sentence: str, chance: random.Random) -> str:
    return re.sub(r"(?<!\w)(?:не|not|без|without|no|нет|never) ", "", sentence, count=1, flags=re.IGNORECASE)


def category(sentence: str, chance: random.Random) -> str:
    found = [match for match in re.finditer(CATEGORY, sentence) if match[2] in OTHERS]
    if not found:
        return sentence
    match = chance.choice(found)
    return sentence[: match.start(2)] + OTHERS[match[2]] + sentence[match.end(2) :]


def swapped(sentence: str, chance: random.Random) -> str:
    numbers = list(re.finditer(r"(?<![\w.,-])\d+(?:[.,]\d+)?(?![\w.,-]*\d)", sentence))
    pairs = [(one, two) for one in numbers for two in numbers if one.end() < two.start() and one[0] != two[0]]
    if not pairs:
        return sentence
    one, two = chance.choice(pairs)
    between = sentence[one.end() : two.start()]
    return sentence[: one.start()] + two[0] + between + one[0] + sentence[two.end() :]


@pytest.mark.parametrize("form", [quoted, told])
def test_true_sentences_are_verified(form: Callable[[str], str]) -> None:
    checks = [checker.check(form(one)).verified for checker, _, prose in parts() for one in prose]
    assert len(checks) > 500
    assert sum(checks) >= 0.99 * len(checks)


@pytest.mark.parametrize("form", [quoted, told])
@pytest.mark.parametrize(
    ("alter", "share"),
    [(digit, 0.95), (unit, 0.95), (negation, 0.95), (category, 0.95), (swapped, 0.95)],
)
def test_altered_sentences_are_caught(
    alter: Callable[[str, random.Random], str], share: float, form: Callable[[str], str]
) -> None:
    chance = random.Random(20261201)
    altered = [
        (checker, new)
        for checker, text, prose in parts()
        for one in prose
        if (new := alter(one, chance)) != one and new not in text
    ]
    caught = [not checker.check(form(one)).verified for checker, one in altered]
    assert len(caught) > 15
    assert sum(caught) >= share * len(caught), (sum(caught), len(caught))
