"""BM25 alone, in memory: what a comparison of chunkings needs, with the product's own words and weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from evaluation.annotated import AnnotatedSet
from evaluation.datasets import Span
from evaluation.evidence import Chunk, Chunking
from ingest.strategies import pieces
from ingest.tokens import Ruler, TokenCounter, token_counter
from retrieval.bm25 import STOP_WORDS, Bm25
from retrieval.frequencies import count
from retrieval.words import Words, read_stop_words

SAMPLED = 200  # chunks, for their mean length


class WordIndex:
    """Chunks by their words; `avg_len` is the mean of these chunks, so that no chunk size is favoured."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        words = Words(read_stop_words(STOP_WORDS))
        every = max(1, len(texts) // SAMPLED)
        lengths = [len(words.terms(text)) for text in list(texts.values())[::every]]
        self._bm25 = Bm25(avg_len=max(1.0, float(np.mean(lengths))))
        self._ids = np.array(list(texts))
        vectors = [self._bm25.document(text) for text in texts.values()]
        self._frequencies = count(vectors)
        terms, columns = np.unique([term for v in vectors for term in v.indices], return_inverse=True)
        self._terms = {int(term): column for column, term in enumerate(terms)}
        starts = np.cumsum([0, *(len(vector.indices) for vector in vectors)])
        values = [value for vector in vectors for value in vector.values]
        self._postings = csr_array((values, columns, starts), shape=(len(vectors), len(terms))).tocsc()

    def search(self, question: str, most: int) -> list[str]:
        """The ids of the best chunks that have any of the words, best first; equal ones by id."""
        query = self._frequencies.idf(self._bm25.question(question))
        scores = np.zeros(len(self._ids))
        for term, weight in zip(query.indices, query.values, strict=True):
            column = self._terms[term]
            some = slice(*self._postings.indptr[column : column + 2])
            scores[self._postings.indices[some]] += weight * self._postings.data[some]
        order = np.lexsort((self._ids, -scores))[:most]
        return [str(self._ids[place]) for place in order if scores[place] > 0]


class FixedChunks:
    """Documents cut into pieces of a fixed number of tokens; each document is read once for all sizes."""

    def __init__(self, dataset: AnnotatedSet, tokenizer: Path) -> None:
        counter: TokenCounter = token_counter(tokenizer)
        self._texts = dataset.texts
        self._rulers: dict[str, Ruler] = {one: counter.ruler(text) for one, text in self._texts.items()}

    def cut(self, tokens: int, overlap: float, strategy: str = "fixed") -> tuple[Chunking, dict[str, str]]:
        """The chunking, and the text of each chunk by its id."""
        chunks = [
            Chunk(f"{document}:{start}-{end}", Span(document, start, end))
            for document, text in self._texts.items()
            for start, end in pieces(strategy, text, self._rulers[document], tokens, overlap)
        ]
        texts = {c.id: self._texts[c.place.document][c.place.start : c.place.end] for c in chunks}
        return Chunking(chunks, self._texts), texts


def rankings(questions: Mapping[str, str], texts: Mapping[str, str], most: int) -> dict[str, Sequence[str]]:
    """The best chunks for each question, by its id."""
    index = WordIndex(texts)
    return {one: index.search(text, most) for one, text in questions.items()}
