"""Which statements answer the question, and whether any does.

Where no statement's log odds reach `silence`, nothing is quoted. It is set on questions that the network was
not fitted on (`fit/train.py`).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

from alignment import Alignment
from evidence import Evidence
from question import Question

# More than one is quoted where the others are nearly as good as the best (in log odds).
MOST_QUOTES, NEARLY = 3, 1.0


class Judge(NamedTuple):
    """alignments: networks whose log odds are averaged. silence: what a statement must reach."""

    alignments: Sequence[Alignment]
    silence: float

    @classmethod
    def load(cls, folder: Path) -> Self:
        """From alignment.npz and judge.json in `folder`."""
        stored = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
        return cls(Alignment.load(folder / "alignment.npz"), float(stored["silence"]))

    def odds(self, asked: Question, found: Sequence[Evidence]) -> list[float]:
        """Of each statement, above those that it must reach."""
        each = [network.odds(asked, found) for network in self.alignments]
        return [sum(odds) / len(odds) - self.silence for odds in zip(*each, strict=True)]

    def chosen(self, asked: Question, found: Sequence[Evidence]) -> list[Evidence]:
        """The statements to quote, best first; none where no answer is sure enough."""
        odds = dict(enumerate(self.odds(asked, found)))
        best = sorted(odds, key=lambda index: -odds[index])[:MOST_QUOTES]
        return [found[index] for index in best if odds[index] >= max(0.0, odds[best[0]] - NEARLY)]
