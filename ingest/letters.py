"""Letters as Russian and English use them: how often each occurs, which look alike in both alphabets."""

import re
from collections import Counter
from math import sqrt

# Letters in the order of their frequency, in hundredths of a per cent. Russian: National Corpus of the
# Russian Language; English: Lewand, Cryptological Mathematics (2000).
RUSSIAN = {
    **{"о": 1097, "е": 845, "а": 801, "и": 735, "н": 670, "т": 626, "с": 547, "р": 473, "в": 454, "л": 440},
    **{"к": 349, "м": 321, "д": 298, "п": 281, "у": 262, "я": 201, "ы": 190, "ь": 174, "г": 170, "з": 165},
    **{"б": 159, "ч": 144, "й": 121, "х": 97, "ж": 94, "ш": 73, "ю": 64, "ц": 48, "щ": 36, "э": 32, "ф": 26},
    **{"ъ": 4, "ё": 4},
}
ENGLISH = {
    **{"e": 1270, "t": 906, "a": 817, "o": 751, "i": 697, "n": 675, "s": 633, "h": 609, "r": 599, "d": 425},
    **{"l": 403, "c": 278, "u": 276, "m": 241, "w": 236, "f": 223, "g": 202, "y": 197, "p": 193, "b": 149},
    **{"v": 98, "k": 77, "j": 15, "x": 15, "q": 10, "z": 7},
}
LATIN = "ABCEHKMOPTXaceopxyk"
CYRILLIC = "АВСЕНКМОРТХасеорхук"
TO_CYRILLIC = str.maketrans(LATIN, CYRILLIC)
TO_LATIN = str.maketrans(CYRILLIC, LATIN)
WORD = re.compile(r"\w+")
IN_CYRILLIC, IN_LATIN = re.compile("[\u0400-\u04ff]"), re.compile("[A-Za-z\u00c0-\u024f]")


def likeness(text: str) -> float:
    """How much a text's Cyrillic letters are spread as in Russian and its others as in English: 0 to 1.

    The cosine of both, weighed by their numbers; letters that the language does not know count against it.
    """
    found = Counter(letter for letter in text.lower() if letter.isalpha())
    cyrillic = {letter: count for letter, count in found.items() if IN_CYRILLIC.match(letter)}
    others = {letter: count for letter, count in found.items() if letter not in cyrillic}
    weighed = cosine(cyrillic, RUSSIAN) * sum(cyrillic.values()) + cosine(others, ENGLISH) * sum(
        others.values()
    )
    return weighed / max(found.total(), 1)


def cosine(found: dict[str, int], known: dict[str, int]) -> float:
    norm = sqrt(sum(map(square, found.values())) * sum(map(square, known.values())))
    return sum(count * known.get(letter, 0) for letter, count in found.items()) / norm if norm else 0.0


def square(number: int) -> int:
    return number * number


def is_mixed(word: str) -> bool:
    """Whether a word has letters of both alphabets and no digit: codes as T2 or В12 are left alone."""
    both = IN_CYRILLIC.search(word) and IN_LATIN.search(word)
    return bool(both) and not any(letter.isdigit() for letter in word)


def unmixed(text: str) -> str:
    """The text with mixed words in one alphabet, where all of the other's letters look like letters of it.

    Only a word with a letter that no other alphabet has tells which alphabet it is in; others stay.
    """
    return WORD.sub(lambda found: one_alphabet(found.group()), text)


def one_alphabet(word: str) -> str:
    if not is_mixed(word):
        return word
    russian, english = word.translate(TO_CYRILLIC), word.translate(TO_LATIN)
    if not IN_LATIN.search(russian) and not IN_CYRILLIC.search(english):
        return word
    if not IN_LATIN.search(russian):
        return russian
    return english if not IN_CYRILLIC.search(english) else word
