"""Retrieval measures by their ir_measures names (nDCG@10, R@5, RR@10, P@1), with bootstrap intervals.

Span measures are ours, since they look at places, not at documents: `Span@k` is 1 for a question when the
first k passages hold the spans of one of its alternatives, each whole in one passage.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np

from evaluation.datasets import Span

Rankings = Mapping[str, Sequence[str]]
"""Document ids by query id, best first, without duplicates."""
Qrels = Mapping[str, Mapping[str, int]]
PerQuery = dict[str, dict[str, float]]
"""Measure name → query id → value."""

OURS = re.compile(r"(ChildSpan|ParentSpan|SpanRecall|SpanPrecision|SpanIoU)@([1-9][0-9]{0,2})")
"""The evidence measures, which ir_measures does not have."""

DEFAULT = ("nDCG@10", "RR@10", "P@1", "R@5", "R@13", "Rprec")


@dataclass(frozen=True)
class Mean:
    """The mean over queries with its 95 % interval: bootstrap percentiles, 2,000 resamples of the queries."""

    mean: float
    low: float
    high: float


def known(name: str) -> bool:
    """Whether a measure can be computed: by ir_measures, or one of ours."""
    try:
        return bool(OURS.fullmatch(name) or ir_measures.parse_measure(name))
    except (NameError, ValueError, KeyError, TypeError):  # what its parser raises for other names
        return False


def per_query(rankings: Rankings, qrels: Qrels, names: Sequence[str] = DEFAULT) -> PerQuery:
    """Each measure of each judged query; a query without a ranking counts as finding nothing."""
    measures = {name: ir_measures.parse_measure(name) for name in names}
    values: PerQuery = {name: dict.fromkeys(qrels, 0.0) for name in names}
    names_of = {str(measure): name for name, measure in measures.items()}
    judgements = {query: dict(grades) for query, grades in qrels.items()}
    for metric in ir_measures.iter_calc(list(measures.values()), judgements, _run(rankings)):
        values[names_of[str(metric.measure)]][metric.query_id] = float(metric.value)
    return values


def held(
    places: Mapping[str, Sequence[Span]], evidence: Mapping[str, Sequence[Sequence[Span]]], k: int
) -> dict[str, float]:
    """1.0 for each query with an alternative every span of which one of the first k places holds whole."""

    def found(query: str, span: Span) -> bool:
        return any(holds(place, span) for place in places.get(query, ())[:k])

    return {
        query: float(any(all(found(query, span) for span in path) for path in paths))
        for query, paths in evidence.items()
    }


def holds(place: Span, span: Span) -> bool:
    """Whether a place holds a span of the same document whole."""
    return place.document == span.document and place.start <= span.start and span.end <= place.end


def mean(values: Sequence[float], resamples: int = 2000, seed: int = 20261201) -> Mean:
    """The mean and its interval; the same seed gives the same interval."""
    given = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    means = given[random.integers(len(given), size=(resamples, len(given)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Mean(float(given.mean()), float(low), float(high))


def _run(rankings: Rankings) -> dict[str, dict[str, float]]:
    # Ranks as scores: trec_eval re-sorts by score and breaks ties its own way.
    return {
        query: {document: 1.0 / rank for rank, document in enumerate(documents, 1)}
        for query, documents in rankings.items()
    }
