"""Fusion is a pure function of what the legs found: no order, no duplicate and no later limit changes it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import WAYS, Fuse, Legs, Rrf, Scored, across, per_collection, ranked, shared

IDS = st.sampled_from([f"child{n}" for n in range(12)])
LEG = st.lists(st.builds(Scored, IDS, st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=15)
LEGS = st.fixed_dictionaries({"dense": LEG, "bm25": LEG})
BOTH_WAYS = pytest.mark.parametrize("fuse", WAYS.values(), ids=WAYS.keys())


def disjoint(drawn: list[Legs]) -> list[Legs]:
    """Collections share no children: their ids get the collection's number."""
    return [
        {leg: [Scored(f"{at}.{one}", score) for one, score in found] for leg, found in legs.items()}
        for at, legs in enumerate(drawn)
    ]


def test_the_score_is_the_sum_of_weight_over_k_plus_rank() -> None:
    legs = {"dense": [Scored("a", 0.9), Scored("b", 0.8)], "bm25": [Scored("b", 7.0)]}
    fused = Rrf(60, {"dense": 1.0, "bm25": 0.5}).fuse(legs)
    assert fused == [Scored("b", 0.5 / 61 + 1 / 62), Scored("a", 1 / 61)]


def test_ties_are_broken_by_id() -> None:
    assert [one.id for one in ranked([Scored("b", 1), Scored("c", 2), Scored("a", 1)])] == ["c", "a", "b"]


def test_of_a_repeated_id_only_the_best_rank_counts() -> None:
    once = {"dense": [Scored("a", 3), Scored("b", 2)]}
    twice = {"dense": [Scored("a", 3), Scored("a", 2.5), Scored("b", 2), Scored("a", 1)]}
    assert Rrf().fuse(twice) == Rrf().fuse(once)


@BOTH_WAYS
def test_without_anything_found_nothing_is_fused(fuse: Fuse) -> None:
    assert fuse([], Rrf(), 15) == []
    assert fuse([{"dense": [], "bm25": []}], Rrf(), 15) == []


@BOTH_WAYS
def test_an_empty_leg_leaves_the_order_of_the_other(fuse: Fuse) -> None:
    found = [Scored("a", 0.9), Scored("b", 0.5)]
    assert [one.id for one in fuse([{"dense": found, "bm25": []}], Rrf(), 15)] == ["a", "b"]


@BOTH_WAYS
@given(drawn=st.lists(LEGS, max_size=4), seed=st.integers())
def test_the_order_in_which_hits_arrive_does_not_matter(fuse: Fuse, drawn: list[Legs], seed: int) -> None:
    collections = disjoint(drawn)
    rng = random.Random(seed)
    shuffled = [
        {leg: rng.sample(list(found), len(found)) for leg, found in sorted(legs.items(), reverse=True)}
        for legs in rng.sample(collections, len(collections))
    ]
    assert fuse(shuffled, Rrf(), 15) == fuse(collections, Rrf(), 15)


@BOTH_WAYS
@given(drawn=st.lists(LEGS, max_size=4))
def test_no_child_comes_twice_and_scores_never_rise(fuse: Fuse, drawn: list[Legs]) -> None:
    fused = fuse(disjoint(drawn), Rrf(), 15)
    assert len({one.id for one in fused}) == len(fused)
    assert fused == sorted(fused, key=lambda one: (-one.score, one.id))


@given(drawn=st.lists(LEGS, max_size=4), few=st.integers(1, 15))
def test_per_collection_takes_at_most_so_many_of_each(drawn: list[Legs], few: int) -> None:
    fused = per_collection(disjoint(drawn), Rrf(), few)
    for at in range(len(drawn)):
        assert sum(one.id.startswith(f"{at}.") for one in fused) <= few


def test_per_collection_gives_every_topic_its_share_and_global_lets_scores_decide() -> None:
    strong = {"dense": [Scored("s1", 0.9), Scored("s2", 0.8)], "bm25": []}
    weak = {"dense": [Scored("w1", 0.2), Scored("w2", 0.1)], "bm25": []}
    assert [one.id for one in per_collection([strong, weak], Rrf(), 15)] == ["s1", "w1", "s2", "w2"]
    assert [one.id for one in across([strong, weak], Rrf(), 15)] == ["s1", "s2", "w1", "w2"]


def test_one_collection_is_fused_the_same_either_way() -> None:
    legs = {"dense": [Scored("a", 3), Scored("b", 2)], "bm25": [Scored("b", 9), Scored("c", 8)]}
    assert per_collection([legs], Rrf(), 15) == across([legs], Rrf(), 15) == Rrf().fuse(legs)


def test_every_language_has_its_share_of_the_best_and_the_order_stays() -> None:
    fused = [Scored(f"{language}{place}", -place) for place, language in enumerate("eeeeeeerre")]
    best = shared(fused, lambda one: one[0], most=6, share=2)
    assert [one.id for one in best] == ["e0", "e1", "e2", "e3", "r7", "r8"]


def test_one_language_alone_keeps_the_plain_order() -> None:
    fused = [Scored(f"e{place}", -place) for place in range(9)]
    assert shared(fused, lambda one: one[0], most=5, share=4) == fused[:5]


def test_shares_that_do_not_fit_are_made_smaller() -> None:
    fused = [Scored(f"{language}{place}", -place) for place, language in enumerate("aabbcc")]
    assert [one.id for one in shared(fused, lambda one: one[0], most=3, share=4)] == ["a0", "b2", "c4"]
