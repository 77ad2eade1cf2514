"""BM25 on both sides: terms and their weights in a document, ids of the terms of a question.

The weight and the term ids are those of fastembed's `Qdrant/bm25` (0.9.1), made with the two parts it stands
on (py-rust-stemmers and mmh3) and without the rest of it. IDF is the question's side: `frequencies.py`.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import mmh3

from retrieval.stock_words import StockWords
from retrieval.words import LONGEST, Words, read_stop_words

STOP_WORDS = Path(__file__).parent / "stopwords"
AVG_LEN = 128.0  # a child of 1,100 characters; nDCG@10 on scifact moves by 0.003 between 80 and 256


@dataclass(frozen=True)
class SparseVector:
    """Term ids, ascending, and a weight for each."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class Bm25:
    """Turns text into sparse vectors. `avg_len` is a mean length in terms after stop words.

    `words` cuts text into terms; without one, ours with the lists below `stop_words`.
    """

    def __init__(
        self,
        stop_words: Path = STOP_WORDS,
        k1: float = 1.2,
        b: float = 0.75,
        avg_len: float = AVG_LEN,
        words: Words | StockWords | None = None,
    ) -> None:
        """Reads english.txt and russian.txt below `stop_words`. Raises StopWordsMissing."""
        cut = words or Words(read_stop_words(stop_words))
        self._words, self._k1, self._b, self._avg_len = cut, k1, b, avg_len
        self.sha256 = _digest(cut, k1, b, avg_len)

    def document(self, text: str) -> SparseVector:
        """Weights tf·(k1+1) / (tf + k1·(1 − b + b·length/avg_len)) of the terms of a passage."""
        terms = self._words.terms(text)
        flat = self._k1 * (1 - self._b + self._b * len(terms) / self._avg_len)
        counts = Counter(map(term_id, terms))
        ids = tuple(sorted(counts))
        return SparseVector(ids, tuple(counts[one] * (self._k1 + 1) / (counts[one] + flat) for one in ids))

    def question(self, text: str) -> tuple[int, ...]:
        """The ids of the distinct terms of a question, ascending; none when it has stop words only."""
        return tuple(sorted({term_id(term) for term in self._words.terms(text)}))


def term_id(term: str) -> int:
    """|murmur3_32(term)|, as fastembed counts: 0 to 2**31."""
    return abs(int(mmh3.hash(term)))


def _digest(words: Words | StockWords, k1: float, b: float, avg_len: float) -> str:
    fixed = {
        "tokenizer": words.name,
        "unicode": "NFKC",
        "longest": LONGEST,
        "stop_words": sorted(words.stop_words),
        "k1": k1,
        "b": b,
        "avg_len": avg_len,
    }
    text = json.dumps(fixed, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
