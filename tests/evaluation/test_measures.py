"""Measures against pytrec_eval and against arithmetic that can be done by eye."""

import math
import random

import pytest
import pytrec_eval

from evaluation import measures
from evaluation.datasets import Span

TREC = {"nDCG@10": "ndcg_cut_10", "P@1": "P_1", "R@5": "recall_5", "R@100": "recall_100"}


def rankings(count: int) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    draw = random.Random(20261201)
    ids = [f"d{number:02d}" for number in range(40)]
    ranked = {f"q{n}": draw.sample(ids, draw.randint(0, 40)) for n in range(count)}
    judged = {
        query: {one: draw.randint(0, 2) for one in draw.sample(ids, 6)} | {"d00": 1} for query in ranked
    }
    return ranked, judged


def test_a_thousand_random_rankings_score_as_in_pytrec_eval() -> None:
    ranked, judged = rankings(1000)
    ours = measures.per_query(ranked, judged, list(TREC))
    run = {query: {d: float(-place) for place, d in enumerate(found)} for query, found in ranked.items()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(TREC.values())).evaluate(run)
    for name, key in TREC.items():
        for query in judged:
            expected = theirs[query][key] if query in theirs else 0.0
            assert ours[name][query] == pytest.approx(expected, abs=1e-9), (name, query)


def test_ndcg_by_hand() -> None:
    """The right document second of two: 1/log2(3), against the ideal of 1."""
    assert measures.per_query({"q": ["b", "a"]}, {"q": {"a": 1}})["nDCG@10"]["q"] == pytest.approx(
        1 / math.log2(3)
    )


def test_reciprocal_rank_stops_at_ten() -> None:
    eleventh = [f"d{n}" for n in range(10)] + ["a"]
    assert measures.per_query({"q": eleventh}, {"q": {"a": 1}}, ["RR@10"])["RR@10"]["q"] == 0
    assert measures.per_query({"q": eleventh[7:]}, {"q": {"a": 1}}, ["RR@10"])["RR@10"]["q"] == 0.25


def test_a_question_without_a_ranking_counts_as_nothing_found() -> None:
    values = measures.per_query({"q": ["a"]}, {"q": {"a": 1}, "r": {"a": 1}}, ["P@1"])
    assert values == {"P@1": {"q": 1.0, "r": 0.0}}


def test_a_span_is_hit_only_where_one_place_holds_it_whole() -> None:
    places = {"q": [Span("a", 0, 10), Span("a", 10, 30)]}
    assert measures.held(places, {"q": [[Span("a", 12, 30)]]}, 2) == {"q": 1.0}
    assert measures.held(places, {"q": [[Span("a", 12, 30)]]}, 1) == {"q": 0.0}
    assert measures.held(places, {"q": [[Span("a", 8, 12)]]}, 2) == {"q": 0.0}
    assert measures.held(places, {"q": [[Span("b", 0, 5)]]}, 2) == {"q": 0.0}


def test_one_of_several_answers_is_enough() -> None:
    places = {"q": [Span("a", 0, 10)]}
    assert measures.held(places, {"q": [[Span("b", 0, 5)], [Span("a", 2, 3)]]}, 1) == {"q": 1.0}


def test_the_interval_holds_the_mean_and_is_the_same_again() -> None:
    values = [0.0, 1.0] * 50
    one = measures.mean(values)
    assert one == measures.mean(values)
    # 1.96 standard errors of a mean of 100 coin tosses: 0.098.
    assert one.mean == 0.5
    assert one.low == pytest.approx(0.402, abs=0.015)
    assert one.high == pytest.approx(0.598, abs=0.015)


def test_a_constant_has_no_interval() -> None:
    assert measures.mean([0.25] * 10) == measures.Mean(0.25, 0.25, 0.25)
