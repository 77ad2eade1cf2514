"""Finds parents of the sample knowledge base as the services do: BM25 and one dense leg per language fused by
rank, each language with its share, the best reranked."""

from pathlib import Path

import numpy as np
from judgement import Judgement
from late_interaction import LateInteraction
from ranking import BM25, fused
from reader import PASSAGE_PREFIX, QUESTION_PREFIX, Reader
from remember import Remembering
from sample_parents import Section, sections
from words import is_cyrillic

from retrieval.fusion import Scored, shared

CANDIDATES, DEPTH, SHARE = 13, 100, 4
RERANKER = Path(__file__).resolve().parents[2] / "lexical_late_interaction" / "1"
WHOLE = 2_000


class Search:
    """A question to its candidates, best first."""

    def __init__(self, reader: Reader, encoder: Remembering, tokenizer: Path) -> None:
        self._parents = sections(tokenizer)
        self._texts = [f"{one.above}\n{one.text}" for one in self._parents]
        self._cyrillic = np.array([is_cyrillic(text) for text in self._texts])
        self._words, self._encoder = BM25(self._texts), encoder
        self._vectors = encoder.vectors(self._texts, PASSAGE_PREFIX)
        self._reranker = LateInteraction(reader, Judgement.load(RERANKER / "weights.json"), budget=WHOLE)

    def __call__(self, question: str) -> list[Section]:
        (vector,) = self._encoder.vectors([question], QUESTION_PREFIX)
        dense = self._vectors @ vector
        legs = [np.where(self._cyrillic == script, dense, 0) for script in (False, True)]
        found = [Scored(str(place), 0.0) for place in fused([self._words(question), *legs], DEPTH)]
        places = [int(one.id) for one in shared(found, self.script, CANDIDATES, SHARE)]
        scored = self._reranker.score([(question, self._texts[place]) for place in places])
        order = np.argsort([-one.score for one in scored], kind="stable")
        return [self._parents[places[rank]] for rank in order]

    def script(self, place: str) -> str:
        return "cyrillic" if self._cyrillic[int(place)] else "latin"
