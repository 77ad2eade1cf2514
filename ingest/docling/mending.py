"""Puts words of look-alike letters back into one alphabet, and counts page by page what was mended."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.docling.markdown import Piece
from ingest.document import PageRecord
from ingest.letters import WORD, is_mixed, unmixed


@dataclass(frozen=True)
class Mended:
    """The blocks and the page records after it; `mixed` words stayed in two alphabets."""

    pieces: list[Piece]
    records: list[PageRecord]
    mixed: int


def mended(pieces: Iterable[Piece], records: Sequence[PageRecord]) -> Mended:
    """A search would miss a word of which an engine or a font wrote some letters in the other alphabet."""
    before = list(pieces)
    after = [replace(piece, text=unmixed(piece.text)) for piece in before]
    was, left = mixed_by_page(before), mixed_by_page(after)
    noted = [
        replace(one, reasons=(*one.reasons, *said(was[one.page] - left[one.page], left[one.page])))
        for one in sorted(records, key=lambda record: record.page)
    ]
    return Mended(after, noted, left.total())


def mixed_by_page(pieces: Iterable[Piece]) -> Counter[int]:
    found: Counter[int] = Counter()
    for piece in pieces:
        found[piece.page] += sum(map(is_mixed, WORD.findall(piece.text)))
    return found


def said(mended_words: int, left: int) -> list[str]:
    found = {"look_alikes_mended": mended_words, "mixed_alphabets_left": left}
    return [f"{name}:{count}" for name, count in found.items() if count]
