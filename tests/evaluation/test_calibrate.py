"""Thresholds from cases that can be counted by eye."""

import pytest

from evaluation.calibrate import Case, Degraded, NoThreshold, chosen, curve, degraded


def cases(right: list[float], wrong: list[float]) -> list[Case]:
    return [Case(f"r{n}", True, score) for n, score in enumerate(right)] + [
        Case(f"w{n}", False, score) for n, score in enumerate(wrong)
    ]


def test_two_groups_apart_are_parted_half_way() -> None:
    point = chosen(curve(cases([0.8, 0.9], [0.2, 0.4])))
    assert point.threshold == pytest.approx(0.6)
    assert (point.kept, point.refused, point.precision) == (1, 1, 1)


def test_right_answers_are_kept_before_refusals_are_won() -> None:
    """One right answer lies among the wrong: dropping it would refuse all, and keep only half."""
    points = curve(cases([0.3, 0.9], [0.2, 0.5]))
    assert chosen(points).threshold == pytest.approx(0.25)
    assert chosen(points, keep=0.5).threshold == pytest.approx(0.7)


def test_a_higher_threshold_never_keeps_more_nor_refuses_less() -> None:
    points = curve(cases([0.3, 0.5, 0.7, 0.9], [0.1, 0.4, 0.6, 0.8]))
    assert [point.kept for point in points] == sorted((point.kept for point in points), reverse=True)
    assert [point.refused for point in points] == sorted(point.refused for point in points)
    assert (points[0].kept, points[0].refused) == (1, 0)


def test_a_question_whose_evidence_was_not_found_decides_nothing() -> None:
    known = cases([0.8], [0.2])
    assert curve([*known, Case("lost", None, 0.5)]) == curve(known)


def test_nothing_found_is_a_refusal() -> None:
    point = chosen(curve([*cases([0.8], [0.2]), Case("empty", False, None)]))
    assert point.refused == 1


def test_without_scores_there_is_no_threshold() -> None:
    with pytest.raises(NoThreshold, match="no point keeps"):
        chosen(curve([]))
    with pytest.raises(NoThreshold, match="no case has candidates"):
        degraded([])


def test_right_answers_without_a_score_are_not_calibrated_away() -> None:
    """Half of them came without a rerank score: a threshold would only hide that the reranker was missing."""
    with pytest.raises(NoThreshold):
        chosen(curve([*cases([0.8], [0.2]), Case("unscored", True, None)]))


def test_without_a_reranker_one_candidate_must_hold_both() -> None:
    right = Case("right", True, None, ((0.9, 0.80), (0.4, 0.95)))
    wrong = Case("wrong", False, None, ((0.9, 0.50), (0.3, 0.95)))
    pair = degraded([right, wrong])
    assert (pair.kept, pair.refused) == (1, 1)
    assert pair == Degraded(0.9, 0.80, 1, 1, 1)
