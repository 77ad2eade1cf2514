"""Whether a statement answers a question, learned from questions whose answers were marked.

A decomposable attention network (Parikh et al., 2016, arXiv:1606.01933) on the encoder's token states. Every
token asked is compared with what the statement and its surroundings hold for it; the comparisons are
summed by their importance, and joined with the lexical features of `evidence`. `fit/train.py` has the same
computation in PyTorch and writes the weights; a test holds the two together.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from e5_encoder import Floats
from evidence import HERE, NAMES, Evidence
from question import Question

# What a word weighs at least, so that its logarithm is finite.
LEAST_WEIGHT = 0.01
# Cosines are small numbers; before a softmax they are spread by this much.
SPREAD = 8.0
_NORM_EPSILON = 1e-5


class Alignment(NamedTuple):
    """weights: by the name that PyTorch gives them. middle, spread: of the features, [len(NAMES)]."""

    weights: Mapping[str, Floats]
    middle: Floats
    spread: Floats

    @classmethod
    def load(cls, path: Path) -> list[Self]:
        """The members of the file that `fit/train.py` writes; ValueError where they were fitted on other
        features."""
        members: dict[str, dict[str, Floats]] = defaultdict(dict)
        with np.load(path, allow_pickle=False) as stored:
            if tuple(json.loads(str(stored["features"]))) != NAMES:
                raise ValueError(f"{path.name} was fitted on other features")
            for key in (key for key in stored.files if key != "features"):
                member, name = key.split(".", 1)
                members[member][name] = stored[key].astype(np.float32)
        return [cls(one, one.pop("middle"), one.pop("spread")) for one in members.values()]

    def odds(self, asked: Question, found: Sequence[Evidence]) -> list[float]:
        """The log odds that each statement answers, against that nothing does."""
        importance = np.log(np.maximum(asked.token_weights, LEAST_WEIGHT))
        asking = self._projected(asked.states)
        wanted = softmax(importance) @ asking
        return [self._of(asked, importance, asking, wanted, one) for one in found]

    def _of(
        self, asked: Question, importance: Floats, asking: Floats, wanted: Floats, one: Evidence
    ) -> float:
        standing = self._projected(one.states)
        placed = standing + self.weights["place"][one.places]
        compared = self._compared(asking, placed, asked.states @ one.states.T, one.places == HERE)
        offered = self._offered(wanted, placed, one.places == HERE) @ standing
        needed = softmax(self._linear("needed", compared)[:, 0] + importance) @ compared
        missed = softmax(self._linear("missed", compared)[:, 0]) @ compared
        features = (one.row - self.middle) / self.spread
        joined = np.concatenate([needed, missed, offered, wanted * offered, features])
        learned = self._linear("out.3", gelu(self._linear("out.0", joined)))
        return float((learned + self._linear("features", features) - self.weights["silence"])[0])

    def _projected(self, states: Floats) -> Floats:
        """[tokens, dimension] → [tokens, width], each token normalised."""
        made = self._linear("project", states)
        spread = np.sqrt(made.var(axis=-1, keepdims=True) + _NORM_EPSILON)
        normal: Floats = (made - made.mean(axis=-1, keepdims=True)) / spread
        return normal * self.weights["norm.weight"] + self.weights["norm.bias"]

    def _compared(self, asking: Floats, placed: Floats, cosines: Floats, here: np.ndarray) -> Floats:
        """Each token of the question beside what answers to it, [question's tokens, width]."""
        sharpness = SPREAD * np.maximum(self.weights["sharpness"], 0)
        attention = softmax(asking @ placed.T / np.sqrt(asking.shape[1]) + cosines * sharpness)
        found = attention @ placed
        nearest = np.stack(
            [cosines.max(axis=1), cosines[:, here].max(axis=1), attention[:, here].sum(axis=1)], axis=1
        )
        pair = np.concatenate([asking, found, asking * found, np.abs(asking - found), nearest], axis=1)
        return gelu(self._linear("compare.3", gelu(self._linear("compare.0", pair))))

    def _offered(self, wanted: Floats, placed: Floats, here: np.ndarray) -> Floats:
        """How much each token of the statement counts as what is asked for, [tokens]; elsewhere 0."""
        fitting = placed @ self._linear("key", wanted) / np.sqrt(placed.shape[1])
        return softmax(np.where(here, fitting, -np.inf))

    def _linear(self, name: str, inputs: Floats) -> Floats:
        made: Floats = inputs @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return made


def softmax(odds: Floats) -> Floats:
    """Along the last axis."""
    chances = np.exp(odds - odds.max(axis=-1, keepdims=True))
    made: Floats = chances / chances.sum(axis=-1, keepdims=True)
    return made


def gelu(inputs: Floats) -> Floats:
    """Hendrycks and Gimpel, 2016, arXiv:1606.08415, in its form with tanh."""
    made: Floats = 0.5 * inputs * (1 + np.tanh(np.sqrt(2 / np.pi) * (inputs + 0.044715 * inputs**3)))
    return made
