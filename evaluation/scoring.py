"""What rankings are worth: document measures, and evidence measures where a data set gives places."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from evaluation.datasets import Dataset, Query, Span
from evaluation.evidence import Evidence
from evaluation.evidence_scores import overlap
from evaluation.measures import OURS, Mean, PerQuery, held, holds, mean, per_query
from evaluation.passages import Corpus
from evaluation.ranking import Ranking

Rankings = dict[str, dict[str, Ranking]]
"""Row (`bm25`, `dense`, `rrf_global`, `rrf_per_collection`, `reranked`) → query id → ranking."""
Values = dict[str, PerQuery]
"""Row → measure → query id → value."""
Rows = dict[str, dict[str, Mean]]
"""Row → measure → its mean and interval."""

OVERLAPS = ("SpanRecall", "SpanPrecision", "SpanIoU")


def valued(
    rankings: Rankings, dataset: Dataset, corpus: Corpus, names: Sequence[str], contexts: int
) -> Values:
    """Each measure (by its ir_measures name, and the evidence measures) of each question in each row.

    `contexts`: the parents that the generator is given; characters are counted in these.
    """
    values = {}
    theirs = [name for name in names if not OURS.fullmatch(name)]
    for row, found in rankings.items():
        documents = {query: corpus.documents_of(ranking.parents) for query, ranking in found.items()}
        values[row] = per_query(documents, dataset.qrels, theirs)
        values[row] |= _evidence(found, dataset, corpus, contexts, names)
    return values


def means(values: Values, queries: Collection[str]) -> Rows:
    """Means over these questions, of those measures that any of them has."""
    rows: Rows = {}
    for row, by_measure in values.items():
        rows[row] = {}
        for name, by_query in by_measure.items():
            if given := [value for query, value in by_query.items() if query in queries]:
                rows[row][name] = mean(given)
    return rows


def grouped(values: Values, queries: Sequence[Query]) -> dict[str, Rows]:
    """Means by set, topic, language and complexity; of a kind that has one value only, nothing is told."""
    members: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for query in queries:
        for kind, value in query.groups:
            members[kind][value].add(query.id)
    return {
        f"{kind} {value}": means(values, ids)
        for kind, by_value in members.items()
        if len(by_value) > 1
        for value, ids in sorted(by_value.items())
    }


def _evidence(
    found: Mapping[str, Ranking], dataset: Dataset, corpus: Corpus, contexts: int, names: Sequence[str]
) -> PerQuery:
    """Span@k by children (where the ranking has them) and by parents, and characters of the parents shown;
    nothing for a set without places."""
    evidence = {query.id: query.paths for query in dataset.queries if query.paths}
    if not evidence:
        return {}
    parents = {query: [corpus.parent_place(p) for p in one.parents] for query, one in found.items()}
    children = {query: [corpus.child_place(c) for c in one.children] for query, one in found.items()}
    usual = [("ParentSpan", k) for k in (1, 5, 13, contexts)] + [("ChildSpan", k) for k in (1, 5, 15)]
    usual += [(name, contexts) for name in OVERLAPS]
    asked = [(one[1], int(one[2])) for name in names if (one := OURS.fullmatch(name))]
    values: PerQuery = {}
    for name, k in dict.fromkeys([*usual, *asked]):
        if name == "ParentSpan":
            values[f"{name}@{k}"] = held(parents, evidence, k)
        elif name != "ChildSpan":
            values[f"{name}@{k}"] = _characters(parents, evidence, k, OVERLAPS.index(name))
        elif any(children.values()):
            values[f"{name}@{k}"] = held(children, evidence, k)
    return values


def _characters(
    places: Mapping[str, Sequence[Span]], evidence: Mapping[str, Evidence], k: int, which: int
) -> dict[str, float]:
    return {query: overlap(places.get(query, ())[:k], paths)[which] for query, paths in evidence.items()}


def ceiling(dataset: Dataset, places: Sequence[Span]) -> float | None:
    """The share of questions each span of whose evidence lies whole in one place: no ranking exceeds it."""
    by_document = defaultdict(list)
    for place in places:
        by_document[place.document].append(place)

    def whole(span: Span) -> bool:
        return any(holds(place, span) for place in by_document[span.document])

    asked = [query.paths for query in dataset.queries if query.paths]
    if not asked:
        return None
    return sum(any(all(map(whole, path)) for path in paths) for paths in asked) / len(asked)
