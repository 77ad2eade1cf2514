"""Spreading documents over topics."""

import numpy as np

from evaluation import topics

NAMES = ("one", "two", "three")


def test_a_hash_fills_every_topic_and_is_the_same_again() -> None:
    ids = [f"doc-{number}" for number in range(600)]
    placed = topics.by_hash(ids, NAMES)
    assert placed == topics.by_hash(list(reversed(ids)), NAMES)
    assert all(150 < list(placed.values()).count(name) < 250 for name in NAMES)


def test_kmeans_puts_together_what_points_one_way() -> None:
    random = np.random.default_rng(1)
    directions = np.eye(3, dtype=np.float32).repeat(20, axis=0)
    vectors = directions + 0.05 * random.standard_normal((60, 3)).astype(np.float32)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    placed = topics.by_kmeans([str(number) for number in range(60)], vectors, NAMES)
    groups = [{placed[str(number)] for number in range(first, first + 20)} for first in (0, 20, 40)]
    assert sorted(len(group) for group in groups) == [1, 1, 1]
    assert set.union(*groups) == set(NAMES)


def test_kmeans_of_equal_vectors_still_ends() -> None:
    vectors = np.full((5, 4), 0.5, dtype=np.float32)
    assert set(topics.by_kmeans(list("abcde"), vectors, NAMES)) == set("abcde")
