"""The reranker itself, with the real encoder."""

import math
from pathlib import Path

import known_scores
import numpy as np
import pytest
from e5_encoder import Encoder
from late_interaction import LONGEST_PASSAGE, LONGEST_QUESTION, LateInteraction

from cli.model_environment import MODEL_REPOSITORY
from tests.model_repository.conftest import FILES

FOLDER: Path = MODEL_REPOSITORY / "lexical_late_interaction" / "1"
QUESTION = "Каков предел дозы для персонала за год?"
RIGHT = "Предел эффективной дозы персонала составляет 20 мЗв в год."
TRANSLATED = "The effective dose limit for workers is 20 mSv per year."
NEAR = "Пациентам пределы доз не устанавливают."
FAR = "Печень делят на восемь сегментов по Куино."


@pytest.fixture(scope="module")
def model(encoder: Encoder) -> LateInteraction:
    return LateInteraction.load(FOLDER, FILES)


def scores(model: LateInteraction, question: str, *passages: str) -> list[float]:
    return [scored.score for scored in model.score([(question, passage) for passage in passages])]


def test_the_answer_is_above_the_near_miss_above_another_subject(model: LateInteraction) -> None:
    right, near, far = scores(model, QUESTION, RIGHT, NEAR, FAR)
    assert right > near > far
    assert all(0 <= score <= 1 for score in (right, near, far))


def test_an_answer_in_the_other_language_is_found(model: LateInteraction) -> None:
    translated, near, far = scores(model, QUESTION, TRANSLATED, NEAR, FAR)
    assert translated > near
    assert translated > far


def test_a_score_does_not_depend_on_the_other_pairs(model: LateInteraction) -> None:
    passages = [RIGHT, NEAR, FAR, TRANSLATED, RIGHT * 80]
    together = scores(model, QUESTION, *passages)
    alone = [scores(model, QUESTION, passage)[0] for passage in passages]
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_the_answer_is_found_deep_in_a_long_passage(model: LateInteraction) -> None:
    filler = "Журналы учёта хранят в архиве отделения. "
    deep, none = scores(model, QUESTION, filler * 60 + RIGHT + filler * 60, filler * 120)
    assert deep > none


def test_a_pair_with_nothing_to_read_is_nan_and_leaves_the_others_alone(model: LateInteraction) -> None:
    scored = model.score([("?!", RIGHT), (QUESTION, RIGHT), (QUESTION, "")])
    assert [math.isnan(one.score) for one in scored] == [True, False, True]


def test_only_what_is_never_read_is_called_cut(model: LateInteraction) -> None:
    pairs = [
        (QUESTION, RIGHT),
        (QUESTION, RIGHT * 100),
        (QUESTION, "а" * (LONGEST_PASSAGE + 1)),
        ("а" * (LONGEST_QUESTION + 1), RIGHT),
    ]
    assert [one.truncated for one in model.score(pairs)] == [False, False, True, True]


@pytest.mark.parametrize(
    "passage", ["🙂🙂🙂 20 mSv 🩻", "| a | b |\n|---|---|\n| 1 | 2 |", "й" * 5000, "\n\n\n.", "<s></s>"]
)
def test_odd_passages_are_scored(model: LateInteraction, passage: str) -> None:
    (score,) = scores(model, QUESTION, passage)
    assert math.isnan(score) or 0 <= score <= 1


def test_no_pairs_no_scores(model: LateInteraction) -> None:
    assert model.score([]) == []


def test_the_known_scores_are_its_own(model: LateInteraction) -> None:
    known_scores.check(model, FOLDER / "known_scores.json")


def test_another_score_than_the_known_one_is_refused(model: LateInteraction, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text("[0.5, 0.5, 0.5, 0.5, 0.5]")
    with pytest.raises(known_scores.WrongAnswer, match="known case 0"):
        known_scores.check(model, tmp_path / "known.json")
