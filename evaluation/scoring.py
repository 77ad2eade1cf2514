"""What rankings are worth: document measures, and span measures where a data set gives answer spans."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from evaluation.datasets import Dataset, Span
from evaluation.measures import Mean, PerQuery, holds, mean, per_query, span_hits
from evaluation.passages import Corpus
from evaluation.ranking import Ranking

Rankings = dict[str, dict[str, Ranking]]
"""Row (`bm25`, `dense`, `rrf_global`, `rrf_per_collection`, `reranked`) → query id → ranking."""


def scored(
    rankings: Rankings, dataset: Dataset, corpus: Corpus, names: Sequence[str]
) -> dict[str, dict[str, Mean]]:
    """The mean of each measure (by its ir_measures name, and the span measures) in each row."""
    scores = {}
    for row, found in rankings.items():
        documents = {query: corpus.documents_of(ranking.parents) for query, ranking in found.items()}
        values = per_query(documents, dataset.qrels, names) | _spans(found, dataset, corpus)
        scores[row] = {name: mean(list(by_query.values())) for name, by_query in values.items()}
    return scores


def _spans(found: Mapping[str, Ranking], dataset: Dataset, corpus: Corpus) -> PerQuery:
    """Span@k by children (where the ranking has them) and by parents; nothing for a set without spans."""
    answers = {query.id: query.answers for query in dataset.queries if query.answers}
    if not answers:
        return {}
    parents = {query: [corpus.parent_place(p) for p in one.parents[:13]] for query, one in found.items()}
    values = {f"ParentSpan@{k}": span_hits(parents, answers, k) for k in (1, 5, 13)}
    if any(one.children for one in found.values()):
        children = {query: [corpus.child_place(c) for c in one.children[:15]] for query, one in found.items()}
        values |= {f"ChildSpan@{k}": span_hits(children, answers, k) for k in (1, 5, 15)}
    return values


def ceiling(dataset: Dataset, places: Sequence[Span]) -> float | None:
    """The share of questions of which an answer lies whole in one place: what no ranking can exceed."""
    by_document = defaultdict(list)
    for place in places:
        by_document[place.document].append(place)
    answered = [query.answers for query in dataset.queries if query.answers]
    if not answered:
        return None
    whole = [any(holds(p, s) for s in spans for p in by_document[s.document]) for spans in answered]
    return sum(whole) / len(whole)
