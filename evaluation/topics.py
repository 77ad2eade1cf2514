"""Spreads a data set's documents over topics, so that fusion across collections can be measured."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def by_hash(documents: Sequence[str], topics: Sequence[str]) -> dict[str, str]:
    """A topic for each document id, as good as random and the same on every machine."""
    return {one: topics[int(hashlib.sha256(one.encode()).hexdigest(), 16) % len(topics)] for one in documents}


def by_kmeans(
    documents: Sequence[str], vectors: Vectors, topics: Sequence[str], seed: int = 20261201, rounds: int = 25
) -> dict[str, str]:
    """A topic for each document by spherical k-means on its unit vector [documents, dimension].

    Real topics gather what belongs together, which a hash does not.
    """
    centres = _first_centres(vectors, len(topics), np.random.default_rng(seed))
    for _ in range(rounds):
        nearest = (vectors @ centres.T).argmax(axis=1)
        centres = np.stack([_centre(vectors[nearest == k], centres[k]) for k in range(len(topics))])
    nearest = (vectors @ centres.T).argmax(axis=1)
    return {one: topics[int(k)] for one, k in zip(documents, nearest, strict=True)}


def _first_centres(vectors: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """k-means++: each next centre is drawn by its squared distance from those there are."""
    chosen = [int(random.integers(len(vectors)))]
    while len(chosen) < count:
        distance = np.clip(1 - (vectors @ vectors[chosen].T).max(axis=1), 1e-9, None).astype(np.float64) ** 2
        chosen.append(int(random.choice(len(vectors), p=distance / distance.sum())))
    return vectors[chosen]


def _centre(members: Vectors, former: Vectors) -> Vectors:
    if not len(members):
        return former
    mean: Vectors = members.mean(axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)
