"""The tools that fit and measure the reranker: orders, measures and weights that the eye can check."""

import sys

import numpy as np
import pytest

from cli.model_environment import MODEL_REPOSITORY

sys.path.append(str(MODEL_REPOSITORY / "lexical_late_interaction" / "fit"))

from logistic import Candidates, fitted, score
from ranking import BM25, fused, quality


def test_bm25_prefers_the_rare_word_and_knows_none_that_is_absent() -> None:
    search = BM25(["доза при КТ", "доза при МРТ", "доза в норме"])
    assert int(np.argmax(search("КТ"))) == 0
    assert search("печень").tolist() == [0, 0, 0]


def test_fusion_adds_reciprocal_ranks_and_breaks_ties_by_place() -> None:
    one, other = np.array([3, 2, 0], np.float32), np.array([0, 3, 2], np.float32)
    assert fused([one, other], 3) == [1, 0, 2]


def test_measures_are_those_of_the_textbook() -> None:
    found = quality([[False, True], [False, False]], [1, 1])
    assert found == pytest.approx({"nDCG@10": 0.5 / np.log2(3), "R@1": 0, "R@5": 0.5, "MRR": 0.25})


def test_each_script_gets_the_weights_that_put_its_answers_first() -> None:
    """In the question's script the first feature tells the answer, in the other one the second does."""
    random = np.random.default_rng(0)
    groups = []
    for _ in range(200):
        rows, same = random.normal(size=(6, 2)), random.random(6) < 0.5
        tells = np.where(same, rows[:, 0], rows[:, 1])
        groups.append(Candidates(rows, tells == tells.max(), same))
    weights = fitted(groups)
    assert weights[True][0] > 5 * abs(weights[True][1])
    assert weights[False][1] > 5 * abs(weights[False][0])
    right = [bool(group.answers[score(group, weights).argmax()]) for group in groups]
    assert np.mean(right) > 0.9
