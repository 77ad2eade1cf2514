"""A judge's scores, and its failures apart from them: a failure is never a zero."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from evaluation.agreement import Agreement, agreement
from evaluation.measures import Mean, mean

TIMEOUT, NONSENSE, NOT_A_NUMBER, UNAVAILABLE = "timeout", "nonsense", "no valid score", "unavailable"

METRICS = (
    "contextual_precision",
    "contextual_recall",
    "contextual_relevancy",
    "answer_relevancy",
    "faithfulness",
    "correctness",
)


class JudgeFailure(Exception):
    """The judge gave no score; `kind` is one of the four above."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Case:
    """An answer to be judged, with the sources it was written from, best first."""

    id: str
    question: str
    answer: str
    reference: str
    sources: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """Whether there is an answer at all: an empty one would be judged perfectly faithful."""
        return bool(self.answer.strip())


@dataclass(frozen=True)
class Outcome:
    """One judgement: a score from 0 to 1, or how it failed."""

    case: str
    metric: str
    repetition: int
    score: float | None
    failure: str = ""


@dataclass(frozen=True)
class Judged:
    """A metric over the cases that have a score. `spread`: the mean SD of a case's repetitions."""

    metric: str
    mean: Mean | None
    cases: int
    failures: dict[str, int]
    spread: float | None


def outcome(case: str, metric: str, repetition: int, score: object) -> Outcome:
    """The score as it may be counted: anything but a number from 0 to 1 is a failure."""
    number = not isinstance(score, bool) and isinstance(score, int | float)
    if not number or math.isnan(score) or not 0 <= score <= 1:  # type: ignore[arg-type,operator]
        return Outcome(case, metric, repetition, None, NOT_A_NUMBER)
    return Outcome(case, metric, repetition, float(score))  # type: ignore[arg-type]


def by_case(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Metric → case → mean of its scores; a case without one is left out."""
    given: dict[str, dict[str, list[float]]] = {}
    for one in outcomes:
        if one.score is not None:
            given.setdefault(one.metric, {}).setdefault(one.case, []).append(one.score)
    return {metric: {c: fmean(v) for c, v in cases.items()} for metric, cases in given.items()}


def judged(outcomes: Sequence[Outcome]) -> list[Judged]:
    """A line for each metric, in the order of first judgement."""
    found, scores = [], by_case(outcomes)
    for metric in dict.fromkeys(one.metric for one in outcomes):
        own = [one for one in outcomes if one.metric == metric]
        values = scores.get(metric, {})
        failures = Counter(one.failure for one in own if one.failure)
        figure = mean(list(values.values())) if values else None
        found.append(Judged(metric, figure, len(values), dict(failures), _spread(own)))
    return found


def _spread(outcomes: Sequence[Outcome]) -> float | None:
    repeated: dict[str, list[float]] = {}
    for one in outcomes:
        if one.score is not None:
            repeated.setdefault(one.case, []).append(one.score)
    deviations = [stdev(scores) for scores in repeated.values() if len(scores) > 1]
    return fmean(deviations) if deviations else None


@dataclass(frozen=True)
class Calibration:
    """The judge against people on the same cases: Cohen's κ, and how often each says yes (base rates)."""

    kappa: Agreement
    agree: float
    judge_yes: float
    people_yes: float
    curve: tuple[tuple[float, float, int], ...] = ()
    """Mean score, share of people's yes, and cases, in each fifth of the scale that has any."""


def calibrated(
    scores: Mapping[str, float], labels: Mapping[str, bool], threshold: float = 0.5
) -> Calibration:
    """A score of `threshold` or more is the judge's yes. Raises ValueError below ten common cases."""
    common = sorted(set(scores) & set(labels))
    if len(common) < 10:
        raise ValueError(f"the judge and the labels share {len(common)} cases; calibration needs 10 at least")
    judge, people = [scores[c] >= threshold for c in common], [labels[c] for c in common]
    if len({*judge, *people}) == 1:
        raise ValueError("judge and people say the same of every case: kappa is not defined")
    kappa = agreement(list(zip(judge, people, strict=True)), [False, True], kind="conger")
    curve = _curve([(scores[case], labels[case]) for case in common])
    return Calibration(kappa, kappa.observed, fmean(judge), fmean(people), curve)


def _curve(pairs: Sequence[tuple[float, bool]]) -> tuple[tuple[float, float, int], ...]:
    bins: dict[int, list[tuple[float, bool]]] = {}
    for score, label in pairs:
        bins.setdefault(min(4, int(score * 5)), []).append((score, label))
    return tuple(
        (fmean(score for score, _ in some), fmean(label for _, label in some), len(some))
        for _, some in sorted(bins.items())
    )
