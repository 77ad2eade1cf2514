"""What the experts' ratings say: how good, how far they agree, whether groups differ, or the judge.

All figures of one criterion are over questions (or sources) and raters together; agreement treats a question
that a rater did not get as a missing rating.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from evaluation.agreement import Agreement, agreement
from evaluation.experts.plan import Plan
from evaluation.experts.ratings import Rating
from evaluation.experts.sheets import STUDIES, Criterion
from evaluation.measures import Mean, mean
from evaluation.significance import Test, chi_square, kruskal_wallis, mann_whitney, spearman

USEFUL = 4  # a source an expert gave this at least counts as relevant
Subject = tuple[str, int]
"""A question, and the rank of its source (0: its answer)."""


@dataclass(frozen=True)
class Described:
    """A criterion: mean with its bootstrap interval (over subjects), SD of all ratings, how often each grade.

    `ac1` and `ac2` (quadratic weights; on a scale of two they are one) are None with nothing to compare.
    `identical`: the share of subjects with two ratings or more on which all agree; `close`: within one grade.
    """

    criterion: str
    ratings: int
    mean: Mean
    sd: float | None
    counts: dict[int, int]
    ac1: Agreement | None
    ac2: Agreement | None
    identical: float | None
    close: float | None


@dataclass(frozen=True)
class Compared:
    """A criterion between the groups of raters, and between the questions' departments."""

    criterion: str
    between: str
    medians: dict[str, float]
    overall: Test
    pairs: list[Test]
    grades: Test


def described(ratings: Sequence[Rating], criterion: Criterion) -> Described:
    """One criterion's figures. Raises ValueError when nobody rated it."""
    values = [one.value for one in ratings if one.criterion == criterion.name]
    if not values:
        raise ValueError(f"nobody rated {criterion.name}")
    subjects = by_subject(ratings, criterion.name)
    several = [list(given.values()) for given in subjects.values() if len(given) > 1]
    scale = range(criterion.low, criterion.high + 1)
    return Described(
        criterion=criterion.name,
        ratings=len(values),
        mean=mean([fmean(given.values()) for given in subjects.values()]),
        sd=stdev(values) if len(values) > 1 else None,
        counts={grade: values.count(grade) for grade in scale},
        ac1=_agreement(subjects, criterion, "unweighted"),
        ac2=_agreement(subjects, criterion, "quadratic"),
        identical=_share(several, lambda given: max(given) == min(given)),
        close=_share(several, lambda given: max(given) - min(given) <= 1),
    )


def compared(ratings: Sequence[Rating], plan: Plan, criterion: Criterion) -> list[Compared]:
    """The criterion between groups of raters and between departments of the questions."""
    department = {question.id: question.department for question in plan.questions}
    ways: dict[str, Callable[[Rating], str]] = {
        "group": lambda one: f"group {plan.group_of[one.question] + 1}",
        "department": lambda one: department[one.question],
    }
    return [_compared(ratings, criterion, way, name_of) for way, name_of in ways.items()]


def by_subject(ratings: Sequence[Rating], criterion: str) -> dict[Subject, dict[str, int]]:
    """Rater → value for each question or source, in the order of the subjects' names."""
    found: dict[Subject, dict[str, int]] = defaultdict(dict)
    for one in ratings:
        if one.criterion == criterion:
            found[one.question, one.rank][one.rater] = one.value
    return dict(sorted(found.items()))


def expert_precision(ratings: Sequence[Rating], useful: int = USEFUL) -> dict[str, float]:
    """Contextual Precision of each question from the experts' Usefulness, by the judge's formula.

    A source is relevant when the raters' mean is `useful` at least. Σ precision@k · relevant / relevant; 0
    where no source is. 0..1.
    """
    sources: dict[str, dict[int, bool]] = defaultdict(dict)
    for (question, rank), given in by_subject(ratings, "usefulness").items():
        sources[question][rank] = fmean(given.values()) >= useful
    return {q: precision([by_rank[k] for k in sorted(by_rank)]) for q, by_rank in sources.items()}


def precision(relevant: Sequence[bool]) -> float:
    """Average precision over the ranks, as DeepEval's Contextual Precision; 0 when none is relevant."""
    hits = [sum(relevant[:k]) / k for k, one in enumerate(relevant, 1) if one]
    return fmean(hits) if hits else 0.0


def against_judge(ratings: Sequence[Rating], judged: Mapping[str, Mapping[str, float]]) -> dict[str, Test]:
    """Spearman between the judge's metrics (name → question → score) and the experts' mean per question.

    Expert Contextual Precision is set against the judge's; other metrics against each criterion of answers.
    """
    answers = [one.name for some in STUDIES.values() for one in some if one.name != "usefulness"]
    by_expert = {name: _means(ratings, name) for name in answers}
    tests = {
        f"{metric} – {name}": _paired(scores, experts)
        for metric, scores in judged.items()
        for name, experts in by_expert.items()
        if experts and metric != "contextual_precision"
    }
    if "contextual_precision" in judged and (own := expert_precision(ratings)):
        name = "contextual_precision – expert contextual precision"
        tests[name] = _paired(judged["contextual_precision"], own)
    return tests


def _means(ratings: Sequence[Rating], criterion: str) -> dict[str, float]:
    found = by_subject(ratings, criterion)
    return {question: fmean(given.values()) for (question, rank), given in found.items() if rank == 0}


def _paired(scores: Mapping[str, float], experts: Mapping[str, float]) -> Test:
    both = [question for question in experts if question in scores]
    return spearman([scores[question] for question in both], [experts[question] for question in both])


def _agreement(
    subjects: Mapping[Subject, Mapping[str, int]], criterion: Criterion, weights: str
) -> Agreement | None:
    raters = sorted({rater for given in subjects.values() for rater in given})
    table = [[given.get(rater) for rater in raters] for given in subjects.values()]
    if len(table) < 2 or all(len(given) < 2 for given in subjects.values()):
        return None
    return agreement(table, range(criterion.low, criterion.high + 1), weights)


def _share(several: Sequence[list[int]], right: Callable[[list[int]], bool]) -> float | None:
    return fmean(right(given) for given in several) if several else None


def _compared(
    ratings: Sequence[Rating], criterion: Criterion, way: str, name_of: Callable[[Rating], str]
) -> Compared:
    # A question counts once, by its mean: raters of one question are no independent sample of answers.
    by_question: dict[tuple[str, Subject], list[int]] = defaultdict(list)
    for one in ratings:
        if one.criterion == criterion.name:
            by_question[name_of(one), (one.question, one.rank)].append(one.value)
    groups: dict[str, list[float]] = defaultdict(list)
    grades: dict[str, Counter[int]] = defaultdict(Counter)
    for (name, _), values in sorted(by_question.items()):
        groups[name].append(fmean(values))
        grades[name].update(values)
    scale = range(criterion.low, criterion.high + 1)
    table = [[grades[name][grade] for grade in scale] for name in groups]
    medians = {name: median(values) for name, values in groups.items()}
    return Compared(
        criterion.name, way, medians, kruskal_wallis(groups), mann_whitney(groups), chi_square(table)
    )
