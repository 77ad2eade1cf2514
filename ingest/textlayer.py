"""Checks the text a PDF page carries: glyph names, broken font maps, letters no language spreads so.

What is wrong is named, and OCR reads the page. The thresholds were set on 364 pages of real files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ingest.letters import WORD, is_mixed, likeness

# Names of glyphs instead of letters: GLYPH<12>, (cid:12), /g12, /G12 and /uni0412.
GLYPH = re.compile(r"GLYPH<[^<>]*>|\(cid:\d+\)|/(?:[gG]\d+|uni[0-9A-F]{4})(?![^\W_])|glyph\d+\b")
BROKEN = re.compile("[\ufffd\ufffe\ue000-\uf8ff\x00-\x08\x0e-\x1f\x80-\x9f]")
FOREIGN = re.compile(
    "[\u2e80-\u9fff\uac00-\ud7af\u3040-\u30ff]"
)  # East Asian: UTF-16 read the wrong way round
ACCENTED = re.compile("[\u00c0-\u00ff]")  # windows-1251 read as Latin-1
LETTER = re.compile(r"[^\W\d_]")
SIGN = re.compile(r"[^\w\s.…,:;_()\-–—|\u2500-\u257f]")  # not leader dots, not frames

FEW_LETTERS = 60  # below, a page under a large picture is a scan
FEWEST_JUDGED = 200  # letters; statistics of fewer say nothing
MOST_GLYPHS = 3  # names of glyphs; bullets of symbol fonts come so, one or two
MOST_BROKEN = 0.05  # share of characters
MOST_FOREIGN = 0.2
MOST_ACCENTED = 0.3  # of the letters
LEAST_LIKENESS = 0.62  # broken maps gave up to .50, tables of short words down to .70
MOST_MIXED = 0.1  # of the words; some are codes
LONGEST_MEAN = 18  # letters of a word; Russian has 6 to 8
MOST_SINGLE = 0.6  # of the words have one letter: the letters were set apart
MOSTLY_PICTURE = 0.5  # of the page's area


@dataclass(frozen=True)
class TextLayer:
    """A page's text as the file has it; `picture` is the share of its area under pictures, 0 to 1."""

    text: str
    picture: float = 0.0

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why the text cannot be trusted, in words of the page record; none when it can."""
        return tuple(self._reasons())

    @property
    def quality(self) -> float:
        """0 to 1: how much of it looks like text of a language. 0 without letters."""
        broken = len(GLYPH.findall(self.text)) * 4 + len(BROKEN.findall(self.text))
        return likeness(self.text) * max(0.0, 1 - broken / max(self.letters, 1))

    @cached_property
    def letters(self) -> int:
        return len(LETTER.findall(self.text))

    @property
    def characters(self) -> int:
        return sum(map(str.isalnum, self.text))

    @cached_property
    def words(self) -> list[str]:
        return [word for word in WORD.findall(self.text) if LETTER.search(word)]

    def _reasons(self) -> Iterator[str]:
        size = max(len(self.text), 1)
        if not self.characters and self.picture <= MOSTLY_PICTURE:
            yield "no_letters"  # a blank page, or letters drawn as lines
        if self.picture > MOSTLY_PICTURE and self.letters < FEW_LETTERS:
            yield "picture"
        if len(GLYPH.findall(self.text)) > MOST_GLYPHS:
            yield "glyph_names"
        if len(BROKEN.findall(self.text)) > max(3, MOST_BROKEN * size):
            yield "broken_characters"
        if self.letters < FEWEST_JUDGED and len(SIGN.findall(self.text)) > max(2, self.characters):
            yield "signs"
        if len(FOREIGN.findall(self.text)) > max(5, MOST_FOREIGN * size):
            yield "foreign_characters"
        if self.letters >= FEWEST_JUDGED:
            yield from self._statistics()

    def _statistics(self) -> Iterator[str]:
        words = len(self.words)
        if len(ACCENTED.findall(self.text)) > MOST_ACCENTED * self.letters:
            yield "wrong_encoding"
        if likeness(self.text) < LEAST_LIKENESS:
            yield "unlikely_letters"
        if sum(map(is_mixed, self.words)) > MOST_MIXED * words:
            yield "mixed_alphabets"
        if self.letters > LONGEST_MEAN * words:
            yield "no_spaces"
        if sum(len(word) == 1 for word in self.words) > MOST_SINGLE * words:
            yield "letters_apart"
