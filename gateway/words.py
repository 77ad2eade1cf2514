"""The content words of English and Russian text, and when two forms are one word. Pure; no dictionary.

Left out: synonyms and other languages. A paraphrase that uses them counts as unsupported: the safe side.
"""

import json
import re
from bisect import bisect
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from gateway.lookalikes import folded

# Letters that touch a digit are part of a code, such as T2 or 4A.
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_LISTS: dict[str, str] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


def _listed(name: str) -> frozenset[str]:
    return frozenset(folded(word) for word in _LISTS[name].split())


# Forms of one word begin alike.
_SAME_START = 3
_KEPT = 20_000  # words that are kept as they are compared: the same ones come again and again
_FUNCTION_WORDS = _listed("function")
NEGATIONS = _listed("negation")
_NEGATIVE_ENDING = re.compile(r"n['’]t\b", re.IGNORECASE)
# Words whose opposite would turn a statement round: a paraphrase may not lose or change them.
_POLAR = _listed("polar") | {"atleast", "atmost", *map(folded, ("неменее", "неболее"))}  # by `wording`
_POLAR_STEMS = tuple(_listed("polar_stems"))
# These deny what follows; other denials also what stands before them.
_DENIES_NEXT = frozenset(folded(word) for word in ("without", "без"))
# Words that only say that a source says something.
REPORTING = _listed("reporting")


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order, lower case, `ё` as `е`, each in one script."""
    return [word for word in _words(text) if _carries(word)]


def polar_words(words: Iterable[str]) -> list[str]:
    """Those of the content words that have an opposite, such as `above` and `below`."""
    return [word for word in words if is_polar(word)]


def is_polar(word: str) -> bool:
    """Whether a content word has an opposite."""
    return word in _POLAR or word.startswith(_POLAR_STEMS)


def negations(text: str) -> int:
    """How many denials stand in the text."""
    return len(_NEGATIVE_ENDING.findall(text)) + sum(word in NEGATIONS for word in _words(text))


def denied(text: str) -> list[frozenset[str]]:
    """The content words next to each denial: the one before, unless it denies forward, and two behind."""
    words = _words(_NEGATIVE_ENDING.sub(" not", text))
    carrying = [at for at, word in enumerate(words) if _carries(word)]
    found = []
    for at, word in enumerate(words):
        if word in NEGATIONS:
            behind = bisect(carrying, at)
            first = behind if word in _DENIES_NEXT else max(0, behind - 1)
            found.append(frozenset(words[one] for one in carrying[first : behind + 2]))
    return found


def share_found(wanted: Iterable[str], there: Iterable[str]) -> float:
    """The part of `wanted` words, 0..1, that have a form among `there`; 1 when nothing is wanted."""
    words = set(wanted)
    return len(found_words(words, there)) / len(words) if words else 1.0


def found_words(wanted: Iterable[str], there: Iterable[str]) -> list[str]:
    """Those of the words that have a form among `there`."""
    words, known = list(wanted), set(there)
    missed = {word[:_SAME_START] for word in words if word not in known}
    near = [one for one in known if one[:_SAME_START] in missed] if missed else []
    return [word for word in words if word in known or any(same(word, one) for one in near)]


def starts(words: Iterable[str]) -> frozenset[str]:
    """How every form of these words starts."""
    return frozenset(word[:_SAME_START] for word in words)


class Wanted:
    """Words to be found in many texts: what a word is a form of is worked out once."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._by_start: dict[str, list[str]] = {}
        for word in self._words:
            self._by_start.setdefault(word[:_SAME_START], []).append(word)
        self.starts = frozenset(self._by_start)
        self._forms = cache(self._of)

    def found(self, there: Iterable[str]) -> frozenset[str]:
        """Those of the words that have a form among `there`; see found_words."""
        near = [word for word in there if word[:_SAME_START] in self.starts]
        return frozenset().union(*map(self._forms, near))

    def share(self, found: frozenset[str]) -> float:
        """The part of the words that these are, 0..1; 1 when nothing is wanted."""
        return len(found) / len(self._words) if self._words else 1.0

    def _of(self, word: str) -> frozenset[str]:
        return frozenset(one for one in self._by_start[word[:_SAME_START]] if same(one, word))


def same(one: str, other: str) -> bool:
    """Whether two words are forms of one: Cyrillic endings differ by up to three letters, Latin by fewer."""
    if one == other:
        return True
    if one[:_SAME_START] != other[:_SAME_START]:
        return False
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    common = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    if "\u0400" <= one[0] <= "\u04ff":
        return common >= max(3, longer - 3) and 10 * common >= 6 * longer
    return (common == shorter and common >= max(3, longer - 2)) or common >= max(5, longer - 3)


def _carries(word: str) -> bool:
    return word not in _FUNCTION_WORDS and word not in NEGATIONS


def _words(text: str) -> list[str]:
    return list(map(_word, _WORD.findall(text)))


@lru_cache(_KEPT)
def _word(word: str) -> str:
    """In lower case, with `е` for `ё`, and in one script.

    Small letters tell the script: `Не` is no `He`; capitals may be a code.
    """
    small = folded(word.lower())
    is_code = word.isupper() and len(word) > 1 and small not in NEGATIONS and small not in _FUNCTION_WORDS
    return (folded(word).lower() if is_code else small).replace("ё", "е")
