"""From a row of features to a probability: two small logistic models, one where question and passage share
a script, one where they do not."""

import json
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from features import NAMES
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Judgement(NamedTuple):
    """weights: by whether the scripts are the same, [len(NAMES)] and a constant behind them."""

    weights: dict[bool, Floats]

    @classmethod
    def load(cls, path: Path) -> Self:
        """From the JSON that `fit.py` writes; ValueError where it was fitted on other features."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        if tuple(stored["features"]) != NAMES:
            raise ValueError(f"{path.name} was fitted on other features")
        return cls(
            {
                same: np.array(stored[key], np.float32)
                for same, key in ((True, "same_script"), (False, "other_script"))
            }
        )

    def probability(self, row: Floats, same_script: bool) -> float:
        """0..1."""
        weights = self.weights[same_script]
        return float(1 / (1 + np.exp(-(row @ weights[:-1] + weights[-1]))))
