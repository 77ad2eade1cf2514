"""In how many children each term occurs: counted per document version, added up over the live ones.

One inverse document frequency over all topics makes the BM25 scores of different collections comparable.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25 import SparseVector


def _no_numbers() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Frequencies:
    """Term ids, ascending, in how many children each occurs, and how many children there are."""

    ids: NDArray[np.int64] = field(default_factory=_no_numbers)
    counts: NDArray[np.int64] = field(default_factory=_no_numbers)
    children: int = 0

    def idf(self, terms: Iterable[int]) -> SparseVector:
        """ln(1 + (N − n + 0.5) / (n + 0.5)) of those terms that occur, as the BM25 leg's query weights.

        The formula is Qdrant's and Lucene's; N children, n of them with the term.
        """
        known = {term: n for term in terms if (n := self._count(term))}
        weights = (float(np.log1p((self.children - n + 0.5) / (n + 0.5))) for n in known.values())
        return SparseVector(tuple(known), tuple(weights))

    def _count(self, term: int) -> int:
        place = int(np.searchsorted(self.ids, term))
        return int(self.counts[place]) if place < len(self.ids) and self.ids[place] == term else 0

    def to_bytes(self) -> bytes:
        """The ids and counts as little-endian 32-bit pairs of rows, for storing."""
        return np.stack([self.ids, self.counts]).astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, children: int) -> "Frequencies":
        """What `to_bytes` wrote."""
        ids, counts = np.frombuffer(data, dtype="<u4").reshape(2, -1).astype(np.int64)
        return cls(ids, counts, children)


def count(children: Iterable[SparseVector]) -> Frequencies:
    """The frequencies of some children."""
    vectors = list(children)
    indices = np.concatenate([_no_numbers(), *(np.asarray(one.indices, np.int64) for one in vectors)])
    ids, counts = np.unique(indices, return_counts=True)
    return Frequencies(ids, counts.astype(np.int64), len(vectors))


def total(added: Iterable[Frequencies], removed: Iterable[Frequencies] = ()) -> Frequencies:
    """The sum of `added` less the sum of `removed`, which must be part of it."""
    signed = [(one, 1) for one in added] + [(one, -1) for one in removed]
    every = np.concatenate([_no_numbers(), *(one.ids for one, _ in signed)])
    ids, places = np.unique(every, return_inverse=True)
    counts = np.zeros(len(ids), dtype=np.int64)
    np.add.at(counts, places, np.concatenate([_no_numbers(), *(one.counts * sign for one, sign in signed)]))
    kept = counts > 0
    return Frequencies(ids[kept], counts[kept], sum(one.children * sign for one, sign in signed))
