"""Small studies whose figures can be done by eye."""

import pytest

from evaluation.experts import sheets
from evaluation.experts.ratings import Rating
from evaluation.experts.study import against_judge, described, expert_precision, precision

CORRECTNESS = sheets.RATINGS[0]


def rated(values: dict[str, list[int]], criterion: str = "correctness", rank: int = 0) -> list[Rating]:
    return [
        Rating(f"r{k}", question, criterion, value, rank)
        for question, given in values.items()
        for k, value in enumerate(given)
    ]


def test_a_criterion_in_figures() -> None:
    found = described(rated({"a": [5, 5, 5], "b": [4, 5, 4], "c": [1, 5, 3], "d": [2]}), CORRECTNESS)
    assert found.ratings == 10
    assert found.mean.mean == pytest.approx((5 + 13 / 3 + 3 + 2) / 4)
    assert found.counts == {1: 1, 2: 1, 3: 1, 4: 2, 5: 5}
    assert found.identical == pytest.approx(1 / 3)
    assert found.close == pytest.approx(2 / 3)
    assert found.ac1 is not None
    assert (found.ac1.subjects, found.ac1.compared) == (4, 3)


def test_a_single_rater_leaves_agreement_open() -> None:
    found = described(rated({"a": [5], "b": [4]}), CORRECTNESS)
    assert (found.ac1, found.ac2, found.identical) == (None, None, None)
    with pytest.raises(ValueError, match="nobody rated correctness"):
        described([], CORRECTNESS)


def test_precision_is_the_judges_formula() -> None:
    """Relevant at ranks 1 and 3: (1/1 + 2/3) / 2."""
    assert precision([True, False, True]) == pytest.approx((1 + 2 / 3) / 2)
    assert precision([False, False]) == 0


def test_expert_precision_takes_the_raters_mean() -> None:
    ratings = [
        *rated({"a": [5, 3]}, "usefulness", 1),
        *rated({"a": [5, 2]}, "usefulness", 2),
        *rated({"a": [4, 4]}, "usefulness", 3),
    ]
    assert expert_precision(ratings) == {"a": pytest.approx((1 + 2 / 3) / 2)}
    assert expert_precision(ratings, useful=3) == {"a": 1}


def test_the_judge_is_set_against_the_experts_question_by_question() -> None:
    ratings = rated({name: [grade, grade] for name, grade in zip("abcde", (1, 2, 3, 4, 5), strict=True)})
    judged = {"correctness": dict(zip("edcbx", (0.9, 0.8, 0.3, 0.2, 0.1), strict=True))}
    found = against_judge(ratings, judged)
    assert list(found) == ["correctness – correctness"]
    one = found["correctness – correctness"]
    assert one.statistic == pytest.approx(1)
    assert one.n == 4
