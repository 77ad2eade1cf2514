"""A reranker for a CPU: how surely a passage answers a question, each pair by itself.

The encoder reads the best windows of a passage only (`reading`); its token states and the words of the whole
passage give a row of features (`features`), which a logistic model turns into a probability (`judgement`).
Knows nothing of Triton.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from e5_encoder import Floats, normalised
from features import Passage, features
from judgement import Judgement
from matching import Vocabulary
from question import Question
from reader import Reader
from reading import BUDGET, holdings, pieces, windows
from sentences import sentences
from words import Word, is_cyrillic, words

# What lies beyond is not read at all, and said to be cut. A parent of 1,800 tokens has about 9,000
# characters.
LONGEST_QUESTION, LONGEST_PASSAGE = 2_000, 40_000


class Scored(NamedTuple):
    """score: 0..1, the probability that the passage holds the answer; NaN where the pair could not be judged.
    truncated: the question or the passage was longer than is ever read."""

    score: float
    truncated: bool


class Plan(NamedTuple):
    """What of one passage will be read: all its words, and the texts that the encoder gets."""

    words: Sequence[Word]
    windows: Sequence[str]


class LateInteraction:
    """For one thread at a time. budget: tokens of each passage that the encoder reads."""

    def __init__(self, reader: Reader, judgement: Judgement, budget: int = BUDGET) -> None:
        self._reader = reader
        self.budget = budget
        self._judgement = judgement

    @classmethod
    def load(cls, folder: Path, encoder_folder: Path, threads: int = 1, megabytes: int = 0) -> Self:
        """From centres.json and weights.json in `folder` and a converted encoder's folder.

        megabytes: of the token states of recent windows that are kept.
        """
        judgement = Judgement.load(folder / "weights.json")
        return cls(Reader.load(folder, encoder_folder, threads, megabytes), judgement)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Scored]:
        """One result per (question, passage), in order; a result does not depend on the other pairs."""
        cut = [(question[:LONGEST_QUESTION], passage[:LONGEST_PASSAGE]) for question, passage in pairs]
        return [
            Scored(self._judged(question, passage, row), (question, passage) != pair)
            for (question, passage), row, pair in zip(cut, self.rows(cut), pairs, strict=True)
        ]

    def rows(self, pairs: Sequence[tuple[str, str]]) -> list[Floats | None]:
        """The features of each pair; None where there is nothing to read in it."""
        texts = list(dict.fromkeys(question for question, _ in pairs))
        questions = dict(zip(texts, self._reader.questions(texts), strict=True))
        plans = [self._plan(questions[question], passage) for question, passage in pairs]
        states = self._windows([window for plan in plans for window in plan.windows])
        rows: list[Floats | None] = []
        for (text, _), plan in zip(pairs, plans, strict=True):
            question, read = (
                questions[text],
                [states[window] for window in plan.windows if len(states[window])],
            )
            rows.append(features(question, passage_of(plan.words, read)) if question and read else None)
        return rows

    def _windows(self, texts: Sequence[str]) -> dict[str, Floats]:
        return {text: read.states for text, read in zip(texts, self._reader.passages(texts), strict=True)}

    def _plan(self, question: Question | None, passage: str) -> Plan:
        read = words(passage)
        spans, costs = pieces(sentences(passage), self._reader.tokens(passage))
        if question is None or not spans:
            return Plan(read, [])
        chosen = windows(
            spans, costs, lambda: holdings(question.words, spans, read), question.weights, self.budget
        )
        return Plan(read, [passage[start:end] for start, end in chosen])

    def _judged(self, question: str, passage: str, row: Floats | None) -> float:
        if row is None or not np.isfinite(row).all():
            return math.nan
        return self._judgement.probability(row, is_cyrillic(question) == is_cyrillic(passage))


def passage_of(read: Sequence[Word], states: Sequence[Floats]) -> Passage:
    """A passage from its words and the states of its windows, none of them empty."""
    means = normalised(np.stack([window.mean(axis=0) for window in states]))
    return Passage(read, Vocabulary(read), np.concatenate(states), means)
