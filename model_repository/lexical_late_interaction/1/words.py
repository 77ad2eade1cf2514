"""The words of a text as the matcher sees them: where they stand, their stem, and what kind they are.

English and Russian inflections fall together (Snowball stems, chosen by script), so do decimal comma and
point, a Cyrillic letter typed for its Latin twin in a code (`Т2` and `T2`), and the few terms radiology
writes in two alphabets (`МРТ` and `MRI`, `мЗв` and `mSv`).
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from py_rust_stemmers import SnowballStemmer

_WORD = re.compile(r"\d+(?:[.,]\d+)+(?!\w)|[^\W_]+")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_TWINS = str.maketrans("авекмнорстух", "abekmhopctyx")
_STEMMERS = {False: SnowballStemmer("english"), True: SnowballStemmer("russian")}

# One spelling for what both languages write in their own letters: methods, quantities, units.
_SAME = {
    "мрт": "mri",
    "мр": "mr",
    "кт": "ct",
    "мскт": "ct",
    "msct": "ct",
    "узи": "ultrasound",
    "ультразвук": "ultrasound",
    "пэт": "pet",
    "офэкт": "spect",
    "рентген": "xray",
    "мзв": "msv",
    "мкзв": "µsv",
    "μsv": "µsv",
    "usv": "µsv",
    "зв": "sv",
    "мгр": "mgy",
    "гр": "gy",
    "мбк": "mbq",
    "бк": "bq",
    "кэв": "kev",
    "мм": "mm",
    "см": "cm",
    "мл": "ml",
    "кг": "kg",
    "мг": "mg",
    "ви": "weighted",
    "dwi": "dwi",
    "дви": "dwi",
    "скф": "gfr",
    "egfr": "gfr",
    "рсфк": "gfr",
    "мкрз": "icrp",
    "магатэ": "iaea",
    "воз": "who",
}

# Words that shape a question or hold a sentence together and say nothing of its subject; beside the real
# file, since another model reaches this one by a link.
_EMPTY = frozenset((Path(__file__).resolve().parent / "empty_words.txt").read_text(encoding="utf-8").split())


class Word(NamedTuple):
    """A word at text[start:end]. `empty`: holds no subject. `code`: has a digit, so only itself will do."""

    start: int
    end: int
    stem: str
    empty: bool
    code: bool


def words(text: str) -> list[Word]:
    """Every word and number of `text`, in order."""
    return [Word(match.start(), match.end(), *_reading(match[0])) for match in _WORD.finditer(text)]


def is_cyrillic(text: str) -> bool:
    """Whether Cyrillic letters are at least as many as the others."""
    letters = sum(map(str.isalpha, text))
    return letters > 0 and 2 * len(_CYRILLIC.findall(text)) >= letters


@lru_cache(maxsize=65536)
def _reading(written: str) -> tuple[str, bool, bool]:
    """The stem of a word, whether it is empty, whether it is a code."""
    word = written.casefold()
    if any(map(str.isdigit, word)):
        return word.translate(_TWINS).replace(",", "."), False, True
    if written[:-1].isupper() and written.endswith("s"):
        word = word[:-1]  # DRLs, CTs
    cyrillic = _CYRILLIC.search(word) is not None
    return _SAME.get(word) or _STEMMERS[cyrillic].stem_word(word.replace("ё", "е")), word in _EMPTY, False
