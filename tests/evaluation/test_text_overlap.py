"""BLEU and ROUGE on sentences where they can be counted, in both alphabets."""

import pytest

from evaluation.text_overlap import by_case, overlap


def test_the_same_text_scores_one_whatever_its_case() -> None:
    assert overlap("Доза 20 мЗв в год.", "доза 20 мЗв в год.") == pytest.approx(
        dict.fromkeys(("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_1", "rouge_2", "rouge_l"), 1.0)
    )


def test_rouge_by_hand() -> None:
    """Of 4 and 5 words 3 are common (F1 6/9), of 3 and 4 pairs 1 (2/7), the longest common row is 3 (6/9)."""
    found = overlap("the dose limit rises", "the dose is a limit")
    assert found["rouge_1"] == pytest.approx(6 / 9)
    assert found["rouge_2"] == pytest.approx(2 / 7)
    assert found["rouge_l"] == pytest.approx(6 / 9)


def test_bleu_pays_for_brevity() -> None:
    """Two words of four, both right: exp(1 − 4/2)."""
    assert overlap("dose limit", "dose limit of workers")["bleu_1"] == pytest.approx(2.718281828**-1)


def test_nothing_said_and_nothing_common_score_zero() -> None:
    assert set(overlap("", "dose").values()) == {0.0}
    assert set(overlap("other", "dose").values()) == {0.0}
    assert by_case({"a": ("x", "x"), "b": ("", "x")})["rouge_l"] == {"a": 1.0, "b": 0.0}
