"""One question's rankings, from one search: each leg alone, both fusions, and the reranked candidates."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.passages import Corpus, Hit, Parent

Legs = Mapping[str, Mapping[str, Sequence[Hit]]]
"""Topic → leg (`dense`, `bm25`) → its hits, best first."""
Fuse = Callable[[Legs, str], Sequence[str]]
"""Child ids, best first, by the fusion named `global` or `per_collection`."""
Rerank = Callable[[str, Sequence[Parent]], Awaitable[Sequence[float]]]
"""A score per parent, in their order; NaN where one failed."""

LEGS = ("bm25", "dense")
FUSIONS = ("global", "per_collection")


@dataclass(frozen=True)
class Ranking:
    """Parents, best first; and the children they came from, best first, where a ranking has them."""

    parents: list[str]
    children: list[str]


def by_leg(legs: Legs, leg: str, corpus: Corpus) -> Ranking:
    """One leg over all topics, by its own score; ties by id."""
    hits = [hit for found in legs.values() for hit in found.get(leg, ())]
    children = [hit.child for hit in sorted(hits, key=lambda hit: (-hit.score, hit.child))]
    return Ranking(corpus.parents_of(children), children)


def by_fusion(legs: Legs, way: str, fuse: Fuse, corpus: Corpus) -> Ranking:
    """Both legs, fused as the product does."""
    children = list(fuse(legs, way))
    return Ranking(corpus.parents_of(children), children)


async def reranked(question: str, fused: Ranking, rerank: Rerank, corpus: Corpus, candidates: int) -> Ranking:
    """The parents of the best `candidates` children in the reranker's order, then the others as they were."""
    first = corpus.parents_of(fused.children[:candidates])
    scores = await rerank(question, [corpus.parents[parent] for parent in first]) if first else []
    order = sorted(range(len(first)), key=lambda place: (_worst_if_failed(scores[place]), place))
    best = [first[place] for place in order]
    return Ranking(list(dict.fromkeys([*best, *fused.parents])), [])


def _worst_if_failed(score: float) -> float:
    return math.inf if math.isnan(score) else -score
