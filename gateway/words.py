"""The content words of English and Russian text, and when two forms are one word. Pure; no dictionary.

Left out: synonyms and other languages. A paraphrase that uses them counts as unsupported: the safe side.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from gateway.lookalikes import folded

_WORD = re.compile(r"[^\W\d_]+")
_LISTS: dict[str, str] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


def _listed(name: str) -> frozenset[str]:
    return frozenset(folded(word) for word in _LISTS[name].split())


_FUNCTION_WORDS = _listed("function")
NEGATIONS = _listed("negation")
_NEGATIVE_ENDING = re.compile(r"n['’]t\b", re.IGNORECASE)
# Words whose opposite would turn a statement round: a paraphrase may not lose or change them.
_POLAR = _listed("polar")
# Words that only say that a source says something.
REPORTING = _listed("reporting")


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order, lower case, `ё` as `е`, each in one script."""
    return [word for word in _words(text) if word not in _FUNCTION_WORDS and word not in NEGATIONS]


def polar_words(words: Iterable[str]) -> list[str]:
    """Those of the content words that have an opposite, such as `above` and `below`."""
    return [word for word in words if word in _POLAR]


def negations(text: str) -> int:
    """How many denials stand in the text."""
    return len(_NEGATIVE_ENDING.findall(text)) + sum(word in NEGATIONS for word in _words(text))


def share_found(wanted: Iterable[str], there: Iterable[str]) -> float:
    """The part of `wanted` words, 0..1, that have a form among `there`; 1 when nothing is wanted."""
    words, known = set(wanted), set(there)
    found = sum(word in known or any(same(word, one) for one in known) for word in words)
    return found / len(words) if words else 1.0


def same(one: str, other: str) -> bool:
    """Whether two words are forms of one: Cyrillic endings differ by up to three letters, Latin by fewer."""
    if one == other:
        return True
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    common = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    if "\u0400" <= one[0] <= "\u04ff":
        return common >= max(3, longer - 3) and 10 * common >= 6 * longer
    return (common == shorter and common >= max(3, longer - 2)) or common >= max(5, longer - 3)


def _words(text: str) -> list[str]:
    return [folded(word).lower().replace("ё", "е") for word in _WORD.findall(text)]
