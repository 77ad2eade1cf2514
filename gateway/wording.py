"""Brings wordings of one meaning to one form before a claim and a source are compared. Pure.

Comparisons ("at least", "or more"), numbers and periods in words ("six weeks", «ежегодно»), glued denials
(«необязательно»), letters in the place of digits, a few names. The rules are wordings.json; offsets change.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"[^\W\d_]+")
_REFLEXIVE = re.compile(r"(?<=[а-яё]{4})(?:ся|сь)\b")
_ACRONYM = re.compile(r"(?<!\w)[A-ZА-Я]{2,6}(?!\w)")


@dataclass(frozen=True)
class Phrase:
    """A pattern and its form, looked for where one of `near` stands in the text's small letters."""

    near: tuple[str, ...]
    pattern: re.Pattern[str]
    form: str

    def applied(self, text: str, small: str) -> str:
        """The text in this form."""
        return self.pattern.sub(self.form, text) if any(one in small for one in self.near) else text


def _by_wording(forms: dict[str, str]) -> dict[str, str]:
    return {word: form for form, words in forms.items() for word in words.split()}


_RULES = json.loads(Path(__file__).with_name("wordings.json").read_text(encoding="utf-8"))
_NUMBERS, _WORDS = _by_wording(_RULES["numbers"]), _by_wording(_RULES["words"])
_PHRASES = [
    Phrase(tuple(one["near"].split("|")), re.compile(one["says"], re.IGNORECASE), one["as"])
    for one in _RULES["phrases"]
]


def plain(text: str) -> str:
    """The text with every wording that a rule knows in the rule's form; verbs are not reflexive."""
    text = _replaced(text, _NUMBERS)
    small = text.lower()
    for phrase in _PHRASES:
        text = phrase.applied(text, small)
    return _replaced(_REFLEXIVE.sub("", text), _WORDS)


def acronyms(text: str) -> frozenset[str]:
    """The names in capitals, such as CT and ДВИ; none where all of the text is in capitals."""
    return frozenset() if text.isupper() else frozenset(_ACRONYM.findall(text))


def _replaced(text: str, forms: dict[str, str]) -> str:
    return _WORD.sub(lambda word: forms.get(word[0].lower().replace("ё", "е"), word[0]), text)
