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
# Without NUL, which is told apart, and the mark with which DOS ends a file.
CONTROL = re.compile(r"[\x01-\x08\x0e-\x19\x1b-\x1f\x7f-\x9f]")
FREQUENT = set("оеаинтсрвлкмдпуéèàäöüßñçêôîâóíá")
GOOD = 0.75  # share of sensible words below which a guess is no guess


def decode(name: str, data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text of `data` and the encoding it was in. `declared` is what the file says of itself.

    Raises InvalidArgument for NUL characters, broken UTF-8, a wrong mark and bytes no encoding explains.
    """
    text, encoding = by_mark(name, data) or by_proof(data) or by_guess(name, data, declared)
    if "\x00" in text:
        raise refused(name, "content", "it contains NUL characters; text must have none")
    return text, encoding


def on_record(reader: str, encoding: str) -> str:
    """The name of what read a file, with the encoding where that had to be found out."""
    return reader if encoding.startswith("utf-8") else f"{reader} ({encoding})"


def flags_of(encoding: str) -> tuple[str, ...]:
    """What a reviewer should know: an encoding that neither a mark nor the bytes prove may be wrong."""
    proven = encoding.startswith("utf-8") or encoding in BOMS.values()
    return () if proven else (f"guessed_encoding:{codecs.lookup(encoding).name}",)


def by_mark(name: str, data: bytes) -> tuple[str, str] | None:
    """What a mark says, or what two bytes a letter look like. Raises InvalidArgument for a wrong mark."""
    mark = next((mark for mark in BOMS if data.startswith(mark)), None)
    if mark is None:
        return utf16_without_mark(data)
    found = attempt(data, BOMS[mark]) if mark == codecs.BOM_UTF8 else utf16_after(mark, data)
    if found is None:
        marked = BOMS[mark].removesuffix("-sig").upper()
        raise refused(name, "encoding", f"it begins with the mark of {marked} and is not {marked}; use UTF-8")
    return found


def utf16_after(mark: bytes, data: bytes) -> tuple[str, str] | None:
    """UTF-16 of our languages has zeros or fours; bytes of ASCII alone would all become Chinese."""
    body = data[len(mark) :]
    ascii_only = body.isascii() and 0 not in body and 4 not in body
    return None if body and ascii_only else sound(data, BOMS[mark])


def utf16_without_mark(data: bytes) -> tuple[str, str] | None:
    """Every second byte of UTF-16 text in Latin or Cyrillic letters is 0 or 4."""
    head = data[:4096]
    for encoding, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(head) >= 16 and sum(byte in (0, 4) for byte in high) > 0.9 * len(high):
            return sound(data, encoding) if head.count(0) < 0.6 * len(head) else None
    return None


def by_proof(data: bytes) -> tuple[str, str] | None:
    return attempt(data, "utf-8")


def by_guess(name: str, data: bytes, declared: str | None) -> tuple[str, str]:
    """The encoding that makes the most sense; at equal sense what the file declares, then the order above."""
    check_broken_utf8(name, data)
    candidates = [declared] if declared else []
    found = [result for encoding in (*candidates, *LEGACY) if (result := sound(data, encoding))]
    best = max(found, key=lambda result: sense(result[0]), default=None)
    if best is None or sense(best[0]) < GOOD:
        raise refused(name, "encoding", "it is not UTF-8 and no known encoding makes sense of it; use UTF-8")
    return best


def check_broken_utf8(name: str, data: bytes) -> None:
    """A file that is UTF-8 but for a few bytes is damaged, not in another encoding."""
    lost = data.decode("utf-8", "replace")
    # Signs count as letters do: a dash or a degree in English text proves as much.
    good = sum(len(run) for run in re.findall("[^\x00-\x7f\ufffd]+", lost))
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


def sound(data: bytes, encoding: str) -> tuple[str, str] | None:
    """An attempt whose text has no control characters: an encoding that makes some explains nothing."""
    found = attempt(data, encoding)
    return found if found and not CONTROL.search(found[0]) else None


def foreign_words(text: str) -> list[str]:
    """The words that have a letter beyond ASCII."""
    return [word for word in WORD.findall(text) if FOREIGN.search(word)]


def sense(text: str) -> float:
    """0 to 2: the share of words in one script with sensible capitals, plus how common their letters are.

    0 when no letter is common: two stray bytes make a word of some alphabet, too.
    """
    words = foreign_words(text[:200_000])
    if not words:
        return 0.0
    sensible = [word for word in words if SENSIBLE.fullmatch(word)]
    letters = "".join(sensible).lower()
    common = sum(c in FREQUENT for c in letters)
    return len(sensible) / len(words) * (1 + common / len(letters)) if common else 0.0
