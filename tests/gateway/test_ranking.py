"""Passages in the reranker's order."""

import math
from dataclasses import replace

from gateway.ranking import by_score
from tests.gateway.fakes import passage

PASSAGES = [passage(name, name) for name in ("one", "two", "three", "four")]


def test_the_best_come_first_ties_as_found_and_no_more_than_wanted() -> None:
    ranked = by_score(PASSAGES, [0.2, 0.9, 0.2, 1.5], 3)
    assert [one.document.document_id for one in ranked] == ["four", "two", "one"]
    assert [one.scores.rerank for one in ranked] == [1.0, 0.9, 0.2]


def test_a_row_that_failed_has_no_score_and_stands_last_even_behind_nothing() -> None:
    ranked = by_score(PASSAGES, [math.nan, 0.0, -0.5, 0.1], 4)
    assert [one.scores.rerank for one in ranked] == [0.1, 0.0, 0.0, None]
    assert ranked[3].document.document_id == "one"


def test_the_searchs_own_scores_stay() -> None:
    (ranked,) = by_score(PASSAGES[:1], [0.5], 1)
    assert ranked.scores == replace(PASSAGES[0].scores, rerank=0.5)
