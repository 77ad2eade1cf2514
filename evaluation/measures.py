"""Retrieval measures by their ir_measures names (nDCG@10, R@5, RR@10, P@1), with bootstrap intervals.

Span measures are ours, since they look at places, not at documents: `Span@k` is 1 for a question when one
of the first k passages holds one of its answers whole.
"""

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

DEFAULT = ("nDCG@10", "RR@10", "P@1", "R@5", "R@13")


@dataclass(frozen=True)
class Mean:
    """The mean over queries with its 95 % interval: bootstrap percentiles, 2,000 resamples of the queries."""

    mean: float
    low: float
    high: float


def per_query(rankings: Rankings, qrels: Qrels, names: Sequence[str] = DEFAULT) -> PerQuery:
    """Each measure of each judged query; a query without a ranking counts as finding nothing."""
    measures = {name: ir_measures.parse_measure(name) for name in names}
    values: PerQuery = {name: dict.fromkeys(qrels, 0.0) for name in names}
    names_of = {str(measure): name for name, measure in measures.items()}
    judgements = {query: dict(grades) for query, grades in qrels.items()}
    for metric in ir_measures.iter_calc(list(measures.values()), judgements, _run(rankings)):
        values[names_of[str(metric.measure)]][metric.query_id] = float(metric.value)
    return values


def span_hits(
    places: Mapping[str, Sequence[Span]], answers: Mapping[str, Sequence[Span]], k: int
) -> dict[str, float]:
    """1.0 for each query of which one of the first k places holds an answer whole, else 0.0."""
    return {
        query: float(any(holds(place, span) for place in places.get(query, ())[:k] for span in spans))
        for query, spans in answers.items()
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
