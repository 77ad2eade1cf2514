"""Finds a text in a document whatever its Unicode form and white space, and says where it stands there."""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Normalised:
    """A text in NFKC with single blanks, and for each of its characters the code point it came from.

    `origins` has one more entry: the end of the original.
    """

    text: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, original: str) -> "Normalised":
        """Normalises a text. Combining marks are composed with the letter before them."""
        parts: list[str] = []
        origins: list[int] = []
        for start, cluster in _clusters(original):
            form = " " if cluster.isspace() else unicodedata.normalize("NFKC", cluster)
            for sign in form:
                blank = sign.isspace()
                if blank and (not parts or parts[-1] == " "):
                    continue
                parts.append(" " if blank else sign)
                origins.append(start)
        return cls("".join(parts), (*origins, len(original)))

    def find(self, wanted: str) -> list[tuple[int, int]]:
        """Every place [start, end) of the original that reads as `wanted`, in order; none for blanks."""
        needle = Normalised.of(wanted).text.strip()
        places, at = [], self.text.find(needle) if needle else -1
        while at >= 0:
            places.append((self.origins[at], self._end(at + len(needle))))
            at = self.text.find(needle, at + 1)
        return places

    def _end(self, after: int) -> int:
        """The original's end of the character before `after`: a ligature ends where its last letter does."""
        last = self.origins[after - 1]
        return next((origin for origin in self.origins[after:] if origin > last), self.origins[-1])


def _clusters(text: str) -> list[tuple[int, str]]:
    """Each character with the combining marks behind it."""
    found: list[tuple[int, str]] = []
    for place, sign in enumerate(text):
        if found and unicodedata.combining(sign):
            found[-1] = (found[-1][0], found[-1][1] + sign)
        else:
            found.append((place, sign))
    return found
