"""How many letters were misread: the edits between what stands on a page and what was read, by its length."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

MARKS = re.compile(r"^(?:#{1,6} |\s*[-*] |>)|^\|[ \-|:]+\|$|[|•·]|\\(?=[#>|*_])", re.M)


@dataclass(frozen=True)
class Misread:
    """Letters to read and edits needed, over some pages of one language."""

    language: str
    pages: int
    letters: int
    edits: int

    @property
    def rate(self) -> float:
        """The character error rate; 0 is a perfect reading."""
        return self.edits / self.letters if self.letters else 0.0


def plain(markdown: str) -> str:
    """Markdown as a reader sees it, on one line: no marks of headings, items and tables."""
    return " ".join(MARKS.sub(" ", markdown).split())


def edits(said: str, read: str) -> int:
    """Letters to insert, delete or replace until `read` is `said`; runs of blanks count as one."""
    return int(Levenshtein.distance(plain(read), plain(said)))


def by_language(pages: Sequence[tuple[str, str, str]]) -> Iterable[Misread]:
    """One sum for each language, of (language, what stands there, what was read)."""
    for language in sorted({page[0] for page in pages}):
        own = [(said, read) for one, said, read in pages if one == language]
        letters = sum(len(plain(said)) for said, _ in own)
        yield Misread(language, len(own), letters, sum(edits(said, read) for said, read in own))
