"""Reciprocal rank fusion, pure: several rankings in, one ranking out, the same for the same input.

score(id) = Σ weight / (k + rank) over the legs that found it, rank from 1 (Cormack, Clarke, Büttcher 2009).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias, TypeVar


class Scored(NamedTuple):
    """An id with a score; higher is better."""

    id: str
    score: float


_ID, _SCORE = itemgetter(0), itemgetter(1)

Pair: TypeAlias = tuple[str, float]
"""An id and its score, as Scored; a plain one is made in a fifth of the time."""

Legs: TypeAlias = Mapping[str, Sequence[Pair]]
"""What each leg found, in any order."""

P = TypeVar("P", bound=tuple[str, float])

Fuse: TypeAlias = Callable[[Sequence[Legs], "Rrf", int], list[Scored]]
"""One of the two ways across collections: the collections' legs, the parameters, children per collection."""


class Rrf(NamedTuple):
    """The parameters: k, and a weight for each leg (1 where none is given).

    A leg that is split, such as `dense:en` and `dense:ru`, has the weight of the whole in each part.
    """

    k: int = 60
    weights: Mapping[str, float] = {}

    def fuse(self, legs: Legs) -> list[Scored]:
        """The legs' ids by fused score, best first, ties by id."""
        scores: dict[str, float] = {}
        for name in sorted(legs):
            weight = self.weights.get(name.partition(":")[0], 1.0)
            for rank, (found, _) in enumerate(ranked(legs[name]), start=1):
                scores[found] = scores.get(found, 0.0) + weight / (self.k + rank)
        return list(map(Scored._make, ranked(scores.items())))


def ranked(found: Iterable[P]) -> list[P]:
    """Best first, ties by id, of equal ids only the best."""
    # Two sorts by C take a third of the time of one by a lambda; the second keeps the first's order of ties.
    best = sorted(sorted(found, key=_ID), key=_SCORE, reverse=True)
    if len(set(map(_ID, best))) == len(best):
        return best
    distinct: dict[str, P] = {}
    for one in best:
        distinct.setdefault(one[0], one)
    return list(distinct.values())


def per_collection(collections: Sequence[Legs], rrf: Rrf, each: int) -> list[Scored]:
    """Fuses inside each collection, takes the best `each` of it, then the best scores of all.

    The published way. Scores of disjoint collections tie rank by rank, so every topic gets its share.
    """
    return ranked(one for legs in collections for one in rrf.fuse(legs)[:each])


def across(collections: Sequence[Legs], rrf: Rrf, each: int) -> list[Scored]:
    """Merges each leg over all collections by its own score, `each` of every one, then fuses once."""
    names = {name for legs in collections for name in legs}
    merged = {
        name: [one for legs in collections for one in ranked(legs.get(name, ()))[:each]] for name in names
    }
    return rrf.fuse(merged)


def shared(fused: Sequence[Scored], language: Callable[[str], str], most: int, share: int) -> list[Scored]:
    """The best `most` of a fused list, best first, each language with `share` places if it can fill them.

    Both legs prefer the question's own language; a reranker can only choose from what it is shown.
    """
    spoken = [language(one.id) for one in fused]
    left = dict.fromkeys(spoken, min(share, most // max(len(set(spoken)), 1)))
    own, others = list[int](), list[int]()
    for place, one in enumerate(spoken):
        (own if left[one] else others).append(place)
        left[one] = max(0, left[one] - 1)
    return [fused[place] for place in sorted(own + others[: most - len(own)])]


WAYS: Mapping[str, Fuse] = {"per_collection": per_collection, "global": across}
