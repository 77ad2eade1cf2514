"""How rare a word is, read off the tokenizer: a unigram vocabulary carries the log-probability of each
piece."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# In nats. A piece likelier than COMMON ("the" is 7.3, "what" 10.3) weighs next to nothing, one at RARE
# ("kidney" as a whole word would be about 13) weighs 1; a word of several pieces is rarer than its rarest
# one, within bounds.
COMMON, RARE = 8.0, 13.0
PER_FURTHER_PIECE = 0.25
LEAST, MOST = 0.05, 1.75


class Rarity:
    """Weights of words by the pieces they are made of."""

    def __init__(self, log_probabilities: NDArray[np.float32]) -> None:
        self._surprise = -log_probabilities

    @classmethod
    def load(cls, tokenizer_json: Path) -> "Rarity":
        """From a `tokenizer.json` whose model is a unigram vocabulary; KeyError for another kind."""
        vocabulary = json.loads(tokenizer_json.read_text(encoding="utf-8"))["model"]["vocab"]
        return cls(np.array([score for _, score in vocabulary], np.float32))

    def of(self, pieces: Sequence[int]) -> float:
        """The weight of the word made of these token ids, LEAST..MOST. No pieces: LEAST."""
        if not pieces:
            return LEAST
        surprise = float(self._surprise[list(pieces)].max())
        weight = (surprise - COMMON) / (RARE - COMMON) + PER_FURTHER_PIECE * (len(pieces) - 1)
        return min(max(weight, LEAST), MOST)
