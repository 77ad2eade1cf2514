"""Which statements answer the question, and whether any does.

Each statement's row gives it a weight; silence has a weight too. The weights were fitted together, so that
where nothing answers silence wins.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from e5_encoder import Floats
from evidence import NAMES, Evidence

# More than one is quoted where the others are nearly as good as the best (in log odds).
MOST_QUOTES, NEARLY = 3, 1.5


class Judge(NamedTuple):
    """weights: [len(NAMES)]. silence: the log odds that a statement must reach."""

    weights: Floats
    silence: float

    @classmethod
    def load(cls, path: Path) -> Self:
        """From the JSON that `fit.py` writes; ValueError where it was fitted on other features."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        if tuple(stored["features"]) != NAMES:
            raise ValueError(f"{path.name} was fitted on other features")
        return cls(np.array(stored["weights"], np.float32), float(stored["silence"]))

    def chosen(self, found: Sequence[Evidence]) -> list[Evidence]:
        """The statements to quote, best first; none where no answer is sure enough."""
        odds = {index: float(one.row @ self.weights) - self.silence for index, one in enumerate(found)}
        best = sorted(odds, key=lambda index: -odds[index])[:MOST_QUOTES]
        return [found[index] for index in best if odds[index] >= max(0.0, odds[best[0]] - NEARLY)]
