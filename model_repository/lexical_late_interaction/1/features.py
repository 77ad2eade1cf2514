"""What a (question, passage) pair looks like to the reranker: one row of numbers, each of this pair alone.

Some read words (which of the question's words the passage holds, how often, how close together), some the
encoder's token states (late interaction: each token of the question against its nearest in the passage),
and some ask after the word that is covered worst, since a passage that misses the subject does not answer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matching import Vocabulary
from numpy.typing import NDArray
from question import UNRELATED, Question, by_word, softmin, understood
from words import Word

Floats = NDArray[np.float32]

NAMES = (
    "stems",
    "likeness",
    "frequency",
    "near",
    "phrase",
    "codes_missed",
    "maxsim",
    "maxsim_all",
    "softmin",
    "mean",
    "cover",
    "worst",
    "worst_written",
    "worst_understood",
)

# Term frequency saturates as in BM25 (k1 = 1.2, b = 0.75) about a passage of 200 words.
_K1, _B, _USUAL_WORDS = 1.2, 0.75, 200
_NEAR_WORDS, _PHRASE_WORDS = 40, 3


class Passage(NamedTuple):
    """words: all of them, in order. states: centred unit states of the tokens that the encoder read,
    [tokens, dimension]. means: a centred unit vector per window read, [windows, dimension]."""

    words: Sequence[Word]
    vocabulary: Vocabulary
    states: Floats
    means: Floats


def features(asked: Question, passage: Passage) -> Floats:
    """[len(NAMES)], in the order of NAMES."""
    nearest = (asked.states @ passage.states.T).max(axis=1)
    meant = by_word(nearest, asked, UNRELATED)
    known = understood(meant)
    written = np.array([passage.vocabulary.likeness(word) for word in asked.words], np.float32)
    held = np.array([word.stem in passage.vocabulary.counts for word in asked.words], np.float32)
    cover = np.maximum(written, known)
    part = asked.weights / asked.weights.sum()
    importance = asked.weights / asked.weights.max()
    codes = np.array([word.code for word in asked.words], np.float32)
    return np.array(
        [
            part @ held,
            part @ written,
            part @ _frequency(asked, passage),
            _near(asked, passage),
            _phrase(asked, passage),
            (importance * codes * (1 - written)).max(),
            part @ meant,
            asked.token_weights @ nearest / asked.token_weights.sum(),
            softmin(meant, part),
            (passage.means @ asked.mean).max(),
            part @ cover,
            (importance * (1 - cover)).max(),
            (importance * (1 - written)).max(),
            (importance * (1 - known)).max(),
        ],
        np.float32,
    )


def _frequency(asked: Question, passage: Passage) -> Floats:
    counts = np.array([passage.vocabulary.counts[word.stem] for word in asked.words], np.float32)
    return counts / (counts + np.float32(_K1 * (1 - _B + _B * len(passage.words) / _USUAL_WORDS)))


def _near(asked: Question, passage: Passage) -> float:
    """The largest part of the question's weight that stands within a few words of each other."""
    weight_of = {word.stem: float(weight) for word, weight in zip(asked.words, asked.weights, strict=True)}
    hits = [(place, word.stem) for place, word in enumerate(passage.words) if word.stem in weight_of]
    best, first = 0.0, 0
    for last, (place, _) in enumerate(hits):
        while place - hits[first][0] > _NEAR_WORDS:
            first += 1
        best = max(best, sum(weight_of[stem] for stem in {stem for _, stem in hits[first : last + 1]}))
    return best / float(asked.weights.sum())


def _phrase(asked: Question, passage: Passage) -> float:
    """The part of the question's neighbouring words that are neighbours in the passage too."""
    pairs = {(one.stem, other.stem) for one, other in zip(asked.words, asked.words[1:], strict=False)}
    wanted = {stem for stem, _ in pairs}
    stems = [word.stem for word in passage.words]
    places = [place for place, stem in enumerate(stems) if stem in wanted]
    found = {(stems[at], other) for at in places for other in stems[at + 1 : at + 1 + _PHRASE_WORDS]} & pairs
    return len(found) / len(pairs) if pairs else 0.0
