"""A question made ready: which of its words carry the subject, how much each weighs, what the encoder makes
of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from e5_encoder import TokenStates, normalised
from numpy.typing import NDArray
from rarity import LEAST, Rarity
from words import Word, words

Floats = NDArray[np.float32]

# The similarity of a token to the nearest of a text: what unrelated ones reach, what equal ones fall short
# to.
UNRELATED, EQUAL = 0.2, 0.7
_SHARPNESS = 8.0


class Question(NamedTuple):
    """words: those that carry the subject, at least one, distinct stems. weights: their rarity, [words].
    states: centred unit states, [tokens, dimension]. owner: which word a token belongs to, [tokens], -1 for
    none. token_weights: [tokens]. mean: centred unit vector of the whole, [dimension]."""

    words: Sequence[Word]
    weights: Floats
    states: Floats
    owner: NDArray[np.int64]
    token_weights: Floats
    mean: Floats


def question(text: str, encoded: TokenStates, centre: Floats, rarity: Rarity) -> Question | None:
    """From a question and its token states; `centre` is the mean state of questions in its language.

    None where the text has no word at all.
    """
    asked = subject_words(text)
    if not asked or not encoded.ids:
        return None
    owner = np.full(len(encoded.ids), -1)
    weights = np.empty(len(asked), np.float32)
    token_weights = np.full(len(encoded.ids), LEAST, np.float32)
    for index, word in enumerate(asked):
        own = np.flatnonzero((encoded.offsets[:, 0] < word.end) & (encoded.offsets[:, 1] > word.start))
        owner[own] = index
        weights[index] = rarity.of([encoded.ids[token] for token in own])
        token_weights[own] = weights[index] / max(len(own), 1)
    states = centred(encoded.states, centre)
    return Question(asked, weights, states, owner, token_weights, normalised(states.mean(axis=0)))


def by_word(nearest: Floats, asked: Question, otherwise: float) -> Floats:
    """The mean of a number per token, [tokens], over each word's tokens, [words]; `otherwise` for a word
    that the tokenizer lost."""
    own = asked.owner >= 0
    sums = np.bincount(asked.owner[own], nearest[own], len(asked.words))
    counts = np.bincount(asked.owner[own], minlength=len(asked.words))
    return np.where(counts > 0, sums / np.maximum(counts, 1), otherwise).astype(np.float32)


def understood(meant: Floats) -> Floats:
    """How surely a word is meant by the most similar one, 0..1, from their similarity."""
    known: Floats = np.clip((meant - UNRELATED) / (EQUAL - UNRELATED), 0, 1)
    return known


def softmin(meant: Floats, part: Floats) -> float:
    """A mean that the least of the numbers pulls down. part: weights that sum to 1."""
    return float(-np.log(part @ np.exp(-_SHARPNESS * meant)) / _SHARPNESS)


def subject_words(text: str) -> list[Word]:
    """The words that carry the subject, each stem once; where all are empty ones, all of them."""
    every = words(text)
    full = {word.stem: word for word in reversed(every) if not word.empty}
    return sorted(full.values()) or every


def centred(states: Floats, centre: Floats) -> Floats:
    """Unit states about `centre`: what is common to a language is taken out, so that tokens of two
    languages compare by what they mean. All e5 states point into one narrow cone; without this their
    cosines hardly differ."""
    return normalised(states.astype(np.float32) - centre)
