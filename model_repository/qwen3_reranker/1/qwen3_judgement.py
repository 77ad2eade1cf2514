"""What the reranker says of a pair, as a score, and when its scores are no ranking any more. No PyTorch."""

from collections.abc import Sequence
from math import exp, isfinite
from typing import NamedTuple

# Log-odds of different passages that lie closer than this together are no ranking: a broken template or
# kernel gives one number to all. Passages that are all bad differ by far more (in log-odds, not in scores).
COLLAPSED = 0.02
COLLAPSE_FROM = 5


class Judged(NamedTuple):
    """margin: log-odds of yes against no, NaN when this pair failed. truncated: the document was cut."""

    margin: float
    truncated: bool


def score(judged: Judged) -> float:
    """0..1, or NaN."""
    if not isfinite(judged.margin):
        return float("nan")
    odds = exp(-abs(judged.margin))
    return (1 if judged.margin >= 0 else odds) / (1 + odds)


def collapsed(judged: Sequence[Judged], passages: Sequence[str]) -> bool:
    """Whether different passages got, as good as, one score. Judges the finite ones only."""
    margins = dict(zip(passages, (one.margin for one in judged), strict=True))
    finite = [margin for margin in margins.values() if isfinite(margin)]
    return len(finite) >= COLLAPSE_FROM and max(finite) - min(finite) < COLLAPSED
