"""Thresholds for "is this evidence enough", from questions of their own: never from the functional set.

A case counts for answering when the question can be answered and its evidence is among the sources, against
it when it cannot be answered; a question whose evidence was not found decides nothing.

The rule with a reranker: of the points that keep at least `keep` of the right answers (0.97), the one that
refuses most; of equal ones the one that keeps more. A refusal must be right nine times in ten, and among ten
questions to a knowledge base two or three cannot be answered: one false refusal in thirty answers is all that
allows. A point lies half-way between two neighbouring scores.

The rule without a reranker: the pair with the greatest Youden's J = kept + refused - 1 (Youden 1950), of
equal ones the stricter, since that ranking is trusted less.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

KEEP = 0.97


class NoThreshold(ValueError):
    """The cases give no threshold; the message says why."""


@dataclass(frozen=True)
class Case:
    """A calibration question. `score` is its best rerank score, None where nothing was found.

    `answer`: True where answering is right, False where refusing is, None where the case decides nothing.
    `degraded`: (question-term coverage, cosine) of each candidate, for the ranking without a reranker.
    """

    id: str
    answer: bool | None
    score: float | None
    degraded: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Point:
    """A threshold and what it does: answers kept, refusals made, and how many of all answers were right."""

    threshold: float
    kept: float
    refused: float
    precision: float


@dataclass(frozen=True)
class Degraded:
    """The pair of thresholds for a ranking without reranker, and what it does."""

    coverage: float
    cosine: float
    kept: float
    refused: float
    precision: float


def curve(cases: Sequence[Case]) -> list[Point]:
    """The lowest score and a point between each two neighbours, ascending. Empty without scores."""
    scores = sorted({case.score for case in cases if case.score is not None and case.answer is not None})
    middles = [(low + high) / 2 for low, high in pairwise(scores)]
    return [_point(cases, threshold) for threshold in [*scores[:1], *middles]]


def chosen(points: Sequence[Point], keep: float = KEEP) -> Point:
    """The point by the rule above. Raises NoThreshold when none keeps enough."""
    fair = [point for point in points if point.kept >= keep]
    if not fair:
        raise NoThreshold(f"no point keeps {keep} of the right answers: too many have no score")
    return max(fair, key=lambda point: (point.refused, point.kept))


def degraded(cases: Sequence[Case], steps: Iterable[float] = ()) -> Degraded:
    """The pair by the rule above, on a grid: coverage in twentieths, every cosine there is.

    Raises NoThreshold.
    """
    coverages = sorted(steps or (step / 20 for step in range(6, 21)))
    cosines = sorted({round(cosine, 3) for case in cases for _, cosine in case.degraded})
    pairs = [_pair(cases, coverage, cosine) for coverage in coverages for cosine in cosines]
    if not pairs:
        raise NoThreshold("no case has candidates with a cosine")
    return max(pairs, key=lambda one: (round(one.kept + one.refused, 9), one.coverage, one.cosine))


def _point(cases: Sequence[Case], threshold: float) -> Point:
    rates = _rates(cases, [case.score is not None and case.score >= threshold for case in cases])
    return Point(threshold, *rates)


def _pair(cases: Sequence[Case], coverage: float, cosine: float) -> Degraded:
    enough = [any(c >= coverage and near >= cosine for c, near in case.degraded) for case in cases]
    return Degraded(coverage, cosine, *_rates(cases, enough))


def _rates(cases: Sequence[Case], enough: Sequence[bool]) -> tuple[float, float, float]:
    """Share of right answers kept, of right refusals made, and of answers given that were right."""
    right = [yes for case, yes in zip(cases, enough, strict=True) if case.answer is True]
    wrong = [yes for case, yes in zip(cases, enough, strict=True) if case.answer is False]
    given = sum(right) + sum(wrong)
    return (
        _share(sum(right), len(right)),
        _share(len(wrong) - sum(wrong), len(wrong)),
        _share(sum(right), given),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
