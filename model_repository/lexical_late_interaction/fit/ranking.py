"""The order that the reranker has to improve: BM25 and dense fused by rank, and how good an order is."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from e5_encoder import Floats, normalised
from words import is_cyrillic, words

K1, B, FUSION_K, DEPTH = 1.2, 0.75, 60, 100


class BM25:
    """Scores of every passage for a question, over the same stems that the reranker matches."""

    def __init__(self, passages: Sequence[str]) -> None:
        counts = [Counter(word.stem for word in words(text) if not word.empty) for text in passages]
        lengths = np.array([count.total() for count in counts], np.float32)
        self._norm = K1 * (1 - B + B * lengths / lengths.mean())
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for stem, times in count.items():
                self._postings[stem].append((place, times))

    def __call__(self, question: str) -> Floats:
        scores = np.zeros(len(self._norm), np.float32)
        for stem in {word.stem for word in words(question) if not word.empty} & self._postings.keys():
            places, times = np.array(self._postings[stem]).T
            rarity = math.log(1 + (len(scores) - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += rarity * times * (K1 + 1) / (times + self._norm[places])
        return scores


def apart(vectors: Floats, texts: Sequence[str], centre: Mapping[str, Sequence[float]]) -> Floats:
    """Unit vectors about the mean of their script, [texts, dimension]: as they are, the nearest to a
    question are all in its own language."""
    means = [centre["cyrillic" if is_cyrillic(text) else "latin"] for text in texts]
    return normalised(vectors - normalised(np.array(means, np.float32)))


def fused(legs: Sequence[Floats], most: int) -> list[int]:
    """Places of the best by reciprocal ranks with k = 60; a leg takes no part where its score is 0."""
    total: dict[int, float] = defaultdict(float)
    for scores in legs:
        best = [int(place) for place in np.argsort(-scores, kind="stable")[:DEPTH] if scores[place] != 0]
        for rank, place in enumerate(best, 1):
            total[place] += 1 / (FUSION_K + rank)
    return sorted(total, key=lambda place: (-total[place], place))[:most]


def quality(orders: Sequence[Sequence[bool]], wanted: Sequence[int]) -> dict[str, float]:
    """nDCG@10, R@1, R@5 and MRR of ranked lists; wanted: how many answers each question has in all."""
    ndcg = [
        sum(hit / math.log2(rank + 1) for rank, hit in enumerate(order[:10], 1))
        / sum(1 / math.log2(rank + 1) for rank in range(1, min(many, 10) + 1))
        for order, many in zip(orders, wanted, strict=True)
    ]
    first = np.array([order.index(True) + 1 if True in order else math.inf for order in map(list, orders)])
    return {
        "nDCG@10": float(np.mean(ndcg)),
        "R@1": float((first <= 1).mean()),
        "R@5": float((first <= 5).mean()),
        "MRR": float((1 / first).mean()),
    }
