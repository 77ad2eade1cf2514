"""What can be said of answers by rule, and answers kept as a file."""

import json
from pathlib import Path

import pytest

from cli.evaluate_answers import READER
from evaluation import written
from evaluation.jsonl import DatasetError
from evaluation.written import Asked, Shown, Written

SOURCE = "The annual limit is 20 mSv. A copper filter of 0.1 mm is used."


def answer(text: str, answerable: bool | None = True, **more: object) -> Written:
    given: dict[str, object] = {"sources": (SOURCE,), "outcome": "ANSWERED"} | more
    return Written(Asked("a", "?", "r", answerable), text, **given)  # type: ignore[arg-type]


def rules(one: Written) -> dict[str, float]:
    return {name: by["a"] for name, by in written.by_rule([one], READER).items()}


def test_numbers_count_with_their_unit_whatever_the_language() -> None:
    assert rules(answer("It is 20 mSv."))["numbers_supported"] == 1
    assert rules(answer("Предел 20 мЗв."))["numbers_supported"] == 1
    assert rules(answer("It is 20 mGy and 0.1 mm."))["numbers_supported"] == 0.5
    assert "numbers_supported" not in rules(answer("It is low."))


def test_a_quote_must_stand_in_a_source_word_for_word() -> None:
    assert rules(answer("«The annual  limit is 20 mSv»"))["quote_exactness"] == 1
    assert rules(answer("«The annual limit is 50 mSv»"))["quote_exactness"] == 0
    assert "quote_exactness" not in rules(answer("It is called “Zone III”.", sources=()))


def test_citations_and_unsupported_sentences() -> None:
    values = rules(answer("Yes [1].", citations=4, verified=3, unsupported=1))
    assert (values["citation_validity"], values["sentences_supported"]) == (0.75, 0)


@pytest.mark.parametrize("outcome", ["INSUFFICIENT_EVIDENCE", "OUT_OF_SCOPE"])
def test_a_refusal_is_right_only_where_nothing_answers(outcome: str) -> None:
    right = rules(answer("No evidence.", answerable=False, outcome=outcome))
    assert right == {"refusal_recall": 1, "refusal_precision": 1}
    wrong = rules(answer("No evidence.", outcome=outcome))
    assert wrong == {"answered": 0, "refusal_precision": 0}


def test_an_answer_where_nothing_answers_lowers_recall_and_not_precision() -> None:
    assert rules(answer("Yes.", answerable=False)) == {"refusal_recall": 0, "sentences_supported": 1}


def test_a_failed_call_is_no_answer_and_no_refusal() -> None:
    assert rules(answer("", outcome="", error="Unavailable")) == {}


def test_where_nobody_says_what_is_answerable_no_refusal_is_judged() -> None:
    assert set(rules(answer("Yes.", answerable=None))) == {"sentences_supported"}


def test_answers_come_back_as_they_were_kept(tmp_path: Path) -> None:
    shown = Shown("d", "Title", ("Section", "Part"), "| head |", "Text.", "en")
    every = [answer("Yes [1].", citations=1, verified=1, passages=(shown,)), Written(Asked("b", "?"), "")]
    written.write(every, tmp_path / "new" / "answers.jsonl")
    assert written.read(tmp_path / "new" / "answers.jsonl") == every
    assert shown.readable == "Title\nSection > Part\n| head |\nText."


ROW = {"id": "a", "question": "?", "answer": "", "reference": "", "sources": []}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sources": [1]}, "sources is not a list of texts"),
        ({"answer": None}, "answer is not a string"),
        ({"outcome": "MAYBE"}, "outcome is 'MAYBE', none of"),
        ({"verified": 1}, "more citations are verified than there are"),
        ({"citations": -1}, "citations is not a number"),
        ({"citations": True}, "citations is not a number"),
        ({"answerable": "yes"}, "answerable is not true or false"),
        ({"passages": ["text"]}, "a passage is not an object"),
        ({"id": ""}, "id is not a string"),
    ],
)
def test_a_wrong_line_is_named(change: dict[str, object], said: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(ROW | {"id": "x"}) + "\n" + json.dumps(ROW | change), encoding="utf-8")
    with pytest.raises(DatasetError, match=rf"answers\.jsonl:2: {said}"):
        written.read(path)


@pytest.mark.parametrize(("text", "said"), [("", "has no answers"), ("\ufeff", "has no answers")])
def test_an_empty_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=said):
        written.read(path)


def test_an_id_used_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join([json.dumps(ROW)] * 2), encoding="utf-8")
    with pytest.raises(DatasetError, match="used before"):
        written.read(path)
