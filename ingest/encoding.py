"""Finds out how a text file is encoded, and refuses to guess when the guess would be poor.

Modern files are UTF-8 and prove it themselves. Russian legacy encodings all map the same bytes to letters, so
a candidate is judged by what it makes of the words: one script, sensible capitals, common letters.
"""

import codecs
import re

from ingest.refusal import refused

BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
LEGACY = ("cp1251", "koi8_r", "cp866", "mac_cyrillic", "iso8859_5", "cp1252")
# Signs that wrong encodings put in the place of letters: "выполн€етс€" must not pass for sensible words.
STRAY = "€†‡¬¶¤¦√≤≥≠≈∞÷\u2500-\u259f"
WORD = re.compile(rf"(?:[^\W\d_]|[{STRAY}])+")
FOREIGN = re.compile(r"[^\x00-\x7f\W\d_]")
SENSIBLE = re.compile(r"[А-ЯЁ]?[а-яё]+|[А-ЯЁ]+|[A-Za-zÀ-ÖØ-öø-ÿŒœ]+")  # one script, capitals in front
FREQUENT = set("оеаинтсрвлкмдпуéèàäöüßñçêôîâóíá")
GOOD = 0.75  # share of sensible words below which a guess is no guess


def decode(name: str, data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text of `data` and the encoding it was in. `declared` is what the file says of itself.

    Raises InvalidArgument for NUL characters, broken UTF-8 and bytes no encoding explains.
    """
    text, encoding = by_mark(data) or by_proof(data) or by_guess(name, data, declared)
    if "\x00" in text:
        raise refused(name, "content", "it contains NUL characters; text must have none")
    return text, encoding


def on_record(reader: str, encoding: str) -> str:
    """The name of what read a file, with the encoding where that had to be found out."""
    return reader if encoding.startswith("utf-8") else f"{reader} ({encoding})"


def by_mark(data: bytes) -> tuple[str, str] | None:
    for mark, encoding in BOMS.items():
        if data.startswith(mark):
            return attempt(data, encoding)
    return utf16_without_mark(data)


def utf16_without_mark(data: bytes) -> tuple[str, str] | None:
    """Every second byte of UTF-16 text in Latin or Cyrillic letters is 0 or 4."""
    head = data[:4096]
    for encoding, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(head) >= 16 and sum(byte in (0, 4) for byte in high) > 0.9 * len(high):
            return attempt(data, encoding) if head.count(0) < 0.6 * len(head) else None
    return None


def by_proof(data: bytes) -> tuple[str, str] | None:
    return attempt(data, "utf-8")


def by_guess(name: str, data: bytes, declared: str | None) -> tuple[str, str]:
    """The encoding that makes the most sense; at equal sense what the file declares, then the order above."""
    check_broken_utf8(name, data)
    candidates = [declared] if declared else []
    found = [result for encoding in (*candidates, *LEGACY) if (result := attempt(data, encoding))]
    best = max(found, key=lambda result: sense(result[0]), default=None)
    if best is None or sense(best[0]) < GOOD:
        raise refused(name, "encoding", "it is not UTF-8 and no known encoding makes sense of it; use UTF-8")
    return best


def check_broken_utf8(name: str, data: bytes) -> None:
    """A file that is UTF-8 but for a few bytes is damaged, not in another encoding."""
    lost = data.decode("utf-8", "replace")
    good = len(foreign_words(lost.replace("\ufffd", " ")))
    if good > lost.count("\ufffd"):
        at = broken_at(data)
        raise refused(name, "encoding", f"the UTF-8 is invalid at byte {at}; every byte must be valid UTF-8")


def broken_at(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return len(data)


def attempt(data: bytes, encoding: str) -> tuple[str, str] | None:
    try:
        return data.decode(encoding), encoding
    except (UnicodeDecodeError, LookupError):
        return None


def foreign_words(text: str) -> list[str]:
    """The words that have a letter beyond ASCII."""
    return [word for word in WORD.findall(text) if FOREIGN.search(word)]


def sense(text: str) -> float:
    """0 to 2: the share of words in one script with sensible capitals, plus how common their letters are."""
    words = foreign_words(text[:200_000])
    if not words:
        return 0.0
    sensible = [word for word in words if SENSIBLE.fullmatch(word)]
    letters = "".join(sensible).lower()
    return len(sensible) / len(words) * (1 + sum(c in FREQUENT for c in letters) / max(1, len(letters)))
