"""The reranker's known answers, which ship with its weights: it must not serve while its own are wrong.

golden.json is {"cases": [{"query": "…", "passage": "…", "score": 0.98}, …], "least_margin": 0.5}, computed by
another program than this one (`python bundle`). The margin is between the best and the worst case: a model
without its template scores them alike.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from qwen3_judgement import score
from qwen3_reranker import Reranker
from weights_manifest import Refused

# The published reference computation and this one may differ by this much.
TOLERANCE = {"fp32": 0.005, "bf16": 0.03}


class WrongAnswer(Refused):
    """The model's answer to a known pair is not the known one."""


@dataclass(frozen=True)
class Golden:
    """least_margin: what the best case's score must be above the worst's."""

    pairs: list[tuple[str, str]]
    scores: list[float]
    least_margin: float

    @classmethod
    def read(cls, file: Path) -> Self:
        """Raises WrongAnswer for a file that cannot be read, or without cases."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            pairs = [(str(case["query"]), str(case["passage"])) for case in content["cases"]]
            scores = [float(case["score"]) for case in content["cases"]]
            golden = cls(pairs, scores, float(content["least_margin"]))
        except (OSError, ValueError, KeyError, TypeError):
            raise WrongAnswer("golden.json holds no known answers that can be read") from None
        if len(pairs) < 2:
            raise WrongAnswer("golden.json has fewer than two cases")
        return golden


def check(reranker: Reranker, golden: Golden, precision: str) -> None:
    """Raises WrongAnswer, with the case and both scores."""
    scores = [score(one) for one in reranker.rerank(golden.pairs)]
    for number, (found, known) in enumerate(zip(scores, golden.scores, strict=True)):
        if not abs(found - known) <= TOLERANCE[precision]:
            raise WrongAnswer(f"golden case {number}: score {found:.4f}, known is {known:.4f}")
    margin = max(scores) - min(scores)
    if not margin >= golden.least_margin:
        raise WrongAnswer(f"golden scores differ by {margin:.4f}, least is {golden.least_margin}")
