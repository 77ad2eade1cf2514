"""Text to index terms, English and Russian: the same for documents and questions.

A term is a stemmed word, a number, or a code. Codes keep what a stemmer or a splitter would destroy:
`Т2-ВИ` gives `t2`, `ви` and `t2bи`, `BI-RADS 4A` gives `bi`, `rads`, `birads` and `4a`. What it does not do:
spelling repair beyond look-alike letters, and synonyms.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from py_rust_stemmers import SnowballStemmer

NAME = "radrag-words-1"
LONGEST = 40  # characters; fastembed's token_max_length
WORDS_KEPT = 50_000  # and their terms: a word of a text has mostly been in one before

# Letters and digits, joined by signs that may be part of a code, a number or a compound word.
_COMPOUND = re.compile(r"[^\W_]+(?:[-\u2010\u2011\u2012\u2013./,'’][^\W_]+)*")
_SIGN = re.compile(r"[-\u2010\u2011\u2012\u2013./,'’]")
_HYPHENS = frozenset("-\u2010\u2011\u2012\u2013")
_CLITIC = re.compile(r"['’](?:s|t|re|ve|ll|d|m)\b")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LATIN = re.compile(r"[a-z]")  # look-alikes exist in the basic alphabet only

# Letters that look alike in capitals, which is how codes are written: Т2 and T2 are one code.
_TO_LATIN = str.maketrans("авекмнорстух", "abekmhopctyx")
_TO_CYRILLIC = str.maketrans("abekmhopctyx", "авекмнорстух")

# Russian drops a vowel when it inflects: снимок, снимки; почка, почек; узел, узлы. Snowball keeps it.
_FLEETING = re.compile(r"^(.*[аеиоуыэюя].*)(?<=[бвгджзклмнпрстфхцчшщ])[ое]([кцлнр])$")


class StopWordsMissing(RuntimeError):
    """A stop-word file is missing or empty; without it scores change silently."""


def read_stop_words(folder: Path) -> frozenset[str]:
    """The words of english.txt and russian.txt in `folder`. Raises StopWordsMissing."""
    words: set[str] = set()
    for file in (folder / "english.txt", folder / "russian.txt"):
        found = file.read_text(encoding="utf-8").split() if file.is_file() else []
        if not found:
            raise StopWordsMissing(f"{file} is missing or empty")
        words.update(found)
    return frozenset(words)


class Words:
    """Cuts text into terms with one list of stop words."""

    def __init__(self, stop_words: frozenset[str]) -> None:
        self.name, self.stop_words = NAME, stop_words
        self._english, self._russian = SnowballStemmer("english"), SnowballStemmer("russian")
        self._term = lru_cache(WORDS_KEPT)(self._worked_out)

    def terms(self, text: str) -> list[str]:
        """The terms of `text` in order, repeats included, stop words left out."""
        return list(self._terms(text))

    def _terms(self, text: str) -> Iterator[str]:
        plain = unicodedata.normalize("NFKC", text).lower().replace("ё", "е")
        for match in _COMPOUND.finditer(_CLITIC.sub("", plain)):
            for word in _pieces(match[0]):
                if len(word) <= LONGEST and word not in self.stop_words:
                    yield self._term(word)

    def _worked_out(self, word: str) -> str:
        if any(letter.isdigit() for letter in word):
            return word.translate(_TO_LATIN)
        cyrillic = bool(_CYRILLIC.search(word))
        if cyrillic and _LATIN.search(word):
            word = word.translate(_TO_CYRILLIC)
        stem: str = (self._russian if cyrillic else self._english).stem_word(word)
        stem = _FLEETING.sub(r"\1\2", stem) if cyrillic else stem
        # КТ, МРТ, С, Т: as short as a code, so it may have been typed in either alphabet.
        return stem.translate(_TO_LATIN) if len(stem) <= 3 else stem


def _pieces(compound: str) -> Iterator[str]:
    """The words of a compound, then the compound as one word where that is a word of its own."""
    parts, signs = _SIGN.split(compound), set(_SIGN.findall(compound))
    numeric = all(part.isdigit() for part in parts)
    if numeric and len(parts) == 2 and signs <= {".", ","}:
        yield ".".join(parts)  # a decimal number: 1,5 is 1.5
        return
    yield from parts
    if len(parts) > 1 and signs <= _HYPHENS:
        yield "".join(parts)
    elif len(parts) > 2 and numeric:
        yield ".".join(parts)  # a number of a document: 2.6.1.2523-09
