"""Rankings of chunks scored with evidence: the usual measures over mapped chunks, and character overlap."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from evaluation.datasets import Span
from evaluation.evidence import Chunking, Evidence, Path
from evaluation.measures import PerQuery, Qrels, per_query

DEPTHS = (1, 3, 5, 10)
USUAL = ("R@5", "Rprec", "RR@10", "nDCG@10")
Ranges = dict[str, list[tuple[int, int]]]
"""Document → [start, end), ascending, none touching another."""


def scored(
    rankings: Mapping[str, Sequence[str]],
    evidence: Mapping[str, Evidence],
    chunking: Chunking,
    names: Sequence[str] = USUAL,
    depths: Sequence[int] = DEPTHS,
) -> PerQuery:
    """Each measure of each question that has evidence.

    Over the chunks that hold evidence: `names`, by ir_measures. Evidence@k: a path is satisfied by the first
    k chunks. EvidenceRecall@k: the share of its spans that is. SpanRecall@k, SpanPrecision@k, SpanIoU@k:
    characters of the best path against those of the first k chunks.
    """
    mapped = {query: chunking.mapped(paths) for query, paths in evidence.items() if paths}
    judged = {query: dict.fromkeys(one.relevant, 1) for query, one in mapped.items()}
    values = _over(rankings, judged, names)
    for k in depths:
        recalls = {query: one.recall(rankings.get(query, ())[:k]) for query, one in mapped.items()}
        values[f"Evidence@{k}"] = {query: float(recall == 1) for query, recall in recalls.items()}
        values[f"EvidenceRecall@{k}"] = recalls
        places = {
            query: [chunking.places[chunk] for chunk in rankings.get(query, ())[:k]] for query in mapped
        }
        overlaps = {query: overlap(places[query], evidence[query]) for query in mapped}
        for number, name in enumerate(("SpanRecall", "SpanPrecision", "SpanIoU")):
            values[f"{name}@{k}"] = {query: one[number] for query, one in overlaps.items()}
    return values


def naive(
    rankings: Mapping[str, Sequence[str]],
    evidence: Mapping[str, Evidence],
    chunking: Chunking,
    names: Sequence[str] = USUAL,
) -> PerQuery:
    """The usual measures with chunk ids as truth: of each span only the chunk in which it begins."""
    judged = {
        query: {chunk: 1 for path in paths for span in path if (chunk := chunking.beginning(span))}
        for query, paths in evidence.items()
        if paths
    }
    return _over(rankings, judged, names)


def overlap(places: Sequence[Span], evidence: Evidence) -> tuple[float, float, float]:
    """Recall, precision and intersection over union in characters, of the path where recall is greatest."""
    return max((_overlap(places, path) for path in evidence), default=(0.0, 0.0, 0.0))


def _overlap(places: Sequence[Span], path: Path) -> tuple[float, float, float]:
    shown, needed = _ranges(places), _ranges(path)
    both = sum(
        max(0, min(a[1], b[1]) - max(a[0], b[0]))
        for document, parts in needed.items()
        for a in parts
        for b in shown.get(document, ())
    )
    length, wanted = _length(shown), _length(needed)
    return both / wanted, both / length if length else 0.0, both / (length + wanted - both)


def _ranges(places: Sequence[Span]) -> Ranges:
    found: Ranges = defaultdict(list)
    for place in sorted(places, key=lambda one: one.start):
        parts = found[place.document]
        if parts and place.start <= parts[-1][1]:
            parts[-1] = (parts[-1][0], max(parts[-1][1], place.end))
        else:
            parts.append((place.start, place.end))
    return found


def _length(ranges: Ranges) -> int:
    return sum(end - start for parts in ranges.values() for start, end in parts)


def _over(rankings: Mapping[str, Sequence[str]], judged: Qrels, names: Sequence[str]) -> PerQuery:
    """By ir_measures; a question whose evidence no chunk holds counts 0."""
    values = per_query(rankings, {query: grades for query, grades in judged.items() if grades}, names)
    return {name: {query: values[name].get(query, 0.0) for query in judged} for name in values}
